"""Where and how the models run: device, number type, and the settings that make images reproducible."""

import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any

import diffusers
import torch
import transformers

from ..failure import Failure
from ..settings import SettingsError, read_number
from .compiling import CompileMode, parse_mode
from .engine import EngineLost
from .one_gpu import refuse_several_gpus

# Texts of PyTorch's errors that leave a GPU's context unusable.
_LOST = ('CUDA error', 'CUBLAS_STATUS', 'CUDNN_STATUS', 'cuDNN error')


@dataclass(frozen=True)
class Runtime:
    """What the pipelines need to know about the machine, and their own settings."""

    device: torch.device
    dtype: torch.dtype
    #: LORA_RANK: the highest rank of an identity's adapter. All of it is computed for every adapter.
    lora_rank: int = 64
    #: ADAPTER_MEMORY_BYTES: adapters in memory, ready for the model, take at most this much together.
    adapter_memory_bytes: int = 2 * 1024**3
    #: COMPILE: what is compiled.
    compile: CompileMode = 'off'
    #: COMPILE_CACHE_DIR: where compiled code is kept.
    compile_cache_dir: Path | None = None

    @staticmethod
    def from_environment(env: Mapping[str, str] = os.environ) -> 'Runtime':
        """The GPU in bfloat16 where there is one, otherwise the CPU in float32. Raises SettingsError."""
        whole = partial(read_number, env, int)
        has_gpu = torch.cuda.is_available()
        refuse_several_gpus(torch.cuda.device_count() if has_gpu else 0)
        return Runtime(
            device=torch.device('cuda' if has_gpu else 'cpu'),
            dtype=torch.bfloat16 if has_gpu else torch.float32,
            lora_rank=whole('LORA_RANK', Runtime.lora_rank, 1, 1024),
            adapter_memory_bytes=whole('ADAPTER_MEMORY_BYTES', Runtime.adapter_memory_bytes, 0, 2**50),
            compile=_read_mode(env),
            compile_cache_dir=Path(folder) if (folder := env.get('COMPILE_CACHE_DIR')) else None,
        )

    def describe(self) -> str:
        """What decides an image's bytes beside the model, in a few words."""
        card = torch.cuda.get_device_name() if self.device.type == 'cuda' else 'cpu'
        number = str(self.dtype).removeprefix('torch.')
        compiled = '' if self.compile == 'off' else f' compiled-{self.compile}'
        return f'torch-{torch.__version__} diffusers-{diffusers.__version__} {number}{compiled} {card}'


def _read_mode(env: Mapping[str, str]) -> CompileMode:
    mode = parse_mode(env.get('COMPILE', ''))
    if mode is None:
        raise SettingsError('COMPILE must be 0, regional or whole.')
    return mode


def prepare_libraries() -> None:
    """Makes the same spec give the same bytes, and silences the libraries. Call it before the GPU is used."""
    # cuBLAS gives the same results only with a workspace of a fixed size:
    # https://docs.nvidia.com/cuda/cublas/#results-reproducibility
    os.environ.setdefault('CUBLAS_WORKSPACE_CONFIG', ':4096:8')
    # An operation that has no deterministic form raises. README.md names those that could.
    torch.use_deterministic_algorithms(True)
    # PyTorch prefers cuDNN's attention on Hopper and Blackwell, though it is not deterministic. The setting
    # above leaves it out, but did not while it only warned (check_cudnn_deterministic in PyTorch's
    # sdp_utils.cpp); this holds whatever becomes of that.
    torch.backends.cuda.enable_cudnn_sdp(False)
    # The code never reads uninitialized memory, so filling it would only cost time.
    torch.utils.deterministic.fill_uninitialized_memory = False
    torch.backends.cudnn.benchmark = False
    # Blocks of one kind share compiled code; variants are with and without an adapter, a mask, and so on.
    torch._dynamo.config.recompile_limit = 64
    diffusers.utils.logging.disable_progress_bar()
    transformers.utils.logging.disable_progress_bar()


@contextmanager
def gpu_errors() -> Generator[None, None, None]:
    """Turns errors of the GPU into Failure (ends one request) or EngineLost (ends the engine)."""
    try:
        yield
    except torch.OutOfMemoryError:
        torch.cuda.empty_cache()
        problem = 'The model has too little memory for this image. A smaller one may fit.'
        raise Failure('model_error', problem) from None
    except RuntimeError as error:
        if any(text in str(error) for text in _LOST):
            raise EngineLost from error
        raise


class StepEnd:
    """The callback of diffusers at the end of each step."""

    def __init__(self, steps: int, on_step: Callable[[int], None], device: torch.device) -> None:
        """`steps`: the number asked for. Image-to-image takes fewer."""
        self._steps = steps
        self._on_step = on_step
        self._ends: list[torch.cuda.Event] | None = [] if device.type == 'cuda' else None

    def __call__(self, pipe: Any, index: int, _timestep: object, _inputs: object) -> dict[str, Any]:
        """Waits until the GPU has finished the step before, so that one step is always queued."""
        if self._ends is not None:
            event = torch.cuda.Event()
            event.record()
            self._ends.append(event)
            if len(self._ends) > 1:
                self._ends.pop(0).synchronize()
        self._on_step(ceil((index + 1) * self._steps / pipe.num_timesteps))
        return {}
