"""What is done for a request beside the GPU, before its turn."""

from collections.abc import Callable, Sequence

from .concurrency import EngineThread
from .fair_queue import FairSemaphore, QueuedRequest
from .generation import PreparedRequest
from .pipelines.engine import Adapter, Engine, ImageSpec


class Preprocessor:
    """
    Reads adapters, encodes prompts and cuts products out while the GPU works, for one request at a time.

    The next request in the queue is prepared next, so that a tenant with many requests delays no other here.
    """

    def __init__(self, engine: Engine, in_order: Callable[[], Sequence[QueuedRequest]]) -> None:
        """`in_order` returns all requests in the queue, the next one first."""
        self._engine = engine
        self.thread = EngineThread('preprocessing')
        self._turn = FairSemaphore(1, in_order)

    async def warm(self) -> None:
        """Once the engine is warm. Raises what the engine raises."""
        await self.thread.call(self._engine.warm_preparing)

    async def prepare(
        self, queued: QueuedRequest, spec: ImageSpec, seeds: Sequence[int], adapter: Adapter | None
    ) -> PreparedRequest:
        """The request must be in the queue, with its inputs fetched. Raises what the engine raises."""

        def prepare() -> PreparedRequest:
            loaded = None if adapter is None else self._engine.read(adapter)
            image = self._engine.prepare(spec)
            return PreparedRequest(image, loaded, seeds, spec.steps)

        await self._turn.acquire(queued)
        try:
            return await self.thread.call(prepare)
        finally:
            self._turn.release()
