"""Work beside the event loop, and several coroutines at the same time."""

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Coroutine
from queue import SimpleQueue
from typing import Any, TypeVar

from .pipelines.engine import EngineLost

T = TypeVar('T')


async def gather_or_cancel(*works: Coroutine[Any, Any, T]) -> list[T]:
    """All results in order, or the first error: it cancels the others, and is raised when all have ended."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work) for work in works]
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return [task.result() for task in tasks]


class EngineThread:
    """A thread on which an engine works, one call after the other. It ends with the process or the engine."""

    def __init__(self, name: str) -> None:
        self._calls: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._lost = False
        self._began: float | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether it accepts calls."""
        return self._thread.is_alive() and not self._lost

    @property
    def busy_seconds(self) -> float:
        """How long the present call takes already; 0 without one."""
        began = self._began
        return 0 if began is None else time.monotonic() - began

    def _run(self) -> None:
        while not self._lost:
            call = self._calls.get()
            self._began = time.monotonic()
            call()
            self._began = None
            # Otherwise the thread would keep the objects of this call in memory until the next one.
            del call

    async def call(self, work: Callable[[], T]) -> T:
        """Returns what the work returns, or raises what it raises. EngineLost ends the thread."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def run() -> None:
            try:
                settle = _success(future, work())
            except Exception as error:
                self._lost = isinstance(error, EngineLost)
                settle = _failure(future, error)
            except BaseException:
                # Such as SystemExit, which can't end the process from this thread.
                self._lost = True
                settle = _failure(future, EngineLost())
            # The loop is closed when the process ends meanwhile.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(settle)

        self._calls.put(run)
        return await future


def _success(future: asyncio.Future[T], result: T) -> Callable[[], None]:
    return lambda: None if future.done() else future.set_result(result)


def _failure(future: asyncio.Future[T], error: Exception) -> Callable[[], None]:
    return lambda: None if future.done() else future.set_exception(error)
