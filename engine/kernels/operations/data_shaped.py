"""Rows whose results have a shape that data decides: where something holds, and what is distinct.

Each result is a part of an array that has room for all (selected.py).
"""

from __future__ import annotations

from math import prod

from ...ops.registry import NAMES
from ..ir import BOOL, INT, Unsupported
from ..symbols.arrays import lazy
from ..symbols.build import Builder
from ..symbols.symbol import Lazy
from ..symbols.values import Selected
from .vocabulary import Vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Index = tuple[Any, ...]


def data_shaped(builder: Builder, name: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """What such a row gives."""
    return ROWS[name](builder, lazy(builder, inputs[0]), **options)


# --- where something holds ------------------------------------------------------------------------------------------


def nonzero(builder: Builder, x: Lazy) -> tuple[Selected, ...]:
    keep, flat = holding(builder, x)
    return tuple(
        Selected(coordinate(builder, x.shape, axis), flat, keep.stored) for axis in range(len(x.shape))
    )  # fmt: skip


def flatnonzero(builder: Builder, x: Lazy) -> Selected:
    keep, flat = holding(builder, x)
    return Selected(coordinate(builder, flat.shape, 0), flat, keep.stored)


def argwhere(builder: Builder, x: Lazy) -> Selected:
    keep, flat = holding(builder, x)
    columns = [coordinate(builder, x.shape, axis) for axis in range(len(x.shape))]

    def element(index: Index) -> Any:
        place, k = index
        if k.__class__ is int:
            return columns[k].element((place,))
        found: Any = columns[-1].element((place,))
        for axis in range(len(columns) - 2, -1, -1):
            here = builder.apply(NAMES["equal"], (k, axis), None)
            found = builder.select(here, columns[axis].element((place,)), found)
        return found

    rows = Lazy(builder, INT, (*flat.shape, len(columns)), element)
    rows.interval = (0, max(x.shape) - 1)
    return Selected(rows, flat, keep.stored, x.shape)


def holding(builder: Builder, x: Lazy) -> tuple[Lazy, Lazy]:
    """For each element whether it is true or not zero, in memory: as it is, and in one row."""
    if not x.shape or 0 in x.shape:
        raise Unsupported("the places of the elements of a number, or of a tensor without elements")
    if x.kind != BOOL or x.stored is None or x.volatile:
        held = x if x.kind == BOOL else builder.elementwise(NAMES["not_equal"], (x, 0))
        keep = builder.materialised(held)
        if x.kind == BOOL and x.stored is None:
            # A second question for the same mask finds the same part.
            builder.late.append((x, x.stored, x.element))
            x.stored, x.element = keep.stored, keep.element
    else:
        keep = x
    flat = builder.apply(NAMES["reshape"], (keep,), {"shape": (prod(x.shape),)})
    return keep, flat


def coordinate(builder: Builder, shape: tuple[int, ...], axis: int) -> Lazy:
    """One coordinate of each place of a shape, the places in one row."""
    size, inner = shape[axis], prod(shape[axis + 1 :])

    def element(index: Index) -> Any:
        place = index[0]
        if inner != 1:
            place = place // inner
        return place % size if axis else place

    rows = Lazy(builder, INT, (prod(shape),), element)
    rows.interval = (0, size - 1)
    return rows


# --- what is distinct -----------------------------------------------------------------------------------------------


class Groups:
    """The equal elements of a vector: `order` is stable, and `starts` says where in it a group begins."""

    def __init__(self, builder: Builder, x: Lazy) -> None:
        if x.kind == BOOL or not prod(x.shape):
            raise Unsupported("the distinct elements of truth values, or of a tensor without elements")
        self.words = Vocabulary(builder)
        self.builder = builder
        self.x = builder.settle(builder.apply(NAMES["reshape"], (x,), {"shape": (prod(x.shape),)}))
        self.size = n = self.x.shape[0]
        self.order = self.words.argsort(self.x, 0, False)

        def begins(index: Index) -> Any:
            (i,) = index
            if i.__class__ is int and i == 0:
                return True
            before = self.words.bound(
                builder.apply(NAMES["maximum"], (builder.integer("subtract", i, 1), 0), None), n - 1
            )
            a, b = (self.x.element((self.place(at),)) for at in (i, before))
            apart = builder.apply(NAMES["not_equal"], (a, b), None)
            if self.x.kind != INT:  # all nan are one
                number = builder.apply(NAMES["equal"], (b, b), None)
                apart = builder.apply(NAMES["logical_and"], (apart, number), None)
            first = builder.apply(NAMES["equal"], (i, 0), None)
            return builder.apply(NAMES["logical_or"], (first, apart), None)

        self.starts = builder.materialised(Lazy(builder, BOOL, (n,), begins))

    def place(self, i: Any) -> Any:
        """Where in the vector the i-th in order is."""
        return self.words.bound(self.order.element((i,)), self.size - 1)

    def each(self, visit: Callable[[Any, Any], None]) -> None:
        """`visit(i, start)` for every place in order, with that at which its group begins."""

        def step(i: Any, start: Any) -> tuple[Any, ...]:
            start = self.words.bound(self.words.choose(self.starts.element((i,)), i, start), self.size - 1)
            visit(i, start)
            return (start,)

        self.words.fold(self.size, (0,), step, within=(0, self.size - 1))

    def ranks(self, keep: Lazy) -> Lazy:
        """For each element of a mask how many before it hold."""
        found = self.words.empty((self.size,), INT)

        def step(i: Any, count: Any) -> tuple[Any, ...]:
            self.words.put(found, (i,), count)
            return (self.builder.integer("add", count, self.builder.to_int(keep.element((i,)))),)

        self.words.fold(self.size, (0,), step, within=(0, self.size))
        return found

    def inverse(self, keep: Lazy, leader: Callable[[Any], Any]) -> Lazy:
        """For each element the number of its group; `leader(start)` is the place in `keep` that stands for the group."""
        ranks = self.ranks(keep)
        found = self.words.changing((self.size,), INT)
        self.each(lambda i, start: self.words.put(found, (self.place(i),), ranks.element((leader(start),))))
        found.interval = (0, self.size - 1)
        return found

    def counts(self, leader: Callable[[Any], Any]) -> Lazy:
        """How many are in each group, at the place that stands for it."""
        found = self.words.changing((self.size,), INT, zero=True)
        self.each(lambda i, start: self.words.add(found, (leader(start),), 1))
        found.interval = (0, self.size)
        return found


def unique(
    builder: Builder, x: Lazy, return_index: Any = False, return_inverse: Any = False, return_counts: Any = False
) -> Any:
    groups = Groups(builder, x)
    keep = groups.starts
    order = groups.order
    values = groups.words.repeated(groups.x, (groups.size,), lambda at: (groups.place(at[0]),))
    found: list[Any] = [Selected(values, keep, keep.stored)]
    if return_index:
        found.append(Selected(order, keep, keep.stored))
    if return_inverse:
        found.append(groups.inverse(keep, lambda start: start))
    if return_counts:
        found.append(Selected(groups.counts(lambda start: start), keep, keep.stored))
    return found[0] if len(found) == 1 else tuple(found)


def by_appearance(builder: Builder, x: Lazy, with_counts: bool) -> tuple[Any, ...]:
    groups = Groups(builder, x)
    words = groups.words
    keep = words.changing((groups.size,), BOOL)
    words.count(groups.size, lambda i: words.put(keep, (groups.place(i),), groups.starts.element((i,))))
    found: list[Any] = [Selected(groups.x, keep, keep.stored), groups.inverse(keep, groups.place)]
    if with_counts:
        found.append(Selected(groups.counts(groups.place), keep, keep.stored))
    return tuple(found)


ROWS: dict[str, Callable[..., Any]] = {
    "nonzero": nonzero,
    "flatnonzero": flatnonzero,
    "argwhere": argwhere,
    "unique": unique,
    "tf.unique": lambda builder, x: by_appearance(builder, x, False),
    "tf.unique_with_counts": lambda builder, x: by_appearance(builder, x, True),
}

__all__ = ["data_shaped"]
