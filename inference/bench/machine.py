"""The machine that was measured."""

import os
import platform
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version

import torch

_PACKAGES = ('torch', 'diffusers', 'transformers', 'peft', 'accelerate', 'triton', 'safetensors')


def describe_machine() -> dict[str, str]:
    """The card with its driver, or the processor, and the versions of what computes."""
    if torch.cuda.is_available():
        properties = torch.cuda.get_device_properties(0)
        device = f'{properties.name}, {properties.total_memory / 1e9:.0f} GB'
        device += f', driver {_driver()}, CUDA {torch.version.cuda}, bfloat16'
    else:
        device = f'CPU {platform.machine()}, {torch.get_num_threads()} of {os.cpu_count()} cores, float32'
    versions = [f'{name} {_version(name)}' for name in _PACKAGES]
    return {'device': device, 'versions': f'Python {platform.python_version()}, {", ".join(versions)}'}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return 'absent'


def _driver() -> str:
    path = shutil.which('nvidia-smi')
    if path is None:
        return 'unknown'
    command = [path, '--query-gpu=driver_version', '--format=csv,noheader']
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    return answer.stdout.partition('\n')[0].strip() or 'unknown'
