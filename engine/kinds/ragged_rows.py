"""Rows of the table that RaggedTensors take in ways of their own: reductions, joining, gathering, new axes."""

from __future__ import annotations

from functools import reduce as fold

import numpy as np

from ..core.errors import failure
from ..core.operands import as_operand, shape_text
from ..core.operation import static
from ..core.tensor import OPERATORS, shape_of
from ..ops.gathering import checked
from ..ops.support import axes_of, axis_of, integers
from .ragged import (
    RaggedTensor,
    counts,
    expand_dims,
    nest,
    nrows,
    ranges,
    rows_at,
    splits_of,
)
from .ragged_values import elementwise, is_elementwise, products, running

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ..core.operation import Operation

# --- reductions -------------------------------------------------------------------------------------------------------


def without_axis(levels: Sequence[Any], axis: int) -> tuple[Any, list[Any], int]:
    """What reducing an axis does to rows: the segment of each flat value, the splits that are left, and how many segments."""
    first, rest = levels[0], levels[1:]
    if axis > 1:
        ids, left, count = without_axis(rest, axis - 1)
        return ids, [first, *left], count
    lengths = np.diff(first)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    if axis:
        return segmented(rest, rows, len(lengths))
    return segmented(rest, np.arange(len(rows)) - first[:-1][rows], int(lengths.max(initial=0)))


def segmented(levels: Sequence[Any], ids: Any, count: int) -> tuple[Any, list[Any], int]:
    """The same where rows of `levels` are added up by segments: an added row is as long as its longest part."""
    left = []
    for splits in levels:
        lengths = np.diff(splits)
        longest = np.zeros(count, dtype="int64")
        np.maximum.at(longest, ids, lengths)
        joined = splits_of(longest)
        ids = ranges(joined[:-1][ids], lengths)
        count = int(joined[-1])
        left.append(joined)
    return ids, left, count


def by_segment(how: str, flat: Any, ids: Any, count: int) -> Any:
    """Flat values reduced by segments."""
    if how in ("any", "all"):
        found = by_segment("max" if how == "any" else "min", OPERATORS.cast(flat, dtype="int32"), ids, count)
        return OPERATORS.greater(found, 0)
    if how in ("mean", "reduce_mean"):
        sizes = OPERATORS.cast(counts(np.bincount(ids, minlength=count)), dtype="float64")
        total = by_segment("sum", flat, ids, count)
        if total.dtype.kind in "fc":
            sizes = OPERATORS.cast(sizes, dtype=total.dtype)
        else:
            total = OPERATORS.cast(total, dtype="float64")
        sizes = OPERATORS.reshape(sizes, shape=(count,) + (1,) * (len(shape_of(flat)) - 1))
        return OPERATORS.divide(total, sizes)
    if how in ("var", "std"):
        mean = by_segment("mean", flat, ids, count)
        away = OPERATORS.subtract(OPERATORS.cast(flat, dtype=mean.dtype), OPERATORS.take_rows(mean, indices=ids))
        found = by_segment("mean", OPERATORS.square(away), ids, count)
        return OPERATORS.sqrt(found) if how == "std" else found
    if how == "logsumexp":
        top = OPERATORS.stop_gradient(by_segment("max", flat, ids, count))
        parts = OPERATORS.exp(OPERATORS.subtract(flat, OPERATORS.take_rows(top, indices=ids)))
        return OPERATORS.add(OPERATORS.log(by_segment("sum", parts, ids, count)), top)
    return OPERATORS[f"unsorted_segment_{how}"](flat, counts(ids), count)


def reduced(op: Any, x: Any, axis: Any = None, keepdims: Any = False, **options: Any) -> Any:
    """A reduction over any axes; rows that have no element at a place of axis 0 do not count there."""
    flat, rank, depth = x.flat, x.rank, len(x.levels)
    if axis is None:
        found = op.call((flat,), options)
        return OPERATORS.reshape(found, shape=(1,) * rank) if keepdims else found
    axes = axes_of(op.name, axis, rank)
    inner = tuple([a - depth for a in axes if a > depth])
    outer = sorted([a for a in axes if a <= depth], reverse=True)
    if inner and op.name in ("var", "std") and outer:
        raise failure(
            "E0405", f"{op.name} of a RaggedTensor is over ragged axes or over the others, not over both at once"
        )
    if inner:
        flat = op.call((flat,), {"axis": inner, "keepdims": keepdims, **options})
    levels, ids, count, whole = list(x.levels), np.arange(nrows(x.flat)), nrows(x.flat), False
    for a in outer:
        if levels:
            step, levels, count = without_axis(levels, a)
            ids = step[ids]
        else:
            ids, count, whole = np.zeros_like(ids), 1, True
    if outer:
        flat = by_segment(op.name, flat, ids, count)
    if whole and not keepdims:
        return OPERATORS.index(flat, index=0)
    found = nest(flat, levels)
    for a in reversed(outer):
        if keepdims and not (whole and a == 0):
            found = expand_dims(found, a)
    return found


def extreme_place(op: Any, x: Any, axis: Any = None, keepdims: Any = False, output_type: Any = None) -> Any:
    """argmax and argmin: of rows, or over the rows; an empty row has 0."""
    axis = 0 if axis is None else axis_of(op.name, axis, x.rank)
    if x.rank > 2:
        raise failure("E0304", f"{op.name} takes a RaggedTensor of 2 dimensions", "r.to_tensor() makes it dense")
    low, kind = op.name.endswith("max"), np.asarray(x.flat.value).dtype
    limits = (-np.inf, np.inf) if kind.kind == "f" else (np.iinfo(kind).min, np.iinfo(kind).max)
    dense = x.method_to_tensor(default_value=float(limits[not low]) if kind.kind == "f" else int(limits[not low]))
    return op.call((dense,), {"axis": axis, "keepdims": keepdims, "output_type": output_type})


def softmax(op: Any, x: Any, axis: Any = -1) -> Any:
    """softmax and log_softmax over the rows."""
    if len(x.levels) + 1 != x.rank or axis_of(op.name, axis, x.rank) != x.rank - 1:
        raise failure("E0405", f"{op.name} of a RaggedTensor is over its last axis, which must be ragged")
    splits = x.levels[-1]
    ids, count = np.repeat(np.arange(len(splits) - 1), np.diff(splits)), len(splits) - 1
    total = OPERATORS.take_rows(by_segment("logsumexp", x.flat, ids, count), indices=ids)
    found = OPERATORS.subtract(x.flat, total)
    return x.with_flat(found if op.name == "log_softmax" else OPERATORS.exp(found))


def segment(op: Any, data: Any, segment_ids: Any, num_segments: Any = None) -> Any:
    """segment_sum and its kin on rows: the rows of a segment are added place by place."""
    ids = integers(op.name, "segment_ids", segment_ids)
    count = (
        int(ids.max(initial=-1)) + 1 if num_segments is None else int(integers(op.name, "num_segments", num_segments))
    )
    if ids.shape != (nrows(data),):
        raise failure(
            "E0302", f"{op.name}: {nrows(data)} rows need as many segment_ids, not shape {shape_text(ids.shape)}"
        )
    flat_ids, levels, total = segmented(data.levels, checked(op.name, ids, count, "segment_ids", False), count)
    return nest(by_segment(op.name.rpartition("segment_")[2], data.flat, flat_ids, total), levels)


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
    counts_ = [int(n) for n in integers("tile", "multiples", reps).reshape(-1)]
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
        if x.__class__ is RaggedTensor and axis_of("gather", axis, x.rank) > 1:
            inner = op.call((x.values, indices), {"axis": axis_of("gather", axis, x.rank) - 1})
            return RaggedTensor(inner, x.splits, x.uniform)
        raise failure(
            "E0405", "gather: the rows differ in length along axis 1", "batch_dims=1 takes elements of each row"
        )
    if static(batch_dims) != 1:
        raise failure("E0401", f"gather of RaggedTensors takes batch_dims 0 or 1, not {batch_dims}")
    x = x if x.__class__ is RaggedTensor else ragged(as_operand(x), 1)
    where = indices if indices.__class__ is RaggedTensor else ragged(as_operand(indices), 1)
    flat = integers("gather", "indices", where.values)
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
    places = integers("gather", "indices", indices)
    x = x if x.__class__ is RaggedTensor else as_operand(x)
    found = rows_at(x, checked("gather", places, nrows(x), negative=False).reshape(-1))
    if not places.ndim:
        return found.row(0) if found.__class__ is RaggedTensor else OPERATORS.index(found, index=0)
    for size in reversed(places.shape[1:]):
        found = RaggedTensor(found, np.arange(nrows(found) // size + 1 if size else 1) * size, size)
    return found


def gather_nd(op: Any, x: Any, indices: Any, batch_dims: Any = 0) -> Any:
    where = integers(
        "gather_nd", "indices", indices.method_to_tensor() if indices.__class__ is RaggedTensor else indices
    )
    points = where.reshape(-1, where.shape[-1])
    places = checked("gather_nd", points[:, 0], x.length(), negative=False)
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
    for a in sorted(axes_of("squeeze", axis, x.rank), reverse=True):
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


def no_shape(op: Any, x: Any, *rest: Any, **options: Any) -> Any:
    raise failure(
        "E0304",
        f"{op.name} does not take a RaggedTensor",
        "r.bounding_shape() has the longest sizes, r.row_lengths() those of the rows",
    )


REDUCTIONS = ("sum", "mean", "reduce_mean", "max", "min", "prod", "any", "all", "var", "std", "logsumexp")
SEGMENTS = ("sum", "mean", "max", "min", "prod")
ROWS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(REDUCTIONS, reduced),
    **{f"{kind}segment_{how}": segment for how in SEGMENTS for kind in ("", "unsorted_")},
    "add_n": lambda op, values: fold(lambda a, b: elementwise(OPERATORS.add, (a, b), None), values),
    "argmax": extreme_place,
    "argmin": extreme_place,
    "boolean_mask": boolean_mask,
    "concat": concat,
    "cumprod": running,
    "cumsum": running,
    "embedding_lookup": lambda op, params, ids, **unused: picked(op, params, ids),
    "expand_dims": lambda op, x, axis: expand_dims(x, axis_of("expand_dims", axis, x.rank + 1)),
    "flip": flip,
    "gather": gather,
    "gather_nd": gather_nd,
    "index": lambda op, x, index: x.get_item(index),
    "log_softmax": softmax,
    "matmul": products,
    "ndim": lambda op, x: x.rank,
    "shape": no_shape,
    "size": lambda op, x, axis=None: int(np.prod(shape_of(x.flat))),
    "softmax": softmax,
    "squeeze": squeeze,
    "stack": stack,
    "tile": tile,
}  # fmt: skip


def operate(op: Operation, name: str, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
    """The row of that name on operands of which one is a RaggedTensor."""
    if name in ROWS:
        return ROWS[name](op, *inputs, **(attributes or {}))
    if is_elementwise(op, name):
        return elementwise(op, inputs, attributes)
    raise failure(
        "E0304",
        f"{op.name} does not take a RaggedTensor",
        "r.to_tensor() makes it dense, r.flat_values are its numbers",
    )
