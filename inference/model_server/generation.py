"""The work of the GPU's thread for one request."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from .pipelines.engine import Engine, LoadedAdapter, MakePicture, Prepared


class Cancelled(Exception):
    """The request was cancelled, so its generation ends."""


@dataclass(frozen=True)
class PreparedRequest:
    """What the GPU needs for one request; all that needs no turn on the GPU is done."""

    image: Prepared
    adapter: LoadedAdapter | None
    #: One for each output.
    seeds: Sequence[int]
    #: Of each output.
    steps: int


@dataclass(frozen=True)
class GeneratedImage:
    """One finished output."""

    make_picture: MakePicture
    #: From the first step to the last; empty when the engine reports no steps.
    step_ms: Sequence[float]
    #: Of the whole output.
    seconds: float
    peak_memory_bytes: int | None


class GenerationListener(Protocol):
    """Is called on the GPU's thread while it works."""

    def cancelled(self) -> bool:
        """Whether the request was cancelled."""

    def adapter_used(self, seconds: float) -> None:
        """The engine loaded the adapter, or none."""

    def step(self, done: int) -> None:
        """`done` steps are finished, of all outputs together."""

    def generated(self, index: int, output: GeneratedImage) -> None:
        """An output is finished."""


def generate(engine: Engine, request: PreparedRequest, listener: GenerationListener) -> None:
    """Generates all outputs, one by one. Raises Cancelled between steps, and what the engine raises."""
    _check(listener)
    began = time.monotonic()
    engine.use(request.adapter)
    listener.adapter_used(time.monotonic() - began)
    for index, seed in enumerate(request.seeds):
        output = _generate_one(engine, request, seed, index * request.steps, listener)
        listener.step((index + 1) * request.steps)
        listener.generated(index, output)


def _generate_one(
    engine: Engine, request: PreparedRequest, seed: int, before: int, listener: GenerationListener
) -> GeneratedImage:
    times: list[float] = []

    def on_step(done: int) -> None:
        times.append(time.monotonic())
        listener.step(before + max(0, min(done, request.steps)))
        _check(listener)

    _check(listener)
    began = time.monotonic()
    make_picture = engine.paint(request.image, seed, on_step)
    seconds = time.monotonic() - began
    _check(listener)
    step_ms = [(after - start) * 1000 for start, after in pairwise(times)]
    memory = engine.memory_bytes()
    return GeneratedImage(make_picture, step_ms, seconds, memory[1] if memory else None)


def _check(listener: GenerationListener) -> None:
    if listener.cancelled():
        raise Cancelled
