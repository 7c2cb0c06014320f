"""Encodes and uploads images while the GPU does its next work."""

import asyncio
import hashlib
import io
import json
from collections.abc import Sequence

from PIL import ExifTags, Image
from PIL.PngImagePlugin import PngInfo

from .contract import Event, OutputFormat, PaintRequest
from .failure import Failure
from .links import LinkError, Links

#: Of WebP and JPEG, 1 … 100.
LOSSY_QUALITY = 90
#: A JPEG holds 64 KB of EXIF. The service's own limits keep texts far below this.
_LONGEST_COMMENT_BYTES = 60_000


def describe_output(
    request: PaintRequest, index: int, reference_digests: Sequence[str], model_version: str
) -> dict[str, str]:
    """
    The texts in the file of output `index`: what made the image. Neither time nor request id is among it,
    so that the same request is the same file.
    """
    parameters: dict[str, object] = {
        'prompt': request.prompt,
        'negativePrompt': request.negative_prompt,
        'seed': seed_of(request, index),
        'numInferenceSteps': request.num_inference_steps,
        'guidanceScale': request.guidance_scale,
        'width': request.width,
        'height': request.height,
        'identity': request.identity.id,
    }
    if reference_digests:
        parameters |= {
            'referenceMode': request.reference_mode,
            'preserveBranding': request.preserve_branding,
            'references': [{'sha256': digest} for digest in reference_digests],
        }
    parameters['modelVersion'] = model_version
    # ASCII is plain text for every reader of the file.
    return {'parameters': json.dumps(parameters, separators=(',', ':')), 'Software': model_version}


def seed_of(request: PaintRequest, index: int) -> int:
    """Output i is made with (seed + i) mod 2^32."""
    return (request.seed + index) % 2**32


def encode_image(image: Image.Image, output_format: OutputFormat, texts: dict[str, str]) -> bytes:
    """8-bit RGB as a file, with the texts `parameters` and `Software` in PNG's text chunks or in EXIF."""
    file = io.BytesIO()
    pixels = image.convert('RGB')
    if output_format == 'png':
        pixels.save(file, 'PNG', pnginfo=_png_texts(texts))
    elif output_format == 'webp':
        pixels.save(file, 'WEBP', quality=LOSSY_QUALITY, exif=_exif_texts(texts))
    else:
        # The default, color in half the resolution, blurs lettering on a colored ground.
        pixels.save(file, 'JPEG', quality=LOSSY_QUALITY, subsampling='4:4:4', exif=_exif_texts(texts))
    return file.getvalue()


def _png_texts(texts: dict[str, str]) -> PngInfo:
    """Text chunks (https://www.w3.org/TR/png-3/)."""
    info = PngInfo()
    for name, text in texts.items():
        info.add_text(name, text)
    return info


def _exif_texts(texts: dict[str, str]) -> Image.Exif:
    """`parameters` as the comment and `Software` as itself (CIPA DC-008, 4.6)."""
    exif = Image.Exif()
    exif[ExifTags.Base.Software] = texts['Software']
    parameters = texts['parameters'].encode('ascii')
    if len(parameters) <= _LONGEST_COMMENT_BYTES:
        comment = b'ASCII\0\0\0' + parameters
        exif.get_ifd(ExifTags.IFD.Exif)[ExifTags.Base.UserComment] = comment
    return exif


async def deliver(
    links: Links,
    put_url: str,
    image: Image.Image,
    output_format: OutputFormat,
    texts: dict[str, str],
    seconds: float,
) -> Event:
    """Encodes and uploads an image. Returns its part of `completed`. Raises Failure('upload_failed')."""
    file = await asyncio.to_thread(encode_image, image, output_format, texts)
    digest = await asyncio.to_thread(lambda: hashlib.sha256(file).hexdigest())
    try:
        await links.put(put_url, file, f'image/{output_format}', seconds)
    except LinkError as error:
        problem = f'An image could not be sent to its link: {error.why}.'
        raise Failure('upload_failed', problem) from None
    return {'bytes': len(file), 'sha256': digest, 'width': image.width, 'height': image.height}
