"""What is done for a request beside the GPU, before its turn."""

import threading
import weakref
from pathlib import Path

import pytest
from PIL import Image

from model_server.concurrency import EngineThread

from .fake_engine import PATIENCE_SECONDS
from .support import Running, closing, failure, identity, photo, running, safetensors, until

pytestmark = pytest.mark.anyio


def prompts(server: Running) -> list[str]:
    return [spec.prompt for spec in server.engine.prepared]


class Gate:
    """Holds the preparation of each request back until it is opened."""

    def __init__(self, server: Running) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()
        server.engine.on_prepare = lambda _: self._wait()

    def _wait(self) -> None:
        self.reached.set()
        assert self.opened.wait(PATIENCE_SECONDS)


async def test_happens_once_for_all_outputs_on_another_thread(server: Running) -> None:
    await server.invoke(server.request(outputs=4))
    assert (len(server.engine.prepared), len(server.engine.painted)) == (1, 4)
    assert len(server.engine.preparing_threads) == 1
    assert not server.engine.preparing_threads & server.engine.threads


async def test_happens_with_the_adapter_while_the_gpu_works_and_frees_the_reference_images(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, reference_requests=1) as server:
        adapted = identity(adapterUrl=server.store.add('a', safetensors()), adapterVersion='1')
        first = await server.blocked_by(server.request(prompt='first'))
        others = [
            await server.accepted(server.request(prompt=prompt, identity=adapted, **photo(server)))
            for prompt in ('second', 'third')
        ]
        await until(lambda: prompts(server) == ['first', 'second', 'third'])
        assert (server.engine.painted, server.engine.used) == ([], [None])
        assert len(server.engine.read_adapters) == 2
        server.engine.release()
        for events in (first, *others):
            assert await closing(events) == 'completed'
    assert server.engine.used == [None, *server.engine.read_adapters]


async def test_takes_turns_between_tenants(tmp_path: Path) -> None:
    async with running(tmp_path, heartbeat_seconds=0.05) as server:
        gate = Gate(server)
        # Who drops the events hangs up.
        events = [
            await server.accepted(server.request(tenant=tenant, prompt=prompt))
            for tenant, prompt in [('a', '1'), ('a', '2'), ('a', '3'), ('b', '4')]
        ]
        await until(gate.reached.is_set)
        gate.opened.set()
        for each in events:
            assert await closing(each) == 'completed'
    assert prompts(server) == ['1', '4', '2', '3']


@pytest.mark.parametrize('prompt', ['prepare lost: the context is gone', 'prepare exit: and gone'])
async def test_that_loses_the_engine_ends_it(tmp_path: Path, prompt: str) -> None:
    async with running(tmp_path) as server:
        first = await server.blocked_by(server.request())
        waiting = await server.accepted(server.request())
        assert failure(await server.invoke(server.request(prompt=prompt)))[0] == 'model_error'
        assert await server.ping() == 503
        server.engine.release()
        assert await closing(first) == 'completed'
        assert failure([event async for event in waiting])[0] == 'unavailable'


async def test_of_a_request_that_was_given_up_keeps_nobody_waiting_afterwards(server: Running) -> None:
    gate = Gate(server)
    async with server.opened(server.request(prompt='given up')) as events:
        await anext(events)
        await until(gate.reached.is_set)
    await until(lambda: not server.context.jobs)
    gate.opened.set()
    assert (await server.invoke(server.request()))[-1]['event'] == 'completed'
    assert len(server.engine.painted) == 1


async def test_leaves_nothing_of_a_request_on_its_thread() -> None:
    thread = EngineThread('test')
    photo = Image.new('RGB', (8, 8))
    seen = weakref.ref(photo)

    async def work(image: Image.Image) -> tuple[int, int]:
        return await thread.call(lambda: image.size)

    assert await work(photo) == (8, 8)
    del photo
    await until(lambda: seen() is None)
