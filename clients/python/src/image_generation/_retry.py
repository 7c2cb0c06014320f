"""How what was answered, or was not, becomes an exception, and when a request is tried again.

The rules of trying again are those of the TypeScript client.
"""

from __future__ import annotations

import json
import math
import os
import random
import re
import ssl
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, cast

import httpx2

from .errors import (
    ApiError,
    ConfigurationError,
    ConnectionError,
    IdempotencyInProgress,
    ImageGenerationError,
    TimeoutError,
    UnexpectedAnswer,
)

_longest_wait_seconds = 60.0
proxies = ('HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY')
classes = {
    re.sub('(?<!^)(?=[A-Z])', '_', one.__name__).upper(): one
    for one in ApiError.__subclasses__()
    if one is not UnexpectedAnswer
}


def retry_delay_seconds(failures: int, retry_after_seconds: int | None, chance: float) -> float | None:
    """How long to wait before a retry: 1, 2, 4, 8, 16, 32, 60, 60 … seconds, or `retry_after_seconds` if that
    is longer, plus a random part of up to a quarter, at most 60 seconds.

    The random part spreads clients that were refused at the same time. `failures` counts from 1, `chance` is
    from 0 to 1. None if the service asks for more than 60 seconds, which is too long to wait unasked.
    """
    if retry_after_seconds is not None and retry_after_seconds > _longest_wait_seconds:
        return None
    # Later powers are longer than the longest wait, and would overflow in the end.
    doubled = 2.0 ** min(failures - 1, 6)
    return min(max(doubled, retry_after_seconds or 0) * (1 + chance / 4), _longest_wait_seconds)


class NotRetried(Exception):
    """Wraps an error that is raised without a retry, whatever kind it is."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


def wait_before_retry(
    error: Exception, failures: int, max_retries: int, is_retried: Callable[[Exception], bool]
) -> float:
    """The seconds until the next try. Raises the error if a retry is no use."""
    if isinstance(error, NotRetried):
        raise error.error from error.error.__cause__
    asked = error.retry_after_seconds if isinstance(error, ApiError) else None
    delay = retry_delay_seconds(failures, asked, random.random())
    if failures > max_retries or delay is None or not is_retried(error):
        raise error
    return delay


def is_busy(error: Exception) -> bool:
    """Whether the service did nothing: it was busy, or the first of two equal requests still runs."""
    if not isinstance(error, ApiError):
        return False
    return error.status in (429, 503) or isinstance(error, IdempotencyInProgress)


def is_transient(error: Exception) -> bool:
    """Whether another try may succeed: the fault is in the connection or the service, not in the request."""
    if isinstance(error, ConnectionError | TimeoutError):
        return True
    return is_busy(error) or (isinstance(error, ApiError) and error.status >= 500)


def api_error(
    message: str,
    *,
    status: int,
    code: str,
    retry_after_seconds: int | None = None,
    request_id: str | None = None,
) -> ApiError:
    """The exception of a code."""
    kind = classes.get(code, ApiError)
    return kind(
        message, status=status, code=code, retry_after_seconds=retry_after_seconds, request_id=request_id
    )


def unexpected_answer(response: httpx2.Response) -> ApiError:
    """The error for an answer that the service would not give."""
    return UnexpectedAnswer(
        'The answer is not one of the image generation service. Check the base URL (IMAGE_BASE_URL).',
        status=response.status_code,
        code='UNEXPECTED_ANSWER',
        retry_after_seconds=retry_after_seconds(response.headers),
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


def retry_after_seconds(headers: Mapping[str, str]) -> int | None:
    """`Retry-After` (RFC 9110, 10.2.3): seconds, or a date, less the answer's own `Date`."""
    text = headers.get('retry-after', '').strip()
    if re.fullmatch(r'\d{1,9}', text, re.ASCII):
        return int(text)
    until = _date(text)
    now = _date(headers.get('date', '')) or datetime.now(timezone.utc)
    return None if until is None else max(0, math.ceil((until - now).total_seconds()))


def rate_pause_seconds(headers: Mapping[str, str], spared: int = 0) -> float:
    """After how many seconds to send the next request, by `RateLimit`
    (draft-ietf-httpapi-ratelimit-headers): 0 while more than `spared` are left.
    """
    found = re.search(r';r=(\d{1,9});t=(\d{1,9})', headers.get('ratelimit', ''), re.ASCII)
    return float(found[2]) if found and int(found[1]) <= spared else 0


def _date(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text).replace(tzinfo=timezone.utc)
    # Of hostile text it raises more than it says.
    except Exception:
        return None


def unreachable(cause: Exception, of: str) -> ImageGenerationError:
    """The error for a request that could not be sent."""
    fault: BaseException | None = cause
    while fault is not None and not isinstance(fault, ssl.SSLError):
        fault = fault.__cause__ or fault.__context__
    if isinstance(fault, ssl.SSLCertVerificationError):
        why = f'The certificate of the {of} was refused: {fault.verify_message}.'
        return ConfigurationError(f'{why} SSL_CERT_FILE may name the certificates to trust.')
    if fault is not None and fault.reason == 'WRONG_VERSION_NUMBER':
        return ConfigurationError(f'The {of} has no https: see the base URL (IMAGE_BASE_URL), or the proxy.')
    names = those_set(proxies)
    if isinstance(cause, httpx2.ProxyError) and str(cause).startswith('4'):
        return ConfigurationError(f'The proxy of {names} refused: {cause}.')
    through = f' {names} may name the wrong proxy.' if names else ''
    return ConnectionError(f"The {of} can't be reached.{through}")


def those_set(names: tuple[str, ...]) -> str:
    """Those of these variables that the environment has."""
    return ' or '.join(name for one in names for name in (one, one.lower()) if os.environ.get(name))
