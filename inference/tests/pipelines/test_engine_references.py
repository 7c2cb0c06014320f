"""What reference images do to a picture, and what the networks in a model's folder make of them."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from model_server.pipelines.engine import Reference

from ..onnx_models import red_network, save_network
from ..product_photos import can, kitchen
from .conftest import (
    SIDE,
    difference,
    draw,
    in_type,
    open_engine,
    paint,
    product,
    spec,
    stripes,
    with_product,
)


def flat(color: str) -> Reference:
    return Reference(Image.new('RGB', (300, 200), color))


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
def test_the_first_reference_has_an_effect_and_is_counted(engine: Any) -> None:
    red, blue = flat('red'), flat('blue')
    images = [paint(engine, spec(steps=8, references=each)) for each in ((red,), (blue,), (red, blue))]
    assert images[0] == images[2] != images[1]
    for mode, used in (('reference', 1), ('exact_product', 2)):
        asked = spec(references=(red, blue), reference_mode=mode)
        assert engine.prepare(asked).references_used == used
    assert engine.prepare(spec()).references_used == 0


@in_type('bfloat16')
@pytest.mark.parametrize('name', ['ip', 'flux2-klein'])
def test_every_reference_is_looked_at_where_the_model_can(engines: Callable[[str], Any], name: str) -> None:
    engine = engines(name)
    rings = Reference(Image.radial_gradient('L').convert('RGB'))
    references = (rings, *map(flat, ('green', 'blue', 'yellow')))
    images = {paint(engine, spec(references=references[:count])) for count in range(5)}
    assert len(images) == 5
    assert engine.prepare(spec(references=references)).references_used == 4


@in_type('float32')
def test_a_reference_as_thin_as_a_line_is_not_made_larger_than_the_memory(
    engines: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, sizes = engines('ip'), list[tuple[int, int]]()
    look = engine._text.prepare_ip_adapter_image_embeds

    def record(images: list[list[Image.Image]], *others: Any) -> Any:
        sizes.extend(image.size for image in images[0])
        return look(images, *others)

    monkeypatch.setattr(engine._text, 'prepare_ip_adapter_image_embeds', record)
    shapes = (2000, 1), (2, 2000), (400, 100), (300, 200)
    engine.prepare(spec(references=tuple(Reference(Image.new('RGB', shape)) for shape in shapes)))
    assert sizes == [(4, 1), (2, 8), (400, 100), (300, 200)]


@in_type('float32')
def test_without_references_an_ip_adapter_looks_at_no_image(engines: Callable[[str], Any]) -> None:
    engine, looks = engines('ip'), []
    hook = engine._text.image_encoder.register_forward_hook(lambda *_: looks.append(1))
    try:
        for mode, expected in ((None, 0), ('exact_product', 0), ('reference', 1)):
            paint(engine, with_product(mode))
            assert len(looks) == expected
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
    paint(with_it, with_product())
    for each in (spec(), with_product('exact_product'), spec(guidance_scale=1.0)):
        assert difference(paint(with_it, each), paint(without, each)) < 1


@in_type('bfloat16')
@pytest.mark.parametrize('kind', ['sdxl', 'z-image'], indirect=True)
def test_lettering_of_a_reference_stays_where_branding_is_preserved(engine: Any) -> None:
    shown = stripes()
    image = draw(engine, spec(width=512, height=512, references=(Reference(shown),), preserve_branding=True))
    box, corner = (220, 240, 280, 280), (0, 0, 100, 100)
    assert image.crop(box).tobytes() == shown.crop(box).tobytes()
    assert image.crop(corner).tobytes() != shown.crop(corner).tobytes()


#: In the picture it has room as a whole, so nothing is shrunk. The can in it is 120 x 170.
PHOTO = can(kitchen((240, 340)))
PRODUCT = spec(width=512, height=512, references=(Reference(PHOTO.image),), reference_mode='exact_product')


@pytest.fixture(scope='module')
def helped(model_dirs: dict[str, Path], dtype: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """SDXL with a network that takes red for the product."""
    folder = tmp_path_factory.mktemp('helped') / 'sdxl'
    shutil.copytree(model_dirs['sdxl'], folder)
    return open_engine(save_network(folder, red_network()), dtype)


def test_the_network_of_the_folder_cuts_the_product_out_of_its_photo(
    helped: Any, engines: Callable[[str], Any]
) -> None:
    image = draw(helped, PRODUCT)
    ground = int(512 * 0.85)
    kept = np.asarray(image.crop((216, ground - 150, 296, ground - 30)))
    photo = np.asarray(PHOTO.image)
    # The cut-out is a pixel or two larger than the can, which moves it by as much.
    places = [(x, y) for x in range(77, 84) for y in range(102, 109)]
    assert any((photo[y : y + 120, x : x + 80] == kept).all() for x, y in places)
    # Beside the can is the photo's backdrop without the network, and something painted with it.
    without = draw(engines('sdxl'), PRODUCT)
    beside = (140, ground - 200, 180, ground - 100)
    backdrop = PHOTO.image.crop((4, 140, 44, 240)).tobytes()
    assert without.crop(beside).tobytes() == backdrop
    assert image.crop(beside).tobytes() != backdrop
    # The version names the library that finds products.
    assert 'onnxruntime-' in helped.model_version
    assert 'onnxruntime' not in engines('sdxl').model_version


def test_the_detector_of_the_folder_says_which_lettering_is_kept(
    helped: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = (100, 100, 300, 180)

    def find_text(picture: Image.Image) -> Image.Image:
        mask = Image.new('L', picture.size)
        mask.paste(255, box)
        return mask

    # How a detector of the folder is read is tested with it.
    monkeypatch.setattr(helped, '_find_text', find_text)
    reference = kitchen((512, 512))
    asked = spec(width=512, height=512, references=(Reference(reference),), preserve_branding=True)
    image = draw(helped, asked)
    assert image.crop(box).tobytes() == reference.crop(box).tobytes()
    assert image.crop((350, 300, 450, 400)).tobytes() != reference.crop((350, 300, 450, 400)).tobytes()
