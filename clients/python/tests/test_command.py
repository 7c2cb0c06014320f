"""The command `imagegen`."""

from __future__ import annotations

import io
import json
import signal
from pathlib import Path

import pytest

from image_generation import Client
from image_generation.command import program
from image_generation.command.commands import printable
from image_generation.command.configuration import Configuration, write_configuration
from image_generation.command.output import paths_of
from image_generation.command.terminal import shown

from .commands import Run, process, small
from .world import Granted, World

png = b'\x89PNG\r\n\x1a\n' + bytes(5000)


def test_makes_images_saves_them_and_replaces_no_file(run: Run, tmp_path: Path) -> None:
    args = ('generate', 'a bay', '-i', 'aurora', *small, '--seed', '7', '-n', '2')
    done = run(*args)
    assert (done.returncode, done.stdout) == (0, 'aurora-7.png\naurora-8.png\n')
    assert '2 credits, 3998 left; seed 7; request ' in done.stderr
    first = (tmp_path / 'aurora-7.png').read_bytes()
    assert first.startswith(png[:8])
    again = run('generate', '-', '-i', 'Aurora', *small, '--seed', '7', '--json', '-q', typed='a boat\n')
    answer = json.loads(again.stdout)
    assert (answer['files'], answer['seed'], again.stderr) == (['aurora-7-2.png'], 7, '')
    assert (tmp_path / 'aurora-7.png').read_bytes() == first
    assert (tmp_path / 'aurora-7-2.png').read_bytes() != first
    assert json.loads(run('list', '--json').stdout)[0]['prompt'] == 'a boat'
    assert [line.split()[1:3] for line in run('list').stdout.splitlines()] == [['COMPLETED', 'aurora']] * 2
    got = run('get', answer['requestId'], '-o', 'renamed.png', '--wait')
    assert got.stdout.splitlines()[-1] == 'renamed.png'
    assert (tmp_path / 'renamed.png').read_bytes() == (tmp_path / 'aurora-7-2.png').read_bytes()


def test_tells_a_price_and_the_identities(run: Run) -> None:
    assert (
        run('quote', 'a bay', '-i', 'aurora', '--width', '1536').stdout == '2 of 4000 credits that are left\n'
    )
    lines = run('identities').stdout.splitlines()
    assert lines[0] == 'aurora   Curtains of light over quiet northern land.'
    assert run('quote', 'x', '-i', 'aurora', '-r', 'photo.png').stderr == (
        'imagegen: photo.png cannot be read: No such file or directory.\n'
    )


def test_each_failure_is_one_sentence_and_an_exit_code(
    run: Run, world: World, granted: Granted, tmp_path: Path
) -> None:
    (tmp_path / 'big.png').write_bytes(bytes(10 * 1024 * 1024 + 1))
    (tmp_path / 'some.png').write_bytes(png)
    failures: list[tuple[tuple[str, ...], int, str]] = [
        (
            ('generate', 'x', '-i', 'aurora', '--width', '100'),
            1,
            'width must be a multiple of 64, at least 512',
        ),
        (('generate', 'x', '-i', 'flint', *small), 1, 'Nothing was charged. (GENERATION_FAILED'),
        (('generate', 'x', '-i', 'nobody'), 2, 'No identity is called nobody. Your key may use: aurora,'),
        (('generate', 'x', '-i', 'aurora', '-o', 'no/where.png'), 2, 'There is no folder no.'),
        (('quote', 'x', '-i', 'citrine', '-r', 'big.png'), 1, 'big.png: The file is larger than 10 MiB.'),
        (('quote', 'x', '-i', 'citrine', *('-r', 'some.png') * 5), 1, 'must be an array of at most 4 items.'),
        (('get', 'unknown'), 1, 'No stored request has this ID. (REQUEST_NOT_FOUND'),
        (('list', '--limit', '0'), 2, '--limit must be at least 1.'),
        (('list', '--base-url', 'ftp://x'), 2, 'The base URL is missing'),
        (
            ('quote', 'x', '-i', 'aurora', '--guidance-scale', 'nan'),
            2,
            'guidance_scale must be a finite number',
        ),
        (('generate', 'x', '-i', 'aurora', '--api-key', granted.key), 2, 'unrecognized arguments'),
    ]
    for args, code, sentence in failures:
        failed = run(*args)
        assert (failed.returncode, failed.stdout) == (code, ''), failed.stderr
        assert sentence in failed.stderr
        assert 'Traceback' not in failed.stderr
        assert granted.key not in failed.stderr
    # Nothing was paid for a file that could not be written.
    assert world.totals(granted) == (0, 0)
    as_json = run('get', 'unknown', '--json')
    assert set(json.loads(as_json.stderr)) == {'error', 'code', 'requestId'}
    revoked = world.grant(key={'revokedAtMs': 1}).key
    refused = run('list', env={'IMAGE_API_KEY': revoked, 'IMAGE_BASE_URL': world.base_url})
    assert refused.returncode == 1
    assert 'Set another: imagegen configure. (INVALID_API_KEY' in refused.stderr


def test_deletes_what_is_there_and_names_what_is_not(run: Run, granted: Granted, world: World) -> None:
    ids = [
        json.loads(run('generate', 'a bay', '-i', 'aurora', *small, '--json').stdout)['requestId']
        for _ in '123'
    ]
    done = run('delete', '--yes', ids[0], 'svc_live_unknown', ids[1], ids[0])
    assert (done.returncode, done.stdout) == (1, f'{ids[0]}\n{ids[1]}\n')
    [told] = done.stderr.splitlines()
    assert told.startswith('imagegen: svc_live_…: No stored request has this ID. (REQUEST_NOT_FOUND')
    assert run('list', '--json').stdout.count('"id": "0') == 1
    as_json = run('delete', '-y', '--json', ids[2])
    assert (as_json.returncode, json.loads(as_json.stdout)) == (0, {'deleted': [ids[2]]})
    again = run('delete', '-y', '--json', ids[2])
    assert (again.returncode, json.loads(again.stdout)) == (1, {'deleted': []})
    assert json.loads(again.stderr)['code'] == 'REQUEST_NOT_FOUND'
    # What was made stays paid.
    assert world.totals(granted) == (3, 3)


class _Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def test_asks_before_it_deletes(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    made = json.loads(run('generate', 'a bay', '-i', 'aurora', *small, '--json').stdout)['requestId']
    unasked = run('delete', made)
    assert (unasked.returncode, unasked.stdout) == (2, '')
    assert 'give --yes' in unasked.stderr
    monkeypatch.setattr(io, 'TextIOWrapper', _Terminal)
    for typed in ('n\n', '\n', ''):
        refused = run('delete', made, typed=typed)
        assert (refused.returncode, refused.stdout) == (130, '')
        asked = 'Delete 1 request with images and prompt for good? No credits come back. [y/N] '
        assert refused.stderr == f'{asked}Nothing was deleted.\n'
    assert run('get', made).returncode == 0
    assert run('delete', made, typed='Y\n').stdout == f'{made}\n'
    assert run('get', made).returncode == 1


def test_without_a_service_it_says_so(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, '_max_retries', 0)
    away = run('list', '--base-url', 'http://127.0.0.1:9/api/v1')
    assert away.returncode == 3
    assert "The service can't be reached. Check the network and the base URL (IMAGE_BASE_URL)." in away.stderr


def test_who_interrupts_a_request_that_runs_is_told_its_id(
    world: World, granted: Granted, tmp_path: Path
) -> None:
    environment = {'IMAGE_API_KEY': granted.key, 'IMAGE_BASE_URL': world.base_url}
    args = ('generate', 'a bay', '-i', 'glacier', *small)
    with process(*args, env=environment, cwd=tmp_path) as painting:
        assert painting.stderr is not None
        assert painting.stderr.readline().startswith('request ')
        assert painting.stderr.readline() == 'Generating\n'
        painting.send_signal(signal.SIGINT)
        told = painting.stderr.read()
    assert painting.returncode == 130
    assert 'It goes on and is charged when it completes. To fetch it costs nothing: imagegen get ' in told
    with Client(granted.key, world.base_url) as client:
        [running] = client.list_generations().generations
    assert told.endswith(f' {running.id} -o . --wait\n')


def test_configure_writes_a_file_that_nobody_else_may_read(
    run: Run, world: World, granted: Granted, tmp_path: Path
) -> None:
    assert 'run "imagegen configure"' in run('list', env={}).stderr
    written = run('configure', '--base-url', world.base_url, env={}, typed=f'{granted.key}\n')
    assert written.returncode == 0, written.stderr
    path = tmp_path / '.config' / 'imagegen' / 'config'
    assert path.stat().st_mode & 0o777 == 0o600
    assert granted.key in path.read_text()
    assert granted.key not in written.stdout + written.stderr
    assert 'The key opens these identities: aurora, basalt,' in written.stderr
    before = path.read_text()
    for address, key, code in (
        (world.base_url, world.grant(key={'revokedAtMs': 1}).key, 1),
        (world.base_url.removesuffix('/v1'), granted.key, 2),
        (world.base_url.replace('http', 'https'), granted.key, 2),
    ):
        refused = run('configure', '--base-url', address, env={}, typed=f'{key}\n')
        assert (refused.returncode, path.read_text()) == (code, before), refused.stderr
    away = run('configure', '--base-url', 'http://127.0.0.1:9/api/v1', env={}, typed='\ufeffsvc_live_a\n')
    assert (away.returncode, 'Warning: the key could not be tried.' in away.stderr) == (0, True)
    assert path.read_text() == 'IMAGE_API_KEY=svc_live_a\nIMAGE_BASE_URL=http://127.0.0.1:9/api/v1\n'
    path.write_text(f'\ufeff{before}')
    assert run('list', env={}).returncode == 0
    # The environment comes first.
    assert run('list', env={'IMAGE_API_KEY': 'svc_live_other'}).returncode == 1
    for mode in (0o640, 0o604):
        path.chmod(mode)
        refused = run('list', env={})
        assert refused.returncode == 2
        assert (
            refused.stderr
            == f'imagegen: Others may read {path}, which holds a key: run "chmod 600 {path}".\n'
        )
    path.chmod(0o600)
    path.write_text('KEY=1\n')
    assert 'no others' in run('list', env={}).stderr


def test_a_file_that_others_could_read_is_replaced_by_one_that_they_may_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv('XDG_CONFIG_HOME', str(tmp_path))
    path = tmp_path / 'imagegen' / 'config'
    path.parent.mkdir()
    path.touch(0o644)
    write_configuration(Configuration('https://images.example/api/v1', 'svc_live_x'))
    assert path.stat().st_mode & 0o777 == 0o600


def test_names_that_are_made_for_images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    links = ['https://s/a/output-0.webp?X=1', 'https://s/a/output-1.webp?X=1']
    # Seeds go round.
    made = [Path('au-r-ra-4294967295.webp'), Path('au-r-ra-0.webp')]
    assert paths_of(None, 'Au/róra', 2**32 - 1, links) == made


def test_pictures_are_shown_where_the_terminal_can() -> None:
    kitty = shown(png, {'TERM': 'xterm-kitty'})
    assert kitty is not None
    assert kitty.startswith('\x1b_Ga=T,f=100,c=40,m=1;iVBOR')
    assert kitty.count('\x1b_G') == 2
    assert '\x1b_Gm=0;' in kitty
    iterm2 = shown(png, {'TERM_PROGRAM': 'iTerm.app'})
    assert iterm2 is not None
    assert iterm2.startswith(f'\x1b]1337;File=inline=1;size={len(png)};')
    assert shown(b'RIFF', {'TERM': 'xterm-kitty'}) is None
    assert shown(png, {'TERM': 'xterm-256color'}) is None
    assert shown(png, {'TERM': 'xterm-kitty', 'TMUX': '1'}) is None


def test_text_of_others_does_not_change_the_terminal() -> None:
    assert printable('a\x1b[2Jb\nc\u202ed') == 'a [2Jb c d'
