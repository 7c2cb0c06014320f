"""What /ping says, and what becomes of requests when the model is not there."""

import asyncio
import threading
from pathlib import Path

import pytest

from .fake_engine import PATIENCE_SECONDS, FakeEngine
from .support import closing, failure, identity, running, safetensors, until

pytestmark = pytest.mark.anyio


async def test_ping_is_503_until_the_model_is_warm_and_requests_wait_for_it(tmp_path: Path) -> None:
    engine = FakeEngine()
    engine.may_warm.clear()
    async with running(tmp_path, engine) as server:
        assert await server.ping() == 503
        assert failure(await server.invoke({'probe': True}))[0] == 'busy'
        async with server.opened(server.request()) as events:
            assert await anext(events) == {'event': 'started'}
            await asyncio.sleep(0.05)
            assert engine.preparing_threads == set()
            engine.may_warm.set()
            assert await closing(events) == 'completed'
        assert await server.ping() == 200


class LateEngine(FakeEngine):
    """Knows what it is once it is warm, and has to warm up the thread that prepares."""

    def warm(self) -> None:
        super().warm()
        self.model_version = 'fake-2'

    def warm_preparing(self) -> None:
        assert self.threads
        self.warmed_thread = threading.get_ident()


async def test_an_engine_warms_both_threads_up_and_says_only_then_what_it_is(tmp_path: Path) -> None:
    engine = LateEngine()
    async with running(tmp_path, engine) as server:
        assert (await server.invoke(server.request()))[-1]['modelVersion'] == 'fake-2'
        assert await server.invoke({'probe': True}) == [{'event': 'ready', 'modelVersion': 'fake-2'}]
    assert engine.preparing_threads == {engine.warmed_thread}


@pytest.mark.parametrize('prompt', ['lost: the context is gone', 'exit: and gone'])
async def test_ping_is_503_once_the_engine_is_lost_and_whoever_waits_hears_of_it(
    tmp_path: Path, prompt: str
) -> None:
    async with running(tmp_path) as server:
        server.engine.block(1)
        async with server.opened(server.request(prompt=prompt)) as events:
            await anext(events)
            await until(lambda: len(server.engine.used) == 1)
            async with server.opened(server.request()) as waiting:
                await anext(waiting)
                server.engine.release()
                assert failure([event async for event in events])[0] == 'model_error'
                assert failure([event async for event in waiting])[0] == 'unavailable'

        assert await server.ping() == 503
        assert failure(await server.invoke(server.request()))[0] == 'unavailable'
        assert failure(await server.invoke({'probe': True}))[0] == 'unavailable'


@pytest.mark.parametrize('where', ['generating', 'preparing'])
async def test_ping_is_503_when_the_gpu_hangs_or_what_prepares_for_it(tmp_path: Path, where: str) -> None:
    gate = threading.Event()
    async with running(tmp_path, stuck_seconds=0.05) as server:
        if where == 'generating':
            server.engine.block(2)
        else:
            server.engine.on_prepare = lambda _: gate.wait(PATIENCE_SECONDS)
        async with server.opened(server.request()) as events:
            await anext(events)
            await until(lambda: server.context.queue.state == 'dead')
            assert await server.ping() == 503
            assert failure(await server.invoke(server.request()))[0] == 'unavailable'
        gate.set()


async def test_metrics_are_in_the_embedded_metric_format(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        request = server.request(outputs=2)
        request['identity'] = identity(adapterUrl=server.store.add('a', safetensors()), adapterVersion='1')
        await server.invoke(request)
        await server.invoke(request)

        metrics = [line for line in server.lines() if '_aws' in line]
        names = [line['_aws']['CloudWatchMetrics'][0]['Metrics'][0]['Name'] for line in metrics]
        once = ['QueueWait', 'AdapterLoad', 'StepTime', 'VideoMemory', 'StepTime', 'VideoMemory']
        # The adapter is loaded once.
        assert names == once + [name for name in once if name != 'AdapterLoad']
        for name, line in zip(names, metrics, strict=True):
            unit = 'Bytes' if name == 'VideoMemory' else 'Milliseconds'
            metric = {'Name': name, 'Unit': unit}
            about = {'Namespace': 'ImageGeneration', 'Dimensions': [['service']], 'Metrics': [metric]}
            stamp = {'Timestamp': line['_aws']['Timestamp'], 'CloudWatchMetrics': [about]}
            assert line == {'_aws': stamp, 'service': 'inference', name: line[name]}
            values = line[name] if isinstance(line[name], list) else [line[name]]
            assert all(value >= 0 for value in values)
        assert len(metrics[2]['StepTime']) == 19
        assert metrics[3]['VideoMemory'] == 2_000_000


async def test_each_request_leaves_one_line_with_what_it_was_and_how_it_ended(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        await server.invoke(server.request(outputs=2, requestId='r-1', width=576))
        await server.invoke(server.request(requestId='r-2', deadline='2020-01-01T00:00:00Z'))
        await asyncio.sleep(0)

        first, second = [line for line in server.lines() if line.get('message') == 'request']
        assert first.pop('time').endswith('+00:00')
        assert first.pop('queueWaitMs') >= 0
        assert first.pop('paintMs') >= 0
        assert first == {
            'level': 'info',
            'message': 'request',
            'requestId': 'r-1',
            'identityId': 'idn_a',
            'adapterVersion': None,
            'width': 576,
            'height': 512,
            'steps': 20,
            'outputs': 2,
            'references': 0,
            'outcome': 'completed',
        }
        assert (second['outcome'], second['queueWaitMs'], second['paintMs']) == ('deadline', None, None)
