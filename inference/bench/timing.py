"""Seconds, and where they go."""

import hashlib
import time
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any
from unittest.mock import patch

import torch
from torch.utils._pytree import tree_leaves, tree_map_only

from model_server.pipelines.graphs import Capture, capture_on_card

# Operations that gauge how fast the CPU starts one, which is noise of the machine and nobody's merit.
_GAUGE_CALLS = 2000
#: The kernels that take longest, as far as a row tells.
_TOP_KERNELS = 12


def now_seconds() -> float:
    """The time once the GPU has done all work that was given to it."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


def seconds(work: Callable[[], object]) -> float:
    """How long the work takes, on the GPU too."""
    began = now_seconds()
    work()
    return now_seconds() - began


def gauge_us() -> float:
    """Microseconds to start an operation that computes nothing worth mentioning."""
    number = torch.zeros(1, device='cuda' if torch.cuda.is_available() else 'cpu')

    def work() -> None:
        for _ in range(_GAUGE_CALLS):
            number.add_(1)

    return seconds(work) / _GAUGE_CALLS * 1e6


def digest_tensors(tree: Any) -> str:
    """SHA-256 over the bytes of all tensors."""
    whole = hashlib.sha256()
    for tensor in tree_leaves(tree):
        whole.update(tensor.contiguous().view(torch.uint8).cpu().numpy().tobytes())
    return whole.hexdigest()


def open_capture() -> Capture:
    """Makes CUDA graphs; on a CPU a replay computes all again, as Python does."""
    if torch.cuda.is_available():
        return capture_on_card()

    def stand_in(work: Callable[[], Any]) -> tuple[Any, Callable[[], None]]:
        output = work()

        def replay() -> None:
            for tensor, fresh in zip(tree_leaves(output), tree_leaves(work()), strict=True):
                tensor.copy_(fresh)

        return output, replay

    return stand_in


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


def measure_phases(pipe: Any, generate: Callable[[], object]) -> dict[str, float]:
    """
    Seconds of preparing (encoding the prompt), denoising and decoding of one image.

    Denoising begins when the scheduler gets the number of steps: all pipelines do that once the prompt is
    encoded.
    """
    began: dict[str, float] = {}

    def entering(phase: str, work: Callable[..., Any]) -> Callable[..., Any]:
        # Pipelines read its signature.
        @wraps(work)
        def call(*args: Any, **named: Any) -> Any:
            # Only the first time counts.
            began.setdefault(phase, now_seconds())
            return work(*args, **named)

        return call

    scheduler, vae = pipe.scheduler, pipe.vae
    with (
        patch.object(scheduler, 'set_timesteps', entering('denoise', scheduler.set_timesteps)),
        patch.object(vae, 'decode', entering('decode', vae.decode)),
    ):
        began['prepare'] = now_seconds()
        generate()
        end = now_seconds()
    ends = [*list(began.values())[1:], end]
    return {phase: after - before for (phase, before), after in zip(began.items(), ends, strict=True)}


def profile(generate: Callable[[], object]) -> tuple[float, int, list[tuple[str, float]]]:
    """
    In how many seconds some kernel or copy ran on the GPU, how many did, and which took longest, with their
    milliseconds. On a CPU they are PyTorch's operations.

    Divide the seconds by those that the same takes without the profiler, which slows the processor down and
    not the GPU.
    """
    from torch.autograd import DeviceType
    from torch.profiler import ProfilerActivity
    from torch.profiler import profile as profiling

    on_card = torch.cuda.is_available()
    activity, device = (
        (ProfilerActivity.CUDA, DeviceType.CUDA) if on_card else (ProfilerActivity.CPU, DeviceType.CPU)
    )
    with profiling(activities=[activity]) as profiler:
        generate()
        now_seconds()
    # Annotations are marks around kernels, and no work.
    events = [
        each for each in profiler.events() if each.device_type == device and not each.is_user_annotation
    ]
    took_ms: dict[str, float] = {}
    for event in events:
        name = event.name[:80]
        took_ms[name] = took_ms.get(name, 0) + event.time_range.elapsed_us() / 1e3
    top = sorted(took_ms.items(), key=lambda each: -each[1])[:_TOP_KERNELS]
    busy_us = covered((event.time_range.start, event.time_range.end) for event in events)
    return busy_us / 1e6, len(events), [(name, round(took, 3)) for name, took in top]


def covered(spans: Iterable[tuple[float, float]]) -> float:
    """The length that the spans cover together, where they overlap once."""
    total, reached = 0.0, float('-inf')
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total
