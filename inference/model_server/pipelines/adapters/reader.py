"""Reads adapters for one model, and keeps those that were used last in memory."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

import torch

from ..engine import Adapter
from .file import FileContent, load_file, names_are_known, read_weights, unfit
from .names import LayerNames
from .packing import AdapterWeights

#: A file with the model's own names for its layers. None where diffusers knows no other names.
Convert = Callable[[Path], FileContent | None]


class AdapterReader:
    """Reads adapters and checks them against a model's layers. It changes no model. For one thread."""

    def __init__(
        self,
        layers: Mapping[str, torch.nn.Parameter],
        part: str,
        other_names: Callable[[str], Iterable[str]],
        convert: Convert,
        limit_bytes: int,
    ) -> None:
        """`part` is the model's name among the pipeline's parts; adapters in memory take `limit_bytes`."""
        self._shapes = {name: weight.shape for name, weight in layers.items()}
        self._part = part
        self._names = LayerNames(layers, part, other_names)
        self._convert = convert
        self._cache = AdapterCache(limit_bytes)

    def read(self, adapter: Adapter) -> AdapterWeights:
        """Raises Failure('adapter_unavailable')."""
        return self._cache.get(adapter.digest, partial(self._read, adapter.path))

    def _read(self, path: Path) -> AdapterWeights:
        content = load_file(path)
        # diffusers leaves out what a DoRA has beside a LoRA.
        is_dora = any('dora_scale' in key for key in content[0])
        if not names_are_known(content[0], self._names) and not is_dora:
            content = self._convert_file(path) or content
        return read_weights(*content, self._part, self._names, self._shapes)

    def _convert_file(self, path: Path) -> FileContent | None:
        try:
            return self._convert(path)
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, RuntimeError):
            raise unfit('is none that this model understands') from None


class AdapterCache:
    """Caches adapters in memory by digest, so that a known one is not read from disk again."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        # Least recently used first.
        self._adapters: OrderedDict[str, AdapterWeights] = OrderedDict()

    def get(self, digest: str, read: Callable[[], AdapterWeights]) -> AdapterWeights:
        """Returns the cached adapter, or reads it. Raises what `read` raises."""
        weights = self._adapters.get(digest) or read()
        self._adapters[digest] = weights
        self._adapters.move_to_end(digest)
        self._evict()
        return weights

    def _evict(self) -> None:
        sizes = {digest: weights.size_bytes for digest, weights in self._adapters.items()}
        total = sum(sizes.values())
        evicted = False
        while len(self._adapters) > 1 and total > self._limit_bytes:
            digest, _ = self._adapters.popitem(last=False)
            total -= sizes[digest]
            evicted = True
        if evicted and torch.cuda.is_available():
            # PyTorch would keep their pinned memory for others of the same size.
            torch.accelerator.empty_host_cache()
