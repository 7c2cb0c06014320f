"""Waits for a stored request."""

from __future__ import annotations

import inspect
import math
import random
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from ._client_errors import about
from ._requester import Call, Requester
from ._retry import is_transient, rate_pause_seconds, retry_after_seconds
from .errors import ApiError, RequestNotFound, TimeoutError
from .models import StoredGeneration

T = TypeVar('T')
Callback = Callable[[T], Awaitable[None] | None]

# The latest deadline of an asynchronous request is 14 minutes, and a request whose worker died is ended a
# little later.
wait_for_seconds = 30 * 60.0
# Shorter than this is impolite, whatever the service says.
_shortest_wait_seconds = 1.0
# For a service that does not say when to look again.
_usual_wait_seconds = 2.0
_wait_after_fault_seconds = 4.0
# Of those that a minute has: for whoever else uses the key while a batch runs.
_spared_looks = 10


async def call_back(callback: Callback[T] | None, value: T) -> None:
    """Calls a callback, which may be `async def` where the client is."""
    if callback is None:
        return
    waiting = callback(value)
    if inspect.isawaitable(waiting):
        await waiting


async def poll_until_ended(
    requester: Requester,
    request_id: str,
    *,
    timeout: float,
    on_status: Callback[StoredGeneration] | None = None,
) -> StoredGeneration:
    """Looks at a stored request until it has ended, as often as the service asks for.

    It goes on after faults of the network and while the service is busy. Raises ApiError when there is none
    or it may not be looked at, and TimeoutError when it has not ended after `timeout` seconds.
    """
    if math.isnan(timeout):
        raise ValueError('timeout is nan: give a number of seconds.')
    until = time.monotonic() + timeout
    wait = 0.0
    while time.monotonic() + wait < until:
        with about(request_id):
            await requester.io.sleep(wait)
            stored, wait_seconds, _ = await look_at(requester, request_id)
        if stored is not None:
            await call_back(on_status, stored)
            if stored.status not in ('QUEUED', 'PROCESSING'):
                return stored
        # The random part spreads programs that wait for many requests.
        wait = wait_seconds * (1 + random.random() / 4)
    sentence = 'The generation takes longer than expected. It goes on, and can be fetched later.'
    raise TimeoutError(sentence, request_id)


async def look_at(requester: Requester, request_id: str) -> tuple[StoredGeneration | None, float, float]:
    """The stored request, None after a fault that may pass, after how many seconds to look again, and after
    how many at any other.
    """
    try:
        async with requester.attempt(get_generation_call(request_id)) as response:
            asked = retry_after_seconds(response.headers)
            stored = await requester.read_model(response, StoredGeneration)
            pause = rate_pause_seconds(response.headers, _spared_looks)
            return stored, max(_shortest_wait_seconds, asked or _usual_wait_seconds), pause
    except Exception as error:
        if not is_transient(error):
            raise
        asked = error.retry_after_seconds if isinstance(error, ApiError) else None
        wait = max(_usual_wait_seconds, asked or _wait_after_fault_seconds)
        return None, wait, wait


def get_generation_call(request_id: str) -> Call:
    """How a stored request is fetched."""
    return Call('GET /generate/{requestId}', path={'requestId': request_id})


async def cancel_generation(requester: Requester, request_id: str) -> StoredGeneration:
    """Ends an open request. A repeat finds the request cancelled, so it is safe."""
    call = Call('POST /generate/{requestId}/cancel', path={'requestId': request_id})
    return await requester.fetch(call, StoredGeneration, is_safe=True)


async def delete_generation(requester: Requester, request_id: str) -> None:
    """Deletes a stored request."""
    call = Call('DELETE /generate/{requestId}', path={'requestId': request_id})
    may_be_done = False

    async def once() -> None:
        nonlocal may_be_done
        try:
            async with requester.attempt(call) as response:
                await requester.read(response)
        except Exception as error:
            # An earlier try deleted it, and its answer was lost.
            if may_be_done and isinstance(error, RequestNotFound):
                return
            may_be_done = may_be_done or (is_transient(error) and getattr(error, 'status', 500) != 429)
            raise

    await requester.retry(once, is_transient)
