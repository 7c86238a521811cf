"""Sparse Hessians: the pattern found and coloured, and one product with a vector for each colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.dispatch import as_operand, plain
from ..core.dtypes import FLOAT64
from ..core.state import RECORDERS
from ..core.tensor import Tensor
from .colouring import recovered, star_colouring
from .drivers import count, scalar_seed, shape_of, source, strip
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
        i, j, values = i[inside] - rows.start, j[inside] - columns.start, values[inside]
        order = np.lexsort((j, i))
        return i[order], j[order], values[order]


def sparse_hessian(f: Function, xs: Sequence[Any]) -> tuple[Any, list[Any], SparseHessian]:
    """The value, the gradients and the Hessian of a scalar function, as far as it can differ from zero.

    Raises AdiffError E0507 for a result that is no scalar, E0510 where the Hessian is not sparse.
    """
    outer = Tape()
    inner, tensors, y = recorded_twice(f, xs, outer)
    y = as_operand(y)
    seed = scalar_seed(y, "a Hessian")
    sources = [x for x in tensors if x.dtype.differentiable]
    rows, columns = hessian_pattern(inner, sources, y)
    RECORDERS.append(outer)
    try:
        gradients = gradient(inner, [y], [seed], [[x] for x in tensors], consume=True)
    finally:
        RECORDERS.remove(outer)
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

    products = compressed(times, colours, used)
    values = recovered(rows, columns, colours, products) if used else np.empty(0)
    return strip(y), [None if g is None else strip(g) for g in gradients], SparseHessian(rows, columns, values, used)


def recorded_twice(f: Function, xs: Sequence[Any], outer: Tape) -> tuple[Tape, list[Tensor], Any]:
    """Run `f` under a tape for the gradient, which an outer tape follows."""
    tensors = [source(x) for x in xs]
    inner = Tape()
    for x in tensors:
        if x.dtype.differentiable:
            outer.watch(x)
            inner.watch(x)
    RECORDERS.append(outer)
    RECORDERS.append(inner)
    try:
        y = f(tensors)
    finally:
        RECORDERS.remove(inner)
        RECORDERS.remove(outer)
    return inner, tensors, y


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
