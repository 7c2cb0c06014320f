"""Seconds, and what is evaluated in them."""

import hashlib
import time
from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity
from torch.profiler import profile as profiling
from torch.utils._pytree import tree_leaves, tree_map_only

from model_server.pipelines.graphs import Capture, capture_on_card

_T = TypeVar('_T')

# Calls that gauge how fast the CPU starts an operation, which is the machine's noise.
_GAUGE_CALLS = 2000
#: So many kernels that take longest have their names in a row.
_TOP_KERNELS = 12


def now_seconds() -> float:
    """The time once the GPU has done all work that was given to it."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


def timed(work: Callable[[], _T]) -> tuple[float, _T]:
    """How long the work takes, on the GPU too, and what it answers."""
    began = now_seconds()
    answer = work()
    return now_seconds() - began, answer


def seconds(work: Callable[[], object]) -> float:
    """How long the work takes, on the GPU too."""
    return timed(work)[0]


def gauge_us() -> float:
    """Microseconds to start an operation that computes nothing worth mentioning."""
    number = torch.zeros(1, device='cuda' if torch.cuda.is_available() else 'cpu')
    return seconds(lambda: [number.add_(1) for _ in range(_GAUGE_CALLS)]) / _GAUGE_CALLS * 1e6


def digest_tensors(tree: Any) -> str:
    """SHA-256 over the bytes of all tensors."""
    whole = hashlib.sha256()
    for tensor in tree_leaves(tree):
        whole.update(tensor.contiguous().view(torch.uint8).cpu().numpy().tobytes())
    return whole.hexdigest()


def open_capture() -> Capture:
    """Makes CUDA graphs; on a CPU a replay computes all again."""

    def stand_in(work: Callable[[], Any]) -> tuple[Any, Callable[[], None]]:
        def replay() -> None:
            work()

        return work(), replay

    return capture_on_card() if torch.cuda.is_available() else stand_in


def record_inputs(denoiser: torch.nn.Module, generate: Callable[[], object]) -> tuple[Any, Any]:
    """What a picture's first evaluation gets."""
    found: list[tuple[Any, Any]] = []

    def note(_model: Any, args: Any, named: Any) -> None:
        if not found:
            found.append(tree_map_only(torch.Tensor, torch.clone, (args, named)))

    handle = denoiser.register_forward_pre_hook(note, with_kwargs=True)
    try:
        generate()
    finally:
        handle.remove()
    return found[0]


def profile(generate: Callable[[], object]) -> tuple[float, int, list[tuple[str, float]]]:
    """
    How many seconds kernels and copies ran on the GPU, how many did, and milliseconds of those that took
    longest. On a CPU they are PyTorch's operations.

    Divide the seconds by those of the same without the profiler, which slows the processor down, not the GPU.
    """
    on_card = torch.cuda.is_available()
    activity = ProfilerActivity.CUDA if on_card else ProfilerActivity.CPU
    device = DeviceType.CUDA if on_card else DeviceType.CPU
    with profiling(activities=[activity]) as profiler:
        generate()
        now_seconds()
    took_ms: dict[str, float] = {}
    count = 0
    for event in profiler.events():
        # Annotations are marks around kernels, and no work.
        if event.device_type == device and not event.is_user_annotation:
            name = event.name[:80]
            took_ms[name] = took_ms.get(name, 0) + event.time_range.elapsed_us() / 1e3
            count += 1
    top = sorted(took_ms.items(), key=lambda each: -each[1])[:_TOP_KERNELS]
    return sum(took_ms.values()) / 1e3, count, [(name, round(took, 3)) for name, took in top]
