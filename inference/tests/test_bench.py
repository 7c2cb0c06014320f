"""Rows outlive who writes them, a run goes on where it was cut off, and the tables say what was found."""

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.plans import PLANS, Plan
from bench.rows import Row, Rows, read_rows
from bench.table import make_tables

ROOT = Path(__file__).parent.parent
PLACE = {'plan': 'sdxl', 'model': 'sdxl', 'size': 'full', 'job': 'measure'}
MACHINE = {'device': 'a card', 'on': 'card', 'versions': 'Python 3', 'commit': 'abc'}


def test_rows_outlive_a_killed_writer_and_half_a_line_costs_no_other(tmp_path: Path) -> None:
    file = tmp_path / 'rows.jsonl'
    writer = f"""
from bench.rows import Rows
from pathlib import Path
import os, signal
rows = Rows(Path({str(file)!r}), {{'model': 'sdxl'}})
rows.value('one image', 1.5, 's')
os.write(os.open({str(file)!r}, os.O_WRONLY | os.O_APPEND), b'{{"kind": "val')
os.kill(os.getpid(), signal.SIGKILL)
"""
    ended = subprocess.run([sys.executable, '-c', writer], cwd=ROOT, check=False)
    assert ended.returncode == -signal.SIGKILL
    Rows(file, {}).value('a line\u2028in two', 2.5, 's')
    assert [(row['what'], row['value']) for row in read_rows(file)] == [
        ('one image', 1.5),
        ('a line\u2028in two', 2.5),
    ]


def rows_of(folder: Path) -> Rows:
    """A file of the plan `sdxl`, with a card."""
    rows = Rows(folder / 'sdxl.jsonl', PLACE)
    rows.add('machine', **MACHINE)
    return rows


def measured(folder: Path) -> None:
    """Two variants."""
    rows = rows_of(folder)
    for variant, seconds in (('plain', 9.0), ('plain', 4.0), ('served', 3.0)):
        rows.value('one image', seconds, 's', variant=variant, adapter='none')
    rows.value('one image', 5.0, 's', variant='plain', adapter='wrapped')
    rows.value('one image', 3.0, 's', variant='served', adapter='merged')
    rows.value('GPU at work', 0.913, 'share', variant='served', adapter='none')
    rows.value('load and warm up', 7.0, 's', variant='served', adapter='none', job='fresh')
    hashes = {'first': 'a', 'repeated': 'a', 'after a swap': 'b', 'fresh': 'a'}
    for when, digest in hashes.items():
        rows.value('bytes', digest, 'sha256', when=when, variant='served', adapter='none', blank=False)
    for when in ('first', 'fresh'):
        rows.value('bytes', 'a', 'sha256', when=when, variant='served', adapter='merged', blank=True)
    rows.add('failed', variant='plain', reason='killed after 9 s', lines=[])
    rows.add('ended', variant='plain')
    rows.add('failed', variant='whole', reason='exit status 1', lines=['it broke'])
    rows.add('skipped', variant='regional', what='exact product', reason='It takes none.')


TABLES = """- a card; Python 3; commit abc

**sdxl, full, with random weights** (plan `sdxl`)

|  | plain diffusers | as served | regional |
| --- | ---: | ---: | ---: |
| one image, s | 4.000 | 3.000 (0.75x) | - |
| one image, with an adapter, s | 5.000 | 3.000 (0.60x) | - |
| GPU at work, share | - | 91% | - |
| load and warm up, second process, s | - | 7.000 | - |

Bytes of the same order:

- as served: **other bytes** after a swap; same when repeated, in a fresh process
- as served, with an adapter: same in a fresh process; **an image of one color**; \
**the adapter changes nothing**

Not measured:

- sdxl, sdxl, whole, measure: exit status 1
- sdxl, sdxl, regional, measure: left out exact product: It takes none."""


def test_the_tables_have_ratios_to_plain_diffusers_and_tell_bytes_that_differ(tmp_path: Path) -> None:
    measured(tmp_path)
    assert make_tables([tmp_path]) == TABLES


def test_a_plan_measures_every_model_there_is() -> None:
    import random_models as models

    assert set(PLANS['smoke'].models) == {*models.KINDS, 'sdxl-ip'}
    full = [model for plan in PLANS.values() for model in plan.models if plan.size == 'full']
    assert set(full) == {*models.KINDS, 'z-image-turbo'}


# A process that stands for `python -m bench job`: a line of `script` says what each one does.
FAKE = """
import json, os, sys, time
from pathlib import Path
from bench.rows import Rows
plan, job, model, variant = sys.argv[1:5]
out = Path(sys.argv[sys.argv.index('--out') + 1])
does = json.loads((out / 'script').read_text()).get(f'{job} {variant}', 'end')
rows = Rows(out / f'{plan}.jsonl', {'plan': plan, 'model': model, 'variant': variant, 'job': job})
rows.value('one image', 1.0, 's')
if does == 'fail':
    print('first'); sys.exit('it broke')
if does == 'hang':
    import subprocess
    below = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])
    (out / 'new').write_text(str(below.pid)); (out / 'new').rename(out / 'pid'); time.sleep(60)
"""


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs a plan of one model with processes that do what the script says, and answers what its rows say."""
    from bench import runs

    fake = tmp_path / 'fake.py'
    fake.write_text(FAKE)
    monkeypatch.setattr(runs, 'COMMAND', ('-c', f'exec(open({str(fake)!r}).read())'))
    monkeypatch.setattr(runs, '_LEAST_SECONDS', 0.01)
    monkeypatch.setenv('PYTHONPATH', str(ROOT))
    plan = Plan(('sdxl',), job_seconds=5)
    variants = ('plain', 'served')

    def run(
        script: dict[str, str],
        seconds: float = 60,
        plan: Plan = plan,
        meanwhile: Callable[[runs.Run], None] = lambda _: None,
    ) -> tuple[int, list[Row]]:
        (tmp_path / 'script').write_text(json.dumps(script))
        ready = runs.Run('sdxl', tmp_path, tmp_path, time.monotonic() + seconds)
        threading.Thread(target=meanwhile, args=(ready,), daemon=True).start()
        tasks = runs.left_of(runs.tasks_of(plan, ('sdxl',), variants), ready.file)
        before = len(read_rows(ready.file))
        return runs.run_tasks(ready, plan, tasks), read_rows(ready.file)[before:]

    return run


def ends(rows: list[Row], kind: str) -> list[str]:
    return [f'{row["job"]} {row["variant"]}' for row in rows if row['kind'] == kind]


def is_alive(file: Path) -> bool:
    """Whether the process whose number is in the file still runs."""
    state = Path('/proc') / file.read_text() / 'stat'
    return state.exists() and state.read_text().split()[2] != 'Z'


ALL = ['measure plain', 'measure served', 'serve served', 'fresh plain', 'fresh served']


def test_one_that_fails_ends_no_other_and_is_tried_again_last(play: Any) -> None:
    left, rows = play({'measure plain': 'fail'})
    assert left == 1
    assert ends(rows, 'ended') == ['build plain', *ALL[1:]]
    (failed,) = [row for row in rows if row['kind'] == 'failed']
    assert (failed['variant'], failed['reason']) == ('plain', 'exit status 1')
    assert failed['lines'] == ['first', 'it broke']
    # What it measured before is kept.
    assert ends(rows, 'value') == ['build plain', *ALL]
    left, rows = play({})
    assert left == 0
    assert ends(rows, 'value') == ['build plain', 'measure plain']
    assert play({}) == (0, [])


def test_one_that_takes_too_long_is_killed_with_all_that_it_started(play: Any, tmp_path: Path) -> None:
    left, rows = play({'measure served': 'hang'}, plan=Plan(('sdxl',), job_seconds=2))
    assert left == 1
    assert ends(rows, 'failed') == ['measure served']
    assert ends(rows, 'ended') == ['build plain', *[each for each in ALL if each != 'measure served']]
    assert not is_alive(tmp_path / 'pid')


def test_a_run_ends_in_its_time_and_the_next_one_goes_on(play: Any) -> None:
    began = time.monotonic()
    left, rows = play({'measure served': 'hang'}, seconds=3, plan=Plan(('sdxl',), job_seconds=60))
    assert time.monotonic() - began < 10
    assert left == len(ALL) - 1
    assert ends(rows, 'ended') == ['build plain', 'measure plain']
    left, rows = play({})
    assert left == 0
    assert ends(rows, 'ended') == ['build plain', *ALL[2:], 'measure served']


def test_a_run_that_is_stopped_leaves_no_process_behind(play: Any, tmp_path: Path) -> None:
    def stop(run: Any) -> None:
        while not (tmp_path / 'pid').exists():
            time.sleep(0.01)
        run.stop()

    left, rows = play({'measure served': 'hang'}, plan=Plan(('sdxl',), job_seconds=30), meanwhile=stop)
    assert left == len(ALL) - 1
    assert ends(rows, 'failed') == ['measure served']
    assert not is_alive(tmp_path / 'pid')


def test_what_a_cpu_did_is_done_again_on_a_card(play: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from bench import runs

    assert play({})[0] == 0
    monkeypatch.setattr(runs, 'where', lambda: 'card')
    assert ends(play({})[1], 'ended') == ['build plain', *ALL]


def test_without_its_model_nothing_is_tried(play: Any) -> None:
    left, rows = play({'build plain': 'fail'})
    assert left == len(ALL)
    assert {row['job'] for row in rows} == {'build'}
