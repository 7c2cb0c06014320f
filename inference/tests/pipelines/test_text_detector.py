"""The detector of text in a model's folder."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from PIL import Image, ImageDraw

from model_server.pipelines.products.lettering import find_lettering
from model_server.pipelines.products.text_detector import TextDetector, find_texts, load_text_detector

from ..product_photos import noise


@pytest.fixture(scope='module')
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model's folder with a tiny detector of random weights."""
    blocks = [[[3, 8 * 2**level, 8 * 2 ** (level + 1), 1 if level == 0 else 2, False]] for level in range(5)]
    config = transformers.PPOCRV5MobileDetConfig(
        backbone_config={
            'model_type': 'pp_lcnet_v3', 'scale': 0.5, 'stem_channels': 8, 'block_configs': blocks,
            'conv_symmetric_num': 1, 'divisor': 4, 'out_features': ['stage2', 'stage3', 'stage4', 'stage5'],
        },
        layer_list_out_channels=[4, 4, 8, 8],
        neck_out_channels=16,
    )  # fmt: skip
    torch.manual_seed(3)
    model = transformers.PPOCRV5MobileDetForObjectDetection(config)
    for weights in model.parameters():
        if weights.ndim > 1:
            # With the usual start nothing of the picture would arrive at the end.
            torch.nn.init.kaiming_normal_(weights)
    root = tmp_path_factory.mktemp('model')
    model.save_pretrained(root / 'text_detector')
    return root


@pytest.fixture
def detector(folder: Path) -> Any:
    found = load_text_detector(folder)
    assert isinstance(found, TextDetector)
    return found


def answer(detector: Any, monkeypatch: pytest.MonkeyPatch, draw: Callable[[Image.Image], None]) -> list[Any]:
    """Lets the network answer a map that is drawn; returns what it is asked from then on."""
    asked: list[Any] = []

    def model(pixel_values: Any) -> Any:
        asked.append(pixel_values)
        picture = Image.new('L', (pixel_values.shape[3], pixel_values.shape[2]))
        draw(picture)
        probable = torch.from_numpy(np.asarray(picture, np.float32) / 255)[None, None]
        return transformers.modeling_outputs.BaseModelOutput(last_hidden_state=probable)

    monkeypatch.setattr(detector, '_model', model)
    return asked


def test_a_detector_as_transformers_saves_it_answers_the_same_mask_each_time_of_the_pictures_size(
    folder: Path, detector: Any
) -> None:
    mask = detector(noise((300, 200)))
    assert (mask.mode, mask.size) == ('L', (300, 200))
    again: Any = load_text_detector(folder)
    first = detector._look(noise((300, 200)))
    assert first.std() > 0
    assert (first == again._look(noise((300, 200)))).all()


def test_a_folder_has_none_and_a_network_that_finds_no_texts_is_refused_when_it_is_loaded(
    tmp_path: Path,
) -> None:
    assert load_text_detector(tmp_path) is None
    config = transformers.YolosConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, image_size=[32, 32]
    )
    transformers.YolosForObjectDetection(config).save_pretrained(tmp_path / 'text_detector')
    with pytest.raises(ValueError, match='none of PP-OCR'):
        load_text_detector(tmp_path)


def test_weights_that_are_pickles_are_not_read(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    weights = tmp_path / 'text_detector' / 'model.safetensors'
    weights.rename(weights.with_name('pytorch_model.bin'))
    with pytest.raises(OSError, match='safetensors'):
        load_text_detector(tmp_path)


def test_the_network_sees_pixels_as_it_was_trained(detector: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answer(detector, monkeypatch, lambda _: None)
    detector(Image.new('RGB', (1920, 700), (10, 100, 200)))
    assert asked[0].shape == (1, 3, 352, 960)
    # Blue first. The means and deviations are those that transformers has for red, green and blue.
    expected = [(200 / 255 - 0.485) / 0.229, (100 / 255 - 0.456) / 0.224, (10 / 255 - 0.406) / 0.225]
    assert asked[0][0, :, 5, 5].tolist() == pytest.approx(expected, abs=1e-5)


def test_a_text_is_kept_with_its_surroundings_and_a_faint_one_is_not(
    detector: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def draw(picture: Image.Image) -> None:
        # Half as large as the picture of 1920 x 960.
        ImageDraw.Draw(picture).rectangle((100, 100, 299, 119), fill=230)
        ImageDraw.Draw(picture).rectangle((100, 300, 299, 319), fill=120)
        ImageDraw.Draw(picture).rectangle((600, 100, 601, 400), fill=230)

    answer(detector, monkeypatch, draw)
    mask = detector(Image.new('RGB', (1920, 960)))
    # 200 x 20, grown by 200 x 20 x 1.5 / 440 = 13.6 on all sides, then twice as large.
    assert mask.getbbox() == pytest.approx((173, 173, 627, 267), abs=3)
    lettering = find_lettering(Image.new('RGB', (1920, 960)), detector)
    # All of the text is kept wholly, the rim around it is soft, and nothing else is kept.
    assert (np.asarray(lettering)[np.asarray(mask) == 255] == 255).all()
    assert len(set(lettering.crop((400, 100, 401, 200)).tobytes())) > 4
    assert lettering.crop((0, 500, 1920, 960)).getextrema() == (0, 0)


def test_a_turned_text_gets_a_turned_rectangle() -> None:
    picture = Image.new('L', (400, 400))
    ImageDraw.Draw(picture).rectangle((100, 190, 300, 210), fill=255)
    turned = np.asarray(picture.rotate(30), np.float32) / 255
    (corners,) = find_texts(turned)
    edges = np.diff(np.vstack([corners, corners[:1]]), axis=0)
    sides = np.linalg.norm(edges, axis=1)
    assert sorted(sides) == pytest.approx([49, 49, 229, 229], abs=4)
    longest = edges[sides.argmax()]
    assert abs(longest[1] / longest[0]) == pytest.approx(np.tan(np.pi / 6), abs=0.02)


def test_texts_that_do_not_touch_are_several() -> None:
    picture = Image.new('L', (200, 100))
    for top in (10, 40, 70):
        ImageDraw.Draw(picture).rectangle((20, top, 180, top + 8), fill=255)
    assert len(find_texts(np.asarray(picture, np.float32) / 255)) == 3
    assert find_texts(np.zeros((50, 50), np.float32)) == []
