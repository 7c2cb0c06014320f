"""JUMBF (ISO 19566-5): boxes within labelled boxes, which is how a manifest is laid out."""

# Of the standard's own types; the first four letters differ.
_TYPE_END = bytes.fromhex('00110010800000aa00389b71')
# The label is there, and the box may be asked for by it.
_LABELLED = b'\x03'


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
