"""
Marks that stay in a picture when its metadata is gone: two methods, of which a deployment uses one or none.

A mark says which deployment made a picture, by an identifier that follows from its key, and nothing of the
request, of who sent it, or of when.
"""

from dataclasses import dataclass
from typing import Protocol

from PIL import Image

from ..settings import Settings, SettingsError

_SHORTEST_KEY = 32


@dataclass(frozen=True)
class SoftBinding:
    """How Content Credentials name a mark: its method, and what it carries (C2PA 2.3, 18.10)."""

    algorithm: str
    value: str


@dataclass(frozen=True)
class Finding:
    """What was looked for in a picture."""

    #: Whether the deployment's mark is there.
    found: bool
    #: Of the method, greater with more likeness.
    score: float
    #: From where on a mark counts as found.
    threshold: float
    #: So many of the mark's bits were read right.
    bits_right: int
    bits: int


class Mark(Protocol):
    """A method, with a deployment's key. Its methods may be called on several threads."""

    binding: SoftBinding

    def apply(self, image: Image.Image) -> Image.Image:
        """The picture, 8-bit RGB, with the mark in it. The same picture gives the same one."""

    def find(self, image: Image.Image) -> Finding | None:
        """Looks for this deployment's mark. None where the picture is too small for one."""


def load_mark(settings: Settings) -> Mark | None:
    """What pictures are marked with; None: they are not. Raises SettingsError, without the key in it."""
    method = settings.watermark
    if method == 'off':
        return None
    if method not in ('tile', 'trustmark'):
        raise SettingsError('WATERMARK must be off, tile or trustmark.')
    if settings.watermark_key is None:
        raise SettingsError(f'WATERMARK={method} needs WATERMARK_KEY, the secret that says whose mark it is.')
    if len(settings.watermark_key) < _SHORTEST_KEY:
        raise SettingsError(f'WATERMARK_KEY must have at least {_SHORTEST_KEY} characters, drawn at random.')
    key = settings.watermark_key.encode()
    if method == 'tile':
        from .tile_search import TileMark

        return TileMark(key)
    if settings.watermark_dir is None:
        raise SettingsError('WATERMARK=trustmark needs WATERMARK_DIR, the folder of its two ONNX files.')
    from .trustmark import load_trustmark

    return load_trustmark(settings.watermark_dir, key)
