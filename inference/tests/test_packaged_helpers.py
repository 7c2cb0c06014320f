"""What packaging takes of the networks that find products and text, and which it refuses."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import onnx
import pytest

from model_server.pipelines.model_version import name_model
from tools.onnx_file import FIELDS, NotOnnx, check_onnx

from .onnx_models import red_network, save_network
from .packaging_support import FILES, TARGET, PackagingWorkspace
from .support import safetensors

NETWORK = 'segmentation/model.onnx'
DETECTOR = {
    'text_detector/config.json': b'{"model_type": "pp_ocrv5_mobile_det"}',
    'text_detector/model.safetensors': safetensors(b'text'),
    'text_detector/preprocessor_config.json': b'{}',
}
WHOLE = red_network().SerializeToString()


@pytest.fixture
def workspace(workspace: PackagingWorkspace) -> PackagingWorkspace:
    """Its model has both networks."""
    save_network(workspace.model, red_network())
    for path, content in DETECTOR.items():
        workspace.write(path, content)
    return workspace


def test_the_networks_go_along_and_what_lies_beside_them_does_not(workspace: PackagingWorkspace) -> None:
    workspace.write('segmentation/README.md', 'Much to read.')
    workspace.write('segmentation/model_fp16.onnx', b'other')
    assert workspace.package(TARGET).returncode == 0
    assert workspace.stored().keys() == {*FILES, *DETECTOR, NETWORK, 'model.json'}


@pytest.mark.parametrize('packaged', [True, False])
@pytest.mark.parametrize(
    ('path', 'other'),
    [
        (NETWORK, red_network(least=0.3).SerializeToString()),
        ('text_detector/model.safetensors', safetensors(b'more')),
        ('text_detector/config.json', b'{"model_type": "pp_ocrv5_mobile_det" }'),
    ],
)
def test_the_models_name_says_which_networks_it_has(
    workspace: PackagingWorkspace, path: str, other: bytes, packaged: bool
) -> None:
    def name() -> str:
        if packaged:
            workspace.package()
        return name_model(workspace.model, 'fallback')

    before = name()
    # Without packaging only the files' names and sizes count, and what is in configurations.
    workspace.write(path, other if packaged else None)
    assert name() != before


def in_weights(model: Any) -> Any:
    return model.graph.initializer[0]


def in_an_attribute(model: Any) -> Any:
    return model.graph.node.add().attribute.add().t


def in_a_branch(model: Any) -> Any:
    return model.graph.node.add().attribute.add().g.initializer.add()


def in_a_function(model: Any) -> Any:
    return model.functions.add().node.add().attribute.add().tensors.add()


def sparse(model: Any) -> Any:
    return model.graph.sparse_initializer.add().values


@pytest.mark.parametrize('place', [in_weights, in_an_attribute, in_a_branch, in_a_function, sparse])
def test_a_network_with_weights_in_other_files_is_refused_wherever_they_are_named(
    workspace: PackagingWorkspace, place: Callable[[Any], Any]
) -> None:
    model = red_network()
    tensor = place(model)
    tensor.ClearField('raw_data')
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key='location', value='/etc/passwd')
    workspace.write(NETWORK, model.SerializeToString())
    assert 'weights in other files' in workspace.refusal()


def test_all_ways_to_a_tensor_are_followed() -> None:
    """By the library's own description of the format."""
    protos = {name: getattr(onnx, name) for name in vars(onnx) if name.endswith('Proto')}
    described = {name: proto.DESCRIPTOR for name, proto in protos.items() if hasattr(proto, 'DESCRIPTOR')}

    def messages(name: str) -> Iterator[tuple[int, str]]:
        for field in getattr(described[name], 'fields', ()):
            if field.message_type is not None:
                yield field.number, field.message_type.name

    leading: set[str] = set()
    more = {'TensorProto'}
    # What leads to something that leads to a tensor leads to one, too.
    while more != leading:
        leading = more
        more = leading | {name for name in described if any(each in leading for _, each in messages(name))}
    for name, fields in FIELDS.items():
        if name != 'TensorProto':
            assert fields == {number: inner for number, inner in messages(name) if inner in leading}


def test_graphs_in_graphs_have_an_end(tmp_path: Path) -> None:
    inner = b''
    for _ in range(3000):
        # A graph with a node with an attribute with a graph.
        for field in (6, 5, 1):
            inner = bytes([field << 3 | 2]) + length(inner) + inner
    (tmp_path / 'deep.onnx').write_bytes(b'\x3a' + length(inner) + inner)
    with pytest.raises(NotOnnx):
        check_onnx(tmp_path / 'deep.onnx')


def length(content: bytes) -> bytes:
    """As Protocol Buffers write it."""
    value, written = len(content), []
    while value > 127:
        written.append(value & 127 | 128)
        value >>= 7
    return bytes([*written, value])


HALF_A_FILE = f'{NETWORK} is no ONNX file'


@pytest.mark.parametrize(
    ('path', 'content', 'sentence'),
    [
        (NETWORK, None, f'{NETWORK} is missing'),
        (NETWORK, WHOLE[:-1], HALF_A_FILE),
        (NETWORK, WHOLE[: len(WHOLE) // 2], HALF_A_FILE),
        (NETWORK, b'', HALF_A_FILE),
        (NETWORK, b'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12\n', HALF_A_FILE),
        # No graph.
        (NETWORK, b'\x08\x08', HALF_A_FILE),
        ('text_detector/model.safetensors', None, 'text_detector/ has no model.safetensors'),
        ('text_detector/config.json', None, 'text_detector/config.json is missing'),
        ('text_detector/config.json', b'{"model_type": "yolos"}', 'text_detector/ holds yolos'),
        ('segmentation/model.bin', b'cos', 'segmentation/model.bin'),
    ],
)
def test_a_network_that_is_missing_cut_off_or_can_not_be_used_is_refused(
    workspace: PackagingWorkspace, path: str, content: bytes | None, sentence: str
) -> None:
    workspace.write(path, content)
    assert sentence in workspace.refusal()
