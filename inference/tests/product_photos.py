"""Photos of products as customers send them, drawn here, with the truth about them."""

from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

# Drawn larger and shrunk, so that edges are mixed with the backdrop as in a photo.
_FINER = 3
RED = (190, 45, 50)


@dataclass(frozen=True)
class Photo:
    """A photo of one product."""

    image: Image.Image
    #: How much of each pixel the product covers, 0 … 255.
    cover: Image.Image
    #: The product's own colors, also where the backdrop is.
    colors: Image.Image


def noise(size: tuple[int, int], seed: int = 0) -> Image.Image:
    """RGB, no pixel like the next."""
    pixels = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    return Image.fromarray(pixels)


def kitchen(size: tuple[int, int]) -> Image.Image:
    """A backdrop that is not even: green to blue, with soft shapes, without any red."""
    shapes = noise((6, 8), 3).convert('L').resize(size, Image.Resampling.BICUBIC)
    down = Image.linear_gradient('L').resize(size)
    return Image.merge('RGB', (shapes.point(lambda v: v // 4 + 20), shapes, down))


def plain(size: tuple[int, int], color: tuple[int, int, int] = (240, 240, 238)) -> Image.Image:
    """An even backdrop with a little noise."""
    pixels = np.full((size[1], size[0], 3), color, np.int16)
    pixels -= np.random.default_rng(1).integers(0, 6, pixels.shape, np.int16)
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))


def can(backdrop: Image.Image, color: tuple[int, int, int] = RED, shadow: bool = False) -> Photo:
    """A can with round corners in the middle, half as wide and high as the photo."""
    width, height = backdrop.size
    large = (width * _FINER, height * _FINER)
    box = (large[0] // 4, large[1] // 4, large[0] * 3 // 4, large[1] * 3 // 4)
    shape = Image.new('L', large)
    ImageDraw.Draw(shape).rounded_rectangle(box, large[0] // 16, fill=255)
    cover = shape.resize(backdrop.size, Image.Resampling.BOX)
    if shadow:
        dark = Image.new('L', backdrop.size)
        foot = (width // 4, height * 3 // 4 - height // 16, width * 7 // 8, height * 3 // 4 + height // 16)
        ImageDraw.Draw(dark).ellipse(foot, fill=110)
        dark = dark.filter(ImageFilter.GaussianBlur(width / 40))
        backdrop = Image.composite(Image.new('RGB', backdrop.size), backdrop, dark)
    shade = 0.75 + 0.25 * np.sin(np.linspace(0, np.pi, width))[None, :, None]
    body = Image.fromarray((np.array(color) * shade * np.ones((height, 1, 1))).astype(np.uint8))
    return Photo(Image.composite(body, backdrop, cover), cover, body)
