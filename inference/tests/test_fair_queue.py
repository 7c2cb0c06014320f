"""Whose turn it is, how long a request will take, and which are tried against the estimate."""

import random
from dataclasses import replace
from typing import Any

import pytest

from model_server.estimate import Estimate, Probes, size_of
from model_server.fair_queue import FairQueue, QueuedRequest
from model_server.generation import PreparedRequest
from model_server.pipelines.engine import Order, Prepared

from .fake_engine import FakeEngine

PREPARED = PreparedRequest(Prepared(None, 0), None, [], 1)


def queued(tenant: str, size: float = 1, ready: bool = True) -> QueuedRequest:
    """A request, with its inputs fetched or not."""
    unused: Any = None
    return QueuedRequest(tenant, size, 0, unused, [], unused, prepared=PREPARED if ready else None)


def queue_of(tenants: str, size: float = 1) -> tuple[FairQueue, list[QueuedRequest]]:
    """A queue with a request for each letter, which names its tenant, in this order."""
    queue, requests = FairQueue(), [queued(tenant, size) for tenant in tenants]
    for request in requests:
        queue.add(request)
    return queue, requests


def run_next(queue: FairQueue, done: float = 1) -> QueuedRequest:
    """Generates for the request whose turn it is."""
    request = queue.first_ready()
    assert request is not None
    queue.start(request)
    request.done = done
    queue.finish(request)
    return request


def run_all(queue: FairQueue) -> list[QueuedRequest]:
    """Generates until nothing waits, in the order of turns."""
    return [run_next(queue) for _ in range(len(queue))]


def tenants_of(requests: list[QueuedRequest]) -> str:
    return ''.join(each.tenant for each in requests)


def test_tenants_take_turns_and_whoever_was_away_has_saved_nothing_up() -> None:
    queue, _ = queue_of('b' + 'a' * 20)
    assert tenants_of([run_next(queue) for _ in range(10)]) == 'b' + 'a' * 9
    for _ in range(5):
        queue.add(queued('b'))
    assert tenants_of(run_all(queue)[:6]) == 'bababa'


def test_who_waits_for_inputs_delays_nobody_and_saves_nothing_up() -> None:
    queue, slow = FairQueue(), [queued('s', ready=False) for _ in range(10)]
    for request in (*slow, *(queued('q') for _ in range(15))):
        queue.add(request)
    assert tenants_of([run_next(queue) for _ in range(10)]) == 'q' * 10
    for request in slow:
        request.prepared = PREPARED
    # The first two are in the same virtual moment, and the earlier arrival decides.
    assert tenants_of([run_next(queue) for _ in range(6)]) == 'ssqsqs'


def test_what_is_not_generated_costs_nothing() -> None:
    queue, (first, second, *_) = queue_of('aaabbb', size=10)
    assert queue.remove(second)
    assert not queue.remove(second)
    # Ended before its first step, it is as if it had never begun.
    assert run_next(queue, done=0) is first
    assert tenants_of(run_all(queue)) == 'abbb'


def test_the_foretold_order_is_the_order_of_turns_and_within_a_tenant_that_of_arrival() -> None:
    for seed in range(50):
        chance = random.Random(seed)
        queue = FairQueue()
        for _ in range(40):
            queue.add(queued(chance.choice('abcd'), chance.choice([0.5, 1, 4])))
            if chance.random() < 0.3:
                run_next(queue, chance.random())
        foretold = list(queue.in_order())
        assert run_all(queue) == foretold
        for tenant in 'abcd':
            numbers = [each.number for each in foretold if each.tenant == tenant]
            assert numbers == sorted(numbers)


def test_tenants_that_always_wait_get_the_same_time_but_for_one_request_each() -> None:
    for seed in range(30):
        chance = random.Random(seed)
        queue = FairQueue()
        largest = {tenant: chance.choice([1.0, 3.0, 16.0]) for tenant in 'abc'}
        served = dict.fromkeys(largest, 0.0)
        for tenant, size in largest.items():
            # A flood does not matter.
            for _ in range(chance.choice([2, 100])):
                queue.add(queued(tenant, size * chance.uniform(0.1, 1)))
        for _ in range(200):
            request = run_next(queue)
            served[request.tenant] += request.size
            queue.add(queued(request.tenant, largest[request.tenant] * chance.uniform(0.1, 1)))
            for one in largest:
                for other in largest:
                    # The bound of the paper's Theorem 1.
                    assert abs(served[one] - served[other]) <= largest[one] + largest[other] + 1e-9


def test_no_tenant_is_remembered_longer_than_it_matters() -> None:
    queue, _ = queue_of('f' * 50)
    for index in range(1000):
        queue.add(queued(f'tenant-{index}', 1 + index % 3))
        if index % 5 == 0:
            queue.remove(list(queue.in_order())[-1])
        else:
            run_next(queue)
        ahead = [each.tag for each in queue._tenants.values() if not each.waiting]
        assert all(queue._now < tag <= queue._now + 3 for tag in ahead)
    run_all(queue)
    assert queue._tenants == {}


@pytest.mark.parametrize(
    ('waiting', 'newcomer', 'leaves'),
    [
        ('aaab', 'b', 2),
        ('aabb', 'b', None),
        ('aabb', 'c', 3),
        ('aabab', 'b', 3),
        ('aaa', 'a', None),
        ('ab', 'c', 1),
        ('', 'a', None),
    ],
)
def test_room_is_made_by_the_last_of_the_tenant_with_the_most(
    waiting: str, newcomer: str, leaves: int | None
) -> None:
    queue, requests = queue_of(waiting)
    assert queue.last_of_heaviest(newcomer) is (None if leaves is None else requests[leaves])


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

    attention_per_megapixel = 0.5

    def evaluations(self, order: Order) -> float:
        return order.steps / 2

    def pixels(self, order: Order) -> float:
        return order.width * order.height * (1 + order.references)


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
