"""Adapters with random weights, for the models beside them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import diffusers
import torch
from safetensors.torch import save_file
from transformers import CLIPVisionConfig, CLIPVisionModelWithProjection

from .sizes import Kind
from .weights import Draw

#: The layers that most LoRAs change, by the ends of their names.
ATTENTION_LAYERS = ('to_q', 'to_k', 'to_v', 'to_out.0')
#: Each picture becomes so many tokens, as in the IP-Adapters without a finer grid.
_IMAGE_TOKENS = 4


def build_lora(
    kind: Kind,
    model_dir: Path,
    file: Path,
    rank: int = 4,
    seed: int = 0,
    layers: Sequence[str] = ATTENTION_LAYERS,
    dtype: torch.dtype = torch.float32,
) -> None:
    """
    Writes a LoRA that fits the model, in diffusers' format; `file` ends with `.safetensors`.

    It changes each of its layers as much as the layer's own weights do. `layers` are ends of the names of
    linear layers.
    """
    draw = Draw('cpu', dtype, seed)
    part = 'unet' if kind == 'sdxl' else 'transformer'
    weights: dict[str, torch.Tensor] = {}
    for name, layer in _empty_model(model_dir / part).named_modules():
        if isinstance(layer, torch.nn.Linear) and name.endswith(tuple(layers)):
            weights[f'{part}.{name}.lora_A.weight'] = draw.matrix(rank, layer.in_features)
            weights[f'{part}.{name}.lora_B.weight'] = draw.matrix(layer.out_features, rank)
    save_file(weights, file, {'format': 'pt'})


def build_ip_adapter(folder: Path) -> None:
    """Writes `ip_adapter/`, for `load_ip_adapter`, with a tiny image encoder into an SDXL model's folder."""
    draw = Draw('cpu', torch.float32)
    encoder = draw.model(
        lambda: CLIPVisionModelWithProjection(
            CLIPVisionConfig(
                hidden_size=32,
                intermediate_size=64,
                num_hidden_layers=2,
                num_attention_heads=4,
                projection_dim=32,
                image_size=224,
                patch_size=32,
            )
        )
    )
    encoder.save_pretrained(folder / 'ip_adapter' / 'image_encoder')
    unet = _empty_model(folder / 'unet')
    width = unet.config.cross_attention_dim
    weights = {
        'image_proj.proj.weight': draw.matrix(_IMAGE_TOKENS * width, encoder.config.projection_dim),
        # Not zero, so that also an image of zeros acts.
        'image_proj.proj.bias': draw.matrix(1, _IMAGE_TOKENS * width)[0],
        'image_proj.norm.weight': torch.ones(width),
        'image_proj.norm.bias': torch.zeros(width),
    }
    # The original code numbered all attention layers. Every second one attends to the prompt.
    crossing = [name for name in unet.attn_processors if name.endswith('attn2.processor')]
    for index, name in enumerate(crossing):
        values = unet.get_submodule(name.removesuffix('.processor')).to_v.out_features
        for part in ('to_k_ip', 'to_v_ip'):
            weights[f'ip_adapter.{2 * index + 1}.{part}.weight'] = draw.matrix(values, width)
    save_file(weights, folder / 'ip_adapter' / 'ip_adapter.safetensors')


def _empty_model(folder: Path) -> Any:
    """The model of a pipeline's part, without its weights."""
    config = json.loads((folder / 'config.json').read_text('utf-8'))
    with torch.device('meta'):
        return getattr(diffusers, config['_class_name']).from_config(config)
