"""The queue before the GPU: deadlines, hang-ups, and who is too late."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from .support import Running, failure, in_seconds, running, steps, until

pytestmark = pytest.mark.anyio


async def wait_for_step(events: Any, step: int) -> None:
    """Reads events until one reports the step."""
    async for event in events:
        assert event['event'] in ('started', 'progress'), event
        if event.get('step') == step:
            return


async def test_the_deadline_ends_a_request_that_paints_and_its_step_is_the_last(server: Running) -> None:
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
        assert [event async for event in events][-1]['event'] == 'completed'
    assert len(server.engine.painted) == 2
    assert server.uploaded(third) == [None]


async def test_a_request_that_comes_after_its_deadline_is_not_begun(server: Running) -> None:
    events = await server.invoke(server.request(deadline='2020-01-01T00:00Z'))

    assert failure(events)[0] == 'deadline'
    assert server.engine.used == []


async def test_a_hang_up_stops_the_painting_after_the_step_and_uploads_nothing(server: Running) -> None:
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


async def test_a_hang_up_takes_only_its_own_request_out_of_the_queue(server: Running) -> None:
    server.engine.block(1)
    first, second, third = (server.request(seed=seed) for seed in (1, 2, 3))
    async with server.opened(first) as first_events:
        await anext(first_events)
        async with server.opened(third) as third_events:
            async with server.opened(second) as second_events:
                await anext(second_events)
            await until(lambda: len(server.context.jobs) == 2)
            server.engine.release()
            assert [event async for event in first_events][-1]['event'] == 'completed'
            assert [event async for event in third_events][-1]['event'] == 'completed'

    assert [seed for _, seed in server.engine.painted] == [1, 3]


async def test_requests_have_their_turn_in_the_order_of_the_queue(server: Running) -> None:
    server.engine.block(1)
    tasks = []
    for seed in range(5):
        tasks.append(asyncio.create_task(server.invoke(server.request(seed=seed))))
        await until(lambda: len(server.context.jobs) == len(tasks))
    server.engine.release()
    for task in tasks:
        assert (await task)[-1]['event'] == 'completed'

    assert [seed for _, seed in server.engine.painted] == list(range(5))


async def test_one_that_waits_for_a_slow_link_is_overtaken(server: Running) -> None:
    server.store.gates['slow'] = asyncio.Event()
    slow = server.request(references=[{'url': server.store.link('slow')}])
    async with server.opened(slow) as events:
        await server.store.arrived['slow'].wait()
        assert (await server.invoke(server.request()))[-1]['event'] == 'completed'
        server.store.answers['slow'] = [404]
        server.store.gates['slow'].set()
        assert failure([event async for event in events])[0] == 'reference_unreadable'


async def test_a_full_queue_is_busy_at_once(tmp_path: Path) -> None:
    async with running(tmp_path, max_waiting=2) as server:
        server.engine.block(1)
        async with server.opened(server.request()) as first:
            await anext(first)
            await until(lambda: bool(server.engine.used))
            async with server.opened(server.request()) as second, server.opened(server.request()) as third:
                await anext(second)
                await anext(third)
                assert failure(await server.invoke(server.request()))[0] == 'busy'
            await until(lambda: len(server.context.jobs) == 1)
            async with server.opened(server.request()) as again:
                server.engine.release()
                assert [event async for event in again][-1]['event'] == 'completed'


async def test_whoever_cannot_meet_the_deadline_by_estimate_is_busy_early(server: Running) -> None:
    server.engine.pause_seconds = 0.05
    await server.invoke(server.request())
    per_request = 20 * server.engine.pause_seconds
    server.engine.block(1)
    async with server.opened(server.request()) as first:
        await anext(first)
        await until(lambda: len(server.engine.used) == 2)
        # Its own work would fit, but not the work before it.
        events = await server.invoke(server.request(deadline=in_seconds(per_request * 1.5)))
        assert failure(events)[0] == 'busy'
        assert server.store.count('image-2') == 0
        async with server.opened(server.request(deadline=in_seconds(per_request * 20))) as patient:
            await anext(patient)
            server.engine.release()
            assert [event async for event in patient][-1]['event'] == 'completed'


async def test_nothing_is_refused_by_estimate_before_the_first_measurement(server: Running) -> None:
    server.engine.block(1)
    async with server.opened(server.request()) as first:
        await anext(first)
        await until(lambda: len(server.engine.used) == 1)
        assert failure(await server.invoke(server.request(deadline=in_seconds(0.1))))[0] == 'deadline'
        server.engine.release()
        assert [event async for event in first][-1]['event'] == 'completed'
