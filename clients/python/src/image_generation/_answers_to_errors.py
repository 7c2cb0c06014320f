"""How an answer becomes an exception."""

from __future__ import annotations

import json
import re
from typing import Any, cast

import httpx2

from . import errors
from .errors import ApiError, UnexpectedAnswer


def api_error(
    message: str,
    *,
    status: int,
    code: str,
    retry_after_seconds: int | None = None,
    request_id: str | None = None,
) -> ApiError:
    """The exception of a code."""
    kind = errors.classes.get(code, ApiError)
    return kind(
        message, status=status, code=code, retry_after_seconds=retry_after_seconds, request_id=request_id
    )


def unexpected_answer(response: httpx2.Response) -> ApiError:
    """The error for an answer that the service would not give."""
    return UnexpectedAnswer(
        'The answer is not one of the image generation service. Check the base URL.',
        status=response.status_code,
        code='UNEXPECTED_ANSWER',
        retry_after_seconds=whole_seconds(response.headers.get('retry-after')),
        request_id=response.headers.get('x-request-id'),
    )


def error_of(response: httpx2.Response, body: bytes) -> ApiError:
    """The error for an answer that is not a success, also when its body is not the service's."""
    unexpected = unexpected_answer(response)
    try:
        answer = json.loads(body)
    except ValueError:
        return unexpected
    if not isinstance(answer, dict):
        return unexpected
    members = cast(dict[str, Any], answer)
    sentence, code = members.get('error'), members.get('code')
    if not isinstance(sentence, str) or not isinstance(code, str):
        return unexpected
    return api_error(
        sentence,
        status=unexpected.status,
        code=code,
        retry_after_seconds=unexpected.retry_after_seconds,
        request_id=unexpected.request_id,
    )


def whole_seconds(header: str | None) -> int | None:
    """The seconds of `Retry-After`, which is never a date here."""
    return int(header) if header is not None and re.fullmatch(r'\d{1,9}', header.strip(), re.ASCII) else None
