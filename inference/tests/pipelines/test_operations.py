"""The operations of the pipelines: each has a deterministic form, and they are as many as estimated."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from model_server.estimate import size_of
from model_server.pipelines.engine import Order
from model_server.pipelines.flux2_klein import Flux2KleinEngine
from model_server.pipelines.sdxl import SdxlEngine
from model_server.pipelines.z_image import ZImageEngine

from .conftest import in_type, paint, spec, with_product

#: Those that raise on a CUDA tensor without a gradient, from the documentation of
#: `torch.use_deterministic_algorithms` in PyTorch 2.15, and by their names in ATen.
RAISING = {
    'max_unpool2d', 'max_unpool3d', 'nll_loss_forward', 'nll_loss2d_forward', 'put_', 'histc', 'bincount',
    'median', 'nanmedian', 'scatter_reduce', 'scatter_reduce_',
}  # fmt: skip
#: Those that have a deterministic form, which PyTorch takes by itself; see the table in README.md.
REPLACED = {
    'cumsum', 'index_put_', 'index_put', 'index_add', 'index_add_', 'scatter', 'scatter_add', 'index_copy',
}  # fmt: skip


class Operations(TorchDispatchMode):
    """The names of the operations that run in it."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __torch_dispatch__(self, operation: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.add(operation.name().removeprefix('aten::').split('.')[0])
        return operation(*args, **(kwargs or {}))


@in_type('bfloat16')
@pytest.mark.parametrize('kind', ['ip', 'z-image', 'flux2-klein-base'])
def test_no_operation_of_a_pipeline_raises_where_everything_must_be_deterministic(
    engines: Callable[[str], Any], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = engines(kind)
    with Operations() as operations:
        for mode in (None, 'reference', 'exact_product'):
            for guidance_scale in (1.0, 5.0):
                paint(engine, with_product(mode, steps=2, guidance_scale=guidance_scale))
        monkeypatch.setattr('model_server.pipelines.memory.largest_untiled_pixels', lambda *_: 0)
        # Larger than a tile.
        paint(engine, spec(steps=2, width=576, height=512))
    assert {'convolution', 'native_group_norm', 'upsample_nearest2d'} <= operations.names
    assert operations.names & RAISING == set()
    # If one of these comes, README.md's table gets a row.
    assert operations.names & REPLACED == set()


# The estimate has two parts, so a third size would say nothing more.
SIDES = (512, 2048)
# Tokens.
SHORT_PROMPT = 64


def empty(*shape: int) -> Any:
    return torch.empty(*shape, device='meta', dtype=torch.bfloat16)


def run_sdxl(model: Any, side: int) -> None:
    conditions = {'text_embeds': empty(1, 1280), 'time_ids': empty(1, 6)}
    picture = empty(1, 4, side // 8, side // 8)
    model(picture, torch.empty(1, device='meta'), empty(1, 77, 2048), added_cond_kwargs=conditions)


def run_z_image(model: Any, side: int) -> None:
    model([empty(16, 1, side // 8, side // 8)], empty(1), [empty(SHORT_PROMPT, 2560)])


def run_klein(model: Any, side: int) -> None:
    tokens = (side // 16) ** 2
    model(
        hidden_states=empty(1, tokens, 128),
        encoder_hidden_states=empty(1, 512, 3 * 2560),
        timestep=empty(1),
        img_ids=torch.empty(1, tokens, 4, device='meta'),
        txt_ids=torch.empty(1, 512, 4, device='meta'),
    )


@pytest.mark.parametrize(
    ('kind', 'engine', 'run'),
    [
        ('sdxl', SdxlEngine, run_sdxl),
        ('z-image', ZImageEngine, run_z_image),
        ('flux2-klein', Flux2KleinEngine, run_klein),
    ],
    ids=['sdxl', 'z-image', 'flux2-klein'],
)
def test_the_estimate_goes_with_the_operations_of_the_whole_model(
    kind: Any, engine: Any, run: Callable[[Any, int], None], full_model: Callable[[Any], Any]
) -> None:
    """PyTorch counts what is computed; on the meta device there are no numbers, so it takes seconds."""
    model = full_model(kind).components[engine.denoiser]
    ratios = []
    for side in SIDES:
        with FlopCounterMode(display=False) as counter, torch.device('meta'), torch.no_grad():
            run(model, side)
        order = Order(1, 1, 1.0, side, side, 0, 'reference')
        size = size_of(1, 1, engine.pixels(None, order), engine.attention_per_megapixel)
        ratios.append(counter.get_total_flops() / size)
    assert max(ratios) / min(ratios) < 1.04
