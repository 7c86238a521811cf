"""Reductions of RaggedTensors over any axes: by segments of their flat values."""

from __future__ import annotations

import numpy as np

from ..core.errors import failure
from ..core.operands import shape_text
from ..core.tensor import OPERATORS, shape_of
from ..ops.gathering import checked
from ..ops.registry import NAMES
from ..ops.support import axes_of, integers
from .ragged import counts, expand_dims, nest, nrows, ranges, splits_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


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
    """Flat values reduced by segments: by a function below, or the row for segments of that name."""
    if how in BY_SEGMENT:
        return BY_SEGMENT[how](flat, ids, count)
    return OPERATORS[f"unsorted_segment_{how}"](flat, counts(ids), count)


def any_(flat: Any, ids: Any, count: int) -> Any:
    return OPERATORS.greater(by_segment("max", OPERATORS.cast(flat, dtype="int32"), ids, count), 0)


def all_(flat: Any, ids: Any, count: int) -> Any:
    return OPERATORS.greater(by_segment("min", OPERATORS.cast(flat, dtype="int32"), ids, count), 0)


def mean(flat: Any, ids: Any, count: int) -> Any:
    total = by_segment("sum", flat, ids, count)
    if total.dtype.kind not in "fc":
        total = OPERATORS.cast(total, dtype="float64")
    sizes = OPERATORS.cast(counts(np.bincount(ids, minlength=count)), dtype=total.dtype)
    return OPERATORS.divide(total, OPERATORS.reshape(sizes, shape=(count,) + (1,) * (len(shape_of(flat)) - 1)))


def var(flat: Any, ids: Any, count: int) -> Any:
    middle = mean(flat, ids, count)
    away = OPERATORS.subtract(OPERATORS.cast(flat, dtype=middle.dtype), OPERATORS.take_rows(middle, indices=ids))
    return mean(OPERATORS.square(away), ids, count)


def std(flat: Any, ids: Any, count: int) -> Any:
    return OPERATORS.sqrt(var(flat, ids, count))


def logsumexp(flat: Any, ids: Any, count: int) -> Any:
    top = OPERATORS.stop_gradient(by_segment("max", flat, ids, count))
    parts = OPERATORS.exp(OPERATORS.subtract(flat, OPERATORS.take_rows(top, indices=ids)))
    return OPERATORS.add(OPERATORS.log(by_segment("sum", parts, ids, count)), top)


def by_name(*functions: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    return {function.__name__.rstrip("_"): function for function in functions}


BY_SEGMENT = by_name(any_, all_, mean, var, std, logsumexp)


def has_segments(name: str) -> bool:
    """Whether a row reduces, and its values by segments too."""
    how = name.removeprefix("reduce_")
    return how in BY_SEGMENT or f"unsorted_segment_{how}" in NAMES


def reduced(op: Any, x: Any, axis: Any = None, keepdims: Any = False, **options: Any) -> Any:
    """A reduction over any axes; rows that have no element at a place of axis 0 do not count there."""
    flat, rank, depth = x.flat, x.rank, len(x.levels)
    if axis is None:
        found = op.call((flat,), options)
        return OPERATORS.reshape(found, shape=(1,) * rank) if keepdims else found
    axes = axes_of(op.name, axis, rank)
    inner = tuple([a - depth for a in axes if a > depth])
    outer = sorted([a for a in axes if a <= depth], reverse=True)
    how = op.name.rpartition(".")[2].removeprefix("reduce_")
    if inner and BY_SEGMENT.get(how) in (var, std) and outer:
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
        flat = by_segment(how, flat, ids, count)
    if whole and not keepdims:
        return OPERATORS.index(flat, index=0)
    found = nest(flat, levels)
    for a in reversed(outer):
        if keepdims and not (whole and a == 0):
            found = expand_dims(found, a)
    return found


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
