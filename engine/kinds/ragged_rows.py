"""Rows of the table that RaggedTensors take in ways of their own: joining, gathering, new axes."""

from __future__ import annotations

from functools import reduce as fold

import numpy as np

from ..core.errors import failure
from ..core.operands import as_operand
from ..core.state import STATE
from ..core.tensor import OPERATORS, shape_of
from ..ops.support import axes_of, axis_of, integers
from .kind import call
from .ragged import (
    RaggedTensor,
    expand_dims,
    rows_at,
    splits_of,
)
from .ragged_reductions import by_name, has_segments, reduced, segment
from .ragged_values import elementwise, is_elementwise, running

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..core.operation import Operation

# --- joining ----------------------------------------------------------------------------------------------------------


def ragged(x: Any, depth: int) -> Any:
    """A tensor with `depth` ragged axes; what is ragged already gets the rest of them inside."""
    if x.__class__ is RaggedTensor:
        return x if depth == 1 else RaggedTensor(ragged(x.values, depth - 1), x.splits, x.uniform)
    shape = shape_of(x)
    if not depth:
        return x
    values = OPERATORS.reshape(x, shape=(shape[0] * shape[1], *shape[2:]))
    return RaggedTensor(ragged(values, depth - 1), np.arange(shape[0] + 1) * shape[1], shape[1])


def joined(parts: Sequence[Any]) -> Any:
    """Tensors or RaggedTensors one after the other."""
    if not any(x.__class__ is RaggedTensor for x in parts):
        return OPERATORS.concat(list(parts))
    splits = splits_of(np.concatenate([x.lengths for x in parts]))
    uniform = {x.uniform for x in parts}
    return RaggedTensor(joined([x.values for x in parts]), splits, uniform.pop() if len(uniform) == 1 else None)


def concat(op: Any, *values: Any, axis: Any = 0) -> Any:
    given = list(values[0]) if len(values) == 1 and values[0].__class__ in (list, tuple) else list(values)
    parts = [x if x.__class__ is RaggedTensor else as_operand(x) for x in given]
    ranks = [x.rank if x.__class__ is RaggedTensor else len(shape_of(x)) for x in parts]
    if len(set(ranks)) > 1:
        raise failure(
            "E0302", f"{op.name}: the parts have {', '.join(map(str, ranks))} dimensions, and must have the same number"
        )
    at = axis_of(op.name, axis, ranks[0])
    if ranks[0] == 1:
        return OPERATORS.concat(parts)
    depth = max([len(x.levels) for x in parts if x.__class__ is RaggedTensor] + [min(max(at, 1), ranks[0] - 1)])
    return beside([ragged(x, depth) for x in parts], at, op.name)


def beside(parts: list[Any], axis: int, name: str) -> Any:
    """The parts joined along an axis; before it their rows must be the same."""
    if not axis:
        return joined(parts)
    if parts[0].__class__ is not RaggedTensor:
        return OPERATORS.concat(parts, axis=axis)
    first = parts[0]
    for i, x in enumerate(parts):
        if x.length() != first.length() or (axis > 1 and not np.array_equal(x.splits, first.splits)):
            raise failure("E0302", f"{name}: the rows of part {i} do not fit those of part 0 before axis {axis}")
    if axis > 1:
        return RaggedTensor(beside([x.values for x in parts], axis - 1, name), first.splits, first.uniform)
    n, m = first.length(), len(parts)
    rows = rows_at(joined(parts), np.arange(m * n).reshape(m, n).T.ravel())
    return RaggedTensor(rows.values, rows.splits[::m])


def stack(op: Any, *values: Any, axis: Any = 0) -> Any:
    given = list(values[0]) if len(values) == 1 and values[0].__class__ in (list, tuple) else list(values)
    parts = [x if x.__class__ is RaggedTensor else as_operand(x) for x in given]
    rank = parts[0].rank if parts[0].__class__ is RaggedTensor else len(shape_of(parts[0]))
    at = axis_of(op.name, axis, rank + 1)
    if not rank:
        return OPERATORS.stack(parts)
    return concat(op, *[expand_dims(x, at) for x in parts], axis=at)


def tile(op: Any, x: Any, reps: Any) -> Any:
    counts_ = [int(n) for n in integers(op.name, "multiples", reps).reshape(-1)]
    if len(counts_) != x.rank:
        raise failure("E0302", f"tile: {len(counts_)} multiples do not fit {x.rank} dimensions")
    for axis, n in enumerate(counts_):
        if n > 1:
            x = concat(op, *[x] * n, axis=axis)
        elif not n:
            x = x.get_item((*[slice(None)] * axis, slice(0, 0)))
    return x


def flip(op: Any, x: Any, axis: Any = None) -> Any:
    for a in axes_of("reverse", axis, x.rank):
        x = x.get_item((*[slice(None)] * a, slice(None, None, -1)))
    return x


# --- axes and sizes ---------------------------------------------------------------------------------------------------


def size(op: Any, x: Any, axis: Any = None) -> int:
    return int(np.prod(shape_of(x.flat)))


def ndim(op: Any, x: Any) -> int:
    return int(x.rank)


def index(op: Any, x: Any, index: Any) -> Any:
    return x.get_item(index)


def expand_dims_(op: Any, x: Any, axis: Any) -> Any:
    return expand_dims(x, axis_of(op.name, axis, x.rank + 1))


def add_n(op: Any, values: Any) -> Any:
    return fold(lambda a, b: elementwise(OPERATORS.add, (a, b), None), values)


# Functions for the rows of their names: here, and in the language.
OWN = by_name(add_n, concat, expand_dims_, flip, index, ndim, size, stack, tile)
FILE = "kinds/rows.RaggedTensor"
WRITTEN = frozenset(
    "argmax argmin boolean_mask embedding_lookup gather gather_nd log_softmax matmul shape softmax squeeze".split()
)


def operate(op: Operation, name: str, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
    """The row of that name on operands of which one is a RaggedTensor: it has a way of its own, or that of its family."""
    if name in WRITTEN:
        return call(STATE.library(FILE, name), *inputs, **(attributes or {}))
    way = OWN.get(name)
    if way is None and "segment_" in name:
        way = segment
    elif way is None and has_segments(name):
        way = reduced
    elif way is None and name.startswith("cum"):
        way = running
    if way is not None:
        return way(op, *inputs, **(attributes or {}))
    if is_elementwise(op, name):
        return elementwise(op, inputs, attributes)
    raise failure(
        "E0304",
        f"{op.name} does not take a RaggedTensor",
        "r.to_tensor() makes it dense, r.flat_values are its numbers",
    )
