"""Stable Diffusion XL and its finetunes."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar

import torch
from diffusers import (
    StableDiffusionXLImg2ImgPipeline,
    StableDiffusionXLInpaintPipeline,
    StableDiffusionXLPipeline,
)
from diffusers.models.embeddings import ImageProjection
from PIL import Image

from .adapters.sgm_names import name_in_sgm
from .clip_prompts import encode_prompts
from .diffusion import DiffusionEngine
from .engine import ImageSpec
from .keys_and_values import KeysAndValues
from .products.stage import on_white
from .recipes import PreparedInputs, Recipe

# How strongly reference images act beside the prompt, 0 … 1.
_REFERENCE_SCALE = 0.6
_MOST_REFERENCES = 4
# Of the longer side to the shorter one.
_LONGEST_SHAPE = 4


class SdxlEngine(DiffusionEngine):
    """
    SDXL. With a folder `ip_adapter/` reference images act through an IP-Adapter.

    The folder holds `ip_adapter.safetensors` and `image_encoder/`. Source: https://arxiv.org/abs/2308.06721.
    """

    text_pipeline = StableDiffusionXLPipeline
    image_pipeline = StableDiffusionXLImg2ImgPipeline
    inpaint_pipeline = StableDiffusionXLInpaintPipeline
    denoiser = 'unet'
    # All but those of an IP-Adapter, which are no part of SDXL.
    adapter_layers = (
        r'conv_in|conv_out|(time|add)_embedding\.linear_[12]'
        r'|(down_blocks|mid_block|up_blocks)\.(?!.*\.processor\.).+'
    )
    attention_per_megapixel = 0.11
    upcasts_encoder = True
    image_takes_size = False
    compiled_beside = ('ResnetBlock2D',)
    graphed = True
    # Without it an invisible watermark depends on whether its library happens to be installed.
    options: ClassVar[dict[str, Any]] = {'add_watermarker': False}

    @cached_property
    def _has_ip_adapter(self) -> bool:
        return (self._model_dir / 'ip_adapter').is_dir()

    def _prepare(self, pipe: Any) -> None:
        if self._has_ip_adapter:
            folder = self._model_dir / 'ip_adapter'
            pipe.load_ip_adapter(
                str(folder), subfolder='', weight_name='ip_adapter.safetensors', local_files_only=True
            )
        self._keys_and_values = KeysAndValues(pipe.unet)

    def _describe(self, spec: ImageSpec) -> dict[str, Any]:
        negative = spec.negative_prompt if spec.guidance_scale > 1 else None
        inputs = encode_prompts(self._text, spec.prompt, negative)
        return {**inputs, 'guidance_scale': spec.guidance_scale, **self._look_at(spec)}

    def _look_at(self, spec: ImageSpec) -> dict[str, Any]:
        """Once an IP-Adapter is loaded, every picture needs an image's embeddings."""
        if not self._has_ip_adapter:
            return {}
        guided = spec.guidance_scale > 1
        if not spec.references or spec.reference_mode != 'reference':
            # With a scale of 0 the attention leaves them out, so what they are does not matter.
            return {'ip_adapter_image_embeds': [self._no_image(2 if guided else 1)]}
        images = [on_white(_cut_middle(each.image)) for each in spec.references]
        embeds = self._text.prepare_ip_adapter_image_embeds([images], None, self._runtime.device, 1, guided)
        return {'ip_adapter_image_embeds': embeds}

    def _no_image(self, rows: int) -> torch.Tensor:
        """Zeros in the shape of an image's embeddings: (rows, 1, features) or (rows, 1, tokens, features)."""
        encoder = self._text.image_encoder
        sizes = encoder.config
        pooled = isinstance(self._text.unet.encoder_hid_proj.image_projection_layers[0], ImageProjection)
        tokens = (sizes.image_size // sizes.patch_size) ** 2 + 1
        shape = (sizes.projection_dim,) if pooled else (tokens, sizes.hidden_size)
        return torch.zeros(rows, 1, *shape, dtype=encoder.dtype, device=self._runtime.device)

    def _set_up(self, inputs: PreparedInputs) -> None:
        super()._set_up(inputs)
        self._keys_and_values.forget()
        if self._has_ip_adapter:
            looks = inputs.reference_mode == 'reference'
            self._text.set_ip_adapter_scale(_REFERENCE_SCALE if looks else 0.0)
            if self._graphs is not None:
                self._graphs.mode = looks

    def _plan_reference(self, spec: ImageSpec, inputs: dict[str, Any]) -> Recipe:
        if not self._has_ip_adapter:
            return super()._plan_reference(spec, inputs)
        return Recipe(self._text, {**inputs, 'width': spec.width, 'height': spec.height})

    def _starts_from_reference(self) -> bool:
        return not self._has_ip_adapter

    def _most_references(self) -> int:
        return _MOST_REFERENCES if self._has_ip_adapter else 1

    def _other_names(self, layer: str) -> Iterable[str]:
        name = name_in_sgm(layer, len(self._text.unet.down_blocks[0].resnets))
        return () if name is None else (name,)


def _cut_middle(image: Image.Image) -> Image.Image:
    """
    At most 4:1. The IP-Adapter's encoder looks at the square in the middle, but makes the shorter side fit
    before it cuts that out, and a line of 8192 pixels would become gigabytes.
    """
    width, height = (min(side, _LONGEST_SHAPE * min(image.size)) for side in image.size)
    left, top = (image.width - width) // 2, (image.height - height) // 2
    return image.crop((left, top, left + width, top + height))
