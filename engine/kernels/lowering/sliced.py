"""Dynamic slices as masks: `x[:i]` and `A[i, j:]`, whose bounds data decides, read as parts of tensors and written in place.

A part is the whole axis with a question for each of its places (selected.py): what is outside is not computed.
"""

from __future__ import annotations

from ...ops.registry import NAMES
from .. import ir
from ..ir import BOOL, INT, Unsupported
from ..symbols.arrays import get, lazy, view
from ..symbols.build import Builder
from ..symbols.symbol import Lazy, Sym, raw
from ..symbols.values import Selected

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def is_open(index: Any) -> bool:
    """Whether an index is a slice that data bounds."""
    return index.__class__ is slice and Sym in (index.start.__class__, index.stop.__class__)


def opened(builder: Builder, x: Lazy, index: Any) -> tuple[Any, slice] | None:
    """An index into `x` with `:` in the place of its one slice that data bounds, and that slice; None without one.

    The slice is of the first axis that is left.
    """
    items = index if index.__class__ is tuple else (index,)
    places = [k for k, item in enumerate(items) if is_open(item)]
    if not places:
        return None
    place = places[0]
    before = items[:place]
    single = all(item.__class__ is int or (item.__class__ is Sym and item.kind == INT) for item in before)
    if len(places) > 1 or not single or any(item is None or item is Ellipsis for item in items):
        raise Unsupported("a slice whose bounds depend on data, beside other indices than places before it")
    if any(item.__class__ is Lazy for item in items):
        raise Unsupported("a slice whose bounds depend on data, beside an array of places")
    return (*before, slice(None), *items[place + 1 :]), items[place]


def part(builder: Builder, x: Lazy, index: tuple[Any, ...], bounds: slice) -> Selected:
    """What `opened` describes."""
    rows = x if len(index) == 1 else builder.indexed(x, lambda: get(builder, x, index))
    return by_slice(builder, rows, bounds)


def by_slice(builder: Builder, x: Lazy, index: slice) -> Selected:
    """`x[start:stop]`: bounds count from the end where they are negative, and end with the axis."""
    n = x.shape[0]

    if index.step is not None:
        raise Unsupported("a slice whose bounds depend on data, with a step")
    start, stop = bounded(builder, index.start, 0, n), bounded(builder, index.stop, n, n)

    def inside(at: tuple[Any, ...]) -> Any:
        after = builder.apply(NAMES["greater_equal"], (at[0], start), None)
        before = builder.apply(NAMES["less"], (at[0], stop), None)
        if after.__class__ is bool:
            return before if after else False
        if before.__class__ is bool:
            return after if before else False
        return builder.apply(NAMES["logical_and"], (after, before), None)

    x = builder.settle(x)
    key = (raw(index.start), raw(index.stop), n)
    return Selected(x, view(builder, BOOL, (n,), inside), key, None, (start, stop))


def bounded(builder: Builder, b: Any, default: int, n: int) -> Any:
    """A bound of a slice of an axis of length `n`, counted from the front."""
    if b is None:
        return default
    if (b.__class__ is not Sym or b.kind != INT) and b.__class__ is not int:
        raise Unsupported("a slice of this kind")
    negative = builder.apply(NAMES["less"], (b, 0), None)
    if negative.__class__ is bool:
        b = builder.integer("add", b, n) if negative else b
    else:
        b = builder.emit("where_select", (negative, builder.integer("add", b, n), b), INT)
    return within(builder, b, n)


def within(builder: Builder, place: Any, most: int) -> Any:
    """A place, or the nearest from 0 to `most`."""
    low = builder.apply(NAMES["maximum"], (place, 0), None)
    found = builder.apply(NAMES["minimum"], (low, most), None)
    if found.__class__ is Sym:
        builder.ranges[found.var] = (0, most)
    return found


def aligned(builder: Builder, x: Selected, other: Selected) -> Selected:
    """A slice that is as long as another, with each of its rows in the place of the other's; the tape takes the step if
    it is not as long."""
    if x.key == other.key:
        return x
    if x.bounds is None or other.bounds is None:
        return alike(builder, x, other)
    return shifted(builder, x.rows, x.bounds, other)


def alike(builder: Builder, x: Selected, other: Selected) -> Selected:
    """A part with the rows of another one, where both have the same; the tape takes the step where they have not."""
    n = x.keep.shape[0]
    if other.keep.shape[0] != n:
        raise Unsupported("parts of tensors whose lengths depend on data in several ways")

    def check(at: tuple[Any, ...]) -> None:
        differ = builder.apply(NAMES["logical_xor"], (x.keep.element(at), other.keep.element(at)), None)
        if differ.__class__ is Sym:
            builder.append(ir.Check(raw(differ), 0, 1))
        elif differ:
            raise Unsupported("parts of tensors whose lengths depend on data in several ways")

    builder.each((n,), check)
    return other.of(x.rows)


def shifted(builder: Builder, rows: Lazy, bounds: tuple[Any, Any], other: Selected) -> Selected:
    """The rows of an array within bounds, put in the places of a slice that is as long."""
    assert other.bounds is not None
    (start, stop), (first, last) = bounds, other.bounds
    more = builder.integer("subtract", extent(builder, start, stop), extent(builder, first, last))
    if more.__class__ is Sym:
        builder.append(ir.Check(more.var, 0, 1))
    elif more != 0:
        raise Unsupported("parts of tensors of different lengths")
    step = builder.integer("subtract", start, first)
    most = rows.shape[0] - 1
    if most < 0:
        raise Unsupported("a part of an empty tensor")
    found = view(
        builder, rows.kind, (other.rows.shape[0], *rows.shape[1:]),
        lambda at: rows.element((within(builder, builder.integer("add", at[0], step), most), *at[1:])),
    )  # fmt: skip
    found.interval = rows.interval
    return other.of(found)


def extent(builder: Builder, start: Any, stop: Any) -> Any:
    """How long a slice is."""
    return builder.apply(NAMES["maximum"], (builder.integer("subtract", stop, start), 0), None)


def updated(builder: Builder, x: Lazy, index: tuple[Any, ...], bounds: slice, value: Any) -> Lazy:
    """What stands at `index` in `x`, where `opened` found it with these bounds, with another value within them."""
    from .selected import updated_where

    whole = lazy(builder, get(builder, x, index))
    place = by_slice(builder, whole, bounds)
    shape = whole.shape
    if value.__class__ is Selected:
        rows = aligned(builder, value, place).rows
    else:
        rows = lazy(builder, value)
        if len(rows.shape) == len(shape) and rows.shape[0] != 1:
            rows = shifted(builder, builder.settle(rows), (0, rows.shape[0]), place).rows
    if rows.shape:
        rows = builder.apply(NAMES["broadcast_to"], (rows,), {"shape": shape})
    keep = view(builder, BOOL, shape, lambda at: place.keep.element(at[:1]))
    return updated_where(builder, place.rows, keep, rows)
