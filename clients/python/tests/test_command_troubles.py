"""`imagegen` in surroundings that are not as they should be: nothing paid is lost, nothing is a traceback."""

from __future__ import annotations

import errno
import json
import os
import shlex
import shutil
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from image_generation import ConnectionError, DownloadError, Image
from image_generation._io import write_whole
from image_generation.command import output

from .commands import Run, process, small
from .world import Granted, World

asked = ('generate', 'a bay', '-i', 'aurora', *small, '-q')


def test_an_image_that_has_nowhere_to_go_is_not_paid_for(
    run: Run, world: World, granted: Granted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / 'file').touch()
    (tmp_path / 'astray').symlink_to('no/where.png')
    (tmp_path / 'bay-2.png').mkdir()
    os.mkfifo(tmp_path / 'pipe')
    wrong: list[tuple[tuple[str, ...], str]] = [
        (('-o', 'file/bay.png'), 'file'),
        (('-o', 'astray'), 'There is no folder'),
        (('-o', 'é' * 130), 'File name too long'),
        (('-o', '/proc/bay.png'), 'Nothing can be saved in /proc'),
        (('-o', 'file/'), 'file'),
        (('-n', '2', '-o', 'bay.png'), 'bay-2.png may not be written to'),
        (('-n', '2', '-o', 'pipe'), 'pipe takes one image'),
        (('-o', '/dev/stdout', '--json'), 'not both'),
        (('-o', 'bay.GIF'), 'images are made as png, webp, jpeg alone'),
        (('-o', 'bay.webp', '--format', 'jpeg'), 'bay.webp does not end as the format jpeg does'),
        (('-o', 'bay.jpe', '--format', 'png'), 'bay.jpe does not end as the format png does'),
    ]
    for args, sentence in wrong:
        refused = run(*asked, *args)
        assert (refused.returncode, refused.stdout) == (2, ''), args
        assert sentence in refused.stderr
    usage = type(shutil.disk_usage('/'))
    monkeypatch.setattr(shutil, 'disk_usage', lambda _: usage(10**9, 10**9 - 5000, 5000))
    for args in ((), ('-o', 'new/'), ('-o', 'bay.jpg')):
        assert 'has 5 kB left' in run(*asked, *args).stderr
    assert world.totals(granted) == (0, 0)


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


def test_the_standard_output_takes_an_image_and_nothing_else(
    world: World, granted: Granted, tmp_path: Path
) -> None:
    environment = {'IMAGE_API_KEY': granted.key, 'IMAGE_BASE_URL': world.base_url}
    with (tmp_path / 'bay').open('wb') as file:
        process(*asked, '-o', '/dev/stdout', env=environment, cwd=tmp_path, stdout=file).communicate()
    assert (tmp_path / 'bay').read_bytes().startswith(b'\x89PNG')
    assert (tmp_path / 'bay').read_bytes()[-8:-4] == b'IEND'


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
    error: BaseException, code: int, sentence: str, run: Run, world: World, granted: Granted, tmp_path: Path
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
        told = json.loads(lost.stderr)['error'] if more else lost.stderr
        assert sentence in told
        assert 'Saved: bay-1.webp.' in told
    command = told[told.index('imagegen get') :]
    request_id = json.loads(lost.stderr)['requestId']
    assert shlex.split(command)[1:] == ['get', request_id, '-o', 'bay.webp']
    assert run(*shlex.split(command)[1:]).returncode == 0
    assert (tmp_path / 'bay-2.webp').read_bytes().startswith(b'RIFF')
    assert world.totals(granted) == (4, 4)


@pytest.mark.parametrize('args', [('identities',), ('list', '--json'), ('--help',)])
@pytest.mark.parametrize('where', ['>&-', '>/dev/full', '>/dev/full 2>/dev/full', '>&- 2>&- <&-'])
def test_an_output_that_takes_nothing_is_a_sentence(
    args: tuple[str, ...], where: str, world: World, granted: Granted, tmp_path: Path
) -> None:
    environment = {'IMAGE_API_KEY': granted.key, 'IMAGE_BASE_URL': world.base_url}
    with process(*args, env=environment, cwd=tmp_path, redirected=where) as ended:
        _, told = ended.communicate()
    assert (ended.returncode in (1, 2), 'Traceback' in told, 'Exception' in told) == (True, False, False)
    assert told.count('output') == (0 if '2>' in where else 1)
    # Whoever reads no more has enough.
    with process(*args, env=environment, cwd=tmp_path, redirected='| true') as ended:
        assert ended.communicate()[1] == ''


def test_no_output_is_lost_to_an_encoding(run: Run, world: World, granted: Granted, tmp_path: Path) -> None:
    run('generate', 'залив 夜', '-i', 'aurora', *small, '-q')
    for encoding in ('cp437', 'koi8-r', 'iso8859-15', 'utf-16'):
        environment = {
            'IMAGE_API_KEY': granted.key,
            'IMAGE_BASE_URL': world.base_url,
            'PYTHONIOENCODING': encoding,
        }
        with process(
            'list', env=environment, cwd=tmp_path, stdout=subprocess.PIPE, encoding=encoding
        ) as listed:
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
    name: str, value: str, run: Run, world: World, granted: Granted
) -> None:
    environment = {'IMAGE_API_KEY': granted.key, 'IMAGE_BASE_URL': world.base_url, 'SSL_CERT_DIR': ''}
    wrong = run('identities', env={**environment, name: value})
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
