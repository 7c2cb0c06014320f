"""The kinds of models, and how they come into a folder."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_args

import torch

from .flux2_klein import create_flux2_klein
from .sdxl import create_sdxl
from .weights import Draw
from .z_image import create_z_image

Kind = Literal['sdxl', 'z-image', 'flux2-klein']
Size = Literal['tiny', 'full']
KINDS: tuple[Kind, ...] = get_args(Kind)
SIZES: tuple[Size, ...] = get_args(Size)

_CREATE: dict[Kind, Callable[[Draw, bool], Any]] = {
    'sdxl': create_sdxl,
    'z-image': create_z_image,
    'flux2-klein': create_flux2_klein,
}


def build(kind: Kind, folder: Path, size: Size = 'tiny') -> None:
    """
    Writes a diffusers folder with random weights.

    `tiny` has a few megabytes in float32, and is made on the CPU. `full` is as large as SDXL base 1.0 (7 GB),
    Z-Image (21 GB) or FLUX.2 [klein] 4B (16 GB) in bfloat16, and is made in the GPU's memory, or without a
    GPU in the computer's.
    """
    full = size == 'full'
    if full:
        draw = Draw('cuda' if torch.cuda.is_available() else 'cpu', torch.bfloat16)
    else:
        draw = Draw('cpu', torch.float32)
    _CREATE[kind](draw, full).save_pretrained(folder, max_shard_size='5GB')
