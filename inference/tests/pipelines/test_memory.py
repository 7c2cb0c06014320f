"""What runs out of memory, or fails in the middle, ends one request and leaves the engine as it was."""

import gc
import subprocess
import sys
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from model_server.failure import Failure
from model_server.pipelines.engine import EngineLost
from model_server.pipelines.memory import has_room, largest_untiled_pixels
from model_server.pipelines.runtime import StepEnd, gpu_errors, set_environment

from .conftest import in_type, paint, spec, with_product

GIB = 1024**3


@gpu_errors
def fail(error: Exception) -> None:
    raise error


def test_a_request_that_does_not_fit_fails_alone_and_a_broken_gpu_ends_the_engine() -> None:
    with pytest.raises(Failure, match='memory') as caught:
        fail(torch.OutOfMemoryError('CUDA out of memory. Tried to allocate …'))
    assert caught.value.reason == 'model_error'
    for text in (
        'CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate',
        'CUDA error: out of memory',
        'CUDA driver error: out of memory',
        'Triton Error [CUDA]: out of memory',
    ):
        with pytest.raises(Failure, match='memory'):
            fail(RuntimeError(text))
    illegal = 'an illegal memory access was encountered'
    for text in (
        f'CUDA error: {illegal}',
        f'CUDA driver error: {illegal}',
        f'Triton Error [CUDA]: {illegal}',
        'cuDNN error: X',
        'CUBLAS_STATUS_X',
    ):
        with pytest.raises(EngineLost):
            fail(RuntimeError(text))
    with pytest.raises(RuntimeError, match='shapes'):
        fail(RuntimeError('shapes differ'))


def test_nothing_of_the_failed_call_lives_when_its_memory_is_given_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not even where a library keeps the error, and not what an error held while another one was raised."""
    kept: list[BaseException] = []
    held: list[weakref.ref[Any]] = []
    alive: list[int] = []
    monkeypatch.setattr(gc, 'collect', lambda: 0)
    monkeypatch.setattr(
        torch.cuda, 'empty_cache', lambda: alive.append(sum(each() is not None for each in held))
    )

    def take() -> Any:
        held.append(weakref.ref(tensor := torch.zeros(10)))
        return tensor

    def decode() -> None:
        first = take()
        try:
            second = take()
            raise ValueError(first, second.shape)
        except ValueError:
            third = take()
            kept.append(torch.OutOfMemoryError(str(third.shape)))
            raise kept[0] from None

    @gpu_errors
    def work() -> None:
        fourth = take()
        decode()
        del fourth

    with pytest.raises(Failure) as caught:
        work()
    assert (len(held), alive) == (4, [0])
    assert (caught.value.__context__, caught.value.__cause__) == (None, None)


@in_type('bfloat16')
@pytest.mark.parametrize(
    ('method', 'mode'), [('decode', None), ('encode', 'reference'), ('encode', 'exact_product')]
)
def test_after_an_error_inside_the_vae_a_text_request_paints_what_it_painted_before(
    engine: Any, method: str, mode: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = spec(steps=2)
    before = paint(engine, text)

    def break_down(*_: Any, **__: Any) -> None:
        raise torch.OutOfMemoryError('CUDA out of memory')

    with monkeypatch.context() as patch:
        # Encoding and decoding have a VAE each, of the same weights.
        vae = engine._text.vae if method == 'decode' else engine._encoder.vae
        patch.setattr(vae, method, break_down)
        with pytest.raises(Failure):
            paint(engine, with_product(mode, steps=2))
    assert paint(engine, text) == before


def test_an_operators_own_settings_of_the_memory_stay() -> None:
    for given in ({'PYTORCH_ALLOC_CONF': 'x:1'}, {'PYTORCH_CUDA_ALLOC_CONF': 'x:1'}):
        env = dict(given)
        set_environment(env)
        assert env == given
    empty: dict[str, str] = {}
    set_environment(empty)
    assert empty == {'PYTORCH_ALLOC_CONF': 'expandable_segments:True'}


def test_pytorch_reads_the_settings_that_are_made_for_it() -> None:
    """In another process, because it reads them once. Its names have changed before."""
    script = (
        'from model_server.pipelines.runtime import prepare_libraries, set_environment; set_environment(); '
        'import torch; print(torch._C._accelerator_getAllocatorSettings())\n'
        'for each in ("cudnn", "flash"): prepare_libraries(each); print('
        'torch.is_deterministic_algorithms_warn_only_enabled(), torch.backends.cuda.cudnn_sdp_enabled())'
    )
    done = subprocess.run([sys.executable, '-c', script], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ['expandable_segments:True', 'True', 'True', 'False', 'False']


def test_a_larger_card_decodes_larger_pictures_in_one_piece() -> None:
    config = SimpleNamespace(block_out_channels=(128, 256, 512, 512))
    small, large = (SimpleNamespace(dtype=dtype, config=config) for dtype in (torch.bfloat16, torch.float32))
    sides = {gib: int(largest_untiled_pixels(small, gib * GIB) ** 0.5) for gib in (16, 24, 44, 80)}
    assert 1024 <= sides[16] < sides[24] < 1536 < sides[44] < 2048 <= sides[80]
    assert largest_untiled_pixels(large, 48 * GIB) == largest_untiled_pixels(small, 24 * GIB)


@pytest.mark.parametrize(('needed_gib', 'room'), [(11, True), (13, False)])
def test_a_copy_leaves_a_quarter_of_the_card_free(
    needed_gib: int, room: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 24 GiB, 16 are free, 2 more are held by PyTorch with nothing in them, and 1 by CUDA graphs."""
    held = [
        {'segment_pool_id': pool, 'total_size': total * GIB, 'allocated_size': used * GIB}
        for pool, total, used in (((0, 0), 5, 4), ((0, 0), 1, 0), ((0, 1), 2, 1))
    ]
    monkeypatch.setattr(torch.cuda, 'mem_get_info', lambda _: (16 * GIB, 24 * GIB))
    monkeypatch.setattr(torch.cuda, 'memory_snapshot', lambda: held)
    assert has_room(torch.device('cuda'), needed_gib * GIB) == room


@in_type('bfloat16')
def test_large_images_are_decoded_in_tiles(
    engines: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = engines('sdxl')
    monkeypatch.setattr('model_server.pipelines.memory.largest_untiled_pixels', lambda *_: 512 * 512)
    paint(engine, spec(width=576, height=512, steps=1))
    assert engine._text.vae.use_tiling
    paint(engine, spec(steps=1))
    assert not engine._text.vae.use_tiling


def test_the_cpu_sleeps_until_the_card_has_one_step_left(monkeypatch: pytest.MonkeyPatch) -> None:
    log: list[str] = []

    class Event:
        def __init__(self, *, blocking: bool) -> None:
            assert blocking
            self.step = 0

        def record(self) -> None:
            self.step = sum('queued' in line for line in log) + 1
            log.append(f'{self.step} queued')

        def synchronize(self) -> None:
            log.append(f'{self.step} done')

    monkeypatch.setattr(torch.cuda, 'Event', Event)
    end = StepEnd(3, lambda _: None, torch.device('cuda'))
    for index in range(3):
        end(SimpleNamespace(num_timesteps=3), index, None, None)
    assert log == ['1 queued', '2 queued', '1 done', '3 queued', '2 done']
