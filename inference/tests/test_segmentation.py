"""The segmentation network of a model's folder: fed as it was trained, and the same each time."""

import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from PIL import Image

from model_server.pipelines.products.cutout import cut_out
from model_server.pipelines.products.segmentation import Segmenter, describe_segmentation, load_segmenter

from .onnx_models import network, red_network, save_network
from .product_photos import can, kitchen, noise

PHOTO = can(kitchen((300, 400)))


def load(folder: Path, model: Any) -> Segmenter:
    found = load_segmenter(save_network(folder, model))
    assert isinstance(found, Segmenter)
    return found


def test_a_folder_without_a_network_needs_no_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, 'onnxruntime', None)
        assert load_segmenter(tmp_path) is None
        assert describe_segmentation(tmp_path) == []
    version = f'onnxruntime-{onnxruntime.__version__}'
    assert describe_segmentation(save_network(tmp_path, red_network())) == [version]


def test_it_finds_the_product(tmp_path: Path) -> None:
    segment = load(tmp_path, red_network())
    mask = segment(PHOTO.image)
    assert (mask.mode, mask.size) == ('L', (128, 128))
    truth = np.asarray(PHOTO.cover.resize((128, 128), Image.Resampling.BOX)) > 127
    assert ((np.asarray(mask) > 127) == truth).mean() > 0.99
    cut = cut_out(PHOTO.image, (300, 400), segment)
    assert abs(cut.width - 150) < 8
    assert abs(cut.height - 200) < 8


@pytest.mark.parametrize(('side', 'expected'), [(64, 64), ('height', 1024)])
def test_the_mask_has_the_size_that_the_graph_names(tmp_path: Path, side: Any, expected: int) -> None:
    assert load(tmp_path, red_network(side))(PHOTO.image).size == (expected, expected)


def test_pixels_are_normalized_as_birefnet_documents_it(tmp_path: Path) -> None:
    """The logit of a gray picture is the sum of its normalized channels, each with another weight."""
    weights = np.array([1.0, 10.0, 0.1])
    segment = load(tmp_path, network(32, weights, 0.0))
    gray = 115
    normalized = (gray / 255 - np.array([0.485, 0.456, 0.406])) / np.array([0.229, 0.224, 0.225])
    expected = 255 / (1 + np.exp(-(normalized * weights).sum()))
    found = segment(Image.new('RGB', (50, 20), (gray, gray, gray))).getpixel((5, 5))
    assert found == pytest.approx(expected, abs=1)
    assert 20 < expected < 235


def test_of_several_outputs_the_last_one_counts(tmp_path: Path) -> None:
    one, other = (load(tmp_path / str(earlier), red_network(earlier=earlier)) for earlier in (False, True))
    assert one(PHOTO.image).tobytes() == other(PHOTO.image).tobytes()


def test_a_network_that_gives_no_mask_or_is_none_is_refused_when_it_is_loaded(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match='no mask'):
        load(tmp_path, red_network(32, channels=2))
    (tmp_path / 'segmentation' / 'model.onnx').write_bytes(b'not a network')
    with pytest.raises(Exception, match=r'model\.onnx'):
        load_segmenter(tmp_path)


def test_the_same_photo_gives_the_same_mask_also_on_several_threads_at_once(tmp_path: Path) -> None:
    model = network(256, np.random.default_rng(5).normal(0, 1, 3), 0.1)
    segment, again = load(tmp_path, model), load(tmp_path, model)
    photo = noise((500, 300))
    masks = [segment(photo).tobytes()]
    threads = [threading.Thread(target=lambda: masks.append(segment(photo).tobytes())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert masks == [again(photo).tobytes()] * 5
