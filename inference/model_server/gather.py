"""Runs coroutines at the same time; the first failure cancels the others."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar('T')


async def gather(*works: Coroutine[Any, Any, T]) -> list[T]:
    """Returns all results in order, or raises the first error after all have ended."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work) for work in works]
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return [task.result() for task in tasks]
