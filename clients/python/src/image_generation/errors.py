"""What the client raises, and how an answer becomes an error."""

from __future__ import annotations

import builtins
import json
import re
from typing import Any, cast

import httpx2

from . import _error_classes
from ._api_error import ApiError, ImageGenerationError
from ._error_classes import *  # noqa: F403

__all__ = [
    'ApiError',
    'ConnectionError',
    'DownloadError',
    'ImageGenerationError',
    'StorageError',
    'TimeoutError',
    'UnexpectedAnswer',
    'UploadError',
]
__all__ += _error_classes.__all__


class UnexpectedAnswer(ApiError):
    """What answered was not the service, but a proxy perhaps. Check the base URL."""


class ConnectionError(ImageGenerationError, builtins.ConnectionError):
    """No answer came, or the connection broke during the answer.

    It is Python's own ConnectionError as well.
    """

    def __init__(self, message: str, *, answer_began: bool = False) -> None:
        super().__init__(message)
        self.answer_began = answer_began
        """Whether an answer had begun. If so, the service received the request."""


class TimeoutError(ImageGenerationError, builtins.TimeoutError):
    """The answer did not come in time.

    It is Python's own TimeoutError as well; the service's 504 is `Timeout`.
    """

    def __init__(self, message: str, request_id: str | None = None) -> None:
        super().__init__(message)
        self.request_id = request_id
        """The generation, if it was accepted. It goes on and can be fetched."""


class StorageError(ImageGenerationError):
    """The storage refused to take or to give a file."""

    def __init__(self, message: str, status: int, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        """The HTTP status."""
        self.code = code
        """The storage's code, such as EntityTooLarge."""

    def __reduce__(self) -> tuple[type[StorageError], tuple[str, int, str | None]]:
        return (type(self), (str(self), self.status, self.code))


class UploadError(StorageError):
    """The storage refused a file."""


class DownloadError(StorageError):
    """The storage did not give an image, also by a new link."""


def api_error(
    message: str,
    *,
    status: int,
    code: str,
    retry_after_seconds: int | None = None,
    request_id: str | None = None,
) -> ApiError:
    """The exception of a code."""
    kind = _error_classes.classes.get(code, ApiError)
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
