"""Scatter: rows put to places that data decides.

These are `dynamic_stitch` of computed places, or of the parts of a `dynamic_partition`, and `roll` by a computed shift.

Of a stitch the last writer of each place is found first, and its row is read then, so that it alone is differentiated.
Where nobody writes a place the tape says so.
"""

from __future__ import annotations

from math import prod

from ...core.state import STATE
from ...ops.registry import NAMES
from .. import ir
from ..ir import FLOAT, INT, Unsupported
from ..symbols.arrays import array_of_list, get, lazy
from ..symbols.build import Builder
from ..symbols.strength import bare
from ..symbols.symbol import Lazy, Sym, raw
from ..symbols.values import MAX_UNROLL, Selected
from .selected import by_mask, guarded, row
from .sliced import aligned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .applying import Applying


def by_data(indices: Any) -> bool:
    """Whether some places of a stitch are not known."""
    return indices.__class__ in (list, tuple) and any(
        x.__class__ is Selected or (x.__class__ is Lazy and x.known is None) or x.__class__ is Sym for x in indices
    )


def stitched(builder: Builder, indices: Any, data: Any, fill: Any = None) -> Lazy:
    """`dynamic_stitch(indices, data)`."""
    if fill is not None or data.__class__ not in (list, tuple) or len(data) != len(indices):
        raise Unsupported("a stitch of these parts, to places that depend on data")
    parts = [part_of(builder, where, what) for where, what in zip(indices, data)]
    rest = {rows.shape[1:] for _, rows, _ in parts}
    if len(rest) != 1:
        raise Unsupported("a stitch of rows of several shapes")
    sizes = [rows.shape[0] for _, rows, _ in parts]
    whole = builder.settle(builder.apply(NAMES["concat"], tuple(rows for _, rows, _ in parts), {"axis": 0}))
    count = places_in([where for where, _, _ in parts], [keep is not None for _, _, keep in parts], sum(sizes))
    words = builder.arrays
    # The number of the row that wrote last, counted from 1.
    last = words.changing((count,), INT, zero=True)
    begin = 0
    for (where, _, keep), size in zip(parts, sizes):

        def write(i: Any, where: Lazy = where, keep: Any = keep, begin: int = begin) -> None:
            def put() -> None:
                place = where.element((i,))
                if place.__class__ is Sym:
                    builder.append(ir.Check(raw(place), 0, count, STATE.site))
                    place = words.bound(bare_copy(builder, place), count - 1)
                elif not 0 <= place < count:
                    raise Unsupported("a stitch to a place that is none")
                words.put(last, (place,), builder.integer("add", i, begin + 1))

            put() if keep is None else words.when(keep.element((i,)), put)

        words.count(size, write)
        begin += size
    builder.each((count,), lambda at: builder.append(ir.Check(raw(last.element(at)), 1, begin + 1, STATE.site)))
    sources = builder.materialised(
        Lazy(builder, INT, (count,), lambda at: builder.integer("subtract", last.element(at), 1))
    )
    sources.interval = (0, begin - 1)
    found: Lazy = get(builder, whole, sources)
    return found


def part_of(builder: Builder, where: Any, what: Any) -> tuple[Lazy, Lazy, Lazy | None]:
    """Places in one row, the rows for them, and for each whether it is there; None where all are."""
    if where.__class__ is Selected:
        if what.__class__ is not Selected or len(where.rows.shape) != 1:
            raise Unsupported("a stitch of a part of a tensor to places of another part")
        return where.rows, guarded(builder, aligned(builder, what, where), 0), where.keep
    if what.__class__ is Selected:
        raise Unsupported("a stitch of a part of a tensor whose length depends on data")
    places, rows = lazy(builder, where), lazy(builder, what)
    if places.kind != INT or rows.shape[: len(places.shape)] != places.shape:
        raise Unsupported("a stitch of these parts, to places that depend on data")
    reshape, size = NAMES["reshape"], prod(places.shape)
    rest = rows.shape[len(places.shape) :]
    places = builder.settle(lazy(builder, builder.apply(reshape, (places,), {"shape": (size,)})))
    return places, lazy(builder, builder.apply(reshape, (rows,), {"shape": (size, *rest)})), None


def places_in(wheres: list[Lazy], partial: list[bool], total: int) -> int:
    """How many places there are, if none is left out: as many as the bounds of the indices say, or as there are rows."""
    if all(where.interval is not None for where in wheres):
        return max(where.interval[1] for where in wheres) + 1  # type: ignore[index]
    if any(partial):
        raise Unsupported("a stitch to places of which it is not known how many there are")
    return total


def bare_copy(builder: Builder, x: Any) -> Any:
    """An integer in a variable of its own, which is known to be within bounds behind a check."""
    var = ir.Var(INT)
    builder.append(ir.Set(var, "copy", (raw(x),), None, None))
    return Sym(builder, var)


def in_segments(machine: Applying, kind: str, x: Lazy, ids: Lazy, count: Any) -> Lazy | None:
    """`unsorted_segment_max` and its kin of a vector: segment by segment, where these are few; None where they are not."""
    builder = machine.builder
    few = count.__class__ is int and 0 < count <= MAX_UNROLL and len(x.shape) == 1 and ids.shape == x.shape
    if not few or x.kind != FLOAT or ids.kind != INT or builder.follower is not None:
        return None
    ids = builder.settle(ids)
    builder.each(ids.shape, lambda at: builder.append(ir.Check(raw(ids.element(at)), 0, count, STATE.site)))
    found = []
    for k in range(count):
        here = builder.materialised(builder.elementwise(NAMES["equal"], (ids, k)))
        found.append(row(machine, NAMES[kind], [by_mask(builder, x, here)], {}))
    return array_of_list(builder, found)


def rolled(builder: Builder, x: Any, shift: Sym, axis: Any) -> Any:
    """`roll(x, shift, axis)` by one number."""
    x = lazy(builder, x)
    shape = x.shape
    if axis is None and len(shape) != 1:
        flat = builder.apply(NAMES["reshape"], (x,), {"shape": (prod(shape),)})
        return builder.apply(NAMES["reshape"], (rolled(builder, flat, shift, 0),), {"shape": shape})
    axis = 0 if axis is None else axis
    if axis.__class__ is not int or not -len(shape) <= axis < len(shape) or shift.kind != INT or 0 in shape:
        raise Unsupported("a roll by this number along this axis")
    axis %= len(shape)
    n, rest = shape[axis], builder.apply(NAMES["mod"], (bare(builder, shift), shape[axis]), None)

    def place(i: Any) -> Any:
        found = builder.apply(NAMES["mod"], (builder.integer("add", builder.integer("subtract", i, rest), n), n), None)
        return builder.arrays.bound(found, n - 1)

    return builder.arrays.repeated(x, shape, lambda at: (*at[:axis], place(at[axis]), *at[axis + 1 :]))


__all__ = ["by_data", "in_segments", "rolled", "stitched"]
