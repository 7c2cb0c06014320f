"""Small copies of images, put beside them."""

import io
import math

import numpy as np
import pytest
from PIL import Image

from model_server import previews
from model_server.previews import MAX_BYTES, encode_preview

from .product_photos import noise
from .support import Running, in_seconds

pytestmark = pytest.mark.anyio


def decoded(image: Image.Image) -> Image.Image:
    """The image's preview, as it is read."""
    found = Image.open(io.BytesIO(encode_preview(image, b'<xmp/>') or b''))
    assert found.format == 'WEBP'
    return found.convert('RGB')


@pytest.mark.parametrize(
    ('size', 'expected'),
    [
        ((1024, 1024), (512, 512)),
        ((2048, 512), (512, 128)),
        ((576, 2048), (144, 512)),
        ((640, 512), (512, 410)),
        ((512, 384), (512, 384)),
    ],
)
def test_has_the_images_shape_and_is_never_larger(size: tuple[int, int], expected: tuple[int, int]) -> None:
    assert decoded(Image.new('RGB', size, '#c81e1e')).size == expected


def test_of_an_image_that_is_hard_to_pack_has_fewer_details_or_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = encode_preview(noise((512, 512)), b'<xmp/>')
    assert file is not None
    assert len(file) <= MAX_BYTES
    monkeypatch.setattr(previews, 'MAX_BYTES', 100)
    assert encode_preview(noise((512, 512)), b'<xmp/>') is None


def test_of_a_fine_pattern_is_as_bright_as_the_pattern() -> None:
    board = (np.indices((1024, 1024)).sum(axis=0) % 2 * 255).astype(np.uint8)
    gray = np.asarray(decoded(Image.fromarray(board)))[100:400, 100:400]

    # Half of the light is code 188. Half of the codes, 128, would be a fifth of the light.
    assert math.isclose(float(gray.mean()), 188, abs_tol=2)


@pytest.mark.parametrize(('answer', 'fails'), [('stall', False), (200, True)])
async def test_that_would_take_the_image_past_its_deadline_or_can_not_be_made_is_left_out(
    server: Running, monkeypatch: pytest.MonkeyPatch, answer: int | str, fails: bool
) -> None:
    def fail(*_: object) -> bytes:
        raise ValueError('a secret')

    if fails:
        monkeypatch.setattr(previews, 'encode_preview', fail)
    server.store.answers['preview'] = [answer]
    request = server.request(deadline=in_seconds(2))
    request['outputs'][0]['previewPutUrl'] = server.store.link('preview')
    closing = (await server.invoke(request))[-1]

    assert closing['event'] == 'completed'
    assert 'previewBytes' not in closing['outputs'][0]
    assert ('a preview failed' in server.log.getvalue()) == fails
    assert 'a secret' not in server.log.getvalue()
