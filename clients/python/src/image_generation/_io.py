"""Input and output, once blocking and once not. All else is written once, for both.

The client's logic is `async def` throughout and does its input and output by an `IO` alone. `AsyncClient`
awaits it as it is. `Client` gives it a `BlockingIO`, whose methods are `async def` in name only: they block
and never suspend. So `run` gets the whole work done by one step of the coroutine, without an event loop and
without a thread. No second copy is written or generated.
"""

from __future__ import annotations

import os
import secrets
import stat
import time
from collections.abc import AsyncGenerator, Awaitable, Generator
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol, TypeVar

import anyio
import anyio.lowlevel
import httpx2

from ._client_errors import ImageGenerationError

T = TypeVar('T')


class IO(Protocol):
    """The input and output that the client's logic needs."""

    def request(self, method: str, url: str, **more: Any) -> httpx2.Request:
        """A request with what the HTTP client adds to each."""
        ...

    async def send(self, request: httpx2.Request) -> httpx2.Response:
        """The head of the answer. Its body is read by `chunks`, and `close` ends it."""
        ...

    def chunks(self, response: httpx2.Response) -> AsyncGenerator[bytes, None]:
        """The body, piece by piece."""
        ...

    async def close(self, response: httpx2.Response) -> None:
        """Gives the connection back, or closes it in the middle of a body."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Waits."""
        ...

    async def read_file(self, path: Path, limit: int) -> bytes:
        """The first `limit` bytes of a file."""
        ...

    async def write_file(self, path: Path, content: bytes) -> None:
        """Writes a file, as `write_whole` does."""
        ...


class BlockingIO:
    """Blocks, and never suspends."""

    def __init__(self, client: httpx2.Client) -> None:
        self._client = client

    def request(self, method: str, url: str, **more: Any) -> httpx2.Request:
        return self._client.build_request(method, url, **more)

    async def send(self, request: httpx2.Request) -> httpx2.Response:
        # A key must not be sent to another server.
        return self._client.send(request, stream=True, follow_redirects=False)

    async def chunks(self, response: httpx2.Response) -> AsyncGenerator[bytes, None]:
        for chunk in response.iter_bytes():
            yield chunk

    async def close(self, response: httpx2.Response) -> None:
        response.close()

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)  # noqa: ASYNC251 — it is to block

    async def read_file(self, path: Path, limit: int) -> bytes:
        return read_start(path, limit)

    async def write_file(self, path: Path, content: bytes) -> None:
        write_whole(path, content)


class SuspendingIO:
    """Suspends while it waits, under asyncio and under Trio."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client
        self._loop: object = None

    def request(self, method: str, url: str, **more: Any) -> httpx2.Request:
        return self._client.build_request(method, url, **more)

    def check_loop(self) -> None:
        loop = anyio.lowlevel.current_token()
        self._loop = self._loop or loop
        # Its open connections are those of the loop.
        if self._loop != loop:
            raise ImageGenerationError(
                'An AsyncClient works in one event loop, that of its first call. Each asyncio.run() has '
                'another: make a client within it.'
            )

    async def send(self, request: httpx2.Request) -> httpx2.Response:
        self.check_loop()
        return await self._client.send(request, stream=True, follow_redirects=False)

    async def chunks(self, response: httpx2.Response) -> AsyncGenerator[bytes, None]:
        async for chunk in response.aiter_bytes():
            yield chunk

    async def close(self, response: httpx2.Response) -> None:
        await response.aclose()

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)

    async def read_file(self, path: Path, limit: int) -> bytes:
        return await anyio.to_thread.run_sync(read_start, path, limit)

    async def write_file(self, path: Path, content: bytes) -> None:
        await anyio.to_thread.run_sync(write_whole, path, content)


def run(work: Awaitable[T]) -> T:
    """The result of work that blocks in the place of suspending."""
    try:
        next(work.__await__())
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    raise RuntimeError('A callback of Client must be a plain function. AsyncClient takes `async def` too.')


def iterate(events: AsyncGenerator[T, None]) -> Generator[T, None, None]:
    """The same for work that yields."""
    try:
        while True:
            try:
                event = run(events.__anext__())
            except StopAsyncIteration:
                return
            yield event
    finally:
        run(events.aclose())


def read_start(path: Path, limit: int) -> bytes:
    """The first bytes of a file."""
    with path.open('rb') as file:
        return file.read(limit)


def written_into(path: Path) -> Path | int | None:
    """What can't be replaced: a device, a FIFO, or the number of this program's output or error stream. None
    for a regular file, and where nothing is.
    """
    try:
        there = path.stat()
    except FileNotFoundError:
        return None
    for number in (1, 2):
        with suppress(OSError):
            if os.path.samestat(os.fstat(number), there):
                return number
    return None if stat.S_ISREG(there.st_mode) else path


def followed(path: Path) -> Path:
    """Where a symbolic link leads. Another path stays as short as it is."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def write_whole(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Writes a file whole, or leaves what was there, which another hard link keeps in any case.

    It follows symbolic links, and writes into what is no regular file.
    """
    try:
        into = written_into(path)
        if into is None:
            _replace(followed(path), content, mode)
            return
        with open(into, 'wb', closefd=not isinstance(into, int)) as file:
            file.write(content)
    except OSError as error:
        error.filename = str(path)
        raise


def _replace(path: Path, content: bytes, mode: int) -> None:
    """Writes beside the file and renames, so that nobody finds a part of it."""
    # The name of the file itself may be the longest that there can be.
    beside = path.with_name(f'.{secrets.token_hex(8)}.part')
    try:
        with open(beside, 'xb', opener=lambda name, flags: os.open(name, flags, mode)) as file:
            file.write(content)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
