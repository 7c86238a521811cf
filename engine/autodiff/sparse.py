"""Hessians by their sparsity: the pattern found and coloured, and one product with a vector for each colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...parser.errors import AdiffError
from ..core.dtypes import FLOAT64
from ..core.following import follows
from ..core.operands import plain
from ..core.tensor import Tensor, count, shape_of
from .colouring import recovered, star_colouring
from .drivers import basis, blocks_by_row, gradient_on_tape, strip, without_notices
from .sparsity import hessian_pattern
from .tape import Tape, gradient

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .drivers import Function
    from .pattern_loops import Runner
    from .symmetric import SymmetricPattern
    from .tape import Partials

    Ids = np.ndarray[Any, np.dtype[np.int64]]
    Floats = np.ndarray[Any, np.dtype[np.float64]]


class SparseHessian:
    """The entries of a Hessian by n inputs that may differ from zero, inputs numbered in turn.

    `indices`, of shape (entries, 2), has the row and the column of each, in order, and `values` the value; `above` is the
    number of those on and above the diagonal, `colours` that of the products that it took.
    """

    __slots__ = ("above", "colours", "indices", "n", "values")

    def __init__(self, n: int, indices: Ids, values: Floats, above: int, colours: int) -> None:
        self.n = n
        self.indices = indices
        self.values = values
        self.above = above
        self.colours = colours

    def block(self, rows: slice, columns: slice) -> tuple[Ids, Floats]:
        """The entries of a block, in order: their places in it, and their values."""
        if rows == columns == slice(0, self.n):
            return self.indices, self.values
        first, last = np.searchsorted(self.indices[:, 0], (rows.start, rows.stop))
        indices, values = self.indices[first:last], self.values[first:last]
        inside = (indices[:, 1] >= columns.start) & (indices[:, 1] < columns.stop)
        if not inside.all():
            indices, values = indices[inside], values[inside]
        return indices - (rows.start, columns.start), values


def sparse_hessian(f: Function, xs: Sequence[Any], run: Runner) -> tuple[Any, list[Any], SparseHessian]:
    """The value, the gradients and the Hessian of a scalar function, as far as it can differ from zero.

    Loops over the pattern are gone through by `run`. Raises AdiffError E0507 for a result that is no scalar, E0510 where
    the Hessian is not sparse.
    """
    outer = Tape()
    found: list[SymmetricPattern] = []

    def look(inner: Tape, tensors: list[Tensor], y: Any) -> None:
        found.append(hessian_pattern(inner, [x for x in tensors if x.dtype.differentiable], y, run))

    y, tensors, gradients = gradient_on_tape(f, xs, outer, look)
    (pattern,) = found
    hessian = by_colours(outer, tensors, gradients, pattern, star_colouring(pattern))
    return strip(y), [None if g is None else strip(g) for g in gradients], hessian


def by_colours(
    outer: Tape, tensors: Sequence[Tensor], gradients: Sequence[Any], pattern: SymmetricPattern, colours: Ids
) -> SparseHessian:
    """The entries of a Hessian from the tape of the gradient, a sweep for each colour."""
    used = int(colours.max()) + 1 if pattern.rows.size else 0
    sources = [x for x in tensors if x.dtype.differentiable]
    reached = [(x, g) for x, g in zip(tensors, gradients) if x.dtype.differentiable]
    partials: Partials = {}

    def times(vector: Floats) -> list[Floats]:
        """The Hessian times a vector, backwards along the tape of the gradient, a part for each source."""
        seeds = parts(vector, sources)
        targets = [(g, v) for (_, g), v in zip(reached, seeds) if g is not None]
        wanted = [[x] for x in sources]
        found = gradient(outer, [g for g, _ in targets], [v for _, v in targets], wanted, False, partials)
        return [flat(c, x) for c, x in zip(found, sources)]

    with without_notices():
        products = compressed(times, colours, used)
    return SparseHessian(pattern.n, *recovered(pattern, colours, products), pattern.rows.size, used)


def by_pattern(
    f: Function, xs: Sequence[Any], run: Runner | None
) -> tuple[Tape, Any, list[Tensor], list[Any], SparseHessian | None]:
    """The tape of the gradient, the value, the inputs, the gradients, and the Hessian by its pattern: None without `run`,
    where that saves less than half of the sweeps, and where an entry is not finite."""
    outer = Tape(changing=True)
    patterns: list[SymmetricPattern] = []

    def look(inner: Tape, tensors: list[Tensor], y: Any) -> None:
        if run is not None and all(x.dtype.name == "float64" for x in tensors if x.dtype.differentiable):
            try:
                patterns.append(hessian_pattern(inner, [x for x in tensors if x.dtype.differentiable], y, run))
            except AdiffError as error:
                if error.code != "E0510":
                    raise

    y, tensors, gradients = gradient_on_tape(f, xs, outer, look)
    for pattern in patterns:
        colours = star_colouring(pattern)
        if not pattern.rows.size or 2 * (int(colours.max()) + 1) <= pattern.n:
            found = by_colours(outer, tensors, gradients, pattern, colours)
            if np.isfinite(found.values).all():
                return outer, y, tensors, gradients, found
    return outer, y, tensors, gradients, None


def hessian_by_pattern(f: Function, xs: Sequence[Any], run: Runner) -> tuple[Any, list[Any], list[list[Any]]]:
    """What `drivers.hessian` gives, with fewer sweeps where the Hessian has zeros that are known beforehand."""
    outer, y, tensors, gradients, found = by_pattern(f, xs, run)
    if found is not None:
        blocks = filled_blocks(found, tensors, gradients)
    else:
        blocks = blocks_by_row(outer, tensors, gradients)
    return strip(y), [None if g is None else strip(g) for g in gradients], blocks


def laplacian(f: Function, xs: Sequence[Any], run: Runner | None) -> tuple[Any, list[Any], float]:
    """The value, the gradients and the trace of the Hessian, in the memory of its rows."""
    outer, y, tensors, gradients, found = by_pattern(f, xs, run)
    trace = 0.0
    if found is not None:
        trace = float(found.values[found.indices[:, 0] == found.indices[:, 1]].sum())
    else:
        for x, g in zip(tensors, gradients):
            for k in range(count(x.shape) if g is not None and follows(g, outer.token) else 0):
                with without_notices():
                    (row,) = gradient(outer, [g], [basis(x, k)], [[x]], consume=False)
                trace += 0.0 if row is None else float(np.ravel(plain(row))[k])
    return strip(y), [None if g is None else strip(g) for g in gradients], trace


def filled_blocks(found: SparseHessian, tensors: Sequence[Tensor], gradients: Sequence[Any]) -> list[list[Any]]:
    """All entries of a Hessian, block by block; None for one of an input that the result does not depend on."""
    ends = np.cumsum([0, *(count(x.shape) if x.dtype.differentiable else 0 for x in tensors)])
    table = np.zeros((ends[-1], ends[-1]))
    table[found.indices[:, 0], found.indices[:, 1]] = found.values
    blocks: list[list[Any]] = []
    for x, g, first, last in zip(tensors, gradients, ends, ends[1:]):
        row: list[Any] = []
        for z, h, start, stop in zip(tensors, gradients, ends, ends[1:]):
            if g is None or h is None or last == first or stop == start:
                row.append(None)
                continue
            part = table[first:last, start:stop].reshape(x.shape + z.shape)
            row.append(Tensor(part.copy(), FLOAT64) if part.ndim else part.item())
        blocks.append(row)
    return blocks


def compressed(times: Callable[[Floats], list[Floats]], colours: Ids, used: int) -> Floats:
    """The products of the Hessian with the sum of the unit vectors of each colour, of shape (colours, n)."""
    products = np.empty((used, colours.size))
    for c in range(used):
        # Bytes become floats sooner than truth values do.
        np.concatenate(times((colours == c).view(np.int8).astype(np.float64)), out=products[c])
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


__all__ = ["SparseHessian", "hessian_by_pattern", "laplacian", "sparse_hessian"]
