"""Calls routes of the service: one try, or as many as the rules allow."""

from __future__ import annotations

import hashlib
import json
import math
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar, cast
from urllib.parse import quote

import httpx2
from pydantic import ValidationError

from ._answer import Answer, Shared
from ._io import IO
from ._retry import error_of, is_busy, is_transient, unexpected_answer, unreachable, wait_before_retry
from .errors import ConfigurationError, ConnectionError, TimeoutError

T = TypeVar('T')
A = TypeVar('A', bound=Answer)

# The service sends an event every ten seconds, so a stream that is silent for so long is broken.
_silence_seconds = 45.0


@dataclass(frozen=True)
class Call:
    """What a route is called with."""

    route: str
    path: Mapping[str, str] = field(default_factory=dict[str, str])
    query: Mapping[str, Any] = field(default_factory=dict[str, Any])
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    held_back_seconds: float = 0
    """For how much longer than the timeout the service was asked to hold its answer back."""


@dataclass(frozen=True)
class Options:
    """How a client calls."""

    # Python prints what is in a dataclass.
    api_key: str = field(repr=False)
    base_url: str
    timeout: float
    max_retries: int


class Requester(Shared):
    """Calls routes with one key."""

    def __init__(self, io: IO, options: Options) -> None:
        self.io = io
        self._options = options
        self.uploads: dict[bytes, tuple[str, float]] = {}
        """By the digest of a file: the ID of its upload, and when that was opened."""

    @property
    def sender(self) -> str:
        """What tells one key from another, and nobody the key."""
        return hashlib.sha256(self._options.api_key.encode()).hexdigest()[:16]

    async def request(self, call: Call) -> Any:
        """The answer's JSON.

        Calls to a busy service (429, 503) are repeated; after other transient faults all but POST are.
        """
        return await self._request(call, self.read_json)

    async def fetch(self, call: Call, kind: type[A], is_safe: bool = False) -> A:
        """The same as the model of an answer. A POST that is safe to repeat is repeated like the others."""
        return await self._request(call, lambda response: self.read_model(response, kind), is_safe)

    async def _request(
        self, call: Call, read: Callable[[httpx2.Response], Awaitable[T]], is_safe: bool = False
    ) -> T:
        is_retried = is_busy if call.route.startswith('POST') and not is_safe else is_transient

        async def once() -> T:
            async with self.attempt(call) as response:
                return await read(response)

        return await self.retry(once, is_retried)

    async def retry(
        self,
        work: Callable[[], Awaitable[T]],
        is_retried: Callable[[Exception], bool],
        within_seconds: float = math.inf,
    ) -> T:
        """Repeats work until it succeeds, a retry is no use, or none may begin any more."""
        until = time.monotonic() + within_seconds
        failures = 0
        while True:
            try:
                return await work()
            except Exception as error:
                failures += 1
                delay = self.wait_after(error, failures, is_retried)
                if time.monotonic() + delay > until:
                    raise
            await self.io.sleep(delay)

    def wait_after(self, error: Exception, failures: int, is_retried: Callable[[Exception], bool]) -> float:
        """The seconds until the next try. Raises the error if there is none."""
        return wait_before_retry(error, failures, self._options.max_retries, is_retried)

    @asynccontextmanager
    async def attempt(self, call: Call) -> AsyncGenerator[httpx2.Response, None]:
        """One try: the head of its answer, whose body may be read within. Refusals are raised."""
        headers = {
            'accept': 'application/json',
            **call.headers,
            'authorization': f'Bearer {self._options.api_key}',
        }
        if call.body is not None:
            headers['content-type'] = 'application/json'
        method, url = _address_of(self._options.base_url, call)
        timeout = self._options.timeout + call.held_back_seconds
        async with self.exchange(
            method, url, timeout=timeout, headers=headers, content=call.body
        ) as response:
            if response.has_redirect_location:
                to = response.headers['location'].split('?')[0][:200]
                raise ConfigurationError(
                    f'The base URL (IMAGE_BASE_URL) is another: the service redirects to {to}'
                )
            if not response.is_success:
                raise error_of(response, await self.read(response))
            yield response

    @asynccontextmanager
    async def exchange(
        self,
        method: str,
        url: str,
        *,
        timeout: float,
        silence: float | None = None,
        of: str = 'service',
        **more: Any,
    ) -> AsyncGenerator[httpx2.Response, None]:
        """Sends a request to any address. Faults of the network are this package's errors.

        All of it may take `timeout` seconds, and each step of it `silence`, which is the same by default.
        """
        silence = silence or timeout
        # A connection is waited for as long as it takes: how many there are is this program's own affair.
        limits: dict[str, float | None] = {
            'connect': silence,
            'read': silence,
            'write': silence,
            'pool': None,
        }
        try:
            request = self.io.request(method, url, extensions={'timeout': limits}, **more)
        except httpx2.InvalidURL as cause:
            raise ValueError('The base URL is not a valid address.') from cause
        request.extensions['until'] = time.monotonic() + timeout
        request.extensions['seconds'] = timeout
        try:
            response = await self.io.send(request)
        except httpx2.TimeoutException as cause:
            raise TimeoutError(_no_answer(silence)) from cause
        except httpx2.RequestError as cause:
            raise unreachable(cause, of) from cause
        try:
            yield response
        finally:
            await self.io.close(response)

    async def read(self, response: httpx2.Response) -> bytes:
        """The whole body, within the timeout of its request."""
        extensions = response.request.extensions
        body = bytearray()
        try:
            async with aclosing(self.io.chunks(response)) as chunks:
                async for chunk in chunks:
                    body += chunk
                    # The limit of one reading would let a body drip for ever.
                    if time.monotonic() > extensions['until']:
                        raise TimeoutError(_no_answer(extensions['seconds']))
        except httpx2.TimeoutException as cause:
            raise TimeoutError(_no_answer(extensions['timeout']['read'])) from cause
        except httpx2.RequestError as cause:
            sentence = 'The connection broke before the whole answer had arrived.'
            raise ConnectionError(sentence, answer_began=True) from cause
        return bytes(body)

    async def read_json(self, response: httpx2.Response) -> Any:
        """The body's JSON."""
        body = await self.read(response)
        try:
            return json.loads(body)
        except ValueError as cause:
            raise unexpected_answer(response) from cause

    async def read_model(self, response: httpx2.Response, kind: type[A]) -> A:
        """The body as the model of an answer."""
        answer = await self.read_json(response)
        try:
            return kind.model_validate(answer)
        except ValidationError as cause:
            raise unexpected_answer(response) from cause

    async def read_stream(self, response: httpx2.Response) -> AsyncGenerator[bytes, None]:
        """The chunks of an event stream, which may go on for long but is never silent for long."""
        # httpx2 looks at it when the body is begun.
        response.request.extensions['timeout']['read'] = _silence_seconds
        try:
            async with aclosing(self.io.chunks(response)) as chunks:
                async for chunk in chunks:
                    yield chunk
        except httpx2.RequestError as cause:
            raise ConnectionError('The answer broke off.', answer_began=True) from cause


def check_finite(value: Any, name: str = '') -> None:
    """Refuses numbers that JSON does not have, and names the parameter, before anything is sent."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f'{name} must be a finite number, not {value}.')
    if isinstance(value, Mapping):
        for key, one in cast(Mapping[str, Any], value).items():
            check_finite(one, f'{name}.{key}' if name else key)
    elif isinstance(value, list | tuple):
        for index, one in enumerate(cast(Sequence[Any], value)):
            check_finite(one, f'{name}[{index}]')


def _no_answer(seconds: float) -> str:
    return f'No answer came within {seconds:g} seconds.'


def _address_of(base_url: str, call: Call) -> tuple[str, str]:
    """The method of a call, and its address with the encoded path parameters and query."""
    method, template = call.route.split(' ')

    def parameter(match: re.Match[str]) -> str:
        name = match[1]
        value = call.path.get(name, '')
        # `.` and `..` would lead to another path.
        if value in ('', '.', '..'):
            raise ValueError(f'{name} is missing.')
        return quote(value, safe='', errors='replace')

    check_finite(call.query)
    path = re.sub(r'\{(\w+)\}', parameter, template)
    query = {name: _text(value) for name, value in call.query.items() if value is not None and value != ''}
    return method, base_url + path + (f'?{httpx2.QueryParams(query)}' if query else '')


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return 'true' if value else 'false'
    return value.isoformat() if isinstance(value, datetime) else str(value)
