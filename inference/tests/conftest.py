"""What all tests share."""

import gc
from collections.abc import AsyncIterator, Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from .packaging_support import PackagingWorkspace, set_up
from .support import Running, running

# Without PyTorch and the other libraries of the pipelines, what needs them is left out.
if find_spec('diffusers') is None:
    collect_ignore = [
        'pipelines',
        'test_bench.py',
        'test_packaged_helpers.py',
        'test_picture_check.py',
        'test_random_models.py',
        'test_segmentation.py',
    ]


def pytest_collection_finish() -> None:
    """What the libraries hold lives to the end. To look at all of it again at each collection takes long."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """The libraries look themselves for what is left at the end."""
    gc.unfreeze()


@pytest.fixture(scope='session')
def anyio_backend() -> str:
    """The server runs on asyncio, and so do its tests."""
    return 'asyncio'


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Running]:
    """A server with the default settings."""
    async with running(tmp_path) as server:
        yield server


@pytest.fixture(scope='session')
def full_model() -> Callable[[Any], Any]:
    """The whole pipeline of a kind in its full size, without its weights."""
    import torch

    from random_models.models import create
    from random_models.weights import Draw

    def make(kind: Any) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(torch.nn.Module, 'to_empty', lambda model, device: model)
            patch.setattr(Draw, '_fill', lambda *_: None)
            return create(kind, 'full', Draw('cpu', torch.bfloat16))

    return cache(make)


@pytest.fixture
def workspace(tmp_path: Path) -> PackagingWorkspace:
    """An operator's, with a small model that lacks nothing."""
    return set_up(tmp_path)
