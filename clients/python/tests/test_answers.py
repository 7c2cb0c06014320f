"""What becomes of answers and errors: each test that calls is of Client and of AsyncClient."""

from __future__ import annotations

import asyncio
import copy
import json
import pickle
import ssl
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

import image_generation as package
from image_generation import ConfigurationError, ImageGenerationError, errors, models
from image_generation._answer import Answer

from .answers import done, generation, paint, refusal, stored, stream
from .world import Caller, repository

oldest: dict[str, str] = json.loads((repository / 'clients/oldest-answers.json').read_text())
one = json.loads(stored('COMPLETED', outputs=['https://s/0']).content)
copies = pytest.mark.parametrize(
    'copied', [lambda value: pickle.loads(pickle.dumps(value)), copy.copy, copy.deepcopy]
)


def refused_certificate(why: str) -> httpx2.ConnectError:
    error, error.__cause__ = httpx2.ConnectError('x'), ssl.SSLCertVerificationError(1, 'x')
    error.__cause__.verify_message = why
    return error


def test_a_service_that_is_older_gives_fewer_members(answering: Any, call: Caller) -> None:
    def old(kind: str, answer: dict[str, Any] = {}) -> dict[str, Any]:  # noqa: B006 — it is not written to
        return {name: answer.get(name, 'up') for name in oldest[kind].split()}

    listed = {'identities': [{**old('Identity'), 'productPhotos': False, 'available': True}]}
    page = {**old('StoredGenerationList', {'generations': [], 'nextCursor': None})}
    answers = (old('Generation', generation), old('StoredGeneration', one), page, listed, old('Health'))
    client = answering(*(httpx2.Response(200, json=answer) for answer in answers))
    assert paint(client, call).request_id == 'r'
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


@copies
def test_answers_survive_copies(answering: Any, call: Caller, copied: Any) -> None:
    page = httpx2.Response(200, json={'generations': [one], 'nextCursor': None})
    running = refusal(409, 'IDEMPOTENCY_IN_PROGRESS', **{'x-request-id': 'r'})
    client = answering(done(), stored('QUEUED'), page, running, *[httpx2.Response(200, content=b'image')] * 2)
    answers = [paint(client, call), call(client.get_generation, 'r'), call(client.list_generations)]
    for answer in answers:
        assert copied(answer).model_dump() == answer.model_dump()
    assert copied(package.Disconnected('r')) == package.Disconnected('r')
    request = copied(call(client.respond_async, identity_id='i', prompt='p'))
    assert (request.request_id, request.credits_reserved) == ('r', None)
    image, listed = copied(answers[0]), copied(answers[2]).generations[0].images[0]
    assert listed.link == 'https://s/0'
    if copied in (copy.copy, copy.deepcopy):
        assert [call(image.bytes), call(listed.bytes)] == [b'image', b'image']
        return
    assert b'svc_live' not in pickle.dumps(answers)
    for work in (
        image.bytes,
        listed.bytes,
        copied(image).bytes,
        request.wait,
        lambda: copied(client).health(),
    ):
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
    answering: Any, call: Caller, waits: list[float], tmp_path: Path
) -> None:
    accepted = stream(('accepted', {'requestId': 'r', 'creditsReserved': 1}))
    another = refusal(401, 'INVALID_API_KEY', **{'x-request-id': 'another'})
    gone = httpx2.Response(403, content=b'<Code>AccessDenied</Code>')
    lost = paint(answering(done(), gone, httpx2.Response(200, json=one), gone), call)
    kept = paint(answering(done(), httpx2.Response(200, content=b'image')), call)
    untrusted = answering(refused_certificate('expired'))
    failing: list[tuple[type[Exception], Any]] = [
        (package.InvalidApiKey, lambda: paint(answering(accepted, another), call)),
        (package.DownloadError, lambda: call(lost.bytes)),
        (FileNotFoundError, lambda: call(kept.save, tmp_path / 'no' / 'where.png')),
        (ConfigurationError, lambda: call(untrusted.wait_for_generation, 'r')),
    ]
    for kind, work in failing:
        with pytest.raises(kind) as error:
            work()
        assert vars(error.value)['request_id'] == 'r'


def test_the_storage_is_given_up_after_a_minute(answering: Any, call: Caller, waits: list[float]) -> None:
    for fault in (httpx2.ConnectError('away'), httpx2.ReadTimeout('late'), httpx2.Response(503)):
        waits.clear()
        with pytest.raises(ImageGenerationError):
            call(paint(answering(done(), *[fault] * 9), call).bytes)
        # The next would be a minute.
        assert len(waits) == 6


def test_a_certificate_that_is_refused_is_told_at_once(
    answering: Any, call: Caller, waits: list[float]
) -> None:
    for why in ('self-signed certificate', 'certificate has expired', 'Hostname mismatch'):
        with pytest.raises(ConfigurationError, match=f'certificate of the service was refused: {why}'):
            call(answering(refused_certificate(why)).health)
    assert waits == []


not_finite: dict[str, dict[str, Any]] = {
    'seed': {'seed': float('inf')},
    'width': {'seed': 1, 'width': float('-inf')},
    r'reference_images\[1\].url': {'reference_images': [{'upload_id': 'u'}, {'url': float('nan')}]},
}


@pytest.mark.parametrize('name', not_finite)
def test_a_number_that_is_not_finite_is_refused_by_its_name(name: str, answering: Any, call: Caller) -> None:
    client, wrong = answering(), not_finite[name]
    for function in (client.generate, client.dry_run, client.respond_async):
        with pytest.raises(ValueError, match=f'^{name} must be a finite number'):
            call(function, identity_id='i', prompt='p', **wrong)
    with pytest.raises(ValueError, match=f'^a.{name} must be'):
        call(client.request, 'POST /generate', body={'a': wrong})
    with pytest.raises(ValueError, match=r'^limit must be'):
        call(client.list_generations, limit=float('nan'))
    with pytest.raises(ValueError, match=r'^timeout must be'):
        answering(timeout=float('inf'))


day = 'Sun, 06 Nov 1994 08:49'
dates: list[tuple[str, str, int | None]] = [
    (f'{day}:57 GMT', f'{day}:37 GMT', 20),
    ('Sunday, 06-Nov-94 08:50:37 GMT', 'Sun Nov  6 08:49:37 1994', 60),
    (f'{day}:37 GMT', '', 0),
    ('7', f'{day}:37 GMT', 7),
    *((wrong, '', None) for wrong in ('Sun, 06 Nov 99999 08:49:37 GMT', '-1', '1e9', 'soon')),
]


@pytest.mark.parametrize(('asked', 'date', 'seconds'), dates)
def test_retry_after_is_seconds_or_a_date(
    asked: str, date: str, seconds: int | None, answering: Any, call: Caller, waits: list[float]
) -> None:
    busy, queued = refusal(429, 'RATE_LIMITED'), stored('QUEUED')
    for answer in (busy, queued):
        answer.headers.update({'retry-after': asked, 'date': date})
    with pytest.raises(package.RateLimited) as error:
        call(answering(busy, max_retries=0).health)
    assert error.value.retry_after_seconds == seconds
    call(answering(queued, stored('COMPLETED')).wait_for_generation, 'r')
    assert waits[-1] >= (2 if seconds is None else seconds)


def test_a_client_of_one_event_loop_says_so_in_another() -> None:
    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, json={'identities': []}))
    inner = httpx2.AsyncClient(transport=transport)
    client = package.AsyncClient('k', 'https://images.example/api/v1', http_client=inner)
    assert asyncio.run(client.list_identities()) == []
    for backend in ('asyncio', 'asyncio', 'trio'):
        with pytest.raises(ImageGenerationError, match='works in one event loop'):
            anyio.run(client.list_identities, backend=backend)
    owning = package.AsyncClient('k', 'http://127.0.0.1:9/api/v1', max_retries=0)
    with pytest.raises(package.ConnectionError):
        asyncio.run(owning.list_identities())
    with pytest.raises(ImageGenerationError, match='works in one event loop'):
        asyncio.run(owning.close())
