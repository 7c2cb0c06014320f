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
    """Whether a picture has the deployment's mark, by a score that is greater with more likeness."""

    found: bool
    score: float
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
    key = (settings.watermark_key or '').encode()
    if len(key) < _SHORTEST_KEY:
        raise SettingsError(
            f'WATERMARK={method} needs WATERMARK_KEY, a secret of at least {_SHORTEST_KEY} random characters.'
        )
    if method == 'tile':
        from .tile_search import TileMark

        return TileMark(key)
    if settings.watermark_dir is None:
        raise SettingsError('WATERMARK=trustmark needs WATERMARK_DIR, the folder of its two ONNX files.')
    from .trustmark import load_trustmark

    return load_trustmark(settings.watermark_dir, key)
