"""A pipeline like that of FLUX.2 [klein] 4B, the distilled model."""

from diffusers import (
    AutoencoderKLFlux2,
    FlowMatchEulerDiscreteScheduler,
    Flux2KleinPipeline,
    Flux2Transformer2DModel,
)
from transformers import Qwen3Config, Qwen3ForCausalLM

from .qwen3 import QWEN3_4B
from .tokenizers import qwen_tokenizer
from .weights import Draw, Parts

#: The sizes of black-forest-labs/FLUX.2-klein-4B. The transformer's are `Klein4BParams` of the authors' code
#: (https://github.com/black-forest-labs/flux2/blob/main/src/flux2/model.py), the text encoder's those of
#: Qwen3-4B, and the autoencoder's the class's defaults.
_FULL: Parts = {
    'transformer': {
        'num_layers': 5,
        'num_single_layers': 20,
        'num_attention_heads': 24,
        'joint_attention_dim': 3 * 2560,
    },
    'vae': {},
    'text_encoder': QWEN3_4B,
}
#: Parameters of the same model. The transformer's file has 7.75 GB, the text encoder's two have 8.05 GB.
_PUBLISHED = {'transformer': 3.88e9, 'vae': 84.0e6, 'text_encoder': 4.02e9}

_TINY: Parts = {
    'transformer': {
        'in_channels': 4 * 4,
        'num_layers': 1,
        'num_single_layers': 1,
        'attention_head_dim': 16,
        'num_attention_heads': 2,
        'joint_attention_dim': 3 * 16,
        'timestep_guidance_channels': 16,
        'axes_dims_rope': (4, 4, 4, 4),
    },
    'vae': {
        'block_out_channels': (8, 8, 8, 8),
        'layers_per_block': 1,
        'norm_num_groups': 4,
        'latent_channels': 4,
        'sample_size': 512,
    },
    'text_encoder': {
        'hidden_size': 16,
        'intermediate_size': 32,
        # The pipeline takes what comes out of layer 27, and a last layer's output would be normalized.
        'num_hidden_layers': 28,
        'num_attention_heads': 1,
        'num_key_value_heads': 1,
        'head_dim': 16,
        'max_position_embeddings': 1024,
    },
}


def create_flux2_klein(draw: Draw, full: bool) -> Flux2KleinPipeline:
    """The whole pipeline, tiny or full."""
    parts, published = (_FULL, _PUBLISHED) if full else (_TINY, {})
    tokenizer = qwen_tokenizer()

    def create_transformer() -> Flux2Transformer2DModel:
        return Flux2Transformer2DModel(guidance_embeds=False, **parts['transformer'])

    def create_text_encoder() -> Qwen3ForCausalLM:
        sizes = {'vocab_size': len(tokenizer), **parts['text_encoder']}
        return Qwen3ForCausalLM(Qwen3Config(tie_word_embeddings=True, **sizes))

    vae = draw.model(lambda: AutoencoderKLFlux2(**parts['vae']), published.get('vae'))
    # Buffers that the file has: by them latents are normalized. The numbers are not those of the real model.
    vae.bn.running_mean.fill_(0.1)
    vae.bn.running_var.fill_(2)
    vae.bn.num_batches_tracked.fill_(1)
    text_encoder = draw.model(create_text_encoder, published.get('text_encoder'))
    text_encoder.tie_weights()
    return Flux2KleinPipeline(
        transformer=draw.model(create_transformer, published.get('transformer')),
        vae=vae,
        text_encoder=text_encoder,
        tokenizer=tokenizer,
        scheduler=FlowMatchEulerDiscreteScheduler(use_dynamic_shifting=True),
        is_distilled=True,
    )
