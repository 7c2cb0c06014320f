"""CBOR (RFC 8949), as far as a manifest needs it: every value has one encoding, the shortest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Value: TypeAlias = 'int | bytes | str | Sequence[Value] | Mapping[int | str, Value] | Tagged | None'


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
