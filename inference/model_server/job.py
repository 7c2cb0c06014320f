"""One request, from its arrival to exactly one closing event, unless the caller hangs up."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from PIL import Image

from .adapters import AdapterStore
from .concurrency import gather_or_cancel
from .contract import Event, GenerationRequest, completed_event, failed_event
from .delivery import SignFile, deliver, describe_output, seed_of
from .failure import Failure
from .fair_queue import FairSemaphore, QueuedRequest
from .gpu_queue import GpuQueue
from .links import Links
from .marks import Mark
from .observing import Observer
from .picture_check import CheckPicture, refused_failure
from .pipelines.engine import Adapter, ImageSpec, Reference
from .previews import deliver_preview
from .progress_events import ProgressEvents
from .references import fetch_references
from .settings import Settings

_FLUSH_SECONDS = 2.0


@dataclass
class ServerContext:
    """What all requests share. For one event loop."""

    settings: Settings
    observer: Observer
    queue: GpuQueue
    links: Links
    adapters: AdapterStore
    #: Limits how many requests hold reference images, which take much memory.
    reference_semaphore: FairSemaphore
    #: None: images are not signed.
    sign: SignFile | None = None
    #: None: images and references are not checked.
    check_picture: CheckPicture | None = None
    #: None: images are not marked.
    mark: Mark | None = None
    #: Limits how many images are marked at once: one of 2048 px takes some 330 MiB.
    mark_semaphore: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(2))
    jobs: dict['asyncio.Task[None]', 'Job'] = field(default_factory=dict)
    stopping: bool = False

    @property
    def model_version(self) -> str:
        """The engine's; final once it is warm."""
        return self.queue.model_version

    async def stop(self) -> None:
        """Accepts no more requests, lets running ones finish within the grace time, and fails the rest."""
        self.stopping = True
        if self.jobs:
            await asyncio.wait(self.jobs, timeout=self.settings.grace_seconds)
        self.fail_all()
        if self.jobs:
            await asyncio.wait(self.jobs, timeout=_FLUSH_SECONDS)

    def fail_all(self) -> None:
        """Ends all requests now."""
        for job in self.jobs.values():
            job.stop()


class Job:
    """Runs one request."""

    def __init__(
        self, request: GenerationRequest, context: ServerContext, emit: Callable[[Event], None]
    ) -> None:
        self._request = request
        self._context = context
        self._observer = context.observer.about(requestId=request.request_id, traceparent=request.traceparent)
        self._emit = emit
        self._queued: QueuedRequest | None = None
        self._timeout: asyncio.Timeout | None = None
        self._ending: Failure | None = None
        self._references: list[Reference] = []
        self._reference_digests: list[str] = []
        self._adapter: Adapter | None = None
        self._all_checked = asyncio.Barrier(request.num_outputs)
        check, own = context.check_picture, request.picture_check
        #: None: this request's pictures are not checked.
        self._check_picture = (
            None if check is None or own == 'exempt' else lambda picture: check(picture, own)
        )

    def start(self) -> 'asyncio.Task[None]':
        """Starts the request. Cancelling the task ends all work without another event."""
        task = asyncio.create_task(self._run())
        self._context.jobs[task] = self
        task.add_done_callback(self._context.jobs.pop)
        return task

    def stop(self) -> None:
        """Fails the request now, because the server stops."""
        self._end(Failure('model_error', 'The server is stopping.'))

    def _end(self, failure: Failure) -> None:
        """Fails the request now, wherever it is. The first failure counts."""
        self._ending = self._ending or failure
        if self._timeout is not None and not self._timeout.expired():
            self._timeout.reschedule(asyncio.get_running_loop().time())

    async def _run(self) -> None:
        seconds = self._context.settings.heartbeat_seconds
        progress = ProgressEvents(self._request, self._emit, seconds)
        outcome = 'disconnected'
        closing: Event | None = None
        try:
            closing = await self._in_time(progress)
            outcome = 'completed'
        except Failure as failure:
            closing, outcome = failed_event(failure), failure.reason
        except Exception as error:
            self._observer.fault('a request failed', error)
            closing = failed_event(Failure('model_error', 'The model could not make this image.'))
            outcome = 'model_error'
        finally:
            progress.stop()
            self._log(outcome)
        self._emit(closing)

    async def _in_time(self, progress: ProgressEvents) -> Event:
        left = self._request.deadline_seconds - time.time()
        late = Failure('deadline', 'The deadline came before the images were ready.')
        if self._ending is not None:
            raise self._ending
        if left <= 0:
            raise late
        watch = asyncio.create_task(self._watch())
        try:
            async with asyncio.timeout(left) as timeout:
                self._timeout = timeout
                return await self._produce(time.monotonic() + left, progress)
        except TimeoutError:
            if not timeout.expired():
                raise
            raise (self._ending or late) from None
        finally:
            self._timeout = None
            watch.cancel()

    async def _watch(self) -> None:
        """Ends the request once it is cancelled."""
        link, seconds = self._request.cancel_url, self._context.settings.cancel_check_seconds
        if link is None:
            return
        began = time.monotonic()
        while not await self._context.links.exists(link, seconds):
            await asyncio.sleep(began + seconds - time.monotonic())
            began = time.monotonic()
        self._end(Failure('cancelled', 'The request was cancelled.'))

    async def _produce(self, deadline: float, progress: ProgressEvents) -> Event:
        request, queue = self._request, self._context.queue
        queued = self._queued = queue.enqueue(
            request.order, request.tenant, deadline, progress, self._observer
        )
        progress.position = lambda: queue.position_of(queued)
        try:
            # Together, since a request may also be pushed out of the queue while its inputs are fetched.
            outputs = (self._output(queued, index) for index in range(request.num_outputs))
            results = await gather_or_cancel(self._prepare(queued), *outputs)
            delivered = [each for each in results if each is not None]
            return completed_event(delivered, queued.references_used, self._context.model_version)
        finally:
            queue.cancel(queued)

    async def _prepare(self, queued: QueuedRequest) -> None:
        request, semaphore = self._request, self._context.reference_semaphore
        if request.references:
            await semaphore.acquire(queued)
        try:
            await gather_or_cancel(self._fetch_references(), self._fetch_adapter(queued))
            seeds = [seed_of(request, index) for index in range(request.num_outputs)]
            await self._context.queue.prepare(queued, self._spec(), seeds, self._adapter)
        finally:
            # What was prepared holds none of the reference images.
            self._references = []
            if request.references:
                semaphore.release()

    async def _fetch_references(self) -> None:
        context, urls = self._context, [reference.url for reference in self._request.references]
        seconds = context.settings.link_timeout_seconds
        fetched = await fetch_references(context.links, urls, seconds, self._check_picture)
        self._reference_digests = [found.sha256 for found in fetched]
        self._references = [found.reference for found in fetched]

    async def _fetch_adapter(self, queued: QueuedRequest) -> None:
        adapters = self._context.adapters
        adapter = self._adapter = await adapters.hold(self._request.identity)
        if adapter is not None:
            queued.cleanups.append(lambda: adapters.release(adapter))

    def _spec(self) -> ImageSpec:
        request = self._request
        return ImageSpec(
            prompt=request.prompt,
            negative_prompt=request.negative_prompt,
            steps=request.num_inference_steps,
            guidance_scale=request.guidance_scale,
            width=request.width,
            height=request.height,
            references=tuple(self._references),
            reference_mode=request.reference_mode,
            preserve_branding=request.preserve_branding,
            settings=request.identity.settings,
        )

    async def _output(self, queued: QueuedRequest, index: int) -> Event:
        context, request = self._context, self._request
        make_picture = await queued.images[index]
        image = await asyncio.to_thread(make_picture)
        if image.size != (request.width, request.height):
            raise ValueError('The engine made an image of another size.')
        await self._check(image)
        xmp = describe_output(request, index, self._reference_digests, context.model_version)
        link, seconds = request.outputs[index].put_url, context.settings.link_timeout_seconds
        form = request.output_format
        marked = image
        if context.mark is not None:
            async with context.mark_semaphore:
                marked = await asyncio.to_thread(context.mark.apply, image.convert('RGB'))
        delivery = deliver(context.links, link, marked, form, xmp, context.sign, seconds)
        parts = await gather_or_cancel(delivery, self._preview(index, image))
        return {name: value for part in parts for name, value in part.items()}

    async def _check(self, image: Image.Image) -> None:
        """Before all images have passed none is put: of a refused request nothing was ever stored."""
        check = self._check_picture
        if check is None:
            return
        refused = await asyncio.to_thread(check, image)
        if refused:
            raise refused_failure('An image', refused)
        await self._all_checked.wait()

    async def _preview(self, index: int, image: Image.Image) -> Event:
        context, request = self._context, self._request
        xmp = describe_output(request, index, (), context.model_version, for_preview=True)
        link, deadline = request.outputs[index].preview_put_url, request.deadline_seconds
        size = await deliver_preview(context.links, link, image, xmp, context.mark, deadline, self._observer)
        return {} if size is None else {'previewBytes': size}

    def _log(self, outcome: str) -> None:
        request, queued = self._request, self._queued
        wait_ms, generation_ms = (queued.wait_ms, queued.generation_ms) if queued else (None, None)
        self._observer.log(
            'request',
            identityId=request.identity.id,
            adapterVersion=request.identity.adapter_version,
            width=request.width,
            height=request.height,
            steps=request.num_inference_steps,
            outputs=request.num_outputs,
            references=len(request.references),
            queueWaitMs=wait_ms and round(wait_ms),
            paintMs=generation_ms and round(generation_ms),
            outcome=outcome,
        )
