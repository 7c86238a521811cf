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

    Ids = np.ndarray[Any, np.dtype[np.int64]]
    Floats = np.ndarray[Any, np.dtype[np.float64]]


def star_colouring(rows: Ids, columns: Ids, n: int) -> Ids:
    """A colour 0, 1, ... for each of n columns of a symmetric pattern, given by its upper triangle."""
    off = rows != columns
    i, j = rows[off], columns[off]
    if not i.size:
        return np.zeros(n, dtype=np.int64)
    degrees = np.bincount(i, minlength=n) + np.bincount(j, minlength=n)
    # A full band needs as many colours as it has diagonals, which is no search.
    diagonals = 2 * int((j - i).max()) + 1
    if diagonals <= int(degrees.max()) + 1:
        return np.arange(n, dtype=np.int64) % diagonals
    return greedy(i, j, degrees)


def greedy(i: Ids, j: Ids, degrees: Ids) -> Ids:
    """Vertices by falling degree; each gets the least colour that its neighbourhood allows."""
    n = degrees.size
    ends, neighbours = np.concatenate((i, j)), np.concatenate((j, i))
    neighbours = neighbours[np.argsort(ends, kind="stable")].tolist()
    starts = np.concatenate(([0], np.cumsum(degrees))).tolist()
    colours = [-1] * n
    # The colours of a vertex's neighbours, as bits: what a path through the vertex may not repeat.
    seen = [0] * n
    for v in np.argsort(-degrees, kind="stable").tolist():
        around = neighbours[starts[v] : starts[v + 1]]
        forbidden = 0
        for w in around:
            c = colours[w]
            # Through a neighbour without a colour no other may have this one; through one with a colour, only a
            # vertex of a lower colour than its own is in the way.
            forbidden |= seen[w] if c < 0 else (1 << c) | (seen[w] & ((1 << c) - 1))
        colour = (~forbidden & (forbidden + 1)).bit_length() - 1
        colours[v] = colour
        bit = 1 << colour
        for w in around:
            seen[w] |= bit
    return np.array(colours, dtype=np.int64)


def recovered(rows: Ids, columns: Ids, colours: Ids, products: Floats) -> Floats:
    """The entries of the pattern's upper triangle from the products, of shape (colours, n)."""
    n = colours.size
    count = products.shape[0]
    off = rows != columns
    both = np.concatenate((rows, columns[off])), np.concatenate((columns, rows[off]))
    # How many columns of a colour meet in a row: an entry alone in its colour stands there by itself.
    meeting = np.bincount(both[0] * count + colours[both[1]], minlength=n * count)
    alone = meeting[rows * count + colours[columns]] == 1
    direct = products[colours[columns], rows]
    mirrored = products[colours[rows], columns]
    found: Floats = np.where(alone, direct, mirrored)
    return found


__all__ = ["recovered", "star_colouring"]
