"""The queue before the GPU: no tenant at another's cost, and what deadlines and hang-ups end."""

import asyncio
import threading
from math import ceil
from pathlib import Path
from typing import Any

import pytest

from .fake_engine import PATIENCE_SECONDS
from .support import Running, closing, failure, in_seconds, photo, running, until

pytestmark = pytest.mark.anyio

LARGE = {'width': 2048, 'height': 2048}


def of(tenant: str, server: Running, **changes: Any) -> dict[str, Any]:
    """A request of the tenant; the engine sees whose it is by the prompt."""
    return server.request(**{'tenant': tenant, 'prompt': tenant, **changes})


async def measured_seconds(server: Running) -> float:
    """How long a request takes, as the server measured it."""
    await server.invoke(server.request())
    return float([line['paintMs'] for line in server.lines() if 'paintMs' in line][-1]) / 1000


async def test_an_idle_server_generates_nothing_that_it_cannot_finish(server: Running) -> None:
    server.engine.pause_seconds = 0.005
    await server.invoke(server.request())
    # From here on whatever is generated takes far longer than any deadline below.
    server.engine.pause_seconds = 0.3
    before = server.engine.steps_done
    for _ in range(9):
        request = of('flood', server, outputs=4, numInferenceSteps=50, deadline=in_seconds(8), **LARGE)
        assert failure(await server.invoke(request))[0] == 'busy'

    # One was tried, and given up as soon as its own steps showed that the estimate was right.
    assert 1 <= server.engine.steps_done - before <= 10
    server.engine.pause_seconds = 0
    assert (await server.invoke(of('other', server)))[-1]['event'] == 'completed'


async def test_who_was_admitted_before_anything_was_measured_is_looked_at_again_in_its_turn(
    server: Running,
) -> None:
    server.engine.pause_seconds = 0.02
    await server.blocked_by(of('a', server))
    late = await server.accepted(of('b', server, deadline=in_seconds(7), **LARGE))
    server.engine.release()
    assert failure([event async for event in late])[0] == 'busy'

    assert [spec.prompt for spec, _ in server.engine.begun] == ['a']


async def test_before_the_first_measurement_nothing_is_refused_by_the_estimate(server: Running) -> None:
    await server.blocked_by(server.request())
    assert failure(await server.invoke(server.request(deadline=in_seconds(0.1))))[0] == 'deadline'


async def test_a_probe_corrects_an_estimate_that_was_too_high(tmp_path: Path) -> None:
    async with running(tmp_path, probe_seconds=3600) as server:
        server.engine.pause_seconds = 0.05
        await server.invoke(server.request())
        # By the estimate this takes more than 23 seconds. In truth it takes no time.
        server.engine.pause_seconds = 0
        for _ in range(3):
            events = await server.invoke(of('a', server, deadline=in_seconds(12), **LARGE))
            assert events[-1]['event'] == 'completed'


async def test_the_estimate_also_learns_from_a_generation_that_never_made_an_image(server: Running) -> None:
    server.engine.pause_seconds = 0.3
    assert failure(await server.invoke(of('a', server, deadline=in_seconds(2))))[0] == 'deadline'
    await until(lambda: server.context.queue._current is None)
    # `a` may try once, then no more.
    for _ in range(2):
        assert failure(await server.invoke(of('a', server, deadline=in_seconds(3))))[0] == 'busy'


async def test_a_full_queue_makes_room_for_a_tenant_with_fewer_requests_in_it_and_says_so_at_once(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, max_waiting=1) as server:
        # Whoever leaves learns it also while its inputs are still being fetched.
        server.store.gates['slow'] = asyncio.Event()
        await server.blocked_by(of('flood', server))
        link = {'url': server.store.link('slow')}
        leaving = await server.accepted(of('flood', server, references=[link]))
        await server.store.arrived['slow'].wait()
        other = await server.accepted(of('other', server))

        expected = ('busy', 'Too many requests are waiting for the model.')
        assert failure([event async for event in leaving]) == expected
        assert failure(await server.invoke(of('other', server))) == expected
        server.engine.release()
        assert await closing(other) == 'completed'


async def test_a_request_is_admitted_by_its_own_turn_and_not_by_another_tenants_requests(
    server: Running,
) -> None:
    server.engine.pause_seconds = 0.02
    seconds = await measured_seconds(server)
    await server.blocked_by(of('flood', server, deadline=in_seconds(3600)))
    for _ in range(30):
        await server.accepted(of('flood', server, deadline=in_seconds(3600)))
    # Enough for the one that runs and its own, but not for thirty more.
    deadline = in_seconds(seconds * 20)
    assert failure(await server.invoke(of('flood', server, deadline=deadline)))[0] == 'busy'
    other = await server.accepted(of('other', server, deadline=deadline))
    server.engine.pause_seconds = 0
    server.engine.release()
    assert await closing(other) == 'completed'


async def test_references_of_another_tenant_do_not_wait_behind_a_flood_of_them(tmp_path: Path) -> None:
    async with running(tmp_path, reference_requests=1) as server:
        await server.blocked_by(of('flood', server, **photo(server)))
        # The second of the flood keeps the place of the references until all others wait for it.
        gate = threading.Event()
        server.engine.on_prepare = lambda _: gate.wait(PATIENCE_SECONDS)
        for tenant in (*['flood'] * 10, 'other'):
            await server.accepted(of(tenant, server, **photo(server)))
        gate.set()
        await until(lambda: len(server.engine.prepared) == 12)

    assert [spec.prompt for spec in server.engine.prepared] == ['flood', 'flood', 'other', *['flood'] * 9]


async def test_who_waits_gets_its_place_each_time_it_improves_and_every_few_seconds(tmp_path: Path) -> None:
    async with running(tmp_path, heartbeat_seconds=0.02) as server:
        server.engine.pause_seconds = 0.01
        seconds = await measured_seconds(server)
        await server.blocked_by(of('a', server))
        second = await server.accepted(of('a', server))
        first = await server.hold(of('b', server))
        # `b` comes first of the two, and nothing is done yet of the one that runs.
        for _ in range(3):
            expected = {'event': 'queued', 'position': 1, 'etaSeconds': ceil(seconds)}
            assert await anext(first) == expected
        server.engine.release()
        for events, places in ((first, {1}), (second, {2, 1})):
            sent = [event async for event in events]
            assert {event['position'] for event in sent if event['event'] == 'queued'} == places
            assert {'event': 'started'} in sent


async def test_the_deadline_ends_a_request_that_runs_and_its_step_is_the_last(server: Running) -> None:
    server.engine.block(6)
    request = server.request(deadline=in_seconds(2))
    assert failure(await server.invoke(request))[0] == 'deadline'
    # Nobody had to wait for the step.
    assert server.engine.blocked.is_set()
    assert server.engine.steps_done == 5
    server.engine.release()
    assert (await server.invoke(server.request()))[-1]['event'] == 'completed'
    assert server.engine.steps_done == 5 + 1 + 20
    assert server.uploaded(request) == [None]


async def test_a_hang_up_stops_the_generation_after_the_step_and_uploads_nothing(server: Running) -> None:
    server.engine.block(6)
    gone = server.request(outputs=2)
    async with server.opened(gone) as events:
        await anext(events)
        await until(server.engine.blocked.is_set)
    await until(lambda: not server.context.jobs)
    server.engine.release()

    assert (await server.invoke(server.request()))[-1]['event'] == 'completed'
    assert server.engine.steps_done == 6 + 20
    assert server.uploaded(gone) == [None, None]
    outcomes = [line['outcome'] for line in server.lines() if line.get('message') == 'request']
    assert outcomes == ['disconnected', 'completed']
