"""Finds lettering and marks in an image: areas with many sharp edges."""

import numpy as np
from PIL import Image, ImageChops, ImageFilter

# Difference in brightness between neighbors that makes an edge.
_EDGE = 48
# A square is dense with edges when it has as many as this number of lines across it (a corner has two).
_LINES = 3.5
# Radii of the squares, in parts of the shorter side: for small and for large letters.
_RADII = (1 / 64, 1 / 32)


def find_lettering(image: Image.Image) -> Image.Image:
    """
    A mask of the image's size, 255 on what looks like lettering or a logo, with soft rims.

    It looks at edges only and reads nothing: fine patterns are kept, too, and large plain letters are not.
    """
    brightness = np.asarray(image.convert('L'), np.int16)
    edges = np.zeros(brightness.shape, bool)
    edges[:, 1:] |= np.abs(np.diff(brightness, axis=1)) > _EDGE
    edges[1:] |= np.abs(np.diff(brightness, axis=0)) > _EDGE
    picture = Image.fromarray(edges.astype(np.uint8) * 255)
    mask = Image.new('L', image.size)
    for part in _RADII:
        mask = ImageChops.lighter(mask, _dense_places(picture, max(2, int(min(image.size) * part))))
    return mask.filter(ImageFilter.GaussianBlur(min(image.size) / 128))


def _dense_places(edges: Image.Image, radius: int) -> Image.Image:
    share = edges.filter(ImageFilter.BoxBlur(radius))
    least = _LINES / (2 * radius + 1)
    dense = share.point([255 if value / 255 > least else 0 for value in range(256)])
    # Grow to the whole squares by a blur, whose time does not depend on the radius.
    return dense.filter(ImageFilter.BoxBlur(radius)).point([0] + [255] * 255)
