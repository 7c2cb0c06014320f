"""Connected regions of a mask."""

import numpy as np


def label_regions(mask: np.ndarray) -> np.ndarray:
    """
    Numbers the regions of a boolean mask, height x width: 0 outside, 1 … n in its regions.

    Pixels that touch at a side or at a corner are of one region. Regions are numbered from the top.
    """
    # Runs are pixels beside each other in one row, `ends` are exclusive.
    steps = np.diff(np.pad(mask, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    rows, starts = np.nonzero(steps == 1)
    ends = np.nonzero(steps == -1)[1]
    parents = _join_runs(len(mask), rows, starts.tolist(), ends.tolist())
    roots = [_root(parents, run) for run in range(len(parents))]
    numbers = np.unique(np.asarray(roots, np.int64), return_inverse=True)[1] + 1
    labels = np.zeros(mask.shape, np.int64)
    labels[mask] = np.repeat(numbers, ends - starts)
    return labels


def _join_runs(height: int, rows: np.ndarray, starts: list[int], ends: list[int]) -> list[int]:
    """The parent of each run in a union-find forest, whose roots are each region's first run."""
    parents = list(range(len(starts)))
    first = np.searchsorted(rows, np.arange(height + 1)).tolist()
    for row in range(1, height):
        upper, lower = first[row - 1], first[row]
        while upper < first[row] and lower < first[row + 1]:
            if starts[upper] <= ends[lower] and starts[lower] <= ends[upper]:
                one, other = sorted((_root(parents, upper), _root(parents, lower)))
                parents[other] = one
            if ends[upper] < ends[lower]:
                upper += 1
            else:
                lower += 1
    return parents


def _root(parents: list[int], run: int) -> int:
    while parents[run] != run:
        parents[run] = parents[parents[run]]
        run = parents[run]
    return run


def drop_small(mask: np.ndarray, share: float) -> np.ndarray:
    """The mask without the regions that are smaller than this share of all regions together."""
    labels = label_regions(mask)
    sizes = np.bincount(labels.ravel())
    sizes[0] = 0
    kept: np.ndarray = (sizes >= share * sizes.sum())[labels] & mask
    return kept
