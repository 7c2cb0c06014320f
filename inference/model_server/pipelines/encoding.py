"""Makes latents of images beside the painting."""

from collections.abc import Callable
from copy import copy, deepcopy
from functools import wraps
from threading import Lock
from typing import Any

import torch

from .memory import choose_tiling


class LatentEncoder:
    """
    A VAE that encodes on one thread while the same VAE decodes on another.

    The weights are shared, but the encoder has its own choice of tiling and, where it needs one, its own
    number type: a cast would change tensors that the other thread may be using. Encoding and decoding wait
    for each other, since the memory that is kept free for painting is enough for one of them.
    """

    def __init__(self, vae: Any, upcast: bool) -> None:
        """`upcast`: encodes in float32, as diffusers does with SDXL's VAE where its configuration says so."""
        self._painting = vae
        self.vae = copy(vae)
        self.dtype: torch.dtype = vae.dtype
        if upcast and self.dtype != torch.float32:
            self.dtype = torch.float32
            self.vae._modules = dict(vae._modules)
            for name in ('encoder', 'quant_conv'):
                if self.vae._modules[name] is not None:
                    self.vae._modules[name] = deepcopy(vae._modules[name]).float()
        alone = Lock()
        self.vae.encode = _alone(alone, self.vae.encode)
        vae.decode = _alone(alone, vae.decode)

    def __call__(self, pixels: torch.Tensor) -> torch.Tensor:
        """
        Latents (1, channels, height / n, width / n) as the VAE gives them; n is 8 in SDXL and in Z-Image.

        `pixels`: (1, 3, height, width), -1 … 1.

        They are the middle of the distribution that the VAE returns. Diffusers draws from it for each output;
        it is so narrow that the noise which is added afterwards hides the difference.
        """
        self.choose_tiling(pixels.shape[-1], pixels.shape[-2])
        latents: torch.Tensor = self.vae.encode(pixels.to(self.vae.device, self.dtype)).latent_dist.mode()
        return latents

    def choose_tiling(self, width: int, height: int) -> None:
        """By the same rule as for decoding: half as wide in twice as large numbers, or less."""
        choose_tiling(self.vae, width, height, like=self._painting)


def normalize(latents: torch.Tensor, config: Any) -> torch.Tensor:
    """The latents that the denoiser knows: what diffusers' pipelines undo before they decode."""
    mean, std = config.get('latents_mean'), config.get('latents_std')
    if mean is not None and std is not None:
        middle, width = (latents.new_tensor(values).view(1, -1, 1, 1) for values in (mean, std))
        return (latents - middle) * config.scaling_factor / width
    return (latents - (config.get('shift_factor') or 0.0)) * config.scaling_factor


def _alone(lock: Lock, work: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(work)
    def waiting(*args: Any, **named: Any) -> Any:
        with lock:
            return work(*args, **named)

    return waiting
