"""
How many operations Python starts for one evaluation of SDXL's UNet, counted on a CPU.

A large card ends them faster than a Python process starts them, so their number limits the speed.
"""

from functools import partial
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

from model_server.pipelines.compiling import compiling
from model_server.pipelines.graphs import Graphs
from model_server.pipelines.keys_and_values import KeysAndValues
from model_server.pipelines.sdxl import SdxlEngine
from random_models.models import make_sdxl_unet
from random_models.sizes import PARTS
from random_models.weights import Draw

#: Of the narrow one, which has all of SDXL's blocks.
_SIZES = PARTS['full']['sdxl']['unet'] | {
    'block_out_channels': (64, 128, 256),
    'attention_head_dim': (1, 2, 4),
    'cross_attention_dim': 64,
    'projection_class_embeddings_input_dim': 6 * 256 + 32,
}
_COMPILE_SECONDS = 3600.0


def count_all() -> str:
    """A table of the ways to evaluate it, each beside plain diffusers. Compiling takes minutes."""
    # Otherwise the profiler does not see the kernels that were compiled.
    inductor: Any = torch._inductor.config
    inductor.cpp.enable_kernel_profile = True
    counts = {'plain diffusers': count(make_unet())}
    with compiling(_COMPILE_SECONDS) as compiler:
        unet = make_unet().to(memory_format=torch.channels_last)
        KeysAndValues(unet)
        compiler.add(unet, (*unet._repeated_blocks, *SdxlEngine.compiled_beside))
        count(unet, before=0)
    counts[f'the engine, with {compiler.pieces} pieces of compiled code'] = count(unet)
    counts['the engine, replaying a graph'] = count(add_graphs(unet), before=2)
    plain = counts['plain diffusers']
    lines = [f'| {name} | {number:,} | {number / plain:.3f} |' for name, number in counts.items()]
    titles = f'| PyTorch {torch.__version__} | operations | of plain |'
    return '\n'.join([titles, '| --- | ---: | ---: |', *lines])


def make_unet() -> Any:
    """A narrow one."""
    return Draw('cpu', torch.float32).model(partial(make_sdxl_unet, **_SIZES)).eval()


def add_graphs(unet: Any) -> Any:
    """As the engine has it on a card, with a stand-in for a graph: its replay computes nothing."""
    Graphs(unet, lambda work: (work(), lambda: None))
    return unet


@torch.no_grad()
def count(unet: Any, before: int = 1) -> int:
    """
    The calls of PyTorch's operations, and of compiled kernels, that are not made by another operation.

    `before`: so many evaluations of the same picture come before the one that counts. What compiled code
    checks before it runs, and that it takes memory, is not in the number.
    """
    args, named = _inputs(unet)
    for _ in range(before):
        unet(*args, **named)
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        unet(*args, **named)
    return sum(_is_outermost(event) for event in profiler.events())


def _inputs(unet: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Of two pictures, as with guidance. Small ones, which are as many operations."""
    config = unet.config
    pooled = config.projection_class_embeddings_input_dim - 6 * config.addition_time_embed_dim
    with unet.device:
        latents, text = torch.zeros(2, 4, 16, 16), torch.zeros(2, 77, config.cross_attention_dim)
        added = {'text_embeds': torch.zeros(2, pooled), 'time_ids': torch.zeros(2, 6)}
        return (latents, torch.tensor(500.0), text), {'added_cond_kwargs': added, 'return_dict': False}


def _is_operation(event: Any) -> bool:
    return event.name.startswith(('aten::', 'mkldnn::', 'inductor::')) or '_fused_' in event.name


def _is_outermost(event: Any) -> bool:
    parent = event.cpu_parent
    while parent is not None and not _is_operation(parent):
        parent = parent.cpu_parent
    return _is_operation(event) and parent is None
