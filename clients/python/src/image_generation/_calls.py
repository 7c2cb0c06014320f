"""The calls of a client, for `Client` and `AsyncClient` alike."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import httpx2

from ._generate import body_of, check_names, key_header, service_name
from ._requester import Call, Options, Requester, check_finite
from ._retry import is_transient, proxies, rate_pause_seconds, those_set
from ._storage import File, read_upload, send_file
from ._version import __version__
from .errors import ConfigurationError, IdempotencyInProgress
from .models import (
    AcceptedGeneration,
    DryRun,
    Generation,
    Identity,
    IdentityDetail,
    IdentityList,
    StoredGeneration,
    StoredGenerationList,
    Upload,
)

T = TypeVar('T')

# An upload is usable for an hour, in which its request must have begun.
_upload_used_seconds = 45 * 60.0


def open_http(kind: Callable[..., T]) -> T:
    """An HTTP client, or ConfigurationError."""
    folder = os.environ.get('SSL_CERT_DIR')
    if folder and not any(map(os.path.isdir, folder.split(os.pathsep))):
        raise ConfigurationError('SSL_CERT_DIR names no folder.')
    try:
        return kind(headers={'user-agent': f'image-generation-client-python/{__version__}'})
    except Exception as cause:
        names = those_set((*proxies, 'NO_PROXY'))
        # Other texts may quote the password of a proxy.
        why = f': {cause}' if isinstance(cause, OSError | ImportError) else ''
        if isinstance(cause, OSError):
            is_log = cause.filename is not None and cause.filename == os.environ.get('SSLKEYLOGFILE')
            names = 'SSLKEYLOGFILE' if is_log else those_set(('SSL_CERT_FILE', 'SSL_CERT_DIR')).split()[0]
        raise ConfigurationError(f"{names} can't be used{why}".rstrip('.') + '.') from cause


def _is_address(text: str) -> bool:
    """Whether it can be a base URL. A password in it would be sent in the place of the key."""
    try:
        url = httpx2.URL(text)
        url.host.encode('idna')
    except (httpx2.InvalidURL, ValueError):
        return False
    is_plain = not (url.userinfo or url.query or url.fragment or '%' in url.host)
    return is_plain and url.scheme in ('http', 'https') and url.host != '' and (url.port or 0) < 2**16


def options_of(api_key: str | None, base_url: str | None, timeout: float, max_retries: int) -> Options:
    """What a client was given, or the environment has in its place."""
    api_key = api_key or os.environ.get('IMAGE_API_KEY', '')
    base_url = (base_url or os.environ.get('IMAGE_BASE_URL', '')).rstrip('/')
    if not api_key:
        raise ConfigurationError('The API key is missing: give api_key, or set IMAGE_API_KEY.')
    # The errors of the HTTP client would quote the key.
    if not re.fullmatch(r'[!-~]+', api_key):
        raise ConfigurationError(
            'The API key (api_key, or IMAGE_API_KEY) has a line break, a space or another character that no '
            'key has.'
        )
    if not _is_address(base_url):
        raise ConfigurationError(
            'The base URL is missing, or is no address: give base_url, or set IMAGE_BASE_URL. It begins with '
            'https:// and ends in /api/v1.'
        )
    check_finite({'timeout': timeout, 'max_retries': max_retries})
    return Options(api_key=api_key, base_url=base_url, timeout=timeout, max_retries=max_retries)


@dataclass(frozen=True)
class AcceptedRequest:
    """A request that was accepted and runs without its caller."""

    request_id: str
    credits_reserved: int | None
    """What it is charged if it completes.

    None when an earlier call with the same idempotency key got the number.
    """
    pause_seconds: float = 0
    """After how long another may be sent."""


async def respond_async(
    requester: Requester,
    body: bytes,
    idempotency_key: str | None,
    is_retried: Callable[[Exception], bool] = is_transient,
) -> AcceptedRequest:
    """Asks for images. Every try has the same idempotency key, so that it is accepted once."""
    headers = {'prefer': 'respond-async', **key_header(idempotency_key)}
    call = Call('POST /generate', body=body, headers=headers)

    async def once() -> AcceptedRequest:
        try:
            async with requester.attempt(call) as response:
                return await _read_accepted(requester, response)
        except IdempotencyInProgress as error:
            # A try with the same key was accepted, and its answer was lost.
            if error.request_id is None:
                raise
            return AcceptedRequest(error.request_id, None)

    return await requester.retry(once, is_retried)


async def _read_accepted(requester: Requester, response: httpx2.Response) -> AcceptedRequest:
    """Reads 202, and 200 with the images: of a key whose request has completed, and of a service that knows
    no asynchronous requests. Both name the request.
    """
    pause_seconds = rate_pause_seconds(response.headers)
    if response.status_code == 202:
        accepted = await requester.read_model(response, AcceptedGeneration)
        return AcceptedRequest(accepted.request_id, accepted.credits_reserved, pause_seconds)
    done = await requester.read_model(response, Generation)
    return AcceptedRequest(done.request_id, done.usage.credits_charged, pause_seconds)


async def dry_run(requester: Requester, body: bytes) -> DryRun:
    """What a request would cost."""
    return await requester.fetch(Call('POST /generate', query={'dryRun': True}, body=body), DryRun)


async def list_generations(requester: Requester, query: Mapping[str, Any]) -> StoredGenerationList:
    """A page of stored requests, newest first."""
    named = {service_name(name): value for name, value in query.items()}
    return await requester.fetch(Call('GET /generate', query=named), StoredGenerationList)


async def all_generations(
    requester: Requester, query: Mapping[str, Any]
) -> AsyncGenerator[StoredGeneration, None]:
    """All stored requests, newest first, fetched page by page."""
    cursor: str | None = query.get('cursor')
    while True:
        page = await list_generations(requester, {**query, 'cursor': cursor})
        for one in page.generations:
            yield one
        cursor = page.next_cursor
        if cursor is None:
            return


async def list_identities(requester: Requester) -> list[Identity]:
    """The identities that the key may use."""
    return (await requester.fetch(Call('GET /identities'), IdentityList)).identities


async def get_identity(requester: Requester, id_or_slug: str) -> IdentityDetail:
    """An identity with its versions."""
    call = Call('GET /identities/{identityId}', path={'identityId': id_or_slug})
    return await requester.fetch(call, IdentityDetail)


async def create_upload(requester: Requester, content_type: str | None) -> Upload:
    """Opens an upload."""
    body = {} if content_type is None else {'contentType': content_type}
    return await requester.fetch(Call('POST /uploads', body=json.dumps(body).encode()), Upload)


async def upload_reference(requester: Requester, file: File, content_type: str | None) -> str:
    """Uploads a reference image."""
    content = await read_upload(requester.io, file)
    upload = await create_upload(requester, content_type)
    await send_file(requester, upload, content)
    return upload.upload_id


async def make_body(requester: Requester, function: str, parameters: Mapping[str, Any]) -> bytes:
    """The body of a request, whose files are uploaded.

    All are read before the first is sent. Where the same file was sent shortly before, that upload is named
    again: a repeat with the same idempotency key must have the same body.
    """
    check_names(function, parameters)
    references = parameters.get('reference_images')
    if not references:
        return body_of(function, parameters)
    if isinstance(references, str | bytes):
        raise TypeError('reference_images must be a list.')
    read = [await _read_reference(requester, one) for one in references]
    ready = [await _upload_once(requester, one) if isinstance(one, bytes) else one for one in read]
    return body_of(function, {**parameters, 'reference_images': ready})


def is_url(reference: Any) -> bool:
    """Whether a reference image is an address. Any other text is a path."""
    return isinstance(reference, str) and reference.lower().startswith(('https://', 'http://', 'data:'))


async def _read_reference(requester: Requester, reference: Any) -> Any:
    """The bytes of a file, or what goes into the body as it is."""
    if is_url(reference):
        return {'url': reference}
    if isinstance(reference, Mapping):
        return cast(Any, reference)
    return await read_upload(requester.io, reference)


async def _upload_once(requester: Requester, content: bytes) -> dict[str, str]:
    digest = hashlib.sha256(content).digest()
    upload_id, opened = requester.uploads.get(digest, ('', -math.inf))
    if opened < time.monotonic() - _upload_used_seconds:
        opened = time.monotonic()
        upload_id = await upload_reference(requester, content, None)
        requester.uploads[digest] = (upload_id, opened)
    return {'upload_id': upload_id}


def call_of(route: str, path: Mapping[str, str], query: Mapping[str, Any], body: Any) -> Call:
    """A call of any route."""
    check_finite(body, '' if isinstance(body, Mapping) else 'body')
    content = None if body is None else json.dumps(body).encode()
    return Call(route, path=path, query=query, body=content)
