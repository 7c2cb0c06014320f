"""What becomes of arguments, answers and errors: each test that calls is of Client and of AsyncClient."""

from __future__ import annotations

import asyncio
import builtins
import copy
import inspect
import json
import pickle
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

import image_generation as package
from image_generation import (
    AsyncClient,
    Client,
    ConfigurationError,
    ImageGenerationError,
    _io,
    errors,
    models,
)
from image_generation._answer import Answer
from image_generation._event_stream import StreamEvent, read_events
from image_generation._generate import body_of
from image_generation._retry import classes

from .answers import accepted, done, generate, generation, refusal, stored, stream
from .fixture import Caller, repository

oldest: dict[str, str] = json.loads((repository / 'clients/oldest-answers.json').read_text())
page = httpx2.Response(200, json={'generations': [stored('COMPLETED').json()], 'nextCursor': None})
copies = pytest.mark.parametrize(
    'copied', [lambda value: pickle.loads(pickle.dumps(value)), copy.copy, copy.deepcopy]
)


def refused_certificate(why: str) -> httpx2.ConnectError:
    error, error.__cause__ = httpx2.ConnectError('x'), ssl.SSLCertVerificationError(1, 'x')
    error.__cause__.verify_message = why
    return error


def test_a_service_that_is_older_gives_fewer_members(answering: Any, call: Caller) -> None:
    health, identity = (dict.fromkeys(oldest[kind].split(), 'up') for kind in ('Health', 'Identity'))
    listed = {'identities': [{**identity, 'productPhotos': False, 'available': True}]}
    answers = (httpx2.Response(200, json=answer) for answer in (listed, health))
    client = answering(done(), stored('COMPLETED'), page, *answers)
    assert generate(client, call).request_id == 'r'
    assert call(client.get_generation, 'r').output_format == 'png'
    assert call(client.list_generations).searched_back_to is None
    assert call(client.list_identities)[0].samples == []
    assert call(client.health).model is None
    kinds: dict[str, Any] = {**vars(models)}
    for name in oldest.keys() & kinds:
        needed = {one.alias or key for key, one in kinds[name].model_fields.items() if one.is_required()}
        assert needed == set(oldest[name].split())
    all_kinds = {name for name, kind in kinds.items() if isinstance(kind, type) and issubclass(kind, Answer)}
    assert all_kinds - oldest.keys() == {'Answer', 'Started'}


def test_what_a_newer_service_adds_is_read_or_skipped(answering: Any, call: Caller) -> None:
    health = {
        'status': 'dreaming',
        'api': 'up',
        'inference': 'up',
        'model': 'new',
        'modelReadyInSeconds': None,
    }
    assert call(answering(httpx2.Response(200, json=health)).health).model == 'new'
    progress = ('progress', {'step': 1, 'steps': 2, 'new': True})
    newer = stream(('news', {'a': 1}), progress, ('completed', {**generation, 'watermark': 'new'}))
    assert generate(answering(newer), call).request_id == 'r'
    with pytest.raises(package.ApiError) as later:
        generate(answering(refusal(418, 'TEAPOT')), call)
    assert (type(later.value), later.value.code) == (package.ApiError, 'TEAPOT')


@copies
def test_answers_survive_copies(answering: Any, call: Caller, copied: Any) -> None:
    running = refusal(409, 'IDEMPOTENCY_IN_PROGRESS', **{'x-request-id': 'r'})
    client = answering(done(), stored('QUEUED'), page, running, *[httpx2.Response(200, content=b'image')] * 2)
    answers = [generate(client, call), call(client.get_generation, 'r'), call(client.list_generations)]
    for answer in answers:
        assert copied(answer).model_dump() == answer.model_dump()
    assert copied(package.Disconnected('r')) == package.Disconnected('r')
    request = copied(call(client.respond_async, identity_id='i', prompt='p'))
    assert (request.request_id, request.credits_reserved) == ('r', None)
    image, listed = copied(answers[0]), copied(answers[2]).generations[0].images[0]
    assert listed.link == image.images[0].link
    if copied in (copy.copy, copy.deepcopy):
        assert [call(image.bytes), call(listed.bytes)] == [b'image', b'image']
        return
    assert b'svc_live' not in pickle.dumps(answers)
    for work in (image.bytes, listed.bytes, request.wait, lambda: copied(client).health()):
        with pytest.raises(ImageGenerationError, match='has no client'):
            call(work)


@copies
@pytest.mark.parametrize('name', [name for name in vars(errors) if name[0].isupper()])
def test_errors_survive_copies(name: str, copied: Any) -> None:
    kind: Any = getattr(errors, name)
    has_status = issubclass(kind, errors.ApiError | errors.StorageError)
    error = kind('Sentence.', **({'status': 500, 'code': 'C'} if has_status else {}))
    vars(error)['request_id'] = 'r'
    again = copied(error)
    assert (type(again), str(again), vars(again), again.args) == (kind, 'Sentence.', vars(error), error.args)


def test_whatever_fails_after_acceptance_names_the_request(
    answering: Any, call: Caller, tmp_path: Path
) -> None:
    def fail(_: object) -> None:
        raise OSError('the disk is full')

    another = refusal(401, 'INVALID_API_KEY', **{'x-request-id': 'another'})
    gone = httpx2.Response(403, content=b'<Code>AccessDenied</Code>')
    lost = generate(answering(done(), gone, stored('COMPLETED'), gone), call)
    kept = generate(answering(done(), httpx2.Response(200, content=b'image')), call)
    untrusted, begun = answering(refused_certificate('expired')), answering(stream(accepted))
    failing: list[tuple[type[Exception], Any]] = [
        (package.InvalidApiKey, lambda: generate(answering(stream(accepted), another), call)),
        (package.DownloadError, lambda: call(lost.bytes)),
        (FileNotFoundError, lambda: call(kept.save, tmp_path / 'no' / 'where.png')),
        (ConfigurationError, lambda: call(untrusted.wait_for_generation, 'r')),
        # The caller's own error is not retried.
        (OSError, lambda: generate(begun, call, on_accepted=fail)),
    ]
    for kind, work in failing:
        with pytest.raises(kind) as error:
            work()
        assert vars(error.value)['request_id'] == 'r'


def test_the_storage_is_given_up_after_a_minute(answering: Any, call: Caller, waits: list[float]) -> None:
    for fault in (httpx2.ConnectError('away'), httpx2.ReadTimeout('late'), httpx2.Response(503)):
        waits.clear()
        with pytest.raises(ImageGenerationError):
            call(generate(answering(done(), *[fault] * 9), call).bytes)
        # The next would be a minute.
        assert len(waits) == 6


damaged = httpx2.Response(
    200, content=b'event: progress\ndata: {"st\n\n', headers={'content-type': 'text/event-stream'}
)
faults: list[tuple[Any, type[Exception], type[Exception], str]] = [
    (httpx2.ReadTimeout('late'), package.TimeoutError, TimeoutError, r'^No answer came within 3 seconds\.$'),
    (httpx2.ConnectError('away'), package.ConnectionError, builtins.ConnectionError, "can't be reached"),
    (damaged, package.ConnectionError, OSError, 'malformed'),
    (httpx2.Response(404, text='<html>'), package.UnexpectedAnswer, package.ApiError, 'Check the base URL'),
    (httpx2.Response(200, json=[1]), package.UnexpectedAnswer, package.ApiError, 'Check the base URL'),
    *(
        (refused_certificate(why), ConfigurationError, ValueError, f'of the service was refused: {why}')
        for why in ('self-signed certificate', 'certificate has expired', 'Hostname mismatch')
    ),
]


@pytest.mark.parametrize(('fault', 'kind', 'base', 'sentence'), faults)
def test_a_fault_is_an_error_of_this_package_and_of_python(
    fault: Any, kind: Any, base: Any, sentence: str, answering: Any, call: Caller
) -> None:
    # What no other try would change is raised at once.
    options = {} if kind is ConfigurationError else {'max_retries': 0}
    with pytest.raises(kind, match=sentence) as error:
        generate(answering(fault, timeout=3, **options), call)
    assert isinstance(error.value, base)
    assert isinstance(error.value, ImageGenerationError)


def test_callbacks_of_async_client_may_be_async_and_those_of_client_not(answering: Any, call: Caller) -> None:
    steps: list[int] = []

    async def note(progress: package.Progress) -> None:
        await asyncio.sleep(0)
        steps.append(progress.step)

    client = answering(stream(('progress', {'step': 1, 'steps': 2}), ('completed', generation)))
    if call.portal is None:
        with pytest.raises(RuntimeError, match='must be a plain function'):
            generate(client, call, on_progress=note)
        return
    generate(client, call, on_progress=note)
    assert steps == [1]


def test_trio_is_served_too() -> None:
    async def main() -> str:
        transport = httpx2.MockTransport(lambda _: done())
        async with (
            httpx2.AsyncClient(transport=transport) as inner,
            AsyncClient('k', 'https://images.example/api/v1', http_client=inner) as client,
        ):
            return (await client.generate(identity_id='i', prompt='p')).request_id

    assert anyio.run(main, backend='trio') == 'r'


def test_a_client_of_one_event_loop_says_so_in_another() -> None:
    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, json={'identities': []}))
    inner = httpx2.AsyncClient(transport=transport)
    client = AsyncClient('k', 'https://images.example/api/v1', http_client=inner)
    assert asyncio.run(client.list_identities()) == []
    for backend in ('asyncio', 'trio'):
        with pytest.raises(ImageGenerationError, match='works in one event loop'):
            anyio.run(client.list_identities, backend=backend)
    owning = AsyncClient('k', 'http://127.0.0.1:9/api/v1', max_retries=0)
    with pytest.raises(package.ConnectionError):
        asyncio.run(owning.list_identities())
    with pytest.raises(ImageGenerationError, match='works in one event loop'):
        asyncio.run(owning.close())


asked = {'identity_id': 'i', 'prompt': 'p'}
infinite = {**asked, 'seed': float('inf')}
references = {**asked, 'reference_images': [{'upload_id': 'u'}, {'url': float('nan')}]}
mistakes: list[tuple[type[Exception], str, Any]] = [
    (TypeError, r"generate\(\) got an unexpected keyword argument 'stpes'$", lambda c: c.generate(stpes=1)),
    (ValueError, 'idempotency_key must be 1 to 255', lambda c: c.generate(**asked, idempotency_key='')),
    (ValueError, 'seed must be a finite number', lambda c: c.generate(**infinite)),
    (ValueError, r'reference_images\[1\].url must be', lambda c: c.generate(**references)),
    (ValueError, 'seed must be', lambda c: c.dry_run(**infinite)),
    (ValueError, 'seed must be', lambda c: c.respond_async(**infinite)),
    (ValueError, 'a.seed must be', lambda c: c.request('POST /generate', body={'a': infinite})),
    (ValueError, 'limit must be', lambda c: c.list_generations(limit=float('nan'))),
    (ValueError, 'requestId is missing', lambda c: c.get_generation('..')),
    (ValueError, 'timeout must be', lambda c: type(c)('k', 'https://i.example', timeout=float('inf'))),
    (ValueError, 'timeout is nan', lambda c: c.wait_for_generation('r', timeout=float('nan'))),
]


@pytest.mark.parametrize(('kind', 'sentence', 'work'), mistakes)
def test_a_mistake_is_named_before_anything_is_sent(
    kind: type[Exception], sentence: str, work: Any, answering: Any, call: Caller
) -> None:
    with pytest.raises(kind, match=f'^{sentence}'):
        call(work, answering())


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
    image = generate(answering(done()), call)
    assert 's3.test' not in repr(image)
    assert "request_id='r'" in repr(image)
    assert image.model_dump(mode='json')['outputs'] == generation['outputs']


def test_both_clients_have_the_same_calls_and_arguments() -> None:
    def calls(kind: type) -> dict[str, list[str]]:
        public = {name: value for name, value in vars(kind).items() if not name.startswith('_')}
        return {name: list(inspect.signature(value).parameters) for name, value in public.items()}

    assert calls(Client) == calls(AsyncClient)
    assert calls(package.PendingGeneration) == calls(package.AsyncPendingGeneration)


def test_every_code_of_the_documentation_has_its_exception() -> None:
    page = (repository / 'docs/errors.md').read_text()
    codes = [line[3:] for line in page.splitlines() if line.startswith('## ') and line[3:].isupper()]
    # This one is for GET on MCP, which no client of this kind sends.
    codes.remove('METHOD_NOT_ALLOWED')
    assert sorted(classes) == sorted(codes)
    for code, kind in classes.items():
        assert kind is getattr(package, ''.join(word.capitalize() for word in code.split('_')))


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
