"""How long a request will take, and which are tried against the estimate."""

from dataclasses import replace

import pytest

from model_server.estimate import Estimate, Probes, size_of
from model_server.pipelines.engine import Order

from .fake_engine import FakeEngine

ORDER = Order(
    outputs=1,
    steps=20,
    guidance_scale=7.5,
    width=1000,
    height=1000,
    references=0,
    reference_mode='reference',
)


class OwnEngine(FakeEngine):
    """One that says all that an engine may say for better estimates."""

    def evaluations(self, order: Order) -> float:
        return order.steps / 2

    def pixels(self, order: Order) -> float:
        return order.width * order.height * (1 + order.references)

    def attention_per_megapixel(self) -> float:
        return 0.5


def test_an_engine_says_itself_how_much_work_a_request_is_or_is_taken_for_a_usual_one() -> None:
    usual, own = Estimate(FakeEngine()), Estimate(OwnEngine())
    # Guidance is a second pass in each step; attention grows with the square of the pixels.
    assert usual.size(ORDER) == pytest.approx(40 * 1.12)
    assert usual.size(replace(ORDER, guidance_scale=1)) == pytest.approx(20 * 1.12)
    assert usual.size(replace(ORDER, outputs=3, width=2000)) == pytest.approx(3 * 40 * (2 + 0.12 * 4))
    assert (
        own.size(replace(ORDER, references=3))
        == pytest.approx(10 * (4 + 0.5 * 16))
        == size_of(1, 10, 4e6, 0.5)
    )


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


@pytest.mark.parametrize(
    'asked',
    [
        # When, by whom, whether it may be tried; and whether it was ready in time.
        [(0, 'a', True, True), (59, 'a', False, False), (60, 'a', True, False), (120, 'a', False, False)],
        [
            (0, '', True, False),
            (86_400, '', False, False),
            (86_401, 'b', True, False),
            (86_461, '', True, False),
        ],
        [(at, f'tenant-{at}', at % 63 == 0, False) for at in range(0, 300, 7)],
    ],
)
def test_there_is_one_probe_in_a_while_and_not_again_for_a_tenant_whose_probe_came_to_nothing(
    asked: list[tuple[float, str, bool, bool]],
) -> None:
    times = iter([at for at, *_ in asked])
    probes = Probes(60, lambda: next(times))
    for _, tenant, taken, succeeded in asked:
        assert probes.take(tenant) == taken
        if succeeded:
            probes.succeeded()
