"""
Adapters in a model's own weights.

An adapter is merged: each weight that it changes becomes the sum, in place, so that a step costs what it
costs without an adapter and nothing is compiled anew. The weights as they were loaded are copied before they
are changed for the first time, and every merge starts from that copy, never from what another adapter left;
so the weights of an adapter are the same to the bit whatever was painted before. The sum is computed in
float32 and rounded once, to the model's number type.
"""

from collections.abc import Iterable, Mapping

import torch

from ..memory import has_room
from .file import unfit
from .packing import AdapterWeights


class Merger:
    """Puts adapters into a model's weights. Only the GPU's thread may use it, as it changes the model."""

    def __init__(self, weights: Mapping[str, torch.nn.Parameter]) -> None:
        """`weights` by the names of their layers, as `find_layers` answers them."""
        self._weights = weights
        self._pristine: dict[str, torch.Tensor] = {}
        #: Layers whose weights may differ from the pristine ones.
        self._changed: set[str] = set()

    @torch.no_grad()
    def merge(self, adapter: AdapterWeights, scale: float) -> None:
        """
        Paints with this adapter from now on, and with no other. It has been checked against the same layers.

        Raises Failure('adapter_unavailable') where the sums are no numbers. Whatever it raises, the weights
        are the pristine ones again.
        """
        try:
            self._restore(self._changed - adapter.patches.keys())
            self._keep_pristine(adapter.patches)
            self._add(adapter, scale)
        except BaseException:
            self.restore()
            raise

    @torch.no_grad()
    def restore(self) -> None:
        """Paints without any adapter."""
        self._restore(set(self._changed))

    def _add(self, adapter: AdapterWeights, scale: float) -> None:
        finite: list[torch.Tensor] = []
        device = next(iter(self._weights.values())).device
        for name, patch in adapter.on(device).items():
            weight = self._weights[name]
            # Noted before, so that half a copy is undone too.
            self._changed.add(name)
            # `copy` because the pristine weight may be in float32 on this device already.
            fresh = self._pristine[name].to(weight.device, torch.float32, copy=True)
            weight.copy_(patch.apply(fresh, scale))
            finite.append(weight.isfinite().all())
        # Asked once: each question waits for the GPU.
        if finite and not torch.stack(finite).all():
            raise unfit('makes weights that are no numbers')

    def _restore(self, names: Iterable[str]) -> None:
        for name in names:
            self._weights[name].copy_(self._pristine[name])
            self._changed.discard(name)

    def _keep_pristine(self, names: Iterable[str]) -> None:
        """On the weights' own device where it has room beside the painting, else in the computer's memory."""
        new = {name: self._weights[name] for name in names if name not in self._pristine}
        if not new:
            return
        device = next(iter(new.values())).device
        if not has_room(device, sum(weight.nbytes for weight in new.values())):
            device = torch.device('cpu')
        for name, weight in new.items():
            self._pristine[name] = weight.detach().to(device, copy=True)
