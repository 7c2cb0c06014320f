"""Which folders the packaging script takes, and what of them."""

import json
import shutil
from pathlib import Path

import pytest

from model_server.__main__ import CLASS_NAMES
from tools.model_folder import PIPELINES

from .packaging_desk import FILES, FIRST_SHARD, SDXL, TARGET, Desk, safetensors, set_up


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """With a small model that lacks nothing."""
    return set_up(tmp_path)


def test_the_script_takes_the_models_that_the_server_has_pipelines_for() -> None:
    assert PIPELINES.keys() == CLASS_NAMES.keys()


def test_what_the_server_does_not_need_stays_at_home(desk: Desk) -> None:
    for path in [
        '.git/objects/pack/pack-1.bin', '.gitattributes', 'README.md', 'comparison.png',
        'sd_xl_base_1.0.safetensors',
        'text_encoder/flax_model.msgpack', 'text_encoder/model.fp16.safetensors', 'text_encoder/model.onnx',
        'unet/diffusion_pytorch_model.fp16.safetensors', 'unet/openvino_model.bin', 'unet/openvino_model.xml',
        'unet/diffusion_pytorch_model.safetensors.index.fp16.json',
        'vae_1_0/config.json', 'vae_1_0/diffusion_pytorch_model.safetensors',
    ]:  # fmt: skip
        desk.write(path, b'not needed')
    done = desk.package(TARGET)
    assert desk.stored().keys() == {*FILES, 'model.json'}
    assert 'sd_xl_base_1.0.safetensors' in done.stdout


def test_what_stays_at_home_does_not_change_the_digest(desk: Desk) -> None:
    desk.package()
    before = (desk.model / 'model.json').read_bytes()
    desk.write('README.md', 'Much to read.')
    desk.package()
    assert (desk.model / 'model.json').read_bytes() == before


def test_an_ip_adapter_of_sdxl_goes_along(desk: Desk) -> None:
    adapter = {
        'ip_adapter/ip_adapter.safetensors': safetensors(b'adapter'),
        'ip_adapter/image_encoder/config.json': b'{}',
        'ip_adapter/image_encoder/model.safetensors': safetensors(b'eye'),
    }
    for path, content in adapter.items():
        desk.write(path, content)
    assert desk.package(TARGET).returncode == 0
    assert desk.stored().keys() == {*FILES, *adapter, 'model.json'}


def test_half_an_ip_adapter_is_refused(desk: Desk) -> None:
    desk.write('ip_adapter/ip_adapter.safetensors', safetensors(b'adapter'))
    assert 'ip_adapter/image_encoder/ is missing' in desk.refusal(TARGET)


@pytest.mark.parametrize(
    'path', ['unet/diffusion_pytorch_model.bin', 'old/model.ckpt', 'embedding.pt', 'vae/vae.pth']
)
def test_pickles_are_refused_wherever_they_lie(desk: Desk, path: str) -> None:
    desk.write(path, b'cos\nsystem\n')
    assert path in desk.refusal(TARGET)


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
def test_what_is_missing_is_named(desk: Desk, path: str, sentence: str) -> None:
    file = desk.model / path
    shutil.rmtree(file) if file.is_dir() else file.unlink()
    assert sentence in desk.refusal(TARGET)


def test_weights_in_another_precision_only_are_refused(desk: Desk) -> None:
    whole = desk.model / 'vae/diffusion_pytorch_model.safetensors'
    whole.rename(desk.model / 'vae/diffusion_pytorch_model.fp16.safetensors')
    assert 'without a variant' in desk.refusal(TARGET)


@pytest.mark.parametrize(
    'content',
    [
        b'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12\n',
        safetensors(b'vae')[:-1],
        b'',
    ],
    ids=['a pointer', 'half a file', 'nothing'],
)
def test_weights_that_did_not_arrive_whole_are_refused(desk: Desk, content: bytes) -> None:
    desk.write('vae/diffusion_pytorch_model.safetensors', content)
    assert 'vae/diffusion_pytorch_model.safetensors is no safetensors file' in desk.refusal(TARGET)


def test_a_shard_that_did_not_arrive_whole_is_refused(desk: Desk) -> None:
    desk.write(FIRST_SHARD, FILES[FIRST_SHARD][:-1])
    assert f'{FIRST_SHARD} is no safetensors file' in desk.refusal(TARGET)


def test_weights_that_are_there_twice_are_refused(desk: Desk) -> None:
    desk.write('unet/diffusion_pytorch_model.safetensors', safetensors(b'whole'))
    assert 'twice' in desk.refusal(TARGET)


@pytest.mark.parametrize(
    ('change', 'sentence'),
    [
        ({'_class_name': 'FluxPipeline'}, 'FluxPipeline, and the server has no pipeline for it'),
        ({'tokenizer_2': [None, None]}, 'has no tokenizer_2, which StableDiffusionXLPipeline needs'),
        ({'unet': ['my_code', 'MyUNet']}, 'takes unet from my_code'),
    ],
)
def test_a_pipeline_that_the_server_can_not_load_is_refused(
    desk: Desk, change: dict[str, object], sentence: str
) -> None:
    desk.write('model_index.json', json.dumps({**SDXL, **change}))
    assert sentence in desk.refusal(TARGET)
