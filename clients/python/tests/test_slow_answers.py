"""How long the clients wait for bytes: against a small server that says when it sends them."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from image_generation import TimeoutError, _generate, _requester

from .answers import generation
from .fixture import Caller

Parts = list[bytes | float]
event_stream = b'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nx-request-id: r\r\n\r\n'
plain = b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n'


def read_request(connection: socket.socket) -> None:
    """All of it: a connection that closes with bytes unread is reset, and may take the answer with it."""
    with connection.makefile('rb') as request:
        length = 0
        while (line := request.readline()) not in (b'\r\n', b''):
            if line.lower().startswith(b'content-length:'):
                length = int(line[15:])
        request.read(length)


@pytest.fixture
def serving() -> Iterator[Callable[..., str]]:
    """Serves these answers, one a connection: bytes, and seconds between them. Returns the base URL."""
    listening = socket.create_server(('127.0.0.1', 0))
    # A client that connects less often than expected fails its test. It must not be waited for as well.
    listening.settimeout(20)
    threads: list[threading.Thread] = []

    def serve(answers: tuple[Parts, ...]) -> None:
        for parts in answers:
            connection, _ = listening.accept()
            with connection:
                read_request(connection)
                try:
                    for part in parts:
                        connection.sendall(part) if isinstance(part, bytes) else time.sleep(part)
                except OSError:
                    # The client gave up.
                    continue

    def serving(*answers: Parts) -> str:
        threads.append(threading.Thread(target=serve, args=(answers,)))
        threads[-1].start()
        return f'http://127.0.0.1:{listening.getsockname()[1]}/api/v1'

    yield serving
    for thread in threads:
        thread.join()
    listening.close()


def test_a_generation_may_take_longer_than_the_timeout_once_it_was_accepted(
    serving: Any, make: Any, call: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A client that gave up the stream would look for the request, in vain, for ten minutes.
    monkeypatch.setattr(_generate, '_poll_for_seconds', 1.0)
    completed = f'event: completed\ndata: {json.dumps(generation)}\n\n'.encode()
    client = make('svc_live_x', serving([event_stream, 1.5, completed]), timeout=0.5, max_retries=0)
    assert call(client.generate, identity_id='i', prompt='p').request_id == 'r'


def test_a_stream_that_is_silent_for_too_long_is_broken_and_the_request_is_fetched(
    serving: Any, make: Any, call: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_requester, '_silence_seconds', 0.2)
    gone = b'HTTP/1.1 404 Not Found\r\n\r\n{"error":"No.","code":"REQUEST_NOT_FOUND"}'
    done = plain + json.dumps(generation).encode()
    calls: list[str] = []
    client = make('svc_live_x', serving([event_stream, 2.0], [gone], [done]), max_retries=1)
    parameters = {'identity_id': 'i', 'prompt': 'p', 'on_disconnected': lambda: calls.append('disconnected')}
    assert (call(client.generate, **parameters).request_id, calls) == ('r', ['disconnected'])


@pytest.mark.parametrize('parts', [[plain, *[b' ', 0.2] * 6], [1.5]], ids=['drips', 'does not begin'])
def test_an_answer_that_is_too_slow_is_a_timeout(parts: Parts, serving: Any, make: Any, call: Caller) -> None:
    client = make('svc_live_x', serving(parts), timeout=0.7, max_retries=0)
    with pytest.raises(TimeoutError, match=r'within 0\.7 seconds'):
        call(client.health)
