"""What a request may ask for. Generated of docs/openapi.json by generate_models.py."""

from collections.abc import Sequence
from typing import Literal

from typing_extensions import NotRequired, TypedDict


class ReferenceImage(TypedDict, total=False):
    """A picture of a product: the ID of an upload, or a public link."""

    upload_id: str | None
    url: str | None


class GenerationParameters(TypedDict):
    """What is left out, or None, has the default of the service."""

    identity_id: str
    """From `GET /identities`. Names and slugs are not IDs."""
    prompt: str
    """What to paint. Lengths count Unicode code points."""
    negative_prompt: NotRequired[str | None]
    """What to leave out."""
    seed: NotRequired[int | None]
    """The same seed and parameters make the same image. Output *i* uses seed + *i*. Random when it is left
    out. Another `outputFormat` is another file of the same picture."""
    num_inference_steps: NotRequired[int | None]
    """30 by default. More steps take longer."""
    guidance_scale: NotRequired[float | None]
    """7.5 by default. How closely the prompt is followed."""
    num_outputs: NotRequired[int | None]
    """1 by default. Images to make. Above the license's `maxOutputs` the answer is 400 TIER_LIMIT."""
    width: NotRequired[int | None]
    """1024 by default. Pixels. Above the license's `maxSidePx` the answer is 400 TIER_LIMIT."""
    height: NotRequired[int | None]
    """1024 by default. Pixels. Above the license's `maxSidePx` the answer is 400 TIER_LIMIT."""
    output_format: NotRequired[Literal['png', 'webp', 'jpeg'] | None]
    """'png' by default. What the images are stored as. `png` keeps every pixel as it was painted; `webp`
    and `jpeg` have quality 90 and are files of a fraction of the size."""
    reference_images: NotRequired[Sequence[ReferenceImage] | None]
    """Pictures of a product, for identities with `productPhotos` alone: at most 4, each by a public
    https:// URL (host name only: no address, user, password or other port) or by the ID of an upload.
    PNG, JPEG or WebP, at most 10 MiB and 40 megapixels. One that can't be fetched or read is 400
    INVALID_PARAMETERS, after every other check and before any credit is held. Of a license's requests
    at most 40 URLs a minute are fetched: beyond that, 429 RATE_LIMITED."""
    reference_mode: NotRequired[Literal['exact_product', 'reference'] | None]
    """'reference' by default. `exact_product` keeps the product as it is and needs at least one reference
    image."""
    preserve_branding: NotRequired[bool | None]
    """Asks for packaging, logo and label to be kept accurate, where the identity can."""
