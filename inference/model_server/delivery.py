"""From an image to a file at its link, beside the GPU's next work."""

import asyncio
import hashlib
import io
import json
from collections.abc import Sequence

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from .contract import Event, PaintRequest
from .failure import Failure
from .links import Links, LinkTrouble


def describe_output(
    request: PaintRequest, index: int, reference_digests: Sequence[str], model_version: str
) -> dict[str, str]:
    """
    The PNG's text chunks for output `index`: what made the image. Neither time nor request id is among it,
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
    # In ASCII the chunk is plain text for every reader.
    return {'parameters': json.dumps(parameters, separators=(',', ':')), 'Software': model_version}


def seed_of(request: PaintRequest, index: int) -> int:
    """Output i is made with (seed + i) mod 2^32."""
    return (request.seed + index) % 2**32


def encode_png(image: Image.Image, texts: dict[str, str]) -> bytes:
    """A PNG of 8-bit RGB with these text chunks (https://www.w3.org/TR/png-3/)."""
    info = PngInfo()
    for name, text in texts.items():
        info.add_text(name, text)
    file = io.BytesIO()
    image.convert('RGB').save(file, 'PNG', pnginfo=info)
    return file.getvalue()


async def deliver(
    links: Links, put_url: str, image: Image.Image, texts: dict[str, str], seconds: float
) -> Event:
    """Encodes and puts an image, and answers what `completed` says of it. Raises Failure('upload_failed')."""
    png = await asyncio.to_thread(encode_png, image, texts)
    digest = await asyncio.to_thread(lambda: hashlib.sha256(png).hexdigest())
    try:
        await links.put(put_url, png, 'image/png', seconds)
    except LinkTrouble as trouble:
        problem = f'An image could not be sent to its link: {trouble.why}.'
        raise Failure('upload_failed', problem) from None
    return {'bytes': len(png), 'sha256': digest, 'width': image.width, 'height': image.height}
