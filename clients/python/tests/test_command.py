"""The command `imagegen`, also in surroundings that are not as they should be: nothing paid is lost, and each
failure is a sentence.
"""

from __future__ import annotations

import errno
import io
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from image_generation import Client, ConnectionError, DownloadError, Image
from image_generation._io import write_whole
from image_generation.command import output, program
from image_generation.command.commands import printable
from image_generation.command.output import paths_of
from image_generation.command.program import main
from image_generation.command.terminal import shown

from .fixture import Granted, Service

Run = Callable[..., 'Ended']
small = ('--width', '512', '--height', '512', '--steps', '20')
asked = ('generate', 'a bay', '-i', 'aurora', *small, '-q')
png = b'\x89PNG\r\n\x1a\n' + bytes(5000)


class Ended(NamedTuple):
    """What a command printed, and its exit code."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def run(
    granted: Granted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Runs the command in this process, since hundreds of its own would take longer to start than to run."""

    def run(*args: str, env: Mapping[str, str] = granted.environment, typed: str | bytes = '') -> Ended:
        with monkeypatch.context() as patch:
            for name in (*granted.environment, 'XDG_CONFIG_HOME'):
                patch.delenv(name, raising=False)
            for name, value in {'HOME': str(tmp_path), **env}.items():
                patch.setenv(name, value)
            patch.chdir(tmp_path)
            content = typed.encode() if isinstance(typed, str) else typed
            patch.setattr(sys, 'stdin', io.TextIOWrapper(io.BytesIO(content)))
            capsys.readouterr()
            try:
                code = main(args)
            except SystemExit as end:
                code = int(end.code or 0)
            printed = capsys.readouterr()
            return Ended(code, printed.out, printed.err)

    return run


def process(
    *args: str, redirected: str = '', env: Mapping[str, str], cwd: Path, **more: Any
) -> subprocess.Popen[str]:
    """The command as a process of its own, with what the shell redirects."""
    code = 'from image_generation.command.program import run; run()'
    command = ['sh', '-c', f'exec "$0" "$@" {redirected}', sys.executable, '-c', code, *args]
    environment = {**env, 'PYTHONPATH': str(Path(__file__).parents[1] / 'src')}
    return subprocess.Popen(command, env=environment, cwd=cwd, stderr=subprocess.PIPE, text=True, **more)


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


def test_what_is_left_has_extra_credits_in_it(run: Run, service: Service) -> None:
    env = service.grant(creditsLimit=3, used=2, extra=5).environment
    assert run('quote', 'a bay', '-i', 'aurora', *small, env=env).stdout == '1 of 6 credits that are left\n'
    for left in (4, 2):
        assert f'2 credits, {left} left' in run(*asked, '-n', '2', '-o', f'{left}.png', env=env).stderr
    rows = [line.split()[:3] for line in run('usage', env=env).stdout.splitlines()]
    assert ['extra', 'credits', '2'] in rows


def test_prints_a_price_and_the_identities(run: Run) -> None:
    priced = run('quote', 'a bay', '-i', 'aurora', '--width', '1536')
    assert priced.stdout == '2 of 4000 credits that are left\n'
    first = run('identities').stdout.splitlines()[0]
    assert first == 'aurora   Curtains of light over quiet northern land.'
    shown = run('identity', 'Aurora').stdout.splitlines()
    assert shown[0].split() == ['identity', 'aurora']
    assert [line.split()[0] for line in shown[-2:]] == ['2', '1']
    assert ['active' in line for line in shown[-2:]] == [True, False]


def test_each_failure_is_one_sentence_and_an_exit_code_and_costs_nothing(
    run: Run, service: Service, granted: Granted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / 'big.png').write_bytes(bytes(10 * 1024 * 1024 + 1))
    (tmp_path / 'some.png').write_bytes(png)
    (tmp_path / 'file').touch()
    (tmp_path / 'astray').symlink_to('no/where.png')
    (tmp_path / 'bay-2.png').mkdir()
    os.mkfifo(tmp_path / 'pipe')
    quote = ('quote', 'x', '-i', 'citrine')
    failures: list[tuple[tuple[str, ...], int, str]] = [
        ((*asked, '--identity-version', '9'), 1, 'aurora has no version 9: leave it out for version 2'),
        ((*asked, '--width', '100'), 1, 'width must be a multiple of 64, at least 512'),
        (('generate', 'x', '-i', 'flint', *small), 1, 'Nothing was charged. (GENERATION_FAILED'),
        (('generate', 'x', '-i', 'nobody'), 2, 'No identity is called nobody. Your key may use: aurora,'),
        ((*quote, '-r', 'big.png'), 1, 'big.png is larger than 10 MiB.'),
        ((*quote, '-r', 'no.png'), 2, 'no.png: No such file or directory.'),
        (('upload', '.'), 2, '.: Is a directory.'),
        ((*quote, *('-r', 'some.png') * 5), 1, 'must be an array of at most 4 items.'),
        ((*quote, '--guidance-scale', 'nan'), 2, 'guidance_scale must be a finite number'),
        (('get', 'unknown'), 1, 'No stored request has this ID. (REQUEST_NOT_FOUND'),
        (('list', '--limit', '0'), 2, '--limit must be at least 1.'),
        (('list', '--base-url', 'ftp://x'), 2, 'The base URL is missing'),
        ((*asked, '--api-key', granted.key), 2, 'unrecognized arguments'),
        ((*asked, '-o', 'no/where.png'), 2, 'There is no folder no.'),
        ((*asked, '-o', 'file/bay.png'), 2, 'file'),
        ((*asked, '-o', 'astray'), 2, 'There is no folder'),
        ((*asked, '-o', 'é' * 130), 2, 'File name too long'),
        ((*asked, '-o', '/proc/bay.png'), 2, 'Nothing can be saved in /proc'),
        ((*asked, '-o', 'file/'), 2, 'file'),
        ((*asked, '-n', '2', '-o', 'bay.png'), 2, 'bay-2.png may not be written to'),
        ((*asked, '-n', '2', '-o', 'pipe'), 2, 'pipe takes one image'),
        ((*asked, '-o', '/dev/stdout', '--json'), 2, 'not both'),
        ((*asked, '-o', 'bay.GIF'), 2, 'images are made as png, webp, jpeg alone'),
        ((*asked, '-o', 'bay.jpe', '--format', 'png'), 2, 'bay.jpe does not end as the format png does'),
    ]

    def expect_failures() -> None:
        for args, code, sentence in failures:
            failed = run(*args)
            assert (failed.returncode, failed.stdout) == (code, ''), failed.stderr
            assert sentence in failed.stderr
            assert 'Traceback' not in failed.stderr
            assert granted.key not in failed.stderr

    expect_failures()
    usage = type(shutil.disk_usage('/'))
    monkeypatch.setattr(shutil, 'disk_usage', lambda _: usage(10**9, 10**9 - 5000, 5000))
    failures = [((*asked, *more), 2, 'has 5 kB left') for more in ((), ('-o', 'new/'), ('-o', 'bay.jpg'))]
    expect_failures()
    assert service.totals(granted) == (0, 0)
    assert set(json.loads(run('get', 'unknown', '--json').stderr)) == {'error', 'code', 'requestId'}
    refused = run('list', env=service.grant(key={'revokedAtMs': 1}).environment)
    assert refused.returncode == 1
    assert 'Set another: imagegen configure. (INVALID_API_KEY' in refused.stderr


def made(run: Run) -> str:
    """The id of a request that has completed."""
    return str(json.loads(run(*asked, '--json').stdout)['requestId'])


def test_deletes_what_is_there_and_names_what_is_not(run: Run, granted: Granted, service: Service) -> None:
    ids = [made(run) for _ in '123']
    done = run('delete', '--yes', ids[0], 'svc_live_unknown', ids[1], ids[0])
    assert (done.returncode, done.stdout) == (1, f'{ids[0]}\n{ids[1]}\n')
    [line] = done.stderr.splitlines()
    assert line.startswith('imagegen: svc_live_…: No stored request has this ID. (REQUEST_NOT_FOUND')
    assert run('list', '--json').stdout.count('"id": "0') == 1
    for code, deleted in ((0, [ids[2]]), (1, [])):
        as_json = run('delete', '-y', '--json', ids[2])
        assert (as_json.returncode, json.loads(as_json.stdout)) == (code, {'deleted': deleted})
    assert json.loads(as_json.stderr)['code'] == 'REQUEST_NOT_FOUND'
    # What was made stays paid.
    assert service.totals(granted) == (3, 3)


class _Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def test_asks_before_it_deletes(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    request_id = made(run)
    unasked = run('delete', request_id)
    assert (unasked.returncode, unasked.stdout) == (2, '')
    assert 'give --yes' in unasked.stderr
    monkeypatch.setattr(io, 'TextIOWrapper', _Terminal)
    for typed in ('n\n', '\n', ''):
        refused = run('delete', request_id, typed=typed)
        assert (refused.returncode, refused.stdout) == (130, '')
        asked = 'Delete 1 request with images and prompt for good? No credits come back. [y/N] '
        assert refused.stderr == f'{asked}Nothing was deleted.\n'
    assert run('get', request_id).returncode == 0
    assert run('delete', request_id, typed='Y\n').stdout == f'{request_id}\n'
    assert run('get', request_id).returncode == 1


def test_without_a_service_it_says_so(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, '_max_retries', 0)
    away = run('list', '--base-url', 'http://127.0.0.1:9/api/v1')
    assert away.returncode == 3
    assert "The service can't be reached. Check the network and the base URL (IMAGE_BASE_URL)." in away.stderr


def test_uploads_a_file_cancels_a_request_and_says_what_is_left(
    run: Run, service: Service, granted: Granted, tmp_path: Path
) -> None:
    assert run(*asked, '-o', 'cup.png').returncode == 0
    upload_id = run('upload', 'cup.png').stdout.strip()
    assert upload_id.startswith('up')
    assert run('generate', 'x', '-i', 'citrine', *small, '-r', 'cup.png', '-q').returncode == 0
    with Client(granted.key, granted.base_url) as client:
        request_id = client.respond_async(
            identity_id=service.identities['glacier'], prompt='a bay', width=512, height=512
        ).request_id
    for more in ((), ('--json',)):
        done = run('cancel', request_id, *more)
        assert (done.returncode, request_id in done.stdout, done.stderr) == (0, True, '')
    assert json.loads(done.stdout)['errorCode'] == 'CANCELLED'
    final = run('cancel', json.loads(run('list', '--json', '--status', 'completed').stdout)[0]['id'])
    assert (final.returncode, 'REQUEST_FINAL' in final.stderr) == (1, True)
    assert service.totals(granted) == (2, 2)
    lines = run('usage').stdout.splitlines()
    said = {line[:10].strip(): line for line in lines}
    assert '3998 of 4000 left until 20' in said['credits']
    assert 'of 10 left in this minute' in said['requests']
    assert said['in flight'].endswith('0 of 40')
    assert 'aurora, basalt' in said['identities']
    assert json.loads(run('usage', '--json').stdout)['requests']['perMinute'] == 10


def test_who_interrupts_a_request_that_runs_gets_its_id(granted: Granted, tmp_path: Path) -> None:
    args = ('generate', 'a bay', '-i', 'glacier', *small)
    with process(*args, env=granted.environment, cwd=tmp_path) as generating:
        assert generating.stderr is not None
        assert generating.stderr.readline().startswith('request ')
        assert generating.stderr.readline() == 'Generating\n'
        generating.send_signal(signal.SIGINT)
        text = generating.stderr.read()
    assert generating.returncode == 130
    assert 'It goes on and is charged when it completes. To fetch it costs nothing: imagegen get ' in text
    with Client(granted.key, granted.base_url) as client:
        [running] = client.list_generations().generations
    assert text.endswith(f' {running.id} -o . --wait\n')


def test_configure_writes_a_file_that_nobody_else_may_read(
    run: Run, service: Service, granted: Granted, tmp_path: Path
) -> None:
    assert 'run "imagegen configure"' in run('list', env={}).stderr
    path = tmp_path / '.config' / 'imagegen' / 'config'
    path.parent.mkdir(parents=True)
    # It is replaced.
    path.touch(0o644)
    written = run('configure', '--base-url', service.base_url, env={}, typed=f'{granted.key}\n')
    assert written.returncode == 0, written.stderr
    assert path.stat().st_mode & 0o777 == 0o600
    assert granted.key in path.read_text()
    assert granted.key not in written.stdout + written.stderr
    assert 'The license is ' in written.stderr
    assert '(Pro). The key opens these identities: aurora, basalt,' in written.stderr
    before = path.read_text()
    for address, key, code in (
        (service.base_url, service.grant(key={'revokedAtMs': 1}).key, 1),
        (service.base_url.removesuffix('/v1'), granted.key, 2),
        (service.base_url.replace('http', 'https'), granted.key, 2),
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
        why = f'Others may read {path}, which holds a key: run "chmod 600 {path}".'
        assert (refused.returncode, refused.stderr) == (2, f'imagegen: {why}\n')
    path.chmod(0o600)
    path.write_text('KEY=1\n')
    assert 'no others' in run('list', env={}).stderr


def test_an_image_goes_where_it_was_sent(run: Run, tmp_path: Path) -> None:
    for name, start in (
        ('a.JPG', b'\xff\xd8'),
        ('a.webp', b'RIFF'),
        ('out/new/', b'\x89PNG'),
        ('a.v2', b'\x89PNG'),
    ):
        made = run(*asked, '--seed', '7', '-o', name)
        assert made.returncode == 0, made.stderr
        file = tmp_path / made.stdout.strip()
        assert file.read_bytes().startswith(start)
    image = file.read_bytes()
    assert (tmp_path / 'out/new/aurora-7.png').read_bytes() == image
    request_id = made.stderr.split()[1]
    get = ('get', request_id, '-o')
    assert run(*get, 'bay.jpeg').returncode == 2
    (tmp_path / 'target').write_text('old')
    (tmp_path / 'link').symlink_to('target')
    os.link(tmp_path / 'target', tmp_path / 'second')
    os.mkfifo(tmp_path / 'pipe')
    for name in ('link', 'n' * 255, str(tmp_path / 'away' / '..' / 'b.png')):
        (tmp_path / 'away').mkdir(exist_ok=True)
        assert run(*get, name).returncode == 0
        assert (tmp_path / name).read_bytes() == image
    assert (tmp_path / 'link').is_symlink()
    assert (tmp_path / 'second').read_text() == 'old'
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / 'pipe').read_bytes()))
    reader.start()
    assert run(*get, 'pipe').returncode == 0
    reader.join()
    assert (read, (tmp_path / 'pipe').is_fifo()) == ([image], True)
    assert list(tmp_path.glob('.*.part')) == []


def test_the_standard_output_takes_an_image_and_nothing_else(granted: Granted, tmp_path: Path) -> None:
    with (tmp_path / 'bay').open('wb') as file:
        args = (*asked, '-o', '/dev/stdout')
        process(*args, env=granted.environment, cwd=tmp_path, stdout=file).communicate()
    image = (tmp_path / 'bay').read_bytes()
    assert (image[:4], image[-8:-4]) == (b'\x89PNG', b'IEND')


def raising(error: BaseException) -> Callable[..., Any]:
    def fail(*_: object) -> None:
        raise error

    return fail


full = OSError(errno.ENOSPC, 'No space left on device', 'x')
failures = [
    (full, 1, 'x: No space left on device.'),
    (DownloadError('The storage did not give the image.', 403), 1, 'did not give'),
    (ConnectionError("The storage can't be reached."), 3, "can't be reached. Saved:"),
    (KeyboardInterrupt(), 130, 'Interrupted.'),
    (BrokenPipeError(errno.EPIPE, 'Broken pipe', 'pipe'), 1, 'pipe: Broken pipe.'),
    (ZeroDivisionError(), 1, 'ZeroDivisionError'),
]


@pytest.mark.parametrize(('error', 'code', 'sentence'), failures)
def test_what_is_paid_for_and_not_saved_is_fetched_for_nothing(
    error: BaseException,
    code: int,
    sentence: str,
    run: Run,
    service: Service,
    granted: Granted,
    tmp_path: Path,
) -> None:
    fetch = Image.bytes

    def write(path: Path, content: bytes) -> None:
        write_whole(path, content) if '-1' in path.name else raising(full)()

    for more in ((), ('--json',)):
        with pytest.MonkeyPatch.context() as patch:
            if error is full:
                patch.setattr(output, 'write_whole', write)
            else:
                patch.setattr(Image, 'bytes', lambda one: raising(error)() if one._index else fetch(one))
            lost = run(*asked, '-n', '2', '-o', 'bay.webp', *more)
        assert (lost.returncode, lost.stdout) == (code, '')
        text = json.loads(lost.stderr)['error'] if more else lost.stderr
        assert sentence in text
        assert 'Saved: bay-1.webp.' in text
    command = text[text.index('imagegen get') :]
    request_id = json.loads(lost.stderr)['requestId']
    assert shlex.split(command)[1:] == ['get', request_id, '-o', 'bay.webp']
    assert run(*shlex.split(command)[1:]).returncode == 0
    assert (tmp_path / 'bay-2.webp').read_bytes().startswith(b'RIFF')
    assert service.totals(granted) == (4, 4)


@pytest.mark.parametrize('args', [('identities',), ('list', '--json'), ('--help',)])
@pytest.mark.parametrize('where', ['>&-', '>/dev/full', '>/dev/full 2>/dev/full', '>&- 2>&- <&-'])
def test_an_output_that_takes_nothing_is_a_sentence(
    args: tuple[str, ...], where: str, granted: Granted, tmp_path: Path
) -> None:
    ended = process(*args, env=granted.environment, cwd=tmp_path, redirected=where)
    _, text = ended.communicate()
    assert (ended.returncode in (1, 2), 'Traceback' in text, 'Exception' in text) == (True, False, False)
    assert text.count('output') == (0 if '2>' in where else 1)
    # Whoever reads no more has enough.
    assert process(*args, env=granted.environment, cwd=tmp_path, redirected='| true').communicate()[1] == ''


def test_no_output_is_lost_to_an_encoding(run: Run, granted: Granted, tmp_path: Path) -> None:
    run('generate', 'залив 夜', *asked[2:])
    for encoding in ('cp437', 'koi8-r', 'utf-16'):
        environment = {**granted.environment, 'PYTHONIOENCODING': encoding}
        listed = process('list', env=environment, cwd=tmp_path, stdout=subprocess.PIPE, encoding=encoding)
        text, _ = listed.communicate()
        assert (listed.returncode, text.count('COMPLETED')) == (0, 1)
        assert text.rstrip().endswith('夜' if encoding == 'utf-16' else '\\u591c')


base_urls = 'https:/a/api/v1 http://b@a/api/v1 http://a:99999/api/v1 http://a..b/api/v1 http://a/api/v1?b=1'
mistakes = {
    'HTTPS_PROXY': ['socks5h://127.0.0.1:9', 'htp://127.0.0.1'],
    'http_proxy': ['http://user:pass/word@127.0.0.1:9'],
    'SSL_CERT_FILE': ['/tmp'],
    'SSL_CERT_DIR': [__file__],
    'SSLKEYLOGFILE': ['/nonexistent/log'],
    'IMAGE_API_KEY': ['svc_live_a\rb', 'svc_live_\u00a0', 'svc_live_\udcff'],
    'IMAGE_BASE_URL': base_urls.split(),
}


@pytest.mark.parametrize(
    ('name', 'value'), [(name, value) for name, values in mistakes.items() for value in values]
)
def test_a_mistake_of_the_environment_names_the_variable(
    name: str, value: str, run: Run, granted: Granted
) -> None:
    wrong = run('identities', env={**granted.environment, 'SSL_CERT_DIR': '', name: value})
    assert (wrong.returncode, wrong.stdout, wrong.stderr.count('\n')) == (2, '', 1)
    assert name in wrong.stderr
    assert 'word' not in wrong.stderr


def test_only_the_text_of_the_input_is_the_prompt(run: Run) -> None:
    for content in (b'\xef\xbb\xbfa bay', b'\xef\xbb\xbf\r\n a bay \r\n', b'a bay'):
        assert run('generate', '-', *asked[2:], typed=content).returncode == 0
        assert json.loads(run('list', '--json', '-l', '1').stdout)[0]['prompt'] == 'a bay'
    for content in ('a bay'.encode('utf-16'), 'é'.encode('latin-1'), b'\x80'):
        wrong = run('quote', '-', '-i', 'aurora', typed=content)
        assert (wrong.returncode, wrong.stderr.count('must be UTF-8')) == (2, 1)


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
