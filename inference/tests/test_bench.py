"""The bench: rows outlive who writes them, a run goes on where it was cut off, and measurements are real."""

import asyncio
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import random_models
from bench import clock, runs
from bench.__main__ import main
from bench.backends import DiffusersBackend
from bench.measuring import build_model, run_job
from bench.plans import PLANS, Plan
from bench.rows import Row, Rows, read_rows
from bench.serving import serve_callers
from bench.table import make_tables
from model_server.pipelines.engine import Adapter, ImageSpec

from .support import safetensors

ROOT = Path(__file__).parent.parent


def test_rows_outlive_a_killed_writer_and_half_a_line_costs_no_other(tmp_path: Path) -> None:
    file = tmp_path / 'rows.jsonl'
    writer = f"""
from bench.rows import Rows
from pathlib import Path
from types import SimpleNamespace
import os, signal
rows = Rows(Path({str(file)!r}), {{'model': 'sdxl'}})
rows.value('one image', 1.5, 's')
os.write(os.open({str(file)!r}, os.O_WRONLY | os.O_APPEND), b'\\n{{"kind": "val')
os.kill(os.getpid(), signal.SIGKILL)
"""
    ended = subprocess.run([sys.executable, '-c', writer], cwd=ROOT, check=False)
    assert ended.returncode == -signal.SIGKILL
    Rows(file, {}).value('a line\u2028in two', 2.5, 's')
    found = [(row['what'], row['value']) for row in read_rows(file)]
    assert found == [('one image', 1.5), ('a line\u2028in two', 2.5)]


TABLES = """- a card; Python 3; commit abc

**sdxl, full, with random weights** (plan `sdxl`)

|  | plain diffusers | as served |
| --- | ---: | ---: |
| one image, s | 4.000 | 3.000 (0.75x) |
| one image, with an adapter, s | 5.000 | 3.000 (0.60x) |
| GPU at work, share | - | 91% |
| load and warm up, second process, s | - | 7.000 |
| bytes: first | - | measured |
| bytes: repeated | - | same |
| bytes: after a swap | - | **other** |
| bytes, with an adapter: first | - | **as without** |
| bytes, with an adapter: fresh | - | **one color** |

Not measured:

- sdxl, sdxl, whole, measure: exit status 1
- sdxl, sdxl, regional, measure: left out exact product: It takes none."""


def test_the_tables_have_ratios_to_plain_diffusers_and_show_bytes_that_differ(tmp_path: Path) -> None:
    common = {'plan': 'sdxl', 'model': 'sdxl', 'size': 'full', 'job': 'measure', 'adapter': 'none'}
    rows = Rows(tmp_path / 'sdxl.jsonl', common)
    rows.add('machine', device='a card', on='card', versions='Python 3', commit='abc')
    for variant, seconds in (('plain', 9.0), ('plain', 4.0), ('served', 3.0)):
        rows.value('one image', seconds, 's', variant=variant)
    rows.value('one image', 5.0, 's', variant='plain', adapter='wrapped')
    rows.value('one image', 3.0, 's', variant='served', adapter='merged')
    rows.value('GPU at work', 0.913, 'share', variant='served')
    rows.value('load and warm up', 7.0, 's', variant='served', job='fresh')
    for when, adapter, digest in (
        ('first', 'none', 'a'),
        ('repeated', 'none', 'a'),
        ('after a swap', 'none', 'b'),
        ('first', 'merged', 'a'),
        ('fresh', 'merged', 'c'),
    ):
        blank = when == 'fresh'
        rows.value('bytes', digest, 'sha256', when=when, variant='served', adapter=adapter, blank=blank)
    rows.add('failed', variant='plain', reason='killed after 9 s', lines=[])
    rows.add('ended', variant='plain')
    rows.add('failed', variant='whole', reason='exit status 1', lines=['it broke'])
    rows.add('skipped', variant='regional', what='exact product', reason='It takes none.')
    assert make_tables([tmp_path]) == TABLES


def test_a_plan_measures_every_model_there_is() -> None:
    assert set(PLANS['smoke'].models) == {*random_models.KINDS, 'sdxl-ip'}
    full = [model for plan in PLANS.values() for model in plan.models if plan.size == 'full']
    assert set(full) == {*random_models.KINDS, 'z-image-turbo'}


# A process that stands for `python -m bench job`: `script` says what each one does.
FAKE = """
import json, os, sys, time
from pathlib import Path
from types import SimpleNamespace
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
ALL = ['measure plain', 'measure served', 'serve served', 'fresh plain', 'fresh served']
#: Runs a plan, and returns how many tasks are left, and its rows.
Play = Callable[..., tuple[int, list[Row]]]


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Play:
    """Runs a plan of one model with processes that do what the script says."""
    fake = tmp_path / 'fake.py'
    fake.write_text(FAKE)
    monkeypatch.setattr(runs, 'COMMAND', ('-c', f'exec(open({str(fake)!r}).read())'))
    monkeypatch.setattr(runs, '_LEAST_SECONDS', 0.01)
    monkeypatch.setenv('PYTHONPATH', str(ROOT))

    def run(
        script: dict[str, str],
        seconds: float = 60,
        job_seconds: float = 30,
        meanwhile: Callable[[runs.Run], None] = lambda _: None,
    ) -> tuple[int, list[Row]]:
        (tmp_path / 'script').write_text(json.dumps(script))
        ready = runs.Run('sdxl', tmp_path, tmp_path, time.monotonic() + seconds)
        threading.Thread(target=meanwhile, args=(ready,), daemon=True).start()
        plan = Plan(('sdxl',), job_seconds=job_seconds)
        tasks = runs.left_of(runs.tasks_of(plan, ('sdxl',), ('plain', 'served')), ready.file)
        before = len(read_rows(ready.file))
        return runs.run_tasks(ready, plan, tasks), read_rows(ready.file)[before:]

    return run


def ends(rows: list[Row], kind: str) -> list[str]:
    return [f'{row["job"]} {row["variant"]}' for row in rows if row['kind'] == kind]


def is_alive(file: Path) -> bool:
    """Whether the process whose number is in the file still runs."""
    state = Path('/proc') / file.read_text() / 'stat'
    return state.exists() and state.read_text().split()[2] != 'Z'


def test_one_that_fails_or_takes_too_long_ends_no_other_and_is_tried_again_last(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left, rows = play({'measure plain': 'fail', 'measure served': 'hang'}, job_seconds=2)
    assert left == 2
    assert ends(rows, 'ended') == ['build plain', *ALL[2:]]
    # What it measured before is kept, and nothing that it started lives on.
    assert ends(rows, 'value') == ['build plain', *ALL]
    failed, killed = [row for row in rows if row['kind'] == 'failed']
    assert (failed['variant'], failed['reason']) == ('plain', 'exit status 1')
    assert failed['lines'] == ['first', 'it broke']
    assert killed['variant'] == 'served'
    assert not is_alive(tmp_path / 'pid')
    assert play({'measure plain': 'fail'})[0] == 1
    assert ends(play({})[1], 'ended') == ['build plain', 'measure plain']
    assert play({}) == (0, [])
    monkeypatch.setattr(runs, 'where', lambda: 'card')
    assert ends(play({})[1], 'ended') == ['build plain', *ALL]


def test_a_run_ends_in_its_time_and_the_next_one_goes_on(play: Play) -> None:
    began = time.monotonic()
    left, rows = play({'measure served': 'hang'}, seconds=3)
    assert time.monotonic() - began < 10
    assert left == len(ALL) - 1
    assert ends(rows, 'ended') == ['build plain', 'measure plain']
    left, rows = play({})
    assert left == 0
    # What failed comes last.
    assert ends(rows, 'ended') == ['build plain', *ALL[2:], 'measure served']


def test_a_run_that_is_stopped_leaves_no_process_behind(play: Play, tmp_path: Path) -> None:
    def stop(run: runs.Run) -> None:
        while not (tmp_path / 'pid').exists():
            time.sleep(0.01)
        run.stop()

    # Without its model nothing is tried.
    left, rows = play({'build plain': 'fail'})
    assert (left, {row['job'] for row in rows}) == (len(ALL), {'build'})
    left, rows = play({'measure served': 'hang'}, meanwhile=stop)
    assert left == len(ALL) - 1
    assert ends(rows, 'failed') == ['measure served']
    assert not is_alive(tmp_path / 'pid')


def test_a_tiny_model_is_measured_to_the_end_and_makes_the_same_in_a_fresh_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, cache = tmp_path / 'out', tmp_path / 'cache'
    out.mkdir()
    monkeypatch.setattr(signal, 'signal', lambda *_: None)
    for name in ('MODEL_DIR', 'COMPILE', 'COMPILE_CACHE_DIR'):
        monkeypatch.setenv(name, '')
    # In this process, which has PyTorch already, and then in one of its own.
    for job, variant in (('build', 'plain'), ('measure', 'plain'), ('measure', 'served')):
        run_job('smoke', job, 'sdxl', variant, out, cache)
    again = ['--variants', 'served', '--jobs', 'fresh', '--out', str(out), '--cache', str(cache)]
    assert main(['run', 'smoke', '--models', 'sdxl', *again]) == 0

    rows = [row for row in read_rows(out / 'smoke.jsonl') if row['kind'] == 'value']
    for name, adapted in (('plain', 'wrapped'), ('served', 'merged')):
        values = [row for row in rows if row['variant'] == name]
        found = {(row['what'], row['adapter']) for row in values}
        assert found >= {('one image', 'none'), ('one image', adapted), ('adapter, none again', adapted)}
        assert found >= {(f'phase: {phase}', 'none') for phase in ('prepare', 'denoise', 'decode')}
        assert found >= {(what, 'none') for what in ('from a reference', 'exact product', 'four outputs')}
        assert ('one image', 'merged') in found
        with_it = {row['value'] for row in values if (row['what'], row['adapter']) == ('bytes', adapted)}
        without = {row['value'] for row in values if (row['what'], row['adapter']) == ('bytes', 'none')}
        assert (len(with_it), len(without), with_it & without) == (1, 1, set())
    assert 'say nothing about a card' in make_tables([out])


@pytest.mark.parametrize(
    ('model', 'distilled', 'steps', 'passes'),
    [('flux2-klein', True, 4, 1), ('flux2-klein', False, 9, 2), ('z-image-turbo', True, 8, 1)],
)
def test_plain_diffusers_takes_the_steps_and_passes_that_the_engine_takes(
    tmp_path: Path, model: str, distilled: bool, steps: int, passes: int
) -> None:
    folder = tmp_path / 'model'
    build_model(model, folder, replace(PLANS['smoke'], size='tiny'))
    index = folder / 'model_index.json'
    index.write_text(json.dumps({**json.loads(index.read_text()), 'is_distilled': distilled}))
    backend = DiffusersBackend(folder, bfloat16=False)
    backend.load()
    images: list[int] = []
    backend.pipe.transformer.register_forward_hook(
        lambda _, inputs, __: images.append(len(inputs[0] if inputs else 'x'))
    )
    backend.generate(ImageSpec('a boat', 'fog', 9, 5.0, 64, 64, (), 'reference', False, {}), 0)
    assert backend.pipe.num_timesteps == steps
    assert sum(images) == steps * passes


def test_a_load_of_callers_is_served_with_adapters_and_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('ENGINE', 'tests.fake_engine:FakeEngine')
    monkeypatch.chdir(ROOT)
    file = tmp_path / 'adapter.safetensors'
    file.write_bytes(safetensors())
    rows = Rows(tmp_path / 'rows.jsonl', {})
    plan = Plan(('sdxl',), side=512, steps=1, requests=16)
    serving = plan, [Adapter('', file, 1.0)], 'a sea', rows, 'merged'
    asyncio.run(serve_callers(*serving))  # type: ignore[arg-type]
    found = {(row['what'], row['adapter']): row for row in read_rows(rows.file)}
    for state in ('none', 'merged'):
        samples = found['8 callers: images a minute', state]['samples']
        assert len(samples) == 16
        p50, p95 = (found[f'8 callers: {name}', state]['value'] for name in ('p50', 'p95'))
        assert min(samples) <= p50 <= p95 <= max(samples)
    file.write_bytes(b'no adapter')
    with pytest.raises(RuntimeError, match='adapter_unavailable'):
        asyncio.run(serve_callers(*serving))  # type: ignore[arg-type]


def test_the_gpus_time_counts_once_where_kernels_overlap() -> None:
    assert clock.covered([(5, 9), (0, 2), (1, 3), (6, 7)]) == 7
    assert clock.covered([]) == 0


def test_the_phases_of_an_image_are_its_whole_time_and_leave_the_pipeline_as_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Part:
        def set_timesteps(self) -> None: ...

        def decode(self) -> None: ...

    pipe = SimpleNamespace(scheduler=Part(), vae=Part())
    times = iter(range(9))
    monkeypatch.setattr(clock, 'now_seconds', lambda: next(times))

    def generate() -> None:
        # Only the first time that the scheduler gets its steps counts.
        for _ in range(2):
            pipe.scheduler.set_timesteps()
        pipe.vae.decode()

    assert clock.measure_phases(pipe, generate) == {'prepare': 1, 'denoise': 2, 'decode': 1}
    assert (vars(pipe.vae), vars(pipe.scheduler)) == ({}, {})
