"""Rows of the table that RaggedTensors take in ways of their own: joining, gathering, new axes."""

from __future__ import annotations

from functools import reduce as fold

import numpy as np

from ..core.errors import failure
from ..core.operands import as_operand
from ..core.operation import static
from ..core.tensor import OPERATORS, shape_of
from ..ops.gathering import checked
from ..ops.support import axes_of, axis_of, integers
from .access import get_item as item_of
from .kind import Kind
from .ragged import (
    RaggedTensor,
    counts,
    expand_dims,
    nest,
    nrows,
    rows_at,
    splits_of,
)
from .ragged_reductions import argmax, argmin, by_name, has_segments, log_softmax, reduced, segment, softmax
from .ragged_values import elementwise, is_elementwise, matmul, running

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, ClassVar

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


# --- gathering --------------------------------------------------------------------------------------------------------


def gather(op: Any, x: Any, indices: Any = None, axis: Any = None, batch_dims: Any = 0, **unused: Any) -> Any:
    """Rows of `x`, or with `batch_dims=1` of each of its rows; indices may be ragged."""
    if not batch_dims:
        if axis in (None, 0):
            return picked(op, x, indices)
        if x.__class__ is RaggedTensor and axis_of(op.name, axis, x.rank) > 1:
            inner = op.call((x.values, indices), {"axis": axis_of(op.name, axis, x.rank) - 1})
            return RaggedTensor(inner, x.splits, x.uniform)
        raise failure(
            "E0405", "gather: the rows differ in length along axis 1", "batch_dims=1 takes elements of each row"
        )
    if static(batch_dims) != 1:
        raise failure("E0401", f"gather of RaggedTensors takes batch_dims 0 or 1, not {batch_dims}")
    x = x if x.__class__ is RaggedTensor else ragged(as_operand(x), 1)
    where = indices if indices.__class__ is RaggedTensor else ragged(as_operand(indices), 1)
    flat = integers(op.name, "indices", where.values)
    rows = where.rowids
    wrong = (flat < 0) | (flat >= x.lengths[rows])
    if wrong.any():
        i = int(wrong.argmax())
        raise failure("E0405", f"gather: index {flat[i]} is not in row {rows[i]} of length {x.lengths[rows[i]]}")
    return RaggedTensor(rows_at(x.values, x.splits[:-1][rows] + flat), where.splits, where.uniform)


def picked(op: Any, x: Any, indices: Any) -> Any:
    """The rows of `x` in the order and form of the indices."""
    if indices.__class__ is RaggedTensor:
        found = picked(op, x, indices.flat)
        return nest(found, indices.levels)
    places = integers(op.name, "indices", indices)
    x = x if x.__class__ is RaggedTensor else as_operand(x)
    found = rows_at(x, checked(op.name, places, nrows(x), negative=False).reshape(-1))
    if not places.ndim:
        return found.row(0) if found.__class__ is RaggedTensor else OPERATORS.index(found, index=0)
    for size in reversed(places.shape[1:]):
        found = RaggedTensor(found, np.arange(nrows(found) // size + 1 if size else 1) * size, size)
    return found


def gather_nd(op: Any, x: Any, indices: Any, batch_dims: Any = 0) -> Any:
    where = integers(op.name, "indices", indices.method_to_tensor() if indices.__class__ is RaggedTensor else indices)
    points = where.reshape(-1, where.shape[-1])
    places = checked(op.name, points[:, 0], x.length(), negative=False)
    values: Any = x
    for k in range(1, points.shape[1]):
        if values.__class__ is not RaggedTensor:
            rest = np.column_stack([places, points[:, k:]])
            found = OPERATORS.gather_nd(values, counts(rest))
            break
        wrong = (points[:, k] < 0) | (points[:, k] >= values.lengths[places])
        if wrong.any():
            i = int(wrong.argmax())
            raise failure(
                "E0405", f"gather_nd: {points[i].tolist()} is beyond a row of length {values.lengths[places[i]]}"
            )
        places = values.splits[:-1][places] + points[:, k]
        values = values.values
    else:
        found = rows_at(values, places)
    if where.ndim == 1:
        return found.row(0) if found.__class__ is RaggedTensor else OPERATORS.index(found, index=0)
    for size in reversed(where.shape[1:-1]):
        found = RaggedTensor(found, np.arange(nrows(found) // size + 1) * size, size)
    return found


def boolean_mask(op: Any, x: Any, mask: Any, axis: Any = None, keepdims: Any = True) -> Any:
    """The elements where the mask holds; every row keeps its own."""
    mask = mask if mask.__class__ is RaggedTensor else as_operand(mask)
    rank = mask.rank if mask.__class__ is RaggedTensor else len(shape_of(mask))
    x = x if x.__class__ is RaggedTensor else as_operand(x)
    if rank > 1:
        x, mask = ragged(x, max(rank - 1, len(x.levels) if x.__class__ is RaggedTensor else 0)), ragged(mask, rank - 1)
    levels: list[Any] = []
    while mask.__class__ is RaggedTensor:
        if not np.array_equal(mask.splits, x.splits):
            raise failure("E0302", "boolean_mask: the mask and the tensor must have rows of the same lengths")
        levels.append(mask.splits)
        x, mask = x.values, mask.values
    kept = np.asarray(mask.value)
    if kept.dtype.kind != "b":
        raise failure("E0301", f"boolean_mask needs a mask of bools, not {mask.dtype.name}", "write cast(mask, bool)")
    if len(kept) != nrows(x):
        raise failure("E0302", f"boolean_mask: a mask of {len(kept)} elements does not fit {nrows(x)} rows")
    found = rows_at(x, kept.nonzero()[0])
    if levels:
        levels[-1] = splits_of(kept)[levels[-1]]
    return nest(found, levels)


# --- axes and sizes ---------------------------------------------------------------------------------------------------


def squeeze(op: Any, x: Any, axis: Any = None) -> Any:
    if axis is None:
        raise failure("E0305", "squeeze of a RaggedTensor needs its axis", "write squeeze(r, axis=1)")
    for a in sorted(axes_of(op.name, axis, x.rank), reverse=True):
        x = without(x, a)
    return x


def without(x: Any, axis: int) -> Any:
    if x.__class__ is not RaggedTensor:
        return OPERATORS.squeeze(x, axis=axis)
    if axis > 1:
        return RaggedTensor(without(x.values, axis - 1), x.splits, x.uniform)
    sizes = x.lengths if axis else np.array([x.length()])
    if (sizes != 1).any():
        raise failure("E0302", f"squeeze: axis {axis} has rows of {int(sizes[sizes != 1][0])} elements, and not of 1")
    return x.values if axis else x.row(0)


class DynamicRaggedShape(Kind):
    """What `tf.shape` gives of a RaggedTensor: an integer for each axis, or a tuple of the lengths of its rows."""

    __slots__ = ("lengths", "partitions")
    description = "a DynamicRaggedShape"
    attributes: ClassVar[dict[str, Any]] = {
        "rank": lambda s: len(s.lengths),
        "num_row_partitions": lambda s: s.partitions,
    }

    def __init__(self, x: RaggedTensor) -> None:
        self.partitions = len(x.levels)
        rows = [tuple(np.diff(splits).tolist()) for splits in x.levels]
        sizes = [row if size is None else size for row, size in zip(rows, x.inner_shape)]
        self.lengths = [x.length(), *sizes, *shape_of(x.flat)[1:]]

    def text(self, show: Any) -> str:
        return f"<DynamicRaggedShape lengths={self.lengths} num_row_partitions={self.partitions}>"

    def get_item(self, index: Any) -> Any:
        found = item_of(self.lengths, index)
        if found.__class__ is tuple:
            raise failure("E0401", f"Index {index} is not uniform", "r.row_lengths() and r.bounding_shape() have sizes")
        return found

    def method_static_lengths(self, ragged_lengths: Any = True) -> list[Any]:
        return [None if size.__class__ is tuple and not ragged_lengths else size for size in self.lengths]


def shape(op: Any, x: Any, *rest: Any, **options: Any) -> Any:
    return DynamicRaggedShape(x)


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


def embedding_lookup(op: Any, params: Any, ids: Any, **unused: Any) -> Any:
    return picked(op, params, ids)


# Functions for the rows of their names.
OWN = by_name(
    add_n, argmax, argmin, boolean_mask, concat, embedding_lookup, expand_dims_, flip, gather, gather_nd, index, log_softmax, matmul,
    ndim, shape, size, softmax, squeeze, stack, tile,
)  # fmt: skip


def operate(op: Operation, name: str, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
    """The row of that name on operands of which one is a RaggedTensor: it has a way of its own, or that of its family."""
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
