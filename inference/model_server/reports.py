"""What a caller is told between its request and the closing event."""

import asyncio
from collections.abc import Callable
from math import ceil

from .contract import Event, PaintRequest, progress_event, queued_event, started_event
from .line import Place


class Reports:
    """
    Reports the place in the line, the beginning, and progress, which never goes back.

    Every few seconds without news the present state is reported again. A request without a tenant comes from
    a service that does not know `queued`: it is told `started` at once, and while it waits that nothing is
    done yet.
    """

    def __init__(self, request: PaintRequest, emit: Callable[[Event], None], seconds: float) -> None:
        self._request = request
        self._emit = emit
        self._seconds = seconds
        self._furthest = 0
        self._position: int | None = None
        self._begun = False
        #: Answers where the request stands in the line, once it does.
        self.place: Callable[[], Place | None] = lambda: None
        self._timer = self._schedule()
        if not request.tenant:
            self.begin()

    def wait(self, place: Place) -> None:
        """Reports the place in the line when it is better than the one that was told before."""
        if (
            not self._ended
            and not self._begun
            and (self._position is None or place.position < self._position)
        ):
            self._tell(place)

    def begin(self) -> None:
        """Reports that the painting begins."""
        if not self._ended and not self._begun:
            self._begun = True
            self._say(started_event())

    def reach(self, done: int) -> None:
        """Reports a step when it is further than all before; `done` counts the steps of all outputs."""
        step = min(done // self._request.num_outputs, self._request.num_inference_steps)
        if not self._ended and step > self._furthest:
            self._furthest = step
            self._say(self._progress())

    def end(self) -> None:
        """Ends the reports."""
        self._timer.cancel()

    @property
    def _ended(self) -> bool:
        return self._timer.cancelled()

    def _repeat(self) -> None:
        place = None if self._begun else self.place()
        if place is not None:
            self._tell(place)
        elif self._begun:
            self._say(self._progress())

    def _tell(self, place: Place) -> None:
        self._position = place.position
        self._say(queued_event(place.position, ceil(place.eta_seconds)))

    def _progress(self) -> Event:
        return progress_event(self._furthest, self._request.num_inference_steps)

    def _say(self, event: Event) -> None:
        self._timer.cancel()
        self._emit(event)
        self._timer = self._schedule()

    def _schedule(self) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(self._seconds, self._repeat)
