"""An engine whose model's folder has a segmentation network and a detector of text."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from model_server.pipelines.engine import Reference

from ..onnx_models import red_network, save_network
from ..product_photos import can, kitchen
from .conftest import draw, open_engine, spec

#: In the picture it has room as a whole, so nothing is shrunk. The can in it is 120 x 170.
PHOTO = can(kitchen((240, 340)))
PRODUCT = spec(width=512, height=512, references=(Reference(PHOTO.image),), reference_mode='exact_product')


@pytest.fixture(scope='module')
def helped(model_dirs: dict[str, Path], dtype: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """SDXL with a network that takes red for the product."""
    folder = tmp_path_factory.mktemp('helped') / 'sdxl'
    shutil.copytree(model_dirs['sdxl'], folder)
    return open_engine('sdxl', save_network(folder, red_network()), dtype)


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
    assert helped.prepare(PRODUCT).references_used == 1


def test_the_model_version_names_the_library_that_finds_products(
    helped: Any, engines: Callable[[str], Any]
) -> None:
    assert 'onnxruntime-' in helped.model_version
    assert len(helped.model_version) <= 200
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
