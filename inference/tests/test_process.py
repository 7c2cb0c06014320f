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

import httpx2
import pytest

from model_server.__main__ import choose_engine, load_engine
from model_server.settings import Settings, SettingsError

from .fake_engine import PATIENCE_SECONDS
from .file_store import FileStore, file_store
from .support import Running, closing, failure

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
    timeout = httpx2.Timeout(PATIENCE_SECONDS)
    async with (
        started(folder, **env) as process,
        file_store() as store,
        httpx2.AsyncClient(timeout=timeout, trust_env=False) as client,
    ):
        caller = Running(process.url, None, store, None, None, client)  # type: ignore[arg-type]
        await caller.ping_is(200)
        yield process, store, caller


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


@pytest.mark.parametrize(
    ('env', 'status', 'said'),
    [
        ({'FAKE_WARM': 'fail'}, 1, 'There is no such model.'),
        ({'PORT': 'many'}, 2, 'PORT must be a whole number from 0 to 65535.'),
    ],
)
async def test_a_model_that_cannot_be_loaded_ends_the_process_with_1_and_a_bad_setting_with_2(
    tmp_path: Path, env: dict[str, str], status: int, said: str
) -> None:
    async with started(tmp_path, **env) as process:
        assert await process.end() == status
        assert said in ''.join(process.output)


@pytest.mark.parametrize(
    ('env', 'said'),
    [
        ({'GRACE_SECONDS': 'nan'}, 'GRACE_SECONDS must be a number from 0 to 3600.'),
        ({'ENGINE': 'nothing'}, 'ENGINE must be a module and a name'),
        ({'ENGINE': '', 'MODEL_DIR': '/nowhere'}, 'Set ENGINE'),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(env: dict[str, str], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        load_engine(Settings.from_environment(env))


@pytest.mark.parametrize(
    ('class_name', 'env', 'chosen'),
    [
        ('StableDiffusionXLPipeline', {}, 'model_server.pipelines.sdxl:SdxlEngine'),
        ('ZImagePipeline', {}, 'model_server.pipelines.z_image:ZImageEngine'),
        ('Flux2KleinPipeline', {}, 'model_server.pipelines.flux2_klein:Flux2KleinEngine'),
        ('ZImagePipeline', {'ENGINE': 'a.b:C'}, 'a.b:C'),
        ('Other', {}, None),
    ],
)
def test_the_pipeline_is_what_the_settings_or_the_model_say(
    tmp_path: Path, class_name: str, env: dict[str, str], chosen: str | None
) -> None:
    (tmp_path / 'model_index.json').write_text(json.dumps({'_class_name': class_name}))
    settings = Settings.from_environment({'MODEL_DIR': str(tmp_path), **env})
    if chosen is None:
        with pytest.raises(SettingsError):
            choose_engine(settings)
    else:
        assert choose_engine(settings) == chosen


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


async def test_no_prompt_is_printed_whatever_fails_or_talks_in_the_process(tmp_path: Path) -> None:
    async with served(tmp_path) as (process, store, caller):
        async with caller.opened(caller.request(prompt=SECRET)) as events:
            await anext(events)
        store.answers['dropped'] = ['drop']
        for prompt in ('chatter', 'fail', 'refuse', 'lost'):
            about: dict[str, Any] = {'tenant': SECRET, 'cancelUrl': store.link('dropped')}
            await caller.invoke(caller.request(prompt=f'{prompt}: {SECRET}', **about))
        await caller.client.post(f'{caller.url}/invocations?{SECRET}', content=f'{{"{SECRET}'.encode())
        await caller.client.get(f'{caller.url}/{SECRET}?{SECRET}')
        process.terminate()
        assert await process.end() == 0

    printed = ''.join(process.output)
    assert SECRET not in printed
    assert store.url not in printed
    assert {'RuntimeError', 'EngineLost'} <= {json.loads(line).get('error') for line in process.output}
