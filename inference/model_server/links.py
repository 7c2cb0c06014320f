"""
Presigned links: files are fetched from some, and images put to others.

A link is a secret, so no error repeats it. No redirect is followed: a presigned link needs none, and one
could lead to anything that this machine can reach.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import httpx2

T = TypeVar('T')

_CONNECT_SECONDS = 10.0


class LinkError(Exception):
    """A failed transfer. `why` ends a sentence: 'its link answered with HTTP 404'."""

    def __init__(self, why: str, *, final: bool) -> None:
        super().__init__(why)
        self.why = why
        #: Whether another attempt would fail the same way.
        self.final = final


class Links:
    """Downloads and uploads with one pool of connections. For one event loop."""

    def __init__(self, timeout_seconds: float, retry_seconds: tuple[float, ...]) -> None:
        """`timeout_seconds`: longest time without data. `retry_seconds`: waits between attempts."""
        self._retry_seconds = retry_seconds
        # No proxy and no .netrc of the machine: a presigned link is used as it is.
        self._client = httpx2.AsyncClient(
            follow_redirects=False,
            trust_env=False,
            timeout=httpx2.Timeout(timeout_seconds, connect=min(timeout_seconds, _CONNECT_SECONDS)),
            # As many are kept as requests may look at a link each second.
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=100),
            headers={'accept-encoding': 'identity', 'user-agent': 'model-server'},
        )

    async def close(self) -> None:
        """Closes all connections."""
        await self._client.aclose()

    async def fetch(
        self,
        link: str,
        limit_bytes: int,
        seconds: float,
        begin: Callable[[], Callable[[bytes], object]],
    ) -> None:
        """
        Gets a file. Each attempt calls `begin`, which returns a function that takes the file's pieces; those
        of an earlier attempt are void. It must raise no OSError, which would count as the network's.

        Raises LinkError, also for a file longer than `limit_bytes`, and when all attempts together take more
        than `seconds`.
        """

        async def attempt() -> None:
            take = begin()
            async with self._stream('GET', link) as response:
                _check_status(response)
                too_long = LinkError(f'it is larger than {_in_words(limit_bytes)}', final=True)
                if int(response.headers.get('content-length', '0')) > limit_bytes:
                    raise too_long
                size = 0
                async for piece in response.aiter_raw():
                    size += len(piece)
                    if size > limit_bytes:
                        raise too_long
                    take(piece)

        await _within(seconds, self._retry(attempt))

    async def exists(self, link: str, seconds: float) -> bool:
        """Whether a GET answers with HTTP 200. Every fault is a no, and there is one attempt."""

        async def attempt() -> bool:
            async with self._stream('GET', link) as response:
                if response.status_code == 200:
                    return True
                # Read to its end, an answer leaves the connection to the next look.
                async for _ in response.aiter_raw():
                    pass
                return False

        try:
            return await _within(seconds, attempt())
        except LinkError:
            return False

    async def put(self, link: str, body: bytes, headers: dict[str, str], seconds: float) -> None:
        """Uploads a file; each attempt may take `seconds`. Raises LinkError."""

        async def attempt() -> None:
            async with self._stream('PUT', link, content=body, headers=headers) as response:
                # The answer's body is not needed, so it is not read.
                _check_status(response)

        await self._retry(lambda: _within(seconds, attempt()))

    async def _retry(self, attempt: Callable[[], Awaitable[T]]) -> T:
        for pause in self._retry_seconds:
            try:
                return await attempt()
            except LinkError as error:
                if error.final:
                    raise
            await asyncio.sleep(pause)
        return await attempt()

    @asynccontextmanager
    async def _stream(
        self, method: str, link: str, content: bytes | None = None, headers: dict[str, str] | None = None
    ) -> AsyncIterator[httpx2.Response]:
        try:
            async with self._client.stream(method, link, content=content, headers=headers) as response:
                yield response
        except httpx2.TimeoutException:
            raise LinkError('it took too long', final=False) from None
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError):
            # The texts of these errors may hold the link.
            raise LinkError('the connection failed', final=False) from None


def _check_status(response: httpx2.Response) -> None:
    status = response.status_code
    if not 200 <= status < 300:
        raise LinkError(f'its link answered with HTTP {status}', final=status < 500)


async def _within(seconds: float, work: Awaitable[T]) -> T:
    try:
        async with asyncio.timeout(seconds) as timeout:
            return await work
    except TimeoutError:
        if not timeout.expired():
            raise
        raise LinkError('it took too long', final=False) from None


def _in_words(size: int) -> str:
    return f'{size // 2**30} GiB' if size >= 2**30 else f'{size // 2**20} MiB'
