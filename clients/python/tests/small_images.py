"""Examples are written for people, who want large images. These tests want quick ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from image_generation import async_client, client
from image_generation._generate import body_of


def _small_body(function: str, parameters: Mapping[str, Any]) -> bytes:
    small = {} if function == 'dry_run' else {'width': 512, 'height': 512, 'num_inference_steps': 20}
    return body_of(function, {**small, **parameters})


def paint_small(replace: Callable[[Any, str, Any], None] = setattr) -> None:
    """From now on what an example leaves out is small."""
    for module in (client, async_client):
        replace(module, 'body_of', _small_body)
