"""Rows of the table on RaggedTensors: those that work by element, on the flat values; others as the language says."""

from __future__ import annotations

import numpy as np

from ..core.errors import failure
from ..core.operands import as_operand
from ..core.state import STATE
from ..core.tensor import OPERATORS, shape_of
from .kind import call
from .ragged import RaggedTensor, expand_dims, nest, nrows, rows_at, splits_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..core.operation import Operation

ROWS = "kinds/rows.RaggedTensor"
REDUCTIONS = "kinds/reductions.RaggedTensor"
# The rows that have a function of their name in ROWS, and those that reduce.
WRITTEN = frozenset(
    """
    add_n argmax argmin boolean_mask concat embedding_lookup expand_dims flip gather gather_nd index log_softmax matmul ndim
    shape size softmax squeeze stack tile
    """.split()
)
REDUCED = frozenset("sum prod max min mean any all var std logsumexp".split())
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


def operate(op: Operation, name: str, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
    """The row of that name on operands of which one is a RaggedTensor: it has a way of its own, or that of its family."""
    if name in WRITTEN:
        return call(STATE.library(ROWS, name), *inputs, **(attributes or {}))
    if name == "where" and (len(inputs) < 2 or inputs[1] is None):
        return call(STATE.library(ROWS, "true_places"), inputs[0])
    way = ""
    if "segment_" in name:
        way = "segment"
    elif name.removeprefix("reduce_") in REDUCED:
        way = "reduced"
    elif name.startswith("cum"):
        way = "running"
    if way:
        return call(STATE.library(REDUCTIONS, way), name, op, *inputs, **(attributes or {}))
    if is_elementwise(op, name):
        return elementwise(op, inputs, attributes)
    raise failure(
        "E0304",
        f"{op.name} does not take a RaggedTensor",
        "r.to_tensor() makes it dense, r.flat_values are its numbers",
    )
