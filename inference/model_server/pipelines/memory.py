"""The memory of the card: what is kept free for painting, and what painting takes."""

import os
from typing import Any

import torch

#: The share of the card's memory that is for the painting: copies of weights leave it free, and an image that
#: is decoded in one piece has to fit in it.
_PAINTING_SHARE = 0.25
#: Three tensors of the VAE's second width live at once at the image's full size, as measured by following
#: the tensors of AutoencoderKL at SDXL's sizes. As much again is for what cuDNN's convolutions take.
_DECODING_TENSORS = 6


def total_bytes(device: torch.device) -> int:
    """Memory of the card, or of the computer where there is none."""
    if device.type == 'cuda':
        return int(torch.cuda.get_device_properties(device).total_memory)
    return os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES')


def has_room(device: torch.device, needed_bytes: int) -> bool:
    """Whether so many bytes more leave the painting its share. On a CPU there is no other place."""
    if device.type != 'cuda':
        return True
    free, total = torch.cuda.mem_get_info(device)
    # Memory that PyTorch holds and does not use, but not that of CUDA graphs, which nothing else can use.
    segments = [each for each in torch.cuda.memory_snapshot() if each['segment_pool_id'] == (0, 0)]
    free += sum(segment['total_size'] - segment['allocated_size'] for segment in segments)
    return bool(free - needed_bytes >= total * _PAINTING_SHARE)


def used_bytes(device: torch.device) -> tuple[int, int] | None:
    """
    The card's memory in use, and the most that was taken of it since the last `reset_peak`; None on a CPU.

    What a CUDA graph computes in counts as taken only.
    """
    if device.type != 'cuda':
        return None
    return torch.cuda.memory_allocated(), torch.cuda.max_memory_reserved()


def reset_peak(device: torch.device) -> None:
    """The peak counts from now on."""
    if device.type == 'cuda':
        torch.cuda.reset_peak_memory_stats()


def largest_untiled_pixels(vae: Any, card_bytes: int) -> int:
    """
    The largest picture that the VAE decodes in one piece.

    It follows from the card's whole memory, not from what is free: tiles make other bytes, and the card
    is named in the model's version.
    """
    widths = vae.config.block_out_channels
    pixel_bytes = _DECODING_TENSORS * widths[min(1, len(widths) - 1)] * vae.dtype.itemsize
    return int(card_bytes * _PAINTING_SHARE / pixel_bytes)


def choose_tiling(vae: Any, width: int, height: int, like: Any = None) -> None:
    """
    Has the VAE encode and decode pictures in tiles where one piece would take too much of the card.

    `like`: the VAE that the rule is applied to, where it is another one.
    """
    if width * height > largest_untiled_pixels(like or vae, total_bytes(vae.device)):
        vae.enable_tiling()
    else:
        vae.disable_tiling()
