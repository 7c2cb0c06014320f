"""What all tests share."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from .support import Running, running


@pytest.fixture(scope='session')
def anyio_backend() -> str:
    """The server runs on asyncio, and so do its tests."""
    return 'asyncio'


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Running]:
    """A server with the default settings."""
    async with running(tmp_path) as server:
        yield server
