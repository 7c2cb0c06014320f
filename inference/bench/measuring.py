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
from .timing import digest_tensors, gauge_us, open_capture, profile, record_inputs, seconds, timed

# The tokenizer of these models makes a token of each letter, and CLIP reads 75 at a time: of a longer prompt
# plain diffusers drops the rest, and the engine does not, so they would not do the same.
_PROMPT = 'a still life of a glass bottle and two lemons on a linen cloth by a window'
_SEED = 7
# For the engine to compile. A run has six minutes.
_COMPILE_SECONDS = '110'
#: An engine that takes so many times as long as plain diffusers is measured no further.
_MOST_TIMES_PLAIN = 3
#: In each turn an evaluation is called so often, by the number of images.
_CALLS = {1: 6, 4: 3}

_Painting = Callable[[], list[Image.Image]]


def run_job(job: str, model: str, tiny: bool, out: Path, cache: Path) -> None:
    """Adds rows to the model's file."""
    set_environment()
    amount = FULL if torch.cuda.is_available() and not tiny else TINY
    rows = Rows(out / f'{model}.jsonl', {'model': model, 'size': amount.size, 'job': job})
    rows.add('machine', **describe_machine())
    (cache / 'compiled').mkdir(parents=True, exist_ok=True)
    built_seconds, folder = timed(lambda: build_model(model, cache, amount.size))
    rows.value('build', built_seconds, 's', variant='plain', adapter='none')
    os.environ['COMPILE_CACHE_DIR'] = str(cache / 'compiled')
    os.environ.setdefault('COMPILE_SECONDS', _COMPILE_SECONDS)
    measuring = Measuring(amount, Plain(folder), read_adapters(folder), rows)
    with torch.no_grad():
        measuring.run_fresh() if job == 'fresh' else measuring.run()


class Measuring:
    """The subjects and their rows. What fails is a row, and the rest goes on."""

    def __init__(self, amount: Amount, plain: Plain, adapters: Sequence[Adapter], rows: Rows) -> None:
        """`adapters`: two."""
        self._amount = amount
        self._plain = plain
        self._one, self._other = adapters
        self._rows = rows
        self._subjects: list[Subject] = [plain]
        side = amount.side
        self._spec = ImageSpec(_PROMPT, 'fog', amount.steps, 5.0, side, side, (), 'reference', False, {})

    def run(self) -> None:
        """All of it."""
        plain = self._plain
        self._time(plain, 'read the weights', plain.load)
        self._time(plain, 'first request', self._painting(plain))
        # The first batch is planned.
        self._painting(plain, outputs=4)()
        self._note_memory(plain)
        with self._trying('engine', 'load and warm up'):
            engine = self._load_engine()
            if self.is_good(engine):
                self._subjects.append(engine)
        for images in _CALLS:
            self._measure_evaluations(images)
        self._measure_images(self._subjects)
        for subject in self._subjects:
            with self._trying(subject.name, 'four outputs'):
                self._time(subject, 'four outputs', self._painting(subject, outputs=4))
            with self._trying(subject.name, 'GPU at work'):
                self._profile(subject)
            with self._trying(subject.name, 'an adapter'):
                self._time(subject, 'adapter, the first', partial(subject.use, self._one), 'merged')
                self._time(subject, 'first request with an adapter', self._painting(subject), 'merged')
                self._measure_images([subject], subject.adapted)
            if isinstance(subject, Served):
                self._measure_engine(subject)
        with self._trying('plain', 'a fused adapter'):
            self._time(plain, 'fuse the adapter', plain.merge, 'merged')
            self._measure_images([plain], 'merged')

    def run_fresh(self) -> None:
        """What another process makes, with the code that the first one kept."""
        engine = self._load_engine()
        self._measure_images([engine], times=1)
        engine.use(self._one)
        self._measure_images([engine], 'merged', times=1)
        # Nothing else has been in this process.
        self._note_memory(engine)

    def is_good(self, engine: Served) -> bool:
        """Whether its first picture is one, and took no absurd time."""
        took, (picture,) = timed(self._painting(engine))
        usual = seconds(self._painting(self._plain))
        self._value(engine, 'first request', took, 's')
        blank = _is_blank(picture)
        if blank or (took > _MOST_TIMES_PLAIN * usual and self._amount is not TINY):
            reason = 'blank' if blank else f'{took:.1f} s, plain: {usual:.1f} s'
            self._rows.add('failed', variant='engine', what='first picture', reason=reason)
            return False
        return True

    def _load_engine(self) -> Served:
        engine = Served(self._plain.model_dir)
        took, warm_seconds = timed(engine.load)
        version = engine.engine.model_version
        self._value(engine, 'read the weights', took - warm_seconds, 's')
        self._value(engine, 'ready after that', warm_seconds, 's', model_version=version)
        return engine

    def _measure_evaluations(self, images: int) -> None:
        """One evaluation of the denoiser by settings: eagerly, and as a graph."""
        quick = replace(self._spec, steps=2)
        recorded = {
            each.name: record_inputs(each.denoiser, self._painting(each, quick, images))
            for each in self._subjects
        }
        args, named = recorded['plain']
        plain = partial(self._plain.denoiser, *args, **named)
        ways = {
            'plain': (plain, self._plain.modes),
            'flash': (plain, replace(self._plain.modes, cudnn_attention=False)),
        }
        for subject in self._subjects:
            if images == 1:
                # The same for all, or they don't do the same.
                tokens = len(subject.pipe.tokenizer(_PROMPT).input_ids)
                leaves = tree_leaves(recorded[subject.name])
                sizes = sorted(str(list(leaf.shape)) for leaf in leaves if isinstance(leaf, torch.Tensor))
                self._value(subject, 'tokens of the prompt', tokens, 'tokens', inputs=sizes)
            if isinstance(subject, Served):
                ways['engine'] = partial(subject.evaluate, *args, **named), subject.modes
        found, capture = {}, open_capture()
        title = f'one evaluation, {"one image" if images == 1 else "four"}'
        for name, (work, modes) in ways.items():
            with self._trying(name, title):
                found[name] = Evaluation(modes, work, capture)
        for _ in range(self._amount.repeats):
            for evaluation in found.values():
                evaluation.take_turn(_CALLS[images])
        for name, evaluation in found.items():
            evaluation.tell(partial(self._rows.value, variant=name, adapter='none'), title)

    def _measure_images(
        self,
        subjects: Sequence[Subject],
        adapter: str = 'none',
        times: int | None = None,
        what: str = 'one image',
    ) -> None:
        """In turn; rows with the medians, and the digests of the very pictures."""
        taken: list[list[tuple[float, list[Image.Image]]]] = [[] for _ in subjects]
        for _ in range(times or self._amount.repeats):
            for subject, mine in zip(subjects, taken, strict=True):
                mine.append(timed(self._painting(subject)))
        for subject, mine in zip(subjects, taken, strict=True):
            samples, pictures = [took for took, _ in mine], [picture for _, (picture,) in mine]
            digests = [hashlib.sha256(picture.tobytes()).hexdigest() for picture in pictures]
            blank = any(map(_is_blank, pictures))
            more = {'samples': samples, 'digests': digests, 'blank': blank, 'gauge_us': gauge_us()}
            self._value(subject, what, median(samples), 's', adapter, **more)

    def _measure_engine(self, engine: Served) -> None:
        """Swaps of adapters, beginning with the one in use, and references."""
        after = 'one image after a swap'
        with self._trying('engine', 'a swap'):
            self._time(engine, 'adapter, another', lambda: engine.use(self._other), 'merged')
            self._painting(engine)()
            self._time(engine, 'adapter, back to the first', lambda: engine.use(self._one), 'merged')
            self._measure_images([engine], 'merged', 1, after)
            self._time(engine, 'adapter, none again', lambda: engine.use(None), 'merged')
            self._measure_images([engine], 'none', 1, after)
        self._time(engine, 'prepare', lambda: engine.engine.prepare(self._spec))
        modes: dict[str, ReferenceMode] = {'from a reference': 'reference', 'exact product': 'exact_product'}
        image = Image.radial_gradient('L').resize((self._amount.side // 2,) * 2).convert('RGB')
        image.putalpha(255)
        for what, mode in modes.items():
            with self._trying('engine', what):
                spec = replace(self._spec, references=(Reference(image),), reference_mode=mode)
                # The first is planned, and captured.
                self._painting(engine, spec)()
                self._time(engine, what, self._painting(engine, spec))

    def _profile(self, subject: Subject) -> None:
        """Three steps, of which the profiler's rows take seconds to read."""
        short = self._painting(subject, replace(self._spec, steps=3))
        took = seconds(short)
        busy_seconds, count, top = profile(short)
        self._value(subject, 'GPU at work', busy_seconds / took, 'share', steps=3, kernels=count, top_ms=top)

    def _painting(self, subject: Subject, spec: ImageSpec | None = None, outputs: int = 1) -> _Painting:
        def paint() -> list[Image.Image]:
            subject.modes.apply()
            return subject.generate(spec or self._spec, _SEED, outputs)

        return paint

    def _note_memory(self, subject: Subject) -> None:
        """As much as PyTorch ever took of the card."""
        if torch.cuda.is_available():
            self._value(subject, 'memory reserved', torch.cuda.max_memory_reserved() / 1e9, 'GB')

    def _time(self, subject: Subject, what: str, work: Callable[[], Any], adapter: str = 'none') -> None:
        self._value(subject, what, seconds(work), 's', adapter)

    def _value(
        self, subject: Subject, what: str, value: float, unit: str, adapter: str = 'none', **more: Any
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
        self._modes = modes
        modes.apply()
        digest = digest_tensors(work())
        output, replay = capture(work)
        replay()
        self._ways = {'eager': (work, digest), 'graph': (replay, digest_tensors(output))}
        self._samples_ms: dict[str, list[float]] = {'eager': [], 'graph': []}
        self._gauged_us: list[float] = []

    def take_turn(self, calls: int) -> None:
        """Milliseconds of a call, as so many take together."""
        self._modes.apply()
        for way, (call, _) in self._ways.items():
            took = seconds(lambda call=call: [call() for _ in range(calls)])  # type: ignore[misc]
            self._samples_ms[way].append(took / calls * 1e3)
        self._gauged_us.append(gauge_us())

    def tell(self, add: Callable[..., None], title: str) -> None:
        """Its rows."""
        for way, samples in self._samples_ms.items():
            more = {'samples': samples, 'digest': self._ways[way][1]}
            add(f'{title}, {way}', median(samples), 'ms', **more)
        add(f'{title}, starting an `add_`', median(self._gauged_us), 'µs', samples=self._gauged_us)


def _is_blank(picture: Image.Image) -> bool:
    """As of a model that computes no numbers any more."""
    return picture.getcolors(1) is not None
