"""What is done for a request beside the GPU, before its turn."""

from collections.abc import Callable, Sequence

from .engine_thread import EngineThread
from .line import QueuedRequest
from .painting import Work, prepare
from .pipelines.engine import Adapter, Engine, ImageSpec
from .slots import FairSlots


class Preparing:
    """
    Reads adapters, encodes prompts and cuts products out while the GPU paints, for one request at a time.

    Who is painted next is prepared next, so that a tenant with many requests keeps no other waiting here.
    """

    def __init__(self, engine: Engine, in_order: Callable[[], Sequence[QueuedRequest]]) -> None:
        """`in_order` answers all requests in the line, the next one first."""
        self._engine = engine
        self._thread = EngineThread('preparing')
        self._slot = FairSlots(1, in_order)

    @property
    def alive(self) -> bool:
        """Whether it accepts requests."""
        return self._thread.alive

    @property
    def busy_seconds(self) -> float:
        """How long the present request takes already; 0 without one."""
        return self._thread.busy_seconds

    async def prepare(
        self, queued: QueuedRequest, spec: ImageSpec, seeds: Sequence[int], adapter: Adapter | None
    ) -> Work:
        """Returns what is to be painted. The request must be in the line. Raises what the engine raises."""
        await self._slot.acquire(queued)
        try:
            return await self._thread.call(lambda: prepare(self._engine, spec, seeds, adapter))
        finally:
            self._slot.release()
