"""How much work an evaluation of the whole model is, as it is counted and as the estimate has it."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from model_server.estimate import size_of
from model_server.pipelines.engine import Order
from model_server.pipelines.flux2_klein import Flux2KleinEngine
from model_server.pipelines.sdxl import SdxlEngine
from model_server.pipelines.z_image import ZImageEngine
from random_models.models import create
from random_models.weights import Draw

SIDES = (512, 1024, 2048)
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
    kind: Any, engine: Any, run: Callable[[Any, int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """PyTorch counts what is computed; on the meta device there are no numbers, so it takes seconds."""
    monkeypatch.setattr(torch.nn.Module, 'to_empty', lambda model, device: model)
    monkeypatch.setattr(Draw, '_fill', lambda *_: None)
    model = create(kind, 'full', Draw('cpu', torch.bfloat16)).components[engine.denoiser]
    ratios = []
    for side in SIDES:
        with FlopCounterMode(display=False) as counter, torch.device('meta'), torch.no_grad():
            run(model, side)
        order = Order(1, 1, 1.0, side, side, 0, 'reference')
        pixels = engine.pixels(None, order) if hasattr(engine, 'pixels') else side * side
        ratios.append(counter.get_total_flops() / size_of(1, 1, pixels, engine.attention))
    assert max(ratios) / min(ratios) < 1.04
