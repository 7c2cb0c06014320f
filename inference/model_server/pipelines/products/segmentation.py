"""
A segmentation network that finds the product in a photo, as an ONNX file in the model's folder.

It is made for BiRefNet (MIT, https://github.com/ZhengPeng7/BiRefNet, https://arxiv.org/abs/2401.03407).
It runs on the CPU, beside the GPU's work.
"""

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from ...onnx_session import open_session

#: An RGB photo to a mask of the network's own size, 8 bits, 255 where it is sure of the product.
Segment = Callable[[Image.Image], Image.Image]

# Pixels. BiRefNet's size where the graph leaves it open, and the mean and deviation that it was trained with:
# https://github.com/ZhengPeng7/BiRefNet/blob/main/inference.py
_SIDE = 1024
_MEAN = np.array([0.485, 0.456, 0.406], np.float32)
_DEVIATION = np.array([0.229, 0.224, 0.225], np.float32)
_THREADS = 4


def model_file(model_dir: Path) -> Path:
    """Where the network is, in a model's folder that has one."""
    return model_dir / 'segmentation' / 'model.onnx'


def describe_segmentation(model_dir: Path) -> list[str]:
    """What runs the network decides an image's bytes, too. Empty in a folder without one."""
    return [f'onnxruntime-{version("onnxruntime")}'] if model_file(model_dir).is_file() else []


def load_segmenter(model_dir: Path) -> Segment | None:
    """None where the folder has no network. Raises ValueError for one that gives no mask."""
    file = model_file(model_dir)
    if not file.is_file():
        return None
    segmenter = Segmenter(file)
    segmenter(Image.new('RGB', (8, 8)))
    return segmenter


class Segmenter:
    """
    A network that takes RGB pixels, (1, 3, height, width), and answers logits, (1, 1, height, width).

    Of several outputs the last counts, which is the finest in BiRefNet's own export.
    """

    def __init__(self, file: Path) -> None:
        """Raises ValueError, and what the library raises for a file that it cannot read."""
        self._session: Any = open_session(file, _THREADS)
        inputs = self._session.get_inputs()
        if len(inputs) != 1 or len(inputs[0].shape) != 4:
            raise ValueError(f'{file} does not take one image, (1, 3, height, width).')
        self._input = inputs[0].name
        self._dtype = np.float16 if inputs[0].type == 'tensor(float16)' else np.float32
        height, width = (side if isinstance(side, int) else _SIDE for side in inputs[0].shape[2:])
        self._size = (width, height)

    def __call__(self, photo: Image.Image) -> Image.Image:
        """The mask has the network's own size; the photo is stretched to it. Raises ValueError."""
        small = photo.resize(self._size, Image.Resampling.BILINEAR)
        pixels = (np.asarray(small, np.float32) / 255 - _MEAN) / _DEVIATION
        batch = pixels.transpose(2, 0, 1)[None].astype(self._dtype)
        logits = np.asarray(self._session.run(None, {self._input: batch})[-1], np.float32)
        if logits.ndim != 4 or logits.shape[:2] != (1, 1) or not np.isfinite(logits).all():
            raise ValueError('The segmentation network gives no mask, (1, 1, height, width).')
        # Beyond 30 nothing changes in 8 bits, and the exponential stays a number.
        certainty = 1 / (1 + np.exp(-logits[0, 0].clip(-30, 30)))
        return Image.fromarray(np.rint(certainty * 255).astype(np.uint8))
