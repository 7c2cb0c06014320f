"""
How many operations Python starts for one evaluation of SDXL's UNet, counted on a CPU.

A large card ends them faster than a Python process starts them, so their number limits the speed. It does not
depend on the channels, which are few here.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

from model_server.pipelines.compiling import compiling
from model_server.pipelines.graphs import Graphs
from model_server.pipelines.sdxl import SdxlEngine
from random_models.models import make_sdxl_unet
from random_models.sizes import PARTS
from random_models.weights import Draw

# The heads stay as wide as SDXL's.
_NARROW = {
    'block_out_channels': (64, 128, 256),
    'attention_head_dim': (1, 2, 4),
    'cross_attention_dim': 64,
    'addition_time_embed_dim': 8,
    'projection_class_embeddings_input_dim': 6 * 8 + 32,
}
_COMPILE_SECONDS = 3600.0


def count_all() -> str:
    """A table of the ways to evaluate it, each beside plain diffusers. Compiling takes minutes."""
    plain = count(evaluation(make_unet()))
    counts = {
        'plain diffusers': plain,
        'the engine without compiled code': count(evaluation(graphed(make_unet())), before=0),
        'the engine, a replay': count(evaluation(graphed(make_unet())), before=2),
        **count_compiled(),
    }
    lines = [f'| {name} | {number:,} | {number / plain:.3f} |' for name, number in counts.items()]
    titles = f'| PyTorch {torch.__version__} | operations | of plain |'
    return '\n'.join([titles, '| --- | ---: | ---: |', *lines])


def count_compiled() -> dict[str, int]:
    """The engine's operations before there is a graph. Call it before any other code is compiled."""
    # Otherwise the profiler does not see the kernels that were compiled.
    inductor: Any = torch._inductor.config
    inductor.cpp.enable_kernel_profile = True
    unet = make_unet().to(memory_format=torch.channels_last)
    work = evaluation(unet)
    with compiling(_COMPILE_SECONDS) as compiler:
        compiler.add(unet, (*unet._repeated_blocks, *SdxlEngine.compiled_beside))
        work()
    return {f'the engine, {compiler.pieces} pieces of compiled code': count(work)}


def make_unet() -> Any:
    """SDXL's, with all of its blocks and few channels."""
    sizes = {**PARTS['full']['sdxl']['unet'], **_NARROW}
    unet = Draw('cpu', torch.float32).model(partial(make_sdxl_unet, **sizes))
    return unet.eval().requires_grad_(False)


def graphed(unet: Any) -> Any:
    """As the engine has it on a card, with a stand-in for a graph: its replay computes nothing."""
    Graphs(unet, lambda work: (work(), lambda: None))
    return unet


def evaluation(unet: Any) -> Callable[[], Any]:
    """Evaluates it for two pictures, as with guidance. They are small, which is the same operations."""
    config, device = unet.config, unet.device
    pooled = config.projection_class_embeddings_input_dim - 6 * config.addition_time_embed_dim
    added = {
        'text_embeds': torch.zeros(2, pooled, device=device),
        'time_ids': torch.zeros(2, 6, device=device),
    }
    latents = torch.zeros(2, 4, 16, 16, device=device)
    text = torch.zeros(2, 77, config.cross_attention_dim, device=device)
    time = torch.tensor(500.0, device=device)

    @torch.no_grad()
    def evaluate() -> Any:
        return unet(latents, time, text, added_cond_kwargs=added, return_dict=False)

    return evaluate


def count(evaluate: Callable[[], Any], before: int = 1) -> int:
    """
    The calls of PyTorch's operations, and of compiled kernels, that are not made by another operation.

    `before`: so many evaluations come before the one that counts. What compiled code checks before it runs,
    and that it takes memory, is not in the number.
    """
    for _ in range(before):
        evaluate()
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        evaluate()
    return sum(_is_outermost(event) for event in profiler.events())


def _is_operation(event: Any) -> bool:
    return event.name.startswith(('aten::', 'mkldnn::', 'inductor::')) or '_fused_' in event.name


def _is_outermost(event: Any) -> bool:
    parent = event.cpu_parent
    while parent is not None and not _is_operation(parent):
        parent = parent.cpu_parent
    return _is_operation(event) and parent is None
