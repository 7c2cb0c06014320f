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


def test_the_certificate_that_an_operator_put_beside_the_model_stays_and_is_no_part_of_it(
    workspace: PackagingWorkspace,
) -> None:
    workspace.package(TARGET)
    before = workspace.stored()['model.json']
    key = workspace.target / 'c2pa' / 'private-key.pem'
    key.parent.mkdir()
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
