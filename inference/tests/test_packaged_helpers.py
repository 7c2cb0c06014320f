"""What packaging takes of the networks that find products and text, and which it refuses."""

import shutil
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


@pytest.mark.parametrize('path', [NETWORK, 'text_detector/model.safetensors', 'text_detector/config.json'])
def test_the_models_name_says_which_networks_it_has(workspace: PackagingWorkspace, path: str) -> None:
    workspace.package()
    before = name_model(workspace.model, 'fallback')
    if path == NETWORK:
        save_network(workspace.model, red_network(least=0.3))
    elif path.endswith('.json'):
        workspace.write(path, b'{"model_type": "pp_ocrv5_mobile_det" }')
    else:
        workspace.write(path, safetensors(b'more'))
    workspace.package()
    assert name_model(workspace.model, 'fallback') != before


@pytest.mark.parametrize('path', [NETWORK, 'text_detector'])
def test_without_packaging_the_models_name_says_it_too(workspace: PackagingWorkspace, path: str) -> None:
    before = name_model(workspace.model, 'fallback')
    file = workspace.model / path
    shutil.rmtree(file) if file.is_dir() else file.unlink()
    assert name_model(workspace.model, 'fallback') != before


def test_a_folder_without_the_network_is_refused(workspace: PackagingWorkspace) -> None:
    (workspace.model / NETWORK).rename(workspace.model / 'segmentation' / 'birefnet.onnx')
    assert f'{NETWORK} is missing' in workspace.refusal(TARGET)


@pytest.mark.parametrize(
    'cut',
    [
        lambda whole: whole[:-1],
        lambda whole: whole[: len(whole) // 2],
        lambda whole: b'',
        lambda whole: b'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12\n',
        lambda whole: b'\x08\x08',
    ],
    ids=['a byte less', 'half of it', 'nothing', 'a pointer', 'no graph'],
)
def test_a_network_that_did_not_arrive_whole_is_refused(
    workspace: PackagingWorkspace, cut: Callable[[bytes], bytes]
) -> None:
    workspace.write(NETWORK, cut((workspace.model / NETWORK).read_bytes()))
    assert f'{NETWORK} is no ONNX file' in workspace.refusal(TARGET)


@pytest.mark.parametrize('location', ['model.onnx_data', '../../../etc/passwd', '/etc/passwd'])
def test_a_network_with_weights_in_other_files_is_refused(
    workspace: PackagingWorkspace, location: str
) -> None:
    model = red_network()
    outside(model.graph.initializer[0], location)
    save_bytes(workspace, model)
    assert 'weights in other files' in workspace.refusal(TARGET)


def in_an_attribute(model: Any) -> Any:
    node = model.graph.node.add()
    node.op_type = 'Constant'
    attribute = node.attribute.add()
    attribute.name = 'value'
    return attribute.t


def in_a_branch(model: Any) -> Any:
    node = model.graph.node.add()
    node.op_type = 'If'
    attribute = node.attribute.add()
    attribute.name = 'then_branch'
    return attribute.g.initializer.add()


def in_a_function(model: Any) -> Any:
    return model.functions.add().node.add().attribute.add().tensors.add()


def sparse(model: Any) -> Any:
    return model.graph.sparse_initializer.add().values


@pytest.mark.parametrize('place', [in_an_attribute, in_a_branch, in_a_function, sparse])
def test_weights_in_other_files_are_found_wherever_they_are_named(
    workspace: PackagingWorkspace, place: Callable[[Any], Any]
) -> None:
    model = red_network()
    outside(place(model), '/etc/passwd')
    save_bytes(workspace, model)
    assert 'weights in other files' in workspace.refusal(TARGET)


def test_all_ways_to_a_tensor_are_followed() -> None:
    """By the library's own description of the format."""

    def messages(name: str) -> Iterator[tuple[int, str]]:
        for field in getattr(onnx, name).DESCRIPTOR.fields:
            if field.message_type is not None:
                yield field.number, field.message_type.name

    leading = {'TensorProto'}
    # What leads to something that leads to a tensor leads to one, too.
    while True:
        found = {name for name in vars(onnx) if name.endswith('Proto') and is_message(name)}
        more = {name for name in found if any(inner in leading for _, inner in messages(name))} | leading
        if more == leading:
            break
        leading = more
    for name, fields in FIELDS.items():
        if name != 'TensorProto':
            assert fields == {number: inner for number, inner in messages(name) if inner in leading}


def is_message(name: str) -> bool:
    return hasattr(getattr(onnx, name), 'DESCRIPTOR') and hasattr(getattr(onnx, name).DESCRIPTOR, 'fields')


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


def outside(tensor: Any, location: str) -> None:
    """Moves a tensor's data into another file."""
    tensor.data_type = onnx.TensorProto.FLOAT
    tensor.ClearField('raw_data')
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key='location', value=location)


def save_bytes(workspace: PackagingWorkspace, model: Any) -> None:
    """Without a look at what it says."""
    workspace.write(NETWORK, model.SerializeToString())


@pytest.mark.parametrize(
    ('path', 'content', 'sentence'),
    [
        ('text_detector/model.safetensors', None, 'text_detector/ has no model.safetensors'),
        ('text_detector/config.json', None, 'text_detector/config.json is missing'),
        ('text_detector/config.json', b'{"model_type": "yolos"}', 'text_detector/ holds yolos'),
        ('segmentation/model.bin', b'cos', 'segmentation/model.bin'),
    ],
)
def test_a_detector_that_can_not_be_used_and_a_pickle_are_refused(
    workspace: PackagingWorkspace, path: str, content: bytes | None, sentence: str
) -> None:
    if content is None:
        (workspace.model / path).unlink()
    else:
        workspace.write(path, content)
    assert sentence in workspace.refusal(TARGET)
