"""What is prepared of a request: one call of a pipeline, and what is done with its image."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PIL import Image

from .engine import ReferenceMode


@dataclass(frozen=True)
class Recipe:
    """One call of a pipeline, and what is done with its image."""

    pipe: Any
    inputs: dict[str, Any]
    finish: Callable[[Image.Image], Image.Image] = lambda painted: painted


@dataclass(frozen=True)
class PreparedInputs:
    """What is still needed of a spec when it is painted."""

    recipe: Recipe
    #: As many as the request asks for, and as the model takes.
    steps_asked: int
    steps: int
    #: Pixels.
    width: int
    height: int
    #: None without references.
    reference_mode: ReferenceMode | None
