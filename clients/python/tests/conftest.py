from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import httpx2
import pytest
from anyio.from_thread import start_blocking_portal

from image_generation import AsyncClient, Client, _io

from .commands import run as run
from .world import Caller, Granted, World

AnyClient: TypeAlias = Any


@pytest.fixture(scope='session')
def world() -> Iterator[World]:
    # What never finishes should not hold up the end.
    world = World('--grace', '0')
    yield world
    world.close()


@pytest.fixture
def granted(world: World) -> Granted:
    return world.grant()


@pytest.fixture(params=['Client', 'AsyncClient'])
def call(request: pytest.FixtureRequest) -> Iterator[Caller]:
    """Runs each test with both clients."""
    if request.param == 'Client':
        yield Caller(None)
        return
    with start_blocking_portal() as portal:
        yield Caller(portal)


@pytest.fixture
def make(call: Caller) -> Iterator[Callable[..., AnyClient]]:
    """Makes clients, and closes their connections."""
    opened: list[Any] = []

    def make(*args: Any, **more: Any) -> AnyClient:
        # The certificates of this machine are not read for every test: nothing here is encrypted.
        if call.portal is None:
            opened.append(httpx2.Client(verify=False))
            return Client(*args, http_client=opened[-1], **more)
        opened.append(httpx2.AsyncClient(verify=False))
        return AsyncClient(*args, http_client=opened[-1], **more)

    yield make
    for http_client in opened:
        call(http_client.close if call.portal is None else http_client.aclose)


@pytest.fixture
def client(world: World, granted: Granted, make: Callable[..., AnyClient]) -> AnyClient:
    """A client whose connections go through the proxy."""
    world.fates()
    world.seen()
    return make(granted.key, world.proxy_url)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the client would have waited."""
    seconds: list[float] = []

    async def note(_: object, wait: float) -> None:
        seconds.append(wait)

    monkeypatch.setattr(_io.BlockingIO, 'sleep', note)
    monkeypatch.setattr(_io.SuspendingIO, 'sleep', note)
    return seconds


@pytest.fixture
def answering(call: Caller, waits: list[float]) -> Iterator[Callable[..., Any]]:
    """Makes a client whose requests get these answers, one after another."""
    used: list[Any] = []

    def answering(*answers: httpx2.Response | Exception, **options: Any) -> Any:
        rest = list(answers)

        def answer(_: httpx2.Request) -> httpx2.Response:
            one = rest.pop(0)
            if isinstance(one, Exception):
                raise one
            return one

        transport = httpx2.MockTransport(answer)
        kind = httpx2.Client if call.portal is None else httpx2.AsyncClient
        used.append(kind(transport=transport))
        client: Any = Client if call.portal is None else AsyncClient
        return client('svc_live_secret', 'https://images.example/api/v1/', http_client=used[-1], **options)

    yield answering
    for http_client in used:
        call(http_client.close if call.portal is None else http_client.aclose)
