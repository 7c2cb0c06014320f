"""`python -m model_server`: settings, then the engine, then the server."""

import asyncio
import contextlib
import importlib
import json
import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Generator
from pathlib import Path
from typing import cast

import uvicorn

from .app import create_app, create_context
from .c2pa.manifest import Credentials
from .job import ServerContext
from .marks import Mark, load_mark
from .observing import Observer, silence_libraries
from .picture_check import PictureCheck, load_picture_check
from .pipelines.engine import Engine
from .settings import Settings, SettingsError

#: By what `_class_name` in a model's `model_index.json` says. Each is called with the folder of the model, on
#: the main thread, and loads nothing before `warm`.
PIPELINES = {
    'StableDiffusionXLPipeline': 'model_server.pipelines.sdxl:SdxlEngine',
    'ZImagePipeline': 'model_server.pipelines.z_image:ZImageEngine',
    'Flux2KleinPipeline': 'model_server.pipelines.flux2_klein:Flux2KleinEngine',
}

# Longer than a router in front of the server keeps an idle connection.
_KEEP_ALIVE_SECONDS = 75
_FLUSH_SECONDS = 3


class Server(uvicorn.Server):
    """Without uvicorn's signal handling, which would close the port while requests still run."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


def choose_engine(settings: Settings) -> str:
    """`module:Name` of the engine: what ENGINE says, or else the model. Raises SettingsError."""
    if settings.engine is not None:
        return settings.engine
    index = settings.model_dir / 'model_index.json'
    try:
        name = str(json.loads(index.read_text('utf-8'))['_class_name'])
    except (OSError, ValueError, KeyError, TypeError):
        raise SettingsError(f'Set ENGINE: {index} does not name its _class_name.') from None
    if name not in PIPELINES:
        raise SettingsError(f'No pipeline here is for {name}. Set ENGINE to one that does.')
    return PIPELINES[name]


def load_engine(settings: Settings) -> Engine:
    """Imports the engine and calls it with MODEL_DIR. Raises SettingsError, and what the engine raises."""
    path = choose_engine(settings)
    module, _, name = path.partition(':')
    if not module or not name:
        raise SettingsError('ENGINE must be a module and a name, such as my_package.my_module:MyEngine.')
    create = cast('Callable[[Path], Engine]', getattr(importlib.import_module(module), name))
    return create(settings.model_dir)


def load_credentials(settings: Settings) -> Credentials | None:
    """What images are signed with; None: they are not. Raises SettingsError."""
    if settings.c2pa_certificate is None and settings.c2pa_private_key is None:
        return None
    # Only who signs needs the library that it imports.
    from .c2pa.credentials import read_credentials

    return read_credentials(settings.c2pa_certificate, settings.c2pa_private_key)


def listen(host: str, port: int) -> socket.socket:
    """Opens the port. Raises OSError."""
    family = socket.AF_INET6 if ':' in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=2048)


async def serve(
    settings: Settings,
    engine: Engine,
    credentials: Credentials | None,
    check: PictureCheck | None,
    mark: Mark | None,
    port: socket.socket,
    observer: Observer,
) -> int:
    """Serves until SIGTERM or SIGINT, and answers the exit status: 1 when the model could not be loaded."""
    context = create_context(settings, engine, observer, credentials, check, mark)
    config = uvicorn.Config(
        create_app(context),
        access_log=False,
        log_config=None,
        server_header=False,
        ws='none',
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_FLUSH_SECONDS,
    )
    server = Server(config)
    stop = _on_signal(context)
    serving = asyncio.create_task(server.serve(sockets=[port]))
    queue = asyncio.create_task(context.queue.run())
    stopped = asyncio.create_task(stop.wait())
    observer.log('listening', port=port.getsockname()[1], modelVersion=engine.model_version)
    if credentials is not None:
        observer.log('images are signed', certificateEnds=credentials.ends.isoformat())
    if check is not None:
        observer.log('pictures are checked', refuseFrom=check.rules.refuse_from)
    if mark is not None:
        observer.log('images are marked', method=mark.binding.algorithm)
    await asyncio.wait({serving, queue, stopped}, return_when='FIRST_COMPLETED')
    failed = queue.done() and queue.exception() is not None
    if failed:
        _show_load_failure(observer, queue.exception())
    elif queue.done() and not stop.is_set():
        # /ping answers 503 now. Finished images may still be uploaded.
        observer.log('the engine is lost', 'error')
        await asyncio.wait({serving, stopped}, return_when='FIRST_COMPLETED')
    observer.log('stopping')
    if not failed:
        await context.stop()
    server.should_exit = True
    await serving
    observer.log('stopped')
    return 1 if failed else 0


def _on_signal(context: ServerContext) -> asyncio.Event:
    """The first signal asks to stop, the next one ends the grace time."""
    stop = asyncio.Event()

    def on_signal() -> None:
        if stop.is_set():
            context.fail_all()
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, on_signal)
    return stop


def _show_load_failure(observer: Observer, error: BaseException | None) -> None:
    if error is None:
        return
    observer.fault('the model could not be loaded', error)
    # No request was handled yet, so the text holds no prompt and may be shown.
    traceback.print_exception(error)


def main() -> int:
    """Returns the exit status. Arguments are ignored: SageMaker starts every container with `serve`."""
    silence_libraries()
    # A container's first process ignores SIGTERM without a handler, also while it imports libraries.
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    try:
        settings = Settings.from_environment()
        credentials = load_credentials(settings)
        check = None if settings.picture_check is None else load_picture_check(settings.picture_check)
        mark = load_mark(settings)
        engine = load_engine(settings)
        port = listen(settings.host, settings.port)
    except SettingsError as error:
        print(error, file=sys.stderr)
        return 2
    except Exception:
        traceback.print_exc()
        return 1
    return asyncio.run(serve(settings, engine, credentials, check, mark, port, Observer()))


if __name__ == '__main__':
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # Without the interpreter's shutdown, which would crash a step that still runs on the GPU's thread.
    os._exit(status)
