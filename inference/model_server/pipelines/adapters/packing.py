"""A whole adapter in one piece of memory, which the card takes in one copy."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, log2

import torch

from .patches import Patch

# Bytes. Each tensor begins at a multiple of it, as its type and the card want it.
_ALIGNMENT = 16


@dataclass(frozen=True)
class AdapterWeights:
    """An adapter, checked against a model: patches by the names of the model's layers."""

    #: Their tensors lie in the buffer, one after the other.
    patches: Mapping[str, Patch]
    buffer: torch.Tensor

    @property
    def size_bytes(self) -> int:
        """Size in memory. PyTorch rounds pinned memory up to a power of two."""
        size = int(self.buffer.nbytes)
        return int(2 ** ceil(log2(size))) if self.buffer.is_pinned() else size

    def on(self, device: torch.device) -> Mapping[str, Patch]:
        """The patches with their tensors on this device."""
        # Without waiting, because later work on the card comes after it, and PyTorch keeps pinned memory
        # that is being copied: https://docs.pytorch.org/docs/stable/notes/cuda.html#use-pinned-memory-buffers
        moved = self.buffer.to(device, non_blocking=True)

        def move(tensor: torch.Tensor) -> torch.Tensor:
            start = tensor.storage_offset() * tensor.itemsize
            return _view(moved, start, tensor)

        return {name: patch.map(move) for name, patch in self.patches.items()}


def pack(patches: Mapping[str, Patch]) -> AdapterWeights:
    """Copies all tensors; where there is a GPU, into pinned memory, which it reads by itself."""
    tensors = [tensor for patch in patches.values() for tensor in patch.tensors]
    size = sum(_aligned(tensor.nbytes) for tensor in tensors)
    buffer = torch.empty(size, dtype=torch.uint8, pin_memory=torch.cuda.is_available())
    end = 0

    def place(tensor: torch.Tensor) -> torch.Tensor:
        nonlocal end
        start, end = end, end + _aligned(tensor.nbytes)
        return _view(buffer, start, tensor).copy_(tensor)

    return AdapterWeights({name: patch.map(place) for name, patch in patches.items()}, buffer)


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _view(buffer: torch.Tensor, start: int, like: torch.Tensor) -> torch.Tensor:
    """The bytes of the buffer from `start` on as a tensor of this type and shape."""
    return buffer[start : start + like.nbytes].view(like.dtype).view(like.shape)
