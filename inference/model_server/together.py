"""Several things at once, of which the first failure ends the others."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar('T')


async def together(*works: Coroutine[Any, Any, T]) -> list[T]:
    """Answers all results in order, or raises the first error itself, after all have ended."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work) for work in works]
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return [task.result() for task in tasks]
