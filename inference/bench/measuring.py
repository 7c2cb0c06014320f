"""One job, in this process: the measurements of one variant of one model, or the building of a model."""

import asyncio
import hashlib
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import cast

import torch
from PIL import Image

from model_server.pipelines.distilled import SIGN
from model_server.pipelines.engine import Adapter, ImageSpec, Reference, ReferenceMode
from random_models import Kind, build, build_ip_adapter, build_lora

from .backends import Backend, DiffusersBackend, open_backend
from .clock import Clock, gpu_seconds, measure_phases
from .plans import (
    ENGINE_ADAPTED,
    TURBO,
    VARIANTS,
    WITH_IP_ADAPTER,
    Adapted,
    Plan,
    Variant,
    model_dir,
    plan_for_here,
)
from .rows import Rows
from .serving import serve_callers

# More than half of what CLIP reads at a time.
_PROMPT = (
    'a still life of a glass bottle and two lemons on a linen cloth beside a window, soft morning light from '
    'the left, long shadows, shallow depth of field, 85 mm lens, muted colors, fine grain, a plain plaster '
    'wall behind, dust in the light, photographed for a magazine, very detailed, calm and quiet'
)
_SEED = 7
_ADAPTERS = 3
_RANK = 16


def run_job(plan_name: str, job: str, model: str, variant_name: str, out: Path, cache: Path) -> None:
    """Adds rows to the plan's file."""
    plan, variant = plan_for_here(plan_name), VARIANTS[variant_name]
    folder = model_dir(cache, model, plan)
    if job == 'build':
        build_model(model, folder, plan)
        return
    common = {'plan': plan_name, 'model': model, 'size': plan.size, 'variant': variant_name, 'job': job}
    rows = Rows(out / f'{plan_name}.jsonl', common)
    _set_environment(folder, variant, cache)
    adapters = read_adapters(folder)
    if job == 'serve':
        asyncio.run(serve_callers(plan, adapters, _PROMPT, rows, variant.adapted))
        return
    measuring = Measuring(plan, variant, open_backend(variant, folder, plan), adapters, rows, Clock())
    measuring.load()
    if job == 'fresh':
        measuring.generate_the_same()
    else:
        measuring.measure_all()


def _set_environment(folder: Path, variant: Variant, cache: Path) -> None:
    """The settings of the engine. Plain diffusers reads none of them."""
    compiled = cache / 'compiled'
    compiled.mkdir(parents=True, exist_ok=True)
    os.environ['MODEL_DIR'] = str(folder)
    os.environ['COMPILE'] = variant.compile or '0'
    os.environ['COMPILE_CACHE_DIR'] = str(compiled)


@dataclass(frozen=True)
class Measuring:
    """One variant and its rows."""

    plan: Plan
    variant: Variant
    backend: Backend
    #: Two or more.
    adapters: list[Adapter]
    rows: Rows
    clock: Clock

    def load(self) -> None:
        """Loads the model."""
        self._time('load and warm up', self.backend.load)

    def measure_all(self) -> None:
        """The most important first."""
        self._time('first request', self._generating(self._spec()))
        seconds = self._time_often('none')
        self._time('four outputs', self._generating(self._spec(), outputs=4))
        self._peak('four outputs')
        self._hash('first', 'none')
        self._hash('repeated', 'none')
        self._measure_adapters()
        self._measure_references()
        self._measure_phases(seconds)
        if isinstance(self.backend, DiffusersBackend):
            self._measure_merged(self.backend)

    def generate_the_same(self) -> None:
        """The images whose bytes are compared."""
        self._hash('fresh', 'none')
        self.backend.use(self.adapters[0])
        self._hash('fresh', self.variant.adapted)

    def _measure_adapters(self) -> None:
        one, other, *_ = self.adapters
        adapted = self.variant.adapted
        self._time('adapter, the first', partial(self.backend.use, one), adapter=adapted)
        self._time('first request with an adapter', self._generating(self._spec()), adapter=adapted)
        self._time_often(adapted)
        self._hash('first', adapted)
        self._time('adapter, another', partial(self.backend.use, other), adapter=adapted)
        self._generating(self._spec())()
        self._time('adapter, back to the first', partial(self.backend.use, one), adapter=adapted)
        self._hash('after a swap', adapted)
        self._time('adapter, none again', partial(self.backend.use, None), adapter=adapted)
        self._hash('after a swap', 'none')

    def _measure_merged(self, backend: DiffusersBackend) -> None:
        """diffusers once it has merged as an engine does; last, since it leaves other weights."""
        backend.use(self.adapters[0])
        self._time('merging an adapter', backend.merge, adapter=ENGINE_ADAPTED)
        self._time_often(ENGINE_ADAPTED)

    def _measure_references(self) -> None:
        modes: tuple[tuple[str, ReferenceMode], ...] = (
            ('from a reference', 'reference'),
            ('exact product', 'exact_product'),
        )
        for what, mode in modes:
            generate = self._generating(self._spec(mode))
            try:
                generate()
            except ValueError as error:
                self.rows.add('skipped', what=what, reason=str(error)[:200])
                continue
            self._time(what, generate)

    def _measure_phases(self, image_seconds: float) -> None:
        if self.backend.pipe is None:
            return
        generate = self._generating(self._spec())
        for phase, seconds in measure_phases(self.backend.pipe, generate).items():
            self.rows.value(f'phase: {phase}', seconds, 's', adapter='none')
        busy_seconds = gpu_seconds(generate)
        if busy_seconds is not None:
            self.rows.value('GPU at work', busy_seconds / image_seconds, 'share', adapter='none')

    def _spec(self, mode: ReferenceMode | None = None) -> ImageSpec:
        spec = ImageSpec(
            prompt=_PROMPT,
            negative_prompt='fog',
            steps=self.plan.steps,
            guidance_scale=5.0,
            width=self.plan.side,
            height=self.plan.side,
            references=(),
            reference_mode='reference',
            preserve_branding=False,
            settings={},
        )
        if mode is None:
            return spec
        side = self.plan.side // 2
        image = Image.radial_gradient('L').resize((side, side)).convert('RGB')
        image.putalpha(255)
        return replace(spec, references=(Reference(image),), reference_mode=mode)

    def _generating(self, spec: ImageSpec, outputs: int = 1) -> Callable[[], list[Image.Image]]:
        return partial(self.backend.generate, spec, _SEED, outputs)

    def _time(self, what: str, work: Callable[[], object], adapter: Adapted = 'none') -> None:
        self.rows.value(what, self.clock.seconds(work), 's', adapter=adapter)

    def _time_often(self, adapter: Adapted) -> float:
        """The median of one image, which is also its row."""
        self.clock.reset_peak()
        samples = [self.clock.seconds(self._generating(self._spec())) for _ in range(self.plan.repeats)]
        self.rows.value('one image', median(samples), 's', adapter=adapter, samples=samples)
        self._peak('one image', adapter)
        return median(samples)

    def _peak(self, what: str, adapter: Adapted = 'none') -> None:
        if self.clock.peak_bytes:
            self.rows.value(f'peak memory, {what}', self.clock.peak_bytes / 1e9, 'GB', adapter=adapter)

    def _hash(self, when: str, adapter: Adapted) -> None:
        image = self._generating(self._spec())()[0]
        digest = hashlib.sha256(image.tobytes()).hexdigest()
        # As of a model that computes no numbers any more.
        blank = image.getcolors(1) is not None
        self.rows.value('bytes', digest, 'sha256', when=when, adapter=adapter, blank=blank)


def build_model(model: str, folder: Path, plan: Plan) -> None:
    """Writes the model and its adapters. Where it is cut off, there is no such folder."""
    part = folder.with_suffix('.part')
    shutil.rmtree(part, ignore_errors=True)
    kind = cast('Kind', model.removesuffix(WITH_IP_ADAPTER).removesuffix(TURBO))
    build(kind, part, plan.size)
    if model.endswith(WITH_IP_ADAPTER):
        build_ip_adapter(part)
    if model.endswith(TURBO):
        _say_distilled(part)
    for index in range(_ADAPTERS):
        file = _adapter_file(part, index)
        build_lora(kind, part, file, _RANK, seed=index, dtype=torch.bfloat16)
    part.rename(folder)


def _say_distilled(model_dir: Path) -> None:
    path = model_dir / 'model_index.json'
    path.write_text(json.dumps({**json.loads(path.read_text('utf-8')), SIGN: True}, indent=2), 'utf-8')


def read_adapters(model_dir: Path) -> list[Adapter]:
    """As the server gives them to an engine."""
    files = [_adapter_file(model_dir, index) for index in range(_ADAPTERS)]
    return [Adapter(hashlib.sha256(file.read_bytes()).hexdigest(), file, 1.0) for file in files]


def _adapter_file(model_dir: Path, index: int) -> Path:
    return model_dir / f'adapter-{index}.safetensors'
