"""An engine without a model: noise that depends on all of an order, at a pace that tests choose."""

import hashlib
import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

from model_server.failure import Failure
from model_server.pipelines.engine import Adapter, EngineLost, ImageSpec

#: Who waits longer than this waits for something that never comes.
PATIENCE_SECONDS = 20


class FakeEngine:
    """
    The prompt `fail: …` raises it as an unexpected error, `refuse: …` as a Failure, `lost: …` loses it,
    `exit: …` ends its thread, `chatter: …` is logged by a library, and `small` paints another size.
    """

    model_version = 'fake-1'

    def __init__(self, model_dir: Path = Path()) -> None:
        self.pause_seconds = float(os.environ.get('FAKE_PAUSE_SECONDS', '0'))
        #: The painting waits before this step, counted over all outputs of all requests, until `release`.
        self.block_at: int | None = None
        #: Set while the painting waits before that step.
        self.blocked = threading.Event()
        self._released = threading.Event()
        self.warm_error: Exception | None = None
        self.may_warm = threading.Event()
        if os.environ.get('FAKE_WARM') != 'never':
            self.may_warm.set()
        self.steps_done = 0
        self.begun: list[ImageSpec] = []
        self.painted: list[ImageSpec] = []
        self.used: list[Adapter | None] = []
        self.adapter: Adapter | None = None
        self.threads: set[int] = set()
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
        if self.warm_error is not None:
            raise self.warm_error
        if os.environ.get('FAKE_WARM') == 'fail':
            raise RuntimeError('There is no such model.')

    def use(self, adapter: Adapter | None) -> None:
        self.on_use(adapter)
        if adapter is not None and b'too-large' in adapter.path.read_bytes():
            raise Failure('adapter_unavailable', 'The adapter does not fit the model.')
        self.adapter = adapter
        self.used.append(adapter)

    def paint(self, spec: ImageSpec, on_step: Callable[[int], None]) -> Image.Image:
        self.threads.add(threading.get_ident())
        self.begun.append(spec)
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
        self.painted.append(spec)
        size = (spec.width, spec.height) if spec.prompt != 'small' else (64, 64)
        return self._noise(spec, size)

    def _noise(self, spec: ImageSpec, size: tuple[int, int]) -> Image.Image:
        digest = hashlib.sha256()
        for reference in spec.references:
            digest.update(reference.image.tobytes())
        told = [
            spec.prompt,
            spec.negative_prompt,
            spec.steps,
            spec.guidance_scale,
            spec.width,
            spec.height,
        ]
        told += [spec.reference_mode, spec.preserve_branding, sorted(spec.settings.items())]
        told += [self.adapter and (self.adapter.digest, self.adapter.scale)]
        digest.update(repr(told).encode())
        random = np.random.default_rng([spec.seed, int.from_bytes(digest.digest()[:8], 'big')])
        noise = random.integers(0, 256, (8, 8, 3), dtype=np.uint8)
        return Image.fromarray(noise).resize(size, Image.Resampling.NEAREST)

    def references_used(self, spec: ImageSpec) -> int:
        return len(spec.references)

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
