"""What a request may ask for. Generated of docs/openapi.json by generate_models.py."""

from collections.abc import Sequence
from typing import Literal

from typing_extensions import NotRequired, TypedDict

from ._storage import File


class ReferenceImage(TypedDict, total=False):
    """A picture of a product: the ID of an upload, a public link or a `data:` URI."""

    upload_id: str | None
    url: str | None


class GenerationParameters(TypedDict):
    """What is left out, or None, has the default of the service."""

    identity_id: str
    """The id of one of `GET /identities`, or a slug."""
    identity_version: NotRequired[int | None]
    """One of the versions of `GET /identities/{identityId}`. Left out: the active one, which the operator
    may change at any time."""
    prompt: str
    """What to generate. Lengths count Unicode code points."""
    negative_prompt: NotRequired[str | None]
    """What to leave out. Empty by default."""
    seed: NotRequired[int | None]
    """The same seed and parameters make the same image, with the same version of the identity and of the
    model. Output *i* uses seed + *i*. Random when it is left out. Another `outputFormat` is another
    file of the same picture."""
    num_inference_steps: NotRequired[int | None]
    """More steps take longer. `30` by default."""
    guidance_scale: NotRequired[float | None]
    """How closely the prompt is followed. `7.5` by default."""
    num_outputs: NotRequired[int | None]
    """Images to make. Above the license's `maxOutputs` it is refused with TIER_LIMIT. `1` by default."""
    width: NotRequired[int | None]
    """Pixels. Above the license's `maxSidePx` it is refused with TIER_LIMIT. `1024` by default."""
    height: NotRequired[int | None]
    """Pixels. Above the license's `maxSidePx` it is refused with TIER_LIMIT. `1024` by default."""
    output_format: NotRequired[Literal['png', 'webp', 'jpeg'] | None]
    """What the images are stored as. `png` keeps every pixel as it was generated; `webp` and `jpeg` have
    quality 90 and are files of a fraction of the size. `png` by default."""
    reference_images: NotRequired[Sequence[ReferenceImage | File] | None]
    """Pictures of a product, for identities with `productPhotos` alone: at most 4, each by exactly one of
    a public https:// `url` (host name only: no address, user, password or other port; or the file
    itself as a base64 data: URI) and the `uploadId` of an upload. PNG, JPEG or WebP, at most 10 MiB and
    40 megapixels. One that can't be used is refused with INVALID_PARAMETERS, after every other check;
    one that can't be decoded, once the model has tried. Nothing is charged. Of a license's requests at
    most 40 URLs a minute are fetched: beyond that, it is refused with RATE_LIMITED. Empty by
    default."""
    reference_mode: NotRequired[Literal['exact_product', 'reference'] | None]
    """`exact_product` keeps the product as it is and needs at least one reference image. `reference` by
    default."""
    preserve_branding: NotRequired[bool | None]
    """Asks for packaging, logo and label to be kept accurate, where the identity can. `false` by
    default."""
