"""A model's evaluation as a CUDA graph: the GPU is told of all its kernels at once, not one by one."""

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_map_only, tree_unflatten

#: Runs work once so that it can be run again without Python: answers its result, and how to run it again.
Record = Callable[[Callable[[], Any]], tuple[Any, Callable[[], None]]]


def record_cuda_graph(work: Callable[[], Any]) -> tuple[Any, Callable[[], None]]:
    """As https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-graphs says, with a run before."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        work()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = work()
    return result, graph.replay


class Graphed:
    """
    Stands for a model's `forward`: recorded once for each kind of inputs, and replayed with other numbers.

    Numbers that are no tensors are part of the recording.
    """

    def __init__(self, forward: Callable[..., Any], record: Record = record_cuda_graph) -> None:
        self._forward = forward
        self._record = record
        self._recorded: dict[str, tuple[list[Any], Any, Callable[[], None]]] = {}

    def forget(self) -> None:
        """For when the model has become another, as with another adapter."""
        self._recorded.clear()

    def __call__(self, *args: Any, **more: Any) -> Any:
        """What `forward` answers."""
        leaves, tree = tree_flatten((args, more))
        key = f'{tree} {[_kind(leaf) for leaf in leaves]}'
        if key not in self._recorded:
            kept = [_keep(leaf) for leaf in leaves]
            inputs, named = tree_unflatten(kept, tree)
            self._recorded[key] = (kept, *self._record(lambda: self._forward(*inputs, **named)))
        kept, result, replay = self._recorded[key]
        for place, leaf in zip(kept, leaves, strict=True):
            if isinstance(leaf, torch.Tensor):
                place.copy_(leaf)
        replay()
        # The next replay writes into the same memory.
        return tree_map_only(torch.Tensor, torch.clone, result)


def _kind(leaf: Any) -> Any:
    return (tuple(leaf.shape), leaf.dtype) if isinstance(leaf, torch.Tensor) else leaf


def _keep(leaf: Any) -> Any:
    """A graph reads its inputs from the GPU, always at the same place."""
    if not isinstance(leaf, torch.Tensor):
        return leaf
    return leaf.detach().to('cuda' if torch.cuda.is_available() else 'cpu', copy=True)
