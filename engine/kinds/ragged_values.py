"""What is applied to the flat values of RaggedTensors: element-wise rows, and functions of strings."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..core.errors import failure
from ..core.operands import as_operand
from ..core.tensor import OPERATORS, shape_of
from ..ops.support import axis_of
from .ragged import RaggedTensor, expand_dims, nest, nrows, rows_at, splits_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..core.operation import Operation

# The families whose rows work element by element, and the other rows that do.
ELEMENTWISE = frozenset("arithmetic exponential trigonometric rounding special activations complex".split())
MAPPED = frozenset("cast zeros_like ones_like full_like stop_gradient identity isin where".split())


def is_elementwise(op: Operation, name: str) -> bool:
    """Whether a row may be applied to flat values: it works by element, or makes a number of all of them."""
    return op.family in ELEMENTWISE or name in MAPPED or (op.family == "stable" and name not in ("norm", "reshape"))


def elementwise(op: Operation, inputs: Sequence[Any], attributes: dict[str, Any] | None) -> Any:
    """A row on the flat values of operands that broadcast to common rows."""
    levels, flats = aligned(op.name, inputs)
    found = op.call(flats, attributes)
    return nest(found, levels) if shape_of(found) else found  # a number: allclose, or a norm of all elements


def aligned(name: str, inputs: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """The row splits that operands broadcast to, and their flat values there; scalars and None stay what they are."""
    operands = [x if x is None or x.__class__ is RaggedTensor else as_operand(x) for x in inputs]
    ranks = [x.rank if x.__class__ is RaggedTensor else len(shape_of(x)) for x in operands]
    rank = max(ranks)
    many = [i for i, r in enumerate(ranks) if r]
    for i in many:
        x = operands[i]
        if x.__class__ is RaggedTensor:
            for _ in range(rank - ranks[i]):
                x = expand_dims(x, 0)
        elif ranks[i] < rank:
            x = OPERATORS.reshape(x, shape=(1,) * (rank - ranks[i]) + shape_of(x))
        operands[i] = x
    sizes = [np.array([nrows(operands[i])]) for i in many]
    starts = [np.array([0])] * len(many)
    levels: list[Any] = []
    while True:
        common = next((s for s in sizes if not (s == 1).all()), sizes[0])
        for i, size, start in zip(many, sizes, starts):
            if np.array_equal(size, common):
                continue
            if not (size == 1).all():
                row = int((size != common).argmax())
                where = f"row {row} has {common[row]} and {size[row]} elements" if levels else (
                    f"there are {common[0]} and {size[0]} rows"
                )  # fmt: skip
                raise failure(
                    "E0302",
                    f"{name}: ragged shapes do not broadcast: {where}",
                    "rows must be equally long, or all of length 1",
                )
            operands[i] = rows_at(operands[i], np.repeat(start, common))
        levels.append(splits_of(common))
        if not any(operands[i].__class__ is RaggedTensor for i in many):
            return levels[1:], operands
        count = int(common.sum())
        sizes, starts = [], []
        for i in many:
            x = operands[i]
            if x.__class__ is RaggedTensor:
                sizes.append(x.lengths)
                starts.append(x.splits[:-1])
                operands[i] = x.values
            else:
                width = shape_of(x)[1]
                sizes.append(np.full(count, width))
                starts.append(np.arange(count) * width)
                operands[i] = OPERATORS.reshape(x, shape=(count * width, *shape_of(x)[2:]))


# --- row by row -------------------------------------------------------------------------------------------------------


def running(op: Any, x: Any, axis: Any = 0, **options: Any) -> Any:
    """cumsum and cumprod within the rows, or along an axis of the flat values."""
    axis, depth = axis_of(op.name, axis, x.rank), len(x.levels)
    if axis < depth:
        raise failure("E0401", f"{op.name} of a RaggedTensor is over its last ragged axis, {depth}, or a later one")
    if axis > depth:
        return x.with_flat(op.call((x.flat,), {"axis": axis - depth, **options}))
    splits = x.levels[-1]
    rows = [OPERATORS.index(x.flat, index=slice(int(a), int(b))) for a, b in pairwise(splits)]
    return x.with_flat(OPERATORS.concat([op.call((row,), {"axis": 0, **options}) for row in rows])) if rows else x
