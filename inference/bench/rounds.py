"""The order of measurements. The variants take turns, so that a warmer machine slows all alike."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from model_server.pipelines.engine import Adapter

LOAD = 'load and warm up'
FIRST_ADAPTER = 'use the first adapter of all'
NEW_ADAPTER = 'use an adapter never seen'
KNOWN_ADAPTER = 'use an adapter seen before'
NO_ADAPTER = 'use none again'


@dataclass(frozen=True)
class Cost:
    """Measured costs of one operation."""

    seconds: float
    #: GPU memory, of which only the variant's own is counted; None without a GPU.
    peak_bytes: int | None


class Contestant(Protocol):
    """A measured variant. Its methods return what they cost."""

    @property
    def name(self) -> str:
        """Differs from all others' names."""

    def load(self) -> Cost:
        """Loads the model."""

    def paint(self, side: int, outputs: int, seed: int) -> Cost:
        """Paints images of side x side pixels."""

    def use(self, adapter: Adapter | None) -> Cost:
        """Loads the adapter, or unloads it."""

    def unload(self) -> None:
        """Gives the memory back."""


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    #: Pixels. Adapters are measured at the first one.
    sides: Sequence[int]
    #: So many times one image; four images half as often.
    repeats: int
    #: Two or more; each is measured once as a new one.
    adapters: Sequence[Adapter]


@dataclass
class Measurements:
    """All costs, by measurement and by variant."""

    log: Callable[[str], None]
    rows: dict[str, dict[str, list[Cost]]] = field(default_factory=dict)
    #: Whether they took turns.
    took_turns: bool = False
    #: Who was measured alone, and from when to when, in seconds.
    shifts: list[tuple[str, float, float]] = field(default_factory=list)

    def add(self, row: str, name: str, cost: Cost) -> None:
        """Adds a cost."""
        self.log(f'{name}: {row}: {cost.seconds:.3f} s')
        self.rows.setdefault(row, {}).setdefault(name, []).append(cost)


def measure(
    contestants: Sequence[Contestant], plan: Plan, done: Measurements, fit: Callable[[], bool]
) -> None:
    """
    Measures them in turns, or one after the other where they do not fit into memory together.

    `fit` says whether they do, once the first one is loaded.
    """
    began = time.monotonic()
    first, *others = contestants
    done.add(LOAD, first.name, first.load())
    done.took_turns = fit()
    if done.took_turns:
        for other in others:
            done.add(LOAD, other.name, other.load())
        _measure_loaded(contestants, plan, done)
        return
    for each in contestants:
        since = 0.0 if each is first else time.monotonic() - began
        if each is not first:
            done.add(LOAD, each.name, each.load())
        _measure_loaded([each], plan, done)
        each.unload()
        done.shifts.append((each.name, since, time.monotonic() - began))


def _measure_loaded(group: Sequence[Contestant], plan: Plan, done: Measurements) -> None:
    for side in plan.sides:
        _measure_images(group, plan, side, done)
    _measure_adapters(group, plan, done)


def _measure_images(group: Sequence[Contestant], plan: Plan, side: int, done: Measurements) -> None:
    for each in group:
        done.add(f'first image, {side}²', each.name, each.paint(side, 1, 0))
    for each in group:
        # Only to warm up: the memory for four images is taken here.
        each.paint(side, 4, 0)
    for turn in range(plan.repeats):
        for each in _rotated(group, turn):
            done.add(f'one image, {side}²', each.name, each.paint(side, 1, turn))
    for turn in range((plan.repeats + 1) // 2):
        for each in _rotated(group, turn):
            done.add(f'four images, {side}²', each.name, each.paint(side, 4, turn))


def _measure_adapters(group: Sequence[Contestant], plan: Plan, done: Measurements) -> None:
    side = plan.sides[0]
    for turn, adapter in enumerate(plan.adapters):
        for each in _rotated(group, turn):
            done.add(FIRST_ADAPTER if turn == 0 else NEW_ADAPTER, each.name, each.use(adapter))
            first = 'first image of all with an adapter' if turn == 0 else 'first image with a new adapter'
            done.add(f'{first}, {side}²', each.name, each.paint(side, 1, turn))
            done.add(f'one image with an adapter, {side}²', each.name, each.paint(side, 1, turn))
            done.add(NO_ADAPTER, each.name, each.use(None))
            if turn > 0:
                done.add(KNOWN_ADAPTER, each.name, each.use(plan.adapters[turn - 1]))
                each.use(None)


def _rotated(group: Sequence[Contestant], turn: int) -> Sequence[Contestant]:
    """Orders the turns so that each variant follows each other one."""
    start = turn % len(group)
    return [*group[start:], *group[:start]]
