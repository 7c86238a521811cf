"""Kernels of scans: sums, products and extrema of the elements so far, linear recurrences, and segments."""

from __future__ import annotations

from operator import mul

from ...core.tensor import OPERATORS
from ...ops.support import strong_terms
from ..ir import BOOL, FLOAT, INT
from ..symbols.arrays import lazy
from ..symbols.symbol import Lazy
from .array_loops import Loops

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .array_loops import Index


# What the extrema of truth values are.
EXTREMA_OF_TRUTH = {"maximum": "logical_or", "minimum": "logical_and"}


class Scanning(Loops):
    """The part of the vocabulary that goes through elements in order."""

    def scan(
        self, x: Lazy, axis: int, kind: str, start: Any, step: Callable[[Any, Any], Any], exclusive: bool = False,
        reverse: bool = False,
    ) -> Lazy:  # fmt: skip
        """The states of `state = step(state, element)` along an axis; `start` None begins with the first element."""
        n = x.shape[axis]
        out = self.empty(x.shape, kind)

        def line(rest: Index) -> None:
            def place(i: Any) -> Index:
                return (*rest[:axis], n - 1 - i if reverse else i, *rest[axis:])

            def turn(i: Any, state: Any) -> Any:
                following = step(state, x.element(place(i)))
                self.put(out, place(i), state if exclusive else following)
                return (following,)

            if start is not None:
                self.fold(n, (start,), turn)
            elif n:
                first = x.element(place(0))
                self.put(out, place(0), first)
                self.fold(n - 1, (first,), lambda i, state: turn(i + 1, state))

        self.each((*x.shape[:axis], *x.shape[axis + 1 :]), line)
        return out

    def cumsum(self, x: Any, axis: int, exclusive: bool, reverse: bool) -> Any:
        """The running sums along an axis."""
        x = lazy(self.builder, x)
        kind = INT if x.kind == BOOL else x.kind
        # What adds nothing to a -0.0 either. Before the first element there is a 0.0 all the same.
        start = 0 if kind == INT else -0.0
        found = self.scan(x, axis, kind, start, lambda a, b: a + b, exclusive, reverse)
        if not exclusive or kind == INT or not x.shape[axis]:
            return found
        first = x.shape[axis] - 1 if reverse else 0
        return self.tensor(
            x.shape, lambda at: self.choose(OPERATORS["equal"](at[axis], first), 0.0, found.element(at)), kind
        )

    def cumulative(self, row: str, x: Any, axis: int) -> Any:
        """The running results of a row of two inputs along an axis."""
        x = lazy(self.builder, x)
        kind = INT if x.kind == BOOL else x.kind
        if x.kind == BOOL and row in EXTREMA_OF_TRUTH:
            kind, row = BOOL, EXTREMA_OF_TRUTH[row]
        # Of equal numbers the extrema take the first of their operands, and NumPy's running extrema the last element.
        return self.scan(x, axis, kind, None, lambda state, item: OPERATORS[row](item, state))

    def linear_recurrence(self, a: Any, b: Any, reverse: bool, strong: bool = False) -> Any:
        """Along axis 0: s[0] = b[0], s[k] = a[k] * s[k-1] + b[k]; from the other end if reverse."""
        times = strong_terms if strong else mul
        a, b = lazy(self.builder, a), lazy(self.builder, b)
        n = b.shape[0]
        out = self.empty(b.shape, FLOAT if FLOAT in (a.kind, b.kind) else INT)

        def line(rest: Index) -> None:
            def place(i: Any) -> Index:
                return (n - 1 - i if reverse else i, *rest)

            def turn(i: Any, state: Any) -> Any:
                at = place(i + 1)
                following = times(state, a.element(at)) + b.element(at)
                self.put(out, at, following)
                return (following,)

            first = b.element(place(0))
            self.put(out, place(0), first)
            self.fold(n - 1, (first,), turn)

        if n:
            self.each(b.shape[1:], line)
        return out

    def segments_extremum(self, name: str, x: Any, ids: Any, total: int, empty: Any) -> Any:
        """The largest or smallest elements of the rows of each segment; `empty` (or the end of the floats) without rows."""
        x, ids = self.settled(x), self.integers(ids)
        largest = name == "segments_max"
        join = OPERATORS["maximum" if largest else "minimum"]
        start = float("-inf") if largest else float("inf")
        end = self.floats.largest
        nothing = (-end if largest else end) if empty is None else float(empty)
        shape = (total, *x.shape[1:])
        out, sizes = self.overwritten(shape), self.zeros((total,), INT)
        self.each(shape, lambda at: self.put(out, at, start))

        def visit(at: Index) -> None:
            place = (ids.element(at[:1]), *at[1:])
            self.put(out, place, join(self.read(out, place), x.element(at)))

        self.each(x.shape, visit)
        self.count(ids.shape[0], lambda i: self.put(sizes, (ids.element((i,)),), 1))
        self.each(
            shape, lambda at: self.put(out, at, self.choose(self.read(sizes, at[:1]) == 0, nothing, self.read(out, at)))
        )
        return out


__all__ = ["Scanning"]
