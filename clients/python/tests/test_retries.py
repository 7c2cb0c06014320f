"""What is tried again, without a service: each test that calls is of Client and of AsyncClient."""

from __future__ import annotations

from functools import partial
from typing import Any

import httpx2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from image_generation import (
    ApiError,
    Cancelled,
    ConnectionError,
    ContentRefused,
    CreditLimitExceeded,
    InvalidParameters,
    RateLimited,
    RequestInProgress,
    RequestNotFound,
    ServiceUnavailable,
    Timeout,
    TimeoutError,
    _generate,
)
from image_generation._retry import retry_delay_seconds

from .answers import accepted, done, generate, refusal, stored, stream
from .fixture import Caller

cut = httpx2.ReadError('cut')
gone = refusal(404, 'REQUEST_NOT_FOUND')
busy = refusal(503, 'SERVICE_UNAVAILABLE')
limited = refusal(429, 'RATE_LIMITED', **{'retry-after': '30'})
spent = refusal(429, 'CREDIT_LIMIT_EXCEEDED', **{'retry-after': '1000000'})
broken = stream(accepted)
failed = stream(accepted, ('failed', {'error': 'E.', 'code': 'GENERATION_FAILED', 'status': 500}))
full = stored('FAILED', errorCode='SERVICE_UNAVAILABLE', errorMessage='Full.')
empty = httpx2.Response(200, content=b'', headers={'content-type': 'text/event-stream'})


def expect_waits(waits: list[float], *least: int) -> None:
    for wait, one in zip(waits, least, strict=True):
        assert one <= wait <= 1.25 * one


@pytest.mark.parametrize(
    ('answers', 'least'),
    [
        pytest.param((busy, busy, busy, limited), (1, 2, 4, 30), id='busy, as late as the service asks for'),
        pytest.param((failed, gone), (0, 1), id='failed on the line and was not stored'),
        pytest.param((broken, full), (0, 1), id='broken, and the stored request found no room'),
        pytest.param((empty,), (1,), id='a stream without a result and without an id'),
    ],
)
def test_a_generation_is_begun_again(
    answers: tuple[Any, ...], least: tuple[int, ...], answering: Any, call: Caller, waits: list[float]
) -> None:
    assert generate(answering(*answers, done()), call).credits_charged == 1
    expect_waits(waits, *least)


@pytest.mark.parametrize(
    ('answers', 'options', 'error', 'wait_count'),
    [
        pytest.param((spent,), {}, CreditLimitExceeded, 0, id='a wait of weeks'),
        pytest.param((busy,) * 3, {'max_retries': 2}, ServiceUnavailable, 2, id='all tries used'),
    ],
)
def test_a_call_gives_up_with_the_last_error(
    answers: Any,
    options: Any,
    error: type[ApiError],
    wait_count: int,
    answering: Any,
    call: Caller,
    waits: Any,
) -> None:
    with pytest.raises(error):
        generate(answering(*answers, **options), call)
    assert len(waits) == wait_count


def test_an_upload_form_is_asked_for_again_only_where_the_service_did_nothing(
    answering: Any, call: Caller, waits: list[float]
) -> None:
    for fault, error in ((refusal(500, 'INTERNAL_ERROR'), ApiError), (cut, ConnectionError)):
        with pytest.raises(error):
            call(answering(fault).create_upload)
        assert call(answering(fault, httpx2.Response(200, json={'identities': []})).list_identities) == []
    upload = {'uploadId': 'u', 'url': 'https://s', 'fields': {}, 'maxBytes': 1}
    form = httpx2.Response(201, json={**upload, 'expiresAt': '2026-12-12T08:00:00Z'})
    assert call(answering(limited, busy, form).create_upload).upload_id == 'u'
    expect_waits(waits, 1, 1, 30, 2)


def test_every_try_has_the_same_key_and_body(answering: Any, call: Caller) -> None:
    sent: list[httpx2.Request] = []
    fault = refusal(500, 'INTERNAL_ERROR')
    client = answering(fault, fault, done(), done(), done(), done(), sent=sent)
    call(client.generate, prompt='p', identity_id='i', reference_images=[{'upload_id': 'u'}], seed=None)
    generate(client, call)
    generate(client, call, idempotency_key='order-1')
    order: dict[str, Any] = {'identity_id': 'i', 'prompt': 'p', 'idempotency_key': 'order-1'}
    assert call(client.respond_async, **order).credits_reserved == 1
    [first, *others] = [(one.headers['idempotency-key'], one.content) for one in sent]
    assert first[1] == b'{"identityId":"i","prompt":"p","referenceImages":[{"uploadId":"u"}]}'
    assert [one == first for one in others] == [True, True, False, False, False]
    assert others[2][0] != first[0]
    assert others[3] == others[4]
    assert others[3][0] == 'order-1'


def test_a_deletion_is_done_when_the_repeat_of_a_lost_one_finds_nothing(answering: Any, call: Caller) -> None:
    for fault in (cut, busy):
        assert call(answering(fault, gone).delete_generation, 'r') is None
    # A repeated cancellation finds the request cancelled.
    assert call(answering(cut, busy, stored('FAILED')).cancel, 'r').status == 'FAILED'
    for answers, error in (
        ((gone,), RequestNotFound),
        ((limited, gone), RequestNotFound),
        ((refusal(409, 'REQUEST_IN_PROGRESS'),), RequestInProgress),
    ):
        with pytest.raises(error):
            call(answering(*answers).delete_generation, 'r')


def test_a_generation_that_failed_is_not_begun_again(answering: Any, call: Caller) -> None:
    for status, error, code in (
        (504, Timeout, 'TIMEOUT'),
        (400, InvalidParameters, 'INVALID_PARAMETERS'),
        (400, ContentRefused, 'CONTENT_REFUSED'),
    ):
        ended = stored('FAILED', errorCode=code, errorMessage='So.')
        with pytest.raises(error, match=r'^So\. Nothing was charged\.$') as raised:
            generate(answering(broken, stored('PROCESSING'), ended), call)
        assert (raised.value.status, raised.value.request_id) == (status, 'r')


def test_an_asynchronous_request_is_waited_for_on_the_line_and_then_polled(
    answering: Any, call: Caller, waits: list[float]
) -> None:
    sent: list[httpx2.Request] = []
    accepted = httpx2.Response(202, json={'requestId': 'r', 'status': 'QUEUED', 'creditsReserved': 2})
    answers = (cut, done(), accepted, stored('PROCESSING'), stored('COMPLETED'))
    client = answering(*answers, sent=sent, timeout=5)
    reserved: list[int] = []
    assert generate(client, call, wait=20).usage is not None
    on_accepted: Any = lambda accepted: reserved.append(accepted.credits_reserved)  # noqa: E731
    more = {'on_accepted': on_accepted, 'on_disconnected': lambda: reserved.append(0)}
    ended = generate(client, call, wait=20, **more)
    assert (ended.usage, reserved) == (None, [2])
    first, again, *_ = sent
    assert (first.headers['prefer'], first.headers['accept']) == ('wait=20', 'application/json')
    assert first.extensions['timeout']['read'] == 25
    assert first.headers['idempotency-key'] == again.headers['idempotency-key']
    for wrong in (0, 61, 2.5):
        with pytest.raises(ValueError, match='from 1 to 60'):
            generate(client, call, wait=wrong)
    cancelled = refusal(400, 'CANCELLED')
    with pytest.raises(Cancelled):
        generate(answering(cancelled), call, wait=60)


def test_a_generation_that_goes_on_for_too_long_is_named_and_not_begun_again(
    answering: Any, call: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_generate, '_poll_for_seconds', 1.0)
    client = answering(broken, stored('PROCESSING'), busy)
    for work in (partial(generate, client, call), partial(call, client.wait_for_generation, 'r', timeout=1)):
        with pytest.raises(TimeoutError, match='It goes on') as late:
            work()
        assert late.value.request_id == 'r'


def test_looks_as_often_as_the_service_asks_for(answering: Any, call: Caller, waits: list[float]) -> None:
    asking, eager = stored('QUEUED'), stored('QUEUED')
    asking.headers['retry-after'], eager.headers['retry-after'] = '7', '0'
    answers = (asking, eager, cut, limited, stored('QUEUED'), stored('COMPLETED'))
    assert call(answering(*answers).wait_for_generation, 'r').usage is None
    expect_waits(waits, 0, 7, 2, 4, 30, 2)


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
    asked: str, date: str, seconds: int | None, answering: Any, call: Caller
) -> None:
    refused = refusal(429, 'RATE_LIMITED', **{'retry-after': asked, 'date': date})
    with pytest.raises(RateLimited) as error:
        call(answering(refused, max_retries=0).health)
    assert error.value.retry_after_seconds == seconds


@given(st.integers(1, 10_000), st.none() | st.integers(0, 100_000), st.floats(0, 1))
@example(1, 60, 0.0)
def test_a_wait_is_never_shorter_than_asked_for_nor_longer_than_a_minute(
    failures: int, asked: int | None, chance: float
) -> None:
    wait = retry_delay_seconds(failures, asked, chance)
    assert (wait is None) == (asked is not None and asked > 60)
    if wait is not None:
        assert max(1, asked or 0) <= wait <= 60
