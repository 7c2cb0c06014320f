"""The machine that measures."""

import os
import platform
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

import torch

from .plans import PLANS, Plan, without_a_card

_PACKAGES = ('torch', 'diffusers', 'transformers', 'peft', 'accelerate', 'triton', 'safetensors')


def where() -> Literal['card', 'cpu']:
    """Whether there is a GPU to measure."""
    return 'card' if torch.cuda.is_available() else 'cpu'


def plan_for_here(name: str) -> Plan:
    """The plan; on a machine without a card, what it can do of it."""
    return PLANS[name] if where() == 'card' else without_a_card(PLANS[name])


def describe_machine() -> dict[str, str]:
    """
    The card with its driver, or the processor, and the versions of what computes.

    It takes no memory of the card, as PyTorch would do to tell its name.
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
