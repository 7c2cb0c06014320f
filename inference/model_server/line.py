"""The line of waiting requests: whose turn it is."""

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import count
from typing import NamedTuple, Protocol

from PIL import Image

from .failure import Failure
from .painting import Work

# A request's own steps tell its pace once there are so many.
_TELLING_STEPS = 3


class Place(NamedTuple):
    """Where a request stands in the line."""

    #: 1 for the one that begins next.
    position: int
    #: Until it begins, as estimated; 0 before anything was measured.
    eta_seconds: float


class Caller(Protocol):
    """Hears what becomes of its request."""

    def wait(self, place: Place) -> None:
        """It waits, at this place."""

    def begin(self) -> None:
        """Its painting begins."""

    def reach(self, done: int) -> None:
        """So many steps are finished, of all outputs together."""


@dataclass(eq=False)
class QueuedRequest:
    """A request in the queue. The event loop writes it; the GPU's thread reads `cancelled`."""

    #: Empty: all requests without a tenant are one tenant's.
    tenant: str
    #: Of all outputs; see `estimate.py`.
    size: float
    #: In seconds of the monotonic clock.
    deadline: float
    caller: Caller
    images: list[asyncio.Future[Image.Image]]
    #: It is tried although the estimate says that it cannot be ready in time.
    probe: bool = False
    joined: float = field(default_factory=time.monotonic)
    #: Its place among all that ever joined the line.
    number: int = 0
    work: Work | None = None
    #: Called when the GPU needs nothing of the request any more, also after a failure.
    cleanups: list[Callable[[], None]] = field(default_factory=list)
    #: The share of the work that is done.
    done: float = 0
    #: Seconds for each unit of size, by its own steps; None before there are enough of them.
    pace: float | None = None
    cancelled: bool = False
    references_used: int = 0
    wait_ms: float | None = None
    paint_ms: float | None = None
    _first_step: tuple[float, float] | None = None
    _steps: int = 0

    def time_step(self, at: float) -> None:
        """A step was finished at this time. The first is not measured, since other work comes before it."""
        self._steps += 1
        if self._first_step is None:
            self._first_step = at, self.done
        began, share = self._first_step
        if self._steps >= _TELLING_STEPS and self.done > share:
            self.pace = (at - began) / ((self.done - share) * self.size)

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


@dataclass
class _Tenant:
    #: The virtual time at which its next request would start.
    tag: float = 0
    #: In the order of their arrival.
    waiting: list[QueuedRequest] = field(default_factory=list)


class FairLine:
    """
    Shares the GPU's time between tenants by start-time fair queueing.

    Source: Goyal, Vin and Cheng, "Start-time Fair Queueing", 1996 (https://doi.org/10.1145/248156.248171).
    Virtual time is the start tag of the newest painting. The next painting is that with the smallest start
    tag: the finish tag of the tenant's painting before it, or virtual time if that is later. A finish tag is
    the start tag and the size of the work. So who has had less is first, and nobody saves up for later. A
    tenant has one tag, for its next request, and its requests have none: who leaves the line has cost
    nothing, and who waits for inputs claims no time before.
    """

    def __init__(self) -> None:
        self._tenants: dict[str, _Tenant] = {}
        self._now = 0.0
        self._painting: QueuedRequest | None = None
        self._numbers = count(1)

    def __len__(self) -> int:
        return sum(len(tenant.waiting) for tenant in self._tenants.values())

    def join(self, queued: QueuedRequest) -> None:
        """Adds a request to the line."""
        queued.number = next(self._numbers)
        self._tenants.setdefault(queued.tenant, _Tenant(self._now)).waiting.append(queued)

    def leave(self, queued: QueuedRequest) -> bool:
        """Takes a request out of the line, and says whether it was there."""
        tenant = self._tenants.get(queued.tenant)
        if tenant is None or queued not in tenant.waiting:
            return False
        tenant.waiting.remove(queued)
        self._forget()
        return True

    def first_ready(self) -> QueuedRequest | None:
        """The request whose turn it is, among those whose inputs are fetched."""
        ready = [
            (self._start(tenant), queued.number, queued)
            for tenant in self._tenants.values()
            if (queued := next((each for each in tenant.waiting if each.work is not None), None))
        ]
        return min(ready)[-1] if ready else None

    def begin(self, queued: QueuedRequest) -> None:
        """The request leaves the line to be painted."""
        tenant = self._tenants[queued.tenant]
        self._now = self._start(tenant)
        tenant.tag = self._now + queued.size
        self._painting = queued
        self.leave(queued)

    def end(self, queued: QueuedRequest) -> None:
        """The painting has ended. What was not painted of it is given back to the tenant."""
        self._painting = None
        self._tenants[queued.tenant].tag -= queued.size * (1 - queued.done)
        self._forget()

    def in_order(self) -> Iterator[QueuedRequest]:
        """All who wait, in the order of their turns if all inputs were fetched and nobody else came."""
        heap = [
            (self._start(tenant), tenant.waiting[0].number, 0, tenant)
            for tenant in self._tenants.values()
            if tenant.waiting
        ]
        heapify(heap)
        while heap:
            start, _, index, tenant = heappop(heap)
            queued = tenant.waiting[index]
            yield queued
            if index + 1 < len(tenant.waiting):
                following = tenant.waiting[index + 1].number
                heappush(heap, (start + queued.size, following, index + 1, tenant))

    def last_of_heaviest(self, tenant: str) -> QueuedRequest | None:
        """Who makes room for this tenant: the last of the tenant with the most requests, if it has more."""
        own = self._tenants.get(tenant)
        waiting = [each.waiting for each in self._tenants.values() if each.waiting]
        most = max(waiting, key=lambda each: (len(each), each[-1].number), default=[])
        return most[-1] if len(most) > (len(own.waiting) if own else 0) else None

    def _start(self, tenant: _Tenant) -> float:
        return max(tenant.tag, self._now)

    def _forget(self) -> None:
        """Forgets the tenants that have nothing in the line and no more than their share behind them."""
        busy = self._painting
        if busy is None and not len(self):
            # Nobody is there who could be at a disadvantage.
            self._tenants.clear()
            self._now = 0.0
            return
        self._tenants = {
            name: tenant
            for name, tenant in self._tenants.items()
            if tenant.waiting or tenant.tag > self._now or (busy is not None and busy.tenant == name)
        }
