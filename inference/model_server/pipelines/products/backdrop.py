"""Finds the product before an even backdrop."""

from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageFilter

from .regions import drop_small

# The mask is found on a smaller copy, which is smoother and much faster.
_SIDE = 512
# Differences in 8-bit steps, the largest of red, green and blue.
_SAME = 18
_CLEAR = 45
_EVEN_SHARE = 0.9
# So much of the product's outline must stand out clearly.
_CLEAR_SHARE = 0.9
# Of the product's area. Less is dust on the backdrop.
_DUST = 0.005


@dataclass(frozen=True)
class Cut:
    """A product in front of an even backdrop."""

    #: 8 bits, 255 on the product, smaller than the photo.
    mask: Image.Image
    #: False where a part of the outline fades into the backdrop, as a shadow does, or white before white.
    clear: bool


def cut_backdrop(photo: Image.Image) -> Cut | None:
    """
    What has the color of an even backdrop and hangs together with the photo's edge is backdrop.

    None when the backdrop is not even, or nothing is left, or nothing is cut off.
    """
    small = photo.copy()
    small.thumbnail((_SIDE, _SIDE), Image.Resampling.BOX)
    pixels = np.asarray(small, np.int16)
    edge = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    color = np.median(edge, axis=0)
    if (np.abs(edge - color).max(axis=1) <= _SAME).mean() < _EVEN_SHARE:
        return None
    distance = np.abs(pixels - color).max(axis=2)
    product = ~_connected_to_edge(distance <= _SAME)
    if not 0.01 < product.mean() < 0.99:
        return None
    mask = Image.fromarray(drop_small(product, _DUST).astype(np.uint8) * 255)
    return Cut(mask, _stands_out(mask, distance))


def _stands_out(mask: Image.Image, distance: np.ndarray) -> bool:
    """Whether the product differs clearly from the backdrop, a little inside almost all of its outline."""
    outline = np.asarray(mask) > np.asarray(mask.filter(ImageFilter.MinFilter(3)))
    nearby = Image.fromarray(distance.clip(0, 255).astype(np.uint8)).filter(ImageFilter.MaxFilter(5))
    return bool((np.asarray(nearby)[outline] >= _CLEAR).mean() >= _CLEAR_SHARE)


def _connected_to_edge(alike: np.ndarray) -> np.ndarray:
    """Which of the marked pixels are connected to the picture's edge."""
    reached = np.zeros_like(alike)
    reached[0], reached[-1] = alike[0], alike[-1]
    reached[:, 0], reached[:, -1] = alike[:, 0], alike[:, -1]
    before = -1
    while before != (now := int(reached.sum())):
        before = now
        for view, allowed in ((reached, alike), (reached.T, alike.T)):
            for rows in (range(1, len(view)), range(len(view) - 2, -1, -1)):
                step = -1 if rows.step == 1 else 1
                for row in rows:
                    view[row] |= view[row + step] & allowed[row]
    return reached
