"""Hessians by their sparsity: the pattern found and coloured, and one product with a vector for each colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...parser.errors import AdiffError
from ..core.dtypes import FLOAT64
from ..core.following import follows
from ..core.operands import plain
from ..core.tensor import Tensor, count
from .colouring import recovered, star_colouring
from .drivers import basis, strip, without_notices
from .hessians import blocks_by_row, gradient_on_tape
from .sparsity import hessian_pattern
from .tape import Tape, gradient

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .drivers import Function
    from .sparsity import SymmetricPattern
    from .tape import Partials

    Ids = np.ndarray[Any, np.dtype[np.int64]]
    Floats = np.ndarray[Any, np.dtype[np.float64]]


class SparseHessian:
    """The entries of a Hessian by n inputs that may differ from zero, inputs numbered in turn.

    `indices`, of shape (entries, 2), has the row and the column of each, in order, and `values` the value; `above` is the
    number of those on and above the diagonal, `colours` that of the products that it took.
    """

    __slots__ = ("above", "colours", "indices", "n", "values")

    def __init__(self, pattern: SymmetricPattern, values: Floats, colours: int) -> None:
        self.n = pattern.n
        self.indices = np.stack((pattern.rows, pattern.columns), axis=1)
        self.values = values
        self.above = int(np.count_nonzero(pattern.rows <= pattern.columns))
        self.colours = colours

    def block(self, rows: slice, columns: slice) -> tuple[Ids, Floats]:
        """The entries of a block, in order: their places in it, and their values."""
        if rows == columns == slice(0, self.n):
            return self.indices, self.values
        i, j = self.indices.T
        inside = (i >= rows.start) & (i < rows.stop) & (j >= columns.start) & (j < columns.stop)
        return self.indices[inside] - (rows.start, columns.start), self.values[inside]


def sparse_hessian(f: Function, xs: Sequence[Any]) -> tuple[Any, list[Any], SparseHessian]:
    """The value, the gradients and the Hessian of a scalar function, as far as it can differ from zero.

    Raises AdiffError E0507 for a result that is no scalar, E0510 where the Hessian is not sparse.
    """
    outer = Tape()
    y, tensors, gradients = gradient_on_tape(f, xs, outer)
    pattern = hessian_pattern(outer, tensors, gradients)
    found = by_colours(outer, tensors, gradients, pattern, star_colouring(pattern))
    return strip(y), [None if g is None else strip(g) for g in gradients], found


def by_colours(
    outer: Tape, tensors: Sequence[Tensor], gradients: Sequence[Any], pattern: SymmetricPattern, colours: Ids
) -> SparseHessian:
    """The entries of a Hessian from the tape of the gradient, a sweep for each colour."""
    used = int(colours.max()) + 1 if pattern.rows.size else 0
    reached = [(x, g) for x, g in zip(tensors, gradients) if x.dtype.differentiable]
    ends = np.cumsum([0, *(count(x.shape) for x, _ in reached)])
    products = np.zeros((used, pattern.n))
    partials: Partials = {}
    for colour, product in enumerate(products):
        vector = (colours == colour).astype(np.float64)
        seeds = [part(vector[start:end], x.shape) for (x, _), start, end in zip(reached, ends, ends[1:])]
        targets = [(g, v) for (_, g), v in zip(reached, seeds) if g is not None]
        with without_notices():
            found = gradient(
                outer, [g for g, _ in targets], [v for _, v in targets], [[x] for x, _ in reached], False, partials
            )
        for c, start, end in zip(found, ends, ends[1:]):
            if c is not None:
                product[start:end] = np.ravel(plain(c))
    return SparseHessian(pattern, recovered(pattern, colours, products), used)


def part(vector: Floats, shape: tuple[int, ...]) -> Any:
    return Tensor(vector.reshape(shape), FLOAT64) if shape else float(vector[0])


def by_pattern(
    f: Function, xs: Sequence[Any], look: bool = True
) -> tuple[Tape, Any, list[Tensor], list[Any], SparseHessian | None]:
    """The tape of the gradient, the value, the inputs, the gradients, and the Hessian by its pattern: None without `look`,
    where that saves less than half of the sweeps, and where an entry is not finite."""
    outer = Tape(changing=True)
    y, tensors, gradients = gradient_on_tape(f, xs, outer)
    found = None
    if look and all(x.dtype.name == "float64" for x in tensors if x.dtype.differentiable):
        try:
            pattern = hessian_pattern(outer, tensors, gradients)
        except AdiffError as error:
            if error.code != "E0510":
                raise
        else:
            colours = star_colouring(pattern) if 2 * pattern.clique <= pattern.n else np.arange(pattern.n)
            if not pattern.rows.size or 2 * (int(colours.max()) + 1) <= pattern.n:
                found = by_colours(outer, tensors, gradients, pattern, colours)
    if found is not None and not np.isfinite(found.values).all():
        found = None
    return outer, y, tensors, gradients, found


def hessian_by_pattern(f: Function, xs: Sequence[Any]) -> tuple[Any, list[Any], list[list[Any]]]:
    """What `hessians.hessian` gives, with fewer sweeps where the Hessian has zeros that are known beforehand."""
    outer, y, tensors, gradients, found = by_pattern(f, xs)
    if found is not None:
        blocks = filled_blocks(found, tensors, gradients)
    else:
        blocks = blocks_by_row(outer, tensors, gradients)
    return strip(y), [None if g is None else strip(g) for g in gradients], blocks


def laplacian(f: Function, xs: Sequence[Any], look: bool) -> tuple[Any, list[Any], float]:
    """The value, the gradients and the trace of the Hessian, in the memory of its rows."""
    outer, y, tensors, gradients, found = by_pattern(f, xs, look)
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
    places = [None if g is None else slice(*ends[i : i + 2]) for i, g in enumerate(gradients)]
    blocks: list[list[Any]] = []
    for x, row in zip(tensors, places):
        blocks.append([])
        for z, column in zip(tensors, places):
            block = None if row is None or column is None else table[row, column].reshape(x.shape + z.shape)
            blocks[-1].append(block if block is None else Tensor(block.copy(), FLOAT64) if block.ndim else block.item())
    return blocks
