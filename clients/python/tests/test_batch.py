"""A batch: whatever happens to it, each line has its images and is paid for once."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from image_generation import Client

from .fixture import Granted, Service, repository
from .test_command import process

lines, kills = 60, 6


@pytest.fixture(scope='module')
def quick() -> Iterator[Service]:
    """A service whose key may send as much as it likes."""
    service = Service(f'--import={repository}/test/support/raise-limits.ts')
    yield service
    service.close()


def test_a_batch_that_is_killed_again_and_again_pays_each_line_once(quick: Service, tmp_path: Path) -> None:
    granted = quick.grant()
    file = tmp_path / 'prompts.jsonl'
    prompts = (json.dumps({'prompt': f'a bay, {number % 7}'}) for number in range(lines))
    file.write_text('\n'.join(prompts))
    small = ('--width', '512', '--height', '512', '--steps', '20', '-i', 'aurora')
    args = ('batch', 'prompts.jsonl', '-o', 'out', *small)
    random.seed(7)
    killed = 0
    began = time.monotonic()
    while True:
        running = process(*args, env=granted.environment, cwd=tmp_path)
        if killed < kills:
            assert running.stderr is not None
            time.sleep(0 if running.stderr.readline() else 0)
            time.sleep(random.uniform(0, 1.2))
            running.kill()
            running.communicate()
            killed += running.returncode == -signal.SIGKILL
            print(time.monotonic() - began, running.returncode, len((tmp_path/'out/results.jsonl').read_text().splitlines()) if (tmp_path/'out/results.jsonl').exists() else 0)
            if running.returncode == 0:
                break
            continue
        _, text = running.communicate()
        print(text[-300:])
        assert running.returncode == 0, text
        break
    print(killed, time.monotonic() - began)
    results = [json.loads(line) for line in (tmp_path / 'out/results.jsonl').read_text().splitlines()]
    assert sorted(one['line'] for one in results) == list(range(1, lines + 1))
    assert len({one['requestId'] for one in results}) == lines
    assert all((tmp_path / 'out' / name).read_bytes().startswith(b'\x89PNG') for one in results for name in one['files'])
    assert len(list((tmp_path / 'out').glob('*.png'))) == lines
    assert quick.totals(granted) == (lines, lines)
