"""
The formats of a manifest, as far as it needs them.

CBOR (RFC 8949), where every value has one encoding, the shortest; and JUMBF (ISO 19566-5), boxes within
labelled boxes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Value: TypeAlias = 'int | bytes | str | Sequence[Value] | Mapping[int | str, Value] | Tagged | None'

# Of JUMBF's own types; the first four letters differ.
_TYPE_END = bytes.fromhex('00110010800000aa00389b71')
# The label is there, and the box may be asked for by it.
_LABELLED = b'\x03'


@dataclass(frozen=True)
class Tagged:
    """A value with a tag that says what it is."""

    tag: int
    value: Value


def encode(value: Value) -> bytes:
    """A map's members stay in their order. Raises TypeError."""
    match value:
        case None:
            return b'\xf6'
        case int():
            return _head(0, value) if value >= 0 else _head(1, -1 - value)
        case bytes():
            return _head(2, len(value)) + value
        case str():
            text = value.encode()
            return _head(3, len(text)) + text
        case Tagged():
            return _head(6, value.tag) + encode(value.value)
        case Mapping():
            members = (encode(key) + encode(member) for key, member in value.items())
            return _head(5, len(value)) + b''.join(members)
        case Sequence():
            return _head(4, len(value)) + b''.join(map(encode, value))
    raise TypeError(type(value).__name__)


def _head(kind: int, number: int) -> bytes:
    """A kind, and its number in as few bytes as it needs, of at most eight."""
    if number < 24:
        return bytes([kind << 5 | number])
    power = next(power for power in range(4) if number < 256 ** (1 << power))
    return bytes([kind << 5 | 24 + power]) + number.to_bytes(1 << power, 'big')


def box(kind: bytes, content: bytes) -> bytes:
    """A box. `kind` has four letters."""
    return (8 + len(content)).to_bytes(4, 'big') + kind + content


def labelled_box(kind: bytes, label: str, *boxes: bytes) -> bytes:
    """A box that describes itself, with others in it."""
    about = box(b'jumd', kind + _TYPE_END + _LABELLED + label.encode() + b'\0')
    return box(b'jumb', about + b''.join(boxes))


def content_of(labelled: bytes) -> bytes:
    """What a reference's digest is made of: all of a box but its head."""
    return labelled[8:]
