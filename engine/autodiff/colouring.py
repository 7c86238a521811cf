"""Colouring a symmetric sparsity pattern, so that a few products with vectors give all its entries.

Columns of one colour are added up into one vector. A star colouring (neighbours differ, and no path of four vertices
has two colours only) lets every entry be read off one product: Coleman and Moré, Estimation of sparse Hessian matrices
and graph coloring problems (Math. Programming 28, 1984); Gebremedhin, Manne and Pothen, What color is your Jacobian?
(SIAM Review 47, 2005), algorithm 4.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any

    from .sparsity import Ids, SymmetricPattern

    Floats = np.ndarray[Any, np.dtype[np.float64]]

# Diagonals of a pattern, on one side, up to which it is looked at as a set of diagonals.
MOST_DIAGONALS = 16


def cycle(pattern: SymmetricPattern) -> int:
    """The number of colours that follow each other in a cycle, where those are no more than any colouring takes in which
    no two columns of a colour meet in a row; 0 where a search may find fewer.

    Columns i and i + k d have a colour; they meet where two diagonals of the pattern are k d apart.
    """
    if not pattern.rows.size:
        return 1
    period = int(np.bincount(pattern.rows[pattern.rows != pattern.columns], minlength=1).max()) + 1
    distances = np.flatnonzero(np.bincount(np.abs(pattern.rows - pattern.columns)))
    if distances.size > MOST_DIAGONALS:
        return 0
    diagonals = np.unique(np.concatenate((-distances, distances, [0])))
    apart = np.unique(np.abs(diagonals[:, None] - diagonals))
    return 0 if (apart[1:] % period == 0).any() else period


def star_colouring(pattern: SymmetricPattern) -> Ids:
    """A colour 0, 1, ... for each column: by falling number of neighbours each gets the least that its neighbourhood allows."""
    period = cycle(pattern)
    if period:
        return np.arange(pattern.n) % period
    apart = pattern.rows != pattern.columns
    neighbours = pattern.columns[apart].tolist()
    degrees = np.bincount(pattern.rows[apart], minlength=pattern.n)
    starts = np.concatenate(([0], np.cumsum(degrees))).tolist()
    colours = [-1] * pattern.n
    # The colours of the neighbours of a vertex, as bits: what a path through it may not repeat.
    seen = [0] * pattern.n
    for v in np.argsort(-degrees, kind="stable").tolist():
        forbidden = 0
        around = neighbours[starts[v] : starts[v + 1]]
        for w in around:
            # Through a neighbour without a colour no other may have this one; through one with a colour, only a vertex of
            # a lower colour than its own is in the way.
            if colours[w] < 0:
                forbidden |= seen[w]
            else:
                bit = 1 << colours[w]
                forbidden |= bit | seen[w] & (bit - 1)
        bit = ~forbidden & (forbidden + 1)
        colours[v] = bit.bit_length() - 1
        for w in around:
            seen[w] |= bit
    return np.array(colours)


def recovered(pattern: SymmetricPattern, colours: Ids, products: Floats) -> Floats:
    """The values of the entries, in order, from the products, of shape (colours, n)."""
    # Both of an entry and its double are read where the upper one is: in its row if it is alone there in its colour, else
    # in its column.
    used = len(products)
    meeting = np.bincount(pattern.rows * used + colours[pattern.columns], minlength=used * pattern.n)
    rows, columns = np.minimum(pattern.rows, pattern.columns), np.maximum(pattern.rows, pattern.columns)
    alone = meeting[rows * used + colours[columns]] == 1
    rows, columns = np.where(alone, rows, columns), np.where(alone, columns, rows)
    found: Floats = products.reshape(-1)[colours[columns] * pattern.n + rows]
    return found + 0.0
