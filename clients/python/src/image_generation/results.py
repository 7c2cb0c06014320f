"""What a generation ends with."""

from __future__ import annotations

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from ._answer import Answer
from ._answers_to_errors import api_error
from .models import CreditsUsage, Generation, IdentityName, StoredGeneration

_statuses = {'GENERATION_FAILED': 500, 'TIMEOUT': 504, 'SERVICE_UNAVAILABLE': 503}


class Result(Answer):
    """A generation that succeeded."""

    model_config = ConfigDict(alias_generator=to_camel)

    request_id: str
    """It does not change, and `get_generation` fetches it."""
    outputs: list[str]
    """Signed links, open for an hour at most. `images` signs new ones where they are needed."""
    identity: IdentityName
    seed: int
    """The seed of the first output; each further one has the next."""
    credits_charged: int
    reference_images_used: int
    processing_time_ms: int
    """Milliseconds from acceptance to completion."""
    usage: CreditsUsage | None
    """None when the answer was lost and the stored request was fetched instead."""


def result_of_answer(answer: Generation) -> Result:
    """The result of an answer on the line."""
    return Result(
        request_id=answer.request_id,
        outputs=answer.outputs,
        identity=answer.identity,
        seed=answer.seed,
        credits_charged=answer.usage.credits_charged,
        reference_images_used=answer.reference_images_used,
        processing_time_ms=answer.processing_time_ms,
        usage=answer.usage,
    )


def result_of_stored(stored: StoredGeneration) -> Result:
    """The result of a stored request. Raises its error if it failed."""
    if stored.status == 'COMPLETED':
        return Result(
            request_id=stored.id,
            outputs=stored.outputs,
            identity=IdentityName(id=stored.identity.id, name=stored.identity.name),
            seed=stored.seed,
            credits_charged=stored.credits_charged,
            reference_images_used=stored.reference_images_used,
            # It is null only until the request ends.
            processing_time_ms=stored.processing_time_ms or 0,
            usage=None,
        )
    code = stored.error_code or 'GENERATION_FAILED'
    sentence = stored.error_message or 'The image could not be finished.'
    raise api_error(
        f'{sentence} Nothing was charged.',
        status=_statuses.get(code, 500),
        code=code,
        request_id=stored.id,
    )
