"""Limits how many requests hold something at a time, fairly between tenants."""

import asyncio
from collections.abc import Callable, Sequence

from .line import QueuedRequest


class FairSlots:
    """
    A semaphore that is given to the request whose turn comes first, not to the one that asked first.

    Otherwise one tenant's many requests would all get a slot before another tenant's one, which could not be
    painted before that, whatever its turn is. For one event loop.
    """

    def __init__(self, slots: int, in_order: Callable[[], Sequence[QueuedRequest]]) -> None:
        """`in_order` answers all requests in the line, the next one first."""
        self._free = slots
        self._in_order = in_order
        self._asking: dict[QueuedRequest, asyncio.Future[None]] = {}

    async def acquire(self, queued: QueuedRequest) -> None:
        """Waits until the request has a slot. It must be in the line."""
        if self._free > 0:
            self._free -= 1
            return
        given = self._asking[queued] = asyncio.get_running_loop().create_future()
        try:
            await given
        except asyncio.CancelledError:
            if not given.cancelled():
                # It was given in the moment in which nobody wanted it any more.
                self.release()
            raise
        finally:
            self._asking.pop(queued, None)

    def release(self) -> None:
        """Gives a slot back."""
        for queued in self._in_order():
            given = self._asking.pop(queued, None)
            if given is not None and not given.done():
                given.set_result(None)
                return
        self._free += 1
