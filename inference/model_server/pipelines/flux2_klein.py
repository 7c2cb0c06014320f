"""
FLUX.2 [klein], a rectified flow transformer of 4 billion parameters under Apache 2.0.

There are two models of one form: a distilled one, which takes four steps and no guidance, and the base model
behind it. Source: https://bfl.ai/blog/flux2-klein-towards-interactive-visual-intelligence.
"""

import re
from collections.abc import Sequence
from math import ceil, sqrt
from pathlib import Path
from typing import Any

import torch
from diffusers import Flux2KleinInpaintPipeline, Flux2KleinPipeline
from PIL import Image, ImageOps
from safetensors import safe_open

from .adapters.file import FileContent, unfit
from .chat_prompts import count_tokens
from .diffusion import DiffusionEngine
from .engine import ImageSpec, Order
from .guidance import map_guidance
from .products.stage import on_white
from .recipes import Recipe

#: Pixels. The authors limit each of several references to as many:
#: https://github.com/black-forest-labs/flux2/blob/main/src/flux2/sampling.py.
LARGEST_REFERENCE = 1024 * 1024
# Pixels. Diffusers refuses a shorter side, and a shape longer than 8:1, which rounding may make of 7:1.
_SHORTEST_SIDE = 64
_LONGEST_SHAPE = 6
# Pixels. Diffusers cuts off what does not fill a square of this side.
_GRID = 16
# What the authors recommend for the base model, and what is none:
# https://github.com/black-forest-labs/flux2/blob/main/src/flux2/util.py.
_BASE_GUIDANCE = 4.0
_NO_GUIDANCE = 1.0
# https://docs.bfl.ai/guides/prompting_editing_overview
_MOST_REFERENCES = 4
# Tokens of a prompt, which is filled up to as many. The authors' code cuts a longer one off.
_LONGEST = 512
# The transformer sees a picture in squares of 16 x 16 pixels, and a text's token costs it as much as one.
_PIXELS_PER_TOKEN = 16 * 16
# The layers of kohya's format that diffusers knows. It leaves others out and paints with the rest.
_KOHYA = re.compile(
    r'lora_unet_(double_blocks_[0-9]+_(img|txt)_(attn_(qkv|proj)|mlp_[02])|single_blocks_[0-9]+_linear[12]'
    r'|img_in|txt_in|time_in_(in|out)_layer|final_layer_linear)\.(lora_down\.weight|lora_up\.weight|alpha)'
)
# Diffusers counts up to the highest number of a block in the file, and that may be any number.
_WRONG_BLOCK = re.compile(r'(double|single)_blocks(\.(?![0-9]{1,2}\.)|_(?![0-9]{1,2}_))')


class _ReferencePipeline(Flux2KleinPipeline):
    """Diffusers' own, for references that are encoded already and not for each output again."""

    def __call__(self, *, references: tuple[torch.Tensor, torch.Tensor], **inputs: Any) -> Any:
        """`references`: what `prepare_image_latents` made of them."""
        self._references = references
        # An image, so that it asks for latents.
        return super().__call__(image=Image.new('RGB', (64, 64)), **inputs)

    def prepare_image_latents(self, *_: Any, **__: Any) -> tuple[torch.Tensor, torch.Tensor]:
        return self._references


class Flux2KleinEngine(DiffusionEngine):
    """FLUX.2 [klein]. It looks at up to four references beside the picture that it paints."""

    text_pipeline = Flux2KleinPipeline
    # There is none that starts from an image: references are further inputs of the one for texts.
    image_pipeline = _ReferencePipeline
    inpaint_pipeline = Flux2KleinInpaintPipeline
    denoiser = 'transformer'
    # All but `norm_out`: in the authors' format the halves of its weights change places, which diffusers'
    # conversion of adapters does not know.
    adapter_layers = (
        r'transformer_blocks\.\d+\.(attn\.(to_[qkv]|to_out\.0|add_[qkv]_proj|to_add_out)'
        r'|ff(_context)?\.linear_(in|out))'
        r'|single_transformer_blocks\.\d+\.attn\.(to_qkv_mlp_proj|to_out)'
        r'|x_embedder|context_embedder|proj_out|time_guidance_embed\.timestep_embedder\.linear_[12]'
        r'|(double_stream_modulation_(img|txt)|single_stream_modulation)\.linear'
    )
    attention_per_megapixel = 0.19
    # https://github.com/black-forest-labs/flux2/blob/main/src/flux2/util.py
    distilled_steps = 4

    def pixels(self, order: Order) -> float:
        """
        Those of the picture, of what the model reads beside it, and the text's as if it were a picture.

        References count as if they were as large as they may be, because nobody knows before they are here.
        """
        picture = order.width * order.height
        if order.reference_mode == 'reference':
            beside = min(order.references, _MOST_REFERENCES) * LARGEST_REFERENCE
        else:
            beside = picture if order.references else 0
        return picture + beside + _LONGEST * _PIXELS_PER_TOKEN

    def _describe(self, spec: ImageSpec) -> dict[str, Any]:
        scale = map_guidance(spec.guidance_scale, _NO_GUIDANCE, _BASE_GUIDANCE)
        return {**self._encode(spec), 'guidance_scale': scale}

    def _encode(self, spec: ImageSpec) -> dict[str, torch.Tensor]:
        """
        Embeddings (1, 512, features) of the prompt, and of the negative one where there is guidance.

        Raises Failure('invalid_request').
        """
        texts = {'prompt_embeds': spec.prompt}
        if spec.guidance_scale > 1:
            texts['negative_prompt_embeds'] = spec.negative_prompt
        count_tokens(self._text.tokenizer, texts.values(), _LONGEST, thinking=False)
        return {
            name: self._text.encode_prompt(text, max_sequence_length=_LONGEST)[0]
            for name, text in texts.items()
        }

    def _most_references(self) -> int:
        return _MOST_REFERENCES

    def _starts_from_reference(self) -> bool:
        return False

    def _plan_reference(self, spec: ImageSpec, inputs: dict[str, Any]) -> Recipe:
        """Looks at the references. Nothing is copied from them, so branding can't be preserved more."""
        images = [fit_reference(each.image) for each in spec.references[:_MOST_REFERENCES]]
        size = {'width': spec.width, 'height': spec.height}
        return Recipe(self._image, {**inputs, **size, 'references': self._encode_references(images)})

    def _encode_references(self, images: Sequence[Image.Image]) -> tuple[torch.Tensor, torch.Tensor]:
        """Latents (1, tokens, channels) of all of them in a row, and the place of each token."""
        encoder, device = self._encoder, self._runtime.device
        pixels = [self._text.image_processor.preprocess(image) for image in images]
        # None is larger than this.
        encoder.choose_tiling(LARGEST_REFERENCE, 1)
        pipe = Flux2KleinPipeline(**{**self._text.components, 'vae': encoder.vae})
        latents, places = pipe.prepare_image_latents(pixels, 1, None, device, encoder.dtype)
        return latents, places

    def _encode_image(self, image: Image.Image) -> torch.Tensor:
        """
        Latents (1, channels, height / 16, width / 16). The pipeline normalizes them.

        It would shrink an image above 1 megapixel, and the picture with it.
        """
        latents = self._encoder(self._inpaint.image_processor.preprocess(image))
        return torch.nn.functional.pixel_unshuffle(latents, 2)

    def _read_state(self, path: Path) -> FileContent:
        with safe_open(path, framework='pt') as file:
            keys = list(file.keys())
        kohya = any('.lora_down.weight' in key for key in keys)
        unknown = kohya and not all(_KOHYA.fullmatch(key) for key in keys)
        if unknown or any(_WRONG_BLOCK.search(key) for key in keys):
            raise unfit('changes layers that this server keeps as they are, or is of another model')
        return self._read_by_diffusers(path)


def fit_reference(image: Image.Image) -> Image.Image:
    """
    RGB, at most 1 megapixel, sides of 64 pixels or more and multiples of 16; transparent parts are white.

    A smaller image keeps its size but for the rounding, and a very long one gets white margins.
    """
    picture = on_white(image)
    width, height = widen(*picture.size)
    if (width, height) != picture.size:
        wider = Image.new('RGB', (width, height), 'white')
        wider.paste(picture, ((width - picture.width) // 2, (height - picture.height) // 2))
        picture = wider
    return ImageOps.fit(picture, reference_size(width, height), Image.Resampling.LANCZOS)


def widen(width: int, height: int) -> tuple[int, int]:
    """The size with margins, if it needs some: at most 6:1."""
    least = ceil(max(width, height) / _LONGEST_SHAPE)
    return max(width, least), max(height, least)


def reference_size(width: int, height: int) -> tuple[int, int]:
    """The size, in pixels, in which the model looks at an image of this size."""
    shrink = min(1, sqrt(LARGEST_REFERENCE / (width * height)))
    scale = max(_SHORTEST_SIDE / min(width, height), shrink)
    return _round(width * scale), _round(height * scale)


def _round(side: float) -> int:
    return max(_SHORTEST_SIDE, int(side) // _GRID * _GRID)
