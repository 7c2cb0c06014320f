"""The rules, without a service: each test that calls is of Client and of AsyncClient."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator
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
    ConfigurationError,
    ConnectionError,
    GenerationFailed,
    ImageGenerationError,
    RateLimited,
    TimeoutError,
    UnexpectedAnswer,
    _io,
)
from image_generation._event_stream import StreamEvent, read_events
from image_generation._generate import body_of
from image_generation._retry import classes

from .answers import done, generation, paint, refusal, stream
from .world import Caller, repository


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
    with pytest.raises(ValueError, match='idempotency_key must be 1 to 255'):
        call(answering().generate, identity_id='i', prompt='p', idempotency_key='')
    with pytest.raises(ValueError, match='requestId is missing'):
        call(answering().get_generation, '..')


@pytest.mark.parametrize('key', ['', 'svc live', 'svc_live_é', 'svc\n'])
def test_a_key_that_cannot_be_sent_is_refused_and_never_shown(key: str) -> None:
    with pytest.raises(ConfigurationError, match=r'The API key.*IMAGE_API_KEY') as error:
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
    # This one is for GET on MCP, which no client of this kind sends.
    codes.remove('METHOD_NOT_ALLOWED')
    assert sorted(classes) == sorted(codes)
    for code, kind in classes.items():
        assert kind is getattr(image_generation, ''.join(word.capitalize() for word in code.split('_')))
    assert {RateLimited, GenerationFailed} <= set(classes.values())


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
