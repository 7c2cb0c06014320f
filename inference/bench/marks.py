"""
`python -m bench.marks`: what the built-in mark survives, where it is seen by mistake, and how long it takes.

The pictures are drawn here, as no photographs are at hand: clouds of noise with the spectrum of photographs,
shapes with hard edges on even ground, stripes and lettering, soft gradients, and mixtures. With `--pictures
FOLDER` they are an operator's own.
"""

import argparse
import io
import math
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageEnhance

from model_server.marks.tile_mark import TileMark
from model_server.previews import encode_preview

Change = Callable[[Image.Image], Image.Image]
_KEY, _OTHER_KEY = b'the key of this run, thirty-two b', b'another key, of another deployment'
_BICUBIC = Image.Resampling.BICUBIC


def draw(number: int, side: int) -> Image.Image:
    """One of five kinds of pictures."""
    rng, chance = np.random.default_rng(number), random.Random(number)
    kind = number % 5
    if kind == 0:
        return _clouds(rng, side, 0.9 + 0.6 * rng.random())
    if kind == 3:
        return _gradient(rng, side)
    image = _gradient(rng, side) if kind == 1 else Image.new('RGB', (side, side), _color(chance))
    pen = ImageDraw.Draw(image)
    for _ in range(40):
        x, y, size = (chance.randrange(side) for _ in range(3))
        box = (x, y, x + size // 3 + 1, y + size // 4 + 1)
        if kind == 2:
            pen.text((x, y), f'Lorem {number} ipsum', fill=_color(chance), font_size=12 + size // 12)
            pen.line((x, 0, y, side), fill=_color(chance), width=1 + size // 100)
        elif size % 2:
            pen.ellipse(box, fill=_color(chance))
        else:
            pen.rectangle(box, fill=_color(chance))
    return Image.blend(image, _clouds(rng, side, 1.2), 0.35) if kind == 4 else image


def _clouds(rng: np.random.Generator, side: int, fall: float) -> Image.Image:
    """Noise whose amplitudes fall with the frequency, as those of photographs do."""
    frequency = np.hypot(np.fft.fftfreq(side)[:, None], np.fft.rfftfreq(side)[None])
    frequency[0, 0] = 1
    channels = []
    for _ in range(3):
        noise = np.fft.irfft2(np.fft.rfft2(rng.normal(size=(side, side))) / frequency**fall, s=(side, side))
        channels.append(128 + 45 * noise / noise.std())
    return Image.fromarray(np.stack(channels, -1).clip(0, 255).astype(np.uint8))


def _gradient(rng: np.random.Generator, side: int) -> Image.Image:
    corners = rng.integers(20, 236, (3, 3, 3)).astype(np.uint8)
    return Image.fromarray(corners).resize((side, side), _BICUBIC)


def _color(chance: random.Random) -> tuple[int, int, int]:
    return chance.randrange(256), chance.randrange(256), chance.randrange(256)


def _scaled(image: Image.Image, across: float, down: float | None = None) -> Image.Image:
    width, height = image.size
    return image.resize((round(width * across), round(height * (down or across))), Image.Resampling.LANCZOS)


def _again(form: str, **options: object) -> Change:
    def change(image: Image.Image) -> Image.Image:
        file = io.BytesIO()
        image.save(file, form, **options)
        return Image.open(file).convert('RGB')

    return change


def _part(image: Image.Image, share: float) -> Image.Image:
    """Off the centre, at a place that fits no tile."""
    width, height = image.size
    left, top = round(width * 0.131), round(height * 0.067)
    return image.crop((left, top, left + round(width * share), top + round(height * share)))


def _turned(image: Image.Image, degrees: float) -> Image.Image:
    """Without the empty corners."""
    width, height = image.size
    edge = math.ceil(max(width, height) * math.sin(math.radians(degrees)))
    turned = image.rotate(degrees, _BICUBIC)
    return turned.crop((edge, edge, width - edge, height - edge))


def _preview(image: Image.Image) -> Image.Image:
    return Image.open(io.BytesIO(encode_preview(image, b'') or b'')).convert('RGB')


def _hue(image: Image.Image) -> Image.Image:
    turned = np.array(image.convert('HSV'))
    turned[..., 0] += 10
    return Image.fromarray(turned, 'HSV').convert('RGB')


#: What happens to pictures.
CHANGES: dict[str, Change] = {
    'nothing': lambda image: image,
    'JPEG 50': _again('JPEG', quality=50),
    'WebP 40': _again('WEBP', quality=40),
    'its preview': _preview,
    'to a quarter and back': lambda image: _scaled(_scaled(image, 0.25), 4),
    'to a quarter': lambda image: _scaled(image, 0.25),
    'half of each side, off the centre': lambda image: _part(image, 0.5),
    'the same, and JPEG 50': lambda image: _again('JPEG', quality=50)(_part(image, 0.5)),
    'a quarter of each side': lambda image: _part(image, 0.25),
    'as a screenshot: 0.8 and JPEG 80': lambda image: _again('JPEG', quality=80)(_scaled(image, 0.8)),
    'brighter and more colored by 20%': lambda image: ImageEnhance.Color(
        ImageEnhance.Brightness(image).enhance(1.2)
    ).enhance(1.2),
    'other hue': _hue,
    'gray': lambda image: image.convert('L').convert('RGB'),
    'mirrored': lambda image: image.transpose(Image.Transpose.FLIP_LEFT_RIGHT),
    'turned by a degree': lambda image: _turned(image, 1),
    'turned by a degree, JPEG 50': lambda image: _again('JPEG', quality=50)(_turned(image, 1)),
    'turned by 5 degrees': lambda image: _turned(image, 5),
    'a quarter turn': lambda image: image.transpose(Image.Transpose.ROTATE_90),
    'width to 0.9': lambda image: _scaled(image, 0.9, 1),
    'width to 0.75': lambda image: _scaled(image, 0.75, 1),
    'width to 0.6': lambda image: _scaled(image, 0.6, 1),
}


def _pictures(folder: Path | None, first: int, count: int, side: int) -> Iterator[Image.Image]:
    if folder is None:
        yield from (draw(number, side) for number in range(first, first + count))
        return
    for path in sorted(folder.iterdir())[first : first + count]:
        with Image.open(path) as image:
            yield image.convert('RGB')


def _survival(mark: TileMark, pictures: Iterator[Image.Image]) -> None:
    scores: dict[str, list[tuple[float, bool, bool]]] = {name: [] for name in CHANGES}
    applying, noise = [], []
    for picture in pictures:
        began = time.thread_time()
        marked = mark.apply(picture)
        applying.append(time.thread_time() - began)
        difference = np.asarray(marked, np.float64) - np.asarray(picture)
        noise.append(20 * math.log10(255 / max(math.sqrt((difference**2).mean()), 1e-9)))
        for name, change in CHANGES.items():
            finding = mark.find(change(marked))
            if finding is not None:
                all_bits = finding.bits_right == finding.bits
                scores[name].append((finding.score, finding.found, finding.found and all_bits))
    print('| change | found | with all 36 bits | least score |\n| --- | ---: | ---: | ---: |')
    for name, each in scores.items():
        found, right = (sum(one[place] for one in each) for place in (1, 2))
        print(f'| {name} | {found} of {len(each)} | {right} | {min(each)[0]:.1f} |')
    print(
        f'to mark: {1000 * np.median(applying):.0f} ms of CPU; PSNR {min(noise):.1f} to {max(noise):.1f} dB'
    )


def _false_positives(mark: TileMark, other: TileMark, pictures: Iterator[Image.Image]) -> None:
    scores, seconds = [], []
    for number, picture in enumerate(pictures):
        # Every second one has another deployment's mark.
        image = other.apply(picture) if number % 2 else picture
        began = time.thread_time()
        finding = mark.find(image)
        seconds.append(time.thread_time() - began)
        if finding is not None:
            scores.append((finding.score, finding.found))
        if number % 50 == 49:
            print(number + 1, sum(found for _, found in scores), round(max(scores)[0], 2), flush=True)
    taken = sum(found for _, found in scores)
    print(f'taken for ours: {taken} of {len(scores)}, greatest score {max(scores)[0]:.2f}')
    print(f'to look in vain: {1000 * np.median(seconds):.0f} ms of CPU')


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser('python -m bench.marks', description=__doc__)
    parser.add_argument('--pictures', type=Path)
    parser.add_argument('--side', type=int, default=1024)
    parser.add_argument('--first', type=int, default=0)
    parser.add_argument('--count', type=int, default=20)
    parser.add_argument('--without', type=int, default=0, help='so many pictures without the mark')
    chosen = parser.parse_args()
    mark, other = TileMark(_KEY), TileMark(_OTHER_KEY)
    if chosen.count:
        _survival(mark, _pictures(chosen.pictures, chosen.first, chosen.count, chosen.side))
    if chosen.without:
        pictures = _pictures(chosen.pictures, chosen.first, chosen.without, chosen.side)
        _false_positives(mark, other, pictures)


if __name__ == '__main__':
    main()
