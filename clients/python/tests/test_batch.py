"""A batch: whatever happens to it, each line has its images and is paid for once."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest

from image_generation import Client, ConfigurationError, ConnectionError, _batch, _batch_folder, _io
from image_generation.command.batch import _advice

from .answers import refusal, stored
from .fixture import Caller, Granted, Service, repository
from .test_command import Ended, Run, process
from .test_command import run as run  # It is a fixture.
from .test_retries import cut

# BATCH=200/20 is the large one, which takes minutes.
line_count, kill_count = map(int, os.environ.get('BATCH', '60/6').split('/'))
options = ('--width', '512', '--height', '512', '--steps', '20')


@pytest.fixture(scope='module')
def quick() -> Iterator[Service]:
    """A service that makes no pictures, and whose keys may send as many requests as they like."""
    service = Service(is_quick=True)
    yield service
    service.close()


def results_of(folder: Path) -> list[dict[str, Any]]:
    text = (folder / 'results.jsonl').read_text()
    return sorted(map(json.loads, text.splitlines()), key=lambda one: int(one['line']))


def test_a_batch_that_is_killed_again_and_again_pays_each_line_once(quick: Service, tmp_path: Path) -> None:
    granted = quick.grant()
    # Some lines are equal, and are wishes of their own.
    prompts = (json.dumps({'prompt': f'a bay, {number % 50}'}) for number in range(line_count))
    (tmp_path / 'prompts.jsonl').write_text('\n'.join(prompts))
    args = ('batch', 'prompts.jsonl', '-o', 'out', '-i', 'aurora', *options)
    # By what has been noted, not by the clock: a quick machine would end before it is killed. A line is
    # noted when it is sent, when it is accepted and when it has ended, so a third of the notes is to come.
    notes, killed = tmp_path / 'out/.batch.jsonl', 0
    (tmp_path / 'out').mkdir()
    notes.touch()
    for last_note in sorted(random.sample(range(line_count * 2), kill_count)):
        running = process(*args, env=granted.environment, cwd=tmp_path)
        assert running.stderr is not None
        if ' to generate: ' in running.stderr.readline():
            while running.poll() is None and notes.read_bytes().count(b'\n') < last_note:
                time.sleep(0.001)
        running.kill()
        running.communicate()
        killed += running.returncode == -signal.SIGKILL
    # A machine that stands still may miss some.
    assert killed >= kill_count // 2
    last = process(*args, env=granted.environment, cwd=tmp_path)
    _, text = last.communicate()
    assert last.returncode == 0, text
    assert f'{line_count} of {line_count} lines have images, for {line_count} credits' in text
    results = results_of(tmp_path / 'out')
    assert [one['line'] for one in results] == list(range(1, line_count + 1))
    assert len({one['requestId'] for one in results}) == line_count
    for name in (name for one in results for name in one['files']):
        assert (tmp_path / 'out' / name).read_bytes() == b'a picture'
    assert len(list((tmp_path / 'out').glob('*.*'))) == line_count + 2
    with Client(granted.key, granted.base_url) as client:
        assert {one.status for one in client.all_generations(limit=100)} == {'COMPLETED'}
        assert len(list(client.all_generations(limit=100))) == line_count
    assert quick.totals(granted) == (line_count, line_count)


def test_the_command_reads_prices_and_names_lines(run: Run, quick: Service, tmp_path: Path) -> None:
    granted = quick.grant()

    def batch(file: str, folder: str, *more: str, of: Granted = granted) -> Ended:
        args = ('batch', file, '-o', folder, '-i', 'Aurora', *options)
        return run(*args, *more, env=of.environment)

    shutil.copy(repository / 'docs/images/painter.jpg', tmp_path / 'cup.jpg')
    header = 'prompt,identityId,numOutputs,referenceImages,width\n'
    rows = '"a bay,\nat dawn",,,,\na table,citrine,2,cup.jpg|cup.jpg,\nwide,,1,,100\n'
    (tmp_path / 'all.csv').write_text(f'\ufeff{header}{rows}')
    priced = batch('all.csv', 'out', '--dry-run')
    assert (priced.returncode, (tmp_path / 'out').exists()) == (0, False)
    assert 'line 5: width must be a multiple of 64' in priced.stderr
    said = '3 credits of 4000 that are left; about 1 min. The price of 1 line is not known.'
    assert said in priced.stderr
    ended = batch('all.csv', 'out', '--json')
    summary = {'lines': 3, 'failed': 1, 'credits': 3, 'folder': 'out'}
    assert (ended.returncode, json.loads(ended.stdout)) == (1, summary)
    files = {path.name for path in (tmp_path / 'out').glob('0*')}
    assert files == {'00003-1.png', '00004-1.png', '00004-2.png'}
    assert results_of(tmp_path / 'out')[2]['code'] == 'INVALID_PARAMETERS'
    # What has ended is not sent again, nor priced.
    repeated = batch('all.csv', 'out', '-q')
    assert (repeated.returncode, ' to generate: ' in repeated.stderr) == (1, False)
    assert quick.totals(granted) == (3, 3)
    wrong = ['{}', '[]', '{', '{"prompt": 1}', '{"prompt": "a", "size": 1}', '{"prompt": "a", "seed": true}']
    wrong += ['{"prompt": "a", "referenceImages": ["no.png"]}', '{"prompt": "a", "identityId": "nobody"}']
    wrong.append('[' * 100_000)
    (tmp_path / 'bad.jsonl').write_text('\n'.join([*wrong, '', '{"prompt": "a bay", "num_outputs": 2}']))
    refused = batch('bad.jsonl', 'bad')
    assert (refused.returncode, refused.stderr.count('\n')) == (2, 1)
    assert all(f'line {number}: ' in refused.stderr for number in range(1, 10))
    assert batch('bad.jsonl', 'bad', '--skip-invalid', '-q').returncode == 0
    assert [one['line'] for one in results_of(tmp_path / 'bad')] == [11]
    (tmp_path / 'torn.csv').write_text('prompt\na bay\n"a table')
    assert 'The row from line 3 is no CSV' in batch('torn.csv', 'torn').stderr
    # A line that is refused tells no price, but another of its size does.
    (tmp_path / 'ember.jsonl').write_text('{"prompt": "a", "identityId": "ember"}\n{"prompt": "a bay"}')
    unavailable = batch('ember.jsonl', 'ember', '--dry-run')
    assert 'line 1: ember has no active model' in unavailable.stderr
    assert (
        '2 lines to generate: 1 credit of 3995 that are left; about 1 min. The price of 1 '
        in unavailable.stderr
    )
    (tmp_path / 'two.jsonl').write_text('{"prompt": "a bay"}\n' * 2)
    rich = quick.grant(creditsLimit=3, used=3, extra=2)
    assert '2 credits of 2 that are left' in batch('two.jsonl', 'rich', of=rich).stderr
    poor = quick.grant(creditsLimit=3, used=2)
    for more, code, sentence in (((), 2, 'give --yes'), (('--yes',), 1, 'CREDIT_LIMIT_EXCEEDED')):
        spent = batch('two.jsonl', 'poor', *more, of=poor)
        assert (spent.returncode, sentence in spent.stderr) == (code, True), spent.stderr
    assert spent.stderr.endswith(f'{_advice}\n')
    assert quick.totals(poor) == (3, 3)
    extra = quick.grant(creditsLimit=3, used=2, extra=1)
    paid = batch('two.jsonl', 'extra', of=extra)
    assert (paid.returncode, '2 credits of 2 that are left' in paid.stderr) == (0, True), paid.stderr


def test_who_interrupts_a_batch_learns_how_it_goes_on(quick: Service, tmp_path: Path) -> None:
    granted = quick.grant()
    (tmp_path / 'a.jsonl').write_text('{"prompt": "a bay"}\n' * 300)
    args = ('batch', 'a.jsonl', '-o', 'out', '-i', 'harbor', *options)
    with process(*args, env=granted.environment, cwd=tmp_path) as running:
        assert running.stderr is not None
        assert 'about 1 min' in running.stderr.readline()
        assert '1 of 300' in running.stderr.readline()
        second = process(*args, env=granted.environment, cwd=tmp_path)
        assert 'Another process runs a batch in out.' in second.communicate()[1]
        assert second.returncode == 2
        running.send_signal(signal.SIGINT)
        text = running.stderr.read()
    assert running.returncode == 130
    assert text.endswith(f'Interrupted. {_advice}\n')


document = json.loads((repository / 'docs/openapi.json').read_text())
allowance = document['components']['responses']['KeyAllowanceAnswer']['content']['application/json'][
    'example'
]
key = httpx2.Response(200, json={**allowance, 'maxInFlight': 1})
image = httpx2.Response(200, content=b'an image')


def accepted(request_id: str, rate_limit: str = '') -> httpx2.Response:
    answer = {'requestId': request_id, 'status': 'QUEUED', 'creditsReserved': 1}
    return httpx2.Response(202, json=answer, headers={'ratelimit': rate_limit})


def test_it_waits_for_the_minute_and_for_places(
    answering: Any, call: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, waits, sent = [0.0], list[float](), list[httpx2.Request]()

    async def sleep(_: object, seconds: float) -> None:
        waits.append(seconds)
        now[0] += seconds

    monkeypatch.setattr(_batch, 'time', SimpleNamespace(monotonic=lambda: now[0]))
    first, second = accepted('r', '"generate";r=1;t=60'), accepted('r', '"generate";r=0;t=12')
    running = stored('QUEUED')
    running.headers['retry-after'] = '3'
    limited = refusal(429, 'RATE_LIMITED', **{'retry-after': '30'})
    failed = stored('FAILED', errorCode='GENERATION_FAILED', errorMessage='So.')
    ended = (stored('COMPLETED'), image)
    answers = (key, first, *ended, second, running, *ended, limited, accepted('r'), failed)
    client = answering(*answers, sent=sent)
    for kind in (_io.BlockingIO, _io.SuspendingIO):
        monkeypatch.setattr(kind, 'sleep', sleep)
    lines: Any = [{'identity_id': 'i', 'prompt': prompt} for prompt in 'aab']
    results = call.all(client.batch(lines, tmp_path))
    assert [(one.line, one.code) for one in results] == [(1, None), (2, None), (3, 'GENERATION_FAILED')]
    assert waits == [1, 1, 3, 8, 30, 1]
    posts = [one for one in sent if one.method == 'POST']
    keys = [one.headers['idempotency-key'] for one in posts]
    assert (len(set(keys)), keys[2], posts[2].content) == (3, keys[3], posts[3].content)
    # The failed one is sent again, and the others are not.
    again = call.all(answering(key, accepted('r'), *ended).batch(lines, tmp_path))
    assert [(one.line, one.files) for one in again] == [(n, (f'0000{n}-1.png',)) for n in (1, 2, 3)]


def test_a_line_without_a_known_end_is_sent_again_only_where_that_is_free(
    answering: Any, call: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = {'uploadId': 'up', 'url': 'https://s', 'fields': {}, 'maxBytes': 1}
    opened = httpx2.Response(201, json={**form, 'expiresAt': '2026-12-12T08:00:00Z'})
    line: Any = {'identity_id': 'i', 'prompt': 'p', 'reference_images': [b'a cup']}
    taken, expired = httpx2.Response(204), refusal(400, 'INVALID_PARAMETERS')
    sent: list[httpx2.Request] = []

    def run_again(*answers: Any, by: Any = answering, of: Any = line, **more: Any) -> list[Any]:
        return call.all(by(*answers, sent=sent, max_retries=0).batch([of], tmp_path, **more))

    for answers in ((key, opened, taken, cut), (key, cut)):
        with pytest.raises(ConnectionError):
            run_again(*answers)
    with (tmp_path / '.batch.jsonl').open('a') as file:
        file.write('{"line": 1, "resu')
    with pytest.raises(ConfigurationError, match='not what was sent before'):
        run_again(of={**line, 'prompt': 'q'})
    with monkeypatch.context() as later:
        day = SimpleNamespace(time=lambda: time.time() + 24 * 3600)
        later.setattr(_batch_folder, 'time', day)
        with pytest.raises(ConfigurationError, match=r'Lines 1 were sent .*\(--again\)'):
            run_again()
    other = Client('svc_live_other', 'https://images.example/api/v1')
    with pytest.raises(ConfigurationError, match='with another key'):
        list(other.batch([line], tmp_path))
    assert len(sent) == 6
    # Its upload has expired.
    rest = (key, expired, opened, taken, accepted('r'), stored('COMPLETED'), image)
    [result] = run_again(*rest)
    assert (result.code, (tmp_path / '00001-1.png').read_bytes()) == (None, b'an image')
    posts = [one for one in sent if one.url.path.endswith('/generate')]
    assert len({(one.headers['idempotency-key'], one.content) for one in posts}) == 1
    assert run_again() == [result]
