"""Kernels of order: stable sorting along an axis, runs of equal elements, search in sorted vectors."""

from __future__ import annotations

from ...core.tensor import OPERATORS
from ...ops.registry import ROWS
from ..ir import BOOL, FLOAT, INT, Unsupported
from ..symbols.arrays import lazy
from ..symbols.symbol import Lazy, Sym
from .array_loops import Loops

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .array_loops import Index


class Sorting(Loops):
    """The part of the vocabulary that compares elements with each other."""

    def argsort(self, x: Any, axis: int, descending: bool) -> Lazy:
        """The stable order of the elements along an axis, nan last: merge sort, from runs of one on.

        Elements go with their places, so that runs are read in the order of memory; behind them is one that is read where
        a run has ended, and does not count.
        """
        x = self.settled(x)
        n = x.shape[axis]
        found = self.changing(x.shape, INT)
        kind = INT if x.kind == BOOL else x.kind

        def line(rest: Index) -> None:
            order, merged = self.changing((n + 1,), INT), self.changing((n + 1,), INT)
            keys, sorted_keys = self.changing((n + 1,), kind), self.changing((n + 1,), kind)

            def begin(i: Any, place: Any) -> None:
                self.put(order, (i,), place)
                self.put(keys, (i,), self.builder.of_kind(kind, x.element((*rest[:axis], place, *rest[axis:]))))

            # Falling order is the rising order of the elements read backwards, read backwards.
            self.count(n, lambda i: begin(i, n - 1 - i if descending else i))
            begin(n, 0)
            self.put(sorted_keys, (n,), self.read(keys, (n,)))
            self.put(merged, (n,), 0)
            passes = max(n - 1, 0).bit_length()

            def turn(_: Any, width: Any) -> tuple[Any, ...]:
                self.merge_runs((order, keys), (merged, sorted_keys), n, width)
                self.merge_runs((merged, sorted_keys), (order, keys), n, width * 2)
                return (width * 4,)

            # There and back: where the last of these finds one run, it copies it.
            self.fold((passes + 1) // 2, (1,), turn, within=(1, 4 * n))
            self.count(
                n,
                lambda i: self.put(
                    found, (*rest[:axis], n - 1 - i if descending else i, *rest[axis:]), self.place_in(order, i, n)
                ),
            )

        if 0 not in x.shape:
            self.each((*x.shape[:axis], *x.shape[axis + 1 :]), line)
        found.interval = (0, max(n - 1, 0))
        return found

    def place_in(self, order: Lazy, i: Any, n: int) -> Any:
        """An element of an array of places, with the bounds that it has."""
        found = self.read(order, (i,))
        self.builder.ranges[found.var] = (0, max(n - 1, 0))
        return found

    def merge_runs(self, runs: tuple[Lazy, Lazy], merged: tuple[Lazy, Lazy], n: int, width: Any) -> None:
        """Neighbouring sorted runs of a length merged, places and keys; the left one's elements first where they are equal."""
        order, keys = runs
        join = OPERATORS["minimum"]

        def step(k: Any, left: Any, right: Any, middle: Any, end: Any) -> tuple[Any, ...]:
            # Where a pair of runs ends, the next one begins, and both its hands.
            fresh = OPERATORS["equal"](k, end)
            middle = self.choose(fresh, join(k + width, n), middle)
            end = self.choose(fresh, join(k + width * 2, n), end)
            left, right = self.choose(fresh, k, left), self.choose(fresh, middle, right)
            a, b = self.read(keys, (left,)), self.read(keys, (right,))
            before = b < a
            if keys.kind == FLOAT:
                before = before | ((a != a) & (b == b))
            take_right = (left >= middle) | ((right < end) & before)
            self.put(merged[0], (k,), self.place_in(order, self.choose(take_right, right, left), n))
            self.put(merged[1], (k,), self.choose(take_right, b, a))
            step_right = self.builder.to_int(take_right)
            return left + (1 - step_right), right + step_right, middle, end

        self.fold(n, (0, 0, 0, 0), step, within=(0, n))

    def inside(self, i: Any, n: int) -> Any:
        """An index kept below n: what it leads to is not used beyond."""
        found = OPERATORS["minimum"](i, n - 1)
        if found.__class__ is Sym:
            self.builder.ranges[found.var] = (0, n - 1)
        return found

    def sort(self, x: Any, axis: int, descending: bool) -> Any:
        """x in rising or falling order along an axis."""
        x = self.settled(x)
        last = x.shape[axis] - 1
        # Falling values are the rising ones read backwards, which zeros of both signs show; argsort is stable both ways.
        backwards = descending and x.kind not in (INT, BOOL)
        order = ROWS["argsort_along"](x, axis=axis, descending=descending and not backwards)

        def place(at: Index) -> Any:
            return order.element((*at[:axis], last - at[axis], *at[axis + 1 :]) if backwards else at)

        return self.repeated(x, x.shape, lambda at: (*at[:axis], place(at), *at[axis + 1 :]))

    def share_ties(self, y: Any, g: Any, axis: int) -> Any:
        """g with its mean over each run of equal elements of y along an axis."""
        y, g = self.settled(y), self.settled(g)
        n = y.shape[axis]
        out = self.changing(y.shape)

        def line(rest: Index) -> None:
            def at(i: Any) -> Index:
                return (*rest[:axis], i, *rest[axis:])

            def same(i: Any, k: Any) -> Any:
                return OPERATORS["equal"](y.element(at(i)), y.element(at(k)))

            # Forwards the sum and length of the run so far; backwards the run's mean reaches all of it.
            sizes = self.changing((n,))

            def forth(i: Any, total: Any, size: Any) -> tuple[Any, ...]:
                joined = OPERATORS["logical_and"](OPERATORS["greater"](i, 0), same(i, OPERATORS["maximum"](i - 1, 0)))
                total = self.choose(joined, total, 0.0) + g.element(at(i))
                size = self.choose(joined, size, 0.0) + 1.0
                self.put(out, at(i), total)
                self.put(sizes, (i,), size)
                return total, size

            def back(k: Any, mean: Any) -> tuple[Any, ...]:
                i = n - 1 - k
                later = self.inside(i + 1, n)
                joined = OPERATORS["logical_and"](OPERATORS["less"](i, n - 1), same(i, later))
                mean = self.choose(joined, mean, self.read(out, at(i)) / self.read(sizes, (i,)))
                self.put(out, at(i), mean)
                return (mean,)

            self.fold(n, (0.0, 0.0), forth)
            self.fold(n, (0.0,), back)

        self.each((*y.shape[:axis], *y.shape[axis + 1 :]), line)
        return out

    def running_ties(self, x: Any, y: Any, axis: int) -> Any:
        """How many elements so far equal the running extremum y that holds at each place."""
        x, y = self.settled(x), self.settled(y)
        n = x.shape[axis]
        out = self.empty(x.shape)

        def line(rest: Index) -> None:
            def at(i: Any) -> Index:
                return (*rest[:axis], i, *rest[axis:])

            def step(i: Any, ties: Any) -> tuple[Any, ...]:
                here, before = y.element(at(i)), y.element(at(OPERATORS["maximum"](i - 1, 0)))
                tied = self.choose(OPERATORS["equal"](x.element(at(i)), here), 1.0, 0.0)
                goes_on = OPERATORS["logical_and"](OPERATORS["greater"](i, 0), OPERATORS["equal"](here, before))
                ties = self.choose(goes_on, ties + tied, 1.0)
                self.put(out, at(i), ties)
                return (ties,)

            self.fold(n, (0.0,), step)

        self.each((*x.shape[:axis], *x.shape[axis + 1 :]), line)
        return out

    def searchsorted(self, a: Any, v: Any, right: bool) -> Any:
        """Where elements belong in a sorted vector: bisection."""
        a, v = self.settled(a), lazy(self.builder, v)
        if a.ndim != 1:
            raise Unsupported("searchsorted in several rows")
        n = a.shape[0]

        def element(index: Index) -> Any:
            item = v.element(index)

            def halve(_: Any, low: Any, high: Any) -> tuple[Any, ...]:
                middle = (low + high) // 2
                other = a.element((self.inside(middle, n),))
                beyond = (other <= item) if right else (other < item)
                if FLOAT in (a.kind, v.kind):
                    beyond = beyond | ((item != item) & ((other == other) | right))
                up = OPERATORS["logical_and"](low < high, beyond)
                down = OPERATORS["logical_and"](low < high, ~beyond)
                return self.choose(up, middle + 1, low), self.choose(down, middle, high)

            place = self.fold(n.bit_length(), (0, n), halve, within=(0, n))[0]
            if place.__class__ is Sym:
                self.builder.ranges[place.var] = (0, n)
            return place

        return self.builder.settle(self.tensor(v.shape, element, INT))

    def isin(self, x: Any, values: Any) -> Any:
        """Whether each element is among values."""
        x, values = lazy(self.builder, x), self.settled(values)

        def element(index: Index) -> Any:
            item = x.element(index)

            def level(k: int, at: Index, state: Any) -> Any:
                if k == values.ndim:
                    return state | OPERATORS["equal"](item, values.element(at))
                return self.fold(values.shape[k], (state,), lambda i, s: (level(k + 1, (*at, i), s),))[0]

            return level(0, (), False)

        return self.tensor(x.shape, element, BOOL)


__all__ = ["Sorting"]
