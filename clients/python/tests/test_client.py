"""The clients against the running service: each test is of Client and of AsyncClient."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from image_generation import (
    Accepted,
    AsyncGenerationResult,
    Cancelled,
    ConfigurationError,
    CreditLimitExceeded,
    GenerationFailed,
    GenerationResult,
    IdentityUnavailable,
    InvalidParameters,
    Progress,
    RequestFinal,
    RequestNotFound,
    Started,
    UploadError,
)

from .fixture import Caller, Granted, Service, small

Body = Callable[..., dict[str, Any]]


@pytest.fixture
def body(service: Service) -> Body:
    return lambda identity, **more: {**small, 'identity_id': service.identities[identity], **more}


def test_generates_with_progress_as_it_happens_and_finds_it_again(
    client: Any, call: Caller, body: Body, tmp_path: Path
) -> None:
    events: list[str] = []
    image = call(
        client.generate,
        **body('harbor'),
        on_accepted=lambda accepted: events.append(f'accepted {accepted.credits_reserved}'),
        on_started=lambda: events.append('started'),
        on_progress=lambda progress: events.append(f'of {progress.steps}'),
    )
    assert events[:2] == ['accepted 1', 'started']
    assert set(events[2:]) == {'of 20'}
    assert (image.credits_charged, image.usage.credits_used, image.identity.name) == (1, 1, 'harbor')
    again = call(client.get_generation, image.request_id)
    assert (again.id, again.status, again.seed) == (image.request_id, 'COMPLETED', image.seed)
    path = call(again.save, tmp_path / 'image.png')
    assert path.read_bytes() == call(image.bytes)
    assert path.read_bytes().startswith(b'\x89PNG')
    call(client.delete_generation, image.request_id)
    with pytest.raises(RequestNotFound):
        call(client.get_generation, image.request_id)


def test_yields_what_happens_and_the_result_last(client: Any, call: Caller, body: Body) -> None:
    *events, image = call.all(client.generate_events(**body('aurora')))
    assert [type(event) for event in events[:2]] == [Accepted, Started]
    assert {type(event) for event in events[2:]} <= {Progress}
    assert isinstance(image, GenerationResult | AsyncGenerationResult)
    assert events[0].request_id == image.request_id


def test_lists_identities_and_stored_requests_and_prices_a_request_which_costs_nothing(
    client: Any, call: Caller, body: Body, service: Service, granted: Granted
) -> None:
    found = call(client.list_identities)
    assert service.identities['aurora'] in [identity.id for identity in found]
    detail = call(client.get_identity, 'aurora')
    assert (detail.id, [one.version for one in detail.versions if one.active]) == (
        service.identities['aurora'],
        [detail.version],
    )
    pinned = call(client.generate, **body('aurora', identity_version=detail.version))
    assert pinned.identity_version == detail.version
    call(client.delete_generation, pinned.request_id)
    assert call(client.health).status == 'ok'
    ids = [call(client.generate, **body('aurora')).request_id for _ in range(3)][::-1]
    page = call(client.list_generations, limit=1)
    page = call(client.list_generations, limit=1, cursor=page.next_cursor)
    assert [(one.id, len(one.images)) for one in page.generations] == [(ids[1], 1)]
    [newest, *others] = call.all(client.all_generations(limit=1))
    assert [(one.id, len(one.images)) for one in (newest, *others)] == [(one, 1) for one in ids]
    assert call.all(client.all_generations(status='FAILED')) == []
    since = {'created_after': newest.created_at, 'key_id': newest.key_id, 'search': newest.prompt.upper()}
    assert [one.id for one in call.all(client.all_generations(**since))] == ids[:1]
    assert call(client.request, 'GET /generate', query={'limit': 1})['generations'][0]['id'] == ids[0]
    priced = call(client.dry_run, **body('aurora', width=1088, height=1024))
    assert (priced.accepted, priced.credits, priced.usage.credits_charged) == (True, 2, 0)
    with pytest.raises(IdentityUnavailable):
        call(client.dry_run, **body('ember'))
    assert service.totals(granted) == (4, 4)


def test_uploads_the_files_among_reference_images_once(
    client: Any, call: Caller, body: Body, service: Service, tmp_path: Path
) -> None:
    photo, other = tmp_path / 'photo.png', tmp_path / 'other.png'
    for path in (photo, other):
        call(call(client.generate, **body('aurora')).save, path)
    upload_id = call(client.upload_reference, photo.read_bytes(), content_type='image/png')
    order = body('citrine', idempotency_key='order-1')
    service.seen()
    service.fates('is cut before', 'is cut at the head')
    for _ in range(2):
        with other.open('rb') as opened:
            references = [str(photo), photo, opened, {'upload_id': upload_id}]
            assert call(client.generate, **order, reference_images=references).reference_images_used == 4
    assert len([line for line in service.seen() if 'uploads' in line]) == 2
    whole, text = bytes(10 * 1024 * 1024 + 1), io.StringIO('text')
    (tmp_path / 'big.png').write_bytes(whole)
    for wrong, kind, sentence in (
        (whole, UploadError, 'The file is larger than 10 MiB'),
        (tmp_path / 'big.png', UploadError, 'big.png is larger'),
        (text, TypeError, 'binary mode'),
        ('no.png', FileNotFoundError, 'no.png'),
        (tmp_path, IsADirectoryError, tmp_path.name),
    ):
        with pytest.raises(kind, match=sentence):
            call(client.generate, **body('citrine', reference_images=[photo.read_bytes() + b'1', wrong]))
    with pytest.raises(TypeError, match='must be a list'):
        call(client.generate, **body('citrine', reference_images='photo.png'))
    assert service.seen() == []


def test_cancels_a_request_for_its_caller_too(
    client: Any, call: Caller, body: Body, service: Service, granted: Granted
) -> None:
    request = call(client.respond_async, **body('glacier'))
    assert call(request.cancel).error_code == 'CANCELLED'
    assert call(client.cancel, request.request_id).status == 'FAILED'
    with pytest.raises(Cancelled, match='Nothing was charged') as cancelled:
        call(request.wait)
    assert (cancelled.value.status, service.totals(granted)) == (400, (0, 0))
    done = call(client.generate, **body('aurora'))
    with pytest.raises(RequestFinal, match='COMPLETED'):
        call(client.cancel, done.request_id)
    allowance = call(client.key)
    assert (allowance.license.max_in_flight, allowance.credits.remaining) == (40, 3999)


def test_raises_a_refusal_and_a_failure_as_the_class_of_its_code_without_a_retry(
    client: Any, call: Caller, make: Any, body: Body, service: Service, granted: Granted
) -> None:
    with pytest.raises(InvalidParameters) as wrong:
        call(client.generate, **body('aurora', width=100))
    assert str(wrong.value) == 'width must be a multiple of 64, at least 512.'
    assert (wrong.value.code, wrong.value.status) == ('INVALID_PARAMETERS', 400)
    poor = make(service.grant(creditsLimit=1, used=1).key, service.proxy_url)
    with pytest.raises(CreditLimitExceeded) as spent:
        call(poor.generate, **body('aurora'))
    assert (spent.value.retry_after_seconds or 0) > 60
    with pytest.raises(GenerationFailed, match=r'\. Nothing was charged\.$') as failed:
        call(client.generate, **body('flint'))
    assert call(client.get_generation, failed.value.request_id).status == 'FAILED'
    request = call(client.respond_async, **body('flint'))
    with pytest.raises(GenerationFailed, match=r'\. Nothing was charged\.$') as failed:
        call(request.wait)
    assert (failed.value.request_id, failed.value.status) == (request.request_id, 500)
    assert len([line for line in service.seen() if line.startswith('POST')]) == 4
    assert service.totals(granted) == (0, 0)


def test_makes_new_links_where_old_ones_have_expired(
    client: Any, call: Caller, body: Body, tmp_path: Path
) -> None:
    image = call(client.generate, **body('aurora', num_outputs=2))
    whole = [call(one.bytes) for one in image.images]
    assert whole[0] != whole[1]
    for one in image.images:
        stale = one.link.replace('X-Amz-Expires=3600', 'X-Amz-Expires=1')
        assert stale != one.link
        one._links.outputs[one._index] = stale
    assert [call(one.bytes) for one in image.images] == whole
    assert all('X-Amz-Expires=1&' not in one.link for one in image.images)
    with pytest.raises(ValueError, match='It has 2 images'):
        call(image.save, tmp_path / 'which.png')


def test_a_request_that_nobody_waits_for_on_the_line_ends_with_images(
    client: Any, call: Caller, body: Body, service: Service, granted: Granted
) -> None:
    request = call(client.respond_async, **body('harbor', num_outputs=2))
    assert request.credits_reserved == 2
    assert service.totals(granted) == (0, 2)
    status = call(request.status)
    assert (status.status in ('QUEUED', 'PROCESSING'), status.images) == (True, ())
    seen: list[str] = []
    image = call(request.wait, on_status=lambda stored: seen.append(stored.status))
    assert seen[-1] == 'COMPLETED'
    assert (image.request_id, image.credits_charged, image.usage) == (request.request_id, 2, None)
    # Another program, which knows nothing but the id.
    assert call(client.wait_for_generation, request.request_id).seed == image.seed
    assert service.totals(granted) == (2, 2)


def test_a_key_does_not_follow_a_redirect(
    make: Any, client: Any, call: Caller, body: Body, service: Service, granted: Granted
) -> None:
    for status in (302, 307):
        headers = {'location': f'{service.proxy_url}/generate?a=1'}
        service.fates({'answered': {'status': status, 'headers': headers, 'body': {}}})
        with pytest.raises(ConfigurationError, match=r'IMAGE_BASE_URL.* redirects to http://.*/generate$'):
            call(client.generate, **body('aurora'))
    assert len(service.seen()) == 2
    with pytest.raises(ConfigurationError, match='has no https'):
        call(make(granted.key, service.base_url.replace('http', 'https')).health)
