"""What is measured: models, variants, and how much of each."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

Adapted = Literal['none', 'merged', 'wrapped']
#: Builds the model; measures; serves callers over HTTP; makes the same once more, in a fresh process.
Job = Literal['build', 'measure', 'serve', 'fresh']

#: In this order; a model is built before.
JOBS: tuple[Job, ...] = ('measure', 'serve', 'fresh')

#: Ends the name of a model that has one. There are tiny ones only.
WITH_IP_ADAPTER = '-ip'

#: Ends the name of a model that is said to be distilled, though its kind as it is built here is not.
TURBO = '-turbo'

#: How the engines hold an adapter, and how diffusers' `load_lora_weights` does.
ENGINE_ADAPTED: Adapted = 'merged'
PLAIN_ADAPTED: Adapted = 'wrapped'


@dataclass(frozen=True)
class Variant:
    """One way to run a model."""

    #: In words, for the tables.
    title: str
    #: The engine's setting COMPILE; None is diffusers without an engine.
    compile: str | None
    #: Beginnings of the models' names that can run so.
    models: tuple[str, ...] = ('',)

    @property
    def adapted(self) -> Adapted:
        """How it holds an adapter."""
        return PLAIN_ADAPTED if self.compile is None else ENGINE_ADAPTED

    def takes(self, model: str) -> bool:
        """Whether a model can run so."""
        return model.startswith(self.models)

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The server has no diffusers without an engine."""
        return JOBS if self.compile is not None else ('measure', 'fresh')


PLAIN = 'plain'
VARIANTS: dict[str, Variant] = {
    PLAIN: Variant('plain diffusers', None),
    'served': Variant('as served', '0'),
    'regional': Variant('regional', 'regional'),
    'whole': Variant('whole, channels last', 'whole', models=('sdxl',)),
}


@dataclass(frozen=True)
class Plan:
    """How much is measured of which models. The numbers are for a card."""

    #: As `random_models` names them, perhaps with an IP-Adapter, or distilled.
    models: tuple[str, ...]
    size: Literal['tiny', 'full'] = 'full'
    #: Pixels.
    side: int = 1024
    steps: int = 30
    #: So many times one image, after the first.
    repeats: int = 5
    #: Of all callers together, once without adapters and once with them.
    requests: int = 16
    #: A job may take so long.
    job_seconds: float = 420
    #: Jobs at the same time: their times say nothing, and it ends sooner.
    together: int = 1
    #: Also on a CPU, where the engines have float32.
    bfloat16: bool = False


PLANS: dict[str, Plan] = {
    'smoke': Plan(
        ('sdxl', f'sdxl{WITH_IP_ADAPTER}', 'z-image', 'flux2-klein'),
        size='tiny',
        side=512,
        steps=2,
        repeats=2,
        requests=8,
        job_seconds=240,
        together=8,
        bfloat16=True,
    ),
    'sdxl': Plan(('sdxl',)),
    'z-image': Plan(('z-image',), repeats=3, requests=8),
    'klein': Plan(('flux2-klein',), requests=32),
    'turbo': Plan((f'z-image{TURBO}',), requests=32),
}


def without_a_card(plan: Plan) -> Plan:
    """What a CPU can do to the end: a rehearsal, whose times say nothing."""
    return replace(plan, size='tiny', side=512, steps=2, repeats=1, requests=8, job_seconds=3000, together=1)


def model_dir(folder: Path, model: str, plan: Plan) -> Path:
    """Where a plan's model is built."""
    return folder / f'{model}-{plan.size}'
