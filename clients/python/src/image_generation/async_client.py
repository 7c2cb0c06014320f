"""The client that suspends, under asyncio and under Trio."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any

import httpx2
from typing_extensions import Self, Unpack

from . import _calls, models
from ._answer import Shared
from ._batch import Lines, run_batch
from ._batch_folder import BatchResult
from ._generate import Callbacks, Event, generate, result_after
from ._io import SuspendingIO
from ._requester import Call, Requester
from ._storage import File
from ._stored import (
    cancel_generation,
    delete_generation,
    get_generation_call,
    poll_until_ended,
    wait_for_seconds,
)
from .client import GenerationQuery, ImageType
from .images import (
    AsyncGenerationResult,
    AsyncStoredGeneration,
    AsyncStoredGenerationList,
    Result,
    bind,
    result_of_stored,
)
from .parameters import GenerationParameters


class AsyncClient(Shared):
    """`Client` for `async` programs: the same calls, arguments and errors, awaited.

    Callbacks may be `async def`.

    Cancelling a call ends the waiting, not a generation that was accepted.

    Example:
        >>> async def main() -> None:
        ...     async with AsyncClient(api_key=api_key, base_url=base_url) as client:
        ...         image = await client.generate(identity_id=identity_id, prompt='a quiet bay')
        ...         print((await image.save(folder / 'bay.png')).name)
        >>> asyncio.run(main())
        bay.png
    """

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        timeout: float = 60.0,
        max_retries: int = 8,
        http_client: httpx2.AsyncClient | None = None,
    ) -> None:
        options = _calls.options_of(api_key, base_url, timeout, max_retries)
        self._owned = None if http_client else _calls.open_http(httpx2.AsyncClient)
        self._io = SuspendingIO(http_client or self._owned or httpx2.AsyncClient())
        self._requester = Requester(self._io, options)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections."""
        if self._owned is not None:
            self._io.check_loop()
            await self._owned.aclose()

    async def generate(
        self,
        *,
        idempotency_key: str | None = None,
        wait: int | None = None,
        on_accepted: Callable[[models.Accepted], Awaitable[None] | None] | None = None,
        on_queued: Callable[[models.Queued], Awaitable[None] | None] | None = None,
        on_started: Callable[[], Awaitable[None] | None] | None = None,
        on_progress: Callable[[models.Progress], Awaitable[None] | None] | None = None,
        on_disconnected: Callable[[], Awaitable[None] | None] | None = None,
        **parameters: Unpack[GenerationParameters],
    ) -> AsyncGenerationResult:
        """Generates and returns once the images are stored.

        It is charged once, however often the connection breaks. The arguments are those of `Client`.
        """
        callbacks = Callbacks(on_accepted, on_queued, on_started, on_progress, on_disconnected)
        body = await _calls.make_body(self._requester, 'generate', parameters)
        result = await result_after(generate(self._requester, body, idempotency_key, wait), callbacks)
        return bind(AsyncGenerationResult, result, self._requester)

    async def generate_events(
        self, *, idempotency_key: str | None = None, **parameters: Unpack[GenerationParameters]
    ) -> AsyncIterator[Event | AsyncGenerationResult]:
        """Generates like `generate`, and yields what happens. The last that it yields is the result."""
        body = await _calls.make_body(self._requester, 'generate_events', parameters)
        async with aclosing(generate(self._requester, body, idempotency_key)) as events:
            async for event in events:
                if isinstance(event, Result):
                    yield bind(AsyncGenerationResult, event, self._requester)
                else:
                    yield event

    async def respond_async(
        self, *, idempotency_key: str | None = None, **parameters: Unpack[GenerationParameters]
    ) -> AsyncPendingGeneration:
        """Asks for images and returns once the request is accepted. It then runs without a connection."""
        body = await _calls.make_body(self._requester, 'respond_async', parameters)
        accepted = await _calls.respond_async(self._requester, body, idempotency_key)
        return AsyncPendingGeneration(self, accepted)

    async def wait_for_generation(
        self,
        request_id: str,
        *,
        timeout: float = wait_for_seconds,
        on_status: Callable[[models.StoredGeneration], Awaitable[None] | None] | None = None,
    ) -> AsyncGenerationResult:
        """Waits until a request has ended, whoever sent it.

        Raises its error if it failed, as `generate` does.
        """
        polling = poll_until_ended(self._requester, request_id, timeout=timeout, on_status=on_status)
        return bind(AsyncGenerationResult, result_of_stored(await polling), self._requester)

    async def dry_run(self, **parameters: Unpack[GenerationParameters]) -> models.DryRun:
        """Answers what `generate` would cost, or raises the refusal that it would have.

        Charges, holds and stores nothing.
        """
        return await _calls.dry_run(
            self._requester, await _calls.make_body(self._requester, 'dry_run', parameters)
        )

    async def get_generation(self, request_id: str) -> AsyncStoredGeneration:
        """A stored request, with newly signed links."""
        call = get_generation_call(request_id)
        stored = await self._requester.fetch(call, models.StoredGeneration)
        return bind(AsyncStoredGeneration, stored, self._requester)

    async def batch(
        self, lines: Lines, folder: str | os.PathLike[str], *, again: bool = False
    ) -> AsyncIterator[BatchResult]:
        """The same as `Client.batch`."""
        async with aclosing(run_batch(self._requester, lines, Path(folder), again)) as results:
            async for result in results:
                yield result

    async def cancel(self, request_id: str) -> AsyncStoredGeneration:
        """Ends a request that waits or runs, and gives its credits back. Returns the stored request.

        A request that was cancelled already is returned as it is.

        Raises:
            RequestFinal: It has ended otherwise: its images may be there, and charged.
        """
        return bind(
            AsyncStoredGeneration, await cancel_generation(self._requester, request_id), self._requester
        )

    async def delete_generation(self, request_id: str) -> None:
        """Deletes a request that has ended: its images, its prompt, all that is stored of it. For good."""
        await delete_generation(self._requester, request_id)

    async def list_generations(self, **query: Unpack[GenerationQuery]) -> AsyncStoredGenerationList:
        """A page of stored requests, newest first.

        A filtered page may hold none and still have a next one.
        """
        page = await _calls.list_generations(self._requester, query)
        bound = [bind(AsyncStoredGeneration, one, self._requester) for one in page.generations]
        return AsyncStoredGenerationList(
            generations=bound, next_cursor=page.next_cursor, searched_back_to=page.searched_back_to
        )

    async def all_generations(self, **query: Unpack[GenerationQuery]) -> AsyncIterator[AsyncStoredGeneration]:
        """All stored requests, newest first, fetched page by page with `limit` requests each."""
        async with aclosing(_calls.all_generations(self._requester, query)) as generations:
            async for stored in generations:
                yield bind(AsyncStoredGeneration, stored, self._requester)

    async def key(self) -> models.KeyAllowance:
        """What the key may still do: its limits, credits, budget and requests left in this minute."""
        return await self._requester.fetch(Call('GET /key'), models.KeyAllowance)

    async def list_identities(self) -> list[models.Identity]:
        """The identities that the key may use."""
        return await _calls.list_identities(self._requester)

    async def get_identity(self, id_or_slug: str) -> models.IdentityDetail:
        """An identity by its ID or a slug, with the versions that `identity_version` may name."""
        return await _calls.get_identity(self._requester, id_or_slug)

    async def create_upload(self, *, content_type: ImageType | None = None) -> models.Upload:
        """Opens an upload: a form that takes one file, for an hour."""
        return await _calls.create_upload(self._requester, content_type)

    async def upload_reference(self, file: File, *, content_type: ImageType | None = None) -> str:
        """Uploads a reference image.

        Returns its `upload_id`, which is valid in `reference_images` for an hour.
        """
        return await _calls.upload_reference(self._requester, file, content_type)

    async def health(self) -> models.Health:
        """Whether the API and the models are up."""
        return await self._requester.fetch(Call('GET /health'), models.Health)

    async def request(
        self,
        route: str,
        *,
        path: Mapping[str, str] | None = None,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
    ) -> Any:
        """Any route by its method and path, with the service's own names. Returns the answer's JSON."""
        return await self._requester.request(_calls.call_of(route, path or {}, query or {}, body))


class AsyncPendingGeneration:
    """A request that was accepted and runs without its caller."""

    def __init__(self, client: AsyncClient, accepted: _calls.AcceptedRequest) -> None:
        self._client = client
        self.request_id = accepted.request_id
        """Its address in the service."""
        self.credits_reserved = accepted.credits_reserved
        """What it is charged if it completes.

        None when an earlier call with the same idempotency key got the number.
        """

    async def status(self) -> AsyncStoredGeneration:
        """The stored request as it is now, with newly signed links once it completed."""
        return await self._client.get_generation(self.request_id)

    async def cancel(self) -> AsyncStoredGeneration:
        """The same as `AsyncClient.cancel`."""
        return await self._client.cancel(self.request_id)

    async def wait(
        self,
        *,
        timeout: float = wait_for_seconds,
        on_status: Callable[[models.StoredGeneration], Awaitable[None] | None] | None = None,
    ) -> AsyncGenerationResult:
        """The same as `AsyncClient.wait_for_generation`."""
        return await self._client.wait_for_generation(self.request_id, timeout=timeout, on_status=on_status)
