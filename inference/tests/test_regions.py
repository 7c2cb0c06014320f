"""Connected regions."""

import numpy as np
import pytest

from model_server.pipelines.products.regions import drop_small, label_regions


def flood(mask: np.ndarray) -> int:
    """How many regions there are, counted pixel by pixel."""
    left = {(int(row), int(column)) for row, column in zip(*np.nonzero(mask), strict=True)}
    count = 0
    while left:
        count += 1
        edge = [left.pop()]
        while edge:
            row, column = edge.pop()
            for near in [(row + down, column + across) for down in (-1, 0, 1) for across in (-1, 0, 1)]:
                if near in left:
                    left.remove(near)
                    edge.append(near)
    return count


@pytest.mark.parametrize('seed', range(8))
def test_pixels_that_touch_have_one_number_and_others_have_another(seed: int) -> None:
    mask = np.random.default_rng(seed).random((40, 50)) < 0.1 + 0.05 * seed
    labels = label_regions(mask)
    assert ((labels > 0) == mask).all()
    assert labels.max() == flood(mask)
    # Neighbors, at a side or a corner, never differ.
    for down, across in ((0, 1), (1, 0), (1, 1), (1, -1)):
        moved = np.roll(labels, (-down, -across), (0, 1))[: 40 - down, 1:-1]
        here = labels[: 40 - down, 1:-1]
        assert (here == moved)[(here > 0) & (moved > 0)].all()


def test_nothing_has_no_regions() -> None:
    assert label_regions(np.zeros((5, 5), bool)).max() == 0
    assert not drop_small(np.zeros((5, 5), bool), 0.1).any()


def test_small_regions_are_dropped() -> None:
    mask = np.zeros((20, 20), bool)
    mask[2:12, 2:12] = True
    mask[15, 15] = True
    assert drop_small(mask, 0.02).sum() == 100
    assert drop_small(mask, 0.005).sum() == 101
