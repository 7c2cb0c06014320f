"""An engine without a model: noise that depends on the seed, at a pace that tests choose."""

import logging
import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

from model_server.failure import Failure
from model_server.pipelines.engine import (
    Adapter,
    Engine,
    EngineLost,
    ImageSpec,
    LoadedAdapter,
    MakePicture,
    Prepared,
)

#: Who waits longer than this waits for something that never comes.
PATIENCE_SECONDS = 20


class FakeEngine(Engine):
    """
    The prompt `fail: …` raises it as an unexpected error, `refuse: …` as a Failure, `lost: …` loses it,
    `exit: …` ends its thread, `chatter: …` is logged by a library, and `small` makes another size. It
    happens while it generates, or with `prepare ` before the prompt while it prepares.
    """

    model_version = 'fake-1'

    def __init__(self, model_dir: Path = Path()) -> None:
        self.pause_seconds = float(os.environ.get('FAKE_PAUSE_SECONDS', '0'))
        #: `paint` waits before this step, counted over all outputs of all requests, until `release`.
        self.block_at: int | None = None
        #: Set while `paint` waits before that step.
        self.blocked = threading.Event()
        self._released = threading.Event()
        self.may_warm = threading.Event()
        if os.environ.get('FAKE_WARM') != 'never':
            self.may_warm.set()
        self.steps_done = 0
        self.prepared: list[ImageSpec] = []
        self.on_prepare: Callable[[ImageSpec], object] = lambda _: None
        #: With their seeds.
        self.begun: list[tuple[ImageSpec, int]] = []
        self.painted: list[tuple[ImageSpec, int]] = []
        self.used: list[Adapter | None] = []
        self.read_adapters: list[Adapter] = []
        self.threads: set[int] = set()
        self.preparing_threads: set[int] = set()
        self.picture_threads: set[int] = set()
        self.on_use: Callable[[Adapter | None], None] = lambda _: None

    def block(self, step: int) -> None:
        """Blocks before a step that is so many steps away, 1 being the next one. An earlier block ends."""
        before, self._released = self._released, threading.Event()
        self.block_at = self.steps_done + step
        before.set()

    def release(self) -> None:
        """Goes on."""
        self.block_at = None
        self._released.set()

    def warm(self) -> None:
        self.threads.add(threading.get_ident())
        if not self.may_warm.wait(PATIENCE_SECONDS):
            raise TimeoutError
        if os.environ.get('FAKE_WARM') == 'fail':
            raise RuntimeError('There is no such model.')

    def read(self, adapter: Adapter) -> LoadedAdapter:
        self.preparing_threads.add(threading.get_ident())
        self.read_adapters.append(adapter)
        if b'too-large' in adapter.path.read_bytes():
            raise Failure('adapter_unavailable', 'The adapter does not fit the model.')
        return LoadedAdapter(adapter, None)

    def prepare(self, spec: ImageSpec) -> Prepared:
        self.preparing_threads.add(threading.get_ident())
        self.on_prepare(spec)
        if spec.prompt.startswith('prepare '):
            _misbehave(spec.prompt.removeprefix('prepare '))
        self.prepared.append(spec)
        return Prepared(replace(spec, references=()), len(spec.references))

    def use(self, adapter: LoadedAdapter | None) -> None:
        used = None if adapter is None else adapter.adapter
        self.on_use(used)
        self.used.append(used)

    def paint(self, prepared: Prepared, seed: int, on_step: Callable[[int], None]) -> MakePicture:
        spec: ImageSpec = prepared.inputs
        self.threads.add(threading.get_ident())
        self.begun.append((spec, seed))
        for step in range(1, spec.steps + 1):
            released = self._released
            if self.block_at == self.steps_done + 1:
                self.blocked.set()
                assert released.wait(PATIENCE_SECONDS)
                self.blocked.clear()
            time.sleep(self.pause_seconds)
            self.steps_done += 1
            if step == 3:
                _misbehave(spec.prompt)
            on_step(step)
        self.painted.append((spec, seed))
        size = (spec.width, spec.height) if spec.prompt != 'small' else (64, 64)
        noise = np.random.default_rng(seed).integers(0, 256, (8, 8, 3), dtype=np.uint8)

        def make() -> Image.Image:
            self.picture_threads.add(threading.get_ident())
            return Image.fromarray(noise).resize(size, Image.Resampling.NEAREST)

        return make

    def memory_bytes(self) -> tuple[int, int] | None:
        return 1_000_000, 2_000_000


def _misbehave(prompt: str) -> None:
    kind, _, text = prompt.partition(': ')
    if kind == 'chatter':
        # As tokenizers do about a prompt that is too long for them.
        logging.getLogger('a_library').error('This part of the prompt was left out: %s', prompt)
    if kind == 'fail':
        raise RuntimeError(text)
    if kind == 'refuse':
        raise Failure('model_error', text)
    if kind == 'lost':
        raise EngineLost(text)
    if kind == 'exit':
        raise SystemExit(text)
