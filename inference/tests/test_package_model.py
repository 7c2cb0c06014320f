"""What the packaging script uploads, and when it does not."""

import json
import os
import shutil
import subprocess

import pytest

from model_server.pipelines.model_version import name_model

from .packaging_support import FILES, FIRST_SHARD, TARGET, PackagingWorkspace
from .support import safetensors


def test_all_of_a_model_is_uploaded_and_model_json_last(workspace: PackagingWorkspace) -> None:
    assert workspace.package(TARGET).returncode == 0
    stored = workspace.stored()
    about = stored.pop('model.json')
    assert stored == FILES
    assert workspace.uploads()[-1] == 'model.json'
    assert about == (workspace.model / 'model.json').read_bytes()


def test_the_digest_is_that_of_what_sha256sum_prints(workspace: PackagingWorkspace) -> None:
    workspace.package(TARGET)
    command = 'sha256sum $(find . -type f ! -name model.json -printf "%P\\n" | LC_ALL=C sort) | sha256sum'
    printed = subprocess.run(
        ['bash', '-c', command], cwd=workspace.model, capture_output=True, text=True, check=True
    )
    assert json.loads(workspace.stored()['model.json']) == {
        'name': 'one',
        'digest': printed.stdout.split()[0],
    }


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
    assert workspace.package(TARGET).returncode == 0
    assert workspace.stored().keys() == {*FILES, 'model.json'}
    assert workspace.uploads()[done] == workspace.uploads()[done + 1] == 'vae/config.json'
    assert len(workspace.uploads()) == len(FILES) + 2


def test_weights_of_the_same_size_that_an_unfinished_upload_left_are_replaced(
    workspace: PackagingWorkspace,
) -> None:
    workspace.package(TARGET, fail_on='model.json')
    workspace.write(FIRST_SHARD, safetensors(b'other'))
    assert workspace.package(TARGET).returncode == 0
    assert workspace.stored()[FIRST_SHARD] == safetensors(b'other')
    assert workspace.uploads()[-2:] == [FIRST_SHARD, 'model.json']


@pytest.mark.parametrize('change', ['weights', 'name'])
def test_a_prefix_with_another_model_is_left_as_it_is(workspace: PackagingWorkspace, change: str) -> None:
    workspace.package(TARGET)
    before = workspace.stored()
    if change == 'weights':
        workspace.write(FIRST_SHARD, safetensors(b'other'))
    done = workspace.package(TARGET, *(['--name', 'other'] if change == 'name' else []))
    assert done.returncode == 1
    assert 'Choose a new prefix' in done.stderr
    assert workspace.stored() == before


def test_a_prefix_with_files_of_something_else_is_left_as_it_is(workspace: PackagingWorkspace) -> None:
    stray = workspace.root / 'objects' / 'models/sdxl/one/unet/old.safetensors'
    stray.parent.mkdir(parents=True)
    stray.write_bytes(b'')
    done = workspace.package(TARGET)
    assert done.returncode == 1
    assert 'unet/old.safetensors' in done.stderr
    assert workspace.uploads() == []


def test_the_certificate_that_an_operator_put_beside_the_model_stays_and_is_no_part_of_it(
    workspace: PackagingWorkspace,
) -> None:
    workspace.package(TARGET)
    before = workspace.stored()['model.json']
    key = workspace.root / 'objects' / 'models/sdxl/one/c2pa/private-key.pem'
    key.parent.mkdir(parents=True)
    key.write_bytes(b'a key')
    workspace.write('c2pa/private-key.pem', b'another key')
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
    'target', ['s3://models/sdxl', 'models/sdxl/', 'https://models/sdxl/', 's3://models']
)
def test_a_target_that_is_no_prefix_is_refused(workspace: PackagingWorkspace, target: str) -> None:
    assert 'must be an S3 prefix that ends in "/"' in workspace.refusal(target)


@pytest.mark.parametrize('name', ['with space', '-x', 'x' * 61])
def test_a_name_that_answers_could_not_carry_is_refused(workspace: PackagingWorkspace, name: str) -> None:
    assert 'is no name' in workspace.refusal(TARGET, f'--name={name}')


def test_without_the_aws_cli_it_says_so(workspace: PackagingWorkspace) -> None:
    done = workspace.package(TARGET, path='')
    assert done.returncode == 1
    assert 'AWS CLI is not installed' in done.stderr
