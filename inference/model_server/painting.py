"""What the GPU's thread does for one request."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from PIL import Image

from .pipelines.engine import Adapter, Engine, Order


class Left(Exception):
    """The request's place was given up, so its painting ends. Nobody is told."""


@dataclass(frozen=True)
class Work:
    """What is to be painted, once everything is there."""

    orders: Sequence[Order]
    adapter: Adapter | None


@dataclass(frozen=True)
class Painted:
    """One finished output."""

    image: Image.Image
    references_used: int
    #: From the first step to the last; empty when the engine reports no steps.
    step_ms: Sequence[float]
    #: Of the whole output.
    seconds: float
    peak_memory_bytes: int | None


class Listener(Protocol):
    """Hears of the work, on the GPU's thread."""

    def left(self) -> bool:
        """Whether the work is of no use any more."""

    def adapter_used(self, seconds: float) -> None:
        """The engine took the adapter on."""

    def step(self, done: int) -> None:
        """So many steps are done, of all outputs together."""

    def painted(self, index: int, output: Painted) -> None:
        """An output is finished."""


def paint(engine: Engine, work: Work, listener: Listener) -> None:
    """Paints all outputs, each by itself. Raises Left between steps, and what the engine raises."""
    _check(listener)
    began = time.monotonic()
    engine.use(work.adapter)
    listener.adapter_used(time.monotonic() - began)
    before = 0
    for index, order in enumerate(work.orders):
        output = _paint_one(engine, order, before, listener)
        before += order.steps
        listener.step(before)
        listener.painted(index, output)


def _paint_one(engine: Engine, order: Order, before: int, listener: Listener) -> Painted:
    times: list[float] = []

    def on_step(done: int) -> None:
        times.append(time.monotonic())
        listener.step(before + max(0, min(done, order.steps)))
        _check(listener)

    _check(listener)
    began = time.monotonic()
    image = engine.paint(order, on_step)
    seconds = time.monotonic() - began
    _check(listener)
    if image.size != (order.width, order.height):
        raise ValueError('The engine painted another size.')
    step_ms = [(after - start) * 1000 for start, after in pairwise(times)]
    memory = engine.memory_bytes()
    return Painted(image, engine.references_used(order), step_ms, seconds, memory[1] if memory else None)


def _check(listener: Listener) -> None:
    if listener.left():
        raise Left
