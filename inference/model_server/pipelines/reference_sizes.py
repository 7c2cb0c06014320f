"""Reference images in sizes that FLUX.2 takes."""

from math import ceil, sqrt

from PIL import Image, ImageOps

from .products.stage import on_white

#: Pixels. The authors limit each of several references to as many:
#: https://github.com/black-forest-labs/flux2/blob/main/src/flux2/sampling.py.
LARGEST_REFERENCE = 1024 * 1024
# Pixels. Diffusers refuses a shorter side, and a shape longer than 8:1, which rounding may make of 7:1.
_SHORTEST_SIDE = 64
_LONGEST_SHAPE = 6
# Pixels. Diffusers cuts off what does not fill a square of this side.
_GRID = 16


def fit_reference(image: Image.Image) -> Image.Image:
    """
    RGB, at most 1 megapixel, sides of 64 pixels or more and multiples of 16; transparent parts are white.

    A smaller image keeps its size but for the rounding, and a very long one gets white margins.
    """
    picture = on_white(image)
    width, height = widen(*picture.size)
    if (width, height) != picture.size:
        wider = Image.new('RGB', (width, height), 'white')
        wider.paste(picture, ((width - picture.width) // 2, (height - picture.height) // 2))
        picture = wider
    return ImageOps.fit(picture, reference_size(width, height), Image.Resampling.LANCZOS)


def widen(width: int, height: int) -> tuple[int, int]:
    """The size with margins, if it needs some: at most 6:1."""
    least = ceil(max(width, height) / _LONGEST_SHAPE)
    return max(width, least), max(height, least)


def reference_size(width: int, height: int) -> tuple[int, int]:
    """The size, in pixels, in which the model looks at an image of this size."""
    shrink = min(1, sqrt(LARGEST_REFERENCE / (width * height)))
    scale = max(_SHORTEST_SIDE / min(width, height), shrink)
    return _round(width * scale), _round(height * scale)


def _round(side: float) -> int:
    return max(_SHORTEST_SIDE, int(side) // _GRID * _GRID)
