"""Code is compiled while the model warms up, and never in a request."""

from collections.abc import Callable, Iterator
from itertools import product as product_of
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import torch
from diffusers import AutoencoderKL, UNet2DConditionModel
from torch._dynamo.utils import counters

from model_server.pipelines.compiling import (
    CompileCache,
    compile_parts,
    compiling,
    shapes_to_warm,
)
from model_server.pipelines.runtime import Runtime
from model_server.settings import SettingsError

from .conftest import SIDE, difference, in_type, open_engine, paint, use, with_product


@pytest.fixture(autouse=True)
def fresh_compiler() -> Iterator[None]:
    """Each test compiles anew, and leaves PyTorch as it was."""
    deterministic, limit = torch._inductor.config.deterministic, torch._dynamo.config.recompile_limit
    torch.compiler.reset()
    counters.clear()
    yield
    torch.compiler.reset()
    torch.compiler.set_stance('default')
    torch._inductor.config.deterministic = deterministic
    torch._dynamo.config.recompile_limit = limit


def graphs() -> int:
    """How many pieces of code were compiled."""
    return int(counters['stats']['unique_graphs'])


def test_the_setting_says_what_is_compiled_and_so_does_the_models_version() -> None:
    said = {'': 'off', '0': 'off', 'off': 'off', '1': 'regional', 'regional': 'regional', 'whole': 'whole'}
    runtimes = [Runtime.from_environment({'COMPILE': text}) for text in said]
    assert [runtime.compile for runtime in runtimes] == list(said.values())
    assert len({' '.join(runtime.describe()) for runtime in runtimes}) == 3
    with pytest.raises(SettingsError, match='COMPILE'):
        Runtime.from_environment({'COMPILE': 'all'})


def test_a_transformer_is_not_compiled_as_a_whole(model_dirs: dict[str, Path], monkeypatch: Any) -> None:
    monkeypatch.setenv('COMPILE', 'whole')
    with pytest.raises(SettingsError, match='COMPILE must be 0 or regional for this model'):
        open_engine('z-image', model_dirs['z-image'])


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
    monkeypatch.setenv('COMPILE', 'regional')
    monkeypatch.setenv('COMPILE_CACHE_DIR', str(tmp_path))
    engine = open_engine('z-image', model_dirs['z-image'])
    assert graphs() > 0
    assert 'compiled' not in eager.model_version
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


class Tiny:
    """Parts of a pipeline, as small as they can be."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.unet = UNet2DConditionModel(
            sample_size=8,
            down_block_types=('CrossAttnDownBlock2D', 'DownBlock2D'),
            mid_block_type=None,
            up_block_types=('UpBlock2D', 'UpBlock2D'),
            block_out_channels=(4, 8),
            layers_per_block=1,
            attention_head_dim=1,
            cross_attention_dim=8,
            norm_num_groups=2,
        )
        self.vae = AutoencoderKL(block_out_channels=(4,), norm_num_groups=2, latent_channels=4)
        self.components = {'unet': self.unet, 'vae': self.vae}

    @torch.no_grad()
    def run(self, width: int, height: int, batch: int) -> Any:
        latents = torch.linspace(-1, 1, batch * 4 * height * width).reshape(batch, 4, height, width)
        noise = self.unet(latents, 3, torch.ones(batch, 5, 8)).sample
        return self.vae.decode(noise).sample


def test_a_whole_model_needs_no_other_code_for_any_size_once_it_is_warm(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With the compiler's first half, which decides what has to be compiled."""
    compile_module = torch.nn.Module.compile
    monkeypatch.setattr(
        torch.nn.Module, 'compile', lambda self, **more: compile_module(self, backend='eager', **more)
    )
    tiny, plain = Tiny(), Tiny()
    with compiling():
        compile_parts(tiny, 'unet', 'whole')
        assert tiny.unet.conv_in.weight.is_contiguous(memory_format=torch.channels_last)
        for (width, height), batch in product_of(shapes_to_warm('whole', 16), (2, 1)):
            tiny.run(width, height, batch)
    assert graphs() >= 3 * 2
    torch.compiler.set_stance('fail_on_recompile')
    # No larger ones: on a CPU, PyTorch has another convolution for large inputs.
    for (width, height), batch in product_of([(8, 8), (32, 8), (8, 20), (24, 22), (32, 32)], (1, 2)):
        assert torch.allclose(tiny.run(width, height, batch), plain.run(width, height, batch), atol=1e-3)


def test_a_thread_of_its_own_compiles_as_many_variants_and_none_in_a_request() -> None:
    class Scaled(torch.nn.Module):
        def forward(self, x: Any, times: int) -> Any:
            return x * times

    model = Scaled()
    model.compile(backend='eager', fullgraph=True, dynamic=False)
    found: list[Any] = []

    def run() -> None:
        with compiling():
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
    with compiling():
        layer = torch.nn.Linear(4, 4)
        layer.compile()
        layer(torch.ones(2, 4))
    one.save()
    (file,) = tmp_path.iterdir()
    assert one.load()
    assert not other.load()
    before = file.stat().st_mtime_ns
    for folder in (tmp_path, None, tmp_path / 'missing'):
        cache = CompileCache(folder, 'one')
        cache.save()
        assert cache.load() == (folder == tmp_path)
    assert ([file], before) == (list(tmp_path.iterdir()), file.stat().st_mtime_ns)
