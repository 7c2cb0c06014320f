"""Exact products: placed in the picture, painted around, and put back unchanged."""

from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image

from ..failure import Failure
from .cutout import cut_out
from .engine import Reference

# Share of the picture's height and width. Larger products keep their lettering legible.
_SHARE = 0.7
_BRANDED_SHARE = 0.9
_BACKDROP = (200, 200, 200)


@dataclass(frozen=True)
class Stage:
    """Products in a picture that is still to be painted. Both images are width x height."""

    #: RGB, the products on gray.
    image: Image.Image
    #: 8 bits, 255 where a product's pixel is kept.
    keep: Image.Image

    @property
    def paint(self) -> Image.Image:
        """The mask that inpainting takes: 255 where there is something to paint."""
        return self.keep.point([255] * 128 + [0] * 128)

    def finish(self, painted: Image.Image) -> Image.Image:
        """Puts the products back: opaque pixels exactly as they were, others blended by their opacity."""
        return Image.composite(self.image, painted, self.keep)


def build_stage(references: Sequence[Reference], width: int, height: int, preserve_branding: bool) -> Stage:
    """
    Products side by side, each at its own size, or smaller when it has too little room.

    Raises Failure('reference_unreadable') for an image in which nothing can be seen.
    """
    share = _BRANDED_SHARE if preserve_branding else _SHARE
    room = (int(width * share) // len(references), int(height * share))
    image = Image.new('RGB', (width, height), _BACKDROP)
    keep = Image.new('L', (width, height), 0)
    ground = int(height * (1 + share) / 2)
    for index, reference in enumerate(references):
        product = cut_out(reference.image)
        if product.getchannel('A').getextrema() == (0, 0):
            problem = f'Reference image {index + 1} is transparent everywhere: there is no product in it.'
            raise Failure('reference_unreadable', problem)
        product.thumbnail(room, Image.Resampling.LANCZOS)
        center = int(width * (0.5 + share * ((index + 0.5) / len(references) - 0.5)))
        queued = (center - product.width // 2, ground - product.height)
        # Colors without opacity, because `finish` applies the opacity.
        image.paste(product.convert('RGB'), queued)
        keep.paste(product.getchannel('A'), queued)
    return Stage(image, keep)


def on_white(image: Image.Image) -> Image.Image:
    """RGB; transparent parts are white."""
    if image.mode != 'RGBA':
        return image.convert('RGB')
    white = Image.new('RGBA', image.size, 'white')
    return Image.alpha_composite(white, image).convert('RGB')
