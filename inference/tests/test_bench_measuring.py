"""The bench measures a tiny model to the end, with the real engine and the real server."""

import json
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench.plans import PLANS, Plan
from bench.rows import Rows, read_rows
from bench.table import make_tables

from .support import safetensors

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope='module')
def measured_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of what the bench found with a tiny model; beside it are the models."""
    from bench.__main__ import main
    from bench.measuring import run_job

    folder = tmp_path_factory.mktemp('bench')
    out, cache = folder / 'out', folder / 'cache'
    out.mkdir()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        # In this process, which has PyTorch already.
        with pytest.MonkeyPatch.context() as patched:
            for name in ('MODEL_DIR', 'COMPILE', 'COMPILE_CACHE_DIR'):
                patched.setenv(name, '')
            for job, variant in (('build', 'plain'), ('measure', 'plain'), ('measure', 'served')):
                run_job('smoke', job, 'sdxl', variant, out, cache)
        # In a process of its own.
        places = ['--out', str(out), '--cache', str(cache)]
        again = ['--variants', 'served', '--jobs', 'fresh']
        assert main(['run', 'smoke', '--models', 'sdxl', *places, *again]) == 0
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return folder / 'out'


def test_a_tiny_model_is_measured_to_the_end_and_makes_the_same_in_a_fresh_process(
    measured_model: Path,
) -> None:
    rows = read_rows(measured_model / 'smoke.jsonl')
    for name, adapted in (('plain', 'wrapped'), ('served', 'merged')):
        values = [row for row in rows if row['kind'] == 'value' and row['variant'] == name]
        found = {(row['what'], row['adapter']) for row in values}
        assert found >= {('one image', 'none'), ('one image', adapted), ('adapter, none again', adapted)}
        assert found >= {(f'phase: {phase}', 'none') for phase in ('prepare', 'denoise', 'decode')}
        assert found >= {(what, 'none') for what in ('from a reference', 'exact product', 'four outputs')}
        hashes = [
            {row['value'] for row in values if row['what'] == 'bytes' and row['adapter'] == adapter}
            for adapter in ('none', adapted)
        ]
        assert [len(each) for each in hashes] == [1, 1]
        assert hashes[0] != hashes[1]
        assert ('one image', 'merged') in found
    text = make_tables([measured_model])
    assert 'say nothing about a card' in text
    assert 'as served: same when repeated, after a swap, in a fresh process' in text


@pytest.mark.parametrize(
    ('model', 'distilled', 'steps', 'passes'),
    [('flux2-klein', True, 4, 1), ('flux2-klein', False, 9, 2), ('z-image-turbo', True, 8, 1)],
)
def test_plain_diffusers_takes_the_steps_and_passes_that_the_engine_takes(
    tmp_path: Path, model: str, distilled: bool, steps: int, passes: int
) -> None:
    from bench.backends import DiffusersBackend
    from bench.measuring import build_model
    from model_server.pipelines.engine import ImageSpec

    folder = tmp_path / 'model'
    build_model(model, folder, replace(PLANS['smoke'], size='tiny'))
    index = folder / 'model_index.json'
    index.write_text(json.dumps({**json.loads(index.read_text()), 'is_distilled': distilled}))
    backend = DiffusersBackend(folder, bfloat16=False)
    backend.load()
    images = 0

    def count(_: Any, inputs: Any, __: Any) -> None:
        nonlocal images
        images += len(inputs[0] if inputs else 'x')

    backend.pipe.transformer.register_forward_hook(count)
    backend.generate(ImageSpec('a boat', 'fog', 9, 5.0, 64, 64, (), 'reference', False, {}), 0)
    assert backend.pipe.num_timesteps == steps
    assert images == steps * passes


def test_a_load_of_callers_is_served_with_adapters_and_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bench.serving import serve_callers
    from model_server.pipelines.engine import Adapter

    monkeypatch.setenv('ENGINE', 'tests.fake_engine:FakeEngine')
    monkeypatch.chdir(ROOT)
    file = tmp_path / 'adapter.safetensors'
    file.write_bytes(safetensors())
    rows = Rows(tmp_path / 'rows.jsonl', {})
    plan = Plan(('sdxl',), side=512, steps=1, requests=16)
    serve_callers(plan, [Adapter('', file, 1.0)], 'a sea', rows, 'merged')
    found = {(row['what'], row['adapter']): row for row in read_rows(rows.file)}
    for state in ('none', 'merged'):
        samples = found['8 callers: images a minute', state]['samples']
        assert len(samples) == 16
        assert min(samples) <= found['8 callers: p50', state]['value'] <= max(samples)
        assert found['8 callers: p50', state]['value'] <= found['8 callers: p95', state]['value']
    file.write_bytes(b'no adapter')
    with pytest.raises(RuntimeError, match='adapter_unavailable'):
        serve_callers(plan, [Adapter('', file, 1.0)], 'a sea', rows, 'merged')


def test_the_gpus_time_counts_once_where_kernels_overlap() -> None:
    from bench.clock import covered

    assert covered([(5, 9), (0, 2), (1, 3), (6, 7)]) == 7
    assert covered([]) == 0


def test_the_phases_of_an_image_are_its_whole_time_and_leave_the_pipeline_as_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from bench import clock

    now = 0.0
    monkeypatch.setattr(clock, 'now_seconds', lambda: now)

    def work(seconds: float) -> None:
        nonlocal now
        now += seconds

    class Part:
        def set_timesteps(self) -> None:
            work(5)

        def decode(self) -> None:
            work(10)

    class Pipe:
        scheduler, vae = Part(), Part()

    def generate() -> None:
        work(2)
        Pipe.scheduler.set_timesteps()
        Pipe.scheduler.set_timesteps()
        Pipe.vae.decode()

    phases = clock.measure_phases(Pipe, generate)
    assert list(phases.items()) == [('prepare', 2), ('denoise', 10), ('decode', 10)]
    assert 'decode' not in vars(Pipe.vae)
