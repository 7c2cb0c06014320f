"""What the service says of a request at its link."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from .support import Running, closing, failure, photo, running, until

pytestmark = pytest.mark.anyio


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Running]:
    """A server that looks often; other transfers than these looks have more time than a test."""
    async with running(tmp_path, cancel_check_seconds=0.1, link_timeout_seconds=600) as server:
        yield server


def cancellable(server: Running, link: str, **changes: Any) -> dict[str, Any]:
    """A request that is not cancelled yet."""
    server.store.answers[link] = [404]
    return server.request(outputs=2, cancelUrl=server.store.link(link), **changes)


async def cancel(server: Running, link: str, events: AsyncIterator[dict[str, Any]]) -> None:
    """The request closes once, while what it waits for is still held."""
    server.store.answers[link] = [200]
    expected = ('cancelled', 'The request was cancelled.')
    assert failure([event async for event in events]) == expected


async def test_in_line_it_never_begins_and_while_generating_its_step_is_the_last(server: Running) -> None:
    request = cancellable(server, 'a', seed=1)
    generating = await server.blocked_by(request)
    waiting = await server.accepted(cancellable(server, 'b', seed=2))
    following = await server.accepted(server.request(seed=3))
    await cancel(server, 'b', waiting)
    await cancel(server, 'a', generating)
    server.engine.release()

    assert await closing(following) == 'completed'
    assert [seed for _, seed in server.engine.begun] == [1, 3]
    assert server.engine.steps_done == 1 + 20
    assert server.uploaded(request) == [None, None]
    lines = [line for line in server.lines() if 'message' in line]
    said = [(line['level'], line['outcome']) for line in lines]
    assert said == [('info', 'cancelled'), ('info', 'cancelled'), ('info', 'completed')]


@pytest.mark.parametrize('held', ['photo', 'image-0'])
async def test_what_it_fetches_or_uploads_is_cut_off_and_the_next_one_runs(
    server: Running, held: str
) -> None:
    server.store.gates[held] = asyncio.Event()
    request = cancellable(server, 'a', **photo(server))
    events = await server.hold(request)
    await server.store.arrived[held].wait()
    await cancel(server, 'a', events)
    await server.store.left.wait()

    assert server.uploaded(request)[0] is None
    assert (await server.invoke(server.request()))[-1]['event'] == 'completed'


async def test_no_fault_of_its_link_cancels_a_request(server: Running) -> None:
    events = await server.blocked_by(cancellable(server, 'a'))
    server.store.answers['a'] = [403, 'stall', 500, 'drop', 206, 302, 404]
    await until(lambda: len(server.store.answers['a']) == 1)
    server.engine.release()

    assert await closing(events) == 'completed'
    # Nor is it looked at any longer than the request takes.
    await until(lambda: not any('_watch' in repr(task) for task in asyncio.all_tasks()))
