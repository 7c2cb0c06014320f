"""The work of the GPU's thread for one request."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from PIL import Image

from .pipelines.engine import Adapter, Engine, ImageSpec, LoadedAdapter, Prepared


class Cancelled(Exception):
    """The request was cancelled, so its painting ends."""


@dataclass(frozen=True)
class Work:
    """What to paint for one request, with all that needs no turn on the GPU done."""

    prepared: Prepared
    adapter: LoadedAdapter | None
    #: One for each output.
    seeds: Sequence[int]
    #: Of each output.
    steps: int
    #: Of each output; width and height in pixels.
    size: tuple[int, int]


def prepare(engine: Engine, spec: ImageSpec, seeds: Sequence[int], adapter: Adapter | None) -> Work:
    """Prepares a request whose inputs are fetched. Raises what the engine raises."""
    loaded = None if adapter is None else engine.read(adapter)
    return Work(engine.prepare(spec), loaded, seeds, spec.steps, (spec.width, spec.height))


@dataclass(frozen=True)
class PaintedImage:
    """One finished output."""

    image: Image.Image
    #: From the first step to the last; empty when the engine reports no steps.
    step_ms: Sequence[float]
    #: Of the whole output.
    seconds: float
    peak_memory_bytes: int | None


class Listener(Protocol):
    """Is called on the GPU's thread while it paints."""

    def cancelled(self) -> bool:
        """Whether the request was cancelled."""

    def adapter_used(self, seconds: float) -> None:
        """The engine loaded the adapter, or none."""

    def step(self, done: int) -> None:
        """`done` steps are finished, of all outputs together."""

    def painted(self, index: int, output: PaintedImage) -> None:
        """An output is finished."""


def paint(engine: Engine, work: Work, listener: Listener) -> None:
    """Paints all outputs, each by itself. Raises Cancelled between steps, and what the engine raises."""
    _check(listener)
    began = time.monotonic()
    engine.use(work.adapter)
    listener.adapter_used(time.monotonic() - began)
    for index, seed in enumerate(work.seeds):
        output = _paint_one(engine, work, seed, index * work.steps, listener)
        listener.step((index + 1) * work.steps)
        listener.painted(index, output)


def _paint_one(engine: Engine, work: Work, seed: int, before: int, listener: Listener) -> PaintedImage:
    times: list[float] = []

    def on_step(done: int) -> None:
        times.append(time.monotonic())
        listener.step(before + max(0, min(done, work.steps)))
        _check(listener)

    _check(listener)
    began = time.monotonic()
    image = engine.paint(work.prepared, seed, on_step)
    seconds = time.monotonic() - began
    _check(listener)
    if image.size != work.size:
        raise ValueError('The engine painted another size.')
    step_ms = [(after - start) * 1000 for start, after in pairwise(times)]
    memory = engine.memory_bytes()
    return PaintedImage(image, step_ms, seconds, memory[1] if memory else None)


def _check(listener: Listener) -> None:
    if listener.cancelled():
        raise Cancelled
