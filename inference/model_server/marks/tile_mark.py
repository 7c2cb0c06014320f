"""The tile as a mark."""

from PIL import Image

from . import Finding, SoftBinding
from .tile import VERSION, Pattern
from .tile_search import THRESHOLD, search


class TileMark:
    """Needs nothing but the key."""

    def __init__(self, key: bytes) -> None:
        self._pattern = Pattern(key)
        # The name is not on C2PA's list of algorithms, which has no method with secret keys.
        self.binding = SoftBinding(f'image-generation-service.tile.{VERSION}', f'{self._pattern.bits:09x}')

    def apply(self, image: Image.Image) -> Image.Image:
        return self._pattern.mark(image)

    def find(self, image: Image.Image) -> Finding | None:
        match = search(self._pattern, image)
        if match is None:
            return None
        wrong = (match.bits ^ self._pattern.bits).bit_count()
        return Finding(match.score >= THRESHOLD, match.score, THRESHOLD, 36 - wrong, 36)
