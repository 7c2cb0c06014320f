"""What reference images do to a picture, and what they leave as it is."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image

torch = pytest.importorskip('torch')
pytest.importorskip('diffusers')

from model_server.failure import Failure  # noqa: E402
from model_server.pipelines.engine import Reference  # noqa: E402

from .conftest import SIDE, difference, draw, in_type, paint, product, spec  # noqa: E402


def test_opaque_pixels_of_an_exact_product_are_in_the_image_unchanged(engine: Any) -> None:
    shown = product((30, 40))
    image = draw(engine, spec(references=(Reference(shown),), reference_mode='exact_product'))
    # In the middle, standing on the ground that `build_stage` gives it.
    middle, ground = SIDE // 2, int(SIDE * 0.85)
    region = image.crop((middle - 15, ground - 40, middle + 15, ground))
    pixels = zip(np.asarray(shown).reshape(-1, 4), np.asarray(region).reshape(-1, 3), strict=True)
    assert all((kept[:3] == seen).all() for kept, seen in pixels if kept[3] == 255)
    assert difference(image.tobytes(), paint(engine, spec())) > 1


@in_type('bfloat16')
@pytest.mark.parametrize('kind', ['sdxl', 'z-image'], indirect=True)
def test_a_reference_has_an_effect_and_is_counted(engine: Any) -> None:
    red, blue = (Reference(Image.new('RGB', (300, 200), color)) for color in ('red', 'blue'))
    assert paint(engine, spec(steps=8, references=(red,))) != paint(engine, spec(steps=8, references=(blue,)))
    assert paint(engine, spec(steps=8, references=(red, blue))) == paint(
        engine, spec(steps=8, references=(red,))
    )
    assert engine.prepare(spec(references=(red, blue))).references_used == 1
    assert engine.prepare(spec(references=(red, blue), reference_mode='exact_product')).references_used == 2
    assert engine.prepare(spec()).references_used == 0


@in_type('bfloat16')
@pytest.mark.parametrize('name', ['ip', 'flux2-klein'])
def test_every_reference_is_looked_at_where_the_model_can(engines: Callable[[str], Any], name: str) -> None:
    engine = engines(name)
    colors = ('red', 'green', 'blue', 'yellow')
    references = tuple(
        Reference(Image.radial_gradient('L').convert('RGB').quantize(4).convert('RGB')) for _ in 'x'
    ) + tuple(Reference(Image.new('RGB', (300, 200), color)) for color in colors[1:])
    images = {paint(engine, spec(references=references[:count])) for count in range(5)}
    assert len(images) == 5
    assert engine.prepare(spec(references=references)).references_used == 4


@in_type('float32')
def test_without_references_an_ip_adapter_looks_at_no_image(engines: Callable[[str], Any]) -> None:
    engine, looks = engines('ip'), 0

    def count(*_: Any) -> None:
        nonlocal looks
        looks += 1

    hook = engine._text.image_encoder.register_forward_hook(count)
    try:
        paint(engine, spec())
        paint(engine, spec(references=(Reference(product()),), reference_mode='exact_product'))
        assert looks == 0
        paint(engine, spec(references=(Reference(product()),)))
        assert looks == 1
    finally:
        hook.remove()


@pytest.mark.parametrize('whole', [False, True])
def test_the_zeros_in_place_of_an_image_have_the_shape_of_one(
    engines: Callable[[str], Any], whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """IP-Adapters with a finer grid take all of the image's tokens, and others one vector."""
    pipe = engines('ip')._text
    if whole:
        layers = torch.nn.ModuleList([torch.nn.Identity()])
        monkeypatch.setitem(pipe.unet.encoder_hid_proj._modules, 'image_projection_layers', layers)
    image = Image.new('RGB', (64, 64))
    for guided, rows in ((True, 2), (False, 1)):
        with torch.no_grad():
            expected = pipe.prepare_ip_adapter_image_embeds([[image]], None, 'cpu', 1, guided)[0]
        zeros = engines('ip')._no_image(rows)
        assert (zeros.shape, zeros.dtype) == (expected.shape, expected.dtype)
        assert not zeros.any()


def test_an_ip_adapter_leaves_other_images_as_they_are_without_it(engines: Callable[[str], Any]) -> None:
    with_it, without = engines('ip'), engines('sdxl')
    paint(with_it, spec(references=(Reference(product()),)))
    exact = spec(references=(Reference(product()),), reference_mode='exact_product')
    for each in (spec(), exact, spec(guidance_scale=1.0)):
        assert difference(paint(with_it, each), paint(without, each)) < 1


@in_type('bfloat16')
@pytest.mark.parametrize('kind', ['sdxl', 'z-image'], indirect=True)
def test_lettering_of_a_reference_stays_where_branding_is_preserved(engine: Any) -> None:
    stripes = Image.new('RGB', (512, 512), 'white')
    for x in range(200, 300, 8):
        stripes.paste('black', (x, 220, x + 4, 300))
    asked = spec(width=512, height=512, references=(Reference(stripes),), preserve_branding=True)
    image = draw(engine, asked)
    box = (220, 240, 280, 280)
    assert image.crop(box).tobytes() == stripes.crop(box).tobytes()
    assert image.crop((0, 0, 100, 100)).tobytes() != stripes.crop((0, 0, 100, 100)).tobytes()


@in_type('float32')
def test_a_product_that_cant_be_seen_is_refused_by_its_number(engine: Any) -> None:
    references = (Reference(product()), Reference(Image.new('RGBA', (100, 100))))
    with pytest.raises(Failure, match='Reference image 2') as caught:
        paint(engine, spec(references=references, reference_mode='exact_product'))
    assert (caught.value.reason, caught.value.reference) == ('reference_invalid', 1)
