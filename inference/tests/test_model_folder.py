"""Which folders the packaging script takes, and what of them."""

import json
import shutil
from pathlib import Path

import pytest

from model_server.__main__ import CLASS_NAMES
from tools.model_folder import PIPELINES

from .packaging_support import FILES, FIRST_SHARD, SDXL, TARGET, PackagingWorkspace, safetensors, set_up


@pytest.fixture
def workspace(tmp_path: Path) -> PackagingWorkspace:
    """With a small model that lacks nothing."""
    return set_up(tmp_path)


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


def test_half_an_ip_adapter_is_refused(workspace: PackagingWorkspace) -> None:
    workspace.write('ip_adapter/ip_adapter.safetensors', safetensors(b'adapter'))
    assert 'ip_adapter/image_encoder/ is missing' in workspace.refusal(TARGET)


@pytest.mark.parametrize(
    'path', ['unet/diffusion_pytorch_model.bin', 'old/model.ckpt', 'embedding.pt', 'vae/vae.pth']
)
def test_pickles_are_refused_wherever_they_lie(workspace: PackagingWorkspace, path: str) -> None:
    workspace.write(path, b'cos\nsystem\n')
    assert path in workspace.refusal(TARGET)


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


def test_weights_in_another_precision_only_are_refused(workspace: PackagingWorkspace) -> None:
    whole = workspace.model / 'vae/diffusion_pytorch_model.safetensors'
    whole.rename(workspace.model / 'vae/diffusion_pytorch_model.fp16.safetensors')
    assert 'without a variant' in workspace.refusal(TARGET)


@pytest.mark.parametrize(
    'content',
    [
        b'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12\n',
        safetensors(b'vae')[:-1],
        b'',
    ],
    ids=['a pointer', 'half a file', 'nothing'],
)
def test_weights_that_did_not_arrive_whole_are_refused(workspace: PackagingWorkspace, content: bytes) -> None:
    workspace.write('vae/diffusion_pytorch_model.safetensors', content)
    assert 'vae/diffusion_pytorch_model.safetensors is no safetensors file' in workspace.refusal(TARGET)


def test_a_shard_that_did_not_arrive_whole_is_refused(workspace: PackagingWorkspace) -> None:
    workspace.write(FIRST_SHARD, FILES[FIRST_SHARD][:-1])
    assert f'{FIRST_SHARD} is no safetensors file' in workspace.refusal(TARGET)


def test_weights_that_are_there_twice_are_refused(workspace: PackagingWorkspace) -> None:
    workspace.write('unet/diffusion_pytorch_model.safetensors', safetensors(b'whole'))
    assert 'twice' in workspace.refusal(TARGET)


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
