"""Cuts products out of their background."""

from math import ceil, floor

import numpy as np
from PIL import Image, ImageFilter

from .backdrop import cut_backdrop
from .edge import blend_edge
from .regions import drop_small
from .segmentation import Segment

# Shares of the mask's area: less is nothing, more is everything.
_LEAST, _MOST = 0.01, 0.99
# Of 255: the network is unsure between these.
_UNSURE = (32, 224)
# Of the product's area, the outline aside: with more of it unsure the mask is not believed.
_UNSURE_SHARE = 0.1
# Of what stands out from an even backdrop: a mask that keeps less is not believed.
_KEPT_SHARE = 0.5
# Of the product's area. Less is a speck, not a part of the product.
_SPECK = 0.005
# Pixels of the mask around the product that the edge is found in.
_MARGIN = 4


def cut_out(image: Image.Image, room: tuple[int, int], segment: Segment | None = None) -> Image.Image:
    """
    RGBA, cropped to what can be seen; in its own size, or shrunk to fit `room`, width and height in pixels.

    An image with transparent parts is cut out already. In any other the product is found by `find_mask`, and
    where that finds none, all of the image is the product. Opaque pixels are the image's own.
    """
    if image.mode == 'RGBA' and image.getchannel('A').getextrema() != (255, 255):
        return _fit(image.crop(image.getchannel('A').getbbox()), room)
    photo = image.convert('RGB')
    mask = find_mask(photo, segment)
    if mask is None:
        return _fit(photo.convert('RGBA'), room)
    across, down = photo.width / mask.width, photo.height / mask.height
    left, top, right, bottom = _with_margin(mask)
    box = (floor(left * across), floor(top * down), ceil(right * across), ceil(bottom * down))
    # The edge is found after shrinking: so it is as sharp as the picture, and large photos are not slow.
    product = _fit(photo.crop(box), room)
    inside = (box[0] / across, box[1] / down, box[2] / across, box[3] / down)
    rough = mask.resize(product.size, Image.Resampling.BICUBIC, box=inside)
    cut = blend_edge(product, rough, max(product.width / (right - left), product.height / (bottom - top)))
    return cut.crop(cut.getchannel('A').getbbox())


def find_mask(photo: Image.Image, segment: Segment | None) -> Image.Image | None:
    """
    Where the product is in an RGB photo: 8 bits, smaller than the photo. None when nothing is sure.

    An even backdrop is looked at first. Where the product stands out from it clearly, the pixels show exactly
    what a network could only guess, at once, and the same on each machine. Where the outline fades, as by a
    shadow or with a white product before white, and where there is no even backdrop, the network is asked, if
    there is one. A mask that would lose the product is not believed; then it is as without a network.
    """
    backdrop = cut_backdrop(photo)
    if segment is not None and not (backdrop and backdrop.clear):
        mask = segment(photo)
        if _believable(mask, backdrop.mask if backdrop else None):
            kept = drop_small(np.asarray(mask) >= 128, _SPECK)
            # The soft rims of specks go with them; the product's own rim is near it.
            near = Image.fromarray(kept.astype(np.uint8) * 255).filter(ImageFilter.MaxFilter(5))
            return Image.fromarray(np.minimum(np.asarray(mask), np.asarray(near)))
    return backdrop.mask if backdrop else None


def _believable(mask: Image.Image, standing_out: Image.Image | None) -> bool:
    """Whether a network's mask shows one thing, surely, and most of what stands out from an even backdrop."""
    certainty = np.asarray(mask)
    product = certainty >= 128
    if not _LEAST < product.mean() < _MOST:
        return False
    unsure = Image.fromarray(((certainty > _UNSURE[0]) & (certainty < _UNSURE[1])).astype(np.uint8))
    # An outline is thin and always a little unsure. What is left without it are whole parts.
    parts = unsure.filter(ImageFilter.MinFilter(max(3, min(mask.size) // 200 * 2 + 1)))
    if np.asarray(parts).sum() > _UNSURE_SHARE * product.sum():
        return False
    if standing_out is None:
        return True
    other = np.asarray(standing_out.resize(mask.size, Image.Resampling.BILINEAR)) >= 128
    return bool((product & other).sum() >= _KEPT_SHARE * other.sum())


def _with_margin(mask: Image.Image) -> tuple[int, int, int, int]:
    """The box around the mask's product, in its pixels, a little larger."""
    box = mask.point([0] * 128 + [255] * 128).getbbox()
    left, top, right, bottom = box or (0, 0, *mask.size)
    return (
        max(0, left - _MARGIN),
        max(0, top - _MARGIN),
        min(mask.width, right + _MARGIN),
        min(mask.height, bottom + _MARGIN),
    )


def _fit(image: Image.Image, room: tuple[int, int]) -> Image.Image:
    image.thumbnail(room, Image.Resampling.LANCZOS)
    return image
