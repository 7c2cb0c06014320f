"""What does not fit the contract, and what is not even a request."""

import asyncio
import contextlib
import json
from typing import Any

import pytest

from model_server.contract import NotJson, parse_request
from model_server.failure import Failure

from .support import Running, failure, identity, model_request

pytestmark = pytest.mark.anyio

SECRET = 'http://127.0.0.1/?X-Signature=secret-signature'

#: The field that is named, and the changes that make it wrong. The contract's suite tries many more.
MALFORMED: list[tuple[str, dict[str, Any]]] = [
    ('deadline', {'deadline': '2026-01-01'}),
    ('tenant', {'tenant': None}),
    ('outputs.0.putUrl', {'outputs': [{'putUrl': 'http://'}]}),
    ('outputs.0.putUrl', {'outputs': [{'putUrl': 'http://[::1/'}]}),
    ('references.0.url', {'references': [{'url': SECRET + 'x' * 8192}]}),
    ('identity.adapterUrl', {'identity': identity(adapterUrl='nowhere')}),
    ('identity.settings', {'identity': identity(settings={'adapterScale': 3})}),
    ('identity.settings', {'identity': identity(settings={'adapterScale': '1'})}),
]


@pytest.mark.parametrize(
    ('field', 'changes'), MALFORMED, ids=[f'{index}-{field}' for index, (field, _) in enumerate(MALFORMED)]
)
async def test_what_does_not_fit_is_refused_naming_the_field_and_not_its_value(
    server: Running, field: str, changes: dict[str, Any]
) -> None:
    (event,) = await server.invoke(server.request() | changes)
    reason, message = failure([event])
    assert reason == 'invalid_request'
    assert message.startswith(f'{field} does not fit the contract: ')
    assert 'secret' not in message
    assert server.engine.painted == []


def test_whatever_a_member_holds_it_is_taken_or_refused_and_never_an_error_of_another_kind() -> None:
    values: list[Any] = [
        None, True, False, 0, -0.0, 10**400, 1e308, '', '\0', '\ud800', 'x' * 10_000, [], [[]], [None], {},
        {'a': {}}, {'\ud800': 1}, [{'url': 'http://\ud800/'}], [{'putUrl': 'http://x:99999999/'}],
        'http://x\n/', '9999-12-31T23:59Z',
    ]  # fmt: skip
    whole = model_request(['http://127.0.0.1/'])
    for name in [*whole, 'probe', '\ud800', '__proto__']:
        for value in values:
            with contextlib.suppress(Failure, NotJson):
                parse_request(json.dumps(whole | {name: value}).encode())
            with contextlib.suppress(Failure, NotJson):
                about = {**whole['identity'], name: value, 'adapterUrl': value, 'settings': {name: value}}
                parse_request(json.dumps(whole | {'identity': about}).encode())


async def test_a_deadline_far_away_is_none(server: Running) -> None:
    events = await server.invoke(server.request(deadline='9999-12-31T23:59:59.999999999Z'))

    assert events[-1]['event'] == 'completed'


async def test_a_caller_who_reads_only_when_all_is_sent_still_hears_that_it_is_too_long(
    server: Running,
) -> None:
    host, port = server.url.removeprefix('http://').split(':')
    reader, writer = await asyncio.open_connection(host, int(port))
    size = 10 * 1024 * 1024
    writer.write(f'POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Length: {size}\r\n\r\n'.encode())
    for _ in range(10):
        writer.write(bytes(size // 10))
        await writer.drain()

    assert (await reader.readline()).startswith(b'HTTP/1.1 413 ')
    writer.close()


async def test_a_caller_who_leaves_while_sending_harms_nobody(server: Running) -> None:
    host, port = server.url.removeprefix('http://').split(':')
    _, writer = await asyncio.open_connection(host, int(port))
    writer.write(b'POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{"pro')
    await writer.drain()
    writer.close()
    await writer.wait_closed()

    assert (await server.invoke(server.request()))[-1]['event'] == 'completed'


@pytest.mark.parametrize(
    ('method', 'path', 'status'),
    [
        ('PUT', '/invocations', 405),
        ('POST', '/invocations/', 404),
        ('GET', '/docs', 404),
    ],
)
async def test_there_are_two_paths_each_with_its_method(
    server: Running, method: str, path: str, status: int
) -> None:
    assert (await server.client.request(method, server.url + path)).status_code == status
