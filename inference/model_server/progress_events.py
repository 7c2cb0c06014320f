"""The events of a request before its closing event: queued, started and progress."""

import asyncio
from collections.abc import Callable
from math import ceil
from typing import NamedTuple

from .contract import Event, GenerationRequest, progress_event, queued_event, started_event


class QueuePosition(NamedTuple):
    """Where a request stands in the queue."""

    #: 1 for the one that begins next.
    position: int
    #: Until it begins, as estimated; 0 before anything was measured.
    eta_seconds: float


class ProgressEvents:
    """
    Sends a request's position in the queue, its start, and its progress, which never goes back.

    After every few seconds without an event the present state is sent again. A request without a tenant comes
    from a service that does not know `queued`: it gets `started` at once, and progress 0 while it waits.
    """

    def __init__(self, request: GenerationRequest, emit: Callable[[Event], None], seconds: float) -> None:
        self._request = request
        self._emit = emit
        self._seconds = seconds
        self._furthest = 0
        self._position: int | None = None
        self._started = False
        #: Returns the request's position, once it is in the queue.
        self.position: Callable[[], QueuePosition | None] = lambda: None
        self._timer = self._schedule()
        if not request.tenant:
            self.started()

    def queued(self, position: QueuePosition) -> None:
        """Sends the position when it is better than the one that was sent before."""
        improved = self._position is None or position.position < self._position
        if not self._stopped and not self._started and improved:
            self._send_position(position)

    def started(self) -> None:
        """Sends that the generation begins."""
        if not self._stopped and not self._started:
            self._started = True
            self._send(started_event())

    def progressed(self, done: int) -> None:
        """Sends a step when it is further than all before; `done` counts the steps of all outputs."""
        step = min(done // self._request.num_outputs, self._request.num_inference_steps)
        if not self._stopped and step > self._furthest:
            self._furthest = step
            self._send(self._progress())

    def stop(self) -> None:
        """Sends nothing more."""
        self._timer.cancel()

    @property
    def _stopped(self) -> bool:
        return self._timer.cancelled()

    def _repeat(self) -> None:
        position = None if self._started else self.position()
        if position is not None:
            self._send_position(position)
        elif self._started:
            self._send(self._progress())

    def _send_position(self, position: QueuePosition) -> None:
        self._position = position.position
        self._send(queued_event(position.position, ceil(position.eta_seconds)))

    def _progress(self) -> Event:
        return progress_event(self._furthest, self._request.num_inference_steps)

    def _send(self, event: Event) -> None:
        self._timer.cancel()
        self._emit(event)
        self._timer = self._schedule()

    def _schedule(self) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(self._seconds, self._repeat)
