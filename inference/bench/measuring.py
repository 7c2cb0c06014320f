"""What a process measures: the most important first, and what is compared in turn."""

import hashlib
import os
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import torch
from PIL import Image
from torch.utils._pytree import tree_leaves

from model_server.pipelines.engine import Adapter, ImageSpec, Reference, ReferenceMode
from model_server.pipelines.runtime import set_environment

from .models import FULL, TINY, Amount, build_model, describe_machine, read_adapters
from .rows import Rows
from .subjects import Modes, Plain, Served, Subject
from .timing import (
    digest_tensors,
    gauge_us,
    measure_phases,
    now_seconds,
    open_capture,
    profile,
    record_inputs,
    seconds,
)

# The tokenizer of these models makes a token of each letter, and CLIP reads 75 at a time: of a longer prompt
# plain diffusers drops the rest, and the engine does not, so they would not do the same.
_PROMPT = 'a still life of a glass bottle and two lemons on a linen cloth by a window'
_SEED = 7
# For the engine to compile. A run has six minutes.
_COMPILE_SECONDS = '110'
#: An engine that takes so many times as long as plain diffusers is measured no further.
_MOST_TIMES_PLAIN = 3
#: In each of so many turns an evaluation is called so often, by the number of images.
_TURNS = 3
_CALLS = {1: 6, 4: 3}


def run_job(job: str, model: str, tiny: bool, out: Path, cache: Path) -> None:
    """Adds rows to the model's file."""
    set_environment()
    amount = FULL if torch.cuda.is_available() and not tiny else TINY
    rows = Rows(out / f'{model}.jsonl', {'model': model, 'size': amount.size, 'job': job})
    rows.add('machine', **describe_machine())
    cache.mkdir(parents=True, exist_ok=True)
    began = now_seconds()
    folder = build_model(model, cache, amount.size)
    rows.value('build', now_seconds() - began, 's', variant='none', adapter='none')
    (cache / 'compiled').mkdir(exist_ok=True)
    os.environ |= {'MODEL_DIR': str(folder), 'COMPILE_CACHE_DIR': str(cache / 'compiled')}
    os.environ.setdefault('COMPILE_SECONDS', _COMPILE_SECONDS)
    with torch.no_grad():
        measuring = Measuring(amount, folder, read_adapters(folder), rows)
        measuring.run_fresh() if job == 'fresh' else measuring.run()


class Measuring:
    """The subjects and their rows. What fails is a row, and the rest goes on."""

    def __init__(self, amount: Amount, model_dir: Path, adapters: Sequence[Adapter], rows: Rows) -> None:
        """`adapters`: two."""
        self._amount = amount
        self._model_dir = model_dir
        self._one, self._other = adapters
        self._rows = rows
        self._plain = Plain(model_dir)
        self._engine: Served | None = None

    def run(self) -> None:
        """All of it."""
        plain = self._plain
        self._value(plain, 'read the weights', seconds(plain.load), 's')
        self._value(plain, 'first request', seconds(self._painting(plain)), 's')
        # The first batch is planned.
        self._painting(plain, outputs=4)()
        self._note_memory(plain)
        with self._trying('engine', 'load and warm up'):
            engine = Served()
            self._load(engine)
            self._engine = engine if self._is_good(engine) else None
        for images in _CALLS:
            self._measure_evaluations(images)
        self._measure_images()
        self._measure_four()
        for subject in self._subjects:
            self._look_into(subject)
        self._measure_adapters()
        self._measure_references()
        with self._trying('plain', 'a fused adapter'):
            self._value(plain, 'fuse', seconds(plain.merge), 's', 'merged')
            self._time_often(plain, 'merged')

    def run_fresh(self) -> None:
        """What another process makes, with the code that the first one kept."""
        engine = Served()
        self._load(engine)
        self._time_often(engine, 'none', 1)
        self._value(engine, 'adapter, the first', seconds(partial(engine.use, self._one)), 's', 'merged')
        self._time_often(engine, 'merged', 1)
        # Nothing else has been in this process.
        self._note_memory(engine)

    @property
    def _subjects(self) -> list[Subject]:
        return [self._plain] if self._engine is None else [self._plain, self._engine]

    def _load(self, engine: Served) -> None:
        began = now_seconds()
        warm_seconds = engine.load()
        self._value(engine, 'read the weights', now_seconds() - began - warm_seconds, 's')
        version = engine.engine.model_version
        self._value(engine, 'ready after that', warm_seconds, 's', model_version=version)

    def _is_good(self, engine: Served) -> bool:
        """Whether its first picture is one, and took no absurd time."""
        took = seconds(self._painting(engine))
        self._value(engine, 'first request', took, 's')
        usual = seconds(self._painting(self._plain))
        blank = self._painting(engine)()[0].getcolors(1) is not None
        reason = 'blank' if blank else f'{took:.1f} s, plain: {usual:.1f} s'
        good = not blank and (took < _MOST_TIMES_PLAIN * usual or self._amount is TINY)
        if not good:
            self._rows.add('failed', variant='engine', what='first picture', reason=reason)
        return good

    def _measure_evaluations(self, images: int) -> None:
        """One evaluation of the denoiser by settings: eagerly, and as a graph."""
        plain, engine = self._plain, self._engine
        quick = self._spec(steps=2)
        args, named = record_inputs(plain.denoiser, self._painting(plain, quick, images))
        if images == 1:
            self._note_inputs(quick)
        ways: dict[str, tuple[Subject, Modes]] = {
            'plain': (plain, plain.modes),
            'flash': (plain, replace(plain.modes, cudnn_attention=False)),
        }
        if engine is not None:
            ways['engine'] = engine, engine.modes
        capture = open_capture()
        found: dict[str, Evaluation] = {}
        for name, (subject, modes) in ways.items():
            with self._trying(name, f'one evaluation, {images}'):
                found[name] = Evaluation(modes, partial(subject.forward, *args, **named), capture)
        for _ in range(_TURNS):
            for evaluation in found.values():
                evaluation.take_turn(_CALLS[images])
        for name, evaluation in found.items():
            evaluation.tell(self._rows, name, images)

    def _note_inputs(self, quick: ImageSpec) -> None:
        """How much there is to do, which must be the same for all."""
        for subject in self._subjects:
            tokens = len(subject.pipe.tokenizer(_PROMPT).input_ids)
            inputs = record_inputs(subject.denoiser, self._painting(subject, quick))
            shapes = [list(leaf.shape) for leaf in tree_leaves(inputs) if isinstance(leaf, torch.Tensor)]
            self._value(subject, 'tokens of the prompt', tokens, 'tokens', inputs=sorted(shapes))

    def _measure_images(self) -> None:
        taken: dict[str, list[tuple[float, Image.Image]]] = {each.name: [] for each in self._subjects}
        gauged = []
        for _ in range(self._amount.repeats):
            gauged.append(gauge_us())
            for subject in self._subjects:
                taken[subject.name].append(self._take(subject))
        for subject in self._subjects:
            self._tell(subject, 'none', taken[subject.name], gauge_us=gauged)

    def _measure_four(self) -> None:
        for subject in self._subjects:
            with self._trying(subject.name, 'four outputs'):
                self._value(subject, 'four outputs', seconds(self._painting(subject, outputs=4)), 's')

    def _measure_adapters(self) -> None:
        for subject in self._subjects:
            adapted, name = subject.adapted, subject.name
            with self._trying(name, 'an adapter'):
                took = seconds(partial(subject.use, self._one))
                self._value(subject, 'adapter, the first', took, 's', adapted)
                first = seconds(self._painting(subject))
                self._value(subject, 'first request with an adapter', first, 's', adapted)
                self._time_often(subject, adapted)
        engine = self._engine
        if engine is None:
            return
        with self._trying('engine', 'a swap'):
            self._value(engine, 'adapter, another', seconds(partial(engine.use, self._other)), 's', 'merged')
            self._painting(engine)()
            back = seconds(partial(engine.use, self._one))
            self._value(engine, 'adapter, back to the first', back, 's', 'merged')
            self._time_often(engine, 'merged', 1, 'one image after a swap')
            self._value(engine, 'adapter, none again', seconds(partial(engine.use, None)), 's', 'merged')
            self._time_often(engine, 'none', 1, 'one image after a swap')

    def _measure_references(self) -> None:
        engine = self._engine
        if engine is None:
            return
        modes: dict[str, ReferenceMode] = {'from a reference': 'reference', 'exact product': 'exact_product'}
        image = Image.radial_gradient('L').resize((self._amount.side // 2,) * 2).convert('RGB')
        image.putalpha(255)
        for what, mode in modes.items():
            with self._trying('engine', what):
                spec = replace(self._spec(), references=(Reference(image),), reference_mode=mode)
                # The first is planned, and captured.
                for _ in range(2):
                    took = seconds(self._painting(engine, spec))
                self._value(engine, what, took, 's')

    def _look_into(self, subject: Subject) -> None:
        """Where the time of an image goes."""
        with self._trying(subject.name, 'phases'):
            for phase, took in measure_phases(subject.pipe, self._painting(subject)).items():
                self._value(subject, f'phase: {phase}', took, 's')
        with self._trying(subject.name, 'GPU at work'):
            short = self._painting(subject, self._spec(steps=3))
            took = seconds(short)
            busy, count, top = profile(short)
            more = {'steps': 3, 'kernels': count, 'top_ms': top}
            self._value(subject, 'GPU at work', busy / took, 'share', **more)

    def _spec(self, steps: int | None = None) -> ImageSpec:
        side = self._amount.side
        steps = steps or self._amount.steps
        return ImageSpec(_PROMPT, 'fog', steps, 5.0, side, side, (), 'reference', False, {})

    def _painting(
        self, subject: Subject, spec: ImageSpec | None = None, outputs: int = 1
    ) -> Callable[[], list[Image.Image]]:
        def paint() -> list[Image.Image]:
            subject.modes.apply()
            return subject.generate(spec or self._spec(), _SEED, outputs)

        return paint

    def _take(self, subject: Subject) -> tuple[float, Image.Image]:
        """An image with its seconds."""
        began = now_seconds()
        image = self._painting(subject)()[0]
        return now_seconds() - began, image

    def _time_often(
        self, subject: Subject, adapter: str, times: int | None = None, what: str = 'one image'
    ) -> None:
        taken = [self._take(subject) for _ in range(times or self._amount.repeats)]
        self._tell(subject, adapter, taken, what)

    def _tell(
        self,
        subject: Subject,
        adapter: str,
        taken: Sequence[tuple[float, Image.Image]],
        what: str = 'one image',
        **more: object,
    ) -> None:
        """A row with the median, and the digests of the very images."""
        samples = [took for took, _ in taken]
        digests = [hashlib.sha256(image.tobytes()).hexdigest() for _, image in taken]
        # As of a model that computes no numbers any more.
        blank = any(image.getcolors(1) is not None for _, image in taken)
        more |= {'samples': samples, 'digests': digests, 'blank': blank}
        self._value(subject, what, median(samples), 's', adapter, **more)

    def _note_memory(self, subject: Subject) -> None:
        """As much as PyTorch ever took of the card."""
        if torch.cuda.is_available():
            self._value(subject, 'memory reserved', torch.cuda.max_memory_reserved() / 1e9, 'GB')

    def _value(
        self,
        subject: Subject,
        what: str,
        value: float,
        unit: str,
        adapter: str = 'none',
        **more: Any,
    ) -> None:
        self._rows.value(what, value, unit, variant=subject.name, adapter=adapter, **more)

    @contextmanager
    def _trying(self, variant: str, what: str) -> Generator[None, None, None]:
        try:
            yield
        except Exception as error:
            reason = f'{type(error).__name__}: {str(error)[:300]}'
            self._rows.add('failed', variant=variant, what=what, reason=reason)


class Evaluation:
    """One evaluation of a denoiser, eagerly and as a graph."""

    def __init__(self, modes: Modes, work: Callable[[], Any], capture: Any) -> None:
        """Calls it, and captures it."""
        self._modes, self._work = modes, work
        modes.apply()
        self._digests = [digest_tensors(work())]
        output, self._replay = capture(work)
        self._replay()
        self._digests.append(digest_tensors(output))
        self._samples: dict[str, list[float]] = {'eager': [], 'graph': [], 'gauge_us': []}

    def take_turn(self, calls: int) -> None:
        """Milliseconds of a call, as so many take together."""
        self._modes.apply()
        for way, call in (('eager', self._work), ('graph', self._replay)):

            def work(call: Callable[[], Any] = call) -> None:
                for _ in range(calls):
                    call()

            self._samples[way].append(seconds(work) / calls * 1e3)
        self._samples['gauge_us'].append(gauge_us())

    def tell(self, rows: Rows, variant: str, images: int) -> None:
        """Its rows."""
        gauged = self._samples['gauge_us']
        for way, digest in zip(('eager', 'graph'), self._digests, strict=True):
            samples = self._samples[way]
            what = f'one evaluation, {"one image" if images == 1 else "four"}, {way}'
            more = {'samples': samples, 'digest': digest, 'gauge_us': gauged, 'adapter': 'none'}
            rows.value(what, median(samples), 'ms', variant=variant, **more)
        what = 'starting an `add_`' + ('' if images == 1 else ', four')
        rows.value(what, median(gauged), 'µs', variant=variant, adapter='none')
