"""No tenant at another's cost: who waits for whom, what is refused, and what is sent to those who wait."""

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from math import ceil
from pathlib import Path
from typing import Any

import pytest

from .fake_engine import PATIENCE_SECONDS
from .support import Running, blocked_by, closing, failure, in_seconds, opened, photo, running, steps, until

pytestmark = pytest.mark.anyio

STEPS = 20


def of(tenant: str, server: Running, **changes: Any) -> dict[str, Any]:
    """A request of the tenant; the engine sees whose it is by the prompt."""
    return server.request(**{'tenant': tenant, 'prompt': tenant, **changes})


async def waiting(stack: AsyncExitStack, server: Running, request: dict[str, Any]) -> AsyncGenerator[Any]:
    """The same of a request that has joined the queue, as its first event says."""
    events = await opened(stack, server, request)
    assert (await anext(events))['event'] == 'queued'
    return events


async def generate_until(server: Running, tenant: str) -> int:
    """Runs the engine until it blocks at the tenant's first step. Returns how many images began."""
    before = len(server.engine.begun)
    while True:
        server.engine.blocked.clear()
        server.engine.block(STEPS + 1)
        await until(server.engine.blocked.is_set)
        if server.engine.begun[-1][0].prompt == tenant:
            return len(server.engine.begun) - before


async def measured_seconds(server: Running) -> float:
    """How long a request takes, as the server measured it."""
    await server.invoke(server.request())
    return float([line['paintMs'] for line in server.lines() if 'paintMs' in line][-1]) / 1000


def wait_for(gate: threading.Event) -> None:
    """Keeps a thread of the engine waiting."""
    assert gate.wait(PATIENCE_SECONDS)


def percentile(values: list[int], share: float) -> int:
    """The value that so large a share of all values does not exceed."""
    return sorted(values)[ceil(share * len(values)) - 1]


async def test_an_idle_server_generates_nothing_that_it_cannot_finish(server: Running) -> None:
    server.engine.pause_seconds = 0.005
    await server.invoke(server.request())
    # From here on whatever is generated takes far longer than any deadline below.
    server.engine.pause_seconds = 0.3
    large = {'width': 2048, 'height': 2048, 'numInferenceSteps': 50}
    before = server.engine.steps_done
    for _ in range(9):
        request = server.request(outputs=4, tenant='flood', deadline=in_seconds(8), **large)
        assert failure(await server.invoke(request))[0] == 'busy'

    # One was tried, and given up as soon as its own steps showed that the estimate was right.
    assert 1 <= server.engine.steps_done - before <= 10
    server.engine.pause_seconds = 0
    assert (await server.invoke(of('other', server)))[-1]['event'] == 'completed'


async def test_who_was_admitted_before_anything_was_measured_is_looked_at_again_in_its_turn(
    server: Running,
) -> None:
    server.engine.pause_seconds = 0.02
    async with AsyncExitStack() as stack:
        await blocked_by(stack, server, of('a', server))
        late = await waiting(stack, server, of('b', server, width=2048, height=2048, deadline=in_seconds(7)))
        server.engine.release()
        assert failure([event async for event in late])[0] == 'busy'

    assert [spec.prompt for spec, _ in server.engine.begun] == ['a']


async def test_a_probe_corrects_an_estimate_that_was_too_high(tmp_path: Path) -> None:
    async with running(tmp_path, probe_seconds=3600) as server:
        server.engine.pause_seconds = 0.05
        await server.invoke(server.request())
        # By the estimate this takes more than 23 seconds. In truth it takes no time.
        server.engine.pause_seconds = 0
        for _ in range(3):
            events = await server.invoke(of('a', server, width=2048, height=2048, deadline=in_seconds(12)))
            assert events[-1]['event'] == 'completed'


async def test_the_estimate_also_learns_from_a_generation_that_never_made_an_image(server: Running) -> None:
    server.engine.pause_seconds = 0.3
    assert failure(await server.invoke(of('a', server, deadline=in_seconds(2))))[0] == 'deadline'
    await until(lambda: server.context.queue._current is None)
    # `a` may try once, then no more.
    assert [failure(await server.invoke(of('a', server, deadline=in_seconds(3))))[0] for _ in range(2)] == [
        'busy',
        'busy',
    ]


async def test_with_100_waiting_requests_of_one_tenant_another_waits_for_two_at_most(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, max_waiting=100) as server, AsyncExitStack() as stack:
        await blocked_by(stack, server, of('flood', server))
        for _ in range(100):
            await waiting(stack, server, of('flood', server))
        waits = []
        for _ in range(20):
            other = await waiting(stack, server, of('other', server))
            # Those that begin after its arrival, its own aside.
            waits.append(await generate_until(server, 'other') - 1)
            await generate_until(server, 'flood')
            assert await closing(other) == 'completed'

    print(
        f'generations begun before that of another tenant: p95 {percentile(waits, 0.95)}, most {max(waits)}'
    )
    assert percentile(waits, 0.95) <= 2


async def test_a_full_queue_makes_room_for_a_tenant_with_fewer_requests_in_it(tmp_path: Path) -> None:
    async with running(tmp_path, max_waiting=3) as server, AsyncExitStack() as stack:
        await blocked_by(stack, server, of('flood', server))
        flood = [await waiting(stack, server, of('flood', server)) for _ in range(3)]
        other = await waiting(stack, server, of('other', server))

        assert failure([event async for event in flood[2]]) == (
            'busy',
            'Too many requests are waiting for the model.',
        )
        assert failure(await server.invoke(of('flood', server)))[0] == 'busy'
        server.engine.release()
        for events in (*flood[:2], other):
            assert await closing(events) == 'completed'


async def test_who_is_pushed_out_while_its_inputs_are_fetched_hears_it_at_once(tmp_path: Path) -> None:
    async with running(tmp_path, max_waiting=1) as server, AsyncExitStack() as stack:
        server.store.gates['slow'] = asyncio.Event()
        await blocked_by(stack, server, of('flood', server))
        slow = await waiting(
            stack, server, of('flood', server, references=[{'url': server.store.link('slow')}])
        )
        await server.store.arrived['slow'].wait()
        other = await waiting(stack, server, of('other', server))

        assert failure([event async for event in slow])[0] == 'busy'
        server.engine.release()
        assert await closing(other) == 'completed'


async def test_a_request_is_admitted_by_its_own_turn_and_not_by_another_tenants_requests(
    server: Running,
) -> None:
    server.engine.pause_seconds = 0.02
    seconds = await measured_seconds(server)
    async with AsyncExitStack() as stack:
        await blocked_by(stack, server, of('flood', server, deadline=in_seconds(3600)))
        for _ in range(30):
            await waiting(stack, server, of('flood', server, deadline=in_seconds(3600)))
        # Enough for the one that runs and its own, but not for thirty more.
        deadline = in_seconds(seconds * 20)
        assert failure(await server.invoke(of('flood', server, deadline=deadline)))[0] == 'busy'
        other = await waiting(stack, server, of('other', server, deadline=deadline))
        server.engine.pause_seconds = 0
        server.engine.release()
        assert await closing(other) == 'completed'


async def test_references_of_another_tenant_do_not_wait_behind_a_flood_of_them(tmp_path: Path) -> None:
    async with running(tmp_path, reference_requests=1) as server, AsyncExitStack() as stack:
        await blocked_by(stack, server, of('flood', server, **photo(server)))
        # The second of the flood keeps the place of the references until all others wait for it.
        gate = threading.Event()
        server.engine.on_prepare = lambda _: wait_for(gate)
        for _ in range(10):
            await waiting(stack, server, of('flood', server, **photo(server)))
        await waiting(stack, server, of('other', server, **photo(server)))
        gate.set()
        await until(lambda: len(server.engine.prepared) == 12)

    assert [spec.prompt for spec in server.engine.prepared] == ['flood', 'flood', 'other', *['flood'] * 9]


async def test_who_waits_hears_its_place_each_time_it_improves_and_then_that_it_starts(
    server: Running,
) -> None:
    async with AsyncExitStack() as stack:
        await blocked_by(stack, server, of('a', server))
        second = await opened(stack, server, of('a', server))
        assert await anext(second) == {'event': 'queued', 'position': 1, 'etaSeconds': 0}
        third = await opened(stack, server, of('a', server))
        assert await anext(third) == {'event': 'queued', 'position': 2, 'etaSeconds': 0}
        server.engine.release()
        events = [event async for event in third]

    assert events[0] == {'event': 'queued', 'position': 1, 'etaSeconds': events[0]['etaSeconds']}
    assert events[1] == {'event': 'started'}
    assert [event['event'] for event in events[2:-1]] == ['progress'] * (len(events) - 3)
    assert steps(events)[-1] == STEPS
    assert events[-1]['event'] == 'completed'


async def test_who_waits_hears_its_place_every_few_seconds_and_nothing_of_progress(tmp_path: Path) -> None:
    async with running(tmp_path, heartbeat_seconds=0.02) as server:
        server.engine.pause_seconds = 0.01
        seconds = await measured_seconds(server)
        async with AsyncExitStack() as stack:
            await blocked_by(stack, server, of('a', server))
            await waiting(stack, server, of('a', server))
            events = await waiting(stack, server, of('b', server))
            seen = [await anext(events) for _ in range(3)]

    # `b` comes first of the two, and nothing is done yet of the one that runs.
    assert seen == [{'event': 'queued', 'position': 1, 'etaSeconds': ceil(seconds)}] * 3


async def test_who_does_not_wait_hears_only_that_it_starts(server: Running) -> None:
    events = await server.invoke(of('a', server))
    assert [event['event'] for event in events[:2]] == ['started', 'progress']


async def test_who_waits_for_its_inputs_or_the_model_has_not_started(tmp_path: Path) -> None:
    async with running(tmp_path, heartbeat_seconds=0.02) as server:
        server.store.gates['slow'] = asyncio.Event()
        slow = of('a', server, references=[{'url': server.store.link('slow')}])
        async with server.opened(slow) as events:
            assert [(await anext(events))['event'] for _ in range(3)] == ['queued'] * 3


async def test_a_service_that_sends_no_tenant_hears_what_it_always_heard(tmp_path: Path) -> None:
    async with running(tmp_path, heartbeat_seconds=0.02) as server, AsyncExitStack() as stack:
        await blocked_by(stack, server, server.request())
        events = await opened(stack, server, server.request())
        seen = [await anext(events) for _ in range(3)]
        assert [event['event'] for event in seen] == ['started', 'progress', 'progress']
        server.engine.release()
        assert 'queued' not in [event['event'] async for event in events]
