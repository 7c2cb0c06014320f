"""
A network that finds lines of text, in the model's folder: a detector of PP-OCR as transformers saves it.

The detectors (https://arxiv.org/abs/1911.08947, https://github.com/PaddlePaddle/PaddleOCR) and the weights
that PaddlePaddle publishes for transformers are under Apache 2.0. It runs on the CPU, beside the GPU's work.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from .regions import label_regions

#: An RGB picture to a mask of its size, 8 bits, 255 on text.
FindText = Callable[[Image.Image], Image.Image]

# Pixels: the longest side that the network looks at, and what its sides are multiples of. The means and
# deviations are for red, green and blue, in this unusual order. Source: PPOCRV5ServerDetImageProcessor in
# transformers 5.23.
_SIDE = 960
_MULTIPLE = 32
_MEAN = np.array([0.406, 0.456, 0.485], np.float32)
_DEVIATION = np.array([0.225, 0.224, 0.229], np.float32)
# What makes a text of the network's map, from the same class: the least probability of a pixel and of a whole
# text, the thinnest text in the map's pixels, the most texts, and how much wider a text is than in the map.
_PIXEL = 0.3
_TEXT = 0.6
_THINNEST = 3
_MOST = 1000
_UNCLIP = 1.5


def load_text_detector(model_dir: Path) -> FindText | None:
    """None where the folder has no `text_detector/`. Raises ValueError for a network that finds no texts."""
    folder = model_dir / 'text_detector'
    if not folder.is_dir():
        return None
    detector = TextDetector(folder)
    detector(Image.new('RGB', (_MULTIPLE, _MULTIPLE)))
    return detector


class TextDetector:
    """A network that takes pixels and answers how probably each belongs to text, (1, 1, height, width)."""

    def __init__(self, folder: Path) -> None:
        """Raises what the library raises for a folder that it cannot load."""
        # Only a folder with a detector needs the library.
        import torch
        from transformers import AutoModelForObjectDetection

        self._torch: Any = torch
        self._model: Any = AutoModelForObjectDetection.from_pretrained(
            folder, dtype=torch.float32, use_safetensors=True, local_files_only=True
        ).eval()

    def __call__(self, picture: Image.Image) -> Image.Image:
        """A mask of the picture's size. Raises ValueError."""
        probable = self._look(picture)
        mask = Image.new('L', picture.size)
        draw = ImageDraw.Draw(mask)
        scale = np.array(picture.size) / probable.shape[::-1]
        for corners in find_texts(probable):
            draw.polygon([(float(x), float(y)) for x, y in corners * scale], fill=255)
        return mask

    def _look(self, picture: Image.Image) -> np.ndarray:
        shrink = min(1.0, _SIDE / max(picture.size))
        width, height = (max(1, round(side * shrink / _MULTIPLE)) * _MULTIPLE for side in picture.size)
        small = picture.resize((width, height), Image.Resampling.BILINEAR)
        pixels = (np.asarray(small, np.float32) / 255 - _MEAN) / _DEVIATION
        # Blue first, as in the files that the network was trained with.
        batch = np.ascontiguousarray(pixels[..., ::-1].transpose(2, 0, 1)[None])
        with self._torch.inference_mode():
            answer = self._model(pixel_values=self._torch.from_numpy(batch)).last_hidden_state
        probable: np.ndarray = answer.float().numpy()
        if probable.shape != (1, 1, height, width) or not ((probable >= 0) & (probable <= 1)).all():
            raise ValueError('The text detector is none of PP-OCR: it answers no map of probabilities.')
        found: np.ndarray = probable[0, 0]
        return found


def find_texts(probable: np.ndarray) -> list[np.ndarray]:
    """
    The corners of a rectangle around each text, 4 x 2 in the map's pixels, x before y, turned as the text is.

    The map, height x width, shows each text shrunk; the rectangle is grown again by the published rule:
    area x 1.5 / perimeter (https://arxiv.org/abs/1911.08947, section 3.6).
    """
    mask = probable > _PIXEL
    numbers = label_regions(mask)[mask]
    rows, columns = np.nonzero(mask)
    order = np.argsort(numbers, kind='stable')
    ends = np.cumsum(np.bincount(numbers, minlength=1)[1:])
    found = []
    for pixels in np.split(order, ends)[:-1][:_MOST]:
        if probable[rows[pixels], columns[pixels]].mean() >= _TEXT:
            corners = _grown_rectangle(np.stack([columns[pixels], rows[pixels]], axis=1) + 0.5)
            if corners is not None:
                found.append(corners)
    return found


def _grown_rectangle(points: np.ndarray) -> np.ndarray | None:
    """Around the points along their longest extent; None when that is thinner than a text can be."""
    center = points.mean(axis=0)
    axes = np.linalg.eigh(np.cov((points - center).T, bias=True))[1]
    along = (points - center) @ axes
    # A pixel is as wide as 1 along a side and sqrt(2) along a diagonal. What lies between matters little.
    low, high = along.min(axis=0) - 0.5, along.max(axis=0) + 0.5
    sides = high - low
    if sides.min() < _THINNEST:
        return None
    grown = sides.prod() * _UNCLIP / (2 * sides.sum())
    (left, top), (right, bottom) = low - grown, high + grown
    corners = np.array([(left, top), (right, top), (right, bottom), (left, bottom)])
    turned: np.ndarray = corners @ axes.T + center
    return turned
