"""Small ONNX models, built here, that stand for a segmentation network."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

#: What the network learned: by how much red exceeds green, of 1, is product. Another channel does not count.
_MEAN = np.array([0.485, 0.456, 0.406])
_DEVIATION = np.array([0.229, 0.224, 0.225])


def red_network(side: Any = 128, steepness: float = 60.0, least: float = 0.2, **more: Any) -> onnx.ModelProto:
    """
    Logits above 0 where red exceeds green by more than `least`, in pixels normalized as BiRefNet's are.

    `side` is the size of its input, a number of pixels or a name. `more` goes to `network`.
    """
    weights = np.array([_DEVIATION[0], -_DEVIATION[1], 0]) * steepness
    bias = (_MEAN[0] - _MEAN[1] - least) * steepness
    return network(side, weights, bias, **more)


def network(
    side: Any, weights: Sequence[float] | np.ndarray, bias: float, channels: int = 1, earlier: bool = False
) -> onnx.ModelProto:
    """One convolution of 1 x 1. With `earlier` another output comes first, as in BiRefNet's own files."""
    kernel = np.tile(np.asarray(weights, np.float32).reshape(1, 3, 1, 1), (channels, 1, 1, 1))
    constants = [
        numpy_helper.from_array(kernel, 'kernel'),
        numpy_helper.from_array(np.full(channels, bias, np.float32), 'bias'),
    ]
    nodes = [helper.make_node('Conv', ['input_image', 'kernel', 'bias'], ['output_image'])]
    outputs = [output('output_image', channels, side)]
    if earlier:
        nodes.append(helper.make_node('Neg', ['output_image'], ['temp1']))
        outputs.insert(0, output('temp1', channels, side))
    graph = helper.make_graph(
        nodes,
        'segmentation',
        [helper.make_tensor_value_info('input_image', TensorProto.FLOAT, [1, 3, side, side])],
        outputs,
        constants,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)


def output(name: str, channels: int, side: Any) -> onnx.ValueInfoProto:
    """An output of the network's own size."""
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, channels, side, side])


def save_network(folder: Path, model: onnx.ModelProto) -> Path:
    """Puts it where a model's folder has its segmentation network; answers the folder."""
    file = folder / 'segmentation' / 'model.onnx'
    file.parent.mkdir(parents=True, exist_ok=True)
    onnx.save_model(model, str(file))
    return folder
