"""Random weights, drawn where they are needed and without any library's own initialization."""

from collections.abc import Callable
from typing import TypeVar

import torch

_Model = TypeVar('_Model', bound=torch.nn.Module)


class Draw:
    """Makes models whose weights follow from the seed and from the order in which they are made."""

    def __init__(self, device: str, dtype: torch.dtype, seed: int = 0) -> None:
        self.dtype = dtype
        self._generator = torch.Generator(device).manual_seed(seed)

    def model(self, make: Callable[[], _Model]) -> _Model:
        """What `make` makes, with random weights."""
        with torch.device('meta'):
            # Cast by PyTorch: diffusers' own `to` warns of parts that stay in float32, even of none.
            model: _Model = torch.nn.Module.to(make(), self.dtype)
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
