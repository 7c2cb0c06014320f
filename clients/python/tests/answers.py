"""Answers that no service has to give."""

from __future__ import annotations

import json
from typing import Any

import httpx2

from .world import Caller

generation = {
    'requestId': 'r',
    'outputs': ['https://storage.example/0'],
    'previews': ['https://storage.example/0.webp'],
    'identity': {'id': 'i', 'name': 'aurora'},
    'referenceImagesUsed': 0,
    'usage': {
        'creditsUsed': 1,
        'creditsLimit': 10,
        'creditsRemaining': 9,
        'creditsCharged': 1,
        'periodResetDate': '2026-12-12T08:00:00.000Z',
    },
    'processingTimeMs': 1,
    'seed': 1,
    'unknown': {'member': 'of a newer service'},
}


def refusal(status: int, code: str, **headers: str) -> httpx2.Response:
    return httpx2.Response(status, json={'error': 'No.', 'code': code}, headers=headers)


def done() -> httpx2.Response:
    return httpx2.Response(200, json=generation)


def stream(*events: tuple[str, object]) -> httpx2.Response:
    text = ''.join(f'event: {name}\ndata: {json.dumps(data)}\n\n' for name, data in events)
    headers = {'content-type': 'text/event-stream', 'x-request-id': 'r'}
    return httpx2.Response(200, content=text.encode(), headers=headers)


def paint(client: Any, call: Caller) -> Any:
    return call(client.generate, identity_id='i', prompt='p')


def stored(status: str, **more: Any) -> httpx2.Response:
    answer: dict[str, Any] = {
        **dict.fromkeys(
            ('outputUrl', 'errorMessage', 'errorCode', 'modelVersion', 'startedAt', 'completedAt', 'keyId')
        ),
        **dict.fromkeys(('seed', 'steps', 'width', 'height', 'numOutputs', 'creditsCharged'), 1),
        'id': 'r',
        'licenseId': 'l',
        'type': 'text_to_image',
        'status': status,
        'cfgScale': 7.5,
        'identity': {'id': 'i', 'name': 'aurora', 'slug': 'aurora'},
        'prompt': 'p',
        'negativePrompt': '',
        'outputFormat': 'png',
        'referenceMode': 'reference',
        'preserveBranding': False,
        'outputs': [],
        'previews': [],
        'referenceImagesUsed': 0,
        'processingTimeMs': None,
        'createdAt': '2026-11-21T09:30:00.000Z',
        **more,
    }
    return httpx2.Response(200, json=answer)
