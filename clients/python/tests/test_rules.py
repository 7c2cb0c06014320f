"""The rules, without a service: each test that calls is of Client and of AsyncClient."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import anyio
import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

import image_generation
from image_generation import (
    ApiError,
    AsyncClient,
    Client,
    ConnectionError,
    CreditLimitExceeded,
    GenerationFailed,
    ImageGenerationError,
    RateLimited,
    RequestInProgress,
    RequestNotFound,
    ServiceUnavailable,
    Timeout,
    TimeoutError,
    UnexpectedAnswer,
    _generate,
    _io,
)
from image_generation._event_stream import StreamEvent, read_events
from image_generation._generate import body_of
from image_generation._retry import retry_delay_seconds
from image_generation.errors import classes

from .world import Caller, repository

Answers = Callable[[httpx2.Request], httpx2.Response]
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
def answering(call: Caller, waits: list[float]) -> Iterator[Callable[..., Any]]:
    """Makes a client whose requests get these answers, one after another."""
    used: list[Any] = []

    def answering(*answers: httpx2.Response | Exception, **options: Any) -> Any:
        rest = list(answers)

        def answer(_: httpx2.Request) -> httpx2.Response:
            one = rest.pop(0)
            if isinstance(one, Exception):
                raise one
            return one

        transport = httpx2.MockTransport(answer)
        kind = httpx2.Client if call.portal is None else httpx2.AsyncClient
        used.append(kind(transport=transport))
        client: Any = Client if call.portal is None else AsyncClient
        return client('svc_live_secret', 'https://images.example/api/v1/', http_client=used[-1], **options)

    yield answering
    for http_client in used:
        call(http_client.close if call.portal is None else http_client.aclose)


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


def test_waits_as_long_as_the_service_asks_for_and_doubles(
    answering: Any, call: Caller, waits: list[float]
) -> None:
    busy = [refusal(503, 'SERVICE_UNAVAILABLE') for _ in range(3)]
    asking = refusal(429, 'RATE_LIMITED', **{'retry-after': '30'})
    assert paint(answering(*busy, asking, done()), call).credits_charged == 1
    for wait, least in zip(waits, (1, 2, 4, 30), strict=True):
        assert least <= wait <= 1.25 * least


def test_a_wait_of_weeks_is_not_waited(answering: Any, call: Caller, waits: list[float]) -> None:
    spent = refusal(429, 'CREDIT_LIMIT_EXCEEDED', **{'retry-after': '1000000'})
    with pytest.raises(CreditLimitExceeded) as error:
        paint(answering(spent), call)
    assert (error.value.retry_after_seconds, waits) == (1_000_000, [])


def test_tries_as_often_as_it_may(answering: Any, call: Caller, waits: list[float]) -> None:
    busy = [refusal(503, 'SERVICE_UNAVAILABLE') for _ in range(3)]
    with pytest.raises(ServiceUnavailable):
        paint(answering(*busy, max_retries=2), call)
    assert len(waits) == 2


def test_an_upload_form_is_asked_for_again_only_where_the_service_did_nothing(
    answering: Any, call: Caller, waits: list[float]
) -> None:
    with pytest.raises(ApiError):
        call(answering(refusal(500, 'INTERNAL_ERROR')).create_upload)
    with pytest.raises(ConnectionError):
        call(answering(httpx2.ReadError('cut')).create_upload)
    assert waits == []
    upload = {
        'uploadId': 'u',
        'url': 'https://s',
        'fields': {},
        'maxBytes': 1,
        'expiresAt': '2026-12-12T08:00:00Z',
    }
    busy = refusal(429, 'RATE_LIMITED', **{'retry-after': '1'})
    assert call(answering(busy, httpx2.Response(201, json=upload)).create_upload).upload_id == 'u'
    read = answering(httpx2.ReadError('cut'), httpx2.Response(200, json={'identities': []}))
    assert call(read.list_identities) == []
    assert len(waits) == 2


def test_every_try_has_the_same_key_and_body(call: Caller, answering: Any, waits: list[float]) -> None:
    seen: list[tuple[str, bytes]] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append((request.headers['idempotency-key'], request.content))
        return done() if len(seen) >= 3 else refusal(500, 'INTERNAL_ERROR')

    client = answering()
    client._requester.io._client._transport = httpx2.MockTransport(answer)
    call(client.generate, prompt='p', identity_id='i', reference_images=[{'upload_id': 'u'}], seed=None)
    assert len(set(seen)) == 1
    assert seen[0][1] == b'{"identityId":"i","prompt":"p","referenceImages":[{"uploadId":"u"}]}'
    call(client.generate, identity_id='i', prompt='p')
    assert seen[3][0] != seen[0][0]


def test_a_failure_on_the_line_that_was_not_stored_is_tried_again(
    answering: Any, call: Caller, waits: list[float]
) -> None:
    failure = {'error': 'E.', 'code': 'GENERATION_FAILED', 'status': 500}
    failed = stream(('accepted', {'requestId': 'r', 'creditsReserved': 1}), ('failed', failure))
    lost = refusal(404, 'REQUEST_NOT_FOUND')
    assert paint(answering(failed, lost, done()), call).request_id == 'r'


def test_a_deletion_is_done_when_the_repeat_of_a_lost_one_finds_nothing(
    answering: Any, call: Caller, waits: list[float]
) -> None:
    gone = refusal(404, 'REQUEST_NOT_FOUND')
    busy = refusal(503, 'SERVICE_UNAVAILABLE', **{'retry-after': '1'})
    for fault in (httpx2.ReadError('cut'), busy):
        assert call(answering(fault, gone).delete_generation, 'r') is None
    limited = refusal(429, 'RATE_LIMITED', **{'retry-after': '1'})
    for answers in ((gone,), (limited, gone)):
        with pytest.raises(RequestNotFound):
            call(answering(*answers).delete_generation, 'r')
    with pytest.raises(RequestInProgress):
        call(answering(refusal(409, 'REQUEST_IN_PROGRESS')).delete_generation, 'r')
    assert len(waits) == 3


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


def broken() -> httpx2.Response:
    return stream(('accepted', {'requestId': 'r', 'creditsReserved': 1}))


def test_only_a_generation_that_found_no_room_is_begun_again(
    answering: Any, call: Caller, waits: list[float]
) -> None:
    full = stored('FAILED', errorCode='SERVICE_UNAVAILABLE', errorMessage='Full.')
    assert paint(answering(broken(), full, done()), call).request_id == 'r'
    late = stored('TIMEOUT', errorCode='TIMEOUT', errorMessage='Late.')
    with pytest.raises(Timeout, match=r'^Late\. Nothing was charged\.$') as failed:
        paint(answering(broken(), stored('PROCESSING'), late), call)
    assert (failed.value.status, failed.value.request_id) == (504, 'r')


def test_a_generation_that_goes_on_for_too_long_is_not_begun_again(
    answering: Any, call: Caller, waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_generate, '_poll_for_seconds', 1.0)
    with pytest.raises(TimeoutError, match='It goes on') as late:
        paint(answering(broken(), stored('PROCESSING')), call)
    assert late.value.request_id == 'r'


def test_looks_as_often_as_the_service_asks_for(answering: Any, call: Caller, waits: list[float]) -> None:
    asking = stored('QUEUED')
    asking.headers['retry-after'] = '7'
    eager = stored('QUEUED')
    eager.headers['retry-after'] = '0'
    busy = refusal(429, 'RATE_LIMITED', **{'retry-after': '9'})
    answers = (asking, eager, httpx2.ReadError('cut'), busy, stored('QUEUED'), stored('COMPLETED'))
    assert call(answering(*answers).wait_for_generation, 'r').usage is None
    for wait, least in zip(waits, (0, 7, 2, 4, 9, 2), strict=True):
        assert least <= wait <= 1.25 * least


def test_a_stream_that_ends_without_a_result_and_without_an_id_is_repeated(
    answering: Any, call: Caller, waits: list[float]
) -> None:
    empty = httpx2.Response(200, content=b'', headers={'content-type': 'text/event-stream'})
    assert paint(answering(empty, done()), call).request_id == 'r'
    assert len(waits) == 1


def test_damaged_events_are_a_broken_connection_and_unknown_ones_are_skipped(
    answering: Any, call: Caller, waits: list[float]
) -> None:
    later = stream(
        ('news', {'a': 1}), ('progress', {'step': 1, 'steps': 2, 'new': True}), ('completed', generation)
    )
    assert paint(answering(later), call).seed == 1
    headers = {'content-type': 'text/event-stream'}
    damaged = httpx2.Response(200, content=b'event: progress\ndata: {"st\n\n', headers=headers)
    with pytest.raises(ConnectionError):
        paint(answering(damaged, max_retries=0), call)


def test_a_code_that_is_not_known_yet_and_an_answer_of_a_proxy(answering: Any, call: Caller) -> None:
    with pytest.raises(ApiError) as later:
        paint(answering(refusal(418, 'TEAPOT')), call)
    assert (type(later.value), later.value.code) == (ApiError, 'TEAPOT')
    for answer in (httpx2.Response(404, text='<html>'), httpx2.Response(200, json=[1])):
        with pytest.raises(UnexpectedAnswer, match='Check the base URL'):
            paint(answering(answer, max_retries=0), call)


def test_values_that_are_not_known_yet_are_read(answering: Any, call: Caller) -> None:
    health = {
        'status': 'dreaming',
        'api': 'up',
        'inference': 'up',
        'model': 'new',
        'modelReadyInSeconds': None,
    }
    assert call(answering(httpx2.Response(200, json=health)).health).model == 'new'


def test_what_takes_too_long_is_a_timeout_of_this_package_and_of_python(answering: Any, call: Caller) -> None:
    client = answering(httpx2.ReadTimeout('late'), max_retries=0, timeout=3)
    with pytest.raises(TimeoutError, match=r'^No answer came within 3 seconds\.$') as late:
        call(client.health)
    assert isinstance(late.value, OSError)
    assert isinstance(late.value, ImageGenerationError)


def test_a_wait_ends_in_time_and_says_which_request_goes_on(answering: Any, call: Caller) -> None:
    with pytest.raises(TimeoutError, match='It goes on') as late:
        call(answering(refusal(503, 'SERVICE_UNAVAILABLE')).wait_for_generation, 'r', timeout=1)
    assert late.value.request_id == 'r'


def test_callbacks_of_async_client_may_be_async_and_those_of_client_not(answering: Any, call: Caller) -> None:
    told: list[int] = []

    async def tell(progress: image_generation.Progress) -> None:
        await asyncio.sleep(0)
        told.append(progress.step)

    events = stream(('progress', {'step': 1, 'steps': 2}), ('completed', generation))
    client = answering(events)
    if call.portal is None:
        with pytest.raises(RuntimeError, match='must be a plain function'):
            call(client.generate, identity_id='i', prompt='p', on_progress=tell)
        return
    call(client.generate, identity_id='i', prompt='p', on_progress=tell)
    assert told == [1]


def test_an_exception_of_a_callback_is_the_callers_and_is_not_retried(answering: Any, call: Caller) -> None:
    def tell(_: object) -> None:
        raise OSError('the disk is full')

    with pytest.raises(OSError, match='the disk is full'):
        call(
            answering(stream(('progress', {'step': 1, 'steps': 2}))).generate,
            identity_id='i',
            prompt='p',
            on_progress=tell,
        )


def test_trio_is_served_too() -> None:
    async def main() -> str:
        transport = httpx2.MockTransport(lambda _: done())
        async with (
            httpx2.AsyncClient(transport=transport) as inner,
            AsyncClient('k', 'https://images.example/api/v1', http_client=inner) as client,
        ):
            return (await client.generate(identity_id='i', prompt='p')).request_id

    assert anyio.run(main, backend='trio') == 'r'


def test_misspelt_arguments_are_refused_before_anything_is_sent(answering: Any, call: Caller) -> None:
    with pytest.raises(TypeError, match=r"^generate\(\) got an unexpected keyword argument 'stpes'$"):
        call(answering().generate, identity_id='i', prompt='p', stpes=1)
    with pytest.raises(ValueError, match='JSON'):
        call(answering().generate, identity_id='i', prompt='p', guidance_scale=float('nan'))
    with pytest.raises(ValueError, match='requestId is missing'):
        call(answering().get_generation, '..')


@pytest.mark.parametrize('key', ['', 'svc live', 'svc_live_é', 'svc\n'])
def test_a_key_that_cannot_be_sent_is_refused_and_never_shown(key: str) -> None:
    with pytest.raises(ValueError, match='The API key is missing') as error:
        Client(key, 'https://images.example/api/v1')
    assert key == '' or key not in str(error.value)


def test_key_and_address_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('IMAGE_API_KEY', 'svc_live_environment')
    with pytest.raises(ValueError, match='IMAGE_BASE_URL'):
        Client()
    monkeypatch.setenv('IMAGE_BASE_URL', 'https://images.example/api/v1')
    with Client() as client:
        assert 'svc_live' not in repr(vars(vars(client)['_requester']))


def test_nothing_private_is_in_what_python_prints(answering: Any, call: Caller) -> None:
    image = paint(answering(done()), call)
    assert 'storage.example' not in repr(image)
    assert "request_id='r'" in repr(image)
    assert image.model_dump(mode='json')['outputs'] == ['https://storage.example/0']


def test_both_clients_have_the_same_calls_and_arguments() -> None:
    def calls(kind: type) -> dict[str, list[str]]:
        public = {name: value for name, value in vars(kind).items() if not name.startswith('_')}
        return {name: list(inspect.signature(value).parameters) for name, value in public.items()}

    assert calls(Client) == calls(AsyncClient)
    assert calls(image_generation.PendingGeneration) == calls(image_generation.AsyncPendingGeneration)


def test_every_code_of_the_documentation_has_its_exception() -> None:
    page = (repository / 'docs/errors.md').read_text()
    codes = [line[3:] for line in page.splitlines() if line.startswith('## ') and line[3:].isupper()]
    assert sorted(classes) == sorted(codes)
    for code, kind in classes.items():
        assert kind is getattr(image_generation, ''.join(word.capitalize() for word in code.split('_')))
    assert {RateLimited, GenerationFailed} <= set(classes.values())


@given(st.integers(1, 10_000), st.none() | st.integers(0, 100_000), st.floats(0, 1))
def test_a_wait_is_never_shorter_than_asked_for_nor_longer_than_a_minute(
    failures: int, asked: int | None, chance: float
) -> None:
    wait = retry_delay_seconds(failures, asked, chance)
    assert (wait is None) == (asked is not None and asked > 60)
    if wait is not None:
        assert max(1, asked or 0) <= wait <= 60


lines = st.sampled_from(['', 'data: 1', 'data:é\u2028', 'data', 'event: b', ': comment', 'id: 7'])
line_ends = st.sampled_from(['\r\n', '\n', '\r'])


@given(st.lists(st.tuples(lines, line_ends), max_size=12), st.lists(st.integers(1, 5), max_size=40))
def test_events_are_the_same_wherever_chunks_end(pairs: list[tuple[str, str]], sizes: list[int]) -> None:
    text = ''.join(line + end for line, end in pairs)
    content = f'\ufeffevent: a\ndata: 1\n\n{text}'.encode()

    async def chunks(lengths: list[int]) -> AsyncIterator[bytes]:
        rest = content
        for length in lengths:
            yield rest[:length]
            rest = rest[length:]
        yield rest

    async def read(lengths: list[int]) -> list[StreamEvent]:
        return [event async for event in read_events(chunks(lengths))]

    whole = _io.run(read([]))
    assert whole == _io.run(read(sizes))
    assert whole == _io.run(read([1] * len(content)))
    assert whole[0] == StreamEvent('a', '1')


@given(st.permutations(['prompt', 'identity_id', 'seed', 'width']))
def test_a_body_is_the_same_in_whatever_order_its_parameters_are_named(names: list[str]) -> None:
    values: dict[str, Any] = {'prompt': 'p', 'identity_id': 'i', 'seed': 0, 'width': 512}
    expected = b'{"identityId":"i","prompt":"p","seed":0,"width":512}'
    assert body_of('generate', {name: values[name] for name in names}) == expected
