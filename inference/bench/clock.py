"""Seconds, memory, and where the time of an image goes."""

import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

import torch


def now_seconds() -> float:
    """When the GPU has done all that it was told until now."""
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


@dataclass
class Phases:
    """When the phases of an image began."""

    began: dict[str, float] = field(default_factory=dict)

    def enter(self, phase: str) -> None:
        """Only the first time counts."""
        self.began.setdefault(phase, now_seconds())


def measure_phases(pipe: Any, paint: Callable[[], object]) -> dict[str, float]:
    """
    Seconds of preparing (encoding the prompt), denoising and decoding of one image.

    Denoising begins when the scheduler is told the steps, which all pipelines do once the prompt is encoded.
    """
    phases = Phases()
    with (
        _told(pipe.scheduler, 'set_timesteps', lambda: phases.enter('denoise')),
        _told(pipe.vae, 'decode', lambda: phases.enter('decode')),
    ):
        phases.enter('prepare')
        paint()
        end = now_seconds()
    names = sorted(phases.began, key=lambda name: phases.began[name])
    times = [*(phases.began[name] for name in names), end]
    return {name: after - before for name, before, after in zip(names, times, times[1:], strict=False)}


@contextmanager
def _told(of: Any, method: str, tell: Callable[[], None]) -> Generator[None, None, None]:
    """Tells before each call of the method."""
    own = getattr(of, method)

    # Pipelines read its signature.
    @wraps(own)
    def call(*args: Any, **more: Any) -> Any:
        tell()
        return own(*args, **more)

    object.__setattr__(of, method, call)
    try:
        yield
    finally:
        object.__delattr__(of, method)


def gpu_seconds(paint: Callable[[], object]) -> float | None:
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
        paint()
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
