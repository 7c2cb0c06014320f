"""
An identity's weights as a LoRA, and the one place in a model that takes them.

The place is made once, for every layer that an adapter may change, and with one rank. Another adapter is then
other numbers in the same tensors: nothing is compiled anew, and what was there before leaves no trace.
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any

import torch
from diffusers.utils import convert_unet_state_dict_to_peft
from peft import LoraConfig
from peft.tuners.lora import LoraLayer
from peft.utils.hotswap import prepare_model_for_compiled_hotswap
from peft.utils.other import get_pattern_key

from ..failure import Failure

_SLOT = 'identity'
_KEY = re.compile(r'(.+)\.lora_([AB])\.weight')

#: An adapter's weights by name, as diffusers' `lora_state_dict` answers them.
StateDict = Mapping[str, torch.Tensor]


@dataclass(frozen=True)
class Delta:
    """What an adapter adds to one linear layer's weights: scaling x up @ down."""

    #: (rank, in).
    down: torch.Tensor
    #: (out, rank).
    up: torch.Tensor
    scaling: float


@dataclass(frozen=True)
class Lora:
    """A whole adapter, by the names of the model's layers."""

    deltas: Mapping[str, Delta]

    @property
    def size_bytes(self) -> int:
        """Size in memory."""
        return sum(delta.down.nbytes + delta.up.nbytes for delta in self.deltas.values())


def unfit(why: str) -> Failure:
    """The adapter can't be used with this model."""
    return Failure('adapter_unavailable', f"The identity's adapter {why}.")


def read_lora(
    state: StateDict,
    alphas: Mapping[str, float] | None,
    metadata: Mapping[str, Any] | None,
    prefix: str,
    dtype: torch.dtype,
) -> Lora:
    """
    Makes sense of a file's content, in the conventions of diffusers, peft and kohya.

    `prefix` is the model's name in the keys, as `unet`. Raises Failure('adapter_unavailable').
    """
    start = f'{prefix}.'
    foreign = next((key for key in state if not key.startswith(start)), None)
    if foreign is not None:
        raise unfit('also changes other parts of the model, such as a text encoder')
    weights = {key.removeprefix(start): value for key, value in state.items()}
    if not any('lora_A' in key for key in weights):
        weights = convert_unet_state_dict_to_peft(weights)
    facts = {key.removeprefix(start): value for key, value in (metadata or {}).items()}
    if facts.get('use_dora'):
        raise unfit('is a DoRA, which this server does not take')
    known = _alphas_by_layer({key.removeprefix(start): value for key, value in (alphas or {}).items()})
    pairs: dict[str, dict[str, torch.Tensor]] = {}
    for key, value in weights.items():
        match = _KEY.fullmatch(key)
        if match is None:
            raise unfit('holds more than the two matrices of a LoRA for each layer')
        pairs.setdefault(match[1], {})[match[2]] = value.to('cpu', dtype).contiguous()
    return Lora({name: _delta(name, pair, known, facts) for name, pair in pairs.items()})


def _alphas_by_layer(alphas: Mapping[str, float]) -> dict[str, float]:
    """Alphas have the names of the unconverted weights, so they are converted the same way."""
    names = convert_unet_state_dict_to_peft(
        {key.removesuffix('.alpha'): alpha for key, alpha in alphas.items()}
    )
    matches = {name: _KEY.fullmatch(name) for name in names}
    return {match[1] if match else name: names[name] for name, match in matches.items()}


def _delta(
    name: str, pair: Mapping[str, torch.Tensor], alphas: Mapping[str, float], facts: Mapping[str, Any]
) -> Delta:
    if set(pair) != {'A', 'B'}:
        raise unfit('lacks one of the two matrices of a layer')
    down, up = pair['A'], pair['B']
    if down.ndim != 2 or up.ndim != 2 or down.shape[0] != up.shape[1] or down.shape[0] == 0:
        raise unfit('changes layers that this server keeps as they are')
    if not (down.isfinite().all() and up.isfinite().all()):
        raise unfit('holds values that are no numbers')
    rank = down.shape[0]
    patterns = facts.get('alpha_pattern') or {}
    alpha = alphas.get(name, patterns.get(get_pattern_key(patterns, name), facts.get('lora_alpha', rank)))
    return Delta(down, up, float(alpha) / (sqrt(rank) if facts.get('use_rslora') else rank))


class LoraSlot:
    """The slot for one adapter in a model. An empty slot changes nothing in what the model computes."""

    def __init__(self, model: Any, layers: str, rank: int) -> None:
        """`layers` is a regular expression over the names of the linear layers that an adapter may change."""
        self._model = model
        self._rank = rank
        config = LoraConfig(r=rank, lora_alpha=rank, target_modules=layers)
        model.add_adapter(config, adapter_name=_SLOT)
        # Scalings as tensors: a number would be compiled into the code.
        prepare_model_for_compiled_hotswap(model)
        # No gradients, because `requires_grad` would be compiled into the code, too.
        model.requires_grad_(False)
        self._layers: dict[str, Any] = {
            name: layer for name, layer in model.named_modules() if isinstance(layer, LoraLayer)
        }
        self.empty()

    def empty(self) -> None:
        """Paints without any adapter."""
        self._model.disable_adapters()

    def check(self, lora: Lora) -> None:
        """Raises Failure('adapter_unavailable') for one that does not fit the model."""
        for name, delta in lora.deltas.items():
            layer = self._layers.get(name)
            if layer is None:
                raise unfit('changes layers that this server keeps as they are, or is of another model')
            rank = delta.down.shape[0]
            if rank > self._rank:
                raise unfit(f'has rank {rank}; this server takes up to {self._rank} (LORA_RANK)')
            fits = delta.down.shape[1] == layer.in_features and delta.up.shape[0] == layer.out_features
            if not fits:
                raise unfit('is of another model: its matrices have other sizes')

    @torch.no_grad()
    def fill(self, lora: Lora, scale: float) -> None:
        """Puts a checked adapter into the slot and replaces the former one completely."""
        for name, layer in self._layers.items():
            down, up = layer.lora_A[_SLOT].weight, layer.lora_B[_SLOT].weight
            down.zero_()
            up.zero_()
            delta = lora.deltas.get(name)
            layer.scaling[_SLOT].fill_(0 if delta is None else delta.scaling * scale)
            if delta is not None:
                rank = delta.down.shape[0]
                down[:rank].copy_(delta.down)
                up[:, :rank].copy_(delta.up)
        self._model.enable_adapters()
        self._model.requires_grad_(False)


class LoraCache:
    """Caches adapters in memory by digest, so that a known one is not read from disk again."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        # Least recently used first.
        self._loras: OrderedDict[str, Lora] = OrderedDict()

    def get(self, digest: str, read: Callable[[], Lora]) -> Lora:
        """Returns the cached adapter, or reads it. Raises what `read` raises."""
        lora = self._loras.get(digest)
        if lora is None:
            lora = read()
            self._loras[digest] = lora
        self._loras.move_to_end(digest)
        while (
            len(self._loras) > 1 and sum(each.size_bytes for each in self._loras.values()) > self._limit_bytes
        ):
            self._loras.popitem(last=False)
        return lora
