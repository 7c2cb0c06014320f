"""The benchmark compares like with like, and its tables say what was measured. Times are not tested."""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

import pytest
from PIL import Image

from bench.report import PLAIN, Report
from bench.rounds import Cost, Measurements, Plan, measure
from model_server.__main__ import PIPELINES
from model_server.pipelines.engine import Adapter, Prepared

from .fake_engine import FakeEngine

ADAPTERS = [Adapter(name, Path(name), 1.0) for name in ('a', 'b', 'c')]
MEGABYTE = 10**6


class Recorded:
    """A contestant that takes no time, and writes down when it had to do something."""

    def __init__(self, name: str, calls: list[str]) -> None:
        self.name = name
        self.calls = calls

    def load(self) -> Cost:
        return self._did('load')

    def paint(self, side: int, outputs: int, seed: int) -> Cost:
        return self._did(f'paint {outputs}')

    def use(self, adapter: Adapter | None) -> Cost:
        return self._did(f'use {adapter.digest if adapter else None}')

    def unload(self) -> None:
        self._did('unload')

    def _did(self, what: str) -> Cost:
        self.calls.append(f'{self.name}: {what}')
        return Cost(1.0, None)


def recorded(fit: bool, repeats: int = 3) -> tuple[list[str], Measurements]:
    """What two contestants were asked for, in that order."""
    calls: list[str] = []
    contestants = [Recorded('A', calls), Recorded('B', calls)]
    done = Measurements(lambda _: None)
    measure(contestants, Plan([64], repeats, ADAPTERS), done, lambda: fit)
    return calls, done


def test_variants_take_turns_and_each_comes_first_as_often() -> None:
    calls, done = recorded(fit=True)
    single = [call[0] for call in calls if call.endswith('paint 1')]
    assert single[:8] == ['A', 'B', 'A', 'B', 'B', 'A', 'A', 'B']
    assert done.took_turns
    assert done.shifts == []


def test_without_room_for_all_only_one_is_in_memory() -> None:
    calls, done = recorded(fit=False)
    assert [call for call in calls if call.endswith('load')] == [
        'A: load',
        'A: unload',
        'B: load',
        'B: unload',
    ]
    assert [call[0] for call in calls] == sorted(call[0] for call in calls)
    assert [name for name, *_ in done.shifts] == ['A', 'B']
    assert not done.took_turns


def test_everything_is_measured_as_often_as_planned() -> None:
    _, done = recorded(fit=True, repeats=5)
    assert {
        row: {name: len(costs) for name, costs in columns.items()} for row, columns in done.rows.items()
    } == {
        row: {'A': times, 'B': times}
        for row, times in {
            'load and warm up': 1,
            'first image, 64²': 1,
            'one image, 64²': 5,
            'four images, 64²': 3,
            'use the first adapter of all': 1,
            'first image of all with an adapter, 64²': 1,
            'one image with an adapter, 64²': 3,
            'use none again': 3,
            'use an adapter never seen': 2,
            'first image with a new adapter, 64²': 2,
            'use an adapter seen before': 2,
        }.items()
    }


def test_an_adapter_is_new_once_and_known_after_another_one() -> None:
    calls, _ = recorded(fit=True)
    used = [call.removeprefix('A: use ') for call in calls if call.startswith('A: use')]
    assert used == ['a', 'None', 'b', 'None', 'a', 'None', 'c', 'None', 'b', 'None']


def report(costs: dict[str, dict[str, Sequence[Cost]]]) -> Report:
    return Report({'card': 'none'}, [PLAIN, 'engine'], costs, ['A note.'])


def test_the_table_has_medians_peaks_and_ratios_to_plain_diffusers() -> None:
    plain = [Cost(seconds, peak * MEGABYTE) for seconds, peak in ((2.0, 1000), (9.0, 4000), (4.0, 3000))]
    text = report({'one image': {PLAIN: plain, 'engine': [Cost(3.0, 1000 * MEGABYTE)]}}).as_text()
    assert text.split('\n') == [
        '- card: none',
        '',
        '| seconds (median) | plain diffusers | engine |',
        '| --- | --- | --- |',
        '| one image | 4.000 (1.00x) | 3.000 (0.75x) |',
        '',
        '| peak GPU memory, GB | plain diffusers | engine |',
        '| --- | --- | --- |',
        '| one image | 4.00 (1.00x) | 1.00 (0.25x) |',
        '',
        '- A note.',
    ]


def test_what_was_not_measured_is_none_and_not_zero() -> None:
    text = report({'one image': {'engine': [Cost(3.0, None)]}}).as_text()
    assert '| one image | none | 3.000 |' in text
    assert 'peak' not in text


def run(monkeypatch: pytest.MonkeyPatch, folder: Path, *options: str, engine: str = 'FakeEngine') -> int:
    """The whole benchmark with tiny sizes; its JSON is in `folder`."""
    pytest.importorskip('diffusers')
    pytest.importorskip('peft')
    from bench.__main__ import main

    monkeypatch.setitem(PIPELINES, 'sdxl', f'{__package__}.{engine}')
    tiny = ['--size', 'tiny', '--steps', '1', '--sides', '64', '--repeats', '1']
    return main(['--pipeline', 'sdxl', *tiny, '--out', str(folder / 'out.json'), *options])


def test_a_run_on_a_cpu_measures_everything_and_warns_that_it_is_no_gpu(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip('diffusers')
    from random_models import build

    model = tmp_path / 'my-model'
    build('sdxl', model)
    before = {path: path.stat().st_mtime_ns for path in model.rglob('*')}
    assert run(monkeypatch, tmp_path, '--model-dir', str(model), engine='fake_engine:FakeEngine') == 0
    assert {path: path.stat().st_mtime_ns for path in model.rglob('*')} == before
    text = capsys.readouterr().out
    found = json.loads((tmp_path / 'out.json').read_text())
    assert 'these numbers say nothing about a GPU' in text
    assert found['setting']['pipeline'] == 'sdxl, my-model'
    assert found['variants'] == [PLAIN, 'engine']
    assert found['error'] is None
    _, expected = recorded(fit=True, repeats=1)
    assert list(found['costs']) == list(expected.rows)
    for row, columns in found['costs'].items():
        assert f'\n| {row} | ' in text
        assert {name: len(costs) for name, costs in columns.items()} == {
            name: len(expected.rows[row][letter]) for name, letter in ((PLAIN, 'A'), ('engine', 'B'))
        }
        assert found['median_seconds'][row].keys() == found['seconds_ratio'][row].keys() == columns.keys()


@pytest.mark.parametrize(('distilled', 'steps'), [(True, 4), (False, 5)])
def test_plain_diffusers_takes_the_steps_that_the_engine_takes(
    tmp_path: Path, distilled: bool, steps: int
) -> None:
    pytest.importorskip('diffusers')
    from bench.variants import PlainVariant, Task
    from random_models import build

    build('flux2-klein', tmp_path)
    index = tmp_path / 'model_index.json'
    index.write_text(json.dumps({**json.loads(index.read_text()), 'is_distilled': distilled}))
    variant = PlainVariant(PLAIN, tmp_path, Task('a boat', 'fog', 5, 5.0))
    variant.load()
    variant.paint(64, 1, 0)
    assert variant._pipeline.num_timesteps == steps


def test_what_was_measured_before_an_error_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv('FAKE_WARM', 'fail')
    assert run(monkeypatch, tmp_path, engine='fake_engine:FakeEngine') == 1
    found = json.loads((tmp_path / 'out.json').read_text())
    assert found['error'] == 'RuntimeError: There is no such model.'
    assert list(found['costs']['load and warm up']) == [PLAIN]
    assert 'It ended early. RuntimeError: There is no such model.' in capsys.readouterr().out


class CompileEngine(FakeEngine):
    """Writes down how it was asked to compile, and paints black."""

    asked: ClassVar[list[str | None]] = []

    def __init__(self, model_dir: Path) -> None:
        super().__init__(model_dir)
        self.asked.append(os.environ.get('COMPILE'))

    def paint(self, prepared: Prepared, seed: int, on_step: Callable[[int], None]) -> Image.Image:
        return Image.new('RGB', super().paint(prepared, seed, on_step).size)


def test_only_the_compiled_variant_compiles_and_black_images_are_told_of(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(CompileEngine, 'asked', [])
    monkeypatch.setenv('COMPILE', '1')
    options = ['--apart', '--variants', 'compiled', 'engine']
    assert run(monkeypatch, tmp_path, *options, engine='test_bench:CompileEngine') == 0
    found = json.loads((tmp_path / 'out.json').read_text())
    assert CompileEngine.asked == ['', '1']
    assert found['variants'] == ['engine', 'engine, compiled']
    # 1 first image, 4 to warm up, 1 and 4 that count, and 2 with each of 3 adapters.
    assert sum('painted 16 images of one color' in note for note in found['notes']) == 2


def test_plain_diffusers_paints_with_the_adapter_that_it_uses(tmp_path: Path) -> None:
    pytest.importorskip('diffusers')
    pytest.importorskip('peft')
    from bench.variants import PlainVariant, Task, read_adapter
    from random_models import build, build_lora

    build('sdxl', tmp_path / 'model')
    adapters = []
    for seed in (1, 2):
        build_lora('sdxl', tmp_path / 'model', tmp_path / f'{seed}.safetensors', seed=seed)
        adapters.append(read_adapter(tmp_path / f'{seed}.safetensors'))
    plain = PlainVariant('plain', tmp_path / 'model', Task('a sea', 'fog', 1, 5.0))
    plain.load()
    images = []
    for adapter in (adapters[0], None, adapters[1], adapters[0]):
        plain.use(adapter)
        images.append(plain.images(64, 1, seed=0)[0].tobytes())
    assert images[3] == images[0]
    assert len(set(images)) == 3


def test_a_run_without_steps_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match='2'):
        run(monkeypatch, tmp_path, '--steps', '0')


def test_what_a_variant_sets_for_the_process_holds_in_its_own_turns_only() -> None:
    torch = pytest.importorskip('torch')
    from bench.turn import Turn

    torch.use_deterministic_algorithms(False)
    selfish, other = Turn({'COMPILE': '1'}), Turn({'COMPILE': ''})
    seen: list[tuple[object, ...]] = []

    def change() -> None:
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.backends.cudnn.benchmark = True
        os.environ['ONLY_HERE'] = '1'

    def look() -> None:
        variables = [os.environ.get(name) for name in ('COMPILE', 'ONLY_HERE')]
        flags = [torch.are_deterministic_algorithms_enabled(), torch.backends.cudnn.benchmark]
        seen.append((*variables, *flags))

    selfish.measure(change)
    other.measure(look)
    selfish.measure(look)
    assert seen == [('', None, False, False), ('1', '1', True, True)]
    assert 'ONLY_HERE' not in os.environ
    assert not torch.are_deterministic_algorithms_enabled()


class FakeMemory:
    """A GPU's memory, in bytes."""

    taken = 0
    peak = 0

    def take(self, size: int) -> None:
        """Or gives back, if less than 0."""
        self.taken += size
        self.peak = max(self.peak, self.taken)

    def reset(self) -> None:
        self.peak = self.taken


def test_a_variants_peak_counts_its_own_memory_only(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip('torch')
    from bench.turn import Turn

    memory = FakeMemory()
    monkeypatch.setattr(torch.cuda, 'is_available', lambda: True)
    monkeypatch.setattr(torch.cuda, 'synchronize', lambda: None)
    monkeypatch.setattr(torch.cuda, 'reset_peak_memory_stats', memory.reset)
    monkeypatch.setattr(torch.cuda, 'memory_allocated', lambda: memory.taken)
    monkeypatch.setattr(torch.cuda, 'max_memory_allocated', lambda: memory.peak)
    one, other = Turn(), Turn()

    def paint(size: int) -> None:
        memory.take(size)
        memory.take(-size)

    assert one.measure(lambda: memory.take(1000)).peak_bytes == 1000
    assert other.measure(lambda: memory.take(300)).peak_bytes == 300
    assert one.measure(lambda: paint(50)).peak_bytes == 1050
    assert other.measure(lambda: paint(7)).peak_bytes == 307
    assert other.measure(lambda: memory.take(-100)).peak_bytes == 300
    assert (one.held_bytes, other.held_bytes) == (1000, 200)
