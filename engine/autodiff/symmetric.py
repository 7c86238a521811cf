"""A symmetric sparsity pattern: which entries may differ from zero, and which columns meet in a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .pattern_loops import adjacency, as_it_stands, count_pairs, entries_in_order, pairs_by_row

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .pattern_loops import Runner

    Ids = np.ndarray[Any, np.dtype[np.int64]]

# Parts up to which pairs are gone through part by part, and not copied to one.
FEW_PARTS = 16


class SymmetricPattern:
    """A pattern of n rows and columns, by the entries of its upper triangle: `rows` and `columns`, in order.

    As a graph its columns are vertices, and the neighbours of v are neighbours[starts[v]:starts[v + 1]], in order; `most`
    is the largest number of them. `diagonal` has a 1 for each entry of the diagonal that is in the pattern, and `entries` is
    the number of those of both triangles. `run` goes through loops over it.
    """

    __slots__ = ("columns", "diagonal", "entries", "most", "n", "neighbours", "rows", "run", "starts")

    def __init__(self, n: int, rows: Ids, columns: Ids, run: Runner = as_it_stands) -> None:
        self.n = n
        self.rows = rows
        self.columns = columns
        self.run = run
        self.starts = np.zeros(n + 1, dtype=np.int64)
        self.neighbours = np.empty(2 * rows.size, dtype=np.int64)
        self.diagonal = np.zeros(n, dtype=np.int64)
        places = np.empty(n, dtype=np.int64)
        (self.most,) = run(
            adjacency, n, rows.size, rows, columns, self.starts, places, self.neighbours, self.diagonal
        )  # fmt: skip
        self.neighbours = self.neighbours[: self.starts[n]]
        # One of the diagonal is in the upper triangle alone, any other has a double.
        self.entries = rows.size + self.neighbours.size // 2


def entries_of_pairs(pairs: Sequence[tuple[Ids, Ids]], n: int, run: Runner) -> tuple[Ids, Ids]:
    """Rows and columns (row <= column), in order and each once, of pairs of inputs that are numbered from 1.

    A pair with a 0 is none.
    """
    if len(pairs) > FEW_PARTS:
        pairs = [(np.concatenate([p for p, _ in pairs]), np.concatenate([q for _, q in pairs]))]
    counts = np.zeros(n + 1, dtype=np.int64)
    for p, q in pairs:
        run(count_pairs, p, q, p.size, counts)
    # Where those of a row begin; once they are in place, where they end.
    places = np.cumsum(counts) - counts
    total = int(places[-1] + counts[-1])
    rows, columns = np.empty(total, dtype=np.int64), np.empty(total, dtype=np.int64)
    for p, q in pairs:
        run(pairs_by_row, p, q, p.size, places, columns)
    (entries,) = run(entries_in_order, n, places, rows, columns)
    return rows[:entries], columns[:entries]


__all__ = ["SymmetricPattern", "entries_of_pairs"]
