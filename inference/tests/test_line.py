"""Whose turn it is, without a GPU: the line alone."""

import random
from typing import Any

import pytest

from model_server.line import FairLine, QueuedRequest
from model_server.painting import Work
from model_server.pipelines.engine import Prepared

WORK = Work(Prepared(None, 0), None, [], 1, (512, 512))


def queued(tenant: str, size: float = 1, ready: bool = True) -> QueuedRequest:
    """A request, with its inputs fetched or not."""
    caller: Any = None
    return QueuedRequest(tenant, size, 0, caller, [], work=WORK if ready else None)


def joined(line: FairLine, *requests: QueuedRequest) -> None:
    """All join the line in this order."""
    for request in requests:
        line.join(request)


def paint_next(line: FairLine, done: float = 1) -> QueuedRequest:
    """Paints the one whose turn it is."""
    request = line.first_ready()
    assert request is not None
    line.begin(request)
    request.done = done
    line.end(request)
    return request


def paint_all(line: FairLine) -> list[QueuedRequest]:
    """Paints until nothing waits, in the order of turns."""
    return [paint_next(line) for _ in range(len(line))]


def test_one_tenant_is_served_in_the_order_of_arrival() -> None:
    line = FairLine()
    requests = [queued('', size) for size in (5, 1, 3, 1)]
    joined(line, *requests)
    assert paint_all(line) == requests


def test_tenants_take_turns_whatever_one_of_them_sends() -> None:
    line = FairLine()
    joined(line, *(queued('flood') for _ in range(6)), *(queued('other') for _ in range(2)))
    assert [each.tenant for each in paint_all(line)] == ['flood', 'other'] * 2 + ['flood'] * 4


def test_turns_are_shared_by_time_and_not_by_number() -> None:
    line = FairLine()
    joined(line, *(queued('large', 4) for _ in range(3)), *(queued('small', 1) for _ in range(8)))
    order = [each.tenant for each in paint_all(line)]
    assert order == ['large', *['small'] * 4, 'large', *['small'] * 4, 'large']


def test_whoever_was_away_has_saved_nothing_up() -> None:
    line = FairLine()
    joined(line, queued('back'), *(queued('busy') for _ in range(20)))
    for _ in range(10):
        paint_next(line)
    joined(line, *(queued('back') for _ in range(5)))
    assert [each.tenant for each in paint_all(line)][:6] == ['back', 'busy'] * 3


def test_who_waits_for_inputs_delays_nobody_and_saves_nothing_up() -> None:
    line = FairLine()
    slow = [queued('slow', ready=False) for _ in range(10)]
    joined(line, *slow, *(queued('quick') for _ in range(15)))
    assert [paint_next(line).tenant for _ in range(10)] == ['quick'] * 10
    for request in slow:
        request.work = WORK
    # The first two are in the same virtual moment, and the earlier arrival decides.
    assert [paint_next(line).tenant for _ in range(6)] == ['slow', *['slow', 'quick'] * 2, 'slow']


def test_what_is_not_painted_costs_nothing() -> None:
    line = FairLine()
    first, second, third = (queued('a', 10) for _ in range(3))
    joined(line, first, second, third, *(queued('b', 10) for _ in range(3)))
    assert line.leave(second)
    assert not line.leave(second)
    assert paint_next(line, done=0.1) is first
    assert [each.tenant for each in paint_all(line)] == ['b', 'a', 'b', 'b']


def test_the_foretold_order_is_the_order_in_which_all_are_painted() -> None:
    for seed in range(50):
        chance = random.Random(seed)
        line = FairLine()
        for _ in range(40):
            line.join(queued(chance.choice('abcd'), chance.choice([0.5, 1, 4])))
            if chance.random() < 0.3:
                paint_next(line, chance.random())
        foretold = list(line.in_order())
        assert paint_all(line) == foretold


def test_tenants_that_always_wait_get_the_same_time_but_for_one_request_each() -> None:
    for seed in range(30):
        chance = random.Random(seed)
        line = FairLine()
        largest = {tenant: chance.choice([1.0, 3.0, 16.0]) for tenant in 'abc'}
        served = dict.fromkeys(largest, 0.0)
        for tenant, size in largest.items():
            # A flood does not matter.
            for _ in range(chance.choice([2, 100])):
                line.join(queued(tenant, size * chance.uniform(0.1, 1)))
        for _ in range(200):
            request = paint_next(line)
            tenant = str(request.tenant)
            served[tenant] += request.size
            line.join(queued(tenant, largest[tenant] * chance.uniform(0.1, 1)))
            for one in largest:
                for other in largest:
                    # The bound of the paper's Theorem 1.
                    assert abs(served[one] - served[other]) <= largest[one] + largest[other] + 1e-9


def test_no_tenant_is_remembered_longer_than_it_matters() -> None:
    line = FairLine()
    joined(line, *(queued('flood') for _ in range(50)))
    for index in range(1000):
        line.join(queued(f'tenant-{index}', 1 + index % 3))
        if index % 5 == 0:
            line.leave(list(line.in_order())[-1])
        else:
            paint_next(line)
        if index % 100 == 99:
            for _ in range(len(line) // 2):
                paint_next(line)
            ahead = [each.tag for each in line._tenants.values() if not each.waiting]
            assert all(line._now < tag <= line._now + 3 for tag in ahead)
    paint_all(line)
    assert line._tenants == {}
    joined(line, queued('a'))
    assert paint_next(line).tenant == 'a'
    assert line._tenants == {}


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
    line = FairLine()
    requests = [queued(tenant) for tenant in waiting]
    joined(line, *requests)
    assert line.last_of_heaviest(newcomer) is (None if leaves is None else requests[leaves])
