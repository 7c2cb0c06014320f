"""What the packaging script uploads, and when it does not."""

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from model_server.pipelines.model_version import name_model

from .packaging_desk import FILES, FIRST_SHARD, TARGET, Desk, safetensors, set_up


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """With a small model that lacks nothing."""
    return set_up(tmp_path)


def test_all_of_a_model_is_uploaded_and_model_json_last(desk: Desk) -> None:
    assert desk.package(TARGET).returncode == 0
    stored = desk.stored()
    about = stored.pop('model.json')
    assert stored == FILES
    assert desk.uploads()[-1] == 'model.json'
    assert about == (desk.model / 'model.json').read_bytes()


def test_the_digest_is_that_of_what_sha256sum_prints(desk: Desk) -> None:
    desk.package(TARGET)
    command = 'sha256sum $(find . -type f ! -name model.json -printf "%P\\n" | LC_ALL=C sort) | sha256sum'
    printed = subprocess.run(
        ['bash', '-c', command], cwd=desk.model, capture_output=True, text=True, check=True
    )
    assert json.loads(desk.stored()['model.json']) == {'name': 'one', 'digest': printed.stdout.split()[0]}


def test_the_server_calls_the_model_what_the_script_printed(desk: Desk) -> None:
    printed = desk.package(TARGET, '--name', 'sdxl-base-1.0').stdout.splitlines()[0]
    assert printed.startswith('sdxl-base-1.0@')
    assert name_model(desk.model, 'fallback') == printed


def test_a_second_run_uploads_nothing(desk: Desk) -> None:
    desk.package(TARGET)
    before = desk.uploads()
    for path in FILES:
        os.utime(desk.model / path)
    done = desk.package(TARGET)
    assert (done.returncode, desk.uploads()) == (0, before)
    assert 'there already' in done.stdout


def test_an_upload_that_broke_off_is_finished_by_the_next_run(desk: Desk) -> None:
    broken = desk.package(TARGET, fail_on='vae/config.json')
    assert broken.returncode == 1
    assert 'the line is broken' in broken.stderr
    assert 'model.json' not in desk.stored()
    done = len(desk.stored())
    assert desk.package(TARGET).returncode == 0
    assert desk.stored().keys() == {*FILES, 'model.json'}
    assert desk.uploads()[done] == desk.uploads()[done + 1] == 'vae/config.json'
    assert len(desk.uploads()) == len(FILES) + 2


def test_weights_of_the_same_size_that_an_unfinished_upload_left_are_replaced(desk: Desk) -> None:
    desk.package(TARGET, fail_on='model.json')
    desk.write(FIRST_SHARD, safetensors(b'other'))
    assert desk.package(TARGET).returncode == 0
    assert desk.stored()[FIRST_SHARD] == safetensors(b'other')
    assert desk.uploads()[-2:] == [FIRST_SHARD, 'model.json']


@pytest.mark.parametrize('change', ['weights', 'name'])
def test_a_prefix_with_another_model_is_left_as_it_is(desk: Desk, change: str) -> None:
    desk.package(TARGET)
    before = desk.stored()
    if change == 'weights':
        desk.write(FIRST_SHARD, safetensors(b'other'))
    done = desk.package(TARGET, *(['--name', 'other'] if change == 'name' else []))
    assert done.returncode == 1
    assert 'Choose a new prefix' in done.stderr
    assert desk.stored() == before


def test_a_prefix_with_files_of_something_else_is_left_as_it_is(desk: Desk) -> None:
    stray = desk.root / 'objects' / 'models/sdxl/one/unet/old.safetensors'
    stray.parent.mkdir(parents=True)
    stray.write_bytes(b'')
    done = desk.package(TARGET)
    assert done.returncode == 1
    assert 'unet/old.safetensors' in done.stderr
    assert desk.uploads() == []


def test_without_a_target_the_model_gets_its_name_and_nothing_is_uploaded(desk: Desk) -> None:
    done = desk.package(path='')
    assert done.returncode == 0
    assert json.loads((desk.model / 'model.json').read_text())['name'] == 'my-model'
    assert FIRST_SHARD in done.stdout


def test_a_dry_run_says_what_is_missing_there_and_changes_nothing(desk: Desk) -> None:
    desk.package(TARGET, fail_on=FIRST_SHARD)
    before, uploads = desk.stored(), desk.uploads()
    (desk.model / 'model.json').unlink()
    done = desk.package(TARGET, '--dry-run')
    assert done.returncode == 0
    assert FIRST_SHARD in done.stdout
    assert 'text_encoder/config.json' not in done.stdout
    assert (desk.stored(), desk.uploads()) == (before, uploads)
    assert not (desk.model / 'model.json').exists()


def test_files_behind_links_are_followed(desk: Desk) -> None:
    blob = desk.root / 'blob'
    shutil.move(desk.model / FIRST_SHARD, blob)
    (desk.model / FIRST_SHARD).symlink_to(blob)
    assert desk.package(TARGET).returncode == 0
    assert desk.stored()[FIRST_SHARD] == FILES[FIRST_SHARD]


@pytest.mark.parametrize(
    'target', ['s3://models/sdxl', 'models/sdxl/', 'https://models/sdxl/', 's3://models']
)
def test_a_target_that_is_no_prefix_is_refused(desk: Desk, target: str) -> None:
    assert 'must be an S3 prefix that ends in "/"' in desk.refusal(target)


@pytest.mark.parametrize('name', ['with space', '-x', 'x' * 61])
def test_a_name_that_answers_could_not_carry_is_refused(desk: Desk, name: str) -> None:
    assert 'is no name' in desk.refusal(TARGET, f'--name={name}')


def test_without_the_aws_cli_it_says_so(desk: Desk) -> None:
    done = desk.package(TARGET, path='')
    assert done.returncode == 1
    assert 'AWS CLI is not installed' in done.stderr


def test_the_digest_changes_with_any_file(desk: Desk) -> None:
    digests = set()
    for path in ['unet/config.json', 'tokenizer/merges.txt', 'scheduler/scheduler_config.json']:
        desk.package()
        digests.add(json.loads((desk.model / 'model.json').read_text())['digest'])
        desk.write(path, b'{ }')
    assert len(digests) == 3
    assert hashlib.sha256(b'').hexdigest() not in digests
