"""
`python -m bench.marks`: what the built-in mark survives, where it is seen by mistake, and how long it takes.

The pictures are drawn here, as no photographs are at hand: clouds of noise with the spectrum of photographs,
shapes on even ground, stripes and lettering, soft gradients, and mixtures.
"""

import argparse
import io
import math
import random
import time
from collections.abc import Iterable

import numpy as np
from PIL import Image, ImageDraw

from model_server.marks.tile_search import THRESHOLD, TileMark
from model_server.previews import encode_preview

MARK, OTHER = TileMark(b'k' * 32), TileMark(b'o' * 32)
CHANGES = (
    *('nothing', 'JPEG 50', 'WebP 40', 'its preview', 'to a quarter and back', 'to a quarter'),
    *('half of each side', 'half of each side, JPEG 50', 'a quarter of each side', 'as a screenshot'),
    *('other colors', 'mirrored', 'a quarter turn', 'turned by 1 degree'),
    *('turned by 1 degree, JPEG 50', 'turned by 5 degrees', 'width to 0.9', 'width to 0.75', 'width to 0.6'),
)


def draw(number: int, side: int) -> Image.Image:
    """One of five kinds of pictures."""
    rng, chance = np.random.default_rng(number), random.Random(number)
    frequency = np.hypot(np.fft.fftfreq(side)[:, None], np.fft.rfftfreq(side)[None])
    frequency[0, 0] = 1
    fall = frequency ** (0.9 + 0.6 * rng.random())
    noise = np.fft.irfft2(np.fft.rfft2(rng.normal(size=(3, side, side))) / fall, s=(side, side))
    levels = 128 + 45 * noise / noise.std(axis=(1, 2), keepdims=True)
    clouds = Image.fromarray(levels.transpose(1, 2, 0).clip(0, 255).astype(np.uint8))
    corners = rng.integers(20, 236, (3, 3, 3)).astype(np.uint8)
    kind = number % 5
    if kind == 0:
        return clouds
    gradient = Image.fromarray(corners[:1, :1] if kind == 1 else corners).resize((side, side), 3)
    if kind == 3:
        return gradient
    pen = ImageDraw.Draw(gradient)
    for _ in range(40):
        x, y, size = (chance.randrange(side) for _ in range(3))
        color = chance.randrange(256), chance.randrange(256), chance.randrange(256)
        if kind == 2:
            pen.text((x, y), f'Lorem {number} ipsum', fill=color, font_size=12 + size // 12)
            pen.line((x, 0, y, side), fill=color, width=1 + size // 100)
        else:
            pen.ellipse((x, y, x + size // 3 + 1, y + size // 4 + 1), fill=color)
    return Image.blend(gradient, clouds, 0.35) if kind == 4 else gradient


def change(name: str, picture: Image.Image) -> Image.Image:
    """The picture, marked, after one of the changes."""
    if name == 'its preview':
        return Image.open(io.BytesIO(encode_preview(picture, b'', MARK) or b'')).convert('RGB')
    image = MARK.apply(picture)
    width, height = image.size
    words = name.removesuffix(', JPEG 50').split()
    match words[0]:
        case 'to':
            small = image.resize((width // 4, height // 4))
            image = small.resize((width, height)) if words[-1] == 'back' else small
        case 'half' | 'a' if words[-1] == 'side':
            # Off the centre, at a place that fits no tile.
            part, left, top = (2 if words[0] == 'half' else 4), round(width * 0.131), round(height * 0.067)
            image = image.crop((left, top, left + width // part, top + height // part))
        case 'as':
            image = _again(image.resize((round(width * 0.8), round(height * 0.8))), 'JPEG', 80)
        case 'other':
            # Brighter and warmer.
            levels = [min(255, level * gain) for gain in (1.3, 1.15, 0.9) for level in range(256)]
            image = image.point(levels)
        case 'mirrored':
            image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        case 'a':
            image = image.transpose(Image.Transpose.ROTATE_90)
        case 'turned':
            # Without the empty corners.
            edge = math.ceil(width * math.sin(math.radians(int(words[2]))))
            turned = image.rotate(int(words[2]), Image.Resampling.BICUBIC)
            image = turned.crop((edge, edge, width - edge, height - edge))
        case 'width':
            image = image.resize((round(width * float(words[2])), height))
        case 'JPEG' | 'WebP' as form:
            return _again(image, form, int(words[1]))
    return _again(image, 'JPEG', 50) if name.endswith(', JPEG 50') else image


def _again(image: Image.Image, form: str, quality: int) -> Image.Image:
    file = io.BytesIO()
    image.save(file, form, quality=quality)
    return Image.open(file).convert('RGB')


def main() -> None:
    """Prints the table, or how many of the pictures without the mark were taken for marked ones."""
    parser = argparse.ArgumentParser('python -m bench.marks', description=__doc__)
    parser.add_argument('--side', type=int, default=1024)
    parser.add_argument('--count', type=int, default=10)
    parser.add_argument('--without', action='store_true', help='half have the mark of another')
    chosen = parser.parse_args()
    pictures = (draw(number, chosen.side) for number in range(chosen.count))
    if chosen.without:
        _look_in_vain(pictures)
    else:
        _survive(list(pictures))


def _look_in_vain(pictures: Iterable[Image.Image]) -> None:
    scores, seconds = [], 0.0
    for number, picture in enumerate(pictures):
        image = OTHER.apply(picture) if number % 2 else picture
        seconds -= time.thread_time()
        finding = MARK.find(image)
        seconds += time.thread_time()
        scores.append(finding.score if finding else 0)
    taken = sum(score >= THRESHOLD for score in scores)
    print(f'taken for ours: {taken} of {len(scores)}, greatest score {max(scores):.2f}')
    print(f'to look in vain: {seconds / len(scores):.2f} s of CPU')


def _survive(pictures: list[Image.Image]) -> None:
    for name in CHANGES:
        findings = [finding for picture in pictures if (finding := MARK.find(change(name, picture)))]
        right = sum(finding.found and finding.bits_right == finding.bits for finding in findings)
        least = min(finding.score for finding in findings)
        print(f'| {name} | {sum(each.found for each in findings)} | {right} | {least:.1f} |', flush=True)
    for picture in pictures:
        began = time.thread_time()
        marked = MARK.apply(picture)
        milliseconds = 1000 * (time.thread_time() - began)
        squares = (np.asarray(marked, float) - np.asarray(picture)) ** 2
        print(f'PSNR {10 * math.log10(255**2 / squares.mean()):.1f} dB, {milliseconds:.0f} ms of CPU')


if __name__ == '__main__':
    main()
