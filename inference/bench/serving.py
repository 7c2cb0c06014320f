"""A load on the real server, over HTTP: callers that all want something at once."""

import asyncio
import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from model_server.__main__ import Server, listen
from model_server.pipelines.engine import Adapter

from .clock import now_seconds
from .plans import Adapted, Plan
from .rows import Rows

CALLERS = 8
# The contract's least number of steps.
_LEAST_STEPS = 20
_DEADLINE = timedelta(minutes=15)


async def serve_callers(
    plan: Plan, adapters: Sequence[Adapter], prompt: str, rows: Rows, adapted: Adapted
) -> None:
    """Starts the server of this environment, and has 8 callers at once, without adapters and with them."""
    timeout, limits = httpx2.Timeout(None), httpx2.Limits(max_connections=None)
    began = now_seconds()
    async with (
        _file_store(adapters[0].path.parent) as store,
        _model_server() as url,
        httpx2.AsyncClient(timeout=timeout, limits=limits, trust_env=False) as client,
    ):
        await _until_ready(client, url)
        rows.value('server ready', time.perf_counter() - began, 's', adapter='none')

        async def call(caller: int, adapter: Adapter | None, times: int) -> list[float]:
            """Seconds of each of so many requests, one after the other."""
            return [
                await _call(
                    client, url, _request(plan, prompt, store, caller, caller * 1000 + index, adapter)
                )
                for index in range(times)
            ]

        await call(CALLERS, None, 1)
        states: tuple[Adapted, ...] = ('none', adapted)
        for state in states:
            used = [None if state == 'none' else adapters[each % len(adapters)] for each in range(CALLERS)]
            began = time.perf_counter()
            times = max(1, plan.requests // CALLERS)
            found = await asyncio.gather(*(call(each, used[each], times) for each in range(CALLERS)))
            seconds = time.perf_counter() - began
            samples = [each for mine in found for each in mine]
            rate = 60 * len(samples) / seconds
            rows.value(f'{CALLERS} callers: images a minute', rate, '/min', adapter=state, samples=samples)
            rows.value(f'{CALLERS} callers: p50', median(samples), 's', adapter=state)
            p95 = quantiles(samples, n=20, method='inclusive')[-1]
            rows.value(f'{CALLERS} callers: p95', p95, 's', adapter=state)


async def _call(client: httpx2.AsyncClient, url: str, body: dict[str, Any]) -> float:
    """Seconds until the image lies at its link. Raises RuntimeError where it never does."""
    began = time.perf_counter()
    last: dict[str, Any] = {}
    async with client.stream('POST', f'{url}/invocations', json=body) as response:
        async for line in response.aiter_lines():
            last = json.loads(line)
    if last.get('event') != 'completed':
        raise RuntimeError(f'A request ended with {last}.')
    return time.perf_counter() - began


def _request(
    plan: Plan, prompt: str, store: str, caller: int, seed: int, adapter: Adapter | None
) -> dict[str, Any]:
    name = None if adapter is None else adapter.path.name
    return {
        'requestId': f'{caller}-{seed}',
        'tenant': f'tenant-{caller}',
        'deadline': (datetime.now(UTC) + _DEADLINE).strftime('%Y-%m-%dT%H:%M:%SZ'),
        'prompt': prompt,
        'negativePrompt': 'fog',
        'seed': seed,
        'numInferenceSteps': max(plan.steps, _LEAST_STEPS),
        'guidanceScale': 5.0,
        'width': plan.side,
        'height': plan.side,
        'numOutputs': 1,
        'referenceMode': 'reference',
        'preserveBranding': False,
        'references': [],
        'identity': {
            'id': f'identity-{name}',
            'adapterUrl': name and f'{store}/{name}',
            'adapterVersion': name and '1',
            'settings': {},
        },
        'outputs': [{'putUrl': f'{store}/image-{caller}-{seed}'}],
    }


@asynccontextmanager
async def _model_server() -> AsyncIterator[str]:
    """A server in its own process; answers its URL. Raises RuntimeError when it ends before it listens."""
    with tempfile.TemporaryDirectory() as folder:
        here = {'HOST': '127.0.0.1', 'PORT': '0', 'ADAPTER_DIR': folder, 'GRACE_SECONDS': '1'}
        process = await asyncio.create_subprocess_exec(
            sys.executable, '-m', 'model_server', env={**os.environ, **here}, stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout is not None
        try:
            port = await _read_port(process.stdout)
            draining = asyncio.create_task(_drain(process.stdout))
            yield f'http://127.0.0.1:{port}'
            draining.cancel()
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


async def _read_port(output: asyncio.StreamReader) -> int:
    while line := await output.readline():
        if b'"listening"' in line:
            return int(json.loads(line)['port'])
    raise RuntimeError('The server ended before it listened.')


async def _drain(output: asyncio.StreamReader) -> None:
    """Else the server would wait for a reader of its log."""
    while await output.readline():
        pass


async def _until_ready(client: httpx2.AsyncClient, url: str) -> None:
    try:
        while (await client.get(f'{url}/ping')).status_code != 200:  # noqa: ASYNC110
            await asyncio.sleep(0.2)
    except httpx2.TransportError:
        # In a few lines, so that a failed job's row has what the server said before it ended.
        sys.exit('The server ended before it was ready.')


@asynccontextmanager
async def _file_store(folder: Path) -> AsyncIterator[str]:
    """Serves the folder's adapters, and takes images to nowhere."""

    async def handle(request: Request) -> Response:
        if request.method == 'PUT':
            await request.body()
            return Response()
        return FileResponse(folder / request.path_params['name'])

    app = Starlette(routes=[Route('/{name}', handle, methods=['GET', 'PUT'])])
    port = listen('127.0.0.1', 0)
    server = Server(uvicorn.Config(app, log_config=None, ws='none', timeout_graceful_shutdown=1))
    serving = asyncio.create_task(server.serve(sockets=[port]))
    try:
        yield f'http://127.0.0.1:{port.getsockname()[1]}'
    finally:
        server.should_exit = True
        await serving
