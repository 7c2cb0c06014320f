"""What does not fit the contract, beside all that the contract's own suite tries."""

import asyncio
import contextlib
import json
from typing import Any

import pytest

from model_server.contract import NotJson, parse_request
from model_server.failure import Failure

from .support import Running, identity, model_request

pytestmark = pytest.mark.anyio

LINK = 'http://127.0.0.1/?X-Signature=secret-signature'


def parse(changes: dict[str, Any]) -> Any:
    return parse_request(json.dumps(model_request([LINK]) | changes).encode())


@pytest.mark.parametrize(
    ('field', 'changes'),
    [
        ('deadline', {'deadline': '2026-01-01'}),
        ('tenant', {'tenant': None}),
        ('outputs.0.putUrl', {'outputs': [{'putUrl': 'http://'}]}),
        ('outputs.0.putUrl', {'outputs': [{'putUrl': 'http://[::1/'}]}),
        ('outputs.0.putUrl', {'outputs': [{'putUrl': 'http://secret:65536/'}]}),
        ('cancelUrl', {'cancelUrl': 'file:///secret'}),
        ('references.0.url', {'references': [{'url': LINK + 'x' * 8192}]}),
        ('identity.settings', {'identity': identity(settings={'adapterScale': 3})}),
        ('identity.settings', {'identity': identity(settings={'adapterScale': '1'})}),
    ],
)
def test_what_does_not_fit_is_refused_naming_the_field_and_not_its_value(
    field: str, changes: dict[str, Any]
) -> None:
    with pytest.raises(Failure) as refused:
        parse(changes)
    assert refused.value.reason == 'invalid_request'
    assert refused.value.message.startswith(f'{field} does not fit the contract: ')
    assert 'secret' not in refused.value.message


def test_a_malformed_trace_is_ignored() -> None:
    trace = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    no_trace, no_parent = f'00-{"0" * 32}{trace[35:]}', f'{trace[:36]}{"0" * 16}-01'
    for sent in (7, '', trace.upper(), f'{trace}-0', f'ff{trace[2:]}', no_trace, no_parent):
        assert parse({'traceparent': sent}).traceparent is None


def test_whatever_a_member_holds_it_is_taken_or_refused_and_never_an_error_of_another_kind() -> None:
    values: list[Any] = [
        None, True, False, 0, -0.0, 10**400, 1e308, '', '\0', '\ud800', 'x' * 10_000, [], [[]], [None], {},
        {'a': {}}, {'\ud800': 1}, [{'url': 'http://\ud800/'}], [{'putUrl': 'http://x:99999999/'}],
        'http://x\n/', '9999-12-31T23:59Z',
    ]  # fmt: skip
    for name in [*model_request([LINK]), 'cancelUrl', 'traceparent', 'probe', '\ud800', '__proto__']:
        for value in values:
            about = {**identity(), name: value, 'adapterUrl': value, 'settings': {name: value}}
            for changes in ({name: value}, {'identity': about}):
                with contextlib.suppress(Failure, NotJson):
                    parse(changes)


async def test_a_deadline_far_away_is_none(server: Running) -> None:
    events = await server.invoke(server.request(deadline='9999-12-31T23:59:59.999999999Z'))

    assert events[-1]['event'] == 'completed'


@pytest.mark.parametrize(('sent', 'length'), [(b'x' * 10 * 2**20, 10 * 2**20), (b'{"pro', 1000)])
async def test_a_caller_who_reads_late_gets_413_and_one_who_leaves_harms_nobody(
    server: Running, sent: bytes, length: int
) -> None:
    host, port = server.url.removeprefix('http://').split(':')
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f'POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n'.encode() + sent)
    await writer.drain()
    if len(sent) == length:
        assert (await reader.readline()).startswith(b'HTTP/1.1 413 ')
    writer.close()
    assert (await server.invoke(server.request()))[-1]['event'] == 'completed'
