"""The segmentation network of a model's folder: fed as it was trained, and the same each time."""

import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from model_server.pipelines.products.cutout import cut_out
from model_server.pipelines.products.segmentation import describe_segmentation, load_segmenter

from .onnx_models import network, red_network, save_network
from .product_photos import can, kitchen, noise

PHOTO = can(kitchen((300, 400)))


def test_a_folder_without_a_network_needs_no_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, 'onnxruntime', None)
    assert load_segmenter(tmp_path) is None
    assert describe_segmentation(tmp_path) == []


def test_it_finds_the_product(tmp_path: Path) -> None:
    segment = load_segmenter(save_network(tmp_path, red_network()))
    assert segment is not None
    mask = segment(PHOTO.image)
    assert (mask.mode, mask.size) == ('L', (128, 128))
    truth = np.asarray(PHOTO.cover.resize((128, 128), Image.Resampling.BOX)) > 127
    assert ((np.asarray(mask) > 127) == truth).mean() > 0.99
    cut = cut_out(PHOTO.image, (300, 400), segment)
    assert abs(cut.width - 150) < 8
    assert abs(cut.height - 200) < 8


@pytest.mark.parametrize(('side', 'expected'), [(64, 64), ('height', 1024)])
def test_its_graph_says_how_large_its_input_is(tmp_path: Path, side: object, expected: int) -> None:
    segment = load_segmenter(save_network(tmp_path, red_network(side)))
    assert segment is not None
    assert segment(PHOTO.image).size == (expected, expected)


def test_pixels_are_normalized_as_birefnet_documents_it(tmp_path: Path) -> None:
    """The logit of a gray picture is the sum of its normalized channels, each with another weight."""
    weights = np.array([1.0, 10.0, 0.1])
    segment = load_segmenter(save_network(tmp_path, network(32, weights, 0.0)))
    assert segment is not None
    gray = 115
    normalized = (gray / 255 - np.array([0.485, 0.456, 0.406])) / np.array([0.229, 0.224, 0.225])
    expected = 255 / (1 + np.exp(-(normalized * weights).sum()))
    found = segment(Image.new('RGB', (50, 20), (gray, gray, gray))).getpixel((5, 5))
    assert found == pytest.approx(expected, abs=1)
    assert 20 < expected < 235


def test_of_several_outputs_the_last_one_counts(tmp_path: Path) -> None:
    one, other = (
        load_segmenter(save_network(tmp_path / name, red_network(earlier=earlier)))
        for name, earlier in (('one', False), ('several', True))
    )
    assert one is not None
    assert other is not None
    assert one(PHOTO.image).tobytes() == other(PHOTO.image).tobytes()


def test_a_network_that_gives_no_mask_is_refused_when_it_is_loaded(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match='no mask'):
        load_segmenter(save_network(tmp_path, red_network(32, channels=2)))


def test_a_file_that_is_none_is_refused_when_it_is_loaded(tmp_path: Path) -> None:
    (save_network(tmp_path, red_network()) / 'segmentation' / 'model.onnx').write_bytes(b'not a network')
    with pytest.raises(Exception, match=r'model\.onnx'):
        load_segmenter(tmp_path)


def test_the_same_photo_gives_the_same_mask_also_on_several_threads_at_once(tmp_path: Path) -> None:
    weights = np.random.default_rng(5).normal(0, 1, 3)
    segment = load_segmenter(save_network(tmp_path, network(256, weights, 0.1)))
    again = load_segmenter(tmp_path)
    assert segment is not None
    assert again is not None
    photo, first = noise((500, 300)), segment(noise((500, 300))).tobytes()
    masks: list[bytes] = []
    threads = [threading.Thread(target=lambda: masks.append(segment(photo).tobytes())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [*masks, again(photo).tobytes()] == [first] * 5


def test_the_library_that_runs_it_is_named(tmp_path: Path) -> None:
    import onnxruntime

    assert describe_segmentation(save_network(tmp_path, red_network())) == [
        f'onnxruntime-{onnxruntime.__version__}'
    ]
