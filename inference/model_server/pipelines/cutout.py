"""Cuts products out of their background."""

import numpy as np
from PIL import Image, ImageFilter

# The mask is found on a smaller copy, which is smoother and much faster.
_SIDE = 512
# Differences in 8-bit steps, the largest of red, green and blue.
_SAME = 18
_EVEN_SHARE = 0.9


def cut_out(image: Image.Image) -> Image.Image:
    """
    RGBA, cropped to what can be seen; the size otherwise is the image's own.

    An image with transparent parts is cut out already. In any other, what has the color of an even backdrop
    and hangs together with the edge becomes transparent. With no even backdrop all of it is the product.
    """
    if image.mode == 'RGBA' and image.getchannel('A').getextrema() != (255, 255):
        box = image.getchannel('A').getbbox()
        return image.crop(box) if box else image
    picture = image.convert('RGB')
    mask = _find_product(picture)
    if mask is None:
        return picture.convert('RGBA')
    whole = mask.resize(picture.size, Image.Resampling.BICUBIC)
    picture.putalpha(whole)
    return picture.crop(whole.getbbox())


def _find_product(picture: Image.Image) -> Image.Image | None:
    """A small mask, white on the product; None when the backdrop is not plain enough to be sure."""
    small = picture.copy()
    small.thumbnail((_SIDE, _SIDE), Image.Resampling.BOX)
    pixels = np.asarray(small, np.int16)
    edge = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    color = np.median(edge, axis=0)
    if (np.abs(edge - color).max(axis=1) <= _SAME).mean() < _EVEN_SHARE:
        return None
    backdrop = _connected_to_edge(np.abs(pixels - color).max(axis=2) <= _SAME)
    share = 1 - backdrop.mean()
    if not 0.01 < share < 0.99:
        return None
    mask = Image.fromarray(np.where(backdrop, 0, 255).astype(np.uint8))
    # The outermost pixels mix with the backdrop and would show as a rim.
    return mask.filter(ImageFilter.MinFilter(3))


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
