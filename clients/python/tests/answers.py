"""Answers that no service has to give."""

from __future__ import annotations

import json
from typing import Any

import httpx2

from .fixture import Caller, repository

# Those of the oldest service, which both clients still take.
_oldest = json.loads((repository / 'test/unit/client/oldest-answers.json').read_text())
generation: dict[str, Any] = {**_oldest['POST /generate'], 'requestId': 'r'}
accepted = ('accepted', {'requestId': 'r', 'creditsReserved': 1})


def refusal(status: int, code: str, **headers: str) -> httpx2.Response:
    return httpx2.Response(status, json={'error': 'No.', 'code': code}, headers=headers)


def done() -> httpx2.Response:
    return httpx2.Response(200, json=generation)


def stream(*events: tuple[str, object]) -> httpx2.Response:
    text = ''.join(f'event: {name}\ndata: {json.dumps(data)}\n\n' for name, data in events)
    headers = {'content-type': 'text/event-stream', 'x-request-id': 'r'}
    return httpx2.Response(200, content=text.encode(), headers=headers)


def generate(client: Any, call: Caller, **more: Any) -> Any:
    return call(client.generate, identity_id='i', prompt='p', **more)


def stored(status: str, **more: Any) -> httpx2.Response:
    answer = {**_oldest['GET /generate/{requestId}'], 'id': 'r', 'status': status, **more}
    return httpx2.Response(200, json=answer)
