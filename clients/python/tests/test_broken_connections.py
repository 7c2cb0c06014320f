"""An image arrives and is charged once, however the connection breaks: by Client and by AsyncClient."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from image_generation import Client

from .fixture import Caller, Granted, Service, small

# API Gateway's own timeout: its X-Request-Id names no stored request, and the function behind it goes on.
gateway_timeout = {
    'forwardedButAnswered': {
        'status': 504,
        'headers': {'x-request-id': str(uuid.uuid4())},
        'body': {'error': 'The answer took too long.', 'code': 'TIMEOUT'},
    }
}
fates: dict[str, tuple[Any, str]] = {
    'is cut before the service gets it': ('is cut before', 'aurora'),
    'is cut when the answer begins': ('is cut at the head', 'harbor'),
    'is cut once it was accepted': ({'cutAfter': 'event: accepted'}, 'harbor'),
    'is cut while it is generated': ({'cutAfter': 'event: progress'}, 'harbor'),
    'is cut in the middle of its result': ({'cutAfter': '"outputs"'}, 'aurora'),
    'times out at the gateway while it runs': (gateway_timeout, 'harbor'),
    'is asynchronous and is cut before the service gets it': ('is cut before', 'aurora'),
    'is asynchronous and is cut when the service has it': ('is cut once it arrived', 'aurora'),
    'is asynchronous and is cut when the answer begins': ('is cut at the head', 'aurora'),
}


@pytest.mark.parametrize('how', fates)
def test_a_generation(how: str, client: Any, call: Caller, service: Service, granted: Granted) -> None:
    fate, identity = fates[how]
    service.fates(fate)
    calls: list[str] = []
    body = {**small, 'identity_id': service.identities[identity]}
    if 'asynchronous' in how:
        image = call(call(client.respond_async, **body).wait)
    else:
        image = call(client.generate, **body, on_disconnected=lambda: calls.append('disconnected'))
    assert call(image.bytes).startswith(b'\x89PNG')
    # The last event may have arrived whole before its connection was cut.
    is_noticed = isinstance(fate, dict) and 'event' in fate.get('cutAfter', '')
    assert calls == (['disconnected'] if is_noticed else [])
    stored = call.all(client.all_generations())
    assert [(one.id, one.status) for one in stored] == [(image.request_id, 'COMPLETED')]
    assert service.totals(granted) == (1, 1)
    service.seen()


def test_many_at_once_in_threads_that_share_clients(service: Service) -> None:
    licenses = [service.grant() for _ in range(4)]
    clients = [Client(granted.key, service.proxy_url) for granted in licenses]
    service.fates(*(fate for fate, _ in list(fates.values())[:6] * 2))

    def generate(client: Client, prompt: str) -> str:
        parameters: Any = {**small, 'prompt': prompt, 'identity_id': service.identities['aurora']}
        return client.generate(**parameters).request_id

    with ThreadPoolExecutor(8) as threads:
        jobs = [threads.submit(generate, client, prompt) for client in clients for prompt in ('one', 'two')]
        ids = {job.result() for job in jobs}
    assert len(ids) == 8
    assert [service.totals(granted) for granted in licenses] == [(2, 2)] * 4
    service.seen()
    for client in clients:
        client.close()
