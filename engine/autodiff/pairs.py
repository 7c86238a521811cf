"""Pairs of inputs that a function joins, collected while its tape is walked: in a table where the inputs are few enough
for one, otherwise in lists that are put in order when they grow long.

Inputs are numbered from 1, and 0 stands for none; the pair (i, j) is the pair (j, i).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import failure
from .symmetric import entries_of_pairs

if TYPE_CHECKING:
    from typing import Any

    from .pattern_loops import Runner

    Ids = np.ndarray[Any, np.dtype[np.int64]]
    # Numbers of inputs: a set of a few, an array in order of many.
    Inputs = frozenset[int] | Ids

# Inputs up to which their pairs have a table: a mebibyte of it.
TABLE = 1 << 10
# Pairs that a pattern may hold before the Hessian counts as dense.
MOST_PAIRS = 30_000_000
# Pairs of columns that are compared with new ones.
RECENT = 8
# Pairs that are taken one by one, and inputs up to which a set holds them.
FEW = 64


class PairTable:
    """Pairs of few inputs: one mark each."""

    __slots__ = ("table",)

    def __init__(self, total: int) -> None:
        self.table = np.zeros((total + 1, total + 1), dtype=np.bool_)

    def add(self, p: Ids, q: Ids) -> None:
        """Element for element of two arrays that broadcast."""
        self.table[p, q] = True

    def cross(self, a: Inputs, b: Inputs) -> None:
        """All of a with all of b."""
        if len(a) * len(b) > FEW:
            self.table[numbers(a)[:, None], numbers(b)] = True
            return
        table = self.table
        for i in a:
            for j in b:
                table[i, j] = True

    def full(self) -> bool:
        """Whether there is no pair left to be found."""
        return bool((self.table | self.table.T)[1:, 1:].all())

    def entries(self) -> tuple[Ids, Ids]:
        """Rows and columns (row <= column), in order and each once, counted from 0."""
        rows, columns = np.nonzero(np.triu((self.table | self.table.T)[1:, 1:]))
        return np.ascontiguousarray(rows), np.ascontiguousarray(columns)


class PairList:
    """Pairs of many inputs: pairs of arrays, gone through by `run`, and a few as numbers lesser * base + greater.

    Raises AdiffError E0510 where there are too many to be worth following.
    """

    __slots__ = ("base", "parts", "pending", "run", "single", "total")

    def __init__(self, total: int, run: Runner) -> None:
        self.total = total
        self.base = total + 1
        self.run = run
        self.single: set[int] = set()
        self.parts: list[tuple[Ids, Ids]] = []
        self.pending = 0

    def add(self, p: Ids, q: Ids) -> None:
        """Element for element of two arrays that broadcast."""
        shape = np.broadcast_shapes(p.shape, q.shape)
        self.room(int(np.prod(shape, dtype=np.int64)))
        p, q = np.broadcast_to(p, shape).ravel(), np.broadcast_to(q, shape).ravel()
        # Squares of one tensor are many: unless they were there a moment ago.
        if not any(same(p, old) and same(q, other) for old, other in self.parts[-RECENT:]):
            self.parts.append((p, q))

    def cross(self, a: Inputs, b: Inputs) -> None:
        """All of a with all of b."""
        if len(a) * len(b) > FEW:
            self.add(numbers(a)[:, None], numbers(b))
            return
        base, single = self.base, self.single
        for i in a:
            for j in b:
                single.add(i * base + j if i < j else j * base + i)

    def room(self, more: int) -> None:
        """Make room for so many pairs."""
        self.pending += more
        if self.pending > MOST_PAIRS:
            rows, columns = self.entries()
            self.parts, self.single = [(rows + 1, columns + 1)], set()
            self.pending = more + rows.size
            if self.pending > MOST_PAIRS:
                raise failure(
                    "E0510",
                    f"the Hessian has more than {MOST_PAIRS:,} entries that may differ from zero",
                    "it is not sparse: `adiff hvp` gives its product with a vector without forming it",
                )

    def full(self) -> bool:
        """So many inputs have more pairs than a list may hold."""
        return False

    def entries(self) -> tuple[Ids, Ids]:
        """Rows and columns (row <= column), in order and each once, counted from 0."""
        parts = self.parts
        if self.single:
            keys = np.fromiter(self.single, dtype=np.int64, count=len(self.single))
            parts = [*parts, np.divmod(keys, self.base)]
        return entries_of_pairs(parts, self.total, self.run)


def numbers(inputs: Inputs) -> Ids:
    """Inputs in order."""
    if isinstance(inputs, frozenset):
        return np.array(sorted(inputs), dtype=np.int64)
    return inputs


def same(a: Ids, b: Ids) -> bool:
    """Whether two columns say the same; most often the first element tells that they do not."""
    return a is b or (a.shape == b.shape and (not a.size or a.flat[0] == b.flat[0]) and np.array_equal(a, b))


__all__ = ["FEW", "MOST_PAIRS", "RECENT", "TABLE", "PairList", "PairTable", "numbers", "same"]
