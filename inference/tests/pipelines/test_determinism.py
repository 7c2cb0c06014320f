"""No operation of the pipelines is one that PyTorch can't make deterministic on a GPU."""

from collections.abc import Callable
from typing import Any

import pytest
from torch.utils._python_dispatch import TorchDispatchMode

from model_server.pipelines.engine import Reference

from .conftest import in_type, paint, product, spec

#: Those that raise on a CUDA tensor without a gradient, from the documentation of
#: `torch.use_deterministic_algorithms` in PyTorch 2.15, and by their names in ATen.
RAISING = {
    'max_unpool2d',
    'max_unpool3d',
    'nll_loss_forward',
    'nll_loss2d_forward',
    'put_',
    'histc',
    'bincount',
    'median',
    'nanmedian',
    'scatter_reduce',
    'scatter_reduce_',
}
#: Those that have a deterministic form, which PyTorch takes by itself; see the table in README.md.
REPLACED = {
    'cumsum',
    'index_put_',
    'index_put',
    'index_add',
    'index_add_',
    'scatter',
    'scatter_add',
    'index_copy',
}


class Operations(TorchDispatchMode):
    """The names of the operations that run in it."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __torch_dispatch__(self, operation: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.add(operation.name().removeprefix('aten::').split('.')[0])
        return operation(*args, **(kwargs or {}))


@in_type('bfloat16')
@pytest.mark.parametrize('kind', ['ip', 'z-image', 'flux2-klein-base'])
def test_no_operation_of_a_pipeline_raises_where_everything_must_be_deterministic(
    engines: Callable[[str], Any], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = engines(kind)
    with Operations() as operations:
        for mode in (None, 'reference', 'exact_product'):
            references = (Reference(product()),) if mode else ()
            for guidance_scale in (1.0, 5.0):
                order = spec(steps=2, references=references, guidance_scale=guidance_scale)
                paint(engine, order if mode is None else spec(**{**vars(order), 'reference_mode': mode}))
        monkeypatch.setattr('model_server.pipelines.memory.largest_untiled_pixels', lambda *_: 0)
        # Larger than a tile.
        paint(engine, spec(steps=2, width=576, height=512))
    assert {'convolution', 'native_group_norm', 'upsample_nearest2d'} <= operations.names
    assert operations.names & RAISING == set()
    # If one of these comes, README.md's table gets a row.
    assert operations.names & REPLACED == set()
