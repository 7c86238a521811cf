"""Between which values integers are, so that indices need no checks."""

from __future__ import annotations

import operator
from itertools import product

from ...core.tensor import OPERATORS
from ..ir import BOOL, Var

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..builder import Builder
    from ..ir import Apply

    Interval = tuple[int, int]

# Rows whose results are elements of their inputs.
MOVING = frozenset(
    """broadcast_to reshape transpose index flip take_rows stop_gradient cast where_select concat stack""".split()
)
# Rows that rise or fall in each operand, where a divisor is above 0.
MONOTONE = (
    OPERATORS.add, OPERATORS.subtract, OPERATORS.multiply, OPERATORS.floor_divide, OPERATORS.negative, OPERATORS.minimum,
    OPERATORS.maximum,
)  # fmt: skip
QUOTIENTS = (OPERATORS.floor_divide, OPERATORS.mod)


def of_operand(x: Any, bounds: Mapping[Var, Interval]) -> Interval | None:
    if x.__class__ is int or x.__class__ is bool:
        return int(x), int(x)
    if x.__class__ is Var and x.kind == BOOL:
        return 0, 1
    return bounds.get(x) if x.__class__ is Var else None


def interval(made: Apply, bounds: Mapping[Var, Interval]) -> Interval | None:
    """The least and the largest value that an application of integers may give; None if that is not known."""
    row = made.row
    if row in (OPERATORS.argmax, OPERATORS.argmin):
        return 0, max(made.inputs[0].shape[made.attributes["axis"]] - 1, 0)
    inputs = made.inputs[1:] if row is OPERATORS.where_select else made.inputs
    pairs = [pair for pair in [of_operand(x, bounds) for x in inputs] if pair is not None]
    if not pairs or len(pairs) < len(inputs):
        return None
    if row.name in MOVING:
        return min(low for low, _ in pairs), max(high for _, high in pairs)
    if row is OPERATORS.ramp:
        start, step = pairs
        return interval_of(operator.add, start, interval_of(operator.mul, step, (0, made.attributes["num"])))
    if row in QUOTIENTS and pairs[1][0] <= 0:
        return None
    if row is OPERATORS.mod:
        return 0, pairs[1][1] - 1
    return interval_of(row.scalar, *pairs) if row in MONOTONE else None


def interval_of(function: Any, *pairs: Interval) -> Interval:
    """The bounds of a function that rises or falls in each of its operands."""
    corners = [function(*corner) for corner in product(*pairs)]
    return min(corners), max(corners)


def offset(builder: Builder, x: Var) -> tuple[Var, int]:
    """An integer as a variable and a number that is added to it."""
    made = builder.definitions.get(x)
    if made is not None and made.row in (OPERATORS.add, OPERATORS.subtract) and made.inputs[1].__class__ is int:
        return made.inputs[0], made.inputs[1] if made.row is OPERATORS.add else -made.inputs[1]
    return x, 0
