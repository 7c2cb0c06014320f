"""What an adapter does to one layer's weight: the arithmetic of LoRA, LoKr and LoHa, each also with DoRA."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import prod

import torch

#: The factors that belong together, by the names that they have in files; those after the bar may be absent.
_KINDS = {
    'LoRA': ({'down', 'up'}, {'mid'}),
    'LoHa': ({'hada_w1_a', 'hada_w1_b', 'hada_w2_a', 'hada_w2_b'}, {'hada_t1', 'hada_t2'}),
}
_LOKR = {'lokr_w1', 'lokr_w1_a', 'lokr_w1_b', 'lokr_w2', 'lokr_w2_a', 'lokr_w2_b', 'lokr_t2'}


@dataclass(frozen=True)
class Magnitude:
    """DoRA's lengths of a weight's rows, or of its columns (https://arxiv.org/abs/2402.09353)."""

    #: In the shape of the weight, with 1 in all dimensions but one.
    lengths: torch.Tensor
    #: That dimension: 0 for rows (outputs), 1 for columns (inputs).
    axis: int


@dataclass(frozen=True)
class Patch:
    """One layer's part of an adapter. Its tensors have the types that the file has."""

    factors: Mapping[str, torch.Tensor]
    #: Alpha by rank.
    scaling: float
    magnitude: Magnitude | None = None

    @property
    def tensors(self) -> list[torch.Tensor]:
        """All of them."""
        return [*self.factors.values(), *([] if self.magnitude is None else [self.magnitude.lengths])]

    def map(self, change: Callable[[torch.Tensor], torch.Tensor]) -> 'Patch':
        """The same with all tensors changed, in the order of `tensors`."""
        factors = {name: change(factor) for name, factor in self.factors.items()}
        magnitude = self.magnitude and replace(self.magnitude, lengths=change(self.magnitude.lengths))
        return replace(self, factors=factors, magnitude=magnitude)

    def fits(self, shape: torch.Size) -> bool:
        """Whether the change has the weight's shape, or that of the weight as a matrix (out, in x kernel)."""
        try:
            change = multiply(
                {name: factor.to('meta', torch.float32) for name, factor in self.factors.items()}
            )
        except (RuntimeError, IndexError, ValueError):
            return False
        flat = (shape[0], prod(shape[1:]))
        return _without_ones(change.shape) in (_without_ones(shape), _without_ones(flat))

    def apply(self, weight: torch.Tensor, scale: float) -> torch.Tensor:
        """
        Puts the adapter into a weight in float32 on the same device, in place, and answers it.

        With DoRA the scale goes straight from the weight as it is (0) to DoRA's own (1). PEFT scales only
        the change, so that its 0 is not the weight.
        """
        change = multiply({name: factor.float() for name, factor in self.factors.items()})
        change = change.reshape(weight.shape)
        if self.magnitude is None:
            return weight.add_(change, alpha=self.scaling * scale)
        turned = torch.add(weight, change, alpha=self.scaling)
        others = [axis for axis in range(weight.ndim) if axis != self.magnitude.axis]
        lengths = torch.linalg.vector_norm(turned, dim=others, keepdim=True)
        turned *= self.magnitude.lengths.float() / lengths
        return weight.add_(turned - weight, alpha=scale)


def is_complete(parts: set[str]) -> bool:
    """Whether these factors, and no others, make up a layer's change."""
    for needed, optional in _KINDS.values():
        if needed <= parts <= needed | optional:
            # LoHa's two cores come together.
            return len(parts & optional) in (0, len(optional))
    if not parts or not parts <= _LOKR:
        return False
    core = 'lokr_t2' in parts
    return all(
        {f'{name}_a', f'{name}_b'} <= parts if name not in parts else not {f'{name}_a', f'{name}_b'} & parts
        for name in ('lokr_w1', 'lokr_w2')
    ) and not (core and 'lokr_w2' in parts)


def rank_of(factors: Mapping[str, torch.Tensor]) -> int | None:
    """
    What alpha is divided by; None for a LoKr of two whole matrices, whose alpha has no effect.

    Source: https://github.com/KohakuBlueleaf/LyCORIS, lycoris/modules.
    """
    for name in ('down', 'hada_w1_b', 'lokr_w2_b', 'lokr_w1_b'):
        if name in factors:
            return int(factors[name].shape[0])
    return None


def multiply(factors: Mapping[str, torch.Tensor]) -> torch.Tensor:
    """
    The product of a layer's factors: (out, in), (out, in, kernel…) or (out, in x kernel).

    LoRA: https://arxiv.org/abs/2106.09685. LoHa: https://arxiv.org/abs/2108.06098. LoKr, and all of them for
    convolutions, with a core in Tucker's form too: https://arxiv.org/abs/2309.14859.
    Raises RuntimeError, ValueError or IndexError where the factors' shapes do not belong together.
    """
    if 'mid' in factors:
        return _tucker(factors['mid'], factors['up'].flatten(1).T, factors['down'].flatten(1))
    if 'down' in factors:
        down = factors['down']
        return (factors['up'].flatten(1) @ down.flatten(1)).unflatten(1, down.shape[1:])
    if 'hada_w1_a' in factors:
        halves = _half_of_loha(factors, 1), _half_of_loha(factors, 2)
        # The product of unlike shapes is defined, but no LoHa.
        if halves[0].shape != halves[1].shape:
            raise ValueError
        return halves[0] * halves[1]
    small = _factor_of_lokr(factors, 'lokr_w1')
    large = _factor_of_lokr(factors, 'lokr_w2')
    return torch.kron(small[(...,) + (None,) * (large.ndim - small.ndim)], large.contiguous())


def _half_of_loha(factors: Mapping[str, torch.Tensor], half: int) -> torch.Tensor:
    left, right = factors[f'hada_w{half}_a'], factors[f'hada_w{half}_b']
    core = factors.get(f'hada_t{half}')
    return left @ right if core is None else _tucker(core, left, right)


def _factor_of_lokr(factors: Mapping[str, torch.Tensor], name: str) -> torch.Tensor:
    if name in factors:
        return factors[name]
    left, right = factors[f'{name}_a'], factors[f'{name}_b']
    core = factors.get('lokr_t2') if name == 'lokr_w2' else None
    return left @ right if core is None else _tucker(core, left, right)


def _tucker(core: torch.Tensor, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """(rank, rank, kernel…), (rank, out) and (rank, in) make (out, in, kernel…)."""
    # einsum would repeat a core of rank 1.
    if core.shape[:2] != (left.shape[0], right.shape[0]):
        raise ValueError
    return torch.einsum('ir...,io->or...', torch.einsum('ij...,jr->ir...', core, right), left)


def _without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A kernel of one pixel is no kernel: some trainers write it down and others don't."""
    while len(shape) > 2 and shape[-1] == 1:
        shape = shape[:-1]
    return tuple(shape)
