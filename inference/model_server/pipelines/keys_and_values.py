"""
The keys and values of a prompt, computed once for a picture.

In the cross-attention they follow from the prompt alone, yet diffusers computes them in each evaluation, in
two matrix products for each of SDXL's 70 layers.
"""

from collections.abc import Sequence
from typing import Any
from weakref import WeakValueDictionary

import torch

#: Tokens. Of a longer prompt they are computed in each evaluation: 77 tokens more would take 51 MB more.
LONGEST = 4 * 77


class _Kept(torch.nn.Linear):
    """A layer that answers what was computed before. To PyTorch's compiler the size of that is open."""

    kept: torch.Tensor | None = None

    def compute(self, text: torch.Tensor) -> torch.Tensor:
        return super().forward(text)

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        return self.compute(text) if self.kept is None else self.kept


class _Products:
    """
    What the layers answer for prompts of one shape, at addresses that stay.

    It goes to the denoiser as an input. So a CUDA graph that reads it is of a kind of its own, and holds it.
    """

    def __init__(self, tensors: Sequence[Any]) -> None:
        self.tensors = tensors


class KeysAndValues:
    """Gives an SDXL's UNet those of the prompt that it is called with. For one thread."""

    def __init__(self, unet: Any) -> None:
        """Before it is compiled, and before its graphs."""
        names = ('.attn2.to_k', '.attn2.to_v')
        self._layers: list[_Kept] = [layer for name, layer in unet.named_modules() if name.endswith(names)]
        for layer in self._layers:
            # It stays the same layer to adapters, with its name and its weight.
            layer.__class__ = _Kept
        self._text: torch.Tensor | None = None
        self._none = self._products = self._shown = _Products([None] * len(self._layers))
        self._known: WeakValueDictionary[torch.Size, _Products] = WeakValueDictionary()
        self._forward = unet.forward
        unet.forward = self._evaluate
        unet.register_forward_pre_hook(self._add_products, with_kwargs=True)

    def forget(self) -> None:
        """The weights may be others."""
        self._text = None

    def _add_products(self, _unet: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        text = named['encoder_hidden_states'] if 'encoder_hidden_states' in named else args[2]
        # All evaluations of a picture get the same object.
        if text is not self._text:
            self._products = self._compute(text)
            self._text = text
        return args, {**named, 'products': self._products}

    def _compute(self, text: torch.Tensor) -> _Products:
        if text.shape[1] > LONGEST:
            return self._none
        fresh = [layer.compute(text) for layer in self._layers]
        products = self._known.setdefault(text.shape, _Products(fresh))
        for kept, values in zip(products.tensors, fresh, strict=True):
            kept.copy_(values)
        return products

    def _evaluate(self, *args: Any, products: _Products, **named: Any) -> Any:
        if products is not self._shown:
            for layer, kept in zip(self._layers, products.tensors, strict=True):
                layer.kept = kept
            self._shown = products
        return self._forward(*args, **named)
