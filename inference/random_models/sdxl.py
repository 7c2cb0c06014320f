"""A pipeline like SDXL's."""

from diffusers import AutoencoderKL, EulerDiscreteScheduler, StableDiffusionXLPipeline, UNet2DConditionModel
from transformers import CLIPTextConfig, CLIPTextModel, CLIPTextModelWithProjection

from .tokenizers import clip_tokenizer
from .weights import Draw, Parts

#: The sizes of stabilityai/stable-diffusion-xl-base-1.0.
_FULL: Parts = {
    'unet': {
        'sample_size': 128,
        'down_block_types': ('DownBlock2D', 'CrossAttnDownBlock2D', 'CrossAttnDownBlock2D'),
        'up_block_types': ('CrossAttnUpBlock2D', 'CrossAttnUpBlock2D', 'UpBlock2D'),
        'block_out_channels': (320, 640, 1280),
        'transformer_layers_per_block': (1, 2, 10),
        'attention_head_dim': (5, 10, 20),
        'cross_attention_dim': 768 + 1280,
        'addition_time_embed_dim': 256,
        'projection_class_embeddings_input_dim': 6 * 256 + 1280,
    },
    'vae': {
        'block_out_channels': (128, 256, 512, 512),
        'layers_per_block': 2,
        'scaling_factor': 0.13025,
        'sample_size': 1024,
    },
    'text_encoder': {
        'vocab_size': 49408,
        'hidden_size': 768,
        'intermediate_size': 3072,
        'num_hidden_layers': 12,
        'num_attention_heads': 12,
        'projection_dim': 768,
        'hidden_act': 'quick_gelu',
    },
    'text_encoder_2': {
        'vocab_size': 49408,
        'hidden_size': 1280,
        'intermediate_size': 5120,
        'num_hidden_layers': 32,
        'num_attention_heads': 20,
        'projection_dim': 1280,
        'hidden_act': 'gelu',
    },
}
#: Parameters of the same model.
_PUBLISHED = {'unet': 2.567e9, 'vae': 83.7e6, 'text_encoder': 123.1e6, 'text_encoder_2': 694.7e6}

_TINY_TEXT = {
    'hidden_size': 32,
    'intermediate_size': 64,
    'num_hidden_layers': 2,
    'num_attention_heads': 4,
    'projection_dim': 32,
    'hidden_act': 'gelu',
}
_TINY: Parts = {
    'unet': {
        'sample_size': 64,
        'down_block_types': ('DownBlock2D', 'CrossAttnDownBlock2D', 'CrossAttnDownBlock2D'),
        'up_block_types': ('CrossAttnUpBlock2D', 'CrossAttnUpBlock2D', 'UpBlock2D'),
        'block_out_channels': (8, 16, 32),
        'layers_per_block': 1,
        'transformer_layers_per_block': (1, 1, 2),
        'attention_head_dim': (1, 1, 2),
        'cross_attention_dim': 32 + 32,
        'addition_time_embed_dim': 8,
        'projection_class_embeddings_input_dim': 6 * 8 + 32,
        'norm_num_groups': 4,
    },
    'vae': {
        # Two levels more than the full one: latents are 16 times smaller, and so the steps are quicker.
        'block_out_channels': (8, 8, 8, 8, 8, 8),
        'norm_num_groups': 4,
        'scaling_factor': 1.5,
        'sample_size': 512,
    },
    'text_encoder': _TINY_TEXT,
    'text_encoder_2': _TINY_TEXT,
}


def create_sdxl(draw: Draw, full: bool) -> StableDiffusionXLPipeline:
    """The whole pipeline, tiny or full."""
    parts, published = (_FULL, _PUBLISHED) if full else (_TINY, {})
    tokenizer = clip_tokenizer()
    special = {
        'bos_token_id': tokenizer.bos_token_id,
        'eos_token_id': tokenizer.eos_token_id,
        'pad_token_id': tokenizer.pad_token_id,
    }

    def text_config(name: str) -> CLIPTextConfig:
        return CLIPTextConfig(**{'vocab_size': len(tokenizer), **parts[name], **special})

    def create_unet() -> UNet2DConditionModel:
        return UNet2DConditionModel(
            addition_embed_type='text_time', use_linear_projection=True, **parts['unet']
        )

    def create_vae() -> AutoencoderKL:
        levels = len(parts['vae']['block_out_channels'])
        return AutoencoderKL(
            down_block_types=('DownEncoderBlock2D',) * levels,
            up_block_types=('UpDecoderBlock2D',) * levels,
            latent_channels=4,
            **parts['vae'],
        )

    return StableDiffusionXLPipeline(
        unet=draw.model(create_unet, published.get('unet')),
        vae=draw.model(create_vae, published.get('vae')),
        text_encoder=draw.model(
            lambda: CLIPTextModel(text_config('text_encoder')), published.get('text_encoder')
        ),
        text_encoder_2=draw.model(
            lambda: CLIPTextModelWithProjection(text_config('text_encoder_2')),
            published.get('text_encoder_2'),
        ),
        tokenizer=tokenizer,
        tokenizer_2=tokenizer,
        scheduler=EulerDiscreteScheduler(
            beta_start=0.00085,
            beta_end=0.012,
            beta_schedule='scaled_linear',
            timestep_spacing='leading',
            steps_offset=1,
        ),
    )
