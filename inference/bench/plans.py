"""What is measured: models, variants, and how much of each; and the machine that measures."""

import os
import platform
import shutil
import subprocess
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

import torch

Adapted = Literal['none', 'merged', 'wrapped']
#: Builds the model; measures; serves callers over HTTP; makes the same once more, in a fresh process.
Job = Literal['build', 'measure', 'serve', 'fresh']

#: In this order; a model is built before.
JOBS: tuple[Job, ...] = ('measure', 'serve', 'fresh')

_PACKAGES = ('torch', 'diffusers', 'transformers', 'peft', 'accelerate', 'triton', 'safetensors')

#: Ends the name of a model that has one. There are tiny ones only.
WITH_IP_ADAPTER = '-ip'

#: Ends the name of a model that is said to be distilled, though its kind as it is built here is not.
TURBO = '-turbo'

#: How the engines hold an adapter, and how diffusers' `load_lora_weights` does.
ENGINE_ADAPTED: Adapted = 'merged'
PLAIN_ADAPTED: Adapted = 'wrapped'


@dataclass(frozen=True)
class Variant:
    """One way to run a model."""

    #: In words, for the tables.
    title: str
    #: The engine's setting COMPILE; None is diffusers without an engine.
    compile: str | None
    #: Beginnings of the models' names that can run so.
    models: tuple[str, ...] = ('',)

    @property
    def adapted(self) -> Adapted:
        """How it holds an adapter."""
        return PLAIN_ADAPTED if self.compile is None else ENGINE_ADAPTED

    def takes(self, model: str) -> bool:
        """Whether a model can run so."""
        return model.startswith(self.models)

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The server has no diffusers without an engine."""
        return JOBS if self.compile is not None else ('measure', 'fresh')


PLAIN = 'plain'
VARIANTS: dict[str, Variant] = {
    PLAIN: Variant('plain diffusers', None),
    'served': Variant('as served', '0'),
    'regional': Variant('regional', 'regional'),
    'whole': Variant('whole, channels last', 'whole', models=('sdxl',)),
}


@dataclass(frozen=True)
class Plan:
    """How much is measured of which models. The numbers are for a card."""

    #: As `random_models` names them, perhaps with an IP-Adapter, or distilled.
    models: tuple[str, ...]
    size: Literal['tiny', 'full'] = 'full'
    #: Pixels.
    side: int = 1024
    steps: int = 30
    #: So many times one image, after the first.
    repeats: int = 5
    #: Of all callers together, once without adapters and once with them.
    requests: int = 16
    #: A job may take so long.
    job_seconds: float = 420
    #: Jobs at the same time: their times say nothing, and it ends sooner.
    together: int = 1
    #: Also on a CPU, where the engines have float32.
    bfloat16: bool = False


PLANS: dict[str, Plan] = {
    'smoke': Plan(
        ('sdxl', f'sdxl{WITH_IP_ADAPTER}', 'z-image', 'flux2-klein'),
        size='tiny',
        side=512,
        steps=2,
        repeats=2,
        requests=8,
        job_seconds=240,
        together=8,
        bfloat16=True,
    ),
    'sdxl': Plan(('sdxl',)),
    'z-image': Plan(('z-image',), repeats=3, requests=8),
    'klein': Plan(('flux2-klein',), requests=32),
    'turbo': Plan((f'z-image{TURBO}',), requests=32),
}


def model_dir(folder: Path, model: str, plan: Plan) -> Path:
    """Where a plan's model is built."""
    return folder / f'{model}-{plan.size}'


def where() -> Literal['card', 'cpu']:
    """Whether there is a GPU to measure."""
    return 'card' if torch.cuda.is_available() else 'cpu'


def plan_for_here(name: str) -> Plan:
    """The plan; a machine without a card can do a rehearsal of it to the end, whose times say nothing."""
    plan = PLANS[name]
    if where() == 'card':
        return plan
    return replace(plan, size='tiny', side=512, steps=2, repeats=1, requests=8, job_seconds=3000, together=1)


def describe_machine() -> dict[str, str]:
    """
    The card with its driver, or the processor, and the versions of what computes.

    It takes no memory of the card, as PyTorch would do to find its name.
    """
    if where() == 'card':
        card = _first_line(
            'nvidia-smi', '--query-gpu=name,memory.total,driver_version', '--format=csv,noheader'
        )
        device = f'{card}, CUDA {torch.version.cuda}'
    else:
        device = f'CPU {platform.machine()}, {os.cpu_count()} cores'
    versions = [f'{name} {_version(name)}' for name in _PACKAGES]
    return {
        'device': device,
        'on': where(),
        'versions': f'Python {platform.python_version()}, {", ".join(versions)}',
        'commit': _first_line('git', 'rev-parse', '--short=12', 'HEAD'),
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return 'absent'


def _first_line(program: str, *arguments: str) -> str:
    path = shutil.which(program)
    if path is None:
        return 'unknown'
    answer = subprocess.run([path, *arguments], capture_output=True, text=True, check=False)
    return answer.stdout.partition('\n')[0].strip() or 'unknown'
