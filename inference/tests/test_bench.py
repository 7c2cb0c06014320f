"""The bench: rows outlive who writes them, its command runs to the end, and measurements are real."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from PIL import Image

import bench.__main__ as command
from bench import operations
from bench.measuring import Measuring
from bench.models import FULL, build_model
from bench.rows import Row, Rows, read_rows
from bench.subjects import Plain
from bench.table import make_tables
from model_server.pipelines.engine import ImageSpec
from model_server.pipelines.keys_and_values import KeysAndValues

ROOT = Path(__file__).parent.parent


def test_rows_outlive_a_killed_writer_and_half_a_line_costs_no_other(tmp_path: Path) -> None:
    file = tmp_path / 'rows.jsonl'
    writer = f"""
from bench.rows import Rows
from pathlib import Path
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


#: Of the tables: lines that say something, each in its own way.
TOLD = """- a card; Python 3; commit abc
|  | plain diffusers | engine |
| one image | 3.000 s | 2.000 s (0.67x) |
| one image, with an adapter | 5.000 s | 2.100 s, **one color** (0.42x) |
| GPU at work | - | 91% |
| one evaluation, one image, graph | - | 35.00 ms |
| ready after that, second process | - | 59.000 s |
| engine: one image | 2.000 s | 2.000 s | met |
| engine: one image, with an adapter | 2.100 s | 2.000 s | **missed** |
| engine: four outputs |  |  | not measured |
| engine: bytes of one evaluation, one image, as a graph |  | equal | met |
| engine: bytes of one image, second process |  | equal | **missed** |
| engine: bytes of one image after a swap |  | equal | not measured |
- sdxl, measure, engine, exact product: ValueError: no
- sdxl, fresh, the process: killed, it took longer than 9 s"""


def test_the_tables_have_ratios_to_plain_diffusers_and_say_which_goals_were_met(tmp_path: Path) -> None:
    rows = Rows(tmp_path / 'sdxl.jsonl', {'model': 'sdxl', 'size': 'full', 'adapter': 'none'})
    rows.add('machine', device='a card', on='card', versions='Python 3', commit='abc')

    def value(what: str, number: float, unit: str = 's', **more: Any) -> None:
        rows.value(what, number, unit, **{'variant': 'engine', 'job': 'measure', **more})

    for seconds in (9.0, 3.0):
        value('one image', seconds, variant='plain')
    value('one image', 2.0, digests=['a', 'a'], blank=False)
    value('one image', 5.0, variant='plain', adapter='wrapped')
    value('one image', 2.1, adapter='merged', digests=['b'], blank=True)
    value('GPU at work', 0.913, 'share')
    for way, took in (('eager', 60.0), ('graph', 35.0)):
        value(f'one evaluation, one image, {way}', took, 'ms', digest='c')
    value('ready after that', 59.0, job='fresh')
    value('one image', 2.0, job='fresh', digests=['d'], blank=False)
    rows.add('failed', job='measure', variant='engine', what='exact product', reason='ValueError: no')
    rows.add('failed', job='fresh', what='the process', reason='killed, it took longer than 9 s', lines=[])
    assert set(TOLD.splitlines()) <= set(make_tables([tmp_path]).splitlines())


def test_a_rehearsal_ends_and_its_bytes_are_equal_in_a_fresh_process(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signal, 'signal', lambda *_: None)
    run = ['run', '--out', str(tmp_path / 'out'), '--cache', str(tmp_path), '--minutes', '60']
    assert command.main(run) == 0, capsys.readouterr().out
    rows = read_rows(tmp_path / 'out' / 'sdxl.jsonl')
    assert [row for row in rows if row['kind'] == 'failed'] == []
    assert [row['job'] for row in rows if row['kind'] == 'ended'] == ['measure', 'fresh']
    values = [row for row in rows if row['kind'] == 'value']
    ways = (
        'one evaluation, one image, eager',
        'one evaluation, four, graph',
        'one evaluation, four, starting an `add_`',
    )
    for variant, found in (
        ('plain', {*ways, 'one image', 'four outputs', 'GPU at work'}),
        ('flash', set(ways)),
        (
            'engine',
            {*ways, 'one image', 'four outputs', 'adapter, another', 'exact product'},
        ),
    ):
        assert {row['what'] for row in values if row['variant'] == variant} >= found
    adapted = {(row['variant'], row['adapter']) for row in values if row['what'] == 'one image'}
    assert adapted >= {('plain', 'wrapped'), ('plain', 'merged'), ('engine', 'merged'), ('engine', 'none')}
    tokens = [row['value'] for row in values if row['what'] == 'tokens of the prompt']
    assert len(tokens) == 2
    # CLIP reads so many at a time.
    assert max(tokens) <= 77
    pictures = [row for row in values if row['variant'] == 'engine' and 'digests' in row]
    first, with_it = (
        {digest for row in pictures if row['adapter'] == each for digest in row['digests']}
        for each in ('none', 'merged')
    )
    assert (len(first), len(with_it), first & with_it) == (1, 1, set())
    printed = capsys.readouterr().out
    assert 'say nothing about a card' in printed
    equal = [line for line in printed.splitlines() if '| equal |' in line]
    assert len(equal) == 9
    assert all(line.endswith('| met |') for line in equal)


# A process that stands for `python -m bench job`.
FAKE = """
import subprocess, sys, time
from pathlib import Path
from bench.rows import Rows
out = Path(sys.argv[sys.argv.index('--out') + 1])
Rows(out / 'sdxl.jsonl', {'job': sys.argv[1], 'model': 'sdxl'}).add('machine', on='card')
if sys.argv[1] == 'fresh':
    print('first'); sys.exit('it broke')
below = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])
(out / 'pid').write_text(str(below.pid)); time.sleep(600)
"""


def test_a_process_that_takes_too_long_is_killed_with_all_it_started_and_the_next_one_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / 'fake.py'
    fake.write_text(FAKE)
    monkeypatch.setattr(command, 'COMMAND', ('-c', f'exec(open({str(fake)!r}).read())'))
    monkeypatch.setattr(command, 'make_tables', lambda _: '')
    monkeypatch.setattr(signal, 'signal', lambda *_: None)

    class Impatient(subprocess.Popen[bytes]):
        """The time of the first one is over once it has started another one."""

        def wait(self, timeout: float | None = None) -> int:
            number = tmp_path / 'pid'
            while timeout and 'measure' in self.args:  # type: ignore[operator]
                if number.exists() and number.read_text():
                    raise subprocess.TimeoutExpired(self.args, timeout)
                time.sleep(0.01)
            return super().wait(timeout)

    monkeypatch.setattr(subprocess, 'Popen', Impatient)
    assert command.main(['run', '--out', str(tmp_path), '--cache', str(tmp_path)]) == 1
    # What it measured before is kept.
    machine, killed, fresh, failed = read_rows(tmp_path / 'sdxl.jsonl')
    assert [machine['job'], fresh['job']] == ['measure', 'fresh']
    assert 'it took longer than' in killed['reason']
    assert (failed['reason'], failed['lines']) == ('exit status 1', ['first', 'it broke'])
    state = Path('/proc') / (tmp_path / 'pid').read_text() / 'stat'
    # One that nobody has waited for yet has ended, too.
    while state.exists() and state.read_text().split()[2] != 'Z':
        time.sleep(0.1)


@pytest.mark.parametrize(
    ('color', 'seconds', 'reason'),
    [('black', 1, 'blank'), ('noise', 9, '9.0 s, plain: 2.0 s'), ('noise', 5, None)],
)
def test_an_engine_whose_first_picture_is_blank_or_takes_too_long_is_measured_no_further(
    color: str, seconds: float, reason: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, seconds, 0.0, 2.0])
    monkeypatch.setattr('bench.timing.now_seconds', lambda: next(clock))
    image = Image.effect_noise((8, 8), 50) if color == 'noise' else Image.new('RGB', (8, 8))
    subject: Any = SimpleNamespace(
        name='engine', modes=SimpleNamespace(apply=lambda: None), generate=lambda *_: [image]
    )
    rows = Rows(tmp_path / 'rows.jsonl', {})
    measuring = Measuring(FULL, subject, [None, None], rows)  # type: ignore[list-item]
    assert measuring.is_good(subject) == (reason is None)
    failed: list[Row] = [row for row in read_rows(rows.file) if row['kind'] == 'failed']
    assert [row['reason'] for row in failed] == ([] if reason is None else [reason])


@pytest.mark.parametrize(
    ('model', 'distilled', 'steps', 'passes'),
    [('flux2-klein', True, 4, 1), ('flux2-klein', False, 9, 2), ('z-image-turbo', True, 8, 1)],
)
def test_plain_diffusers_takes_the_steps_and_passes_that_the_engine_takes(
    tmp_path: Path, model: str, distilled: bool, steps: int, passes: int
) -> None:
    folder = build_model(model, tmp_path, 'tiny')
    index = folder / 'model_index.json'
    index.write_text(json.dumps({**json.loads(index.read_text()), 'is_distilled': distilled}))
    plain = Plain(folder)
    plain.load()
    images: list[int] = []
    plain.denoiser.register_forward_hook(
        lambda _, inputs, __: images.append(len(inputs[0] if inputs else 'x'))
    )
    with torch.no_grad():
        plain.generate(ImageSpec('a boat', 'fog', 9, 5.0, 64, 64, (), 'reference', False, {}), 0)
    assert plain.pipe.num_timesteps == steps
    assert sum(images) == steps * passes


def test_python_starts_no_more_operations_for_the_engine_and_a_handful_for_a_replay(
    full_model: Callable[[Any], Any],
) -> None:
    """Of all of SDXL's UNet. `python -m bench operations` counts those of compiled code, too."""
    engine = operations.make_unet()
    # With few channels, and all else.
    assert [*map(type, engine.modules())] == [*map(type, full_model('sdxl').unet.modules())]
    plain = operations.count(engine)
    KeysAndValues(engine)
    # Two products for each of SDXL's 70 layers are computed once for a picture.
    assert operations.count(engine) == plain - 2 * 70
    assert operations.count(operations.add_graphs(engine), before=2) <= 10
