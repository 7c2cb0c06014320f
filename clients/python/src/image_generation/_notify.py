"""Server-sent events as callbacks."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from ._generate import Event
from ._stored import Callback, call_back
from .errors import ConnectionError
from .models import Accepted, Progress, Queued, Started
from .results import Result


@dataclass(frozen=True)
class Callbacks:
    """Who is told what. Those of an `AsyncClient` may be `async def`."""

    on_accepted: Callback[Accepted] | None
    on_queued: Callback[Queued] | None
    on_started: Callable[[], Any] | None
    on_progress: Callback[Progress] | None
    on_disconnected: Callable[[], Any] | None


async def result_after(events: AsyncGenerator[Event | Result, None], callbacks: Callbacks) -> Result:
    """Tells what happens, and returns the result."""
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Result):
                return event
            await _tell(callbacks, event)
    raise ConnectionError('The answer has no result.', answer_began=True)


async def _tell(callbacks: Callbacks, event: Event) -> None:
    if isinstance(event, Accepted):
        await call_back(callbacks.on_accepted, event)
    elif isinstance(event, Queued):
        await call_back(callbacks.on_queued, event)
    elif isinstance(event, Progress):
        await call_back(callbacks.on_progress, event)
    else:
        plain = callbacks.on_started if isinstance(event, Started) else callbacks.on_disconnected
        waiting = plain() if plain is not None else None
        if inspect.isawaitable(waiting):
            await waiting
