"""Which folders the packaging script takes, and what of them."""

import json
from typing import Any

import pytest

from model_server.__main__ import CLASS_NAMES
from tools.model_folder import PIPELINES

from .packaging_support import FILES, FIRST_SHARD, SDXL, TARGET, PackagingWorkspace
from .support import safetensors


def test_the_script_takes_the_models_that_the_server_has_pipelines_for() -> None:
    assert PIPELINES.keys() == CLASS_NAMES.keys()


def test_what_the_server_does_not_need_stays_at_home_and_does_not_change_the_digest(
    workspace: PackagingWorkspace,
) -> None:
    workspace.package()
    before = (workspace.model / 'model.json').read_bytes()
    for path in [
        '.git/objects/pack/pack-1.bin', '.gitattributes', 'README.md', 'comparison.png',
        'sd_xl_base_1.0.safetensors',
        'text_encoder/flax_model.msgpack', 'text_encoder/model.fp16.safetensors', 'text_encoder/model.onnx',
        'unet/diffusion_pytorch_model.fp16.safetensors', 'unet/openvino_model.bin', 'unet/openvino_model.xml',
        'unet/diffusion_pytorch_model.safetensors.index.fp16.json',
        'vae_1_0/config.json', 'vae_1_0/diffusion_pytorch_model.safetensors',
    ]:  # fmt: skip
        workspace.write(path, b'not needed')
    done = workspace.package(TARGET, '--name', 'my-model')
    assert workspace.stored() == {**FILES, 'model.json': before}
    assert 'sd_xl_base_1.0.safetensors' in done.stdout


def test_an_ip_adapter_of_sdxl_goes_along(workspace: PackagingWorkspace) -> None:
    adapter = {
        'ip_adapter/ip_adapter.safetensors': safetensors(b'adapter'),
        'ip_adapter/image_encoder/config.json': b'{}',
        'ip_adapter/image_encoder/model.safetensors': safetensors(b'eye'),
    }
    for path, content in adapter.items():
        workspace.write(path, content)
    assert workspace.package(TARGET).returncode == 0
    assert workspace.stored().keys() == {*FILES, *adapter, 'model.json'}


VAE = 'vae/diffusion_pytorch_model'
HALF_A_FILE = 'vae/diffusion_pytorch_model.safetensors is no safetensors file'


def index(**changes: Any) -> str:
    return json.dumps({**SDXL, **changes})


@pytest.mark.parametrize(
    ('path', 'content', 'sentence'),
    [
        # Taken away.
        ('model_index.json', None, 'model_index.json is missing'),
        ('unet/config.json', None, 'unet/ has no configuration'),
        (FIRST_SHARD, None, 'unet/ lacks diffusion_pytorch_model-00001-of-00002.safetensors'),
        ('unet/diffusion_pytorch_model.safetensors.index.json', None, 'unet/ has no diffusion_pytorch_model'),
        ('text_encoder_2/model.safetensors', None, 'text_encoder_2/ has no model.safetensors'),
        (f'{VAE}.safetensors', None, 'without a variant'),
        ('tokenizer', None, 'The folder tokenizer/ is missing'),
        # Put there.
        ('ip_adapter/ip_adapter.safetensors', safetensors(b'a'), 'ip_adapter/image_encoder/ is missing'),
        ('unet/diffusion_pytorch_model.safetensors', safetensors(b'whole'), 'unet/ has its weights twice'),
        (f'{VAE}.safetensors', b'version https://git-lfs.github.com/spec/v1\noid sha256:0\n', HALF_A_FILE),
        (f'{VAE}.safetensors', safetensors(b'vae')[:-1], HALF_A_FILE),
        (f'{VAE}.safetensors', b'', HALF_A_FILE),
        (FIRST_SHARD, FILES[FIRST_SHARD][:-1], f'{FIRST_SHARD} is no safetensors file'),
        ('unet/diffusion_pytorch_model.bin', b'cos', 'pickles'),
        ('old/model.ckpt', b'cos', 'pickles'),
        ('embedding.pt', b'cos', 'pickles'),
        ('vae/vae.pth', b'cos', 'pickles'),
        # An index that says something else.
        (
            'model_index.json',
            index(_class_name='FluxPipeline'),
            'FluxPipeline, and the server has no pipeline',
        ),
        (
            'model_index.json',
            index(tokenizer_2=[None, None]),
            'has no tokenizer_2, which StableDiffusionXLPipeline',
        ),
        ('model_index.json', index(unet=['my_code', 'MyUNet']), 'takes unet from my_code'),
        ('model_index.json', index(is_distilled='yes'), 'must be true or false'),
        (
            'model_index.json',
            index(_class_name='ZImagePipeline'),
            'does not say whether it is distilled',
        ),
    ],
)
def test_what_is_missing_or_can_not_be_used_is_named_and_nothing_is_uploaded(
    workspace: PackagingWorkspace, path: str, content: bytes | str | None, sentence: str
) -> None:
    workspace.write('scheduler/scheduler_config.json', '{"shift": 3.0}')
    workspace.write(path, content)
    assert sentence in workspace.refusal()
