"""The version of this package, which is also that of the TypeScript client."""

__version__ = '0.1.0'
