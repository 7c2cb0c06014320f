"""
Z-Image, a diffusion transformer of 6 billion parameters under Apache 2.0.

There are two models of one form: Z-Image, and Z-Image-Turbo, which is distilled from it and takes eight steps
and no guidance. Source: https://arxiv.org/abs/2511.22699.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from diffusers import ZImageImg2ImgPipeline, ZImageInpaintPipeline, ZImagePipeline

from .adapters.file import FileContent
from .chat_prompts import count_tokens
from .diffusion import DiffusionEngine
from .engine import ImageSpec
from .guidance import map_guidance
from .products.stage import Stage
from .recipes import Recipe

# Tokens. The model's positions end a little above the second.
_USUAL_LENGTH = 512
_LONGEST = 1024

# Its pipeline adds so many times what the prompt and the negative prompt differ in, so 0 is no guidance.
# The authors recommend 3 to 5, and their example has 4: https://huggingface.co/Tongyi-MAI/Z-Image
_NO_GUIDANCE = 0.0
_RECOMMENDED_GUIDANCE = 4.0


class _InpaintPipeline(ZImageInpaintPipeline):
    """
    Diffusers' own, for an image that is encoded already.

    It would also encode the image without the part to be painted, and then use that in no step. With
    `masked_image_latents` it takes this for done.
    """

    def prepare_mask_latents(self, mask: torch.Tensor, latents: torch.Tensor, *_: Any) -> tuple[Any, Any]:
        """The mask in the latents' size."""
        size = latents.shape[-2:]
        return torch.nn.functional.interpolate(mask, size=size, mode='nearest').to(latents), latents


class ZImageEngine(DiffusionEngine):
    """Z-Image. Its text encoder reads whole sentences, in Chinese too."""

    text_pipeline = ZImagePipeline
    image_pipeline = ZImageImg2ImgPipeline
    inpaint_pipeline = _InpaintPipeline
    denoiser = 'transformer'
    adapter_layers = (
        r'(layers|noise_refiner|context_refiner)\.\d+\.'
        r'(attention\.(to_q|to_k|to_v|to_out\.0)|feed_forward\.w[123]|adaLN_modulation\.0)'
    )
    # With a prompt of some 60 tokens. It is less with a longer one, which nobody knows before it is read.
    attention_per_megapixel = 0.14
    # Z-Image-Turbo's: https://huggingface.co/Tongyi-MAI/Z-Image-Turbo. The example there asks for 9 and says
    # that 8 evaluations come of them; in this diffusers 8 do.
    distilled_steps = 8

    def _describe(self, spec: ImageSpec) -> dict[str, Any]:
        guided = spec.guidance_scale > 1
        # Without guidance nobody reads the negative prompt, so it may have any length.
        texts = {'prompt': spec.prompt, 'negative_prompt': spec.negative_prompt if guided else ''}
        length = count_tokens(self._text.tokenizer, texts.values(), _LONGEST, thinking=True)
        embeds, negative_embeds = self._text.encode_prompt(
            **texts,
            device=self._runtime.device,
            do_classifier_free_guidance=guided,
            max_sequence_length=_USUAL_LENGTH if length <= _USUAL_LENGTH else _LONGEST,
        )
        return {
            'prompt_embeds': embeds,
            'negative_prompt_embeds': negative_embeds,
            'guidance_scale': map_guidance(spec.guidance_scale, _NO_GUIDANCE, _RECOMMENDED_GUIDANCE),
        }

    def _plan_stage(self, stage: Stage, inputs: dict[str, Any], strength: float) -> Recipe:
        plan = super()._plan_stage(stage, inputs, strength)
        return replace(plan, inputs={**plan.inputs, 'masked_image_latents': plan.inputs['image']})

    def _read_state(self, path: Path) -> FileContent:
        return self._read_by_diffusers(path)
