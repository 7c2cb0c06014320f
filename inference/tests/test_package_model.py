"""The packaging script: which folders it takes, what of them it uploads, and when it does not."""

import json
import os
import shutil
import subprocess
from typing import Any

import pytest

from model_server import __main__ as server
from model_server.pipelines.model_version import name_model
from tools.model_folder import PIPELINES

from .packaging_support import FILES, FIRST_SHARD, SDXL, TARGET, PackagingWorkspace
from .support import safetensors


def test_all_of_a_model_is_uploaded_and_model_json_last(workspace: PackagingWorkspace) -> None:
    assert workspace.package(TARGET).returncode == 0
    stored = workspace.stored()
    about = stored.pop('model.json')
    assert stored == FILES
    assert workspace.uploads()[-1] == 'model.json'
    assert about == (workspace.model / 'model.json').read_bytes()
    # The digest is that of what sha256sum prints.
    command = 'sha256sum $(find . -type f ! -name model.json -printf "%P\\n" | LC_ALL=C sort) | sha256sum'
    printed = subprocess.check_output(['bash', '-c', command], cwd=workspace.model, text=True)
    assert json.loads(about) == {'name': 'one', 'digest': printed.split()[0]}


def test_the_server_calls_the_model_what_the_script_printed(workspace: PackagingWorkspace) -> None:
    printed = workspace.package(TARGET, '--name', 'sdxl-base-1.0').stdout.splitlines()[0]
    assert printed.startswith('sdxl-base-1.0@')
    assert name_model(workspace.model, 'fallback') == printed


def test_a_second_run_uploads_nothing(workspace: PackagingWorkspace) -> None:
    workspace.package(TARGET)
    before = workspace.uploads()
    for path in FILES:
        os.utime(workspace.model / path)
    done = workspace.package(TARGET)
    assert (done.returncode, workspace.uploads()) == (0, before)
    assert 'there already' in done.stdout


def test_an_upload_that_broke_off_is_finished_by_the_next_run(workspace: PackagingWorkspace) -> None:
    broken = workspace.package(TARGET, fail_on='vae/config.json')
    assert broken.returncode == 1
    assert 'the line is broken' in broken.stderr
    assert 'model.json' not in workspace.stored()
    done = len(workspace.stored())
    # Weights of the same size that have changed meanwhile are replaced.
    workspace.write('text_encoder/model.safetensors', safetensors(b'CLIP'))
    assert workspace.package(TARGET).returncode == 0
    assert workspace.stored().keys() == {*FILES, 'model.json'}
    assert workspace.stored()['text_encoder/model.safetensors'] == safetensors(b'CLIP')
    assert workspace.uploads()[done + 1 :][:2] == ['text_encoder/model.safetensors', 'vae/config.json']
    assert len(workspace.uploads()) == len(FILES) + 3


@pytest.mark.parametrize(
    ('path', 'arguments', 'said'),
    [
        (FIRST_SHARD, [], 'Choose a new prefix'),
        (None, ['--name', 'other'], 'Choose a new prefix'),
        ('unet/old.safetensors', [], 'unet/old.safetensors'),
    ],
)
def test_a_prefix_with_another_model_or_files_of_something_else_is_left_as_it_is(
    workspace: PackagingWorkspace, path: str | None, arguments: list[str], said: str
) -> None:
    workspace.package(TARGET)
    if path == FIRST_SHARD:
        workspace.write(path, safetensors(b'other'))
    elif path is not None:
        (workspace.target / path).write_bytes(b'')
    before = workspace.stored()
    done = workspace.package(TARGET, *arguments)
    assert done.returncode == 1
    assert said in done.stderr
    assert workspace.stored() == before


@pytest.mark.parametrize('folder', ['c2pa', 'picture-check'])
def test_what_an_operator_put_beside_the_model_stays_and_is_no_part_of_it(
    workspace: PackagingWorkspace, folder: str
) -> None:
    workspace.package(TARGET)
    before = workspace.stored()['model.json']
    key = workspace.target / folder / 'private-key.pem'
    key.parent.mkdir()
    key.write_bytes(b'a key')
    workspace.write(f'{folder}/private-key.pem', b'another key')
    done = workspace.package(TARGET)
    assert (done.returncode, key.read_bytes()) == (0, b'a key')
    assert workspace.stored()['model.json'] == before


def test_without_a_target_the_model_gets_its_name_and_nothing_is_uploaded(
    workspace: PackagingWorkspace,
) -> None:
    done = workspace.package(path='')
    assert done.returncode == 0
    assert json.loads((workspace.model / 'model.json').read_text())['name'] == 'my-model'
    assert FIRST_SHARD in done.stdout


def test_a_dry_run_says_what_is_missing_there_and_changes_nothing(workspace: PackagingWorkspace) -> None:
    workspace.package(TARGET, fail_on=FIRST_SHARD)
    before, uploads = workspace.stored(), workspace.uploads()
    (workspace.model / 'model.json').unlink()
    done = workspace.package(TARGET, '--dry-run')
    assert done.returncode == 0
    assert FIRST_SHARD in done.stdout
    assert 'text_encoder/config.json' not in done.stdout
    assert (workspace.stored(), workspace.uploads()) == (before, uploads)
    assert not (workspace.model / 'model.json').exists()


def test_files_behind_links_are_followed(workspace: PackagingWorkspace) -> None:
    blob = workspace.root / 'blob'
    shutil.move(workspace.model / FIRST_SHARD, blob)
    (workspace.model / FIRST_SHARD).symlink_to(blob)
    assert workspace.package(TARGET).returncode == 0
    assert workspace.stored()[FIRST_SHARD] == FILES[FIRST_SHARD]


@pytest.mark.parametrize(
    ('target', 'name', 'said'),
    [
        ('s3://models/sdxl', 'one', 'must be an S3 prefix that ends in "/"'),
        ('https://models/sdxl/', 'one', 'must be an S3 prefix that ends in "/"'),
        ('s3://models', 'one', 'must be an S3 prefix that ends in "/"'),
        (TARGET, 'with space', 'is no name'),
        (TARGET, '-x', 'is no name'),
        (TARGET, 'x' * 61, 'is no name'),
    ],
)
def test_a_target_that_is_no_prefix_and_a_name_that_answers_could_not_carry_are_refused(
    workspace: PackagingWorkspace, target: str, name: str, said: str
) -> None:
    assert said in workspace.refusal(target, f'--name={name}')


def test_without_the_aws_cli_it_says_so(workspace: PackagingWorkspace) -> None:
    done = workspace.package(TARGET, path='')
    assert done.returncode == 1
    assert 'AWS CLI is not installed' in done.stderr


def test_the_script_takes_the_models_that_the_server_has_pipelines_for() -> None:
    assert PIPELINES.keys() == server.PIPELINES.keys()


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
