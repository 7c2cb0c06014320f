"""Where and how the models run: device, number type, and the settings that make images reproducible."""

import gc
import os
import traceback
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from functools import wraps
from math import ceil
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import diffusers
import numpy as np
import torch
import transformers
from numpy.typing import NDArray

from ..failure import Failure
from ..settings import SettingsError, read_number
from .compiling import USUAL_SECONDS
from .engine import EngineLost

_P = ParamSpec('_P')
_T = TypeVar('_T')

# Texts of PyTorch's errors that leave a GPU's context unusable, and of those that say that memory ran out.
# Compiled code and the segments that grow have words of their own.
_CUDA = ('CUDA error', 'CUDA driver error', 'Triton Error [CUDA]')
_LOST = (*_CUDA, 'CUBLAS_STATUS', 'CUDNN_STATUS', 'cuDNN error')
_NO_MEMORY = ('CUBLAS_STATUS_ALLOC_FAILED', *(f'{text}: out of memory' for text in _CUDA))


@dataclass(frozen=True)
class Runtime:
    """What the pipelines need to know about the machine, and their own settings."""

    device: torch.device
    dtype: torch.dtype
    #: ADAPTER_MEMORY_BYTES: adapters in memory, ready for the model, take at most this much together.
    adapter_memory_bytes: int = 2 * 1024**3
    #: COMPILE: whether code is compiled while the model warms up.
    compile: bool = False
    #: COMPILE_SECONDS: for so long, where no code was kept.
    compile_seconds: float = USUAL_SECONDS
    #: COMPILE_CACHE_DIR: where compiled code is kept.
    compile_cache_dir: Path | None = None
    #: GRAPHS: whether the denoiser's kernels are started as CUDA graphs.
    graphs: bool = False
    #: ATTENTION: whether cuDNN's is used where PyTorch prefers it, on Hopper and Blackwell, or `flash`.
    attention: str = 'cudnn'

    @staticmethod
    def from_environment(env: Mapping[str, str] = os.environ) -> 'Runtime':
        """The GPU in bfloat16 where there is one, otherwise the CPU in float32. Raises SettingsError."""
        has_gpu = torch.cuda.is_available()
        _refuse_several_gpus(torch.cuda.device_count() if has_gpu else 0)
        attention = env.get('ATTENTION') or Runtime.attention
        if attention not in ('cudnn', 'flash'):
            raise SettingsError('ATTENTION must be cudnn or flash.')
        return Runtime(
            device=torch.device('cuda' if has_gpu else 'cpu'),
            dtype=torch.bfloat16 if has_gpu else torch.float32,
            adapter_memory_bytes=read_number(
                env, int, 'ADAPTER_MEMORY_BYTES', Runtime.adapter_memory_bytes, 0, 2**50
            ),
            compile=_read_switch(env, 'COMPILE', has_gpu),
            compile_seconds=read_number(env, float, 'COMPILE_SECONDS', Runtime.compile_seconds, 0, 86_400),
            compile_cache_dir=Path(folder) if (folder := env.get('COMPILE_CACHE_DIR')) else None,
            graphs=has_gpu and _read_switch(env, 'GRAPHS', True),
            attention=attention,
        )

    def describe(self) -> list[str]:
        """What decides an image's bytes beside the model, in words without spaces."""
        libraries = (torch, diffusers, transformers)
        card = torch.cuda.get_device_name().replace(' ', '-') if self.device.type == 'cuda' else 'cpu'
        return [
            *(f'{library.__name__}-{library.__version__}' for library in libraries),
            str(self.dtype).removeprefix('torch.'),
            *([f'{self.attention}-attention'] if self.device.type == 'cuda' else []),
            card,
        ]


def _read_switch(env: Mapping[str, str], name: str, default: bool) -> bool:
    return bool(read_number(env, int, name, int(default), 0, 1))


def _refuse_several_gpus(count: int) -> None:
    """Several would need one queue before all of them, so that tenants still take turns."""
    if count > 1:
        raise SettingsError(
            f'This machine has {count} GPUs, and the model server uses one: {count - 1} would be paid for and'
            ' idle. Take an instance type with one GPU, or choose a GPU with CUDA_VISIBLE_DEVICES.'
        )


def set_environment(env: MutableMapping[str, str] = os.environ) -> None:
    """What the GPU's libraries read once, when they start. An operator's own values stay."""
    # Pictures of many sizes leave gaps in the memory, which segments of a fixed size can't close:
    # https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-alloc-conf
    # PyTorch reads the older name too, and which one wins is another in its different parts.
    if 'PYTORCH_CUDA_ALLOC_CONF' not in env:
        env.setdefault('PYTORCH_ALLOC_CONF', 'expandable_segments:True')


def prepare_libraries(attention: str) -> None:
    """Makes the same spec give the same bytes, and silences the libraries. After `set_environment`."""
    # An operation without a deterministic form raises, or only warns with cuDNN's attention: PyTorch leaves
    # that out unless it may warn (check_cudnn_deterministic in its sdp_utils.cpp), though only its backward
    # pass is not deterministic (https://docs.nvidia.com/deeplearning/cudnn/v1.27.0/operations/Attention.html).
    # tests/pipelines/test_operations.py looks at all operations.
    torch.use_deterministic_algorithms(True, warn_only=attention == 'cudnn')
    torch.backends.cuda.enable_cudnn_sdp(attention == 'cudnn')
    # The code never reads uninitialized memory, so filling it would only cost time.
    torch.utils.deterministic.fill_uninitialized_memory = False
    torch.backends.cudnn.benchmark = False
    diffusers.utils.logging.disable_progress_bar()
    transformers.utils.logging.disable_progress_bar()


def gpu_errors(work: Callable[_P, _T]) -> Callable[_P, _T]:
    """
    Turns errors of the GPU in a function into Failure (ends one request) or EngineLost (ends the engine).

    Memory that ran out is free again before Failure is raised.
    """

    @wraps(work)
    def guarded(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        try:
            return work(*args, **kwargs)
        except RuntimeError as error:
            if not lacks_memory(error):
                if any(text in str(error) for text in _LOST):
                    raise EngineLost from error
                raise
            forget_frames(error)
        # Not in the handler, where the error and the frames of its traceback still hold tensors.
        give_memory_back()
        raise Failure('model_error', 'The model has too little memory for this image. A smaller one may fit.')

    return guarded


def lacks_memory(error: BaseException) -> bool:
    """Whether memory ran out. The GPU goes on after such an error."""
    return isinstance(error, torch.OutOfMemoryError) or any(text in str(error) for text in _NO_MEMORY)


def give_memory_back() -> None:
    """Frees what nothing holds any more."""
    gc.collect()
    torch.cuda.empty_cache()


def forget_frames(error: BaseException) -> None:
    """Takes from an error, and from those that it came from, what holds tensors while somebody keeps it."""
    chain = [error]
    while chain:
        each = chain.pop()
        chain += [earlier for earlier in (each.__cause__, each.__context__) if earlier is not None]
        traceback.clear_frames(each.__traceback__)
        each.__traceback__ = each.__cause__ = each.__context__ = None


def record_event() -> torch.cuda.Event:
    """
    What the card has reached once it has done all that it was given.

    Whoever waits for it sleeps; otherwise CUDA keeps a whole core busy with asking:
    https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__EVENT.html
    """
    event = torch.cuda.Event(blocking=True)
    event.record()
    return event


def fetch_pixels(image: torch.Tensor) -> NDArray[np.uint8]:
    """(height, width, 3) of what diffusers gives as (3, height, width), 0 … 1, rounded as it rounds."""
    pixels = (image.permute(1, 2, 0).float() * 255).round().to(torch.uint8).contiguous()
    if pixels.is_cuda:
        record_event().synchronize()
    array: NDArray[np.uint8] = pixels.cpu().numpy()
    return array


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
            event = record_event()
            self._ends.append(event)
            if len(self._ends) > 1:
                self._ends.pop(0).synchronize()
        self._on_step(ceil((index + 1) * self._steps / pipe.num_timesteps))
        return {}
