"""Reference images: fetched, checked, then decoded."""

import asyncio
import hashlib
import io
import struct
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from PIL import Image, ImageCms, ImageOps

from .concurrency import gather_or_cancel
from .failure import Failure, Reason
from .links import LinkError, Links
from .picture_check import refused_failure
from .pipelines.engine import Reference

LIMIT_BYTES = 16 * 1024 * 1024
_MOST_PIXELS = 40_000_000
_LONGEST_SIDE = 8192
# An alpha below this, of 255, is invisible.
_FAINTEST_ALPHA = 3

_NOT_AN_IMAGE = 'is not a PNG, JPEG or WebP image that can be read'
_TOO_LARGE = 'is larger than 40 megapixels or 8192 pixels a side'


class Unreadable(Exception):
    """An image that can't be used. The text ends a sentence that begins with the image's name."""


@dataclass(frozen=True)
class FetchedReference:
    """A reference image and its file's SHA-256, lower-case hex."""

    reference: Reference
    sha256: str


async def fetch_references(
    links: Links,
    urls: Sequence[str],
    seconds: float,
    check: Callable[[Image.Image], tuple[str, ...]] | None = None,
) -> list[FetchedReference]:
    """
    Fetches, decodes and checks a request's reference images; each may take so many seconds to arrive.

    Raises Failure that names the image: 'reference_unreadable' where it could not be fetched,
    'content_refused' where the check refuses it, otherwise 'reference_invalid'.
    """

    async def fetch(index: int, url: str) -> bytes:
        file = bytearray()

        def begin() -> Callable[[bytes], object]:
            file.clear()
            return file.extend

        try:
            await links.fetch(url, LIMIT_BYTES, seconds, begin)
        except LinkError as error:
            raise _failure('reference_unreadable', index, f'could not be fetched: {error.why}') from None
        return bytes(file)

    files = await gather_or_cancel(*(fetch(index, url) for index, url in enumerate(urls)))
    found = []
    # One after the other, because decoding needs several times an image's memory.
    for index, file in enumerate(files):
        try:
            found.append(await asyncio.to_thread(decode_reference, file))
        except Unreadable as error:
            raise _failure('reference_invalid', index, str(error)) from None
        if check and (refused := await asyncio.to_thread(check, found[-1].reference.image)):
            raise refused_failure(f'Reference image {index + 1}', refused, index)
    return found


def _failure(reason: Reason, index: int, what: str) -> Failure:
    return Failure(reason, f'Reference image {index + 1} {what}.', index)


def decode_reference(file: bytes) -> FetchedReference:
    """Decodes one file to upright sRGB. Raises Unreadable."""
    kind, size = measure(file)
    if size is not None:
        _check_size(*size)
    try:
        readable = _with_right_checksums(file) if kind == 'PNG' else file
        # Only the decoder of this format may read the untrusted file.
        with Image.open(io.BytesIO(readable), formats=[kind]) as image:
            _check_size(*image.size)
            image.load()
            reference = Reference(_to_srgb(_upright(image)))
    except Unreadable:
        raise
    except Image.DecompressionBombError:
        raise Unreadable(_TOO_LARGE) from None
    except Exception:
        # The decoders raise many kinds of errors for broken files.
        raise Unreadable(_NOT_AN_IMAGE) from None
    return FetchedReference(reference, hashlib.sha256(file).hexdigest())


def _with_right_checksums(png: bytes) -> bytes:
    """Pillow refuses a PNG where the checksum of a text or a date is wrong. Every browser shows it."""
    mended = bytearray(png)
    start = 8
    while (end := start + 8 + int.from_bytes(png[start : start + 4])) + 4 <= len(png):
        is_ancillary = png[start + 4] & 0x20
        if is_ancillary:
            mended[end : end + 4] = zlib.crc32(png[start + 4 : end]).to_bytes(4)
        start = end + 4
    return bytes(mended)


def _check_size(width: int, height: int) -> None:
    if max(width, height) > _LONGEST_SIDE or width * height > _MOST_PIXELS:
        raise Unreadable(_TOO_LARGE)


def measure(file: bytes) -> tuple[str, tuple[int, int] | None]:
    """
    The format by its first bytes. For WebP also the size, since its decoder takes the memory on opening.

    WebP's header: https://www.rfc-editor.org/rfc/rfc9649.html, section 2.5 to 2.7. Raises Unreadable.
    """
    if file.startswith(b'\x89PNG\r\n\x1a\n'):
        return 'PNG', None
    if file.startswith(b'\xff\xd8\xff'):
        return 'JPEG', None
    if not (file.startswith(b'RIFF') and file[8:12] == b'WEBP') or len(file) < 30:
        raise Unreadable(_NOT_AN_IMAGE)
    chunk = file[12:16]
    if chunk == b'VP8X':
        width = int.from_bytes(file[24:27], 'little') + 1
        return 'WEBP', (width, int.from_bytes(file[27:30], 'little') + 1)
    if chunk == b'VP8L':
        bits = int.from_bytes(file[21:25], 'little')
        return 'WEBP', ((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    if chunk == b'VP8 ':
        width, height = struct.unpack('<HH', file[26:30])
        return 'WEBP', (width & 0x3FFF, height & 0x3FFF)
    raise Unreadable(_NOT_AN_IMAGE)


def _upright(image: Image.Image) -> Image.Image:
    try:
        return ImageOps.exif_transpose(image)
    except Exception:
        # Broken EXIF does not make the picture unusable.
        return image


def _to_srgb(image: Image.Image) -> Image.Image:
    profile = image.info.get('icc_profile')
    if image.mode.startswith('I'):
        # 16-bit gray: keep the upper 8 bits. Pillow would keep the lower ones.
        high = np.asarray(image).astype(np.uint32) >> 8
        image = Image.fromarray(high.clip(0, 255).astype(np.uint8))
    mode = 'RGBA' if image.has_transparency_data else 'RGB'
    converted = _by_profile(image, profile, mode) or image.convert(mode)
    if mode == 'RGBA':
        faintest, strongest = cast('tuple[int, int]', converted.getchannel('A').getextrema())
        if strongest < _FAINTEST_ALPHA:
            raise Unreadable('shows nothing: it is transparent everywhere')
        if faintest == 255:
            converted = converted.convert('RGB')
    return converted


def _by_profile(image: Image.Image, profile: bytes | None, mode: str) -> Image.Image | None:
    """None without a usable color profile: then the pixels are taken for sRGB."""
    if not profile:
        return None
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        target = ImageCms.createProfile('sRGB')
        if image.mode in ('P', 'PA', 'LA'):
            image = image.convert(mode)
        if mode == 'RGBA':
            alpha = image.convert('RGBA').getchannel('A')
            result = ImageCms.profileToProfile(image.convert('RGB'), source, target, outputMode='RGB')
            if result is not None:
                result.putalpha(alpha)
            return result
        return ImageCms.profileToProfile(image, source, target, outputMode='RGB')
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
        return None
