"""Hessians by their sparsity: the pattern found and coloured, and one product with a vector for each colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...parser.errors import AdiffError
from ..core.dtypes import FLOAT64
from ..core.operands import plain
from ..core.tensor import Tensor
from .colouring import recovered, star_colouring
from .drivers import raised
from .sparsity import hessian_pattern, parts_of
from .tape import gradient

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .colouring import Floats
    from .sparsity import Ids, SymmetricPattern
    from .tape import Partials, Tape


class SparseHessian:
    """The entries of a Hessian by the elements of `tensors`, numbered in turn, that may differ from zero.

    `pattern` has the row and the column of each, in order, and `values` the value; `colours` is the number of products that
    it took.
    """

    def __init__(self, pattern: SymmetricPattern, values: Floats, colours: int, tensors: Sequence[Tensor]) -> None:
        self.pattern = pattern
        self.values = values
        self.colours = colours
        self.tensors = tensors
        self.parts = parts_of(tensors)

    def block(self, i: int, j: int) -> tuple[Ids, Floats]:
        """The entries of a block, in order: their places in it, one index for each axis, and their values."""
        rows, columns = self.pattern.rows, self.pattern.columns
        part, other = self.parts[i], self.parts[j]
        inside = (rows >= part.start) & (rows < part.stop) & (columns >= other.start) & (columns < other.stop)
        places = [
            (rows[inside] - part.start, self.tensors[i].shape),
            (columns[inside] - other.start, self.tensors[j].shape),
        ]
        axes = [axis for flat, shape in places if shape for axis in np.unravel_index(flat, shape)]
        values = self.values[inside]
        return np.stack(axes, axis=1) if axes else np.empty((values.size, 0), dtype=np.int64), values

    def trace(self) -> float:
        return float(self.values[self.pattern.rows == self.pattern.columns].sum())

    def filled(self, gradients: Sequence[Any]) -> list[list[Any]]:
        """All entries, block by block; None for one of an input that the result does not depend on."""
        table = np.zeros((self.pattern.n, self.pattern.n))
        table[self.pattern.rows, self.pattern.columns] = self.values
        blocks: list[list[Any]] = []
        for x, row, g in zip(self.tensors, self.parts, gradients):
            blocks.append([])
            for z, column, h in zip(self.tensors, self.parts, gradients):
                there = g is not None and h is not None
                blocks[-1].append(operand(table[row, column].copy(), x.shape + z.shape) if there else None)
        return blocks


def operand(values: Floats, shape: tuple[int, ...]) -> Any:
    return Tensor(values.reshape(shape), FLOAT64) if shape else values.item()


def by_pattern(
    outer: Tape, tensors: Sequence[Tensor], gradients: Sequence[Any], always: bool = False
) -> SparseHessian | None:
    """The Hessian by its pattern, from the tape of the gradient, a sweep for each colour.

    If it need not `always` be: None where that saves less than half of the sweeps, and where an entry is not finite. Raises
    AdiffError E0510 where the Hessian is not sparse.
    """
    if not always and any(x.dtype.name != "float64" for x in tensors if x.dtype.differentiable):
        return None
    try:
        pattern = hessian_pattern(outer, tensors, gradients)
    except AdiffError as error:
        if always or error.code != "E0510":
            raise
        return None
    colours = star_colouring(pattern) if always or 2 * pattern.clique <= pattern.n else np.arange(pattern.n)
    used = int(colours.max()) + 1 if pattern.rows.size else 0
    if not always and 2 * used > pattern.n:
        return None
    reached = [(x, g, part) for x, g, part in zip(tensors, gradients, parts_of(tensors)) if x.dtype.differentiable]
    products = np.zeros((used, pattern.n))
    partials: Partials = {}
    for colour, product in enumerate(products):
        vector = (colours == colour).astype(np.float64)
        targets = [(g, operand(vector[part], x.shape)) for x, g, part in reached if g is not None]
        with raised("quiet"):
            found = gradient(
                outer, [g for g, _ in targets], [v for _, v in targets], [[x] for x, _, _ in reached], False, partials
            )
        for c, (_, _, part) in zip(found, reached):
            if c is not None:
                product[part] = np.ravel(plain(c))
    values = recovered(pattern, colours, products)
    return SparseHessian(pattern, values, used, tensors) if always or np.isfinite(values).all() else None
