"""The real app on a real server, and a caller for it."""

import asyncio
import contextlib
import io
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import uvicorn
from PIL import Image

from model_server.__main__ import Server, listen
from model_server.app import create_app, create_context
from model_server.job import ServerContext
from model_server.observing import Observer
from model_server.settings import Settings

from .fake_engine import PATIENCE_SECONDS, FakeEngine
from .file_store import FileStore, file_store

Events = list[dict[str, Any]]
CLOSINGS = {'completed', 'failed', 'ready'}


@dataclass
class Running:
    """A server that runs, with its engine and its file store."""

    url: str
    engine: FakeEngine
    store: FileStore
    context: ServerContext
    log: io.StringIO
    client: httpx2.AsyncClient
    names: list[str] = field(default_factory=list)
    held: AsyncExitStack = field(default_factory=AsyncExitStack)

    def request(self, outputs: int = 1, **changes: object) -> dict[str, Any]:
        """A request that fits the contract, with new links for its outputs."""
        start = len(self.names)
        self.names += [f'image-{start + index}' for index in range(outputs)]
        return model_request([self.store.link(name) for name in self.names[start:]], **changes)

    def uploaded(self, request: dict[str, Any]) -> list[bytes | None]:
        """What lies at the links of a request's outputs."""
        links = [output['putUrl'] for output in request['outputs']]
        return [self.store.stored.get(link.partition('?')[0].rpartition('/')[2]) for link in links]

    async def invoke(self, body: object, on_event: Callable[[dict[str, Any]], None] | None = None) -> Events:
        """All events of one invocation, which must be answered with HTTP 200."""
        events: Events = []
        async with self.opened(body) as stream:
            async for event in stream:
                events.append(event)
                if on_event:
                    on_event(event)
        return events

    @asynccontextmanager
    async def opened(self, body: object) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
        """An invocation's events as they come; leaving early hangs up."""
        async with self.client.stream('POST', f'{self.url}/invocations', json=body) as response:
            assert response.status_code == 200
            assert response.headers['content-type'] == 'application/x-ndjson'
            yield _parsed(response)

    async def hold(self, request: dict[str, Any]) -> AsyncGenerator[Any]:
        """A request's events; it is held open until the server ends."""
        events: Any = await self.held.enter_async_context(self.opened(request))
        # An iterator that nobody holds is closed, and hangs up.
        self.held.push_async_callback(events.aclose)
        return events  # type: ignore[no-any-return]

    async def accepted(self, request: dict[str, Any]) -> AsyncGenerator[Any]:
        """The same after its first event, which says that it waits or has started."""
        events = await self.hold(request)
        assert (await anext(events))['event'] in ('queued', 'started')
        return events

    async def blocked_by(self, request: dict[str, Any]) -> AsyncGenerator[Any]:
        """Has the request generated up to its first step."""
        self.engine.block(1)
        events = await self.hold(request)
        await until(self.engine.blocked.is_set)
        return events

    async def ping(self) -> int:
        """The status of /ping."""
        return (await self.client.get(f'{self.url}/ping')).status_code

    async def ping_is(self, status: int) -> None:
        """Waits until /ping answers with the status."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while await self.ping() != status:  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    def lines(self) -> list[dict[str, Any]]:
        """The log so far."""
        return [json.loads(line) for line in self.log.getvalue().splitlines()]


async def _parsed(response: httpx2.Response) -> AsyncIterator[dict[str, Any]]:
    async for line in response.aiter_lines():
        yield json.loads(line)


@asynccontextmanager
async def running(folder: Path, engine: FakeEngine | None = None, **settings: Any) -> AsyncIterator[Running]:
    """Runs a server on a free port of 127.0.0.1, and ends it."""
    engine = engine or FakeEngine()
    defaults = Settings(adapter_dir=folder / 'adapters', link_timeout_seconds=5, retry_seconds=(0.01, 0.02))
    log = io.StringIO()
    context = create_context(replace(defaults, **settings), engine, Observer(log))
    port = listen('127.0.0.1', 0)
    config = uvicorn.Config(create_app(context), log_config=None, ws='none', timeout_graceful_shutdown=1)
    server = Server(config)
    serving = asyncio.create_task(server.serve(sockets=[port]))
    queue = asyncio.create_task(context.queue.run())
    url = f'http://127.0.0.1:{port.getsockname()[1]}'
    timeout = httpx2.Timeout(PATIENCE_SECONDS)
    # Tests open more requests at a time than the client's usual limit.
    limits = httpx2.Limits(max_connections=None)
    async with (
        file_store() as store,
        httpx2.AsyncClient(timeout=timeout, limits=limits, trust_env=False) as client,
    ):
        await until(lambda: server.started)
        if engine.may_warm.is_set():
            await until(lambda: context.queue.state != 'warming')
        caller = Running(url, engine, store, context, log, client)
        try:
            yield caller
        finally:
            await caller.held.aclose()
            engine.may_warm.set()
            engine.release()
            server.should_exit = True
            await serving
            queue.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await queue


async def until(condition: Callable[[], bool]) -> None:
    """Waits for a state that nothing announces."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


def in_seconds(seconds: float) -> str:
    """A deadline."""
    return datetime.fromtimestamp(time.time() + seconds, UTC).isoformat().replace('+00:00', 'Z')


def model_request(links: list[str], **changes: object) -> dict[str, Any]:
    """A request that fits the contract, with one output for each link."""
    return {
        'requestId': '0198c0de-0000-7000-8000-000000000001',
        'deadline': in_seconds(60),
        'prompt': 'a quiet sea',
        'negativePrompt': '',
        'seed': 11,
        'numInferenceSteps': 20,
        'guidanceScale': 7.5,
        'width': 512,
        'height': 512,
        'numOutputs': len(links),
        'referenceMode': 'reference',
        'preserveBranding': False,
        'references': [],
        'identity': identity(),
        'outputs': [{'putUrl': link} for link in links],
        **changes,
    }


def identity(**changes: object) -> dict[str, Any]:
    """An identity without an adapter."""
    return {'id': 'idn_a', 'adapterUrl': None, 'adapterVersion': None, 'settings': {}, **changes}


def failure(events: Events) -> tuple[str, str]:
    """The reason and the message of a request that failed, and had exactly one closing event."""
    assert [event['event'] in CLOSINGS for event in events].count(True) == 1
    assert events[-1]['event'] == 'failed', events[-1]
    return events[-1]['reason'], events[-1]['message']


def steps(events: Events) -> list[int]:
    """The steps that progress reported."""
    return [event['step'] for event in events if event['event'] == 'progress']


def safetensors(data: bytes = bytes(8), header: object = None) -> bytes:
    """A file with one tensor of bytes, or with this header."""
    if header is None:
        about = {'dtype': 'U8', 'shape': [len(data)], 'data_offsets': [0, len(data)]}
        header = {'__metadata__': {'format': 'pt'}, 'w': about}
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, 'little') + text + data


def photo(server: Running, **changes: Any) -> dict[str, Any]:
    """Members of a request with a reference image that lies in the store."""
    file = io.BytesIO()
    Image.new('RGB', (64, 64), 'teal').save(file, 'PNG')
    return {'references': [{'url': server.store.add('photo', file.getvalue())}], **changes}


async def closing(events: AsyncIterator[dict[str, Any]]) -> str:
    """Reads a request's events to their end, and answers how it ended."""
    return str([event async for event in events][-1]['event'])
