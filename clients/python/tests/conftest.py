from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from anyio.from_thread import start_blocking_portal

from image_generation import AsyncClient, Client, _io

from .fixture import Caller, Granted, Service


@pytest.fixture(scope='session')
def service() -> Iterator[Service]:
    service = Service()
    yield service
    service.close()


@pytest.fixture
def granted(service: Service) -> Granted:
    return service.grant()


@pytest.fixture(params=['Client', 'AsyncClient'])
def call(request: pytest.FixtureRequest) -> Iterator[Caller]:
    """Runs each test with both clients."""
    if request.param == 'Client':
        yield Caller(None)
        return
    with start_blocking_portal() as portal:
        yield Caller(portal)


@pytest.fixture
def make(call: Caller) -> Iterator[Callable[..., Any]]:
    """Makes clients, and closes their connections."""
    opened: list[Any] = []

    def make(*args: Any, transport: Any = None, **more: Any) -> Any:
        # The certificates of this machine are not read for every test: nothing here is encrypted.
        if call.portal is None:
            opened.append(httpx2.Client(verify=False, transport=transport))
            return Client(*args, http_client=opened[-1], **more)
        opened.append(httpx2.AsyncClient(verify=False, transport=transport))
        return AsyncClient(*args, http_client=opened[-1], **more)

    yield make
    for http_client in opened:
        call(http_client.close if call.portal is None else http_client.aclose)


@pytest.fixture
def client(service: Service, granted: Granted, make: Callable[..., Any]) -> Any:
    """A client whose connections go through the proxy."""
    service.fates()
    service.seen()
    return make(granted.key, service.proxy_url)


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
def answering(make: Callable[..., Any], waits: list[float]) -> Callable[..., Any]:
    """Makes a client whose requests get these answers, one after another, and are appended to `sent`."""

    def answering(*answers: httpx2.Response | Exception, sent: Any = None, **options: Any) -> Any:
        rest = list(answers)

        def answer(request: httpx2.Request) -> httpx2.Response:
            if sent is not None:
                sent.append(request)
            one = rest.pop(0)
            if isinstance(one, Exception):
                raise one
            # An answer can be read once. Tests may give one several times.
            return httpx2.Response(one.status_code, headers=one.headers, content=one.content)

        transport = httpx2.MockTransport(answer)
        return make('svc_live_secret', 'https://images.example/api/v1/', transport=transport, **options)

    return answering
