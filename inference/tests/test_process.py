"""The real process: how it starts, what it prints, and how it ends."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from model_server.__main__ import choose_engine, load_engine
from model_server.settings import Settings, SettingsError

from .fake_engine import PATIENCE_SECONDS
from .file_store import FileStore, file_store
from .support import Running, closing, failure, identity, in_seconds, model_request

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parent.parent
SECRET = 'Sesame'


@dataclass
class Process:
    """A server in a process of its own."""

    process: asyncio.subprocess.Process
    url: str = ''
    output: list[str] = field(default_factory=list)
    reading: 'asyncio.Task[None] | None' = None

    async def read(self, listening: Callable[[int], None]) -> None:
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            self.output.append(line.decode())
            if '"listening"' in self.output[-1]:
                listening(json.loads(line)['port'])

    def terminate(self) -> None:
        """Sends SIGTERM."""
        self.process.send_signal(signal.SIGTERM)

    async def end(self) -> int:
        """The exit status."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert self.reading is not None
            await self.reading
            return await self.process.wait()


@asynccontextmanager
async def started(folder: Path, **env: str) -> AsyncIterator[Process]:
    """Runs `python -m model_server` with a fake engine."""
    settings = {'ENGINE': 'tests.fake_engine:FakeEngine', 'PORT': '0', 'HOST': '127.0.0.1'}
    process = Process(
        await asyncio.create_subprocess_exec(
            sys.executable, '-m', 'model_server', 'serve',
            cwd=ROOT, env={**os.environ, **settings, 'ADAPTER_DIR': str(folder / 'adapters'), **env},
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )
    )  # fmt: skip
    port: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    process.reading = asyncio.create_task(process.read(port.set_result))
    try:
        first: set[asyncio.Future[Any]] = {port, process.reading}
        await asyncio.wait(first, timeout=60, return_when='FIRST_COMPLETED')
        if port.done():
            process.url = f'http://127.0.0.1:{port.result()}'
        yield process
    finally:
        if process.process.returncode is None:
            process.process.kill()
        await process.process.wait()
        await process.reading


@asynccontextmanager
async def served(folder: Path, **env: str) -> AsyncIterator[tuple[Process, FileStore, Running]]:
    """The same with a file store and a caller, once it is warm."""
    timeout = httpx.Timeout(PATIENCE_SECONDS)
    async with (
        started(folder, **env) as process,
        file_store() as store,
        httpx.AsyncClient(timeout=timeout, trust_env=False) as client,
    ):
        caller = Running(process.url, None, store, None, None, client)  # type: ignore[arg-type]
        await caller.ping_is(200)
        yield process, store, caller


async def test_sigterm_ends_an_idle_server_with_0(tmp_path: Path) -> None:
    async with served(tmp_path) as (process, _, _):
        process.terminate()
        assert await process.end() == 0


async def test_sigterm_lets_what_runs_finish_and_takes_nothing_new(tmp_path: Path) -> None:
    async with served(tmp_path) as (process, store, caller):
        # A request whose upload waits is one that runs for as long as the test wants it to.
        gate = store.gates['image-0'] = asyncio.Event()
        async with caller.opened(caller.request()) as events:
            await store.arrived['image-0'].wait()
            process.terminate()
            await caller.ping_is(503)
            assert failure(await caller.invoke(caller.request())) == ('busy', 'The server is stopping.')
            assert failure(await caller.invoke({'probe': True}))[0] == 'busy'
            gate.set()
            assert await closing(events) == 'completed'
        assert await process.end() == 0
        assert list(store.stored) == ['image-0']


@pytest.mark.parametrize(('grace', 'signals'), [('0.1', 1), ('600', 2)])
async def test_what_runs_longer_than_the_grace_is_failed_and_the_process_ends_with_0(
    tmp_path: Path, grace: str, signals: int
) -> None:
    async with served(tmp_path, GRACE_SECONDS=grace, FAKE_PAUSE_SECONDS='3600') as (process, store, caller):
        async with caller.opened(caller.request()) as events, caller.opened(caller.request()) as waiting:
            await anext(events)
            await anext(waiting)
            process.terminate()
            if signals == 2:
                await caller.ping_is(503)
                process.terminate()
            expected = ('model_error', 'The server is stopping.')
            assert failure([event async for event in events]) == expected
            assert failure([event async for event in waiting]) == expected
        assert await process.end() == 0
        assert store.seen == []


async def test_sigterm_ends_a_server_that_still_loads_its_model(tmp_path: Path) -> None:
    async with started(tmp_path, FAKE_WARM='never') as process:
        process.terminate()
        assert await process.end() == 0


async def test_a_model_that_cannot_be_loaded_ends_the_process_with_1_and_says_why(tmp_path: Path) -> None:
    async with started(tmp_path, FAKE_WARM='fail') as process:
        assert await process.end() == 1
        assert 'There is no such model.' in ''.join(process.output)


async def test_a_setting_that_cannot_be_used_ends_the_process_with_2(tmp_path: Path) -> None:
    async with started(tmp_path, PORT='many') as process:
        assert await process.end() == 2
        assert 'PORT must be a whole number from 0 to 65535.' in ''.join(process.output)


@pytest.mark.parametrize(
    ('env', 'said'),
    [
        ({'GRACE_SECONDS': 'nan'}, 'GRACE_SECONDS must be a number from 0 to 3600.'),
        ({'ENGINE': 'nothing'}, 'ENGINE must be a module and a name'),
        ({'ENGINE': '', 'MODEL_DIR': '/nowhere'}, 'Set PIPELINE or ENGINE'),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(env: dict[str, str], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        load_engine(Settings.from_environment(env))


def test_the_pipeline_is_what_the_settings_or_the_model_say(tmp_path: Path) -> None:
    index = tmp_path / 'model_index.json'
    index.write_text('{"_class_name": "StableDiffusionXLPipeline"}')
    sdxl, z_image = 'model_server.pipelines.sdxl:SdxlEngine', 'model_server.pipelines.z_image:ZImageEngine'

    def chosen(**env: str) -> str:
        return choose_engine(Settings.from_environment({'MODEL_DIR': str(tmp_path), **env}))

    assert chosen() == sdxl
    assert chosen(PIPELINE='z-image') == z_image
    assert chosen(PIPELINE='z-image', ENGINE='a.b:C') == 'a.b:C'
    index.write_text('{"_class_name": "ZImagePipeline"}')
    assert chosen() == z_image
    index.write_text('{"_class_name": "Flux2KleinPipeline"}')
    assert chosen() == 'model_server.pipelines.flux2_klein:Flux2KleinEngine'
    index.write_text('{"_class_name": "Other"}')
    for env in ({}, {'PIPELINE': 'other'}):
        with pytest.raises(SettingsError):
            chosen(**env)


def test_every_setting_is_documented() -> None:
    class Asked(dict[str, str]):
        names: list[str] = []  # noqa: RUF012

        def get(self, key: str, default: Any = None) -> Any:
            self.names.append(key)
            return default

    asked = Asked()
    Settings.from_environment(asked)
    readme = (ROOT / 'README.md').read_text('utf-8')
    assert len(asked.names) > 10
    assert [name for name in asked.names if f'`{name}`' not in readme] == []


def of_every_kind(caller: Running, store: FileStore) -> list[dict[str, Any]]:
    """Requests that end in every way there is, full of secrets."""

    def request(**changes: Any) -> dict[str, Any]:
        return caller.request(**{'prompt': f'{SECRET} at dawn', 'negativePrompt': SECRET, **changes})

    def link(name: str, answer: int | str) -> str:
        store.answers[name] = [answer]
        return store.link(f'{name}', f'X-Signature={SECRET}')

    def put(answer: int | str) -> dict[str, Any]:
        changed = request()
        return changed | {'outputs': [{'putUrl': link(f'put-{answer}', answer)}]}

    answers: list[int | str] = [403, 503, 'drop', 'redirect', 'cut']
    nowhere = f'http://127.0.0.1:9/{SECRET}?X-Signature={SECRET}'
    links = [*(link(f'get-{answer}', answer) for answer in answers), nowhere]
    store.files['text'] = SECRET.encode() * 100
    return [
        request(),
        *(request(prompt=f'{kind}: {SECRET}') for kind in ('fail', 'refuse', 'chatter')),
        *(put(answer) for answer in answers[:4]),
        request() | {'outputs': [{'putUrl': nowhere}]},
        *(request(references=[{'url': url}]) for url in [*links, link('text', 200)]),
        *(request(identity=identity(adapterUrl=url)) for url in [*links, link('text', 200)]),
        request(deadline=in_seconds(-1)),
        request(seed=SECRET),
        request(outputs=1, numOutputs=2),
        request(**{SECRET: SECRET}),
        model_request([f'gopher://{SECRET}']),
        # Last, since nothing is painted after it.
        request(prompt=f'lost: {SECRET}'),
        request(),
    ]


async def test_no_prompt_and_no_link_is_ever_printed(tmp_path: Path) -> None:
    async with served(tmp_path) as (process, store, caller):
        async with caller.opened(caller.request(prompt=SECRET)) as events:
            await anext(events)
        *requests, losing, late = of_every_kind(caller, store)
        answers = await asyncio.gather(*(caller.invoke(request) for request in requests))
        answers += [await caller.invoke(losing), await caller.invoke(late)]
        reasons = {events[-1].get('reason', events[-1]['event']) for events in answers}
        await caller.client.post(f'{caller.url}/invocations?{SECRET}', content=f'{{"{SECRET}'.encode())
        await caller.client.get(f'{caller.url}/{SECRET}?{SECRET}')
        process.terminate()
        assert await process.end() == 0

        assert reasons == {
            'completed', 'invalid_request', 'busy', 'deadline', 'adapter_unavailable', 'reference_unreadable',
            'reference_invalid', 'upload_failed', 'model_error',
        }  # fmt: skip
        printed = ''.join(process.output)
        assert SECRET not in printed
        assert store.url not in printed
        assert 'Signature' not in printed
        lines = [json.loads(line) for line in process.output]
        assert len([line for line in lines if line.get('message') == 'request']) >= len(requests) - 4
        assert {'RuntimeError', 'EngineLost'} <= {line.get('error') for line in lines}
