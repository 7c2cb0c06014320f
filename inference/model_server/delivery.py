"""Encodes and uploads images while the GPU does its next work."""

import asyncio
import hashlib
import io
from collections.abc import Callable, Sequence

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from .contract import Event, GenerationRequest, OutputFormat
from .failure import Failure
from .links import LinkError, Links
from .xmp import xmp_packet

#: Of WebP and JPEG, 1 … 100.
LOSSY_QUALITY = 90

#: Signs a file of a format; see `c2pa`.
SignFile = Callable[[bytes, OutputFormat], bytes]


def describe_output(
    request: GenerationRequest,
    index: int,
    reference_digests: Sequence[str],
    model_version: str,
    *,
    for_preview: bool = False,
) -> bytes:
    """
    The XMP packet in the file of output `index`. Images get published, so the caller and the prompt are left
    out unless they are wanted. Without a time and a request id, the same request gives the same file.

    A preview never has the prompt, which may take more bytes than a preview may have.
    """
    facts: dict[str, object] = {
        'seed': seed_of(request, index),
        'width': request.width,
        'height': request.height,
        'modelVersion': model_version,
    }
    if request.embed_parameters and not for_preview:
        facts |= _parameters_of(request, reference_digests)
    return xmp_packet(model_version, facts)


def _parameters_of(request: GenerationRequest, reference_digests: Sequence[str]) -> dict[str, object]:
    parameters: dict[str, object] = {
        'prompt': request.prompt,
        'negativePrompt': request.negative_prompt,
        'numInferenceSteps': request.num_inference_steps,
        'guidanceScale': request.guidance_scale,
        'identity': request.identity.id,
    }
    if request.identity.version is not None:
        parameters['identityVersion'] = request.identity.version
    if reference_digests:
        parameters |= {
            'referenceMode': request.reference_mode,
            'preserveBranding': request.preserve_branding,
            'references': [{'sha256': digest} for digest in reference_digests],
        }
    return parameters


def seed_of(request: GenerationRequest, index: int) -> int:
    """Output i is made with (seed + i) mod 2^32."""
    return (request.seed + index) % 2**32


def encode_image(image: Image.Image, output_format: OutputFormat, xmp: bytes) -> bytes:
    """8-bit RGB as a file with this XMP packet."""
    file = io.BytesIO()
    pixels = image.convert('RGB')
    if output_format == 'png':
        pixels.save(file, 'PNG', pnginfo=_xmp_chunk(xmp))
    elif output_format == 'webp':
        pixels.save(file, 'WEBP', quality=LOSSY_QUALITY, xmp=xmp)
    else:
        # The default, color in half the resolution, blurs lettering on a colored ground.
        pixels.save(file, 'JPEG', quality=LOSSY_QUALITY, subsampling='4:4:4', xmp=xmp)
    return file.getvalue()


def _xmp_chunk(xmp: bytes) -> PngInfo:
    """The text chunk that PNG readers look for XMP in."""
    info = PngInfo()
    info.add_itxt('XML:com.adobe.xmp', xmp.decode())
    return info


async def deliver(
    links: Links,
    put_url: str,
    image: Image.Image,
    output_format: OutputFormat,
    xmp: bytes,
    sign: SignFile | None,
    seconds: float,
) -> Event:
    """
    Encodes, signs and uploads an image. Returns its part of `completed`. Raises Failure('upload_failed').
    """
    file = await asyncio.to_thread(encode_image, image, output_format, xmp)
    if sign is not None:
        file = await asyncio.to_thread(sign, file, output_format)
    digest = await asyncio.to_thread(lambda: hashlib.sha256(file).hexdigest())
    try:
        await links.put(put_url, file, {'content-type': f'image/{output_format}'}, seconds)
    except LinkError as error:
        problem = f'An image could not be sent to its link: {error.why}.'
        raise Failure('upload_failed', problem) from None
    return {'bytes': len(file), 'sha256': digest, 'width': image.width, 'height': image.height}
