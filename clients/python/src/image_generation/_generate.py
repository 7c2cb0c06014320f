"""Generates on the line, with events, and gives them to callbacks."""

from __future__ import annotations

import inspect
import json
import re
import uuid
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import httpx2

from ._client_errors import about
from ._event_stream import read_events
from ._requester import Call, Requester, check_finite
from ._retry import NotRetried, api_error, is_transient
from ._stored import Callback, call_back, poll_until_ended, wait_for_seconds
from .errors import (
    ApiError,
    ConnectionError,
    IdempotencyInProgress,
    RequestNotFound,
    ServiceUnavailable,
    TimeoutError,
)
from .images import Result, result_of_answer, result_of_stored
from .models import (
    Accepted,
    AcceptedGeneration,
    Generation,
    GenerationEventsFailed,
    Progress,
    Queued,
    Started,
    StoredGeneration,
)
from .parameters import GenerationParameters, ReferenceImage

# Longer than any generation may take, and longer than the service needs to end a generation whose worker
# died.
_poll_for_seconds = 10 * 60.0


@dataclass(frozen=True)
class Disconnected:
    """The connection broke. From now on the client polls the stored request."""

    request_id: str


_names = (*GenerationParameters.__annotations__, *ReferenceImage.__annotations__)
Event: TypeAlias = Accepted | Queued | Started | Progress | Disconnected
_kinds: dict[str, type[Accepted | Queued | Started | Progress]] = {
    'accepted': Accepted,
    'queued': Queued,
    'started': Started,
    'progress': Progress,
}


def body_of(function: str, parameters: Mapping[str, Any]) -> bytes:
    """The body of a request.

    Its bytes are made once, because every try must send the same, and in one order, because a repeat with the
    same idempotency key must as well, in whatever order its caller names the parameters. What is None is left
    out.
    """
    check_names(function, parameters)
    return json.dumps(_for_service(parameters), separators=(',', ':')).encode()


def check_names(function: str, parameters: Mapping[str, Any]) -> None:
    """Refuses what Python would refuse of the named arguments of a function."""
    for name in parameters:
        if name not in _names:
            raise TypeError(f'{function}() got an unexpected keyword argument {name!r}')
    check_finite(parameters)


def _for_service(value: Any) -> Any:
    if isinstance(value, Mapping):
        value = cast(Mapping[str, Any], value)
        unknown = [name for name in value if name not in _names]
        ordered = [*(name for name in _names if name in value), *unknown]
        return {service_name(name): _for_service(value[name]) for name in ordered if value[name] is not None}
    if isinstance(value, list | tuple):
        return [_for_service(one) for one in cast(Sequence[Any], value)]
    return value


def key_header(idempotency_key: str | None) -> dict[str, str]:
    """The header that makes all tries of a call one request. Only None has a random key made."""
    key = str(uuid.uuid4()) if idempotency_key is None else idempotency_key
    if not re.fullmatch(r'[!-~]{1,255}', key):
        raise ValueError('idempotency_key must be 1 to 255 visible ASCII characters.')
    return {'idempotency-key': key}


def service_name(name: str) -> str:
    """The service's own name of a parameter."""
    first, *others = name.split('_')
    return first + ''.join(map(str.capitalize, others))


async def generate(
    requester: Requester, body: bytes, idempotency_key: str | None, wait: int | None = None
) -> AsyncGenerator[Event | Result, None]:
    """What happens to a generation, and its result at the end.

    Every try has the same idempotency key, so it is charged once, however often the connection breaks.
    With `wait` it is an asynchronous request, whose answer is held back for so many seconds.
    """
    # The service ignores any other, and the request would not be asynchronous.
    if wait is not None and wait not in range(1, 61):
        raise ValueError('wait must be a whole number of seconds from 1 to 60.')
    how = {'accept': 'text/event-stream'} if wait is None else {'prefer': f'wait={int(wait)}'}
    headers = {**how, **key_header(idempotency_key)}
    call = Call('POST /generate', body=body, headers=headers, held_back_seconds=wait or 0)
    failures = 0
    while True:
        try:
            async with aclosing(_generate_once(requester, call)) as events:
                async for event in events:
                    yield event
            return
        except Exception as error:
            failures += 1
            delay = requester.wait_after(error, failures, is_transient)
        await requester.io.sleep(delay)


async def _generate_once(requester: Requester, call: Call) -> AsyncGenerator[Event | Result, None]:
    """One try. If it broke off and the request is stored, waits for the stored request."""
    request_id: str | None = None
    is_asynchronous, is_left = 'prefer' in call.headers, False
    broken: Exception = ConnectionError('The connection broke before the result arrived.', answer_began=True)
    try:
        async with requester.attempt(call) as response:
            request_id = response.headers.get('x-request-id')
            is_left = response.status_code == 202
            with about(request_id):
                async with aclosing(_read_answer(requester, response)) as events:
                    async for event in events:
                        if isinstance(event, Accepted):
                            request_id = event.request_id
                        yield event
                        if isinstance(event, Result):
                            return
    except ApiError as error:
        if not _may_be_stored(error):
            raise
        request_id, broken = error.request_id, error
    except ConnectionError as error:
        if not error.answer_began:
            raise
        # Without an ID the answer's own error says what broke.
        broken = error if request_id is None else broken
    if request_id is None:
        raise broken
    if isinstance(broken, ConnectionError) and not is_left:
        yield Disconnected(request_id)
    stored = await _poll(requester, request_id, wait_for_seconds if is_asynchronous else _poll_for_seconds)
    # A request that is not stored was not accepted.
    if stored is None:
        raise broken
    yield _end_of(stored)


async def _poll(requester: Requester, request_id: str, seconds: float) -> StoredGeneration | None:
    """None if there is no such request.

    Anything else is raised, so that a generation that goes on is not begun again.
    """
    try:
        return await poll_until_ended(requester, request_id, timeout=seconds)
    except RequestNotFound:
        return None
    except TimeoutError as error:
        raise NotRetried(error) from error


def _may_be_stored(error: ApiError) -> bool:
    """Whether there may be a stored request: of a first try that still runs, or of this try, with its
    outcome.
    """
    if isinstance(error, IdempotencyInProgress):
        return True
    # After 503 nothing is stored, or the request failed and its key is free again.
    return error.status >= 500 and error.status != 503


async def _read_answer(
    requester: Requester, response: httpx2.Response
) -> AsyncGenerator[Event | Result, None]:
    """The events of an answer and its result, which is missing if the answer broke off.

    Raises ApiError if it failed.
    """
    if response.status_code == 202:
        # It was waited for as long as it was to be, and runs.
        accepted = await requester.read_model(response, AcceptedGeneration)
        yield Accepted(request_id=accepted.request_id, credits_reserved=accepted.credits_reserved)
        return
    # A replay, a request that was waited for, or a proxy that buffers streams, answers with plain JSON.
    if response.headers.get('content-type', '').split(';')[0].strip().lower() != 'text/event-stream':
        yield result_of_answer(await requester.read_model(response, Generation))
        return
    request_id = response.headers.get('x-request-id')
    async with (
        aclosing(requester.read_stream(response)) as chunks,
        aclosing(read_events(chunks)) as events,
    ):
        async for event in events:
            try:
                value = json.loads(event.data) if event.event in (*_kinds, 'completed', 'failed') else None
                if event.event == 'failed':
                    failed = GenerationEventsFailed.model_validate(value)
                    raise api_error(
                        failed.error, code=failed.code, status=failed.status, request_id=request_id
                    )
                if event.event == 'completed':
                    yield result_of_answer(Generation.model_validate(value))
                elif event.event in _kinds:
                    known = _kinds[event.event].model_validate(value)
                    request_id = known.request_id if isinstance(known, Accepted) else request_id
                    yield known
            except ValueError as cause:
                # Only a broken connection can have damaged it.
                sentence = 'An event of the answer is malformed.'
                raise ConnectionError(sentence, answer_began=True) from cause


def _end_of(stored: StoredGeneration) -> Result:
    """The result, or the failure.

    It is not retried, because a retry would be another generation; only that of a service without room is.
    """
    try:
        return result_of_stored(stored)
    except ServiceUnavailable:
        raise
    except ApiError as failed:
        raise NotRetried(failed) from failed


@dataclass(frozen=True)
class Callbacks:
    """What is called for which event. Those of an `AsyncClient` may be `async def`."""

    on_accepted: Callback[Accepted] | None
    on_queued: Callback[Queued] | None
    on_started: Callable[[], Any] | None
    on_progress: Callback[Progress] | None
    on_disconnected: Callable[[], Any] | None


async def result_after(events: AsyncGenerator[Event | Result, None], callbacks: Callbacks) -> Result:
    """Calls back for each event, and returns the result."""
    request_id = None
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Result):
                return event
            if isinstance(event, Accepted):
                request_id = event.request_id
            with about(request_id):
                await _notify(callbacks, event)
    raise ConnectionError('The answer has no result.', answer_began=True)


async def _notify(callbacks: Callbacks, event: Event) -> None:
    if isinstance(event, Accepted):
        await call_back(callbacks.on_accepted, event)
    elif isinstance(event, Queued):
        await call_back(callbacks.on_queued, event)
    elif isinstance(event, Progress):
        await call_back(callbacks.on_progress, event)
    else:
        plain = callbacks.on_started if isinstance(event, Started) else callbacks.on_disconnected
        waiting = plain() if plain is not None else None
        if inspect.isawaitable(waiting):
            await waiting
