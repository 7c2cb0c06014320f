"""What the service answers. Generated of docs/openapi.json by generate_models.py."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, SkipValidation

from image_generation._answer import Answer


class Accepted(Answer):
    request_id: Annotated[str, Field(alias='requestId')]
    """UUID of the stored request. It does not change, and GET /generate/{requestId} fetches it."""
    credits_reserved: Annotated[int, Field(alias='creditsReserved')]


class AcceptedGeneration(Answer):
    request_id: Annotated[str, Field(alias='requestId')]
    """UUID of the stored request. It does not change, and GET /generate/{requestId} fetches it."""
    status: SkipValidation[Literal['QUEUED']]
    credits_reserved: Annotated[int, Field(alias='creditsReserved')]
    """What it will be charged if it completes."""


class CreditsUsage(Answer):
    credits_used: Annotated[int, Field(alias='creditsUsed')]
    """Credits used in the period, extra ones and this request included."""
    credits_limit: Annotated[int, Field(alias='creditsLimit')]
    """Credits of a period."""
    credits_remaining: Annotated[int, Field(alias='creditsRemaining')]
    """`creditsLimit` less `creditsUsed`: negative when the limit was lowered below what is used, or extra credits pay for more."""
    extra_remaining: Annotated[int | None, Field(alias='extraRemaining')] = None
    """What is left of extra credits: given by the operator, or bought once. They are used after the period's own. What running requests hold is not in it. Left out where there are none."""
    credits_charged: Annotated[int, Field(alias='creditsCharged')]
    """What this request was charged."""
    period_reset_date: Annotated[AwareDatetime, Field(alias='periodResetDate')]
    """When the next period's credits begin."""


class GenerationEventsFailed(Answer):
    error: str
    code: str
    status: int


class Health(Answer):
    status: SkipValidation[Literal['ok', 'degraded']]
    """`ok` when every part is up. A model that is scaled to zero, or starts as it should, is up."""
    api: SkipValidation[Literal['up']]
    """The API itself: whoever reads this has reached it."""
    inference: SkipValidation[Literal['up', 'down']]
    """The models. `down` while they neither run nor can be started: generating answers 503 then."""
    model: SkipValidation[Literal['ready', 'waking', 'asleep', 'unavailable']] | None = None
    """`ready` generates at once. `asleep`: it is scaled to zero, and the next request to generate starts it. `waking`: it starts. In both, generating answers 503, and a request with `Prefer: respond-async` waits for it. `unavailable`: no answer."""
    model_ready_in_seconds: Annotated[int | None, Field(alias='modelReadyInSeconds')] = None
    """While the model is `waking`: about when it is ready, by what cold starts took lately. Otherwise null."""


class IdentityName(Answer):
    id: str
    name: str


class KeyBudget(Answer):
    monthly_credits: Annotated[int, Field(alias='monthlyCredits')]
    """Credits of the period that it may use."""
    used: int
    """What completed requests were charged in the period that runs."""
    remaining: int
    """What new requests may still be charged: what requests in flight hold is taken off. Never below 0."""


class KeyCredits(Answer):
    limit: int
    """Credits of the period that runs."""
    used: int
    """What completed requests were charged in the period that runs."""
    remaining: int
    """What new requests may still be charged: what requests in flight hold is taken off. Never below 0."""
    extra_remaining: Annotated[int | None, Field(alias='extraRemaining')] = None
    """What is left of extra credits: given by the operator, or bought once. They are used after the period's own. What running requests hold is not in it. Left out where there are none."""
    resets_at: Annotated[AwareDatetime, Field(alias='resetsAt')]
    """When the credits of the next period begin."""


class KeyIdentity(Answer):
    id: str
    """Send it as `identityId`."""
    name: str
    slug: str
    """The name as it stands in addresses of pages. `identityId` takes it, too, and goes on taking it after a rename."""
    available: bool
    """Whether it has an active model right now."""


class KeyLicense(Answer):
    license_id: Annotated[str, Field(alias='licenseId')]
    name: str
    """As the account's list of licenses has it."""
    tier: str
    """The tier's label."""
    max_outputs: Annotated[int, Field(alias='maxOutputs')]
    """The largest `numOutputs` of a request."""
    max_side_px: Annotated[int, Field(alias='maxSidePx')]
    """The largest `width` and `height` of a request, in pixels."""
    max_in_flight: Annotated[int, Field(alias='maxInFlight')]
    """How many of its requests may be in flight at a time."""
    in_flight: Annotated[int, Field(alias='inFlight')]
    """How many are, whoever sent them."""


class KeyRequests(Answer):
    per_minute: Annotated[int, Field(alias='perMinute')]
    """How many requests to generate the key may send in any 60 seconds."""
    remaining: int
    """How many of them it may send now."""
    reset_seconds: Annotated[int, Field(alias='resetSeconds')]
    """Seconds until one more becomes free; 0 where all are."""


class Progress(Answer):
    step: int
    steps: int


class Queued(Answer):
    position: int
    """How many requests begin before this one, plus one."""
    eta_seconds: Annotated[int, Field(alias='etaSeconds')]
    """Until it is expected to begin; 0 while that is not known."""


class Sample(Answer):
    url: str
    """The picture, a WebP of at most 1024 pixels a side."""
    thumbnail_url: Annotated[str, Field(alias='thumbnailUrl')]
    """The same in small, a WebP of at most 512 pixels a side."""
    width: int
    """Of the picture, in pixels."""
    height: int
    """Of the picture, in pixels."""
    prompt: str | None
    """The prompt that made it, where that is known."""


class Size(Answer):
    width: int
    """Pixels."""
    height: int
    """Pixels."""


class Started(Answer):
    pass


class StoredIdentity(Answer):
    id: str
    name: str
    slug: str


class Upload(Answer):
    upload_id: Annotated[str, Field(alias='uploadId')]
    """Send it in `referenceImages`, once the file was sent."""
    url: str
    """Where to POST a form (multipart/form-data) of all `fields`, and then the file in a field named `file`."""
    fields: dict[str, str]
    """The fields of the form, as they are."""
    max_bytes: Annotated[int, Field(alias='maxBytes')]
    """The largest file that is taken."""
    expires_at: Annotated[AwareDatetime, Field(alias='expiresAt')]
    """Until then the file can be sent, and used."""


class DryRun(Answer):
    dry_run: Annotated[bool, Field(alias='dryRun')]
    """Nothing was generated, charged or stored."""
    accepted: bool
    """A request that would be refused is answered with its refusal."""
    identity: IdentityName
    credits: int
    """What the request would be charged; 0 where its Idempotency-Key stands for a result already."""
    usage: CreditsUsage
    """As it is: a dry run charges nothing. What running requests hold is not in it."""


class Generation(Answer):
    request_id: Annotated[str, Field(alias='requestId')]
    """UUID of the stored request. It does not change, and GET /generate/{requestId} fetches it."""
    outputs: list[str]
    """Signed links to the images, open to everyone who has them for an hour at most. Fetch the request again for new ones."""
    previews: list[str | None] = []
    """Signed links to small WebP copies, in the order of `outputs`; an entry is null where there is none. Each stays the same for a quarter of an hour, and opens for 45 minutes at least."""
    identity: IdentityName
    identity_version: Annotated[int | None, Field(alias='identityVersion')] = None
    """The identity's version that makes the images; null in requests of before there were versions."""
    reference_images_used: Annotated[int, Field(alias='referenceImagesUsed')]
    """How many reference images the model says it used."""
    usage: CreditsUsage
    processing_time_ms: Annotated[int, Field(alias='processingTimeMs')]
    """Milliseconds from acceptance to completion."""
    seed: int
    """The seed of the first output; each further one has the next."""


class Identity(Answer):
    id: str
    """Send it as `identityId`."""
    name: str
    slug: str
    """The name as it stands in addresses of pages. `identityId` takes it, too, and goes on taking it after a rename."""
    description: str
    product_photos: Annotated[bool, Field(alias='productPhotos')]
    """Whether it takes reference images of products."""
    available: bool
    """Whether it has an active model right now."""
    version: int | None = None
    """The active version, which makes what names none as `identityVersion`; null while there is none."""
    trigger_words: Annotated[list[str], Field(alias='triggerWords')] = []
    """Words that call up its manner, where the operator shows them."""
    default_size: Annotated[Size | None, Field(alias='defaultSize')] = None
    """Of requests that name neither side."""
    license: str | None = None
    """The licence of its adapter, by name or address, where it is known."""
    source: str | None = None
    """Where it is from, where that is known."""
    samples: list[Sample] = []
    """Pictures that show what it makes, at most 9, and fewer where more than 111 identities are listed. Their links open for 45 to 60 minutes and are the same within each quarter of an hour."""


class IdentityList(Answer):
    identities: list[Identity]


class IdentityVersion(Answer):
    version: int
    """Send it as `identityVersion`."""
    active: bool
    """Whether it makes what names no version."""
    created_at: Annotated[AwareDatetime | None, Field(alias='createdAt')]
    """Null for what was there before versions were."""
    note: str | None
    """What is new in it."""
    retires_at: Annotated[AwareDatetime | None, Field(alias='retiresAt')]
    """From then on requests that pin it are refused; null while none is set."""
    samples: list[Sample]
    """Pictures that this version made."""


class KeyAllowance(Answer):
    key_id: Annotated[str, Field(alias='keyId')]
    """What the key goes by. It opens nothing."""
    key_prefix: Annotated[str, Field(alias='keyPrefix')]
    """The first characters of the raw key, to know it by."""
    name: str
    expires_at: Annotated[AwareDatetime | None, Field(alias='expiresAt')]
    """Null for a key that does not expire."""
    access: SkipValidation[Literal['license', 'own']]
    """What it reads and deletes: all of its license's requests, or its `own`."""
    license: KeyLicense
    """The one that the key is of."""
    credits: KeyCredits
    """Of its license, whichever key used them."""
    budget: KeyBudget | None
    """Of the key itself, in the same period. Null for a key without one."""
    max_in_flight: Annotated[int | None, Field(alias='maxInFlight')]
    """How many of its requests may be in flight at a time. Null for as many as its license may."""
    in_flight: Annotated[int | None, Field(alias='inFlight')]
    """How many of its requests are in flight. Null for a key without a limit of its own."""
    requests: KeyRequests
    """The limit of `POST /generate`. Asking for it takes nothing of it."""
    identities: list[KeyIdentity]
    """Those that it may use, by name."""


class StoredGeneration(Answer):
    id: str
    """UUID of the stored request. It does not change, and GET /generate/{requestId} fetches it."""
    license_id: Annotated[str, Field(alias='licenseId')]
    key_id: Annotated[str | None, Field(alias='keyId')] = None
    """The key that asked; null for the playground."""
    type: SkipValidation[Literal['text_to_image', 'reference', 'exact_product']]
    status: SkipValidation[Literal['QUEUED', 'PROCESSING', 'COMPLETED', 'FAILED', 'TIMEOUT']]
    """COMPLETED, FAILED and TIMEOUT are final and never change."""
    identity: StoredIdentity
    """As it was when the request was accepted."""
    identity_version: Annotated[int | None, Field(alias='identityVersion')] = None
    """The identity's version that makes the images; null in requests of before there were versions."""
    prompt: str
    effective_prompt: Annotated[str | None, Field(alias='effectivePrompt')] = None
    """What the model got for the prompt, where the identity has words of its own around it; null otherwise."""
    negative_prompt: Annotated[str, Field(alias='negativePrompt')]
    seed: int
    """The seed of the first output; each further one has the next."""
    steps: int
    """Inference steps."""
    cfg_scale: Annotated[float, Field(alias='cfgScale')]
    """Guidance scale."""
    width: int
    """Pixels."""
    height: int
    """Pixels."""
    num_outputs: Annotated[int, Field(alias='numOutputs')]
    output_format: Annotated[SkipValidation[Literal['png', 'webp', 'jpeg']], Field(alias='outputFormat')] = (
        'png'
    )
    """What the images are stored as."""
    reference_mode: Annotated[
        SkipValidation[Literal['exact_product', 'reference']], Field(alias='referenceMode')
    ]
    preserve_branding: Annotated[bool, Field(alias='preserveBranding')]
    output_url: Annotated[str | None, Field(alias='outputUrl')]
    """The first of `outputs`; null unless the request completed."""
    outputs: list[str]
    """Signed links to the images, open to everyone who has them for an hour at most. Fetch the request again for new ones."""
    previews: list[str | None] = []
    """Signed links to small WebP copies, in the order of `outputs`; an entry is null where there is none. Each stays the same for a quarter of an hour, and opens for 45 minutes at least."""
    error_message: Annotated[str | None, Field(alias='errorMessage')]
    """Why it failed; null unless it did."""
    error_code: Annotated[
        SkipValidation[
            Literal[
                'GENERATION_FAILED',
                'TIMEOUT',
                'SERVICE_UNAVAILABLE',
                'INVALID_PARAMETERS',
                'CONTENT_REFUSED',
                'CANCELLED',
            ]
        ]
        | None,
        Field(alias='errorCode'),
    ] = None
    """The code of that error; null unless it failed."""
    credits_charged: Annotated[int, Field(alias='creditsCharged')]
    """0 unless the request completed."""
    reference_images_used: Annotated[int, Field(alias='referenceImagesUsed')]
    """How many reference images the model says it used."""
    processing_time_ms: Annotated[int | None, Field(alias='processingTimeMs')]
    """Milliseconds from acceptance to the end; null until then."""
    model_version: Annotated[str | None, Field(alias='modelVersion')]
    """What made the images; null unless the request completed."""
    created_at: Annotated[AwareDatetime, Field(alias='createdAt')]
    """When the request was accepted."""
    started_at: Annotated[AwareDatetime | None, Field(alias='startedAt')]
    """When the model began; null until then."""
    completed_at: Annotated[AwareDatetime | None, Field(alias='completedAt')]
    """When it ended, however it ended; null until then."""


class StoredGenerationList(Answer):
    generations: list[StoredGeneration]
    """Newest first. A filtered page may hold fewer than `limit`, or none, and still have a next one."""
    next_cursor: Annotated[str | None, Field(alias='nextCursor')]
    """Send it as `cursor` for the next page; null on the last one."""
    searched_back_to: Annotated[AwareDatetime | None, Field(alias='searchedBackTo')] = None
    """Everything newer was looked at; null on the last page."""


class IdentityDetail(Answer):
    id: str
    """Send it as `identityId`."""
    name: str
    slug: str
    """The name as it stands in addresses of pages. `identityId` takes it, too, and goes on taking it after a rename."""
    description: str
    product_photos: Annotated[bool, Field(alias='productPhotos')]
    """Whether it takes reference images of products."""
    available: bool
    """Whether it has an active model right now."""
    version: int | None
    """The active version, which makes what names none as `identityVersion`; null while there is none."""
    trigger_words: Annotated[list[str], Field(alias='triggerWords')]
    """Words that call up its manner, where the operator shows them."""
    default_size: Annotated[Size, Field(alias='defaultSize')]
    """Of requests that name neither side."""
    license: str | None
    """The licence of its adapter, by name or address, where it is known."""
    source: str | None
    """Where it is from, where that is known."""
    samples: list[Sample]
    """Pictures that show what it makes, at most 9, and fewer where more than 111 identities are listed. Their links open for 45 to 60 minutes and are the same within each quarter of an hour."""
    versions: list[IdentityVersion]
    """Those that may be used, newest first."""
