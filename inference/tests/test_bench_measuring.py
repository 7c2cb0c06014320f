"""The bench measures a tiny model to the end, with the real engine and the real server."""

import json
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench.plans import PLANS, Plan
from bench.rows import Rows, read_rows
from bench.table import make_tables

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope='module')
def measured_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of what the bench found with a tiny model; beside it are the models."""
    pytest.importorskip('diffusers')
    pytest.importorskip('peft')
    from bench.__main__ import main
    from bench.job import run_job

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
        again = ['--variants', 'served', 'graphs', '--jobs', 'fresh']
        assert main(['run', 'smoke', '--models', 'sdxl', *places, *again]) == 0
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return folder / 'out'


def test_a_tiny_model_is_measured_to_the_end_and_paints_the_same_in_a_fresh_process(
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
    assert {row['variant'] for row in rows if row['kind'] == 'skipped'} == {'graphs'}
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
    pytest.importorskip('diffusers')
    from bench.models import build_model
    from bench.painters import PlainPainter
    from model_server.pipelines.engine import ImageSpec

    folder = tmp_path / 'model'
    build_model(model, folder, replace(PLANS['smoke'], size='tiny'))
    index = folder / 'model_index.json'
    index.write_text(json.dumps({**json.loads(index.read_text()), 'is_distilled': distilled}))
    painter = PlainPainter(folder, bfloat16=False)
    painter.load()
    pictures = 0

    def count(_: Any, inputs: Any, __: Any) -> None:
        nonlocal pictures
        pictures += len(inputs[0] if inputs else 'x')

    painter.pipe.transformer.register_forward_hook(count)
    painter.paint(ImageSpec('a boat', 'fog', 9, 5.0, 64, 64, (), 'reference', False, {}), 0)
    assert painter.pipe.num_timesteps == steps
    assert pictures == steps * passes


def test_a_load_of_callers_is_served_with_adapters_and_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip('torch')
    from bench.serving import serve_callers
    from model_server.pipelines.engine import Adapter

    monkeypatch.setenv('ENGINE', 'tests.fake_engine:FakeEngine')
    monkeypatch.chdir(ROOT)
    file = tmp_path / 'adapter.safetensors'
    file.write_bytes(lora_file())
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


def lora_file() -> bytes:
    """A whole file of safetensors with one number."""
    header = b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
    return len(header).to_bytes(8, 'little') + header + bytes(4)


def test_a_graph_is_recorded_once_for_each_kind_of_inputs_and_computes_with_new_numbers() -> None:
    torch = pytest.importorskip('torch')
    from bench.graphs import Graphed

    recorded = []

    def record(work: Any) -> Any:
        result = work()
        recorded.append(result)
        return result, lambda: result[0].copy_(work()[0])

    def forward(values: Any, factor: float = 1.0, *, more: dict[str, Any]) -> Any:
        return (values[0] * factor + more['bias'],)

    graphed = Graphed(forward, record)
    one = graphed([torch.ones(2)], more={'bias': torch.zeros(2)})[0]
    two = graphed([torch.full((2,), 5.0)], more={'bias': torch.ones(2)})[0]
    assert (one.tolist(), two.tolist(), len(recorded)) == ([1, 1], [6, 6], 1)
    assert graphed([torch.ones(2)], 3.0, more={'bias': torch.zeros(2)})[0].tolist() == [3, 3]
    assert graphed([torch.ones(3)], more={'bias': torch.zeros(3)})[0].tolist() == [1, 1, 1]
    assert len(recorded) == 3
    graphed.forget()
    graphed([torch.ones(3)], more={'bias': torch.zeros(3)})
    assert len(recorded) == 4


def test_the_gpus_time_counts_once_where_kernels_overlap() -> None:
    pytest.importorskip('torch')
    from bench.clock import covered

    assert covered([(5, 9), (0, 2), (1, 3), (6, 7)]) == 7
    assert covered([]) == 0


def test_the_phases_of_an_image_are_its_whole_time_and_leave_the_pipeline_as_it_was() -> None:
    pytest.importorskip('torch')
    from bench.clock import measure_phases

    class Part:
        def __init__(self, seconds: float) -> None:
            self.seconds = seconds

        def set_timesteps(self) -> None:
            time.sleep(self.seconds)

        decode = set_timesteps

    class Pipe:
        scheduler, vae = Part(0.05), Part(0.1)

    def paint() -> None:
        time.sleep(0.02)
        Pipe.scheduler.set_timesteps()
        Pipe.vae.decode()

    phases = measure_phases(Pipe, paint)
    assert list(phases) == ['prepare', 'denoise', 'decode']
    assert [round(seconds, 2) for seconds in phases.values()] == pytest.approx([0.02, 0.05, 0.1], abs=0.02)
    assert 'decode' not in vars(Pipe.vae)
