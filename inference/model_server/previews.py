"""Makes previews, the small copies for pages that show many images, and uploads them beside the images."""

import asyncio
import io
import time

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from .links import LinkError, Links
from .marks import Mark
from .observing import Observer

MAX_SIDE = 512
MAX_BYTES = 60_000
#: The first one is enough for nearly every image. With the last one even noise is small enough.
_QUALITIES = (80, 65, 50, 35, 20, 1)

#: A preview's link is signed for exactly these.
HEADERS = {'cache-control': 'private, max-age=31536000, immutable', 'content-type': 'image/webp'}

#: Nobody waits longer for a preview once its image is finished.
_LONGEST_SECONDS = 3.0
#: What is left of the deadline after that, so that the answer comes in time.
_MARGIN_SECONDS = 0.5


def _light_of(code: NDArray[np.float64]) -> NDArray[np.float32]:
    """Linear light of sRGB codes from 0 to 1 (IEC 61966-2-1)."""
    light = np.where(code <= 0.04045, code / 12.92, ((code + 0.055) / 1.055) ** 2.4)
    return light.astype(np.float32)


_LIGHT = _light_of(np.arange(256) / 255)
#: The light between one code and the next. To count those below gives the same code on each processor; to
#: compute a power may not.
_EDGES = _light_of((np.arange(255) + 0.5) / 255)


def encode_preview(image: Image.Image, xmp: bytes, mark: Mark | None = None) -> bytes | None:
    """
    A WebP of the same shape, at most 512 pixels a side and 60 kB. None where none is small enough.

    The image has no mark yet: the preview gets one of its own, which lasts longer than one that was shrunk.
    The same image gives the same bytes.
    """
    small = _shrunk(image.convert('RGB'))
    if mark is not None:
        small = mark.apply(small)
    for quality in _QUALITIES:
        file = io.BytesIO()
        small.save(file, 'WEBP', quality=quality, xmp=xmp)
        if file.tell() <= MAX_BYTES:
            return file.getvalue()
    return None


def _shrunk(image: Image.Image) -> Image.Image:
    """Averages light, not its codes, with which fine bright patterns on a dark ground would get darker."""
    width, height = image.size
    scale = MAX_SIDE / max(width, height)
    if scale >= 1:
        return image
    size = (max(1, int(width * scale + 0.5)), max(1, int(height * scale + 0.5)))
    light = _LIGHT[np.asarray(image)]
    channels = [
        np.asarray(Image.fromarray(light[..., channel]).resize(size, Image.Resampling.LANCZOS))
        for channel in range(3)
    ]
    return Image.fromarray(np.searchsorted(_EDGES, np.stack(channels, -1)).astype(np.uint8))


async def deliver_preview(
    links: Links,
    put_url: str | None,
    image: Image.Image,
    xmp: bytes,
    mark: Mark | None,
    deadline: float,
    observer: Observer,
) -> int | None:
    """
    Encodes and uploads a preview. Returns its bytes, or None where it was not put: no failure ends a request.

    `deadline`: seconds since 1970.
    """
    seconds = min(_LONGEST_SECONDS, deadline - time.time() - _MARGIN_SECONDS)
    if put_url is None or seconds <= 0:
        return None
    try:
        async with asyncio.timeout(seconds):
            file = await asyncio.to_thread(encode_preview, image, xmp, mark)
            if file is None:
                return None
            await links.put(put_url, file, HEADERS, seconds)
            return len(file)
    except (LinkError, TimeoutError) as error:
        why = error.why if isinstance(error, LinkError) else 'it took too long'
        observer.log('a preview was not put', 'warning', why=why)
    except Exception as error:
        observer.fault('a preview failed', error)
    return None
