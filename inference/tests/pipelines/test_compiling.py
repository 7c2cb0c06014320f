"""Code is compiled while the model warms up, and never in a request."""

from collections.abc import Callable, Iterator
from itertools import product as product_of
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import torch
from torch._dynamo.utils import counters
from torch.profiler import ProfilerActivity, profile

from model_server.pipelines.compiling import CompileCache, compiling
from model_server.pipelines.keys_and_values import LONGEST, KeysAndValues
from model_server.pipelines.runtime import Runtime
from model_server.settings import SettingsError

from .conftest import SIDE, difference, in_type, open_engine, paint, tiny_unet, use, with_product

#: Seconds.
FOREVER = 86_400


@pytest.fixture(autouse=True)
def fresh_compiler() -> Iterator[None]:
    """Each test compiles anew, and leaves PyTorch as it was."""
    options = (
        (torch._inductor.config, 'deterministic'),
        (torch._dynamo.config, 'recompile_limit'),
        (torch._dynamo.config, 'specialize_float'),
        (torch.fx.experimental._config, 'use_duck_shape'),
    )
    before = [getattr(config, name) for config, name in options]
    torch.compiler.reset()
    counters.clear()
    yield
    torch.compiler.reset()
    torch.compiler.set_stance('default')
    for (config, name), value in zip(options, before, strict=True):
        setattr(config, name, value)


def graphs() -> int:
    """How many pieces of code were compiled."""
    return int(counters['stats']['unique_graphs'])


def test_a_card_compiles_and_a_cpu_only_where_it_is_asked_to(monkeypatch: pytest.MonkeyPatch) -> None:
    for gpus in (0, 1):
        monkeypatch.setattr(torch.cuda, 'is_available', lambda gpus=gpus: gpus > 0)
        monkeypatch.setattr(torch.cuda, 'device_count', lambda gpus=gpus: gpus)
        said = [Runtime.from_environment({'COMPILE': text}).compile for text in ('', '0', '1')]
        assert said == [gpus > 0, False, True]
        assert [Runtime.from_environment({'GRAPHS': text}).graphs for text in ('', '0')] == [gpus > 0, False]
    for name, text in (
        ('COMPILE', 'whole'),
        ('GRAPHS', '2'),
        ('ATTENTION', 'math'),
        ('COMPILE_SECONDS', '-1'),
    ):
        with pytest.raises(SettingsError, match=name):
            Runtime.from_environment({name: text})


@in_type('float32')
def test_inductors_code_paints_the_same_picture_and_nothing_is_compiled_in_a_request(
    engines: Callable[[str], Any],
    model_dirs: dict[str, Path],
    make_adapter: Any,
    monkeypatch: Any,
    tmp_path: Path,
) -> None:
    # Before the setting, or it would be compiled, too.
    eager = engines('z-image')
    monkeypatch.setenv('COMPILE', '1')
    monkeypatch.setenv('COMPILE_SECONDS', str(FOREVER))
    monkeypatch.setenv('COMPILE_CACHE_DIR', str(tmp_path))
    engine = open_engine(model_dirs['z-image'])
    named, _, pieces = engine.model_version.rpartition(' compiled-')
    assert named == eager.model_version
    assert int(pieces) == graphs() > 0
    assert len(list(tmp_path.glob('*.compiled'))) == 1

    # What would not be compiled any more raises an error here.
    torch.compiler.set_stance('fail_on_recompile')
    for adapter in (None, make_adapter(rank=8, scale=0.5)):
        for each in (engine, eager):
            use(each, adapter)
        for scale, width, mode in product_of((5.0, 1.0), (SIDE, 160), (None, 'reference', 'exact_product')):
            picture = with_product(mode, guidance_scale=scale, width=width)
            assert difference(paint(engine, picture), paint(eager, picture)) < 1


@pytest.fixture
def kind() -> str:
    """Whose adapters `make_adapter` makes."""
    return 'z-image'


@torch.no_grad()
def run(unet: Any, width: int, height: int, batch: int, tokens: int = 5) -> Any:
    latents = torch.linspace(-1, 1, batch * 4 * height * width).reshape(batch, 4, height, width)
    return unet(latents, 3, torch.ones(batch, tokens, 8)).sample


@pytest.fixture
def first_half(monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler's first half, which decides what has to be compiled."""
    monkeypatch.setattr(torch._dynamo, 'lookup_backend', lambda _: lambda graph, _inputs: graph.forward)


@pytest.mark.usefixtures('first_half')
def test_a_unets_parts_are_compiled_in_their_order_and_need_no_other_code_for_other_sizes() -> None:
    unet, plain = tiny_unet(), tiny_unet()
    KeysAndValues(unet)
    unet.to(memory_format=torch.channels_last)
    pieces = []
    with compiling(FOREVER) as compiler:
        for names in (('BasicTransformerBlock',), ('ResnetBlock2D',)):
            compiler.add(unet, names)
            run(unet, 8, 8, 2)
            pieces.append(compiler.pieces)
        for width, height in ((8, 8), (12, 8), (8, 12)):
            run(unet, width, height, 1)
    assert 0 < pieces[0] < pieces[1] < compiler.pieces == graphs()
    # With a prompt of which nothing is kept, blocks run as they are.
    long = LONGEST + 77
    assert torch.allclose(run(unet, 8, 8, 2, long), run(plain, 8, 8, 2, long), atol=1e-3)
    assert compiler.pieces == graphs()
    torch.compiler.set_stance('fail_on_recompile')
    # No larger ones: on a CPU, PyTorch has another convolution for large inputs.
    for (width, height), batch in product_of([(8, 8), (32, 8), (8, 20), (24, 22), (32, 32)], (1, 2)):
        close = torch.allclose(
            run(unet, width, height, batch, 10), run(plain, width, height, batch, 10), atol=1e-3
        )
        assert close, (width, height, batch)
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        run(unet, 8, 8, 1)
    # Nor does an evaluation read numbers from tensors.
    assert 'aten::item' not in {event.name for event in profiler.events()}


@pytest.mark.parametrize('reason', ['time', 'error'])
def test_what_is_not_compiled_in_time_or_at_all_runs_as_it_is(
    reason: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    unet, plain = tiny_unet(), tiny_unet()
    now, blocks, tried = 0.0, 0, 0

    def compile_blocks(graph: Any, _inputs: Any) -> Any:
        nonlocal tried
        tried += 1
        if blocks:
            raise RuntimeError('There is no compiler.')
        return graph.forward

    monkeypatch.setattr('time.monotonic', lambda: now)
    monkeypatch.setattr(torch._dynamo, 'lookup_backend', lambda _: compile_blocks)
    with compiling(60) as compiler:
        compiler.add(unet, ('BasicTransformerBlock',))
        run(unet, 8, 8, 2)
        blocks = compiler.pieces
        now = 61.0 if reason == 'time' else 0.0
        compiler.add(unet, ('ResnetBlock2D',))
        assert torch.allclose(run(unet, 8, 8, 2), run(plain, 8, 8, 2), atol=1e-5)
    assert (compiler.pieces, compiler.complete) == (blocks, False)
    # Nothing more is tried once it is over.
    assert (tried, graphs()) == (blocks + (reason == 'error'), blocks + 1)
    assert ('could not be compiled' in capsys.readouterr().out) == (reason == 'error')


class Scaled(torch.nn.Module):
    def forward(self, x: Any, times: int) -> Any:
        return x * times


def test_a_thread_of_its_own_compiles_as_many_variants_and_none_in_a_request() -> None:
    model = Scaled()
    model.compile(backend='eager', fullgraph=True, dynamic=False)
    found: list[Any] = []

    def run() -> None:
        with compiling(FOREVER):
            # More than PyTorch allows by itself.
            found.extend(float(model(torch.ones(1), times)) for times in range(2, 22))
        found.append(graphs())
        found.append(float(model(torch.ones(1), 50)))
        found.append(graphs())

    thread = Thread(target=run)
    thread.start()
    thread.join()
    assert found == [*map(float, range(2, 22)), 20, 50.0, 20]


def test_a_cache_is_found_by_all_that_its_code_depends_on_and_only_where_its_folder_is(
    tmp_path: Path,
) -> None:
    one, other = CompileCache(tmp_path, 'one'), CompileCache(tmp_path, 'other')
    assert not one.load()

    def compile_a_layer() -> None:
        torch.compiler.reset()
        with compiling(FOREVER) as compiler:
            layer = Scaled()
            compiler.add(layer, ('Scaled',))
            layer(torch.ones(2, 4), 3)

    compile_a_layer()
    one.save()
    (file,) = tmp_path.iterdir()
    assert one.load()
    assert not other.load()
    for folder in (None, tmp_path / 'missing'):
        cache = CompileCache(folder, 'one')
        cache.save()
        assert not cache.load()
    # Where all of it was found, it is not written again.
    counters.clear()
    before = file.stat().st_mtime_ns
    compile_a_layer()
    one.save()
    assert ([file], before) == (list(tmp_path.iterdir()), file.stat().st_mtime_ns)
