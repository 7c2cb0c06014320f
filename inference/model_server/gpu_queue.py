"""The queue of requests in front of the GPU."""

import asyncio
import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from PIL import Image

from .failure import Failure
from .gpu_thread import GpuThread
from .observing import Observer
from .painting import Cancelled, PaintedImage, Work, paint
from .pipelines.engine import Adapter, Engine

State = Literal['warming', 'ready', 'dead']

# Weight of the newest output in the moving average of a step's time.
_WEIGHT = 0.3


@dataclass(eq=False)
class QueuedRequest:
    """A request in the queue. The event loop writes it; the GPU's thread reads `cancelled`."""

    #: Outputs x steps x megapixels.
    size: float
    #: Called with the number of finished steps, of all outputs together.
    on_step: Callable[[int], None]
    images: list[asyncio.Future[Image.Image]]
    joined: float = field(default_factory=time.monotonic)
    work: Work | None = None
    #: Called when the GPU needs nothing of the request any more, also after a failure.
    cleanups: list[Callable[[], None]] = field(default_factory=list)
    #: The share of the work that is done.
    done: float = 0
    cancelled: bool = False
    references_used: int = 0
    wait_ms: float | None = None
    paint_ms: float | None = None

    def fail(self, failure: Failure) -> None:
        """Raises the failure where the next image is awaited."""
        for image in self.images:
            if not image.done():
                image.set_exception(failure)
                return

    def clean_up(self) -> None:
        """Frees memory and calls the cleanups."""
        self.work = None
        while self.cleanups:
            self.cleanups.pop()()


class GpuQueue:
    """Paints one request at a time: the oldest whose inputs are fetched. For one event loop."""

    def __init__(self, engine: Engine, observer: Observer, max_waiting: int, stuck_seconds: float) -> None:
        self._engine = engine
        self._observer = observer
        self._max_waiting = max_waiting
        self._stuck_seconds = stuck_seconds
        self._thread = GpuThread()
        self._waiting: list[QueuedRequest] = []
        self._current: QueuedRequest | None = None
        self._wake = asyncio.Event()
        self._warm = False
        self._ended = False
        self._adapter: Adapter | None = None
        # Seconds of one step of one output, for a megapixel.
        self._step_seconds: float | None = None
        self._last_step = 0.0

    @property
    def state(self) -> State:
        """The queue is also dead when the GPU finished no step for `stuck_seconds`."""
        stuck = self._current is not None and time.monotonic() - self._last_step > self._stuck_seconds
        if self._ended or stuck or not self._thread.alive:
            return 'dead'
        return 'ready' if self._warm else 'warming'

    async def run(self) -> None:
        """Warms the engine up, then paints until the engine is lost. Raises what `warm` raises."""
        try:
            await self._thread.call(self._engine.warm)
            self._warm = True
            while self._thread.alive:
                await self._paint(await self._next())
        finally:
            self._ended = True
            for queued in self._waiting:
                queued.fail(_restarting_failure())

    def enqueue(
        self, outputs: int, size: float, deadline: float, on_step: Callable[[int], None]
    ) -> QueuedRequest:
        """
        Adds a request of `size` (outputs x steps x megapixels) to the queue.

        `deadline` is in seconds of the monotonic clock. Raises Failure('busy').
        """
        if self.state == 'dead':
            raise _restarting_failure()
        if len(self._waiting) >= self._max_waiting:
            raise Failure('busy', 'Too many requests are waiting for the model.')
        # An idle GPU takes every request, so that a wrong estimate is measured again.
        if (self._waiting or self._current) and time.monotonic() + self._estimate(size) > deadline:
            raise Failure('busy', 'The line is too long to meet the deadline.')
        loop = asyncio.get_running_loop()
        queued = QueuedRequest(size, on_step, [loop.create_future() for _ in range(outputs)])
        self._waiting.append(queued)
        return queued

    def start(self, queued: QueuedRequest, work: Work) -> None:
        """The inputs of the request are fetched: it may be painted."""
        queued.work = work
        self._wake.set()

    def cancel(self, queued: QueuedRequest) -> None:
        """Ends a request at any time. What is not painted yet will not be painted."""
        queued.cancelled = True
        if queued in self._waiting:
            self._waiting.remove(queued)
        if queued is not self._current:
            queued.clean_up()
        for image in queued.images:
            image.cancel()

    def _estimate(self, size: float) -> float:
        """Seconds until work of this size would be finished; 0 before anything was measured."""
        before = sum(queued.size for queued in self._waiting)
        if self._current is not None and not self._current.cancelled:
            before += self._current.size * (1 - self._current.done)
        return (before + size) * (self._step_seconds or 0)

    async def _next(self) -> QueuedRequest:
        while True:
            for queued in self._waiting:
                # A request whose inputs are still being fetched must not delay the ones behind it.
                if queued.work is not None:
                    return queued
            self._wake.clear()
            await self._wake.wait()

    async def _paint(self, queued: QueuedRequest) -> None:
        assert queued.work is not None
        work, began = queued.work, time.monotonic()
        self._waiting.remove(queued)
        queued.wait_ms = (began - queued.joined) * 1000
        self._observer.metric('QueueWait', queued.wait_ms)
        self._current, self._last_step = queued, began
        listener = _QueueListener(self, queued, work)
        try:
            await self._thread.call(lambda: paint(self._engine, work, listener))
        except Cancelled:
            pass
        except Failure as failure:
            queued.fail(failure)
        except Exception as error:
            # A cancelled painting may end with an error of the engine.
            if not queued.cancelled or not self._thread.alive:
                self._observer.fault('the engine failed', error)
            queued.fail(Failure('model_error', 'The model could not make this image.'))
        finally:
            self._current = None
            queued.clean_up()

    def on_adapter(self, adapter: Adapter | None, seconds: float) -> None:
        """Measures the load time only when the adapter changes."""
        if adapter is not None and adapter != self._adapter:
            self._observer.metric('AdapterLoad', seconds * 1000)
        self._adapter = adapter

    def on_step_done(self, queued: QueuedRequest, done: int, steps: int) -> None:
        """A step is finished."""
        self._last_step = time.monotonic()
        queued.done = done / steps
        if not queued.cancelled:
            queued.on_step(done)

    def on_image(self, queued: QueuedRequest, index: int, size: float, output: PaintedImage) -> None:
        """An output is painted; `size` is its own work."""
        measured = output.seconds / size
        before = self._step_seconds
        self._step_seconds = measured if before is None else before + _WEIGHT * (measured - before)
        self._observer.metric('StepTime', output.step_ms)
        if output.peak_memory_bytes is not None:
            self._observer.metric('VideoMemory', output.peak_memory_bytes)
        queued.references_used = output.references_used
        queued.paint_ms = (queued.paint_ms or 0) + output.seconds * 1000
        if not queued.images[index].done():
            queued.images[index].set_result(output.image)


class _QueueListener:
    """Passes events of the GPU's thread on to the event loop."""

    def __init__(self, queue: GpuQueue, queued: QueuedRequest, work: Work) -> None:
        self._queue = queue
        self._queued = queued
        self._work = work
        self._loop = asyncio.get_running_loop()
        self._steps = sum(spec.steps for spec in work.specs)

    def _call_in_loop(self, call: Callable[[], None]) -> None:
        # The loop is closed when the process ends meanwhile.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(call)

    def cancelled(self) -> bool:
        return self._queued.cancelled

    def adapter_used(self, seconds: float) -> None:
        self._call_in_loop(lambda: self._queue.on_adapter(self._work.adapter, seconds))

    def step(self, done: int) -> None:
        self._call_in_loop(lambda: self._queue.on_step_done(self._queued, done, self._steps))

    def painted(self, index: int, output: PaintedImage) -> None:
        size = self._queued.size / len(self._work.specs)
        self._call_in_loop(lambda: self._queue.on_image(self._queued, index, size, output))


def _restarting_failure() -> Failure:
    return Failure('busy', 'The model is being restarted.')
