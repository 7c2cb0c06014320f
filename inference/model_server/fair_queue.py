"""The queue of waiting requests: whose turn it is."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import count

from .failure import Failure
from .generation import PreparedRequest
from .observing import Observer
from .pipelines.engine import MakePicture
from .progress_events import ProgressEvents

# A request's own steps show its pace once there are so many.
_STEPS_FOR_PACE = 3


@dataclass(eq=False)
class QueuedRequest:
    """A request in the queue. The event loop writes it; the GPU's thread reads `cancelled`."""

    #: Empty: all requests without a tenant are one tenant's.
    tenant: str
    #: Of all outputs; see `estimate.py`.
    size: float
    #: In seconds of the monotonic clock.
    deadline: float
    progress: ProgressEvents
    images: list[asyncio.Future[MakePicture]]
    observer: Observer
    #: It is tried although the estimate says that it cannot be ready in time.
    probe: bool = False
    queued_at: float = field(default_factory=time.monotonic)
    #: Its number among all that were ever added to the queue.
    number: int = 0
    #: None until its inputs are fetched and prepared.
    prepared: PreparedRequest | None = None
    #: Called when the GPU needs nothing of the request any more, also after a failure.
    cleanups: list[Callable[[], None]] = field(default_factory=list)
    #: The share of the work that is done.
    done: float = 0
    #: Seconds for each unit of size, by its own steps; None before there are enough of them.
    pace: float | None = None
    cancelled: bool = False
    references_used: int = 0
    wait_ms: float | None = None
    generation_ms: float | None = None
    _first_step: tuple[float, float] | None = None
    _steps: int = 0

    def time_step(self, at: float) -> None:
        """A step was finished at this time. The first is not measured, since other work comes before it."""
        self._steps += 1
        if self._first_step is None:
            self._first_step = at, self.done
        began, share = self._first_step
        if self._steps >= _STEPS_FOR_PACE and self.done > share:
            self.pace = (at - began) / ((self.done - share) * self.size)

    def fail(self, failure: Failure) -> None:
        """Raises the failure where the next image is awaited."""
        for image in self.images:
            if not image.done():
                image.set_exception(failure)
                return

    def clean_up(self) -> None:
        """Frees memory and calls the cleanups."""
        self.prepared = None
        while self.cleanups:
            self.cleanups.pop()()


@dataclass
class _Tenant:
    #: The virtual time at which its next request would start, if nothing else did.
    tag: float = 0
    #: In the order of their arrival.
    waiting: list[QueuedRequest] = field(default_factory=list)


class FairQueue:
    """
    Shares the GPU's time between tenants by start-time fair queueing.

    Source: Goyal, Vin and Cheng, "Start-time Fair Queueing", 1996 (https://doi.org/10.1145/248156.248171).
    Virtual time is the start tag of the request that started last. Next is the request with the smallest
    start tag: the finish tag of its tenant's request before it, or virtual time if that is later. A finish
    tag is the start tag plus the size of the request. So the tenant that has had less is first, and no tenant
    saves up for later. A tenant has one tag, for its next request, and its requests have none: a request that
    leaves the queue costs nothing, and one that waits for its inputs claims no time before.
    """

    def __init__(self) -> None:
        self._tenants: dict[str, _Tenant] = {}
        self._now = 0.0
        self._running: QueuedRequest | None = None
        self._numbers = count(1)

    def __len__(self) -> int:
        return sum(len(tenant.waiting) for tenant in self._tenants.values())

    def add(self, queued: QueuedRequest) -> None:
        """Adds a request to the queue."""
        queued.number = next(self._numbers)
        self._tenants.setdefault(queued.tenant, _Tenant()).waiting.append(queued)

    def remove(self, queued: QueuedRequest) -> bool:
        """Takes a request out of the queue. Returns whether it was there."""
        tenant = self._tenants.get(queued.tenant)
        if tenant is None or queued not in tenant.waiting:
            return False
        tenant.waiting.remove(queued)
        self._forget()
        return True

    def first_ready(self) -> QueuedRequest | None:
        """The request whose turn it is, among those that are prepared."""
        ready = [
            (self._start_tag(tenant), queued.number, queued)
            for tenant in self._tenants.values()
            if (queued := next((each for each in tenant.waiting if each.prepared is not None), None))
        ]
        return min(ready)[-1] if ready else None

    def start(self, queued: QueuedRequest) -> None:
        """The request leaves the queue, and its generation starts."""
        tenant = self._tenants[queued.tenant]
        self._now = self._start_tag(tenant)
        tenant.tag = self._now + queued.size
        self._running = queued
        self.remove(queued)

    def finish(self, queued: QueuedRequest) -> None:
        """The generation has ended. The tenant gets back what was not done of it."""
        self._running = None
        self._tenants[queued.tenant].tag -= queued.size * (1 - queued.done)
        self._forget()

    def in_order(self) -> Iterator[QueuedRequest]:
        """All waiting requests, in the order of their turns if all were prepared and no other came."""
        heap = [
            (self._start_tag(tenant), tenant.waiting[0].number, 0, tenant)
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
        """Which request makes room for this tenant: the last of the tenant with the most, if it has more."""
        own = self._tenants.get(tenant)
        waiting = [each.waiting for each in self._tenants.values() if each.waiting]
        most = max(waiting, key=lambda each: (len(each), each[-1].number), default=[])
        return most[-1] if len(most) > (len(own.waiting) if own else 0) else None

    def _start_tag(self, tenant: _Tenant) -> float:
        return max(tenant.tag, self._now)

    def _forget(self) -> None:
        """Forgets the tenants that have no request here and have had no more than their share."""
        busy = self._running
        if busy is None and not len(self):
            # No tenant is there that could be at a disadvantage.
            self._tenants.clear()
            self._now = 0.0
            return
        self._tenants = {
            name: tenant
            for name, tenant in self._tenants.items()
            if tenant.waiting or tenant.tag > self._now or (busy is not None and busy.tenant == name)
        }


class FairSemaphore:
    """
    A semaphore that is given to the request whose turn comes first, not to the one that asked first.

    Otherwise one tenant's many requests would hold it before another tenant's one, whatever its turn is. For
    one event loop.
    """

    def __init__(self, count: int, in_order: Callable[[], Sequence[QueuedRequest]]) -> None:
        """`in_order` returns all requests in the queue, the next one first."""
        self._free = count
        self._in_order = in_order
        self._waiting: dict[QueuedRequest, asyncio.Future[None]] = {}

    async def acquire(self, queued: QueuedRequest) -> None:
        """Waits until it is given to the request, which must be in the queue."""
        if self._free > 0:
            self._free -= 1
            return
        given = self._waiting[queued] = asyncio.get_running_loop().create_future()
        try:
            await given
        except asyncio.CancelledError:
            if not given.cancelled():
                # It was given at the moment when the request was cancelled.
                self.release()
            raise
        finally:
            self._waiting.pop(queued, None)

    def release(self) -> None:
        """Gives it back."""
        for queued in self._in_order():
            given = self._waiting.pop(queued, None)
            if given is not None and not given.done():
                given.set_result(None)
                return
        self._free += 1
