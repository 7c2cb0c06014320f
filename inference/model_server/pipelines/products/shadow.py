"""The shadow where a product touches the ground."""

import numpy as np
from PIL import Image, ImageChops, ImageFilter

# A part touches the ground the less, the steeper its lower edge is (pixels up for a pixel across), and the
# higher it is above the product's lowest point (share of its height). The lower edges of a box that is seen
# from above rise, and touch.
_STEEP, _HIGH = 0.8, 0.25
# Transparent pixels so far below the lowest point are the product's own shadow. Share of its height.
_OWN = 0.02
# Two layers, the dark one under the product and the wide one around it. In shares of the product's width: the
# thickness at the ground, and the blur across and down. And the darkness, of 1.
_LAYERS = ((0.02, 0.012, 0.008, 0.6), (0.05, 0.06, 0.025, 0.45))


def cast_shadow(opacity: Image.Image, at: tuple[int, int], size: tuple[int, int]) -> Image.Image:
    """
    How much darker the ground gets, 8 bits, in a picture of `size`, with the product's corner `at`.

    The shadow is soft and lies below what touches the ground, whatever light the picture has: only nearness
    decides, as in ambient occlusion. A product that brings its own shadow, transparent below it, gets none.
    """
    shadow = Image.new('L', size)
    solid = np.asarray(opacity) >= 128
    if not solid.any():
        return shadow
    height, width = solid.shape
    bottoms = np.where(solid.any(axis=0), height - 1 - solid[::-1].argmax(axis=0), -height)
    ground = int(bottoms.max())
    seen = np.nonzero(np.asarray(opacity).any(axis=1))[0].max()
    if seen - ground > max(2, _OWN * height):
        return shadow
    nearness = _touching(bottoms, height)
    for thickness, across, down, darkness in _LAYERS:
        layer = Image.new('L', size)
        band = _band(bottoms, nearness * darkness, max(2, round(thickness * width)))
        layer.paste(Image.fromarray(band), (at[0], at[1]))
        blurred = layer.filter(ImageFilter.GaussianBlur((across * width, down * width)))
        shadow = ImageChops.screen(shadow, blurred)
    return shadow


def _touching(bottoms: np.ndarray, height: int) -> np.ndarray:
    """How much each column of the product touches the ground, 0 … 1, by its lowest pixel."""
    window = max(1, len(bottoms) // 50)
    around = np.pad(bottoms, window, mode='edge')
    slope = np.abs(around[2 * window :] - around[: -2 * window]) / (2 * window)
    lift = (bottoms.max() - bottoms) / max(8, _HIGH * height)
    touching: np.ndarray = (1 - slope / _STEEP).clip(0, 1) * (1 - lift).clip(0, 1)
    return touching


def _band(bottoms: np.ndarray, strength: np.ndarray, thickness: int) -> np.ndarray:
    """A strip along the lowest pixels of all columns, 8 bits; rows below the product, too."""
    rows = np.arange(int(bottoms.max()) + thickness + 1)[:, None]
    strip = np.abs(rows - bottoms) <= thickness
    band: np.ndarray = np.rint(strip * strength * 255).astype(np.uint8)
    return band
