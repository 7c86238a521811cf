"""Colouring a symmetric sparsity pattern, so that a few products with vectors give all its entries.

Columns of one colour are added up into one vector. A star colouring (neighbours differ, and no path of four vertices
has two colours only) lets every entry be read off one product: Coleman and Moré, Estimation of sparse Hessian matrices
and graph coloring problems (Math. Programming 28, 1984); Gebremedhin, Manne and Pothen, What color is your Jacobian?
(SIAM Review 47, 2005), algorithm 4.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .pattern_loops import WORD, colour_greedily, distances, read_off

if TYPE_CHECKING:
    from typing import Any

    from .symmetric import SymmetricPattern

    Ids = np.ndarray[Any, np.dtype[np.int64]]
    Floats = np.ndarray[Any, np.dtype[np.float64]]

# Diagonals of a pattern, on one side, up to which it is looked at as a set of diagonals.
MOST_DIAGONALS = 16


def star_colouring(pattern: SymmetricPattern) -> Ids:
    """A colour 0, 1, ... for each column."""
    if not pattern.most:
        return np.zeros(pattern.n, dtype=np.int64)
    period = cycle(pattern)
    if period:
        colours = np.empty(pattern.n, dtype=np.int64)
        for colour in range(period):
            colours[colour::period] = colour
        return colours
    return greedy(pattern)


def cycle(pattern: SymmetricPattern) -> int:
    """The number of colours that follow each other in a cycle, where those are no more than any colouring takes in which
    no two columns of a colour meet in a row; 0 where a search may find fewer.

    Columns i and i + k d have a colour; they meet where two diagonals of the pattern are k d apart.
    """
    met = np.zeros(pattern.n, dtype=np.int64)
    found = np.empty(MOST_DIAGONALS + 1, dtype=np.int64)
    rows, columns = pattern.rows, pattern.columns
    (count,) = pattern.run(distances, rows.size, rows, columns, MOST_DIAGONALS, met, found)
    if count > MOST_DIAGONALS:
        return 0
    found = found[:count]
    diagonals = np.unique(np.concatenate((-found, found, [0])))
    apart = np.unique(np.abs(diagonals[:, None] - diagonals))
    period = pattern.most + 1
    return 0 if (apart[1:] % period == 0).any() else period


def greedy(pattern: SymmetricPattern) -> Ids:
    """Vertices by falling number of neighbours; each gets the least colour that its neighbourhood allows."""
    n, starts = pattern.n, pattern.starts
    # Short numbers are put in order quickly.
    fewer = (pattern.most - np.diff(starts)).astype(np.uint16 if pattern.most < 2**16 else np.int64)
    order = np.argsort(fewer, kind="stable")
    words = 1
    while True:
        colours, seen = np.full(n, -1, dtype=np.int64), np.zeros(n * words, dtype=np.int64)
        (done,) = pattern.run(colour_greedily, n, starts, pattern.neighbours, order, words, WORD, colours, seen)
        if done:
            return colours
        words *= 4


def recovered(pattern: SymmetricPattern, colours: Ids, products: Floats) -> tuple[Ids, Floats]:
    """The entries of both triangles, in order, from the products, of shape (colours, n): their places (row and column),
    of shape (entries, 2), and their values."""
    n = pattern.n
    indices, values = np.empty((pattern.entries, 2), dtype=np.int64), np.empty(pattern.entries)
    pattern.run(
        read_off, n, pattern.starts, pattern.neighbours, pattern.diagonal, colours, products.reshape(-1),
        np.zeros(len(products), dtype=np.int64), np.empty(n, dtype=np.int64), indices.reshape(-1), values,
    )  # fmt: skip
    return indices, values


__all__ = ["recovered", "star_colouring"]
