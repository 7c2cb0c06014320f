"""Finds lettering in an image: by a detector of text, or as areas with many sharp edges."""

from math import ceil

import numpy as np
from PIL import Image, ImageChops, ImageFilter

from .text_detector import FindText

# Difference in brightness between neighbors that makes an edge.
_EDGE = 48
# A square is dense with edges when it has as many as this number of lines across it (a corner has two).
_LINES = 3.5
# Radii of the squares, in parts of the shorter side: for small and for large letters.
_RADII = (1 / 64, 1 / 32)


def find_lettering(image: Image.Image, find_text: FindText | None = None) -> Image.Image:
    """
    A mask of the image's size, 255 on lettering, with soft rims.

    A detector finds text in any size, and no logo without letters. Without one, what counts is what is dense
    with edges, as lettering and logos are: fine patterns, too, and large plain letters not.
    """
    rim = min(image.size) / 128
    # Texts are found closely. Grown by the rim, none of a letter is in it.
    mask = _grow(find_text(image.convert('RGB')), ceil(3 * rim)) if find_text else _edgy_places(image)
    return mask.filter(ImageFilter.GaussianBlur(rim))


def _edgy_places(image: Image.Image) -> Image.Image:
    brightness = np.asarray(image.convert('L'), np.int16)
    edges = np.zeros(brightness.shape, bool)
    edges[:, 1:] |= np.abs(np.diff(brightness, axis=1)) > _EDGE
    edges[1:] |= np.abs(np.diff(brightness, axis=0)) > _EDGE
    picture = Image.fromarray(edges.astype(np.uint8) * 255)
    mask = Image.new('L', image.size)
    for part in _RADII:
        mask = ImageChops.lighter(mask, _dense_places(picture, max(2, int(min(image.size) * part))))
    return mask


def _dense_places(edges: Image.Image, radius: int) -> Image.Image:
    share = edges.filter(ImageFilter.BoxBlur(radius))
    least = _LINES / (2 * radius + 1)
    dense = share.point([255 if value / 255 > least else 0 for value in range(256)])
    # To the whole squares.
    return _grow(dense, radius)


def _grow(mask: Image.Image, radius: int) -> Image.Image:
    """By a blur, whose time does not depend on the radius."""
    return mask.filter(ImageFilter.BoxBlur(radius)).point([0] + [255] * 255)
