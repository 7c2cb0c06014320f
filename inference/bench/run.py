"""One run of the benchmark, from options to the report."""

import argparse
import gc
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from transformers import AutoTokenizer

from model_server.__main__ import PIPELINES
from model_server.pipelines.engine import Adapter
from model_server.pipelines.runtime import set_environment
from random_models import Kind, build, build_lora

from .machine import describe_machine
from .report import PLAIN, Report
from .rounds import Measurements, Plan, measure
from .variants import EngineVariant, PlainVariant, Task, Variant, read_adapter

#: What the options call them, and what the report does.
VARIANTS = {'plain': PLAIN, 'engine': 'engine', 'compiled': 'engine, compiled'}

_PROMPT = 'A small boat on a quiet sea, pale morning light, soft clouds'
_GUIDANCE_SCALE = 5.0
_ADAPTERS = 3
_ADAPTER_RANK = 16
# Room beside the models' weights for what comes and goes: most of it for a batch of four images.
_HEADROOM_BYTES = 20 * 10**9


def run(options: argparse.Namespace, folder: Path, log: Callable[[str], None]) -> Report:
    """
    Measures what the options say. What is built for it goes into `folder`.

    An error of a variant ends it, and stands in the report with what was measured before.
    """
    if torch.cuda.is_available() and set(options.variants) != {'plain'}:
        # The engines set it for themselves, but the libraries read it only once in a process.
        set_environment()
    model_dir = options.model_dir or folder / 'model'
    if options.model_dir is None:
        log(f'Building a {options.size} model with random weights.')
        build(options.pipeline, model_dir, options.size)
        _clear_memory()
    plan = Plan(options.sides, options.repeats, _build_adapters(options.pipeline, model_dir, folder))
    _read_once(model_dir)
    task = Task(_PROMPT, 'fog', options.steps, _GUIDANCE_SCALE)
    variants = [
        _create(name, options.pipeline, model_dir, task) for name in VARIANTS if name in options.variants
    ]
    done = Measurements(log)
    error = None
    try:
        measure(variants, plan, done, lambda: not options.apart and _fit(variants))
    except Exception as problem:
        traceback.print_exc()
        error = f'{type(problem).__name__}: {problem}'
    return Report(
        setting=_describe(options, model_dir),
        variants=[variant.name for variant in variants],
        costs=done.rows,
        notes=_explain(options, variants, done),
        error=error,
    )


def _create(name: str, pipeline: str, model_dir: Path, task: Task) -> Variant:
    if name == 'plain':
        return PlainVariant(VARIANTS[name], model_dir, task)
    return EngineVariant(VARIANTS[name], PIPELINES[pipeline], model_dir, task, compiled=name == 'compiled')


def _build_adapters(pipeline: Kind, model_dir: Path, folder: Path) -> list[Adapter]:
    files = [folder / f'{index}.safetensors' for index in range(_ADAPTERS)]
    for index, file in enumerate(files):
        build_lora(pipeline, model_dir, file, _ADAPTER_RANK, seed=index, dtype=torch.bfloat16)
    return [read_adapter(file) for file in files]


def _read_once(model_dir: Path) -> None:
    """Reads the files once, so that the first variant does not wait for the disk alone."""
    for path in model_dir.rglob('*.safetensors'):
        with path.open('rb') as file:
            while file.read(64 * 1024**2):
                pass


def _fit(variants: Sequence[Variant]) -> bool:
    """Whether the other variants fit into memory beside the first one."""
    if not torch.cuda.is_available():
        return True
    _clear_memory()
    needed_bytes = variants[0].held_bytes * (len(variants) - 1) + _HEADROOM_BYTES
    return needed_bytes <= int(torch.cuda.mem_get_info()[0])


def _clear_memory() -> None:
    gc.collect()
    torch.cuda.empty_cache()


def _describe(options: argparse.Namespace, model_dir: Path) -> dict[str, str]:
    tokenizer = AutoTokenizer.from_pretrained(model_dir / 'tokenizer', local_files_only=True)
    tokens = len(tokenizer(_PROMPT).input_ids)
    weights = f'random weights, {options.size}' if options.model_dir is None else options.model_dir.name
    return {
        'pipeline': f'{options.pipeline}, {weights}',
        'task': f'{options.steps} steps, guidance scale {_GUIDANCE_SCALE}, a prompt of {tokens} tokens',
        'adapters': f'LoRAs of rank {_ADAPTER_RANK} for the attention layers, at scale 1',
        **describe_machine(),
    }


def _explain(options: argparse.Namespace, variants: Sequence[Variant], done: Measurements) -> list[str]:
    """Notes for the reader."""
    notes = [
        done.took_turns and 'The variants were in memory together and took turns.',
        *(
            f'{name} was measured from {start:.0f} s to {end:.0f} s, alone.'
            for name, start, end in done.shifts
        ),
        not torch.cuda.is_available() and 'Taken on a CPU: these numbers say nothing about a GPU.',
        options.model_dir is None
        and 'Random weights take about the time of learned ones. The images are noise.',
        'All files had been read before, so that loading is not the speed of the disk.',
        options.pipeline == 'flux2-klein'
        and 'The distilled model takes its own 4 steps, without guidance, in each variant.',
        'Several images: plain diffusers paints one batch, an engine paints one after the other.',
        'Adapters: plain diffusers keeps those that it has loaded, and switches between them.',
        'Each variant has its own settings of PyTorch; those of cuBLAS and the memory are the same for all.',
        torch.cuda.is_available()
        and 'An engine counts its peak anew with each image, also while it warms up.',
        *(_blank(each) for each in variants if each.blank_images),
    ]
    return [note for note in notes if note]


def _blank(variant: Variant) -> str:
    return (
        f'{variant.name} painted {variant.blank_images} images of one color: its numbers may have overflowed.'
    )
