"""The edge of a product that a rough mask cut out: soft, in its place, and free of the backdrop."""

from math import ceil

import numpy as np
from PIL import Image, ImageFilter

# In 8-bit steps, as a distance in RGB: how far apart the colors on one side lie even where it is smooth.
_SPREAD = 20.0
# In such spreads, a pixel's distances from both sides together: up to the first its color does not show
# on which side it is, and from the second on it does.
_ALIKE, _DIFFERENT = 1.0, 3.0
# The mask's say beside the colors': so unsure it may be at most.
_UNLIKELY = 0.2
# A pixel with so much of the product's color has nothing of the backdrop's that could be seen.
_FULL = 0.9
# Of the opacity beside it: how much a hard edge gives to the pixels outside of it.
_RIM = 0.9


def blend_edge(photo: Image.Image, rough: Image.Image, reach_px: float) -> Image.Image:
    """
    RGBA of the photo's size: opaque inside, transparent outside, and in between as the colors say.

    `rough` is the mask, 8 bits, of the same size, and right to within `reach_px` pixels. Near its outline a
    pixel is the more opaque, the nearer its color is to the product's beside it, and the farther from the
    backdrop's. The backdrop's part is then taken out of its color, by the compositing equation of alpha
    matting (https://doi.org/10.1109/TPAMI.2007.1177). Opaque pixels are the photo's own.
    """
    reach = ceil(reach_px) + 1
    product, backdrop = _sure_parts(rough, reach)
    colors = np.asarray(photo, np.float64)
    fore, fore_variance = _nearby(colors, product, 2 * reach)
    back, back_variance = _nearby(colors, backdrop, 2 * reach)
    to_fore, to_back = _distance(colors, fore, fore_variance), _distance(colors, back, back_variance)
    # As steep as in the mask's own pixels: one that was enlarged is blurred.
    mask = ((np.asarray(rough) / 255 - 0.5) * max(1, reach_px) + 0.5).clip(0, 1)
    likely = mask.clip(_UNLIKELY, 1 - _UNLIKELY)
    mixed = _part(to_back, to_fore) / _FULL
    share = np.minimum(_part(to_back**2 * likely, to_fore**2 * (1 - likely)), mixed.clip(0, 1))
    known = np.isfinite(fore_variance) & np.isfinite(back_variance)
    trust = known * ((to_fore + to_back - _ALIKE) / (_DIFFERENT - _ALIKE)).clip(0, 1)
    opacity = trust * share + (1 - trust) * mask
    opacity = np.where(product, 1, np.where(backdrop, 0, opacity))
    alpha = _soften(np.rint(opacity * 255).astype(np.uint8))
    clean = np.where(known[..., None], _without(back, colors, alpha), colors)
    # Of the product's own color too little is left there.
    clean = np.where((np.isfinite(fore_variance) & (alpha < 128))[..., None], fore, clean)
    return Image.fromarray(np.dstack([np.rint(clean).clip(0, 255).astype(np.uint8), alpha]), 'RGBA')


def _sure_parts(rough: Image.Image, reach: int) -> tuple[np.ndarray, np.ndarray]:
    """The product without the outline, and the backdrop without it."""
    inner = outer = rough.point([0] * 128 + [255] * 128)
    for _ in range(reach):
        inner = inner.filter(ImageFilter.MinFilter(3))
        outer = outer.filter(ImageFilter.MaxFilter(3))
    return np.asarray(inner) == 255, np.asarray(outer) == 0


def _nearby(colors: np.ndarray, chosen: np.ndarray, radius: int) -> tuple[np.ndarray, np.ndarray]:
    """
    The chosen pixels in the square around each pixel: their mean color, and how much their colors vary.

    The variance is the sum over red, green and blue; without any chosen pixel it is infinite.
    """
    count = _box_sum(chosen.astype(np.float64), radius)
    there = count > 0.5
    parts = [*colors.transpose(2, 0, 1), (colors**2).sum(axis=2)]
    # One after the other, because they are large.
    means = [_box_sum(part * chosen, radius) / np.maximum(count, 1) for part in parts]
    mean = np.dstack(means[:3])
    variance = np.maximum(means[3] - (mean**2).sum(axis=2), 0)
    return mean, np.where(there, variance, np.inf)


def _box_sum(values: np.ndarray, radius: int) -> np.ndarray:
    """Sums over squares of 2 x radius + 1 pixels. Outside of the picture is nothing."""
    for _ in 'down', 'across':
        sums = np.pad(values, ((radius + 1, radius), (0, 0))).cumsum(axis=0)
        values = (sums[2 * radius + 1 :] - sums[: -2 * radius - 1]).T
    return values


def _distance(colors: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """How far each pixel's color is from a mean, in spreads; 0 where there is none."""
    distance: np.ndarray = np.sqrt(((colors - mean) ** 2).sum(axis=2) / (_SPREAD**2 + variance))
    return distance


def _part(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    part: np.ndarray = one / np.maximum(one + other, 1e-6)
    return part


def _soften(alpha: np.ndarray) -> np.ndarray:
    """Without specks, and with a pixel of transition outside of edges that are hard."""
    smooth = Image.fromarray(alpha).filter(ImageFilter.MedianFilter(3))
    blurred = smooth.filter(ImageFilter.GaussianBlur(0.7))
    soft: np.ndarray = np.maximum(np.asarray(smooth), (np.asarray(blurred) * _RIM).astype(np.uint8))
    return soft


def _without(back: np.ndarray, colors: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """The colors before they were mixed with the backdrop's."""
    opacity = np.maximum(alpha, 1)[..., None] / 255
    clean: np.ndarray = colors + (1 - opacity) / opacity * (colors - back)
    return clean
