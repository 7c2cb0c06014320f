"""The queue of requests in front of the GPU."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Literal

from .concurrency import EngineThread
from .estimate import Estimate, Probes
from .failure import Failure
from .fair_queue import FairQueue, QueuedRequest
from .generation import Cancelled, GeneratedImage, PreparedRequest, generate
from .observing import Observer
from .pipelines.engine import Adapter, Engine, ImageSpec, LoadedAdapter, Order
from .preprocessing import Preprocessor
from .progress_events import ProgressEvents, QueuePosition
from .settings import Settings

State = Literal['warming', 'ready', 'dead']


class GpuQueue:
    """Runs one request at a time, and shares the GPU fairly between tenants. For one event loop."""

    def __init__(self, engine: Engine, observer: Observer, settings: Settings) -> None:
        self._engine = engine
        self._observer = observer
        self._settings = settings
        self._thread = EngineThread('gpu')
        self._queue = FairQueue()
        self._preprocessor = Preprocessor(engine, self.in_order)
        self._current: QueuedRequest | None = None
        self._wake = asyncio.Event()
        self._warm = asyncio.Event()
        self._ended = False
        self._adapter: Adapter | None = None
        self._estimate = Estimate(engine)
        self._probes = Probes(settings.probe_seconds)
        # The position of each waiting request, and the size of the work before it. None: to be made anew.
        self._positions: dict[QueuedRequest, tuple[int, float]] | None = None
        self._last_step = 0.0

    @property
    def state(self) -> State:
        """Also `dead` when the GPU finished no step, or no request was prepared, for `stuck_seconds`."""
        step_seconds = 0 if self._current is None else time.monotonic() - self._last_step
        stuck = max(step_seconds, self._preprocessor.thread.busy_seconds) > self._settings.stuck_seconds
        if self._ended or stuck or not self._alive:
            return 'dead'
        return 'ready' if self._warm.is_set() else 'warming'

    @property
    def model_version(self) -> str:
        """The engine's."""
        return self._engine.model_version

    async def run(self) -> None:
        """Warms the engine up, then generates until the engine is lost. Raises what that raises."""
        try:
            await self._thread.call(self._engine.warm)
            await self._preprocessor.warm()
            self._warm.set()
            while (queued := await self._next()) is not None:
                await self._generate(queued)
        finally:
            self._ended = True
            for queued in self._queue.in_order():
                queued.fail(restarting_failure())

    def enqueue(
        self, order: Order, tenant: str, deadline: float, progress: ProgressEvents, observer: Observer
    ) -> QueuedRequest:
        """
        Adds a request to the queue. `deadline` is in seconds of the monotonic clock.
        Raises Failure `busy`, or `unavailable`.

        When the queue is full, the tenant with the most requests in it makes room for one that has fewer.
        """
        if self.state == 'dead':
            raise restarting_failure()
        leaving = None
        if len(self._queue) >= self._settings.max_waiting:
            leaving = self._queue.last_of_heaviest(tenant)
            if leaving is None:
                raise _full_failure()
        loop = asyncio.get_running_loop()
        images = [loop.create_future() for _ in range(order.outputs)]
        queued = QueuedRequest(tenant, self._estimate.size(order), deadline, progress, images, observer)
        idle = self._current is None and not len(self._queue)
        self._queue.add(queued)
        self._positions = None
        if self._is_late(queued, self._begins_in(queued, leaving)):
            if not idle or not self._probes.take(tenant):
                self._leave(queued)
                raise _late_failure(idle)
            queued.probe = True
        if leaving is not None:
            self._leave(leaving)
            leaving.fail(_full_failure())
        if not self._warm.is_set() or self._current is not None or next(self._queue.in_order()) is not queued:
            self._notify(queued)
        return queued

    async def prepare(
        self, queued: QueuedRequest, spec: ImageSpec, seeds: Sequence[int], adapter: Adapter | None
    ) -> None:
        """Prepares a request whose inputs are fetched; then it may start. Raises what the engine raises."""
        await self._warm.wait()
        try:
            queued.prepared = await self._preprocessor.prepare(queued, spec, seeds, adapter)
        finally:
            # Also when the engine was lost: then nothing is generated any more.
            self._wake.set()

    def cancel(self, queued: QueuedRequest) -> None:
        """Ends a request at any time. What is not generated yet will not be generated."""
        queued.cancelled = True
        self._leave(queued)
        if queued is not self._current:
            queued.clean_up()
        for image in queued.images:
            image.cancel()

    def position_of(self, queued: QueuedRequest) -> QueuePosition | None:
        """The position of a waiting request; None when it does not wait any more."""
        if self._positions is None:
            self._positions, before = {}, 0.0
            for position, each in enumerate(self._queue.in_order(), 1):
                self._positions[each] = position, before
                before += each.size
        if queued not in self._positions:
            return None
        position, before = self._positions[queued]
        return QueuePosition(position, self._estimate.seconds(self._left_of_current() + before))

    def in_order(self) -> list[QueuedRequest]:
        """All waiting requests, in the order of their turns as it looks now."""
        return list(self._queue.in_order())

    def _left_of_current(self) -> float:
        current = self._current
        return 0 if current is None or current.cancelled else current.size * (1 - current.done)

    def _begins_in(self, queued: QueuedRequest, leaving: QueuedRequest | None) -> float:
        """Seconds until a request in the queue begins, once `leaving` has left it."""
        others = takewhile(lambda each: each is not queued, self._queue.in_order())
        before = sum(each.size for each in others if each is not leaving)
        return self._estimate.seconds(self._left_of_current() + before)

    def _is_late(self, queued: QueuedRequest, begins_in: float) -> bool:
        """Whether the estimate says that the deadline comes before the images."""
        seconds = begins_in + self._estimate.seconds(queued.size)
        # Zero: nothing was measured yet, so nothing is refused.
        return seconds > 0 and time.monotonic() + seconds > queued.deadline

    def _leave(self, queued: QueuedRequest) -> None:
        if self._queue.remove(queued):
            self._positions = None
            self._notify_all()

    def _notify_all(self) -> None:
        for queued in self._queue.in_order():
            self._notify(queued)

    def _notify(self, queued: QueuedRequest) -> None:
        position = self.position_of(queued)
        if position is not None:
            queued.progress.queued(position)

    @property
    def _alive(self) -> bool:
        return self._thread.alive and self._preprocessor.thread.alive

    async def _next(self) -> QueuedRequest | None:
        """Waits for a request that is prepared; None once the engine is lost."""
        while self._alive:
            queued = self._queue.first_ready()
            if queued is None:
                self._wake.clear()
                await self._wake.wait()
            elif self._is_late(queued, 0) and not queued.probe:
                self._leave(queued)
                queued.fail(_late_failure(idle=False))
            else:
                return queued
        return None

    def _begin(self, queued: QueuedRequest) -> None:
        began = time.monotonic()
        self._queue.start(queued)
        self._positions = None
        queued.wait_ms = (began - queued.queued_at) * 1000
        self._observer.metric('QueueWait', queued.wait_ms)
        self._current, self._last_step = queued, began
        queued.progress.started()
        self._notify_all()

    def _end(self, queued: QueuedRequest) -> None:
        self._current = None
        self._queue.finish(queued)
        self._positions = None
        if queued.generation_ms is None and queued.pace is not None:
            # It was ended in its first image. Its steps say how long that would have taken.
            self._estimate.learn(1, queued.pace, probe=queued.probe)
        if queued.probe and queued.done >= 1 and not queued.cancelled:
            self._probes.succeeded()
        queued.clean_up()

    async def _generate(self, queued: QueuedRequest) -> None:
        assert queued.prepared is not None
        prepared = queued.prepared
        queued.references_used = prepared.image.references_used
        self._begin(queued)
        listener = _GpuListener(self, queued, prepared)
        try:
            await self._thread.call(lambda: generate(self._engine, prepared, listener))
        except Cancelled:
            pass
        except Failure as failure:
            queued.fail(failure)
        except Exception as error:
            # A cancelled generation may end with an error of the engine.
            if not queued.cancelled or not self._thread.alive:
                queued.observer.fault('the engine failed', error)
            queued.fail(Failure('model_error', 'The model could not make this image.'))
        finally:
            self._end(queued)

    def on_adapter(self, loaded: LoadedAdapter | None, seconds: float) -> None:
        """Measures the load time only when the adapter changes."""
        adapter = None if loaded is None else loaded.adapter
        if adapter is not None and adapter != self._adapter:
            self._observer.metric('AdapterLoad', seconds * 1000)
        self._adapter = adapter

    def on_step_done(self, queued: QueuedRequest, done: int, steps: int, at: float) -> None:
        """A step was finished at this time."""
        self._last_step = at
        queued.done = done / steps
        if queued.cancelled:
            return
        queued.time_step(at)
        queued.progress.progressed(done)
        if queued.probe and queued.pace is not None:
            left = queued.pace * queued.size * (1 - queued.done)
            if at + left > queued.deadline:
                # The estimate was right: to go on would only delay others.
                queued.cancelled = True
                queued.fail(_late_failure(idle=True))

    def on_image(self, queued: QueuedRequest, index: int, size: float, output: GeneratedImage) -> None:
        """An output is generated; `size` is its own work."""
        self._estimate.learn(size, output.seconds, probe=queued.probe)
        self._observer.metric('StepTime', output.step_ms)
        if output.peak_memory_bytes is not None:
            self._observer.metric('VideoMemory', output.peak_memory_bytes)
        queued.generation_ms = (queued.generation_ms or 0) + output.seconds * 1000
        if not queued.images[index].done():
            queued.images[index].set_result(output.make_picture)


class _GpuListener:
    """Passes events of the GPU's thread on to the event loop."""

    def __init__(self, queue: GpuQueue, queued: QueuedRequest, prepared: PreparedRequest) -> None:
        self._queue = queue
        self._queued = queued
        self._prepared = prepared
        self._loop = asyncio.get_running_loop()
        self._steps = prepared.steps * len(prepared.seeds)

    def _call_in_loop(self, call: Callable[[], None]) -> None:
        # The loop is closed when the process ends meanwhile.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(call)

    def cancelled(self) -> bool:
        return self._queued.cancelled

    def adapter_used(self, seconds: float) -> None:
        self._call_in_loop(lambda: self._queue.on_adapter(self._prepared.adapter, seconds))

    def step(self, done: int) -> None:
        at = time.monotonic()
        self._call_in_loop(lambda: self._queue.on_step_done(self._queued, done, self._steps, at))

    def generated(self, index: int, output: GeneratedImage) -> None:
        size = self._queued.size / len(self._prepared.seeds)
        self._call_in_loop(lambda: self._queue.on_image(self._queued, index, size, output))


def restarting_failure() -> Failure:
    return Failure('unavailable', 'The model is being restarted.')


def _full_failure() -> Failure:
    return Failure('busy', 'Too many requests are waiting for the model.')


def _late_failure(idle: bool) -> Failure:
    if idle:
        return Failure('busy', 'The model takes longer for this image than there is time until the deadline.')
    return Failure('busy', 'The queue is too long to meet the deadline.')
