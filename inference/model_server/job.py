"""One request, from `started` to exactly one closing event, unless the caller hangs up."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from .adapters import AdapterStore
from .contract import Event, PaintRequest, completed_event, failed_event, progress_event, started_event
from .delivery import deliver, describe_output, seed_of
from .failure import Failure
from .lane import Lane, Place
from .links import Links
from .observing import Observer
from .painting import Work
from .pipelines.engine import Adapter, Order, Reference
from .references import fetch_references
from .settings import Settings
from .together import together

_FLUSH_SECONDS = 2.0


@dataclass
class Workshop:
    """What all requests share. One event loop uses it."""

    settings: Settings
    observer: Observer
    model_version: str
    lane: Lane
    links: Links
    adapters: AdapterStore
    #: Holds back requests with reference images, which take much memory from when they are fetched.
    reference_gate: asyncio.Semaphore
    jobs: dict['asyncio.Task[None]', 'Job'] = field(default_factory=dict)
    stopping: bool = False

    async def stop(self) -> None:
        """Takes no more work, lets what runs finish within the grace, and fails the rest."""
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


class Progress:
    """Only ever grows, and is repeated every few seconds, so that nobody takes a long wait for a silence."""

    def __init__(self, request: PaintRequest, emit: Callable[[Event], None], seconds: float) -> None:
        self._request = request
        self._emit = emit
        self._seconds = seconds
        self._furthest = 0
        self._timer = self._wind()

    def reach(self, done: int) -> None:
        """Reports a step when it is further than all before; `done` counts the steps of all outputs."""
        step = min(done // self._request.num_outputs, self._request.num_inference_steps)
        if step > self._furthest and not self._timer.cancelled():
            self._furthest = step
            self._timer.cancel()
            self._report()

    def end(self) -> None:
        """Nothing is reported afterwards."""
        self._timer.cancel()

    def _report(self) -> None:
        self._emit(progress_event(self._furthest, self._request.num_inference_steps))
        self._timer = self._wind()

    def _wind(self) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(self._seconds, self._report)


class Job:
    """Does one request."""

    def __init__(self, request: PaintRequest, workshop: Workshop, emit: Callable[[Event], None]) -> None:
        self._request = request
        self._workshop = workshop
        self._emit = emit
        self._place: Place | None = None
        self._alarm: asyncio.Timeout | None = None
        self._stopped = False
        self._references: list[Reference] = []
        self._reference_digests: list[str] = []
        self._adapter: Adapter | None = None

    def start(self) -> 'asyncio.Task[None]':
        """Begins. Whoever cancels the task ends all work, and no event follows."""
        task = asyncio.create_task(self._run())
        self._workshop.jobs[task] = self
        task.add_done_callback(self._workshop.jobs.pop)
        return task

    def stop(self) -> None:
        """The server stops: the request fails now."""
        self._stopped = True
        if self._alarm is not None and not self._alarm.expired():
            self._alarm.reschedule(asyncio.get_running_loop().time())

    async def _run(self) -> None:
        self._emit(started_event())
        seconds = self._workshop.settings.heartbeat_seconds
        progress = Progress(self._request, self._emit, seconds)
        outcome = 'hung_up'
        closing: Event | None = None
        try:
            closing = await self._in_time(progress)
            outcome = 'completed'
        except Failure as failure:
            closing, outcome = failed_event(failure.reason, failure.message), failure.reason
        except Exception as error:
            self._workshop.observer.fault('a request failed', error, requestId=self._request.request_id)
            closing = failed_event('model_error', 'The model could not make this image.')
            outcome = 'model_error'
        finally:
            progress.end()
            self._log(outcome)
        self._emit(closing)

    async def _in_time(self, progress: Progress) -> Event:
        left = self._request.deadline_seconds - time.time()
        late = Failure('deadline', 'The deadline came before the images were ready.')
        stopping = Failure('model_error', 'The server is stopping.')
        if self._stopped:
            raise stopping
        if left <= 0:
            raise late
        try:
            async with asyncio.timeout(left) as alarm:
                self._alarm = alarm
                return await self._produce(time.monotonic() + left, progress)
        except TimeoutError:
            if not alarm.expired():
                raise
            raise (stopping if self._stopped else late) from None
        finally:
            self._alarm = None

    async def _produce(self, deadline: float, progress: Progress) -> Event:
        request, lane = self._request, self._workshop.lane
        outputs = request.num_outputs
        place = self._place = lane.join(outputs, outputs * request.work, deadline, progress.reach)
        try:
            await together(self._fetch_references(place), self._fetch_adapter(place))
            lane.begin(place, self._work())
            # From here on the images live with the place, until they are painted from.
            self._references = []
            delivered = await together(*(self._output(place, index) for index in range(outputs)))
            return completed_event(delivered, place.references_used, self._workshop.model_version)
        finally:
            lane.leave(place)

    async def _fetch_references(self, place: Place) -> None:
        workshop, urls = self._workshop, [reference.url for reference in self._request.references]
        if not urls:
            return
        await workshop.reference_gate.acquire()
        place.cleanups.append(workshop.reference_gate.release)
        seconds = workshop.settings.link_timeout_seconds
        fetched = await fetch_references(workshop.links, urls, seconds)
        self._references = [found.reference for found in fetched]
        self._reference_digests = [found.sha256 for found in fetched]

    async def _fetch_adapter(self, place: Place) -> None:
        adapters = self._workshop.adapters
        adapter = self._adapter = await adapters.hold(self._request.identity)
        if adapter is not None:
            place.cleanups.append(lambda: adapters.release(adapter))

    def _work(self) -> Work:
        request = self._request
        orders = [
            Order(
                prompt=request.prompt,
                negative_prompt=request.negative_prompt,
                seed=seed_of(request, index),
                steps=request.num_inference_steps,
                guidance_scale=request.guidance_scale,
                width=request.width,
                height=request.height,
                references=tuple(self._references),
                reference_mode=request.reference_mode,
                preserve_branding=request.preserve_branding,
                settings=request.identity.settings,
            )
            for index in range(request.num_outputs)
        ]
        return Work(orders, self._adapter)

    async def _output(self, place: Place, index: int) -> Event:
        workshop, request = self._workshop, self._request
        image = await place.images[index]
        texts = describe_output(request, index, self._reference_digests, workshop.model_version)
        link, seconds = request.outputs[index].put_url, workshop.settings.link_timeout_seconds
        return await deliver(workshop.links, link, image, request.output_format, texts, seconds)

    def _log(self, outcome: str) -> None:
        request, place = self._request, self._place
        wait_ms, paint_ms = (place.wait_ms, place.paint_ms) if place else (None, None)
        self._workshop.observer.log(
            'request',
            requestId=request.request_id,
            identityId=request.identity.id,
            adapterVersion=request.identity.adapter_version,
            width=request.width,
            height=request.height,
            steps=request.num_inference_steps,
            outputs=request.num_outputs,
            references=len(request.references),
            queueWaitMs=wait_ms and round(wait_ms),
            paintMs=paint_ms and round(paint_ms),
            outcome=outcome,
        )
