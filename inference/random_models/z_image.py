"""A pipeline like Z-Image's."""

from diffusers import (
    AutoencoderKL,
    FlowMatchEulerDiscreteScheduler,
    ZImagePipeline,
    ZImageTransformer2DModel,
)
from transformers import Qwen3Config, Qwen3Model

from .qwen3 import QWEN3_4B
from .tokenizers import qwen_tokenizer
from .weights import Draw, Parts

#: The sizes of Tongyi-MAI/Z-Image. Those of its transformer are the class's defaults.
_FULL: Parts = {
    'transformer': {},
    'vae': {
        'block_out_channels': (128, 256, 512, 512),
        'layers_per_block': 2,
        'latent_channels': 16,
        'scaling_factor': 0.3611,
        'shift_factor': 0.1159,
        'sample_size': 1024,
    },
    'text_encoder': QWEN3_4B,
}
#: Parameters of the same model.
_PUBLISHED = {'transformer': 6.15e9, 'vae': 83.8e6, 'text_encoder': 4.02e9}

_TINY: Parts = {
    'transformer': {
        'in_channels': 4,
        'dim': 64,
        'n_layers': 2,
        'n_refiner_layers': 1,
        'n_heads': 2,
        'n_kv_heads': 2,
        'cap_feat_dim': 32,
        'axes_dims': [8, 12, 12],
        'axes_lens': [1536, 128, 128],
    },
    'vae': {
        'block_out_channels': (8, 8, 8, 8),
        'norm_num_groups': 4,
        'latent_channels': 4,
        'scaling_factor': 1.5,
        'shift_factor': 0.1,
        'sample_size': 512,
    },
    'text_encoder': {
        'hidden_size': 32,
        'intermediate_size': 64,
        'num_hidden_layers': 2,
        'num_attention_heads': 2,
        'num_key_value_heads': 2,
        'head_dim': 16,
        'max_position_embeddings': 1024,
    },
}


def create_z_image(draw: Draw, full: bool) -> ZImagePipeline:
    """The whole pipeline, tiny or full."""
    parts, published = (_FULL, _PUBLISHED) if full else (_TINY, {})
    tokenizer = qwen_tokenizer()

    def create_transformer() -> ZImageTransformer2DModel:
        return ZImageTransformer2DModel(**parts['transformer'])

    def create_vae() -> AutoencoderKL:
        levels = len(parts['vae']['block_out_channels'])
        return AutoencoderKL(
            down_block_types=('DownEncoderBlock2D',) * levels,
            up_block_types=('UpDecoderBlock2D',) * levels,
            use_quant_conv=False,
            use_post_quant_conv=False,
            **parts['vae'],
        )

    def create_text_encoder() -> Qwen3Model:
        sizes = {'vocab_size': len(tokenizer), **parts['text_encoder']}
        return Qwen3Model(Qwen3Config(tie_word_embeddings=True, **sizes))

    return ZImagePipeline(
        transformer=draw.model(create_transformer, published.get('transformer')),
        vae=draw.model(create_vae, published.get('vae')),
        text_encoder=draw.model(create_text_encoder, published.get('text_encoder')),
        tokenizer=tokenizer,
        scheduler=FlowMatchEulerDiscreteScheduler(shift=6.0),
    )
