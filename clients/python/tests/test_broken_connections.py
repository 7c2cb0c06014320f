"""An image arrives and is charged once, however the connection breaks: by Client and by AsyncClient."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from image_generation import Client

from .world import Caller, Granted, World, small

# API Gateway's own timeout: its X-Request-Id names no stored request, and the function behind it goes on.
gateway_timeout = {
    'forwardedButAnswered': {
        'status': 504,
        'headers': {'x-request-id': str(uuid.uuid4())},
        'body': {'error': 'The answer took too long.', 'code': 'TIMEOUT'},
    }
}
fates = [
    pytest.param('is cut before', 'aurora', id='is cut before the service gets it'),
    pytest.param('is cut at the head', 'harbor', id='is cut when the answer begins'),
    pytest.param({'cutAfter': 'event: accepted'}, 'harbor', id='is cut once it was accepted'),
    pytest.param({'cutAfter': 'event: progress'}, 'harbor', id='is cut while it is painted'),
    pytest.param({'cutAfter': '"outputs"'}, 'aurora', id='is cut in the middle of its result'),
    pytest.param(gateway_timeout, 'harbor', id='times out at the gateway while it runs'),
]


@pytest.mark.parametrize(('fate', 'identity'), fates)
def test_a_generation(
    fate: Any, identity: str, client: Any, call: Caller, world: World, granted: Granted
) -> None:
    world.fates(fate)
    told: list[str] = []
    image = call(
        client.generate,
        **small,
        identity_id=world.identities[identity],
        on_disconnected=lambda: told.append('disconnected'),
    )
    assert call(image.bytes).startswith(b'\x89PNG')
    # The last event may have arrived whole before its connection was cut.
    is_told = isinstance(fate, dict) and 'event' in fate.get('cutAfter', '')
    assert told == (['disconnected'] if is_told else [])
    stored = call.all(client.all_generations())
    assert [(one.id, one.status) for one in stored] == [(image.request_id, 'COMPLETED')]
    assert world.totals(granted) == (1, 1)
    world.seen()


@pytest.mark.parametrize('fate', ['is cut before', 'is cut once it arrived', 'is cut at the head'])
def test_an_asynchronous_request(
    fate: str, client: Any, call: Caller, world: World, granted: Granted
) -> None:
    world.fates(fate)
    request = call(client.respond_async, **small, identity_id=world.identities['aurora'])
    assert call(call(request.wait).bytes).startswith(b'\x89PNG')
    assert [one.id for one in call.all(client.all_generations())] == [request.request_id]
    assert world.totals(granted) == (1, 1)
    world.seen()


def test_many_at_once_in_threads_that_share_clients(world: World) -> None:
    licenses = [world.grant() for _ in range(4)]
    clients = [Client(granted.key, world.proxy_url) for granted in licenses]
    world.fates(*(param.values[0] for param in fates), *(param.values[0] for param in fates))

    def paint(client: Client, prompt: str) -> str:
        parameters: Any = {**small, 'prompt': prompt, 'identity_id': world.identities['aurora']}
        return client.generate(**parameters).request_id

    with ThreadPoolExecutor(8) as threads:
        jobs = [threads.submit(paint, client, prompt) for client in clients for prompt in ('one', 'two')]
        ids = {job.result() for job in jobs}
    assert len(ids) == 8
    assert [world.totals(granted) for granted in licenses] == [(2, 2)] * 4
    world.seen()
    for client in clients:
        client.close()
