"""How long a request will take, and which are tried against the estimate."""

from dataclasses import replace

import pytest

from model_server.estimate import Estimate, Probes, size_of, usual_evaluations
from model_server.pipelines.engine import Order

from .fake_engine import FakeEngine

ORDER = Order(
    outputs=1,
    steps=20,
    guidance_scale=7.5,
    width=1024,
    height=1024,
    references=0,
    reference_mode='reference',
)


class Clock:
    """A clock that stands still until it is set."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_guidance_is_a_second_pass_in_each_step() -> None:
    assert usual_evaluations(replace(ORDER, guidance_scale=1)) == 20
    assert usual_evaluations(replace(ORDER, guidance_scale=1.01)) == 40


def test_attention_grows_with_the_square_of_the_pixels() -> None:
    sizes = [size_of(1, 1, side * side, 0.12) for side in (512, 1024, 2048)]

    # Four times the pixels: the first share grows fourfold, the second sixteenfold.
    assert sizes[1] / sizes[0] == pytest.approx(4 * (1 + 0.12 * 1.048576) / (1 + 0.12 * 0.262144))
    assert sizes[2] / sizes[1] > 5
    assert size_of(3, 1, 1024 * 1024, 0.12) == 3 * sizes[1]


def test_an_engine_says_itself_how_often_it_evaluates_its_model_or_is_taken_for_a_usual_one() -> None:
    class Distilled(FakeEngine):
        def evaluations(self, order: Order) -> float:
            return order.steps / 2

    usual, own = (Estimate(engine).size(ORDER) for engine in (FakeEngine(), Distilled()))
    assert usual == pytest.approx(4 * own)


def test_what_an_engine_reads_beside_the_picture_counts_where_it_says_so() -> None:
    class Reader(FakeEngine):
        def pixels(self, order: Order) -> float:
            return order.width * order.height * (1 + order.references)

    read = Estimate(Reader()).size(replace(ORDER, references=3))
    assert read == Estimate(FakeEngine()).size(replace(ORDER, width=2048, height=2048))


def test_an_engine_says_itself_what_its_attention_adds_or_is_taken_for_a_usual_one() -> None:
    class Attentive(FakeEngine):
        def attention_per_megapixel(self) -> float:
            return 0.5

    order = replace(ORDER, width=1000, height=1000)
    usual, own = (Estimate(engine).size(order) for engine in (FakeEngine(), Attentive()))
    assert [usual, own] == pytest.approx([40 * 1.12, 40 * 1.5])


def test_nothing_takes_time_before_anything_was_measured() -> None:
    estimate = Estimate(FakeEngine())
    assert estimate.seconds(1e9) == 0

    estimate.learn(10, 5)
    assert estimate.seconds(4) == 2


def test_a_measurement_moves_the_estimate_by_a_part_and_a_quick_probe_at_once() -> None:
    estimate = Estimate(FakeEngine())
    estimate.learn(1, 10)
    estimate.learn(1, 1)
    assert estimate.seconds(1) == pytest.approx(7.3)
    estimate.learn(1, 1, probe=True)
    assert estimate.seconds(1) == 1
    estimate.learn(1, 2, probe=True)
    assert estimate.seconds(1) == pytest.approx(1.3)


def test_there_is_one_probe_in_a_while() -> None:
    clock = Clock()
    probes = Probes(60, clock)
    taken = []
    for clock.now in range(0, 300, 7):
        if probes.take(f'tenant-{clock.now}'):
            taken.append(clock.now)

    assert taken == [0, 63, 126, 189, 252]


@pytest.mark.parametrize('tenant', ['a', ''])
def test_a_tenant_whose_probe_came_to_nothing_does_not_get_the_next_one(tenant: str) -> None:
    clock = Clock()
    probes = Probes(60, clock)
    assert probes.take(tenant)
    for clock.now in (60, 600, 86_400):
        assert not probes.take(tenant)
    assert probes.take('b')
    clock.now += 60
    assert probes.take(tenant)


def test_a_tenant_whose_probe_was_ready_in_time_may_get_the_next_one() -> None:
    clock = Clock()
    probes = Probes(60, clock)
    assert probes.take('a')
    probes.succeeded()
    clock.now = 59
    assert not probes.take('a')
    clock.now = 60
    assert probes.take('a')
    clock.now = 120
    assert not probes.take('a')
