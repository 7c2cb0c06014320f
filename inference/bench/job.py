"""One job: the measurements of one variant of one model, in this process."""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median

from PIL import Image

from model_server.pipelines.engine import Adapter, ImageSpec, Reference, ReferenceMode

from .clock import Clock, gpu_seconds, measure_phases
from .machine import plan_for_here
from .models import build_model, read_adapters
from .painters import Painter, PlainPainter, open_painter
from .plans import ENGINE_ADAPTED, VARIANTS, Adapted, Plan, Variant, model_dir
from .rows import Rows
from .serving import serve_callers

# More than half of what CLIP reads at a time.
_PROMPT = (
    'a still life of a glass bottle and two lemons on a linen cloth beside a window, soft morning light from '
    'the left, long shadows, shallow depth of field, 85 mm lens, muted colors, fine grain, a plain plaster '
    'wall behind, dust in the light, photographed for a magazine, very detailed, calm and quiet'
)
_SEED = 7


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
        serve_callers(plan, adapters, _PROMPT, rows, variant.adapted)
        return
    measuring = Measuring(plan, variant, open_painter(variant, folder, plan), adapters, rows, Clock())
    measuring.load()
    if job == 'fresh':
        measuring.paint_the_same()
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
    painter: Painter
    #: Two or more.
    adapters: list[Adapter]
    rows: Rows
    clock: Clock

    def load(self) -> None:
        """Loads the model."""
        self._time('load and warm up', self.painter.load)

    def measure_all(self) -> None:
        """In the order of what tells most."""
        self._time('first request', self._painting(self._spec()))
        seconds = self._time_often('none')
        self._time('four outputs', self._painting(self._spec(), outputs=4))
        self._peak('four outputs')
        self._hash('first', 'none')
        self._hash('repeated', 'none')
        self._measure_adapters()
        self._measure_references()
        self._measure_phases(seconds)
        if isinstance(self.painter, PlainPainter):
            self._measure_merged(self.painter)

    def paint_the_same(self) -> None:
        """The images whose bytes are compared."""
        self._hash('fresh', 'none')
        self.painter.use(self.adapters[0])
        self._hash('fresh', self.variant.adapted)

    def _measure_adapters(self) -> None:
        one, other, *_ = self.adapters
        adapted = self.variant.adapted
        self._time('adapter, the first', partial(self.painter.use, one), adapter=adapted)
        self._time('first request with an adapter', self._painting(self._spec()), adapter=adapted)
        self._time_often(adapted)
        self._hash('first', adapted)
        self._time('adapter, another', partial(self.painter.use, other), adapter=adapted)
        self._painting(self._spec())()
        self._time('adapter, back to the first', partial(self.painter.use, one), adapter=adapted)
        self._hash('after a swap', adapted)
        self._time('adapter, none again', partial(self.painter.use, None), adapter=adapted)
        self._hash('after a swap', 'none')

    def _measure_merged(self, painter: PlainPainter) -> None:
        """diffusers once it has merged as an engine does; last, since it leaves other weights."""
        painter.use(self.adapters[0])
        self._time('merging an adapter', painter.merge, adapter=ENGINE_ADAPTED)
        self._time_often(ENGINE_ADAPTED)

    def _measure_references(self) -> None:
        modes: tuple[tuple[str, ReferenceMode], ...] = (
            ('from a reference', 'reference'),
            ('exact product', 'exact_product'),
        )
        for what, mode in modes:
            paint = self._painting(self._spec(mode))
            try:
                paint()
            except ValueError as error:
                self.rows.add('skipped', what=what, reason=str(error)[:200])
                continue
            self._time(what, paint)

    def _measure_phases(self, image_seconds: float) -> None:
        if self.painter.pipe is None:
            return
        paint = self._painting(self._spec())
        for phase, seconds in measure_phases(self.painter.pipe, paint).items():
            self.rows.value(f'phase: {phase}', seconds, 's', adapter='none')
        busy_seconds = gpu_seconds(paint)
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

    def _painting(self, spec: ImageSpec, outputs: int = 1) -> Callable[[], list[Image.Image]]:
        return partial(self.painter.paint, spec, _SEED, outputs)

    def _time(self, what: str, work: Callable[[], object], adapter: Adapted = 'none') -> None:
        self.rows.value(what, self.clock.seconds(work), 's', adapter=adapter)

    def _time_often(self, adapter: Adapted) -> float:
        """The median of one image, which is also its row."""
        self.clock.reset_peak()
        samples = [self.clock.seconds(self._painting(self._spec())) for _ in range(self.plan.repeats)]
        self.rows.value('one image', median(samples), 's', adapter=adapter, samples=samples)
        self._peak('one image', adapter)
        return median(samples)

    def _peak(self, what: str, adapter: Adapted = 'none') -> None:
        if self.clock.peak_bytes:
            self.rows.value(f'peak memory, {what}', self.clock.peak_bytes / 1e9, 'GB', adapter=adapter)

    def _hash(self, when: str, adapter: Adapted) -> None:
        image = self._painting(self._spec())()[0]
        digest = hashlib.sha256(image.tobytes()).hexdigest()
        # As a model paints that computes no numbers any more.
        blank = image.getcolors(1) is not None
        self.rows.value('bytes', digest, 'sha256', when=when, adapter=adapter, blank=blank)
