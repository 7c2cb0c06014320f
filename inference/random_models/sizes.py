"""What the classes and configurations of each model's parts are constructed with, in the order of drawing."""

from typing import Any, Literal, get_args

Kind = Literal['sdxl', 'z-image', 'flux2-klein']
Size = Literal['tiny', 'full']
KINDS: tuple[Kind, ...] = get_args(Kind)
SIZES: tuple[Size, ...] = get_args(Size)

#: By the parts' names in the pipeline.
Parts = dict[str, dict[str, Any]]

#: Those of Qwen/Qwen3-4B.
_QWEN3_4B = {
    'vocab_size': 151936,
    'hidden_size': 2560,
    'intermediate_size': 9728,
    'num_hidden_layers': 36,
    'num_attention_heads': 32,
    'num_key_value_heads': 8,
    'head_dim': 128,
    'max_position_embeddings': 40960,
}
_FULL: dict[Kind, Parts] = {
    # stabilityai/stable-diffusion-xl-base-1.0
    'sdxl': {
        'unet': {
            'sample_size': 128,
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
    },
    # Tongyi-MAI/Z-Image; those of its transformer are the class's defaults.
    'z-image': {
        'transformer': {},
        'vae': {
            'block_out_channels': (128, 256, 512, 512),
            'layers_per_block': 2,
            'latent_channels': 16,
            'scaling_factor': 0.3611,
            'shift_factor': 0.1159,
            'sample_size': 1024,
        },
        'text_encoder': _QWEN3_4B,
    },
    # black-forest-labs/FLUX.2-klein-4B; the transformer's are `Klein4BParams` of the authors' code
    # (https://github.com/black-forest-labs/flux2/blob/main/src/flux2/model.py), the autoencoder's the class's
    # defaults.
    'flux2-klein': {
        'vae': {},
        'text_encoder': _QWEN3_4B,
        'transformer': {
            'num_layers': 5,
            'num_single_layers': 20,
            'num_attention_heads': 24,
            'joint_attention_dim': 3 * 2560,
        },
    },
}

_TINY_CLIP = {
    'hidden_size': 32,
    'intermediate_size': 64,
    'num_hidden_layers': 2,
    'num_attention_heads': 4,
    'projection_dim': 32,
    'hidden_act': 'gelu',
}
_TINY: dict[Kind, Parts] = {
    'sdxl': {
        'unet': {
            'sample_size': 64,
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
        'text_encoder': _TINY_CLIP,
        'text_encoder_2': _TINY_CLIP,
    },
    'z-image': {
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
    },
    'flux2-klein': {
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
    },
}
PARTS: dict[Size, dict[Kind, Parts]] = {'tiny': _TINY, 'full': _FULL}
