"""
CUDA graphs of the denoiser.

SDXL's UNet starts some 2,000 kernels in an evaluation, more than a Python process can start in the time that
a large card takes for them (docs/decisions/0049-one-way-to-generate.md). As a graph they are started at once.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from weakref import WeakSet

import torch
from torch.utils._pytree import tree_flatten, tree_map_only

from ..observing import Observer
from .runtime import lacks_memory

#: So many kinds of evaluations are known, by their last use.
MOST_KINDS = 12

#: Makes a graph of the work, without computing anything. Answers the work's output, which each replay writes
#: over, and the replay.
Capture = Callable[[Callable[[], Any]], tuple[Any, Callable[[], None]]]


@dataclass
class _Kind:
    """Evaluations with inputs of the same sizes, types and constants."""

    #: What its graph reads, and writes.
    inputs: Any = None
    output: Any = None
    replay: Callable[[], None] | None = None
    #: Whether it could not be captured.
    eager: bool = False


class Graphs:
    """
    Evaluates a model: the first of a kind runs as it is, the second is captured, and later ones are replayed.

    For one thread. What the graphs read beside the inputs, the weights, must keep its addresses.
    """

    def __init__(self, model: torch.nn.Module, capture: Capture) -> None:
        """Takes the place of the model's `forward`."""
        self._forward: Callable[..., Any] = model.forward
        self._capture = capture
        self._kinds: OrderedDict[Hashable, _Kind] = OrderedDict()
        #: What else an evaluation depends on, of all that is no input of it.
        self.mode: Hashable = None
        #: Whether a kind that is met now stays without a graph.
        self.scarce = False
        model.forward = self

    def __call__(self, *args: Any, **named: Any) -> Any:
        # One layout for all, since an input's may follow from the step before.
        args, named = tree_map_only(torch.Tensor, torch.Tensor.contiguous, (args, named))
        leaves, form = tree_flatten((args, named))
        key = self.mode, str(form), *map(_describe, leaves)
        kind = self._kinds.get(key)
        if kind is None:
            self._kinds[key] = _Kind(eager=self.scarce)
            if len(self._kinds) > MOST_KINDS:
                self._kinds.popitem(last=False)
            return self._forward(*args, **named)
        self._kinds.move_to_end(key)
        if kind.replay is None and not kind.eager:
            self._make(key, (args, named))
        if kind.replay is None:
            return self._forward(*args, **named)
        for buffer, leaf in zip(tree_flatten(kind.inputs)[0], leaves, strict=True):
            if isinstance(leaf, torch.Tensor):
                buffer.copy_(leaf)
        kind.replay()
        # The next replay overwrites it, and some schedulers keep what earlier steps gave.
        return _copy(kind.output)

    def drop(self) -> bool:
        """Gives up all graphs with their memory, and answers whether there were some."""
        had = any(kind.replay for kind in self._kinds.values())
        self._kinds.clear()
        return had

    def _make(self, key: Hashable, inputs: tuple[tuple[Any, ...], dict[str, Any]]) -> None:
        """Captures one, or notes that it can't be. Nothing is computed yet."""
        kind = self._kinds[key]
        try:
            # Not in the graphs' own memory, which all of them write over.
            kind.inputs = args, named = _copy(inputs)
            kind.output, kind.replay = self._capture(lambda: self._forward(*args, **named))
        except Exception as error:
            kind.eager, kind.inputs = True, None
            if lacks_memory(error):
                self._kinds = OrderedDict({key: kind})
            Observer().log('a kind of request has no CUDA graph', 'warning', error=type(error).__name__)


def capture_on_card() -> Capture:
    """For the card in use. All graphs share their memory, since none is used while another one runs."""
    stream, pool = torch.cuda.Stream(), torch.cuda.graph_pool_handle()
    #: The graphs of this pool.
    alive: WeakSet[torch.cuda.CUDAGraph] = WeakSet()

    def capture(work: Callable[[], Any]) -> tuple[Any, Callable[[], None]]:
        nonlocal pool
        graph = torch.cuda.CUDAGraph()
        if not alive:
            # PyTorch takes no pool again whose graphs are all gone where its segments have grown
            # (`create_or_incref_pool` in CUDACachingAllocator.cpp).
            pool = torch.cuda.graph_pool_handle()
        # The allocator can't give a graph what it holds for others, nor free it during a capture.
        torch.cuda.empty_cache()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            try:
                # Another thread prepares requests meanwhile, and may do what a capture may not.
                graph.capture_begin(pool=pool, capture_error_mode='thread_local')
                try:
                    output = work()
                finally:
                    graph.capture_end()
            except BaseException:
                # Where `capture_end` fails, PyTorch's allocator goes on as if a capture were under way:
                # https://github.com/pytorch/pytorch/blob/v2.11.0/aten/src/ATen/cuda/CUDAGraph.cpp. If it did
                # end, the first of these raises.
                with suppress(RuntimeError):
                    torch._C._cuda_endAllocateToPool(stream.device_index, pool)
                    torch._C._cuda_releasePool(stream.device_index, pool)
                # PyTorch 2.11's pinned memory goes on with this pool for ever, so the next graph has another.
                alive.clear()
                graph.reset()
                raise
        torch.cuda.current_stream().wait_stream(stream)
        alive.add(graph)
        return output, graph.replay

    return capture


def _describe(leaf: Any) -> Hashable:
    if isinstance(leaf, torch.Tensor):
        return leaf.shape, leaf.dtype, leaf.device
    # A constant, by its type too: 1 and True are equal.
    return type(leaf), leaf


def _copy(tree: Any) -> Any:
    return tree_map_only(torch.Tensor, torch.clone, tree)
