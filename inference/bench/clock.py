"""Seconds, memory, and where the time of an image goes."""

import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any

import torch


def now_seconds() -> float:
    """The time once the GPU has done all work that was given to it."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


@dataclass
class Clock:
    """Measures work until the GPU has done it, too."""

    #: The highest since it was last reset; the engines reset PyTorch's own with each image.
    peak_bytes: int = 0

    def seconds(self, work: Callable[[], object]) -> float:
        """How long the work takes."""
        began = now_seconds()
        work()
        seconds = now_seconds() - began
        if torch.cuda.is_available():
            self.peak_bytes = max(self.peak_bytes, torch.cuda.max_memory_allocated())
        return seconds

    def reset_peak(self) -> None:
        """What comes next is measured by itself."""
        self.peak_bytes = 0
        if torch.cuda.is_available():
            torch.cuda.reset_peak_memory_stats()


def measure_phases(pipe: Any, generate: Callable[[], object]) -> dict[str, float]:
    """
    Seconds of preparing (encoding the prompt), denoising and decoding of one image.

    Denoising begins when the scheduler gets the number of steps: all pipelines do that once the prompt is
    encoded.
    """
    began: dict[str, float] = {}

    def enter(phase: str) -> None:
        # Only the first time counts.
        began.setdefault(phase, now_seconds())

    with (
        _notify_before(pipe.scheduler, 'set_timesteps', lambda: enter('denoise')),
        _notify_before(pipe.vae, 'decode', lambda: enter('decode')),
    ):
        enter('prepare')
        generate()
        end = now_seconds()
    ends = [*list(began.values())[1:], end]
    return {phase: after - before for (phase, before), after in zip(began.items(), ends, strict=True)}


@contextmanager
def _notify_before(of: Any, method: str, notify: Callable[[], None]) -> Generator[None, None, None]:
    """Calls `notify` before each call of the method."""
    own = getattr(of, method)

    # Pipelines read its signature.
    @wraps(own)
    def call(*args: Any, **more: Any) -> Any:
        notify()
        return own(*args, **more)

    object.__setattr__(of, method, call)
    try:
        yield
    finally:
        object.__delattr__(of, method)


def gpu_seconds(generate: Callable[[], object]) -> float | None:
    """
    In how much of the time some kernel or copy ran on the GPU; None without one, or where no profiler works.

    Divide it by the time that the same image takes without the profiler, which slows the processor down and
    not the GPU.
    """
    if not torch.cuda.is_available():
        return None
    from torch.autograd import DeviceType
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        generate()
        torch.cuda.synchronize()
    spans = [
        (event.time_range.start, event.time_range.end)
        for event in profiler.events()
        # Annotations are marks around kernels, and no work.
        if event.device_type == DeviceType.CUDA and not event.is_user_annotation
    ]
    return covered(spans) / 1e6 if spans else None


def covered(spans: Iterable[tuple[float, float]]) -> float:
    """The length that the spans cover together, where they overlap once."""
    total, reached = 0.0, float('-inf')
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total
