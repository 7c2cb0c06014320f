"""The queue before the GPU: deadlines, hang-ups, and who is too late."""

import asyncio
from typing import Any

import pytest

from .support import Running, closing, failure, in_seconds, steps, until

pytestmark = pytest.mark.anyio


async def wait_for_step(events: Any, step: int) -> None:
    """Reads events until one reports the step."""
    async for event in events:
        assert event['event'] in ('started', 'progress'), event
        if event.get('step') == step:
            return


async def test_the_deadline_ends_a_request_that_runs_and_its_step_is_the_last(server: Running) -> None:
    server.engine.block(6)
    request = server.request(deadline=in_seconds(2))
    events = await server.invoke(request)

    assert failure(events)[0] == 'deadline'
    # Nobody had to wait for the step.
    assert server.engine.blocked.is_set()
    assert server.engine.steps_done == 5
    server.engine.release()
    assert (await server.invoke(server.request()))[-1]['event'] == 'completed'
    assert server.engine.steps_done == 5 + 1 + 20
    assert server.uploaded(request) == [None]


async def test_the_deadline_ends_a_request_in_the_queue_and_one_that_uploads(server: Running) -> None:
    server.store.gates['image-1'] = asyncio.Event()
    first, second, third = server.request(), server.request(), server.request()
    uploading = server.invoke(second | {'deadline': in_seconds(2)})
    assert failure(await uploading)[0] == 'deadline'
    await server.store.left.wait()
    assert server.uploaded(second) == [None]

    server.engine.block(1)
    async with server.opened(first) as events:
        await anext(events)
        await until(lambda: server.engine.steps_done == 20)
        waiting = await server.invoke(third | {'deadline': in_seconds(0.3)})
        assert failure(waiting)[0] == 'deadline'
        assert steps(waiting) == []
        server.engine.release()
        assert await closing(events) == 'completed'
    assert len(server.engine.painted) == 2
    assert server.uploaded(third) == [None]


async def test_a_hang_up_stops_the_generation_after_the_step_and_uploads_nothing(server: Running) -> None:
    server.engine.block(6)
    gone = server.request(outputs=2)
    async with server.opened(gone) as events:
        # Two outputs: five steps are two of the request's.
        await wait_for_step(events, 2)
        await until(server.engine.blocked.is_set)
    await until(lambda: not server.context.jobs)
    server.engine.release()
    next_one = await server.invoke(server.request())

    assert next_one[-1]['event'] == 'completed'
    assert server.engine.steps_done == 6 + 20
    assert server.uploaded(gone) == [None, None]
    assert [line['outcome'] for line in server.lines() if line.get('message') == 'request'] == [
        'disconnected',
        'completed',
    ]


async def test_a_hang_up_cuts_an_upload_off(server: Running) -> None:
    server.store.gates['image-0'] = asyncio.Event()
    request = server.request()
    async with server.opened(request) as events:
        await wait_for_step(events, 20)
        await server.store.arrived['image-0'].wait()
    await server.store.left.wait()

    assert server.uploaded(request) == [None]
    assert server.store.count('image-0') == 1


async def test_one_that_waits_for_a_slow_link_is_overtaken(server: Running) -> None:
    server.store.gates['slow'] = asyncio.Event()
    slow = server.request(references=[{'url': server.store.link('slow')}])
    async with server.opened(slow) as events:
        await server.store.arrived['slow'].wait()
        assert (await server.invoke(server.request()))[-1]['event'] == 'completed'
        server.store.answers['slow'] = [404]
        server.store.gates['slow'].set()
        assert failure([event async for event in events])[0] == 'reference_unreadable'


async def test_nothing_is_refused_by_estimate_before_the_first_measurement(server: Running) -> None:
    server.engine.block(1)
    async with server.opened(server.request()) as first:
        await anext(first)
        await until(lambda: len(server.engine.used) == 1)
        assert failure(await server.invoke(server.request(deadline=in_seconds(0.1))))[0] == 'deadline'
        server.engine.release()
        assert await closing(first) == 'completed'
