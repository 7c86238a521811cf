"""Sparse Hessians: the pattern found and coloured, and one product with a vector for each colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.dispatch import plain
from ..core.dtypes import FLOAT64
from ..core.tensor import Tensor, count, shape_of
from .colouring import recovered, star_colouring
from .drivers import gradient_on_tape, strip, without_notices
from .sparsity import hessian_pattern
from .tape import Tape, gradient

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .drivers import Function

    Ids = np.ndarray[Any, np.dtype[np.int64]]
    Floats = np.ndarray[Any, np.dtype[np.float64]]


class SparseHessian:
    """The entries of a Hessian that may differ from zero: its upper triangle, inputs numbered in turn.

    `rows`, `columns` and `values` have one item an entry; `colours` is the number of products that it took.
    """

    __slots__ = ("colours", "columns", "rows", "values")

    def __init__(self, rows: Ids, columns: Ids, values: Floats, colours: int) -> None:
        self.rows = rows
        self.columns = columns
        self.values = values
        self.colours = colours

    def block(self, rows: slice, columns: slice) -> tuple[Ids, Ids, Floats]:
        """The entries of a block, in order, both triangles."""
        off = self.rows != self.columns
        i = np.concatenate((self.rows, self.columns[off]))
        j = np.concatenate((self.columns, self.rows[off]))
        values = np.concatenate((self.values, self.values[off]))
        inside = (i >= rows.start) & (i < rows.stop) & (j >= columns.start) & (j < columns.stop)
        if not inside.all():
            i, j, values = i[inside], j[inside], values[inside]
        i, j = i - rows.start, j - columns.start
        # Runs in order, which a merge sort makes use of.
        order = np.argsort(i * (columns.stop - columns.start) + j, kind="stable")
        return i[order], j[order], values[order]


def sparse_hessian(f: Function, xs: Sequence[Any]) -> tuple[Any, list[Any], SparseHessian]:
    """The value, the gradients and the Hessian of a scalar function, as far as it can differ from zero.

    Raises AdiffError E0507 for a result that is no scalar, E0510 where the Hessian is not sparse.
    """
    outer = Tape()
    pattern: list[Ids] = []

    def look(inner: Tape, tensors: list[Tensor], y: Any) -> None:
        pattern.extend(hessian_pattern(inner, [x for x in tensors if x.dtype.differentiable], y))

    y, tensors, gradients = gradient_on_tape(f, xs, outer, look)
    rows, columns = pattern
    sources = [x for x in tensors if x.dtype.differentiable]
    n = sum(count(x.shape) for x in sources)
    colours = star_colouring(rows, columns, n)
    used = int(colours.max()) + 1 if rows.size else 0
    reached = [(x, g) for x, g in zip(tensors, gradients) if x.dtype.differentiable]

    def times(vector: Floats) -> Floats:
        """The Hessian times a vector, backwards along the tape of the gradient."""
        seeds = parts(vector, sources)
        targets = [(g, v) for (_, g), v in zip(reached, seeds) if g is not None]
        found = gradient(outer, [g for g, _ in targets], [v for _, v in targets], [[x] for x in sources], consume=False)
        return np.concatenate([flat(c, x) for c, x in zip(found, sources)])

    with without_notices():
        products = compressed(times, colours, used)
    values = recovered(rows, columns, colours, products) if used else np.empty(0)
    return strip(y), [None if g is None else strip(g) for g in gradients], SparseHessian(rows, columns, values, used)


def compressed(times: Callable[[Floats], Floats], colours: Ids, used: int) -> Floats:
    """The products of the Hessian with the sum of the unit vectors of each colour, of shape (colours, n)."""
    products = np.empty((used, colours.size))
    for c in range(used):
        products[c] = times((colours == c).astype(np.float64))
    return products


def parts(vector: Floats, sources: Sequence[Tensor]) -> list[Any]:
    """A vector over all inputs as one value an input."""
    found: list[Any] = []
    start = 0
    for x in sources:
        size = count(x.shape)
        part = vector[start : start + size]
        found.append(float(part[0]) if x.shape == () else Tensor(part.reshape(x.shape), FLOAT64))
        start += size
    return found


def flat(c: Any, x: Tensor) -> Floats:
    """A cotangent as a vector; an unconnected one is zero."""
    size = count(shape_of(x))
    return np.zeros(size) if c is None else np.broadcast_to(np.asarray(plain(c), dtype=np.float64).ravel(), (size,))


__all__ = ["SparseHessian", "sparse_hessian"]
