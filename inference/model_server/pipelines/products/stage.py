"""Exact products: placed in the picture, painted around, and put back unchanged, with their shadows."""

from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image, ImageChops

from ...failure import Failure
from ..engine import Reference
from .cutout import cut_out
from .segmentation import Segment
from .shadow import cast_shadow

# Share of the picture's height and width. Larger products keep their lettering legible.
_SHARE = 0.7
_BRANDED_SHARE = 0.9
_BACKDROP = (200, 200, 200)


@dataclass(frozen=True)
class Stage:
    """Products in a picture that is still to be painted. All images are width x height."""

    #: RGB, the products on gray.
    image: Image.Image
    #: 8 bits, 255 where a product's pixel is kept.
    keep: Image.Image
    #: 8 bits, how much darker what is painted gets; None where there are no shadows.
    shadow: Image.Image | None = None

    @property
    def paint(self) -> Image.Image:
        """The mask that inpainting takes: 255 where there is something to paint."""
        return self.keep.point([255] * 128 + [0] * 128)

    def finish(self, painted: Image.Image) -> Image.Image:
        """Puts the products back: opaque pixels exactly as they were, others blended by their opacity."""
        if self.shadow is not None:
            light = ImageChops.invert(self.shadow)
            painted = ImageChops.multiply(painted, Image.merge('RGB', (light, light, light)))
        return Image.composite(self.image, painted, self.keep)


def build_stage(
    references: Sequence[Reference],
    width: int,
    height: int,
    preserve_branding: bool,
    segment: Segment | None = None,
) -> Stage:
    """
    Products side by side, each at its own size, or smaller when it has too little room.

    `segment` finds products where the photo alone does not show them (`cutout.py`).
    Raises Failure('reference_invalid') for an image in which nothing can be seen.
    """
    share = _BRANDED_SHARE if preserve_branding else _SHARE
    room = (int(width * share) // len(references), int(height * share))
    image = Image.new('RGB', (width, height), _BACKDROP)
    keep = Image.new('L', (width, height), 0)
    shadow = Image.new('L', (width, height), 0)
    ground = int(height * (1 + share) / 2)
    for index, reference in enumerate(references):
        product = cut_out(reference.image, room, segment)
        opacity = product.getchannel('A')
        if opacity.getextrema() == (0, 0):
            problem = f'Reference image {index + 1} is transparent everywhere: there is no product in it.'
            raise Failure('reference_invalid', problem, index)
        center = int(width * (0.5 + share * ((index + 0.5) / len(references) - 0.5)))
        corner = (center - product.width // 2, ground - product.height)
        # Colors without opacity, because `finish` applies the opacity; and nothing of what was around them.
        image.paste(product.convert('RGB'), corner, opacity.point([0] + [255] * 255))
        keep.paste(opacity, corner)
        # A whole photo does not stand on the ground.
        if opacity.getextrema() != (255, 255):
            shadow = ImageChops.screen(shadow, cast_shadow(opacity, corner, image.size))
    return Stage(image, keep, shadow)


def on_white(image: Image.Image) -> Image.Image:
    """RGB; transparent parts are white."""
    if image.mode != 'RGBA':
        return image.convert('RGB')
    white = Image.new('RGBA', image.size, 'white')
    return Image.alpha_composite(white, image).convert('RGB')
