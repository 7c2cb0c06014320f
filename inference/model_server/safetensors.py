"""
The structure of a .safetensors file, checked before a library is let near it.

The format: https://github.com/huggingface/safetensors#format. Eight bytes with the length
of the header, which is JSON, then the tensors' bytes without a gap.
"""

import json
from math import prod
from pathlib import Path

_LONGEST_HEADER_BYTES = 100_000_000
_BITS = {
    'BOOL': 8, 'U8': 8, 'I8': 8, 'U16': 16, 'I16': 16, 'U32': 32, 'I32': 32, 'U64': 64, 'I64': 64,
    'F8_E4M3': 8, 'F8_E5M2': 8, 'F8_E8M0': 8, 'F16': 16, 'BF16': 16, 'F32': 32, 'F64': 64, 'C64': 64,
}  # fmt: skip


class NotSafetensors(Exception):
    """The file is not a complete safetensors file."""


def check_safetensors(path: Path) -> None:
    """Reads the header and checks that its tensors fill the file. Raises NotSafetensors, and OSError."""
    size = path.stat().st_size
    with path.open('rb') as file:
        length = int.from_bytes(file.read(8), 'little')
        if size < 8 or length > _LONGEST_HEADER_BYTES or 8 + length > size:
            raise NotSafetensors
        text = file.read(length)
    try:
        header = json.loads(text.decode('utf-8'))
        spans = [_span(about) for name, about in header.items() if name != '__metadata__']
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise NotSafetensors from None
    end = 0
    for begin, until in sorted(spans):
        if begin != end:
            raise NotSafetensors
        end = until
    if not spans or end != size - 8 - length:
        raise NotSafetensors


def _span(about: dict[str, object]) -> tuple[int, int]:
    shape, offsets = about['shape'], about['data_offsets']
    bits = _BITS[str(about['dtype'])]
    if not isinstance(shape, list) or not isinstance(offsets, list):
        raise NotSafetensors
    begin, end = offsets
    numbers = [*shape, begin, end]
    if not all(type(number) is int and number >= 0 for number in numbers):
        raise NotSafetensors
    if (end - begin) * 8 != prod(shape) * bits:
        raise NotSafetensors
    return begin, end
