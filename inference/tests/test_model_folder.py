"""Which folders the packaging script takes, and what of them."""

import json
import shutil

import pytest

from model_server.__main__ import CLASS_NAMES
from tools.model_folder import PIPELINES

from .packaging_support import FILES, FIRST_SHARD, SDXL, TARGET, PackagingWorkspace
from .support import safetensors


def test_the_script_takes_the_models_that_the_server_has_pipelines_for() -> None:
    assert PIPELINES.keys() == CLASS_NAMES.keys()


def test_what_the_server_does_not_need_stays_at_home(workspace: PackagingWorkspace) -> None:
    for path in [
        '.git/objects/pack/pack-1.bin', '.gitattributes', 'README.md', 'comparison.png',
        'sd_xl_base_1.0.safetensors',
        'text_encoder/flax_model.msgpack', 'text_encoder/model.fp16.safetensors', 'text_encoder/model.onnx',
        'unet/diffusion_pytorch_model.fp16.safetensors', 'unet/openvino_model.bin', 'unet/openvino_model.xml',
        'unet/diffusion_pytorch_model.safetensors.index.fp16.json',
        'vae_1_0/config.json', 'vae_1_0/diffusion_pytorch_model.safetensors',
    ]:  # fmt: skip
        workspace.write(path, b'not needed')
    done = workspace.package(TARGET)
    assert workspace.stored().keys() == {*FILES, 'model.json'}
    assert 'sd_xl_base_1.0.safetensors' in done.stdout


def test_what_stays_at_home_does_not_change_the_digest(workspace: PackagingWorkspace) -> None:
    workspace.package()
    before = (workspace.model / 'model.json').read_bytes()
    workspace.write('README.md', 'Much to read.')
    workspace.package()
    assert (workspace.model / 'model.json').read_bytes() == before


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


@pytest.mark.parametrize(
    ('path', 'sentence'),
    [
        ('model_index.json', 'model_index.json is missing'),
        ('unet/config.json', 'unet/ has no configuration'),
        (FIRST_SHARD, 'unet/ lacks diffusion_pytorch_model-00001-of-00002.safetensors'),
        ('unet/diffusion_pytorch_model.safetensors.index.json', 'unet/ has no diffusion_pytorch_model'),
        ('vae/diffusion_pytorch_model.safetensors', 'vae/ has no diffusion_pytorch_model.safetensors'),
        ('text_encoder_2/model.safetensors', 'text_encoder_2/ has no model.safetensors'),
        ('tokenizer', 'The folder tokenizer/ is missing'),
    ],
)  # fmt: skip
def test_what_is_missing_is_named(workspace: PackagingWorkspace, path: str, sentence: str) -> None:
    file = workspace.model / path
    shutil.rmtree(file) if file.is_dir() else file.unlink()
    assert sentence in workspace.refusal(TARGET)


VAE = 'vae/diffusion_pytorch_model'
HALF_A_FILE = 'is no safetensors file'


@pytest.mark.parametrize(
    ('path', 'content', 'sentence'),
    [
        (
            'ip_adapter/ip_adapter.safetensors',
            safetensors(b'adapter'),
            'ip_adapter/image_encoder/ is missing',
        ),
        ('unet/diffusion_pytorch_model.safetensors', safetensors(b'whole'), 'unet/ has its weights twice'),
        (f'{VAE}.safetensors', b'version https://git-lfs.github.com/spec/v1\noid sha256:0\n', HALF_A_FILE),
        (f'{VAE}.safetensors', safetensors(b'vae')[:-1], HALF_A_FILE),
        (f'{VAE}.safetensors', b'', HALF_A_FILE),
        (FIRST_SHARD, FILES[FIRST_SHARD][:-1], HALF_A_FILE),
        ('unet/diffusion_pytorch_model.bin', b'cos', 'pickles'),
        ('old/model.ckpt', b'cos', 'pickles'),
        ('embedding.pt', b'cos', 'pickles'),
        ('vae/vae.pth', b'cos', 'pickles'),
    ],
)
def test_a_file_that_can_not_be_used_is_named_and_nothing_is_uploaded(
    workspace: PackagingWorkspace, path: str, content: bytes, sentence: str
) -> None:
    workspace.write(path, content)
    refusal = workspace.refusal(TARGET)
    assert sentence in refusal
    assert path.rpartition('/')[0] in refusal


def test_weights_in_another_precision_only_are_refused(workspace: PackagingWorkspace) -> None:
    (workspace.model / f'{VAE}.safetensors').rename(workspace.model / f'{VAE}.fp16.safetensors')
    assert 'without a variant' in workspace.refusal(TARGET)


@pytest.mark.parametrize(
    ('change', 'sentence'),
    [
        ({'_class_name': 'FluxPipeline'}, 'FluxPipeline, and the server has no pipeline for it'),
        ({'tokenizer_2': [None, None]}, 'has no tokenizer_2, which StableDiffusionXLPipeline needs'),
        ({'unet': ['my_code', 'MyUNet']}, 'takes unet from my_code'),
    ],
)
def test_a_pipeline_that_the_server_can_not_load_is_refused(
    workspace: PackagingWorkspace, change: dict[str, object], sentence: str
) -> None:
    workspace.write('model_index.json', json.dumps({**SDXL, **change}))
    assert sentence in workspace.refusal(TARGET)
