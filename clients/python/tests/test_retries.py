"""What is tried again, without a service: each test that calls is of Client and of AsyncClient."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from image_generation import (
    ApiError,
    ConnectionError,
    CreditLimitExceeded,
    InvalidParameters,
    RequestInProgress,
    RequestNotFound,
    ServiceUnavailable,
    Timeout,
    TimeoutError,
    _generate,
)
from image_generation._retry import retry_delay_seconds

from .answers import done, paint, refusal, stored, stream
from .world import Caller


def broken() -> httpx2.Response:
    return stream(('accepted', {'requestId': 'r', 'creditsReserved': 1}))


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


def test_only_a_generation_that_found_no_room_is_begun_again(
    answering: Any, call: Caller, waits: list[float]
) -> None:
    full = stored('FAILED', errorCode='SERVICE_UNAVAILABLE', errorMessage='Full.')
    assert paint(answering(broken(), full, done()), call).request_id == 'r'
    for status, error, code in ((504, Timeout, 'TIMEOUT'), (400, InvalidParameters, 'INVALID_PARAMETERS')):
        ended = stored('FAILED', errorCode=code, errorMessage='So.')
        with pytest.raises(error, match=r'^So\. Nothing was charged\.$') as failed:
            paint(answering(broken(), stored('PROCESSING'), ended), call)
        assert (failed.value.status, failed.value.request_id) == (status, 'r')


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


@given(st.integers(1, 10_000), st.none() | st.integers(0, 100_000), st.floats(0, 1))
def test_a_wait_is_never_shorter_than_asked_for_nor_longer_than_a_minute(
    failures: int, asked: int | None, chance: float
) -> None:
    wait = retry_delay_seconds(failures, asked, chance)
    assert (wait is None) == (asked is not None and asked > 60)
    if wait is not None:
        assert max(1, asked or 0) <= wait <= 60
