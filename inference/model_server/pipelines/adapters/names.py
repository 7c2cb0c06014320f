"""The layers of a model that adapters may change, and how files spell their names."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from torch import nn

_CHANGEABLE = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)
#: What PEFT, ComfyUI, kohya's scripts and LyCORIS put before a layer's name.
PREFIXES = ('model.diffusion_model.', 'diffusion_model.', 'lora_unet_', 'lora_transformer_', 'lycoris_')
#: The same of text encoders.
TEXT_ENCODERS = ('text_encoder', 'lora_te', 'lycoris_te', 'te1', 'te2', 'conditioner.', 'cond_stage_model.')


def find_layers(model: Any, pattern: str) -> dict[str, nn.Parameter]:
    """
    The weights of all linear and convolution layers whose whole name matches the regular expression.

    A weight that two places of the model share is left out: an adapter that names one must not change the
    other. So is one that is not stored as plain numbers, and one of a convolution in groups.
    """
    sharers = Counter(weight.data_ptr() for _, weight in model.named_parameters(remove_duplicate=False))
    return {
        name: weight
        for name, weight in changeable_layers(model, pattern).items()
        if sharers[weight.data_ptr()] == 1
    }


def changeable_layers(model: Any, pattern: str) -> dict[str, nn.Parameter]:
    """The same with those that places share, for a model without its weights."""
    return {
        name: layer.weight
        for name, layer in model.named_modules()
        if isinstance(layer, _CHANGEABLE)
        and re.fullmatch(pattern, name)
        and layer.weight.is_floating_point()
        and getattr(layer, 'groups', 1) == 1
    }


def spell(layer: str, other_names: Callable[[str], Iterable[str]]) -> list[str]:
    """The names that a layer has in files, with dots between their parts."""
    # Of an older form of diffusers.
    older = [layer.removesuffix('.0')] if layer.endswith('.to_out.0') else []
    return [layer, *older, *other_names(layer)]


class LayerNames:
    """Finds a model's layer by the name that it has in a file. Never changes, so any thread may ask."""

    def __init__(
        self,
        layers: Iterable[str],
        part: str,
        other_names: Callable[[str], Iterable[str]] = lambda _: (),
    ) -> None:
        """`part` is the model's name among the pipeline's parts, as `unet`."""
        self._prefixes = (f'{part}.', *PREFIXES)
        spellings: dict[str, set[str]] = {}
        for layer in layers:
            for name in spell(layer, other_names):
                spellings.setdefault(name, set()).add(layer)
                spellings.setdefault(name.replace('.', '_'), set()).add(layer)
        # What could be two layers is neither.
        self._layers = {name: found.pop() for name, found in spellings.items() if len(found) == 1}

    def find(self, spelled: str) -> str | None:
        """The layer's name in the model, or None."""
        name = spelled.removeprefix('base_model.model.').replace('.processor.', '.')
        prefix = next((each for each in self._prefixes if name.startswith(each)), '')
        return self._layers.get(name.removeprefix(prefix))


def is_of_text_encoder(spelled: str) -> bool:
    """Whether a name in a file is that of a text encoder's layer."""
    return spelled.removeprefix('base_model.model.').startswith(TEXT_ENCODERS)
