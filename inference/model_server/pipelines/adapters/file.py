"""An adapter's file as patches of a model's layers. What is not understood is refused, never left out."""

import json
import re
from collections.abc import Mapping
from math import isfinite, sqrt
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

from ...failure import Failure
from .names import LayerNames, is_of_text_encoder
from .packing import AdapterWeights, pack
from .patches import Magnitude, Patch, is_complete, rank_of

#: A file's tensors by name, as it has them or as diffusers' `lora_state_dict` answers them.
StateDict = Mapping[str, torch.Tensor]
#: A file's tensors, with alphas among them or worked into them, and PEFT's settings.
FileContent = tuple[StateDict, Mapping[str, Any]]

#: The part that a tensor is of its layer's patch, as its name has it.
PART = (
    r'lora_[AB]|lora_(?:down|up|mid)|lora\.(?:down|up)|lora_magnitude_vector|dora_scale|alpha'
    r'|lokr_w[12](?:_[ab])?|lokr_t2|hada_w[12]_[ab]|hada_t[12]'
)
#: A tensor's name: the layer, and the part.
_KEY = re.compile(rf'(?P<layer>.+?)(?:\.|_(?=lora\.))(?P<part>{PART})(?:\.default)?(?:\.weight)?')
FACTORS = {
    'lora_A': 'down', 'lora_down': 'down', 'lora.down': 'down',
    'lora_B': 'up', 'lora_up': 'up', 'lora.up': 'up', 'lora_mid': 'mid',
}  # fmt: skip
#: Values of this kind are kept as they are; others become float32.
_KEPT = (torch.float32, torch.float16, torch.bfloat16)
#: Where diffusers writes PEFT's settings.
_FACTS = 'lora_adapter_metadata'
_FOREIGN = 'changes layers that this server keeps as they are, or is of another model'


def unfit(why: str) -> Failure:
    """The adapter can't be used with this model."""
    return Failure('adapter_unavailable', f"The identity's adapter {why}.")


def load_file(path: Path) -> FileContent:
    """A file's tensors, and PEFT's settings in it. Raises Failure('adapter_unavailable')."""
    try:
        with safe_open(path, framework='pt') as file:
            state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            facts = json.loads((file.metadata() or {}).get(_FACTS, '{}'))
    except (SafetensorError, ValueError, RecursionError):
        raise unfit('can not be read') from None
    return state, facts if isinstance(facts, dict) else {}


def names_are_known(state: StateDict, names: LayerNames) -> bool:
    """Whether every tensor's name is understood."""
    return all((match := _KEY.fullmatch(key)) and names.find(match['layer']) for key in state)


def read_weights(
    state: StateDict,
    facts: Mapping[str, Any],
    part: str,
    names: LayerNames,
    shapes: Mapping[str, torch.Size],
) -> AdapterWeights:
    """
    Makes sense of a file's content, in the conventions of diffusers, PEFT, kohya and LyCORIS.

    `part` is the model's name among the pipeline's parts, and `shapes` are those of its layers' weights.
    It changes nothing, so any thread may call it. Raises Failure('adapter_unavailable').
    """
    own = {key.removeprefix(f'{part}.'): value for key, value in facts.items()}
    layers: dict[str, dict[str, torch.Tensor]] = {}
    for key, value in state.items():
        name, piece = _understand(key, names)
        if piece in layers.setdefault(name, {}):
            raise unfit('names a layer twice')
        layers[name][piece] = _checked(value)
    if not layers:
        raise unfit('is empty')
    if own.get('use_dora') and not all('lora_magnitude_vector' in parts for parts in layers.values()):
        raise unfit('lacks the magnitudes of a DoRA')
    return pack({name: _patch(name, parts, own, shapes[name]) for name, parts in layers.items()})


def _understand(key: str, names: LayerNames) -> tuple[str, str]:
    """The layer of the model, and the part."""
    if is_of_text_encoder(key):
        raise unfit('also changes other parts of the model, such as a text encoder')
    match = _KEY.fullmatch(key)
    if match is None:
        raise unfit('holds other weights than those of LoRA, DoRA, LoKr and LoHa')
    name = names.find(match['layer'])
    if name is None:
        raise unfit(_FOREIGN)
    return name, FACTORS.get(match['part'], match['part'])


def _checked(value: torch.Tensor) -> torch.Tensor:
    if not value.is_floating_point():
        # Some trainers write alpha as a whole number.
        if value.numel() != 1 or value.is_complex():
            raise unfit('holds values of a type that this server does not read')
        value = value.float()
    value = value if value.dtype in _KEPT else value.float()
    if value.numel() == 0 or not value.isfinite().all():
        raise unfit('holds values that are no numbers')
    return value


def _patch(
    name: str, parts: Mapping[str, torch.Tensor], facts: Mapping[str, Any], shape: torch.Size
) -> Patch:
    others = ('alpha', 'dora_scale', 'lora_magnitude_vector')
    factors = {piece: value for piece, value in parts.items() if piece not in others}
    if not is_complete(set(factors)):
        raise unfit('lacks one of the matrices of a layer, or has one too many')
    patch = Patch(factors, _scaling(name, factors, parts.get('alpha'), facts), _magnitude(parts, shape))
    if not patch.fits(shape):
        raise unfit('is of another model: its matrices have other sizes')
    return patch


def _scaling(
    name: str, factors: StateDict, own_alpha: torch.Tensor | None, facts: Mapping[str, Any]
) -> float:
    """Alpha by rank: the layer's own alpha, else that of PEFT's settings, else 1."""
    rank: Any = rank_of(factors)
    if own_alpha is not None:
        if own_alpha.numel() != 1:
            raise unfit('holds an alpha that is no number')
        return 1.0 if rank is None else float(own_alpha) / float(rank)
    try:
        rank = _for_layer(facts, 'rank_pattern', name, facts.get('r', rank))
        alpha = _for_layer(facts, 'alpha_pattern', name, facts.get('lora_alpha', facts.get('alpha', rank)))
        scaling = 1.0 if rank is None else alpha / (sqrt(rank) if facts.get('use_rslora') else rank)
    except (TypeError, ValueError, AttributeError, ZeroDivisionError, OverflowError):
        raise unfit('gives its rank and alpha in a way that this server does not read') from None
    if not isfinite(scaling):
        raise unfit('gives an alpha that is no number')
    return scaling


def _for_layer(facts: Mapping[str, Any], which: str, name: str, otherwise: Any) -> Any:
    """
    PEFT's settings for single layers, by the ends of their names.

    To PEFT the ends are regular expressions. A stranger's expression may run for hours, so here they are
    plain text, in which only `^`, `$` and escaped dots are understood.
    """
    for key, value in (facts.get(which) or {}).items():
        end = key.removeprefix('^').removesuffix('$').replace('\\.', '.')
        if not re.fullmatch(r'[\w.]+', end):
            raise ValueError
        if name == end or name.endswith(f'.{end}'):
            return value
    return otherwise


def _magnitude(parts: Mapping[str, torch.Tensor], shape: torch.Size) -> Magnitude | None:
    """PEFT has the lengths of the rows. LyCORIS has those of rows or of columns; the shape says which."""
    peft, lycoris = parts.get('lora_magnitude_vector'), parts.get('dora_scale')
    lengths = lycoris if peft is None else peft
    if lengths is None:
        return None
    ones = [1] * (len(shape) - 1)
    if lengths.numel() == shape[0] and (peft is not None or lengths.shape[0] == shape[0]):
        return Magnitude(lengths.reshape(shape[0], *ones), 0)
    if peft is None and lengths.shape[:2] == (1, shape[1]) and lengths.numel() == shape[1]:
        return Magnitude(lengths.reshape(1, shape[1], *ones[1:]), 1)
    raise unfit('is of another model: its magnitudes have other sizes')
