"""Whose turn it is, without a GPU."""

import random
from typing import Any

import pytest

from model_server.fair_queue import FairQueue, QueuedRequest
from model_server.generation import PreparedRequest
from model_server.pipelines.engine import Prepared

PREPARED = PreparedRequest(Prepared(None, 0), None, [], 1, (512, 512))


def queued(tenant: str, size: float = 1, ready: bool = True) -> QueuedRequest:
    """A request, with its inputs fetched or not."""
    listener: Any = None
    return QueuedRequest(tenant, size, 0, listener, [], prepared=PREPARED if ready else None)


def add_all(queue: FairQueue, *requests: QueuedRequest) -> None:
    """All are added in this order."""
    for request in requests:
        queue.add(request)


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


def test_one_tenant_is_served_in_the_order_of_arrival() -> None:
    queue = FairQueue()
    requests = [queued('', size) for size in (5, 1, 3, 1)]
    add_all(queue, *requests)
    assert run_all(queue) == requests


def test_tenants_take_turns_whatever_one_of_them_sends() -> None:
    queue = FairQueue()
    add_all(queue, *(queued('flood') for _ in range(6)), *(queued('other') for _ in range(2)))
    assert [each.tenant for each in run_all(queue)] == ['flood', 'other'] * 2 + ['flood'] * 4


def test_turns_are_shared_by_time_and_not_by_number() -> None:
    queue = FairQueue()
    add_all(queue, *(queued('large', 4) for _ in range(3)), *(queued('small', 1) for _ in range(8)))
    order = [each.tenant for each in run_all(queue)]
    assert order == ['large', *['small'] * 4, 'large', *['small'] * 4, 'large']


def test_whoever_was_away_has_saved_nothing_up() -> None:
    queue = FairQueue()
    add_all(queue, queued('back'), *(queued('busy') for _ in range(20)))
    for _ in range(10):
        run_next(queue)
    add_all(queue, *(queued('back') for _ in range(5)))
    assert [each.tenant for each in run_all(queue)][:6] == ['back', 'busy'] * 3


def test_who_waits_for_inputs_delays_nobody_and_saves_nothing_up() -> None:
    queue = FairQueue()
    slow = [queued('slow', ready=False) for _ in range(10)]
    add_all(queue, *slow, *(queued('quick') for _ in range(15)))
    assert [run_next(queue).tenant for _ in range(10)] == ['quick'] * 10
    for request in slow:
        request.prepared = PREPARED
    # The first two are in the same virtual moment, and the earlier arrival decides.
    assert [run_next(queue).tenant for _ in range(6)] == ['slow', *['slow', 'quick'] * 2, 'slow']


def test_what_is_not_generated_costs_nothing() -> None:
    queue = FairQueue()
    first, second, third = (queued('a', 10) for _ in range(3))
    add_all(queue, first, second, third, *(queued('b', 10) for _ in range(3)))
    assert queue.remove(second)
    assert not queue.remove(second)
    assert run_next(queue, done=0.1) is first
    assert [each.tenant for each in run_all(queue)] == ['b', 'a', 'b', 'b']


def test_the_foretold_order_is_the_order_in_which_all_have_their_turn() -> None:
    for seed in range(50):
        chance = random.Random(seed)
        queue = FairQueue()
        for _ in range(40):
            queue.add(queued(chance.choice('abcd'), chance.choice([0.5, 1, 4])))
            if chance.random() < 0.3:
                run_next(queue, chance.random())
        foretold = list(queue.in_order())
        assert run_all(queue) == foretold


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
            tenant = str(request.tenant)
            served[tenant] += request.size
            queue.add(queued(tenant, largest[tenant] * chance.uniform(0.1, 1)))
            for one in largest:
                for other in largest:
                    # The bound of the paper's Theorem 1.
                    assert abs(served[one] - served[other]) <= largest[one] + largest[other] + 1e-9


def test_no_tenant_is_remembered_longer_than_it_matters() -> None:
    queue = FairQueue()
    add_all(queue, *(queued('flood') for _ in range(50)))
    for index in range(1000):
        queue.add(queued(f'tenant-{index}', 1 + index % 3))
        if index % 5 == 0:
            queue.remove(list(queue.in_order())[-1])
        else:
            run_next(queue)
        if index % 100 == 99:
            for _ in range(len(queue) // 2):
                run_next(queue)
            ahead = [each.tag for each in queue._tenants.values() if not each.waiting]
            assert all(queue._now < tag <= queue._now + 3 for tag in ahead)
    run_all(queue)
    assert queue._tenants == {}
    add_all(queue, queued('a'))
    assert run_next(queue).tenant == 'a'
    assert queue._tenants == {}


@pytest.mark.parametrize(
    ('waiting', 'newcomer', 'leaves'),
    [
        ('aaa', 'b', 2),
        ('aaab', 'b', 2),
        ('aabb', 'b', None),
        ('aabb', 'a', None),
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
    queue = FairQueue()
    requests = [queued(tenant) for tenant in waiting]
    add_all(queue, *requests)
    assert queue.last_of_heaviest(newcomer) is (None if leaves is None else requests[leaves])
