"""When a request is tried again, and after how long. These rules are those of the TypeScript client."""

from __future__ import annotations

import random
from collections.abc import Callable

from .errors import ApiError, ConnectionError, IdempotencyInProgress, TimeoutError

_longest_wait_seconds = 60.0


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
