"""The pattern of a Hessian from what tells which elements of the gradient sets of inputs reach.

Inputs are taken in blocks that are halved again and again. Of a pattern of blocks, sets of blocks of one colour tell
everything about the pattern of their parts: how often must be asked grows with the colours and with the logarithm of the
number of inputs. After Giftthaler, Neunert, Stäuble and Buchli, Automatic differentiation of rigid body dynamics for
optimal control (Advanced Robotics 31, 2017), and CasADi's hierarchical detection of sparsity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .colouring import star_colouring
from .symmetric import SymmetricPattern, entries_of_pairs

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .pattern_loops import Runner

    Ids = np.ndarray[Any, np.dtype[np.int64]]
    Floats = np.ndarray[Any, np.dtype[np.float64]]
    Truths = np.ndarray[Any, np.dtype[np.bool_]]

# How many runs are made for a step, if so many suffice.
RUNS = 2


def refined(n: int, lanes: int, follow: Callable[[Floats], Floats], most: int, run: Runner) -> SymmetricPattern | None:
    """The pattern of a Hessian by n inputs; None where more than `most` entries would be looked at.

    `follow` is given an array of shape (n, lanes), in which the inputs of a set are not 0, and gives one of that shape in
    which the elements of the gradient are not 0 that the set may reach.
    """
    one = np.zeros(1, dtype=np.int64)
    pattern = SymmetricPattern(1, one, one, run)
    shift = max(n - 1, 1).bit_length()
    while shift:
        colours = star_colouring(pattern)
        used = int(colours.max()) + 1
        halvings = min(max((RUNS * lanes // used).bit_length() - 1, 1), shift)
        if pattern.rows.size << 2 * halvings > most:
            return None
        shift -= halvings
        table = reached(n, lanes, follow, colours, used, shift, halvings)
        pattern = parts(pattern, colours, table, ((n - 1) >> shift) + 1, halvings)
    return pattern


def reached(
    n: int, lanes: int, follow: Callable[[Floats], Floats], colours: Ids, used: int, shift: int, halvings: int
) -> Truths:
    """Which parts of blocks, of 2**shift inputs each, are reached from the parts of a number in blocks of a colour.

    Of shape (blocks, parts of a block, colours, parts of a block).
    """
    inputs = np.arange(n, dtype=np.int64)
    count = 1 << halvings
    part = inputs >> shift
    lane = colours[part >> halvings] * count + (part & (count - 1))
    first_of_part = np.arange(0, n, 1 << shift)
    table = np.zeros((colours.size * count, used * count), dtype=bool)
    seeds = np.zeros((n, lanes))
    for first in range(0, used * count, lanes):
        inside = np.flatnonzero((lane >= first) & (lane < first + lanes))
        places = inside * lanes + (lane[inside] - first)
        seeds.reshape(-1)[places] = 1.0
        met = np.logical_or.reduceat(follow(seeds) != 0.0, first_of_part, axis=0)
        seeds.reshape(-1)[places] = 0.0
        table[: len(met), first : first + lanes] = met[:, : used * count - first]
    return table.reshape(colours.size, count, used, count)


def parts(pattern: SymmetricPattern, colours: Ids, table: Truths, blocks: int, halvings: int) -> SymmetricPattern:
    """The pattern of the parts of blocks, of which there are so many."""
    used = table.shape[2]
    ends = np.repeat(np.arange(pattern.n), np.diff(pattern.starts))
    meeting = np.bincount(ends * used + colours[pattern.neighbours], minlength=pattern.n * used)
    # A block that is alone in its colour is known by its row; else it is by its column (colouring.py).
    alone = (meeting[pattern.rows * used + colours[pattern.columns]] == 1) | (pattern.rows == pattern.columns)
    rows = np.where(alone, pattern.rows, pattern.columns)
    columns = pattern.rows + pattern.columns - rows
    entry, i, j = np.nonzero(table[rows, :, colours[columns], :])
    p, q = (rows[entry] << halvings) + i + 1, (columns[entry] << halvings) + j + 1
    q[(p > blocks) | (q > blocks)] = 0
    return SymmetricPattern(blocks, *entries_of_pairs([(p, q)], blocks, pattern.run), pattern.run)


__all__ = ["refined"]
