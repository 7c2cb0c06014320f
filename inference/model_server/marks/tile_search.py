"""
Finds a tile's pattern in a picture, whatever size, part or side of it is left.

The picture's spectrum is read where the pattern's waves would lie after a scaling, a turn or a mirroring, and
is compared with the pattern at all places at once (phase correlation). What is compared is the whole pattern
of one deployment: other patterns, and pictures without one, look like noise to it.
"""

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from . import Finding
from .tile import SHIFTS, SIDE, WAVES, Pattern, box_sum, brightness

#: (n, 2, 2): how the pattern's waves may lie in the picture, down and across.
Ways = NDArray[np.float64]

#: Above it a pattern is there. README.md says what pictures with and without it have.
THRESHOLD = 8.0
#: Pixels: a smaller picture is not looked at, a larger one is made smaller first.
_SMALLEST_SIDE, _LARGEST_SIDE = 96, 2048

# At how many places of a tile's side the pattern may begin: 32 would do, as no wave has more than 15.5
# periods, and are used where there are many ways; 64 lose less between two places.
_PLACES, _FEWER_PLACES = SIDE // 2, SIDE // 4
_AT_A_TIME = 512
# The shortest waves are 124 periods of 1,024 pixels, so half a percent of scale costs 15% of the score.
# In a picture of a quarter they are just long enough to be there.
_SCALES = np.exp(np.arange(math.log(0.246), math.log(1.7), 0.004))
#: Degrees, and the logarithm of width by height after a picture was stretched. 0 is looked at before.
_TURNS = [turn / 2 for turn in range(-6, 7) if turn]
_STRETCHES = [stretch / 64 for stretch in range(-20, 21) if stretch]
# Pixels: of the middle, where a picture is turned or stretched. More would ask for finer steps.
_MIDDLE = 1024


class TileMark(Pattern):
    """The tile as a mark, which needs nothing but the key."""

    def find(self, image: Image.Image) -> Finding | None:
        image = image.copy()
        image.thumbnail((_LARGEST_SIDE, _LARGEST_SIDE), Image.Resampling.LANCZOS)
        if min(image.size) < _SMALLEST_SIDE:
            return None
        even = _even(np.asarray(image))
        best = _match(self, _spectrum(even), _SCALED, _PLACES)
        if best[0] < THRESHOLD:
            # What is rare and takes longest.
            deformed = _match(self, _spectrum(_middle(even)), _DEFORMED, _FEWER_PLACES)
            best = max(best, deformed)
        score, bits = best
        wrong = (bits ^ self.bits).bit_count()
        return Finding(score >= THRESHOLD, score, 36 - wrong, 36)


def _turn(degrees: float) -> NDArray[np.float64]:
    down, across = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return np.array([[down, -across], [across, down]])


def _ways(changes: Iterable[NDArray[np.float64]], scales: NDArray[np.float64]) -> Ways:
    """Each change, mirrored and not, in each size."""
    sides = (np.eye(2), np.diag([1.0, -1.0]))
    return np.concatenate([change @ side / scales[:, None, None] for change in changes for side in sides])


_SCALED = _ways(map(_turn, (0, 90, 180, 270)), _SCALES)
_STRETCHED = [np.diag([math.exp(stretch / 2), math.exp(-stretch / 2)]) for stretch in _STRETCHES]
_DEFORMED = _ways([*map(_turn, _TURNS), *_STRETCHED], _SCALES[_SCALES > 0.4][::2])


def _middle(values: NDArray[np.float32]) -> NDArray[np.float32]:
    down, across = (max(0, side - _MIDDLE) // 2 for side in values.shape)
    return values[down : down + _MIDDLE, across : across + _MIDDLE]


def _even(pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
    """The picture without its large shapes, and with the same contrast everywhere."""
    gray = brightness(pixels)
    radius = 16 if min(gray.shape) > 400 else 6
    area = (2 * radius + 1) ** 2
    detail = gray * area - box_sum(gray, radius)
    # In 16ths of a gray level, so that the squares' sums are whole numbers.
    fine = detail * 16 // area
    deviation = np.sqrt(box_sum(fine * fine, 8) / 17**2)
    even: NDArray[np.float32] = (fine / (deviation + 48)).clip(-2.5, 2.5).astype(np.float32)
    return even


def _spectrum(values: NDArray[np.float32]) -> NDArray[np.complex64]:
    """
    Frequencies are indexes, from -side / 2 to side / 2. Twice as finely as the picture has waves, where that
    is not more than the largest picture's; and with its middle as the origin, so that phases change slowly.
    """
    side = min(_LARGEST_SIDE, 1 << math.ceil(math.log2(2 * max(values.shape))))
    field = np.zeros((side, side), np.float32)
    height, width = values.shape
    field[:height, :width] = values
    spectrum = np.fft.fft2(np.roll(field, (-(height // 2), -(width // 2)), (0, 1)))
    # Strong waves are the picture's own.
    return (spectrum / (np.abs(spectrum) + 1e-9) ** 0.7).astype(np.complex64)


def _sample(spectrum: NDArray[np.complex64], ways: Ways) -> NDArray[np.complex64]:
    """(n, waves): the spectrum where the pattern's waves would lie in each of n ways."""
    periods = (WAVES.T * len(spectrum) / SIDE).astype(np.float32)
    down, across = np.rint(ways.astype(np.float32) @ periods).astype(np.int32).transpose(1, 0, 2)
    found: NDArray[np.complex64] = spectrum[down, across]
    return found


def _waves_of(pattern: NDArray[np.int64]) -> NDArray[np.complex64]:
    return np.fft.rfft2(pattern)[WAVES[:, 0], WAVES[:, 1]].astype(np.complex64)


def _likeness(found: NDArray[np.complex64], wanted: NDArray[np.complex64], side: int) -> NDArray[np.float32]:
    """(n, side, side): how alike both are where the pattern begins at each place, in standard deviations."""
    field = np.zeros((len(found), side, side // 2 + 1), np.complex64)
    product = found * wanted.conj()
    down, across = WAVES.T
    field[:, down, across] = product
    upright = across == 0
    field[:, -down[upright], 0] = product[:, upright].conj()
    # What it is by chance; a picture of one color is like nothing.
    deviation = np.sqrt(2 * (np.abs(product) ** 2).sum(axis=1)) / side**2 + 1e-20
    likeness: NDArray[np.float32] = np.fft.irfft2(field, s=(side, side)).astype(np.float32)
    likeness /= deviation[:, None, None]
    return likeness


def _match(pattern: Pattern, spectrum: NDArray[np.complex64], ways: Ways, places: int) -> tuple[float, int]:
    """
    Of the likeliest way: how far its likeness stands out, in standard deviations of what it is by chance, and
    the bits that are read there.
    """
    wanted = _waves_of(pattern.tile)
    scores = np.concatenate(
        [
            _likeness(_sample(spectrum, ways[start : start + _AT_A_TIME]), wanted, places).max(axis=(1, 2))
            for start in range(0, len(ways), _AT_A_TIME)
        ]
    )
    best = int(scores.argmax())
    return float(scores[best]), _read(pattern, _sample(spectrum, ways[best : best + 1]))


def _read(pattern: Pattern, found: NDArray[np.complex64]) -> int:
    """The bits of the carriers where the whole pattern is likeliest."""
    whole = _likeness(found, _waves_of(pattern.tile), SIDE)[0]
    place = np.unravel_index(int(whole.argmax()), whole.shape)
    down, across = ((SHIFTS + place) % SIDE).T
    bits = 0
    for carrier in pattern.carriers:
        likeness = _likeness(found, _waves_of(carrier), SIDE)[0]
        bits = bits << 6 | int(likeness[down, across].argmax())
    return bits
