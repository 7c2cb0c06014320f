"""Small copies of images, put beside them."""

import io
import math
from typing import Any

import numpy as np
import pytest
from PIL import Image

from model_server import previews
from model_server.previews import MAX_BYTES, encode_preview

from .support import Running, in_seconds

pytestmark = pytest.mark.anyio


def decoded(file: bytes | None) -> Image.Image:
    assert file is not None
    image = Image.open(io.BytesIO(file))
    assert image.format == 'WEBP'
    return image.convert('RGB')


def noise(width: int, height: int) -> Image.Image:
    """A picture that no file can hold in few bytes."""
    return Image.fromarray(np.random.default_rng(7).integers(0, 256, (height, width, 3), dtype=np.uint8))


@pytest.mark.parametrize(
    ('width', 'height', 'size'),
    [
        (1024, 1024, (512, 512)),
        (2048, 512, (512, 128)),
        (576, 2048, (144, 512)),
        (640, 512, (512, 410)),
        (512, 384, (512, 384)),
        (64, 64, (64, 64)),
    ],
)
def test_has_the_images_shape_and_is_never_larger(width: int, height: int, size: tuple[int, int]) -> None:
    assert decoded(encode_preview(Image.new('RGB', (width, height), '#c81e1e'), b'<xmp/>')).size == size


def test_of_an_image_that_is_hard_to_pack_has_fewer_details_and_not_more_bytes() -> None:
    image = noise(512, 512)
    file = encode_preview(image, b'<xmp/>')

    assert file is not None
    assert len(file) <= MAX_BYTES
    assert encode_preview(image, b'<xmp/>') == file


def test_is_none_where_no_quality_is_small_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(previews, 'MAX_BYTES', 100)
    assert encode_preview(noise(512, 512), b'<xmp/>') is None


def test_of_a_fine_pattern_is_as_bright_as_the_pattern() -> None:
    board = (np.indices((1024, 1024)).sum(axis=0) % 2 * 255).astype(np.uint8)
    grey = np.asarray(decoded(encode_preview(Image.fromarray(board), b'<xmp/>')))[100:400, 100:400]

    # Half of the light is code 188. Half of the codes, 128, would be a fifth of the light.
    assert math.isclose(float(grey.mean()), 188, abs_tol=2)


def with_previews(server: Running, outputs: int = 1, **changes: object) -> dict[str, Any]:
    """A request with links `preview-0`, `preview-1`, … for its previews."""
    request = server.request(outputs, **changes)
    for index, output in enumerate(request['outputs']):
        output['previewPutUrl'] = server.store.link(f'preview-{index}')
    return request


async def test_that_would_take_the_image_past_its_deadline_is_given_up_in_time(server: Running) -> None:
    server.store.answers['preview-0'] = ['stall']
    closing = (await server.invoke(with_previews(server, deadline=in_seconds(2))))[-1]

    assert closing['event'] == 'completed'


async def test_that_can_not_be_made_is_left_out(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> bytes:
        raise ValueError('a secret')

    monkeypatch.setattr(previews, 'encode_preview', fail)
    closing = (await server.invoke(with_previews(server)))[-1]

    assert closing['event'] == 'completed'
    assert 'previewBytes' not in closing['outputs'][0]
    assert 'a preview failed' in server.log.getvalue()
    assert 'a secret' not in server.log.getvalue()
