"""The models that are measured, with their adapters, and the machine."""

import hashlib
import json
import os
import platform
import shutil
import subprocess
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import cast

import torch

from model_server.pipelines.distilled import SIGN
from model_server.pipelines.engine import Adapter
from random_models import Kind, Size, build, build_lora

# Ends the name of a model that is said to be distilled, though its kind as it is built here is not.
_TURBO = '-turbo'
_ADAPTERS = 2
_RANK = 16
_PACKAGES = ('torch', 'diffusers', 'transformers', 'peft', 'accelerate', 'triton', 'safetensors')


@dataclass(frozen=True)
class Amount:
    """How much is measured."""

    size: Size
    #: Pixels.
    side: int
    steps: int
    #: Of pictures, and of evaluations.
    repeats: int


#: The tiny one rehearses: its times say nothing.
FULL, TINY = Amount('full', 1024, 30, 3), Amount('tiny', 128, 3, 2)


def build_model(model: str, cache: Path, size: Size) -> Path:
    """The folder of the model and its adapters. Where building is cut off, there is none."""
    folder = cache / f'{model}-{size}'
    if folder.is_dir():
        return folder
    part = folder.with_suffix('.part')
    shutil.rmtree(part, ignore_errors=True)
    kind = cast('Kind', model.removesuffix(_TURBO))
    build(kind, part, size)
    if model.endswith(_TURBO):
        index = part / 'model_index.json'
        index.write_text(json.dumps({**json.loads(index.read_text('utf-8')), SIGN: True}), 'utf-8')
    for number in range(_ADAPTERS):
        build_lora(kind, part, _adapter_file(part, number), _RANK, seed=number, dtype=torch.bfloat16)
    part.rename(folder)
    return folder


def read_adapters(model_dir: Path) -> list[Adapter]:
    """As the server gives them to an engine."""
    files = [_adapter_file(model_dir, number) for number in range(_ADAPTERS)]
    return [Adapter(hashlib.sha256(file.read_bytes()).hexdigest(), file, 1.0) for file in files]


def _adapter_file(model_dir: Path, number: int) -> Path:
    return model_dir / f'adapter-{number}.safetensors'


def describe_machine() -> dict[str, str]:
    """The card with its driver, or the processor, and the versions of what computes."""
    on_card = torch.cuda.is_available()
    query = ('nvidia-smi', '--query-gpu=name,memory.total,driver_version', '--format=csv,noheader')
    cpu = f'CPU {platform.machine()}, {os.cpu_count()} cores'
    versions = [f'{name} {_version(name)}' for name in _PACKAGES]
    return {
        'device': f'{_first_line(*query)}, CUDA {torch.version.cuda}' if on_card else cpu,
        'on': 'card' if on_card else 'cpu',
        'versions': f'Python {platform.python_version()}, {", ".join(versions)}',
        'commit': _first_line('git', 'rev-parse', '--short=12', 'HEAD'),
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return 'absent'


def _first_line(*command: str) -> str:
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except OSError:
        answer = ''
    return answer.partition('\n')[0].strip() or 'unknown'
