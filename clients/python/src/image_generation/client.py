"""The client that blocks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import httpx2
from typing_extensions import Self, TypedDict, Unpack

from . import _calls, models
from ._answer import Shared
from ._batch import Lines, run_batch
from ._batch_folder import BatchResult
from ._generate import Callbacks, Event, generate, result_after
from ._io import BlockingIO, iterate, run
from ._requester import Call, Requester
from ._storage import File
from ._stored import (
    cancel_generation,
    delete_generation,
    get_generation_call,
    poll_until_ended,
    wait_for_seconds,
)
from .images import GenerationResult, Result, StoredGeneration, StoredGenerationList, bind, result_of_stored
from .parameters import GenerationParameters

ImageType = Literal['image/png', 'image/jpeg', 'image/webp']
Status = Literal['QUEUED', 'PROCESSING', 'COMPLETED', 'FAILED', 'TIMEOUT']
Kind = Literal['text_to_image', 'reference', 'exact_product']


class GenerationQuery(TypedDict, total=False):
    """Which stored requests to list. A `datetime` needs its zone."""

    limit: int | None
    cursor: str | None
    identity_id: str | None
    status: Status | None
    type: Kind | None
    key_id: str | None
    """`playground` for those made there."""
    created_after: datetime | str | None
    created_before: datetime | str | None
    search: str | None
    """Words that must all be in the prompt."""


class Client(Shared):
    """A client of the service for one API key.

    Every call may raise `ApiError`, `ConnectionError` and `TimeoutError`. Calls to a busy service (429, 503)
    are repeated after 1, 2, 4 … at most 60 seconds, or after the `Retry-After` of the answer. If that is more
    than 60 seconds, the error is raised at once. Threads may share a client.

    Args:
        api_key: `svc_live_…`; the environment's IMAGE_API_KEY by default.
        base_url: Ends in `/api/v1`; the environment's IMAGE_BASE_URL by default.
        timeout: How many seconds one try waits for its answer; a generation's, until it was accepted.
        max_retries: Tries after the first; eight take about three minutes.
        http_client: Another HTTP client, for proxies and certificates. It stays yours to close.

    Example:
        >>> from image_generation import Client
        >>> with Client(api_key=api_key, base_url=base_url) as client:
        ...     image = client.generate(identity_id=identity_id, prompt='a quiet bay')
        ...     image.save(folder / 'bay.png').name
        'bay.png'
    """

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        timeout: float = 60.0,
        max_retries: int = 8,
        http_client: httpx2.Client | None = None,
    ) -> None:
        options = _calls.options_of(api_key, base_url, timeout, max_retries)
        self._owned = None if http_client else _calls.open_http(httpx2.Client)
        self._requester = Requester(BlockingIO(http_client or self._owned or httpx2.Client()), options)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        if self._owned is not None:
            self._owned.close()

    def generate(
        self,
        *,
        idempotency_key: str | None = None,
        wait: int | None = None,
        on_accepted: Callable[[models.Accepted], None] | None = None,
        on_queued: Callable[[models.Queued], None] | None = None,
        on_started: Callable[[], None] | None = None,
        on_progress: Callable[[models.Progress], None] | None = None,
        on_disconnected: Callable[[], None] | None = None,
        **parameters: Unpack[GenerationParameters],
    ) -> GenerationResult:
        """Generates and returns once the images are stored.

        It is charged once, however often the connection breaks.

        Args:
            idempotency_key: 1 to 255 visible ASCII characters; a random one by default. Within 24 hours a
                repeat of the same parameters with the same key answers with the first result and charges
                nothing.
            wait: 1 to 60 seconds: an asynchronous request, which waits for a model that starts. The service
                answers when it has ended, or after so many seconds; after that the client polls. Of the
                callbacks only `on_accepted` is called, when the polling begins.
            on_accepted: Called when its credits are held.
            on_queued: Called while the request waits for the model: at once, when it moves up, and every few
                seconds.
            on_started: Called when the model begins.
            on_progress: Called as the model proceeds.
            on_disconnected: Called when the connection broke. From now on the client polls the stored
                request.
            **parameters: See `GenerationParameters`. What is left out has the default of the service.
        """
        callbacks = Callbacks(on_accepted, on_queued, on_started, on_progress, on_disconnected)
        body = run(_calls.make_body(self._requester, 'generate', parameters))
        result = run(result_after(generate(self._requester, body, idempotency_key, wait), callbacks))
        return bind(GenerationResult, result, self._requester)

    def generate_events(
        self, *, idempotency_key: str | None = None, **parameters: Unpack[GenerationParameters]
    ) -> Iterator[Event | GenerationResult]:
        """Generates like `generate`, and yields what happens. The last that it yields is the result."""
        body = run(_calls.make_body(self._requester, 'generate_events', parameters))
        for event in iterate(generate(self._requester, body, idempotency_key)):
            yield bind(GenerationResult, event, self._requester) if isinstance(event, Result) else event

    def respond_async(
        self, *, idempotency_key: str | None = None, **parameters: Unpack[GenerationParameters]
    ) -> PendingGeneration:
        """Asks for images and returns once the request is accepted. It then runs without a connection.

        Keep its `request_id`, or `wait()` for the images.
        """
        body = run(_calls.make_body(self._requester, 'respond_async', parameters))
        accepted = run(_calls.respond_async(self._requester, body, idempotency_key))
        return PendingGeneration(self, accepted)

    def wait_for_generation(
        self,
        request_id: str,
        *,
        timeout: float = wait_for_seconds,
        on_status: Callable[[models.StoredGeneration], None] | None = None,
    ) -> GenerationResult:
        """Waits until a request has ended, whoever sent it.

        Raises its error if it failed, as `generate` does.

        Args:
            request_id: Of any request of the key's license.
            timeout: After how many seconds TimeoutError is raised. The request goes on.
            on_status: Called with the stored request each time that it was looked up, the last time included.
        """
        polling = poll_until_ended(self._requester, request_id, timeout=timeout, on_status=on_status)
        return bind(GenerationResult, result_of_stored(run(polling)), self._requester)

    def dry_run(self, **parameters: Unpack[GenerationParameters]) -> models.DryRun:
        """Answers what `generate` would cost, or raises the refusal that it would have.

        Charges, holds and stores nothing.
        """
        return run(
            _calls.dry_run(self._requester, run(_calls.make_body(self._requester, 'dry_run', parameters)))
        )

    def get_generation(self, request_id: str) -> StoredGeneration:
        """A stored request, with newly signed links."""
        call = get_generation_call(request_id)
        stored = run(self._requester.fetch(call, models.StoredGeneration))
        return bind(StoredGeneration, stored, self._requester)

    def batch(
        self, lines: Lines, folder: str | os.PathLike[str], *, again: bool = False
    ) -> Iterator[BatchResult]:
        """Generates thousands of images into a folder, as fast as the key's limits allow.

        Yields the result of each line as it ends, those of earlier runs first. Run again with the same lines
        and folder, it goes on where it ended or was killed. A key or credits that are not enough stop it with
        their error.

        Args:
            lines: The requests, or requests by the numbers of their lines.
            folder: Gets the images, and `results.jsonl`. Another folder is another wish.
            again: Sends lines again that were sent more than a day ago and whose end is not known.
        """
        yield from iterate(run_batch(self._requester, lines, Path(folder), again))

    def cancel(self, request_id: str) -> StoredGeneration:
        """Ends a request that waits or runs, and gives its credits back. Returns the stored request.

        A request that was cancelled already is returned as it is.

        Raises:
            RequestFinal: It has ended otherwise: its images may be there, and charged.
        """
        return bind(StoredGeneration, run(cancel_generation(self._requester, request_id)), self._requester)

    def delete_generation(self, request_id: str) -> None:
        """Deletes a request that has ended: its images, its prompt, all that is stored of it. For good."""
        run(delete_generation(self._requester, request_id))

    def list_generations(self, **query: Unpack[GenerationQuery]) -> StoredGenerationList:
        """A page of stored requests, newest first.

        A filtered page may hold none and still have a next one.
        """
        page = run(_calls.list_generations(self._requester, query))
        bound = [bind(StoredGeneration, one, self._requester) for one in page.generations]
        return StoredGenerationList(
            generations=bound, next_cursor=page.next_cursor, searched_back_to=page.searched_back_to
        )

    def all_generations(self, **query: Unpack[GenerationQuery]) -> Iterator[StoredGeneration]:
        """All stored requests, newest first, fetched page by page with `limit` requests each."""
        for stored in iterate(_calls.all_generations(self._requester, query)):
            yield bind(StoredGeneration, stored, self._requester)

    def key(self) -> models.KeyAllowance:
        """What the key may still do: its limits, credits, budget and requests left in this minute."""
        return run(self._requester.fetch(Call('GET /key'), models.KeyAllowance))

    def list_identities(self) -> list[models.Identity]:
        """The identities that the key may use."""
        return run(_calls.list_identities(self._requester))

    def get_identity(self, id_or_slug: str) -> models.IdentityDetail:
        """An identity by its ID or a slug, with the versions that `identity_version` may name."""
        return run(_calls.get_identity(self._requester, id_or_slug))

    def create_upload(self, *, content_type: ImageType | None = None) -> models.Upload:
        """Opens an upload: a form that takes one file, for an hour."""
        return run(_calls.create_upload(self._requester, content_type))

    def upload_reference(self, file: File, *, content_type: ImageType | None = None) -> str:
        """Uploads a reference image.

        Returns its `upload_id`, which is valid in `reference_images` for an hour.

        Args:
            file: The path of a file, its bytes, or a file that was opened in binary mode.
            content_type: The type of the file, if you know it. The service looks at the bytes.

        Raises:
            UploadError: The file is too large, or the storage refused it.
        """
        return run(_calls.upload_reference(self._requester, file, content_type))

    def health(self) -> models.Health:
        """Whether the API and the models are up."""
        return run(self._requester.fetch(Call('GET /health'), models.Health))

    def request(
        self,
        route: str,
        *,
        path: Mapping[str, str] | None = None,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
    ) -> Any:
        """Any route by its method and path, with the service's own names. Returns the answer's JSON."""
        return run(self._requester.request(_calls.call_of(route, path or {}, query or {}, body)))


class PendingGeneration:
    """A request that was accepted and runs without its caller."""

    def __init__(self, client: Client, accepted: _calls.AcceptedRequest) -> None:
        self._client = client
        self.request_id = accepted.request_id
        """Its address in the service."""
        self.credits_reserved = accepted.credits_reserved
        """What it is charged if it completes.

        None when an earlier call with the same idempotency key got the number.
        """

    def status(self) -> StoredGeneration:
        """The stored request as it is now, with newly signed links once it completed."""
        return self._client.get_generation(self.request_id)

    def cancel(self) -> StoredGeneration:
        """The same as `Client.cancel`."""
        return self._client.cancel(self.request_id)

    def wait(
        self,
        *,
        timeout: float = wait_for_seconds,
        on_status: Callable[[models.StoredGeneration], None] | None = None,
    ) -> GenerationResult:
        """The same as `Client.wait_for_generation`."""
        return self._client.wait_for_generation(self.request_id, timeout=timeout, on_status=on_status)
