"""Runs a batch: as many requests as the service's limits allow, none of them paid for twice.

One loop sends and looks, without threads and tasks: requests run on without a connection, so that the loop is
the same for `Client` and for `AsyncClient`.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ._batch_folder import BatchFolder, BatchResult, Line, failure
from ._calls import make_body, respond_async
from ._generate import check_names
from ._requester import Call, Requester
from ._retry import is_busy, is_transient
from ._storage import Links, fetch_image
from ._stored import look_at
from .errors import (
    ApiError,
    CreditLimitExceeded,
    IdempotencyInProgress,
    IdentityUnavailable,
    InvalidApiKey,
    InvalidParameters,
    NotFound,
    RateLimited,
    RequestBlocked,
    RequestNotFound,
    ServiceUnavailable,
    UnexpectedAnswer,
)
from .images import result_of_stored
from .models import KeyAllowance, StoredGeneration
from .parameters import GenerationParameters

# A longer wait is not one for places or for the minute: the person should know of it.
_longest_wait_seconds = 15 * 60
# The service refuses every line for these.
_of_all = (InvalidApiKey, NotFound, RequestBlocked, UnexpectedAnswer)

Lines = Sequence[GenerationParameters] | Mapping[int, GenerationParameters]


async def run_batch(
    requester: Requester, lines: Lines, folder: Path, again: bool
) -> AsyncGenerator[BatchResult, None]:
    """The result of each line, those of earlier runs first."""
    contents = lines if isinstance(lines, Mapping) else dict(enumerate(lines, 1))
    for content in contents.values():
        check_names('batch', content)
    with closing(BatchFolder(folder, requester.sender)) as kept:
        found = kept.lines(contents, again)
        for line in found:
            if line.result is not None:
                yield line.result
        batch = _Batch(requester, contents, kept, [line for line in found if line.result is None])
        if batch.has_more():
            batch.places, batch.pace_seconds = await limits_of(requester)
        while batch.has_more():
            result = await batch.step()
            if result is not None:
                yield result
        if batch.refusal is not None:
            raise batch.refusal


async def limits_of(requester: Requester) -> tuple[int, float]:
    """How many requests may be in flight, and the seconds from one to the next."""
    key = await requester.fetch(Call('GET /key'), KeyAllowance)
    places = min(key.license.max_in_flight, key.max_in_flight or key.license.max_in_flight)
    return max(places, 1), 60 / key.requests.per_minute


class _Batch:
    def __init__(
        self, requester: Requester, contents: Mapping[int, Any], kept: BatchFolder, lines: list[Line]
    ) -> None:
        self._requester = requester
        self._contents = contents
        self._kept = kept
        self._open = [line for line in lines if line.request_id is not None]
        # Those that were sent come first: they may run.
        rest = [line for line in lines if line.request_id is None]
        self._queue = deque(sorted(rest, key=lambda line: line.body is None))
        self._sent_before = {line.number for line in rest if line.body is not None}
        self._send_at = self._look_at = 0.0
        self.places, self.pace_seconds = 1, 6.0
        self.refusal: ApiError | None = None

    def has_more(self) -> bool:
        return bool(self._queue or self._open)

    async def step(self) -> BatchResult | None:
        """Does what is next, or waits for it."""
        next_open = min(self._open, key=lambda line: line.look_at, default=None)
        may_send = self._queue and len(self._open) < self.places
        send_at = self._send_at if may_send else math.inf
        look_at = math.inf if next_open is None else max(self._look_at, next_open.look_at)
        wait = min(send_at, look_at) - time.monotonic()
        if wait > 0:
            await self._requester.io.sleep(wait)
            return None
        if next_open is None or send_at <= look_at:
            return await self._send(self._queue.popleft())
        return await self._look(next_open)

    async def _send(self, line: Line) -> BatchResult | None:
        body = line.body
        if body is None:
            content = self._contents[line.number]
            body = self._kept.sent(line, await make_body(self._requester, 'batch', content))
        try:
            accepted = await respond_async(self._requester, body.encode(), line.key, _is_fault)
        except ApiError as error:
            return self._refused(line, error)
        self._kept.accepted(line, accepted.request_id)
        self._open.append(line)
        line.look_at = time.monotonic() + 1
        self._send_at = time.monotonic() + accepted.pause_seconds
        return None

    def _refused(self, line: Line, error: ApiError) -> BatchResult | None:
        """What follows. Raises an error that is not this line's, or after which it may have been accepted."""
        if isinstance(error, RateLimited | ServiceUnavailable | IdempotencyInProgress):
            wait = max(error.retry_after_seconds or 0, self.pace_seconds)
            if wait > _longest_wait_seconds:
                raise error
            self._send_at = time.monotonic() + wait
            self._queue.appendleft(line)
            return None
        if isinstance(error, _of_all) or (error.status >= 500 and not isinstance(error, IdentityUnavailable)):
            raise error
        if isinstance(error, CreditLimitExceeded):
            # What runs is waited for.
            self._queue.clear()
            self.refusal = error
        if isinstance(error, InvalidParameters) and line.number in self._sent_before:
            # An earlier run's uploads may have expired. Nothing was accepted by this key.
            self._sent_before.remove(line.number)
            line.body = None
            self._queue.appendleft(line)
            return None
        return self._kept.ended(failure(line.number, error))

    async def _look(self, line: Line) -> BatchResult | None:
        assert line.request_id is not None
        try:
            stored, wait, pause = await look_at(self._requester, line.request_id)
            self._look_at = time.monotonic() + pause
            if stored is None or stored.status in ('QUEUED', 'PROCESSING'):
                line.look_at = time.monotonic() + wait
                return None
            result = await self._saved(line.number, stored)
        except RequestNotFound as error:
            result = failure(line.number, error)
        self._open.remove(line)
        return self._kept.ended(result)

    async def _saved(self, number: int, stored: StoredGeneration) -> BatchResult:
        try:
            ended = result_of_stored(stored)
        except ApiError as error:
            return failure(number, error)
        links = Links(stored.id, list(stored.outputs))
        files: list[str] = []
        for index, link in enumerate(stored.outputs):
            files.append(f'{number:05d}-{index + 1}{Path(urlsplit(link).path).suffix}')
            content = await fetch_image(self._requester, links, index)
            await self._requester.io.write_file(self._kept.path / files[-1], content)
        credits, seed = ended.credits_charged, ended.seed
        return BatchResult(line=number, request_id=stored.id, files=tuple(files), credits=credits, seed=seed)


def _is_fault(error: Exception) -> bool:
    """Whether it is tried again at once. For a place and for the minute the batch itself waits."""
    return is_transient(error) and not (isinstance(error, ApiError) and is_busy(error))
