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

#: The field that is named, and the changes that make it wrong.
MALFORMED: list[tuple[str, dict[str, Any]]] = [
    ('requestId', {'requestId': 5}),
    ('requestId', {'requestId': ''}),
    ('requestId', {'requestId': 'x' * 201}),
    ('deadline', {'deadline': 'soon'}),
    ('deadline', {'deadline': '2026-01-01T00:00:00'}),
    ('deadline', {'deadline': '2026-13-01T00:00:00Z'}),
    ('deadline', {'deadline': '2026-01-01'}),
    ('deadline', {'deadline': 1_800_000_000}),
    ('prompt', {'prompt': None}),
    ('prompt', {'prompt': 'x' * 4001}),
    ('prompt', {'prompt': '\ud800'}),
    ('negativePrompt', {'negativePrompt': ...}),
    ('seed', {'seed': 2**32}),
    ('seed', {'seed': -1}),
    ('seed', {'seed': '5'}),
    ('seed', {'seed': 1.5}),
    ('seed', {'seed': True}),
    ('numInferenceSteps', {'numInferenceSteps': 19}),
    ('numInferenceSteps', {'numInferenceSteps': 51}),
    ('guidanceScale', {'guidanceScale': 0.9}),
    ('guidanceScale', {'guidanceScale': 21}),
    ('guidanceScale', {'guidanceScale': '7'}),
    ('width', {'width': 500}),
    ('width', {'width': 448}),
    ('width', {'width': 513}),
    ('height', {'height': 2112}),
    ('numOutputs', {'numOutputs': 0}),
    ('numOutputs', {'numOutputs': 17}),
    ('outputFormat', {'outputFormat': 'gif'}),
    ('outputFormat', {'outputFormat': 'jpg'}),
    ('outputFormat', {'outputFormat': None}),
    ('outputs', {'numOutputs': 2}),
    ('outputs.0.putUrl', {'outputs': [{'putUrl': 'ftp://somewhere/'}]}),
    ('outputs.0.putUrl', {'outputs': [{'putUrl': 'http://'}]}),
    ('outputs.0.putUrl', {'outputs': [{'putUrl': 'http://[::1/'}]}),
    ('outputs.0.putUrl', {'outputs': [{}]}),
    ('outputs', {'outputs': None}),
    ('referenceMode', {'referenceMode': 'guess'}),
    ('preserveBranding', {'preserveBranding': 'yes'}),
    ('preserveBranding', {'preserveBranding': 1}),
    ('tenant', {'tenant': ''}),
    ('tenant', {'tenant': 'x' * 201}),
    ('tenant', {'tenant': 5}),
    ('tenant', {'tenant': None}),
    ('references', {'references': [{'url': SECRET}] * 5}),
    ('references.0.url', {'references': [{'url': 'file:///etc/passwd'}]}),
    ('references.0', {'references': [SECRET]}),
    ('references.0.url', {'references': [{'url': SECRET + 'x' * 8192}]}),
    ('identity', {'identity': None}),
    ('identity.id', {'identity': identity(id='')}),
    ('identity.adapterUrl', {'identity': identity(adapterUrl='nowhere')}),
    ('identity.adapterVersion', {'identity': identity(adapterVersion=3)}),
    ('identity.adapterSha256', {'identity': identity(adapterSha256='ab' * 31)}),
    ('identity.settings', {'identity': identity(settings=[])}),
    ('identity.settings', {'identity': identity(settings={'adapterScale': 3})}),
    ('identity.settings', {'identity': identity(settings={'adapterScale': '1'})}),
]


@pytest.mark.parametrize(
    ('field', 'changes'), MALFORMED, ids=[f'{index}-{field}' for index, (field, _) in enumerate(MALFORMED)]
)
async def test_what_does_not_fit_is_refused_naming_the_field_and_not_its_value(
    server: Running, field: str, changes: dict[str, Any]
) -> None:
    body = {name: value for name, value in (server.request() | changes).items() if value is not ...}
    answer = await server.client.post(f'{server.url}/invocations', content=json.dumps(body))

    assert answer.status_code == 200
    events = [json.loads(line) for line in answer.text.splitlines()]
    assert len(events) == 1
    reason, message = failure(events)
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


async def test_members_of_a_newer_contract_are_passed_over(server: Running) -> None:
    changes: dict[str, Any] = {'later': 1, 'identity': identity(later={'a': 1})}
    events = await server.invoke(server.request(**changes))

    assert events[-1]['event'] == 'completed'


@pytest.mark.parametrize(
    ('body', 'status'),
    [
        (b'{"prompt": ', 400),
        (b'', 400),
        (b'{"seed": NaN}', 400),
        (b'{"seed": 1' + b'0' * 5000 + b'}', 400),
        (b'[' * 100_000, 400),
        (b'"\xff"', 400),
        ('{"probe": true}'.encode('utf-16'), 400),
        (b'[]', 200),
        (b'null', 200),
        (b'{}', 200),
        (b'{"probe": 1}', 200),
        (b' ' * (1024 * 1024 - 2) + b'{}', 200),
        (b' ' * (1024 * 1024 - 1) + b'{}', 413),
        (b'x' * (8 * 1024 * 1024), 413),
    ],
    ids=lambda value: str(value)[:12],
)
async def test_whatever_the_body_is_one_failed_event_answers_it(
    server: Running, body: bytes, status: int
) -> None:
    answer = await server.client.post(f'{server.url}/invocations', content=body)

    assert answer.status_code == status
    assert answer.headers['content-type'] == 'application/x-ndjson'
    (line,) = answer.text.splitlines()
    assert failure([json.loads(line)])[0] == 'invalid_request'
    assert await server.ping() == 200


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


async def test_a_probe_is_answered_with_one_ready_event(server: Running) -> None:
    assert await server.invoke({'probe': True}) == [{'event': 'ready', 'modelVersion': 'fake-1'}]


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
        ('GET', '/ping', 200),
        ('HEAD', '/ping', 200),
        ('POST', '/ping', 405),
        ('GET', '/invocations', 405),
        ('PUT', '/invocations', 405),
        ('POST', '/invocations/', 404),
        ('POST', '/', 404),
        ('GET', '/docs', 404),
    ],
)
async def test_there_are_two_paths_each_with_its_method(
    server: Running, method: str, path: str, status: int
) -> None:
    answer = await server.client.request(method, server.url + path)

    assert answer.status_code == status
    if path == '/ping' and status == 200:
        assert answer.content == b''
