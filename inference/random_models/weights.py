"""Random weights, drawn where they are needed and without any library's own initialization."""

from collections.abc import Callable
from typing import Any, TypeVar

import torch

_Model = TypeVar('_Model', bound=torch.nn.Module)

#: The sizes of a pipeline's models, by their names in it: what their classes or configurations are made with.
Parts = dict[str, dict[str, Any]]

#: How far a model's parameter count may be from the published one.
_COUNT_TOLERANCE = 0.05


class Draw:
    """Makes models whose weights follow from the seed and from the order in which they are made."""

    def __init__(self, device: str, dtype: torch.dtype, seed: int = 0) -> None:
        self.dtype = dtype
        self._generator = torch.Generator(device).manual_seed(seed)

    def model(self, make: Callable[[], _Model], published: float | None = None) -> _Model:
        """
        What `make` makes, with random weights.

        `published` is the parameter count that it must have, within 5 %; otherwise ValueError.
        """
        with torch.device('meta'):
            # Cast by PyTorch: diffusers' own `to` warns of parts that stay in float32, even of none.
            model: _Model = torch.nn.Module.to(make(), self.dtype)
        if published is not None:
            _check_count(model, published)
        # Buffers stay empty: they hold tables that are computed, and no file of these models has them.
        model.to_empty(device=self._generator.device)
        for name, parameter in model.named_parameters():
            self._fill(name, parameter.data)
        return model

    def matrix(self, rows: int, columns: int) -> torch.Tensor:
        """rows x columns, from N(0, 1 / columns)."""
        matrix = torch.empty(rows, columns, dtype=self.dtype, device=self._generator.device)
        return matrix.normal_(0, columns**-0.5, generator=self._generator)

    def _fill(self, name: str, values: torch.Tensor) -> None:
        """
        Weights from N(0, 1 / inputs), so that signals neither fade nor grow from layer to layer (LeCun et
        al., "Efficient BackProp", 1998). Vectors are norms' weights, which are 1, and biases, which are 0.
        """
        if values.ndim > 1:
            values.normal_(0, values[0].numel() ** -0.5, generator=self._generator)
        else:
            values.fill_(1 if name.endswith('weight') else 0)


def _check_count(model: torch.nn.Module, published: float) -> None:
    count = sum(parameter.numel() for parameter in model.parameters())
    if abs(count / published - 1) > _COUNT_TOLERANCE:
        raise ValueError(f'{type(model).__name__} has {count:,} parameters instead of {published:,.0f}.')
