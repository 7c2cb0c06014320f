"""Where a manifest is in a file of each format (C2PA 2.3, appendix A)."""

from zlib import crc32

from ..contract import OutputFormat

# What one segment of a JPEG holds at most. A manifest of this server is a tenth of it.
LARGEST_MANIFEST_BYTES = 60_000


def place_of(file: bytes, output_format: OutputFormat) -> int:
    """Where the manifest is inserted."""
    if output_format == 'png':
        # After the signature and the header, whose chunk has 25 bytes.
        return 33
    if output_format == 'webp':
        return len(file)
    place = 2
    # After the header of JFIF, which some readers look for at the beginning only.
    while file[place : place + 2] == b'\xff\xe0':
        place += 2 + int.from_bytes(file[place + 2 : place + 4], 'big')
    return place


def wrap(manifest: bytes, output_format: OutputFormat) -> bytes:
    """The manifest, of an even length, as a part of such a file. Raises ValueError when it is too large."""
    if len(manifest) > LARGEST_MANIFEST_BYTES:
        raise ValueError('The manifest is too large.')
    if output_format == 'png':
        body = b'caBX' + manifest
        return len(manifest).to_bytes(4, 'big') + body + crc32(body).to_bytes(4, 'big')
    if output_format == 'webp':
        return b'C2PA' + len(manifest).to_bytes(4, 'little') + manifest
    # A segment of JPEG XT (ISO 19566-5): the first and only part of box 1.
    body = b'JP' + (1).to_bytes(2, 'big') + (1).to_bytes(4, 'big') + manifest
    return b'\xff\xeb' + (len(body) + 2).to_bytes(2, 'big') + body


def make_room(file: bytes, output_format: OutputFormat, length: int) -> bytes:
    """The file, with its length in the header greater by `length`. Only WebP has such a header."""
    if output_format != 'webp':
        return file
    return file[:4] + (len(file) - 8 + length).to_bytes(4, 'little') + file[8:]
