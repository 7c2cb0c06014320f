"""SageMaker's two paths over HTTP."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from .adapters import AdapterStore
from .c2pa.manifest import Credentials, sign_file
from .contract import (
    Event,
    GenerationRequest,
    NotJson,
    Probe,
    encode_event,
    failed_event,
    parse_request,
    ready_event,
)
from .failure import Failure
from .fair_queue import FairSemaphore
from .gpu_queue import GpuQueue, restarting_failure
from .job import Job, ServerContext
from .links import Links
from .marks import Mark
from .observing import Observer
from .picture_check import CheckPicture
from .pipelines.engine import LONGEST_VERSION, Engine
from .settings import Settings

BODY_LIMIT_BYTES = 1024 * 1024
_MEDIA_TYPE = 'application/x-ndjson'


def create_context(
    settings: Settings,
    engine: Engine,
    observer: Observer,
    credentials: Credentials | None = None,
    check_picture: CheckPicture | None = None,
    mark: Mark | None = None,
) -> ServerContext:
    """Builds all that requests share; call it in the event loop. Raises ValueError and OSError."""
    if not 0 < len(engine.model_version) <= LONGEST_VERSION:
        raise ValueError(f"The engine's model_version must have 1 to {LONGEST_VERSION} characters.")
    links = Links(settings.link_timeout_seconds, settings.retry_seconds)
    queue = GpuQueue(engine, observer, settings)
    sign = None
    if credentials is not None:
        binding = None if mark is None else mark.binding
        sign = lambda file, form: sign_file(file, form, engine.model_version, credentials, binding)  # noqa: E731
    return ServerContext(
        settings=settings,
        observer=observer,
        queue=queue,
        links=links,
        adapters=AdapterStore(
            settings.adapter_dir, settings.adapter_cache_bytes, links, settings.adapter_timeout_seconds
        ),
        reference_semaphore=FairSemaphore(settings.reference_requests, queue.in_order),
        sign=sign,
        check_picture=check_picture,
        mark=mark,
    )


def create_app(context: ServerContext) -> Starlette:
    """`GET /ping` and `POST /invocations`. Its server must also run `context.queue.run()`."""

    async def ping(_: Request) -> Response:
        healthy = context.queue.state == 'ready' and not context.stopping
        return Response(status_code=200 if healthy else 503)

    async def invocations(request: Request) -> Response:
        try:
            body = await _read_body(request)
        except ClientDisconnect:
            return Response()
        if body is None:
            return _failed(Failure('invalid_request', 'The body is longer than 1 MiB.'), 413)
        try:
            return _answer(context, parse_request(body))
        except NotJson:
            return _failed(Failure('invalid_request', 'The body is not JSON.'), 400)
        except Failure as failure:
            return _failed(failure)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await context.links.close()

    routes = [Route('/ping', ping), Route('/invocations', invocations, methods=['POST'])]
    app = Starlette(routes=routes, lifespan=lifespan)
    app.router.redirect_slashes = False
    return app


def _answer(context: ServerContext, parsed: GenerationRequest | Probe) -> Response:
    if context.stopping:
        raise Failure('busy', 'The server is stopping.')
    if isinstance(parsed, GenerationRequest):
        return EventStream(parsed, context)
    state = context.queue.state
    if state != 'ready':
        raise restarting_failure() if state == 'dead' else Failure('busy', 'The model is still being loaded.')
    return _once(ready_event(context.model_version))


async def _read_body(request: Request) -> bytes | None:
    """None when the body is too long; the server discards the rest. Raises ClientDisconnect."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > BODY_LIMIT_BYTES:
            return None
    return bytes(body)


def _once(event: Event, status: int = 200) -> Response:
    return Response(encode_event(event), status, media_type=_MEDIA_TYPE)


def _failed(failure: Failure, status: int = 200) -> Response:
    return _once(failed_event(failure), status)


class EventStream(Response):
    """A request's events as they come. All of its work ends when the caller hangs up."""

    def __init__(self, request: GenerationRequest, context: ServerContext) -> None:
        super().__init__(media_type=_MEDIA_TYPE)
        del self.headers['content-length']
        self._request = request
        self._context = context

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        events: asyncio.Queue[Event | None] = asyncio.Queue()
        work = Job(self._request, self._context, events.put_nowait).start()
        work.add_done_callback(lambda _: events.put_nowait(None))
        disconnect = asyncio.create_task(_wait_for_disconnect(receive))
        disconnect.add_done_callback(lambda _: work.cancel())
        try:
            await send({'type': 'http.response.start', 'status': 200, 'headers': self.raw_headers})
            while (event := await events.get()) is not None:
                await send({'type': 'http.response.body', 'body': encode_event(event), 'more_body': True})
            await send({'type': 'http.response.body', 'body': b'', 'more_body': False})
        except OSError:
            # The caller disconnected; the task `disconnect` notices it, too.
            pass
        finally:
            disconnect.cancel()
            work.cancel()
            await asyncio.gather(disconnect, work, return_exceptions=True)


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())['type'] != 'http.disconnect':
        pass
