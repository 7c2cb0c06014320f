"""Writes pipelines like those of SDXL, Z-Image and FLUX.2 [klein] 4B, with random weights."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import diffusers
import torch
import transformers
from tokenizers import Tokenizer, decoders
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from transformers import CLIPTokenizer, PreTrainedTokenizerFast

from .sizes import PARTS, Kind, Size
from .weights import Draw

#: The form of a conversation in which Qwen3 reads a prompt.
_CHAT_TEMPLATE = (
    '{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n'
    '{% endfor %}'
    '{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}'
)


def build(kind: Kind, folder: Path, size: Size = 'tiny') -> None:
    """
    Writes a diffusers folder with random weights.

    `tiny` has a few megabytes in float32, and is made on the CPU. `full` is as large as SDXL base 1.0 (7 GB),
    Z-Image (21 GB) or FLUX.2 [klein] 4B (16 GB) in bfloat16, and is made in the GPU's memory, or without a
    GPU in the computer's.
    """
    if size == 'full':
        draw = Draw('cuda' if torch.cuda.is_available() else 'cpu', torch.bfloat16)
    else:
        draw = Draw('cpu', torch.float32)
    create(kind, size, draw).save_pretrained(folder, max_shard_size='5GB')


def create(kind: Kind, size: Size, draw: Draw) -> Any:
    """The whole pipeline."""
    pipeline, make_part, others = _FORMS[kind]()
    sizes = PARTS[size][kind]
    parts = {name: draw.model(partial(make_part[name], **sizes[name])) for name in sizes}
    if kind == 'flux2-klein':
        # Buffers that the file has: by them latents are normalized. The numbers are not the real model's.
        parts['vae'].bn.running_mean.fill_(0.1)
        parts['vae'].bn.running_var.fill_(2)
        parts['vae'].bn.num_batches_tracked.fill_(1)
        parts['text_encoder'].tie_weights()
    return pipeline(**parts, **others)


def make_denoiser(kind: Kind) -> Any:
    """The model that paints, in its full size and without its weights."""
    _, make_part, _ = _FORMS[kind]()
    part = 'unet' if kind == 'sdxl' else 'transformer'
    with torch.device('meta'):
        return make_part[part](**PARTS['full'][kind][part])


#: A pipeline's class, how each of its drawn parts is made, and what else it is constructed with.
_Form = tuple[Any, dict[str, Callable[..., Any]], dict[str, Any]]


def _sdxl() -> _Form:
    tokenizer = _clip_tokenizer()
    special = {name: getattr(tokenizer, name) for name in ('bos_token_id', 'eos_token_id', 'pad_token_id')}

    def make_clip(model: Any) -> Callable[..., Any]:
        return lambda **sizes: model(
            transformers.CLIPTextConfig(**{'vocab_size': len(tokenizer), **sizes, **special})
        )

    scheduler = diffusers.EulerDiscreteScheduler(
        beta_start=0.00085,
        beta_end=0.012,
        beta_schedule='scaled_linear',
        timestep_spacing='leading',
        steps_offset=1,
    )
    make_part = {
        'unet': make_sdxl_unet,
        'vae': _make_vae,
        'text_encoder': make_clip(transformers.CLIPTextModel),
        'text_encoder_2': make_clip(transformers.CLIPTextModelWithProjection),
    }
    others = {'tokenizer': tokenizer, 'tokenizer_2': tokenizer, 'scheduler': scheduler}
    return diffusers.StableDiffusionXLPipeline, make_part, others


def make_sdxl_unet(**sizes: Any) -> Any:
    """With the weights as diffusers initializes them."""
    return diffusers.UNet2DConditionModel(
        down_block_types=('DownBlock2D', 'CrossAttnDownBlock2D', 'CrossAttnDownBlock2D'),
        up_block_types=('CrossAttnUpBlock2D', 'CrossAttnUpBlock2D', 'UpBlock2D'),
        addition_embed_type='text_time',
        use_linear_projection=True,
        **sizes,
    )


def _z_image() -> _Form:
    tokenizer = _qwen_tokenizer()
    make_part = {
        'transformer': diffusers.ZImageTransformer2DModel,
        'vae': lambda **sizes: _make_vae(use_quant_conv=False, use_post_quant_conv=False, **sizes),
        'text_encoder': _make_qwen3(transformers.Qwen3Model, tokenizer),
    }
    scheduler = diffusers.FlowMatchEulerDiscreteScheduler(shift=6.0)
    return diffusers.ZImagePipeline, make_part, {'tokenizer': tokenizer, 'scheduler': scheduler}


def _flux2_klein() -> _Form:
    tokenizer = _qwen_tokenizer()
    make_part = {
        'vae': diffusers.AutoencoderKLFlux2,
        'text_encoder': _make_qwen3(transformers.Qwen3ForCausalLM, tokenizer),
        'transformer': lambda **sizes: diffusers.Flux2Transformer2DModel(guidance_embeds=False, **sizes),
    }
    scheduler = diffusers.FlowMatchEulerDiscreteScheduler(use_dynamic_shifting=True)
    others = {'tokenizer': tokenizer, 'scheduler': scheduler, 'is_distilled': True}
    return diffusers.Flux2KleinPipeline, make_part, others


_FORMS: dict[Kind, Callable[[], _Form]] = {
    'sdxl': _sdxl,
    'z-image': _z_image,
    'flux2-klein': _flux2_klein,
}


def _make_vae(**sizes: Any) -> Any:
    levels = len(sizes['block_out_channels'])
    return diffusers.AutoencoderKL(
        down_block_types=('DownEncoderBlock2D',) * levels,
        up_block_types=('UpDecoderBlock2D',) * levels,
        **sizes,
    )


def _make_qwen3(model: Any, tokenizer: Any) -> Callable[..., Any]:
    return lambda **sizes: model(
        transformers.Qwen3Config(tie_word_embeddings=True, **{'vocab_size': len(tokenizer), **sizes})
    )


def _clip_tokenizer() -> CLIPTokenizer:
    """One token for each byte, more than with a learned vocabulary, and at most 77 of them."""
    letters = sorted(ByteLevel.alphabet())
    words = [*letters, *(letter + '</w>' for letter in letters), '<|startoftext|>', '<|endoftext|>']
    return CLIPTokenizer(vocab=_numbered(words), merges=[], model_max_length=77)


def _qwen_tokenizer() -> PreTrainedTokenizerFast:
    """One token for each byte, with Qwen's special tokens."""
    special = ['<|endoftext|>', '<|im_start|>', '<|im_end|>']
    tokenizer = Tokenizer(BPE(vocab=_numbered([*sorted(ByteLevel.alphabet()), *special]), merges=[]))
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token='<|endoftext|>',
        eos_token='<|im_end|>',
        additional_special_tokens=['<|im_start|>'],
    )
    fast.chat_template = _CHAT_TEMPLATE
    return fast


def _numbered(words: list[str]) -> dict[str, int]:
    return {word: number for number, word in enumerate(words)}
