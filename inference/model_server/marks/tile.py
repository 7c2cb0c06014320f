"""
A mark without weights: one faint pattern of brightness, repeated every 128 pixels over the whole picture.

The pattern is a sum of waves 8 to 37 pixels long, whose phases follow from the deployment's key. One part of
it says where the pattern begins; six others carry six bits each by how far they are shifted, 36 bits in all.
It is stronger where the picture has contrast. All is computed in whole numbers, so that the same picture gets
the same bytes on every machine. `tile_search` finds it.
"""

import hashlib
import math

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from . import SoftBinding

Integers = NDArray[np.int64]

#: Pixels after which the pattern comes again.
SIDE = 128
#: Of the mark, in its first four bits. Another pattern, or another use of the bits, is another version.
VERSION = 1

# The squares of how many periods a wave has in a tile: between coarse ones, which show on even ground, and
# fine ones, which JPEG drops.
_FEWEST, _MOST = 13, 240
_CARRIERS = 6
#: How far a carrier is moved, down and right, for each value of its six bits.
SHIFTS = SIDE // 8 * np.array([divmod(value, 8) for value in range(64)])
# Of the pattern that gives the place, and of each that carries bits, in 32nds: together the pattern has a
# standard deviation of 1.
_PLACE_PART, _DATA_PART = 20, 10
_UNIT = 32
# A picture's contrast is measured in squares of 17 x 17 pixels.
_RADIUS = 8
# In 256ths of a gray level: the least and the greatest deviation, what contrast adds, and a factor for all.
_FAINTEST, _STRONGEST, _BY_CONTRAST, _STRENGTH = 230, 1024, 28, 205


_periods: Integers = np.mgrid[-SIDE // 2 : SIDE // 2, 0 : SIDE // 2].reshape(2, -1).T
_squared = (_periods**2).sum(axis=1)
#: (n, 2): how many periods each wave has in a tile, down and across. The opposite ones are the same.
WAVES: Integers = _periods[
    (_squared >= _FEWEST) & (_squared <= _MOST) & ((_periods[:, 1] > 0) | (_periods[:, 0] > 0))
]
_COSINE = np.array([round(1024 * math.cos(2 * math.pi * step / SIDE)) for step in range(SIDE)])


def box_sum(values: Integers, radius: int) -> Integers:
    """At each place the sum of the square around it. Beyond the edge the picture is mirrored."""
    for axis in (0, 1):
        turned = np.moveaxis(values, axis, 0)
        ends = [(0, 0)] * 2
        ends[0] = (radius + 1, radius)
        sums = np.cumsum(np.pad(turned, ends, mode='symmetric'), axis=0, dtype=np.int64)
        values = np.moveaxis(sums[2 * radius + 1 :] - sums[: -2 * radius - 1], 0, axis)
    return values


def brightness(pixels: NDArray[np.uint8]) -> Integers:
    """Gray levels, 0 … 255, of RGB pixels (height, width, 3)."""
    weighted: Integers = pixels @ np.array([77, 150, 29])
    return weighted >> 8


class Pattern:
    """A deployment's pattern: all that follows from its key."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        #: The 36 bits that it carries: the version, and 32 of the deployment.
        self.bits = VERSION << 32 | int.from_bytes(self._derive(b'deployment', 4))
        # The name is not on C2PA's list of algorithms, which has no method with secret keys.
        self.binding = SoftBinding(f'image-generation-service.tile.{VERSION}', f'{self.bits:09x}')
        #: The first one has the highest bits.
        self.carriers = [self._sum_of_waves(b'data %d' % number) for number in range(_CARRIERS)]
        #: The whole pattern, in 1,024ths of its standard deviation.
        self.tile = _PLACE_PART * self._sum_of_waves(b'place')
        for place, carrier in enumerate(reversed(self.carriers)):
            self.tile += _DATA_PART * np.roll(carrier, SHIFTS[self.bits >> 6 * place & 63], (0, 1))

    def apply(self, image: Image.Image) -> Image.Image:
        """The picture, 8-bit RGB, with the pattern in it."""
        pixels = np.asarray(image)
        gray = brightness(pixels)
        height, width = gray.shape
        pattern = np.tile(self.tile, (-(-height // SIDE), -(-width // SIDE)))[:height, :width]
        change = (_gain(gray) * pattern + (1 << 17)) >> 18
        return Image.fromarray((pixels + change[..., None]).clip(0, 255).astype(np.uint8))

    def _sum_of_waves(self, label: bytes) -> Integers:
        """With a standard deviation of 32."""
        down, across = np.mgrid[0:SIDE, 0:SIDE]
        total = np.zeros((SIDE, SIDE), np.int64)
        for (periods_down, periods_across), phase in zip(WAVES, self._derive(label, len(WAVES)), strict=True):
            total += _COSINE[(periods_down * down + periods_across * across + phase) % SIDE]
        return total // (math.isqrt(1024**2 * len(WAVES) // 2) // _UNIT)

    def _derive(self, label: bytes, length: int) -> bytes:
        """Bytes that say nothing of the key (FIPS 202, SHAKE256)."""
        return hashlib.shake_256(b'tile %d %s\0' % (VERSION, label) + self._key).digest(length)


def _gain(gray: Integers) -> Integers:
    """In 256ths of a gray level, by the contrast around each place."""
    area = (2 * _RADIUS + 1) ** 2
    sums, squares = box_sum(gray, _RADIUS), box_sum(gray * gray, _RADIUS)
    # IEEE 754 rounds roots alike everywhere, and numbers below 2^52 are whole.
    deviation = np.sqrt((area * squares - sums * sums).astype(np.float64)).astype(np.int64) // area
    gain = np.clip(_FAINTEST + _BY_CONTRAST * deviation, _FAINTEST, _STRONGEST) * _STRENGTH >> 8
    return box_sum(gain, _RADIUS) // area
