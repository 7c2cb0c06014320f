"""Reference images: which are read, how they reach the engine, and which are refused."""

import asyncio
import hashlib
import io
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageCms

from model_server.references import FetchedReference, Unreadable, decode_reference, measure

from .file_store import Answer
from .support import Running, closing, failure, running
from .test_request import read_xmp

pytestmark = pytest.mark.anyio


def encoded(image: Image.Image, kind: str, **options: Any) -> bytes:
    """An image's file."""
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def noise(width: int = 40, height: int = 30, channels: int = 3) -> Image.Image:
    """A smooth image, of which lossy formats keep most."""
    ramp = np.add.outer(np.arange(height) * 3, np.arange(width) * 2)[..., None] + np.arange(channels) * 40
    return Image.fromarray(ramp.astype(np.uint8))


def pixels(found: FetchedReference) -> list[int]:
    """The first pixel."""
    return np.asarray(found.reference.image)[0, 0].tolist()  # type: ignore[no-any-return]


def png_chunk(kind: bytes, content: bytes) -> bytes:
    """One chunk of a PNG file."""
    return struct.pack('>I', len(content)) + kind + content + struct.pack('>I', zlib.crc32(kind + content))


def png_bomb(width: int, height: int) -> bytes:
    """A PNG that says it is as large as that, with next to nothing in it."""
    header = struct.pack('>IIBBBBB', width, height, 8, 2, 0, 0, 0)
    content = png_chunk(b'IDAT', zlib.compress(bytes(1000)))
    return b'\x89PNG\r\n\x1a\n' + png_chunk(b'IHDR', header) + content + png_chunk(b'IEND', b'')


def webp_bomb(width: int, height: int) -> bytes:
    """An extended WebP file with such a canvas."""
    body = b'WEBPVP8X' + struct.pack('<I', 10) + bytes([0x10, 0, 0, 0])
    body += (width - 1).to_bytes(3, 'little') + (height - 1).to_bytes(3, 'little') + bytes(20)
    return b'RIFF' + struct.pack('<I', len(body)) + body


async def test_reach_the_engine_as_they_are_and_are_told_of_in_the_file(server: Running) -> None:
    opaque, transparent = noise(), noise(channels=4)
    files = [
        encoded(opaque, 'PNG'),
        encoded(transparent, 'PNG'),
        encoded(opaque, 'JPEG'),
        encoded(opaque, 'WEBP'),
    ]
    links = [{'url': server.store.add(f'reference-{index}', file)} for index, file in enumerate(files)]
    request = server.request(
        outputs=2,
        references=links,
        referenceMode='exact_product',
        preserveBranding=True,
        embedParameters=True,
    )
    events = await server.invoke(request)

    assert events[-1]['referenceImagesUsed'] == 4
    # Once for both outputs.
    (spec,) = server.engine.prepared
    images = [reference.image for reference in spec.references]
    assert [image.mode for image in images] == ['RGB', 'RGBA', 'RGB', 'RGB']
    assert [image.size for image in images] == [(40, 30)] * 4
    assert np.array_equal(np.asarray(images[0]), np.asarray(opaque))
    assert np.array_equal(np.asarray(images[1]), np.asarray(transparent))
    facts = read_xmp(Image.open(io.BytesIO(server.uploaded(request)[0] or b'')))['facts']
    assert facts['referenceMode'] == 'exact_product'
    assert facts['preserveBranding'] is True
    assert facts['references'] == [{'sha256': hashlib.sha256(file).hexdigest()} for file in files]


REFUSED: list[tuple[str, bytes, Answer, str]] = [
    ('missing', b'', 404, 'HTTP 404'),
    ('forbidden', b'', 403, 'HTTP 403'),
    ('trouble', b'', 503, 'HTTP 503'),
    ('redirect', b'', 'redirect', 'HTTP 302'),
    ('dropped', b'', 'drop', 'the connection failed'),
    ('cut off', encoded(noise(), 'PNG'), 'cut', 'the connection failed'),
    ('endless', bytes(100_000), 'endless', '16 MiB'),
    ('unbounded', bytes(100_000), 'unbounded', '16 MiB'),
    ('too long', bytes(16 * 2**20 + 1), 200, '16 MiB'),
    ('empty', b'', 200, 'not a PNG, JPEG or WebP'),
    ('text', b'<svg xmlns="http://www.w3.org/2000/svg"/>', 200, 'not a PNG, JPEG or WebP'),
    ('gif', encoded(noise().convert('P'), 'GIF'), 200, 'not a PNG, JPEG or WebP'),
    ('tiff', encoded(noise(), 'TIFF'), 200, 'not a PNG, JPEG or WebP'),
    ('half a png', encoded(noise(400, 300), 'PNG')[:700], 200, 'not a PNG, JPEG or WebP'),
    ('half a jpeg', encoded(noise(400, 300), 'JPEG')[:1000], 200, 'not a PNG, JPEG or WebP'),
    ('half a webp', encoded(noise(400, 300), 'WEBP')[:90], 200, 'not a PNG, JPEG or WebP'),
    ('png bomb', png_bomb(8000, 8000), 200, '40 megapixels'),
    ('wide png', png_bomb(8193, 1), 200, '8192 pixels'),
    ('huge png', png_bomb(2**31 - 1, 2**31 - 1), 200, '40 megapixels'),
    ('webp bomb', webp_bomb(16384, 16384), 200, '40 megapixels'),
    ('nothing to see', encoded(Image.new('RGBA', (9, 9), (9, 0, 0, 2)), 'PNG'), 200, 'shows nothing'),
]  # fmt: skip


@pytest.mark.parametrize(('name', 'file', 'answer', 'why'), REFUSED, ids=[row[0] for row in REFUSED])
async def test_that_cannot_be_read_fails_the_request_naming_the_image(
    server: Running, name: str, file: bytes, answer: Answer, why: str
) -> None:
    server.store.files['bad'] = file
    server.store.answers['bad'] = [answer]
    good = {'url': server.store.add('good', encoded(noise(), 'PNG'))}
    request = server.request(references=[good, {'url': server.store.link('bad')}])
    events = await server.invoke(request)
    reason, message = failure(events)

    is_fetched = answer == 200 and '16 MiB' not in why
    assert reason == ('reference_invalid' if is_fetched else 'reference_unreadable')
    assert events[-1]['reference'] == 1
    assert message.startswith('Reference image 2 ')
    assert why in message
    assert 'secret' not in message
    assert server.engine.used == []
    assert server.store.count('elsewhere') == 0


async def test_whose_link_stutters_is_fetched_again_from_its_start(server: Running) -> None:
    server.store.answers['reference'] = ['cut', 503, 200]
    link = server.store.add('reference', encoded(noise(), 'PNG'))

    assert (await server.invoke(server.request(references=[{'url': link}])))[-1]['event'] == 'completed'
    assert np.array_equal(np.asarray(server.engine.prepared[0].references[0].image), np.asarray(noise()))


@pytest.mark.parametrize('answer', ['stall', 'drip'])
async def test_that_never_arrives_is_given_up(tmp_path: Path, answer: str) -> None:
    async with running(tmp_path, link_timeout_seconds=0.2) as server:
        server.store.answers['reference'] = [answer]
        link = server.store.add('reference', encoded(noise(), 'PNG'))
        reason, message = failure(await server.invoke(server.request(references=[{'url': link}])))

        assert reason == 'reference_unreadable'
        assert 'took too long' in message


async def test_only_so_many_requests_hold_reference_images_at_a_time(tmp_path: Path) -> None:
    async with running(tmp_path, reference_requests=1) as server:
        gate = server.store.gates['first'] = asyncio.Event()
        link = server.store.add('second', encoded(noise(), 'PNG'))
        server.store.add('first', encoded(noise(), 'PNG'))
        first = server.request(references=[{'url': server.store.link('first')}])
        async with server.opened(first) as events:
            await server.store.arrived['first'].wait()
            async with server.opened(server.request(references=[{'url': link}])) as later:
                await anext(later)
                # A request without any passes by the gate, and shows that the second one had its chance.
                assert (await server.invoke(server.request()))[-1]['event'] == 'completed'
                assert server.store.count('second') == 0
                gate.set()
                assert await closing(events) == 'completed'
                assert await closing(later) == 'completed'


def test_whose_decoder_would_take_the_memory_at_once_is_measured_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    image, see_through = noise(50, 40), noise(50, 40, channels=4)
    for file in [
        encoded(image, 'WEBP'),
        encoded(image, 'WEBP', lossless=True),
        encoded(see_through, 'WEBP'),
    ]:
        assert measure(file) == ('WEBP', (50, 40))

    monkeypatch.setattr(Image, 'open', lambda *_, **__: pytest.fail('It was opened.'))
    with pytest.raises(Unreadable, match='40 megapixels'):
        decode_reference(webp_bomb(16384, 16384))


@pytest.mark.parametrize('kind', ['PNG', 'JPEG', 'WEBP'])
@pytest.mark.parametrize('orientation', range(1, 9))
def test_are_turned_upright(kind: str, orientation: int) -> None:
    shown = np.asarray(noise())
    # Exif 2.3, 4.6.4: at which sides the rows and the columns of a file begin.
    stored = shown.swapaxes(0, 1) if orientation > 4 else shown
    stored = stored[:: -1 if orientation in (3, 4, 6, 7) else 1, :: -1 if orientation in (2, 3, 7, 8) else 1]
    exif = Image.Exif()
    exif[0x0112] = orientation
    how = {'lossless': True} if kind == 'WEBP' else {'quality': 100, 'subsampling': 0}
    file = encoded(Image.fromarray(np.ascontiguousarray(stored)), kind, exif=exif, **how)
    found = np.asarray(decode_reference(file).reference.image).astype(int)

    assert found.shape == shown.shape
    assert np.abs(found - shown).max() <= (6 if kind == 'JPEG' else 0)


def test_of_a_phone_are_read_whatever_stands_behind_the_picture_or_in_its_texts() -> None:
    jpeg = encoded(noise(), 'JPEG')
    two = encoded(noise(), 'MPO', save_all=True, append_images=[noise(20, 20)])
    for file in (jpeg + b'\0\0\0\x18ftypmp42' + bytes(5000), two):
        assert decode_reference(file).reference.image.size == (40, 30)
    text = bytearray(png_chunk(b'tEXt', b'Comment\0made by hand'))
    text[-1] ^= 1
    png = encoded(noise(), 'PNG')
    assert decode_reference(png[:33] + text + png[33:]).reference.image.size == (40, 30)


@pytest.mark.filterwarnings('ignore:Corrupt EXIF')
def test_with_broken_notes_are_still_read() -> None:
    file = encoded(noise(), 'JPEG', exif=b'Exif\0\0MM\0\x2a\0\0\0\x08\xff\xff' + b'\x01\x12' * 9)

    assert decode_reference(file).reference.image.size == (40, 30)


def test_show_only_their_first_frame() -> None:
    frames = [Image.new('RGB', (20, 20), color) for color in ('red', 'blue')]
    file = encoded(frames[0], 'WEBP', save_all=True, append_images=frames[1:], lossless=True)

    assert pixels(decode_reference(file)) == [255, 0, 0]


def test_of_other_modes_become_rgb() -> None:
    gray16 = Image.fromarray(np.full((8, 8), 0x8040, dtype=np.uint16))
    palette = Image.new('RGB', (8, 8), (10, 20, 30)).quantize(4)
    cmyk = Image.new('CMYK', (8, 8), (0, 0, 0, 0))

    assert pixels(decode_reference(encoded(gray16, 'PNG'))) == [128, 128, 128]
    assert pixels(decode_reference(encoded(Image.new('L', (8, 8), 77), 'PNG'))) == [77, 77, 77]
    assert pixels(decode_reference(encoded(Image.new('LA', (8, 8), (77, 9)), 'PNG'))) == [77, 77, 77, 9]
    assert pixels(decode_reference(encoded(Image.new('RGBA', (8, 8), (7, 8, 9, 255)), 'PNG'))) == [7, 8, 9]
    assert pixels(decode_reference(encoded(palette, 'PNG'))) == [10, 20, 30]
    assert pixels(decode_reference(encoded(Image.new('1', (8, 8), 1), 'PNG'))) == [255, 255, 255]
    assert pixels(decode_reference(encoded(cmyk, 'JPEG'))) == [255, 255, 255]


def test_in_another_color_space_become_srgb() -> None:
    lab = ImageCms.ImageCmsProfile(ImageCms.createProfile('LAB')).tobytes()
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile('sRGB')).tobytes()
    image = Image.new('RGB', (8, 8), (200, 100, 50))

    assert pixels(decode_reference(encoded(image, 'PNG', icc_profile=srgb))) == [200, 100, 50]
    # In a space whose red is sRGB's blue, and the other way round.
    swapped = srgb.replace(b'rXYZ', b'?XYZ').replace(b'bXYZ', b'rXYZ').replace(b'?XYZ', b'bXYZ')
    assert pixels(decode_reference(encoded(image, 'PNG', icc_profile=swapped))) == pytest.approx(
        [50, 100, 200], abs=2
    )
    translucent = Image.new('RGBA', (8, 8), (200, 100, 50, 60))
    assert pixels(decode_reference(encoded(translucent, 'PNG', icc_profile=swapped))) == pytest.approx(
        [50, 100, 200, 60], abs=2
    )
    # A profile for other channels than the image's, or no profile at all, changes nothing.
    assert pixels(decode_reference(encoded(image, 'PNG', icc_profile=lab))) == [200, 100, 50]
    assert pixels(decode_reference(encoded(image, 'PNG', icc_profile=b'nonsense'))) == [200, 100, 50]


@pytest.mark.parametrize('kind', ['PNG', 'JPEG', 'WEBP'])
def test_however_broken_are_either_read_or_refused(kind: str) -> None:
    whole = encoded(noise(), kind)
    random = np.random.default_rng(7)
    for _ in range(300):
        file = bytearray(whole)
        for position in random.integers(0, len(file), 4):
            file[position] = random.integers(0, 256)
        try:
            assert decode_reference(bytes(file)).reference.image.mode in ('RGB', 'RGBA')
        except Unreadable:
            continue
