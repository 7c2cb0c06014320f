"""A small HTTP file store with links as presigned ones are, which misbehaves where a test wants it."""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

#: A status, or: `drop` closes without an answer, `cut` in the middle of the body, `stall` never answers, and
#: `drip` sends half of the body and no more.
Answer = int | str


@dataclass
class Seen:
    """A request as it came."""

    target: str
    headers: dict[str, str]


@dataclass
class FileStore:
    """Serves `files` by their name, and takes PUTs to any name into `stored`."""

    url: str = ''
    files: dict[str, bytes] = field(default_factory=dict)
    stored: dict[str, bytes] = field(default_factory=dict)
    #: For each name, what it answers to one request after the other; the last one counts for all that follow.
    answers: dict[str, list[Answer]] = field(default_factory=dict)
    #: A request for such a name is answered only once the event is set.
    gates: dict[str, asyncio.Event] = field(default_factory=dict)
    seen: list[Seen] = field(default_factory=list)
    arrived: dict[str, asyncio.Event] = field(default_factory=lambda: defaultdict(asyncio.Event))
    #: Set when a caller closed a connection that was not answered yet.
    left: asyncio.Event = field(default_factory=asyncio.Event)

    def link(self, name: str, query: str = 'X-Signature=secret-signature') -> str:
        """A link with a secret."""
        return f'{self.url}/{name}?{query}'

    def add(self, name: str, content: bytes) -> str:
        """Adds a file and answers its link."""
        self.files[name] = content
        return self.link(name)

    def count(self, name: str) -> int:
        """How many requests came for a name."""
        return sum(_name(seen.target) == name for seen in self.seen)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while await self._one(reader, writer):
                pass
        writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b'\r\n\r\n')
        first, *lines = head.decode('latin-1').strip().split('\r\n')
        method, target, _ = first.split(' ')
        headers = {name.lower(): value for name, value in (line.split(': ', 1) for line in lines)}
        name = _name(target)
        self.arrived[name].set()
        body = await reader.readexactly(int(headers.get('content-length', 0)))
        self.seen.append(Seen(target, headers))
        if not await self._gate(name, reader):
            return False
        script = self.answers.get(name, [200])
        answer = script.pop(0) if len(script) > 1 else script[0]
        if method == 'PUT' and answer == 200:
            self.stored[name] = body
        content = b'stored' if method == 'PUT' else self.files.get(name, b'')
        return await _reply(answer, content, reader, writer)

    async def _gate(self, name: str, reader: asyncio.StreamReader) -> bool:
        """False when the caller leaves before the gate opens."""
        if name not in self.gates:
            return True
        opened = asyncio.ensure_future(self.gates[name].wait())
        gone = asyncio.ensure_future(reader.read(1))
        waiting: set[asyncio.Future[object]] = {opened, gone}  # type: ignore[arg-type]
        done, _ = await asyncio.wait(waiting, return_when='FIRST_COMPLETED')
        for task in waiting - done:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        if opened not in done:
            self.left.set()
        return opened in done


async def _reply(
    answer: Answer, content: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> bool:
    if answer == 'drop':
        return False
    if answer == 'stall':
        await reader.read(1)
        return False
    body = content if answer in (200, 'cut', 'drip') else b'<Error>no</Error>'
    status = answer if isinstance(answer, int) else 200
    writer.write(f'HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n\r\n'.encode())
    writer.write(body[: len(body) // 2] if answer in ('cut', 'drip') else body)
    await writer.drain()
    if answer == 'drip':
        await reader.read(1)
    return isinstance(answer, int)


def _name(target: str) -> str:
    return target.partition('?')[0].lstrip('/')


@asynccontextmanager
async def file_store() -> AsyncIterator[FileStore]:
    """Runs a store on a free port of 127.0.0.1."""
    store = FileStore()
    tasks: set[asyncio.Task[None]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        with contextlib.suppress(asyncio.CancelledError):
            await store.handle(reader, writer)
        tasks.discard(task)

    server = await asyncio.start_server(handle, '127.0.0.1', 0, limit=2**20)
    host, port = server.sockets[0].getsockname()
    store.url = f'http://{host}:{port}'
    try:
        yield store
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
