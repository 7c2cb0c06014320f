"""Runs commands by the Python client, side by side."""

import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
from image_generation import ApiError, Client, GenerationResult

# A stalled connection is noticed after so long.
timeout_seconds = 10.0


class ThroughProxy(httpx2.HTTPTransport):
    """Asks the proxy for images."""

    def __init__(self, storage_url: str, proxy_url: str) -> None:
        super().__init__()
        self._storage = httpx2.URL(storage_url)
        self._proxy = httpx2.URL(proxy_url)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.url.netloc == self._storage.netloc:
            request.url = request.url.copy_with(port=self._proxy.port)
        return super().handle_request(request)


def snake_case(name: str) -> str:
    return re.sub('[A-Z]', lambda letter: '_' + letter[0].lower(), name)


def result_of(client: Client, command: dict[str, Any]) -> GenerationResult:
    body = {snake_case(name): value for name, value in command['body'].items()}
    body['idempotency_key'] = command['idempotencyKey']
    if command['kind'] == 'generate':
        return client.generate(**body)
    if command['kind'] == 'async':
        return client.respond_async(**body).wait()
    *_, last = client.generate_events(**body)
    assert isinstance(last, GenerationResult)
    return last


def run(command: dict[str, Any]) -> None:
    outcome: dict[str, Any] = {'call': command['call']}
    try:
        transport = ThroughProxy(command['storage']['url'], command['storage']['proxyUrl'])
        with httpx2.Client(transport=transport) as http_client:
            client = Client(
                command['apiKey'], command['baseUrl'], timeout=timeout_seconds, http_client=http_client
            )
            result = result_of(client, command)
            outcome['requestId'] = result.request_id
            outcome['creditsCharged'] = result.credits_charged
            outcome['images'] = [image.bytes().decode() for image in result.images]
    except Exception as error:
        name = 'ApiError' if isinstance(error, ApiError) else type(error).__name__
        outcome['error'] = f'{name}: {error}'
    # One write, so that the lines of threads don't mix.
    sys.stdout.write(json.dumps(outcome) + '\n')
    sys.stdout.flush()


with ThreadPoolExecutor(max_workers=256) as pool:
    for line in sys.stdin:
        pool.submit(run, json.loads(line))
