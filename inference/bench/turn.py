"""One variant's turn in the process that all variants share."""

import gc
import os
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager

import torch

from .rounds import Cost

Settings = dict[str, bool]


def read_settings() -> Settings:
    """PyTorch's settings for the whole process that decide how fast a model runs."""
    return {
        'deterministic': torch.are_deterministic_algorithms_enabled(),
        'warn_only': torch.is_deterministic_algorithms_warn_only_enabled(),
        'benchmark': torch.backends.cudnn.benchmark,
        'cudnn_deterministic': torch.backends.cudnn.deterministic,
        'flash': torch.backends.cuda.flash_sdp_enabled(),
        'mem_efficient': torch.backends.cuda.mem_efficient_sdp_enabled(),
        'math': torch.backends.cuda.math_sdp_enabled(),
        'cudnn': torch.backends.cuda.cudnn_sdp_enabled(),
    }


def apply_settings(settings: Settings) -> None:
    """Sets what `read_settings` read."""
    torch.use_deterministic_algorithms(settings['deterministic'], warn_only=settings['warn_only'])
    torch.backends.cudnn.benchmark = settings['benchmark']
    torch.backends.cudnn.deterministic = settings['cudnn_deterministic']
    torch.backends.cuda.enable_flash_sdp(settings['flash'])
    torch.backends.cuda.enable_mem_efficient_sdp(settings['mem_efficient'])
    torch.backends.cuda.enable_math_sdp(settings['math'])
    torch.backends.cuda.enable_cudnn_sdp(settings['cudnn'])


class Turn:
    """
    What one variant finds in its turns, how long they take, and what memory.

    What a variant sets for the process holds in its own turns only. Otherwise a deterministic engine would
    slow down whoever comes after it.
    """

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._environment = {**os.environ, **(environment or {})}
        self._settings = read_settings()
        #: GPU memory that is still taken between the turns.
        self.held_bytes = 0

    def measure(self, work: Callable[[], object]) -> Cost:
        """Measures work until it is finished, on the GPU too."""
        with self._apart():
            return self._measure_on_gpu(work) if torch.cuda.is_available() else Cost(_seconds(work), None)

    @contextmanager
    def _apart(self) -> Generator[None, None, None]:
        environment, settings = dict(os.environ), read_settings()
        _replace_environment(self._environment)
        apply_settings(self._settings)
        try:
            yield
        finally:
            self._environment, self._settings = dict(os.environ), read_settings()
            _replace_environment(environment)
            apply_settings(settings)

    def _measure_on_gpu(self, work: Callable[[], object]) -> Cost:
        # What another variant left over must not be given back in this one's turn.
        gc.collect()
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        others_bytes = torch.cuda.memory_allocated() - self.held_bytes

        def finish() -> None:
            work()
            torch.cuda.synchronize()

        seconds = _seconds(finish)
        self.held_bytes = torch.cuda.memory_allocated() - others_bytes
        return Cost(seconds, torch.cuda.max_memory_allocated() - others_bytes)


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _replace_environment(environment: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)
