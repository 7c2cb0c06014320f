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

from model_server.references import Unreadable, decode_reference, measure

from .support import Running, closing, failure, running
from .test_request import read_facts

pytestmark = pytest.mark.anyio


def encoded(image: Image.Image, kind: str = 'PNG', **options: Any) -> bytes:
    """An image's file."""
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def noise(width: int = 40, height: int = 30, channels: int = 3) -> Image.Image:
    """A smooth image, of which lossy formats keep most."""
    ramp = np.add.outer(np.arange(height) * 3, np.arange(width) * 2)[..., None] + np.arange(channels) * 40
    return Image.fromarray(ramp.astype(np.uint8))


def flat(mode: str, color: Any) -> Image.Image:
    return Image.new(mode, (8, 8), color)


def first_pixel(file: bytes) -> list[int]:
    return np.asarray(decode_reference(file).reference.image)[0, 0].tolist()  # type: ignore[no-any-return]


def png_bomb(width: int, height: int) -> bytes:
    """A PNG that says it is as large as that, with next to nothing in it."""
    chunks = b''
    header = struct.pack('>IIBBBBB', width, height, 8, 2, 0, 0, 0)
    for kind, content in ((b'IHDR', header), (b'IDAT', zlib.compress(bytes(1000))), (b'IEND', b'')):
        chunks += struct.pack('>I', len(content)) + kind + content
        chunks += struct.pack('>I', zlib.crc32(kind + content))
    return b'\x89PNG\r\n\x1a\n' + chunks


def jpeg_bomb(width: int, height: int) -> bytes:
    """A JPEG that says it is as large as that. A smaller one is filled up with gray, as in browsers."""
    file = encoded(noise(), 'JPEG')
    frame = file.index(b'\xff\xc0') + 5
    return file[:frame] + struct.pack('>HH', height, width) + file[frame + 4 :]


def webp_bomb(width: int, height: int) -> bytes:
    """An extended WebP file with such a canvas."""
    body = b'WEBPVP8X' + struct.pack('<I', 10) + bytes([0x10, 0, 0, 0])
    body += (width - 1).to_bytes(3, 'little') + (height - 1).to_bytes(3, 'little') + bytes(20)
    return b'RIFF' + struct.pack('<I', len(body)) + body


async def test_reach_the_engine_as_they_are_once_for_all_outputs_and_the_file_names_them(
    server: Running,
) -> None:
    opaque, transparent = noise(), noise(channels=4)
    files = [encoded(opaque), encoded(transparent), encoded(opaque, 'JPEG'), encoded(opaque, 'WEBP')]
    links = [{'url': server.store.add(f'reference-{index}', file)} for index, file in enumerate(files)]
    asked: dict[str, Any] = {'referenceMode': 'exact_product', 'preserveBranding': True}
    request = server.request(outputs=2, references=links, embedParameters=True, **asked)
    events = await server.invoke(request)

    assert events[-1]['referenceImagesUsed'] == 4
    (spec,) = server.engine.prepared
    images = [reference.image for reference in spec.references]
    assert [(image.mode, image.size) for image in images] == [
        (mode, (40, 30)) for mode in ('RGB', 'RGBA', 'RGB', 'RGB')
    ]
    assert [image.tobytes() for image in images[:2]] == [opaque.tobytes(), transparent.tobytes()]
    facts = read_facts(Image.open(io.BytesIO(server.uploaded(request)[0] or b'')))
    digests = [{'sha256': hashlib.sha256(file).hexdigest()} for file in files]
    assert {**asked, 'references': digests}.items() <= facts.items()


@pytest.mark.parametrize(
    ('file', 'why'),
    [
        (encoded(noise(), 'TIFF'), 'not a PNG, JPEG or WebP'),
        (encoded(noise(400, 300))[:700], 'not a PNG, JPEG or WebP'),
        (encoded(noise(400, 300), 'WEBP')[:90], 'not a PNG, JPEG or WebP'),
        (png_bomb(8000, 8000), '40 megapixels'),
        (png_bomb(8193, 1), '8192 pixels'),
        (png_bomb(2**31 - 1, 2**31 - 1), '40 megapixels'),
        (encoded(flat('RGBA', (9, 0, 0, 2))), 'shows nothing'),
    ],
)
def test_that_cannot_be_used_are_refused(file: bytes, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        decode_reference(file)


@pytest.mark.parametrize(
    'file',
    [
        *(encoded(noise(400, 300), kind)[:-400] for kind in ('PNG', 'JPEG', 'WEBP')),
        png_bomb(6000, 6000),
        png_bomb(8000, 8000),
        jpeg_bomb(65500, 65500),
        webp_bomb(6000, 6000),
        webp_bomb(16384, 16384),
    ],
    ids=['cut PNG', 'cut JPEG', 'cut WebP', 'empty PNG', 'PNG bomb', 'JPEG bomb', 'empty WebP', 'WebP bomb'],
)
async def test_that_cannot_be_decoded_fail_before_they_need_the_model(server: Running, file: bytes) -> None:
    await server.blocked_by(server.request())
    begun = len(server.engine.begun)
    links = [server.store.add(f'r{index}', each) for index, each in enumerate([encoded(noise()), file])]
    # The model is busy all the while.
    events = await server.invoke(server.request(references=[{'url': link} for link in links]))

    assert (failure(events)[0], events[-1]['reference']) == ('reference_invalid', 1)
    assert len(server.engine.prepared) == len(server.engine.begun) == begun
    server.engine.release()


@pytest.mark.parametrize(
    ('answer', 'why'),
    [
        (503, 'HTTP 503'),
        ('drop', 'the connection failed'),
        ('stall', 'took too long'),
        ('drip', 'took too long'),
    ],
)
async def test_that_never_arrive_fail_the_request_naming_the_image(
    tmp_path: Path, answer: int | str, why: str
) -> None:
    async with running(tmp_path, link_timeout_seconds=0.5) as server:
        server.store.answers['bad'] = [answer]
        links = [server.store.add(name, encoded(noise())) for name in ('good', 'bad')]
        events = await server.invoke(server.request(references=[{'url': link} for link in links]))
        reason, message = failure(events)

    assert (reason, events[-1]['reference']) == ('reference_unreadable', 1)
    assert message.startswith('Reference image 2 ')
    assert why in message
    assert 'secret' not in message


async def test_whose_link_stutters_is_fetched_again_from_its_start(server: Running) -> None:
    server.store.answers['reference'] = ['cut', 503, 200]
    link = server.store.add('reference', encoded(noise()))

    assert (await server.invoke(server.request(references=[{'url': link}])))[-1]['event'] == 'completed'
    assert server.engine.prepared[0].references[0].image.tobytes() == noise().tobytes()


async def test_only_so_many_requests_hold_reference_images_at_a_time(tmp_path: Path) -> None:
    async with running(tmp_path, reference_requests=1) as server:
        gate = server.store.gates['first'] = asyncio.Event()
        first, second = (
            server.request(references=[{'url': server.store.add(name, encoded(noise()))}])
            for name in ('first', 'second')
        )
        async with server.opened(first) as events:
            await server.store.arrived['first'].wait()
            async with server.opened(second) as later:
                await anext(later)
                # A request without any overtakes both, and shows that the second one had its chance.
                assert (await server.invoke(server.request()))[-1]['event'] == 'completed'
                assert server.store.count('second') == 0
                gate.set()
                assert await closing(events) == 'completed'
                assert await closing(later) == 'completed'


def test_whose_decoder_would_take_the_memory_at_once_is_measured_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    image, see_through = noise(50, 40), noise(50, 40, channels=4)
    files = encoded(image, 'WEBP'), encoded(image, 'WEBP', lossless=True), encoded(see_through, 'WEBP')
    assert [measure(file) for file in files] == [('WEBP', (50, 40))] * 3

    monkeypatch.setattr(Image, 'open', lambda *_, **__: pytest.fail('It was opened.'))
    with pytest.raises(Unreadable, match='40 megapixels'):
        decode_reference(webp_bomb(16384, 16384))


@pytest.mark.filterwarnings('ignore:Corrupt EXIF')
def test_with_broken_notes_or_a_second_picture_are_still_read() -> None:
    noted = encoded(noise(), 'JPEG', exif=b'Exif\0\0MM\0\x2a\0\0\0\x08\xff\xff' + b'\x01\x12' * 9)
    for file in (noted, encoded(noise(), 'MPO', save_all=True, append_images=[noise(20, 20)])):
        assert decode_reference(file).reference.image.size == (40, 30)


SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile('sRGB')).tobytes()
LAB = ImageCms.ImageCmsProfile(ImageCms.createProfile('LAB')).tobytes()
#: Of a space whose red is sRGB's blue, and the other way round.
SWAPPED = SRGB.replace(b'rXYZ', b'?XYZ').replace(b'bXYZ', b'rXYZ').replace(b'?XYZ', b'bXYZ')
ORANGE = flat('RGB', (200, 100, 50))


@pytest.mark.parametrize(
    ('file', 'pixel'),
    [
        (encoded(Image.fromarray(np.full((8, 8), 0x8040, dtype=np.uint16))), [128, 128, 128]),
        (encoded(flat('LA', (77, 9))), [77, 77, 77, 9]),
        (encoded(flat('RGBA', (7, 8, 9, 255))), [7, 8, 9]),
        (encoded(flat('1', 1)), [255, 255, 255]),
        (encoded(ORANGE, icc_profile=SRGB), [200, 100, 50]),
        (encoded(ORANGE, icc_profile=SWAPPED), [50, 100, 200]),
        (encoded(flat('RGBA', (200, 100, 50, 60)), icc_profile=SWAPPED), [50, 100, 200, 60]),
        # A profile for other channels than the image's, or no profile at all, changes nothing.
        (encoded(ORANGE, icc_profile=LAB), [200, 100, 50]),
        (encoded(ORANGE, icc_profile=b'nonsense'), [200, 100, 50]),
    ],
)
def test_of_other_modes_and_color_spaces_become_srgb(file: bytes, pixel: list[int]) -> None:
    assert first_pixel(file) == pytest.approx(pixel, abs=2)


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
