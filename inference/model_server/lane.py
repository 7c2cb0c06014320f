"""The line of requests before the GPU, and who is next."""

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
from .painting import Left, Painted, Work, paint
from .pipelines.engine import Adapter, Engine

State = Literal['warming', 'ready', 'dead']

# How much the newest output counts in the moving average of a step's time.
_WEIGHT = 0.3


@dataclass(eq=False)
class Place:
    """A request's place in line. The event loop writes it; the GPU's thread reads `left`."""

    #: Outputs x steps x megapixels.
    size: float
    #: Hears the steps that are done, of all outputs together.
    on_step: Callable[[int], None]
    images: list[asyncio.Future[Image.Image]]
    joined: float = field(default_factory=time.monotonic)
    work: Work | None = None
    #: Called once the GPU needs nothing of the request any more, whatever became of it.
    cleanups: list[Callable[[], None]] = field(default_factory=list)
    #: The share of the work that is done.
    done: float = 0
    left: bool = False
    references_used: int = 0
    wait_ms: float | None = None
    paint_ms: float | None = None

    def fail(self, failure: Failure) -> None:
        """Tells whoever waits for the next image."""
        for image in self.images:
            if not image.done():
                image.set_exception(failure)
                return

    def clean_up(self) -> None:
        """Lets go of everything."""
        self.work = None
        while self.cleanups:
            self.cleanups.pop()()


class Lane:
    """Paints one request after the other, the oldest that has all it needs first. One event loop uses it."""

    def __init__(self, engine: Engine, observer: Observer, max_waiting: int, stuck_seconds: float) -> None:
        self._engine = engine
        self._observer = observer
        self._max_waiting = max_waiting
        self._stuck_seconds = stuck_seconds
        self._thread = GpuThread()
        self._line: list[Place] = []
        self._current: Place | None = None
        self._wake = asyncio.Event()
        self._warm = False
        self._ended = False
        self._adapter: Adapter | None = None
        # Of one output's step, for a megapixel.
        self._step_seconds: float | None = None
        self._last_step = 0.0

    @property
    def state(self) -> State:
        """A lane whose GPU finishes no step for a long time counts as dead, too."""
        stuck = self._current is not None and time.monotonic() - self._last_step > self._stuck_seconds
        if self._ended or stuck or not self._thread.alive:
            return 'dead'
        return 'ready' if self._warm else 'warming'

    async def run(self) -> None:
        """Warms the engine, then paints until the engine is lost. Raises what `warm` raises."""
        try:
            await self._thread.call(self._engine.warm)
            self._warm = True
            while self._thread.alive:
                await self._paint(await self._next())
        finally:
            self._ended = True
            for place in self._line:
                place.fail(_restarting())

    def join(self, outputs: int, size: float, deadline: float, on_step: Callable[[int], None]) -> Place:
        """
        Takes a place for so many outputs with a work of `size` (outputs x steps x megapixels).

        `deadline` is in seconds of the monotonic clock. Raises Failure('busy').
        """
        if self.state == 'dead':
            raise _restarting()
        if len(self._line) >= self._max_waiting:
            raise Failure('busy', 'Too many requests are waiting for the model.')
        # With nothing before it a request is tried, so that a wrong estimate does not outlive it.
        if (self._line or self._current) and time.monotonic() + self._estimate(size) > deadline:
            raise Failure('busy', 'The line is too long to meet the deadline.')
        loop = asyncio.get_running_loop()
        place = Place(size, on_step, [loop.create_future() for _ in range(outputs)])
        self._line.append(place)
        return place

    def begin(self, place: Place, work: Work) -> None:
        """Says that a place has all it needs."""
        place.work = work
        self._wake.set()

    def leave(self, place: Place) -> None:
        """Gives a place up, at any time: what is not painted yet never is."""
        place.left = True
        if place in self._line:
            self._line.remove(place)
        if place is not self._current:
            place.clean_up()
        for image in place.images:
            image.cancel()

    def _estimate(self, size: float) -> float:
        """Seconds until a work of this size would be done; 0 before anything was measured."""
        before = sum(place.size for place in self._line)
        if self._current is not None and not self._current.left:
            before += self._current.size * (1 - self._current.done)
        return (before + size) * (self._step_seconds or 0)

    async def _next(self) -> Place:
        while True:
            for place in self._line:
                # Whoever still waits for a slow link is overtaken, so that it holds up nobody else.
                if place.work is not None:
                    return place
            self._wake.clear()
            await self._wake.wait()

    async def _paint(self, place: Place) -> None:
        assert place.work is not None
        work, began = place.work, time.monotonic()
        self._line.remove(place)
        place.wait_ms = (began - place.joined) * 1000
        self._observer.metric('QueueWait', place.wait_ms)
        self._current, self._last_step = place, began
        ears = _Ears(self, place, work)
        try:
            await self._thread.call(lambda: paint(self._engine, work, ears))
        except Left:
            pass
        except Failure as failure:
            place.fail(failure)
        except Exception as error:
            # A painting that was told to end may end in the engine's own words.
            if not place.left or not self._thread.alive:
                self._observer.fault('the engine failed', error)
            place.fail(Failure('model_error', 'The model could not make this image.'))
        finally:
            self._current = None
            place.clean_up()

    def heard_adapter(self, adapter: Adapter | None, seconds: float) -> None:
        """Only a change of adapters says how long one takes to load."""
        if adapter is not None and adapter != self._adapter:
            self._observer.metric('AdapterLoad', seconds * 1000)
        self._adapter = adapter

    def heard_step(self, place: Place, done: int, steps: int) -> None:
        """A step is done."""
        self._last_step = time.monotonic()
        place.done = done / steps
        if not place.left:
            place.on_step(done)

    def heard_image(self, place: Place, index: int, size: float, output: Painted) -> None:
        """An output is painted; `size` is its own work."""
        measured = output.seconds / size
        before = self._step_seconds
        self._step_seconds = measured if before is None else before + _WEIGHT * (measured - before)
        self._observer.metric('StepTime', output.step_ms)
        if output.peak_memory_bytes is not None:
            self._observer.metric('VideoMemory', output.peak_memory_bytes)
        place.references_used = output.references_used
        place.paint_ms = (place.paint_ms or 0) + output.seconds * 1000
        if not place.images[index].done():
            place.images[index].set_result(output.image)


class _Ears:
    """Carries what is heard on the GPU's thread over to the event loop."""

    def __init__(self, lane: Lane, place: Place, work: Work) -> None:
        self._lane = lane
        self._place = place
        self._work = work
        self._loop = asyncio.get_running_loop()
        self._steps = sum(order.steps for order in work.orders)

    def _tell(self, call: Callable[[], None]) -> None:
        # The loop is closed when the process ends meanwhile.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(call)

    def left(self) -> bool:
        return self._place.left

    def adapter_used(self, seconds: float) -> None:
        self._tell(lambda: self._lane.heard_adapter(self._work.adapter, seconds))

    def step(self, done: int) -> None:
        self._tell(lambda: self._lane.heard_step(self._place, done, self._steps))

    def painted(self, index: int, output: Painted) -> None:
        size = self._place.size / len(self._work.orders)
        self._tell(lambda: self._lane.heard_image(self._place, index, size, output))


def _restarting() -> Failure:
    return Failure('busy', 'The model is being restarted.')
