"""
The contract between the service and this server: one JSON request, newline-delimited JSON events.

Its other side is `shared/model/contract.ts`.
"""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import httpx2
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from .failure import Failure
from .pipelines.engine import Order

Event = Mapping[str, object]
OutputFormat = Literal['png', 'webp', 'jpeg']

# https://www.w3.org/TR/trace-context/#traceparent-header
_TRACEPARENT = re.compile(r'(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}')
_DATE_TIME = re.compile(r'\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z')


class NotJson(Exception):
    """The body is not a JSON text."""


def _check_link(link: str) -> str:
    try:
        parts = urlsplit(link)
        # Refused now, because the client would fail to parse it only after the work.
        httpx2.URL(link)
        usable = parts.port != 0
    except (ValueError, httpx2.InvalidURL):
        usable = False
    if not usable or parts.scheme.lower() not in ('http', 'https') or not parts.hostname:
        raise PydanticCustomError('link', 'it must be an http or https link')
    return link


def _check_deadline(text: str) -> str:
    try:
        if _DATE_TIME.fullmatch(text):
            datetime.fromisoformat(text)
            return text
    except ValueError:
        pass
    raise PydanticCustomError('date_time', 'it must be a time in ISO 8601, UTC, ending in Z')


def _check_side(pixels: int) -> int:
    if pixels % 64:
        raise PydanticCustomError('multiple', 'it must be a multiple of 64')
    return pixels


def _check_settings(settings: dict[str, Any]) -> dict[str, Any]:
    scale = settings.get('adapterScale', 1)
    if isinstance(scale, bool) or not isinstance(scale, int | float) or not 0 <= scale <= 2:
        raise PydanticCustomError('scale', 'its adapterScale must be a number from 0 to 2')
    return settings


def _read_traceparent(value: object) -> str | None:
    """None for what is malformed: a trace that can't be followed must not cost anybody an image."""
    return value if isinstance(value, str) and _TRACEPARENT.fullmatch(value) else None


Link = Annotated[str, Field(max_length=8192), AfterValidator(_check_link)]
Text = Annotated[str, Field(max_length=4000)]
Id = Annotated[str, Field(min_length=1, max_length=200)]
Threshold = Annotated[float, Field(gt=0, le=1)]
Side = Annotated[int, Field(ge=512, le=2048), AfterValidator(_check_side)]


class _Strict(BaseModel):
    """
    Takes nothing for what it is not: no '5' for 5, no 1 for true.

    Unknown members are passed over: a service may be newer than the containers that still run behind it.
    """

    model_config = ConfigDict(
        strict=True, extra='ignore', frozen=True, alias_generator=to_camel, allow_inf_nan=False
    )


class ReferenceLink(_Strict):
    """A presigned GET link."""

    url: Link


class OutputLink(_Strict):
    """Presigned PUT links."""

    put_url: Link
    #: For the image's preview. Absent in requests of an older service.
    preview_put_url: Link | None = None


class Identity(_Strict):
    """The identity that the image is made for."""

    id: Id
    adapter_url: Link | None
    adapter_version: Annotated[str, Field(max_length=8192)] | None
    #: The identity's version, for the file's metadata. Absent in requests of an older service.
    version: Annotated[int, Field(ge=1)] | None = None
    #: SHA-256 of the adapter's file, hex; None when it is unknown.
    adapter_sha256: Annotated[str, Field(pattern='^[0-9a-fA-F]{64}$')] | None = Field(
        default=None, alias='adapterSha256'
    )
    settings: Annotated[dict[str, Any], AfterValidator(_check_settings)]

    @property
    def adapter_scale(self) -> float:
        """`settings.adapterScale`: how strongly the adapter acts, 0 … 2, by default 1."""
        return float(self.settings.get('adapterScale', 1))


class GenerationRequest(_Strict):
    """One request, with the ranges of the service's API."""

    request_id: Id
    deadline: Annotated[str, AfterValidator(_check_deadline)]
    prompt: Text
    negative_prompt: Text
    seed: Annotated[int, Field(ge=0, le=2**32 - 1)]
    num_inference_steps: Annotated[int, Field(ge=20, le=50)]
    guidance_scale: Annotated[float, Field(ge=1, le=20)]
    width: Side
    height: Side
    num_outputs: Annotated[int, Field(ge=1, le=16)]
    #: Absent in requests of an older service.
    output_format: OutputFormat = 'png'
    #: Whether the files say all that the images were made from. Absent in requests of an older service.
    embed_parameters: bool = False
    reference_mode: Literal['exact_product', 'reference']
    preserve_branding: bool
    references: Annotated[list[ReferenceLink], Field(max_length=4)]
    #: Whose request it is, an opaque text. Empty in an older service's requests, which count as one tenant's.
    tenant: Id = ''
    identity: Identity
    outputs: list[OutputLink]
    #: A presigned GET link of an object that is there once the request is cancelled. None: it can't be.
    cancel_url: Link | None = None
    #: How its pictures are checked other than by the settings: not at all, or by these thresholds.
    picture_check: Literal['exempt'] | dict[str, Threshold] = Field(default_factory=dict)
    #: W3C trace context, for the log.
    traceparent: Annotated[str | None, BeforeValidator(_read_traceparent)] = None

    @property
    def deadline_seconds(self) -> float:
        """Seconds since 1970."""
        return datetime.fromisoformat(self.deadline).timestamp()

    @property
    def order(self) -> Order:
        """What decides how long it takes."""
        return Order(
            outputs=self.num_outputs,
            steps=self.num_inference_steps,
            guidance_scale=self.guidance_scale,
            width=self.width,
            height=self.height,
            references=len(self.references),
            reference_mode=self.reference_mode,
        )


class Probe:
    """A health check."""


def parse_request(body: bytes) -> GenerationRequest | Probe:
    """
    Reads a request. A problem is named by its field, and its value is never repeated.

    Raises NotJson, and Failure('invalid_request') for JSON that does not fit the contract.
    """
    value = _parse_json(body)
    if not isinstance(value, dict):
        raise Failure('invalid_request', 'The body must be a JSON object.')
    if value.get('probe') is True:
        return Probe()
    try:
        request = GenerationRequest.model_validate(value)
    except ValidationError as error:
        raise Failure('invalid_request', _describe(error)) from None
    if len(request.outputs) != request.num_outputs:
        problem = 'outputs does not fit the contract: it must hold one link for each of numOutputs.'
        raise Failure('invalid_request', problem)
    return request


def _parse_json(body: bytes) -> object:
    def refuse(name: str) -> object:
        raise ValueError(name)

    try:
        # By default Python also accepts NaN, Infinity and UTF-16.
        return json.loads(body.decode('utf-8'), parse_constant=refuse)
    except (ValueError, RecursionError):
        raise NotJson from None


def _describe(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    path = '.'.join(str(part) for part in first['loc'])
    problem = first['msg'][:1].lower() + first['msg'][1:]
    return f'{path or "The request"} does not fit the contract: {problem}.'


def ready_event(model_version: str) -> Event:
    """The answer to a probe."""
    return {'event': 'ready', 'modelVersion': model_version}


def started_event() -> Event:
    """The generation begins. A request without a tenant gets this as soon as it is accepted."""
    return {'event': 'started'}


def queued_event(position: int, eta_seconds: int) -> Event:
    """The request waits: `position - 1` others begin before it, and it begins in about so many seconds."""
    return {'event': 'queued', 'position': position, 'etaSeconds': eta_seconds}


def progress_event(step: int, steps: int) -> Event:
    """`step` of the request's inference steps are finished."""
    return {'event': 'progress', 'step': step, 'steps': steps}


def completed_event(outputs: Sequence[Event], references_used: int, model_version: str) -> Event:
    """All images lie at their links; each output holds bytes, sha256, width, height and previewBytes."""
    return {
        'event': 'completed',
        'outputs': outputs,
        'referenceImagesUsed': references_used,
        'modelVersion': model_version,
    }


def failed_event(failure: Failure) -> Event:
    """The request ended without all of its images."""
    about: dict[str, object] = {} if failure.reference is None else {'reference': failure.reference}
    if failure.categories:
        about['categories'] = failure.categories
    return {'event': 'failed', 'reason': failure.reason, 'message': failure.message, **about}


def encode_event(event: Event) -> bytes:
    """One line of the answer."""
    return json.dumps(event, separators=(',', ':')).encode() + b'\n'
