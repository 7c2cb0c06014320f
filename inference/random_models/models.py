"""The kinds of models, and how they come into a folder."""

from pathlib import Path
from typing import Literal, get_args

import torch

from . import sdxl, z_image
from .weights import Draw

Kind = Literal['sdxl', 'z-image']
Size = Literal['tiny', 'full']
KINDS: tuple[Kind, ...] = get_args(Kind)
SIZES: tuple[Size, ...] = get_args(Size)


def build(kind: Kind, folder: Path, size: Size = 'tiny') -> None:
    """
    Writes a diffusers folder with random weights.

    `tiny` has a few megabytes in float32, and is made on the CPU. `full` is as large as SDXL base 1.0 (7 GB)
    or Z-Image (21 GB) in bfloat16, and is made in the GPU's memory, or without a GPU in the computer's.
    """
    create = sdxl.create_sdxl if kind == 'sdxl' else z_image.create_z_image
    full = size == 'full'
    if full:
        draw = Draw('cuda' if torch.cuda.is_available() else 'cpu', torch.bfloat16)
    else:
        draw = Draw('cpu', torch.float32)
    create(draw, full).save_pretrained(folder, max_shard_size='5GB')
