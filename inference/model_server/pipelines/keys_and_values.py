"""
The keys and values of a prompt, computed once for a picture.

In the cross-attention they follow from the prompt alone, yet diffusers computes them in each evaluation, in
two matrix products for each of SDXL's 70 layers.
"""

from typing import Any
from weakref import WeakValueDictionary

import torch


class _Kept(torch.nn.Linear):
    """A layer that answers what was computed before. To PyTorch's compiler its size is open."""

    kept: torch.Tensor

    def forward(self, _: torch.Tensor) -> torch.Tensor:
        return self.kept

    def compute(self, text: torch.Tensor) -> torch.Tensor:
        return super().forward(text)


class _Buffers:
    """
    What the layers answer for prompts of one shape, at addresses that stay.

    It goes to the denoiser as an input, so a CUDA graph that reads it is one of its own kind, and holds it.
    """

    def __init__(self) -> None:
        self.tensors: list[torch.Tensor] = []


class KeysAndValues:
    """Gives an SDXL's UNet those of the prompt that it is called with. For one thread."""

    def __init__(self, unet: Any) -> None:
        """Before it is compiled, and before its graphs."""
        self._layers: list[_Kept] = []
        for name, layer in unet.named_modules():
            if name.endswith(('.attn2.to_k', '.attn2.to_v')):
                # It stays the same layer to adapters, with its name and its weight.
                layer.__class__ = _Kept
                self._layers.append(layer)
        self._text: torch.Tensor | None = None
        self._buffers = self._shown = _Buffers()
        self._known: WeakValueDictionary[torch.Size, _Buffers] = WeakValueDictionary()
        self._forward = unet.forward
        unet.forward = self._evaluate
        unet.register_forward_pre_hook(self._compute, with_kwargs=True)

    def forget(self) -> None:
        """The weights may be others."""
        self._text = None

    @torch.no_grad()
    def _compute(self, _unet: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        text = named['encoder_hidden_states'] if 'encoder_hidden_states' in named else args[2]
        # All evaluations of a picture get the same object.
        if text is not self._text:
            fresh = [layer.compute(text) for layer in self._layers]
            self._buffers = self._known.setdefault(text.shape, _Buffers())
            if self._buffers.tensors:
                for buffer, tensor in zip(self._buffers.tensors, fresh, strict=True):
                    buffer.copy_(tensor)
            else:
                self._buffers.tensors = fresh
            self._text = text
        return args, {**named, 'buffers': self._buffers}

    def _evaluate(self, *args: Any, buffers: _Buffers, **named: Any) -> Any:
        if buffers is not self._shown:
            for layer, tensor in zip(self._layers, buffers.tensors, strict=True):
                layer.kept = tensor
            self._shown = buffers
        return self._forward(*args, **named)
