"""
The structure of an ONNX file, checked without a library.

The file is one message of Protocol Buffers (https://protobuf.dev/programming-guides/encoding/), and its
fields are those of https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.
"""

import mmap
from collections.abc import Iterator
from pathlib import Path

#: By message, the numbers of the fields that lead to tensors, and the messages in them.
FIELDS = {
    'ModelProto': {7: 'GraphProto', 20: 'TrainingInfoProto', 25: 'FunctionProto'},
    'GraphProto': {1: 'NodeProto', 5: 'TensorProto', 15: 'SparseTensorProto'},
    'NodeProto': {5: 'AttributeProto'},
    'AttributeProto': {
        5: 'TensorProto', 6: 'GraphProto', 10: 'TensorProto', 11: 'GraphProto',
        22: 'SparseTensorProto', 23: 'SparseTensorProto',
    },
    'SparseTensorProto': {1: 'TensorProto', 2: 'TensorProto'},
    'FunctionProto': {7: 'NodeProto', 11: 'AttributeProto'},
    'TrainingInfoProto': {1: 'GraphProto', 2: 'GraphProto'},
    'TensorProto': {},
}  # fmt: skip
_GRAPH = 7
# Of a tensor: 0 when its data is in it.
_DATA_LOCATION = 14
# How a field is stored.
_NUMBER, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5
# Graphs in graphs. No model comes near.
_DEEPEST = 32


class NotOnnx(Exception):
    """The file is not a complete ONNX file."""


class ExternalData(Exception):
    """Some of the model's weights are in other files, which may be anywhere."""


def check_onnx(path: Path) -> None:
    """Follows all fields that lead to tensors. Raises NotOnnx, ExternalData and OSError."""
    if path.stat().st_size == 0:
        raise NotOnnx
    with path.open('rb') as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if _GRAPH not in {number for number, *_ in _fields(data, 0, len(data))}:
            raise NotOnnx
        _check(data, 'ModelProto', 0, len(data), _DEEPEST)


def _check(data: mmap.mmap, message: str, begin: int, end: int, depth: int) -> None:
    if depth == 0:
        raise NotOnnx
    for number, kind, at, until in _fields(data, begin, end):
        if message == 'TensorProto':
            if number == _DATA_LOCATION and data[at:until] != b'\0':
                raise ExternalData
        elif number in FIELDS[message]:
            if kind != _BYTES:
                raise NotOnnx
            _check(data, FIELDS[message][number], at, until, depth - 1)


def _fields(data: mmap.mmap, begin: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """The number, the kind, the begin and the end of each field of a message. Raises NotOnnx."""
    at = begin
    while at < end:
        tag, at = _number(data, at, end)
        kind, until = tag & 7, at
        if kind == _NUMBER:
            _, until = _number(data, at, end)
        elif kind == _BYTES:
            length, at = _number(data, at, end)
            until = at + length
        elif kind in (_EIGHT_BYTES, _FOUR_BYTES):
            until = at + (8 if kind == _EIGHT_BYTES else 4)
        else:
            raise NotOnnx
        if until > end or tag < 8:
            raise NotOnnx
        yield tag >> 3, kind, at, until
        at = until


def _number(data: mmap.mmap, at: int, end: int) -> tuple[int, int]:
    """A number of variable length, seven bits a byte, and where it ends. Raises NotOnnx."""
    value = 0
    for place in range(10):
        if at + place >= end:
            raise NotOnnx
        byte = data[at + place]
        value |= (byte & 127) << 7 * place
        if byte < 128:
            return value, at + place + 1
    raise NotOnnx
