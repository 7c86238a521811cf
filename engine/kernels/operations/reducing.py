"""Kernels of reductions: extrema, products, moments, norms, log-sum-exp, truth and counts, along axes."""

from __future__ import annotations

from ...core.tensor import OPERATORS
from ...ops.registry import ROWS
from ...ops.support import axes_of, count
from ..ir import BOOL, FLOAT, INT, Unsupported
from ..symbols.arrays import lazy
from ..symbols.symbol import Lazy, Sym
from .array_loops import Loops

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .array_loops import Index

    At = Callable[[Index], Any]

INFINITY = float("inf")


class Reducing(Loops):
    """The part of the vocabulary that makes one element of many."""

    def reduced(
        self,
        name: str,
        x: Any,
        axis: Any,
        keepdims: Any,
        finish: Callable[[tuple[int, ...], At], Any],
        kind: str = FLOAT,
    ) -> Lazy:
        """For each line along the axes `finish(shape of a line, its elements by index)`."""
        x = self.settled(x)
        axes = axes_of(name, axis, x.ndim)
        inner = tuple(x.shape[a] for a in axes)
        shape = tuple(1 if a in axes else n for a, n in enumerate(x.shape) if keepdims or a not in axes)
        rest = [a for a in range(x.ndim) if a not in axes]
        if 0 in inner:
            raise Unsupported(f"{name} of nothing")

        def element(index: Index) -> Any:
            outer = [index[a] for a in rest] if keepdims else list(index)

            def at(line: Index) -> Any:
                full: list[Any] = [0] * x.ndim
                for a, i in (*zip(rest, outer), *zip(axes, line)):
                    full[a] = i
                return x.element(tuple(full))

            return finish(inner, at)

        return self.tensor(shape, element, kind)

    def fold_over(self, shape: tuple[int, ...], starts: tuple[Any, ...], step: Callable[..., Any]) -> tuple[Any, ...]:
        """`fold` over all indices of a shape, in row-major order: `step(index, *state)`."""

        def level(k: int, index: Index, state: tuple[Any, ...]) -> tuple[Any, ...]:
            if k == len(shape):
                return step(index, *state)  # type: ignore[no-any-return]
            return self.fold(shape[k], state, lambda i, *inner: level(k + 1, (*index, i), inner))

        return level(0, (), starts)

    def sum_over(self, shape: tuple[int, ...], term: At) -> Any:
        return self.fold_over(shape, (0.0,), lambda index, total: (total + term(index),))[0]

    def greatest(self, shape: tuple[int, ...], term: At) -> Any:
        """The largest of numbers, nan if one is nan."""
        return self.fold_over(shape, (-INFINITY,), lambda index, top: (OPERATORS["maximum"](top, term(index)),))[0]

    # --- extrema ----------------------------------------------------------------------------------------------------

    def extremum(self, name: str, x: Any, axis: Any, keepdims: Any) -> Any:
        """The largest or smallest elements."""
        x = lazy(self.builder, x)
        if x.kind == BOOL:
            join = OPERATORS["logical_or" if name == "max" else "logical_and"]
        else:
            join = OPERATORS["maximum" if name == "max" else "minimum"]

        def finish(inner: tuple[int, ...], at: At) -> Any:
            first = at((0,) * len(inner))
            # Of equal numbers NumPy's reduction keeps the last, and the row its first operand.
            if len(inner) == 1:  # the first is not compared with itself, which would be a tie
                others = self.builder.integer("subtract", inner[0], 1)
                return self.fold(others, (first,), lambda i, best: (join(at((i + 1,)), best),))[0]
            return self.fold_over(inner, (first,), lambda index, best: (join(at(index), best),))[0]

        return self.reduced(name, x, axis, keepdims, finish, x.kind)

    def place_of_extremum(self, name: str, x: Any, axis: Any, keepdims: Any) -> Any:
        """The index of the first largest or smallest element; of a nan if there is one."""
        x = self.settled(x)
        if axis is None:
            flat = OPERATORS["reshape"](x, shape=-1)
            found = self.place_of_extremum(name, flat, 0, False)
            return self.tensor((1,) * x.ndim, lambda index: found.element(()), INT) if keepdims else found
        beyond = OPERATORS["greater" if name == "argmax" else "less"]

        def finish(inner: tuple[int, ...], at: At) -> Any:
            def step(index: Index, best: Any, place: Any) -> Any:
                item = at(index)
                better = beyond(item, best)
                if x.kind == FLOAT:
                    better = better | ((item != item) & (best == best))
                return self.choose(better, item, best), self.choose(better, index[0], place)

            place = self.fold_over(inner, (at((0,)), 0), step)[1]
            if place.__class__ is Sym:
                self.builder.ranges[place.var] = (0, inner[0] - 1)
            return place

        return self.reduced(name, x, axis, keepdims, finish, INT)

    def tie_weights(self, x: Any, y: Any, axes: tuple[int, ...]) -> Any:
        """One over the number of elements that equal the extremum, at those elements; else 0."""
        tied = OPERATORS["equal"](x, y) | (OPERATORS["not_equal"](x, x) & OPERATORS["not_equal"](y, y))
        ones = OPERATORS["where"](tied, 1.0, 0.0)
        return OPERATORS["where"](tied, OPERATORS["divide"](1.0, OPERATORS["sum"](ones, axis=axes, keepdims=True)), 0.0)

    # --- sums and products ---------------------------------------------------------------------------------------------------

    def sum_of_integers(self, x: Any, axis: Any, keepdims: Any) -> Any:
        """The sum of integers, or of truth values as integers."""

        def finish(inner: tuple[int, ...], at: At) -> Any:
            return self.fold_over(inner, (0,), lambda index, total: (total + self.builder.to_int(at(index)),))[0]

        return self.reduced("sum", x, axis, keepdims, finish, INT)

    def prod(self, x: Any, axis: Any, keepdims: Any) -> Any:
        """The product of the elements. Where a partial product may have left the floats, the tape has the answer."""
        x = lazy(self.builder, x)

        def finish(inner: tuple[int, ...], at: At) -> Any:
            if x.kind != FLOAT:
                return self.fold_over(inner, (1,), lambda index, total: (total * at(index),))[0]

            def step(index: Index, total: Any, least: Any, most: Any) -> Any:
                item = at(index)
                size = abs(item)
                return total * item, OPERATORS["minimum"](least, size), OPERATORS["maximum"](most, size)

            total, least, most = self.fold_over(inner, (1.0, INFINITY, 0.0), step)
            size = abs(total)
            self.leave_if((least > 0.0) & (most < INFINITY) & ~((size >= self.floats.least) & (size < INFINITY)))
            return total

        return self.reduced("prod", x, axis, keepdims, finish, INT if x.kind == BOOL else x.kind)

    def product_of_others(self, x: Any) -> Any:
        """For each element along axis 0 the product of all the others."""
        x = self.settled(x)
        n = x.shape[0]
        out = self.overwritten(x.shape)

        def line(rest: Index) -> None:
            def guarded(product: Any) -> Any:
                # A product of finite numbers that left the floats is the tape's to compute.
                size = abs(product)
                self.leave_if((size > 0.0) & (size < self.floats.least) | (size == INFINITY))
                return product

            def forth(i: Any, before: Any) -> Any:
                self.put(out, (i, *rest), before)
                return (guarded(before * x.element((i, *rest))),)

            def back(i: Any, after: Any) -> Any:
                place = (n - 1 - i, *rest)
                self.put(out, place, self.read(out, place) * after)
                return (guarded(after * x.element(place)),)

            self.fold(n, (1.0,), forth)
            self.fold(n, (1.0,), back)

        self.each(x.shape[1:], line)
        return out

    # --- moments and norms ------------------------------------------------------------------------------------------

    def var(self, x: Any, axis: Any, ddof: Any, keepdims: Any) -> Any:
        """The mean of the squared deviations from the mean, over n - ddof."""
        return self.reduced("var", x, axis, keepdims, lambda inner, at: self.variance(inner, at, ddof))

    def variance(self, inner: tuple[int, ...], at: At, ddof: Any) -> Any:
        """The variance of a line."""
        n = count(inner)
        mean = self.sum_over(inner, at) / float(n)
        squares = self.sum_over(inner, lambda index: OPERATORS["square"](at(index) - mean))
        return OPERATORS["divide"](squares, float(max(n - ddof, 0)))

    def std(self, x: Any, axis: Any, ddof: Any, keepdims: Any) -> Any:
        """The root of the variance; of numbers whose squares leave the floats, that of scaled ones."""

        def finish(inner: tuple[int, ...], at: At) -> Any:
            plain = OPERATORS["sqrt"](self.variance(inner, at, ddof))

            def scaled() -> Any:
                unit = OPERATORS["binary_unit"](self.greatest(inner, lambda index: abs(at(index))))
                found = self.variance(inner, lambda index: at(index) * unit, ddof)
                return OPERATORS["divide"](OPERATORS["sqrt"](found), unit)

            return self.either((plain >= self.floats.least_root) & (plain < INFINITY), lambda: plain, scaled)

        return self.reduced("std", x, axis, keepdims, finish)

    def euclidean_norm(self, x: Any, axis: Any, keepdims: Any) -> Any:
        """The root of the sum of squares, scaled where a square would leave the floats."""

        def finish(inner: tuple[int, ...], at: At) -> Any:
            total = self.sum_over(inner, lambda index: OPERATORS["square"](at(index)))
            low, high = self.floats.squares
            fine = (total > low) & (total < high)
            root = OPERATORS["sqrt"](total)

            def scaled() -> Any:
                unit = OPERATORS["binary_unit"](
                    self.greatest(inner, lambda index: abs(OPERATORS["stop_gradient"](at(index))))
                )
                squares = self.sum_over(inner, lambda index: OPERATORS["square"](at(index) * unit))
                return OPERATORS["sqrt"](squares) / unit

            return self.either(fine, lambda: root, scaled)

        return self.reduced("norm", x, axis, keepdims, finish)

    def power_norm(self, x: Any, p: Any, axis: Any, keepdims: Any) -> Any:
        """(sum |x|**p)**(1/p), in units of the largest element, or of the smallest for a negative p."""
        power, p = OPERATORS["power"], float(p)

        def finish(inner: tuple[int, ...], at: At) -> Any:
            join = OPERATORS["minimum" if p < 0 else "maximum"]
            start = INFINITY if p < 0 else 0.0
            extreme = self.fold_over(inner, (start,), lambda index, best: (join(best, abs(at(index))),))[0]
            unit = self.choose((extreme > 0.0) & (extreme < INFINITY), extreme, 1.0)
            total = self.sum_over(inner, lambda index: power(abs(at(index)) / unit, p))
            return power(total, 1.0 / p) * unit

        return self.reduced("norm", x, axis, keepdims, finish)

    # --- exponentials -----------------------------------------------------------------------------------------------

    def finite_top(self, inner: tuple[int, ...], at: At) -> tuple[Any, Any]:
        """The largest element, and what to subtract: it, or 0 where it is infinite or nan."""
        top = self.greatest(inner, at)
        return top, self.choose(OPERATORS["isfinite"](top), top, 0.0)

    def sum_beside_top(self, inner: tuple[int, ...], at: At, top: Any, shift: Any) -> Any:
        """The sum of exp(x - shift) over all elements but the first that is the largest: that one is 1.

        Taken away from itself it is 0 exactly, and its tangent stays, so that it does not matter which of several
        largest elements the tangent of the shift is of.
        """
        beside = OPERATORS["isfinite"](top)

        def step(index: Index, total: Any, seen: Any) -> Any:
            item = at(index)
            first = (item == top) & ~seen
            weight = OPERATORS["exp"](item - shift)
            return total + self.choose(first, self.choose(beside, weight - 1.0, 0.0), weight), seen | first

        return self.fold_over(inner, (0.0, False), step)[0]

    def log_beside_top(self, inner: tuple[int, ...], at: At, top: Any, shift: Any) -> Any:
        """log(sum(exp(x - shift))), exact near 0 too: of a finite largest element the term is 1."""
        others = self.sum_beside_top(inner, at, top, shift)
        # What is not finite leads to infinities and nan.
        odd = OPERATORS["log"](OPERATORS["exp"](top) + others)
        return self.choose(OPERATORS["isfinite"](top), OPERATORS["log1p"](others), odd)

    def logsumexp(self, x: Any, axis: Any, keepdims: Any) -> Any:
        """log(sum(exp(x))), exact near 0 too: the largest term is 1 and goes through log1p."""

        x = self.settled(x)
        axes = axes_of("logsumexp", axis, x.ndim)
        if 0 in [x.shape[a] for a in axes]:
            raise Unsupported("logsumexp of nothing")
        top = lazy(self.builder, ROWS["max"](x, axis=axes, keepdims=True))
        terms = lazy(self.builder, ROWS["exponentials"](x, top))

        def finish(inner: tuple[int, ...], at: At) -> Any:
            def step(index: Index, total: Any, seen: Any) -> Any:
                first = (at(index) == 1.0) & ~seen
                return total + self.choose(first, 0.0, at(index)), seen | first

            return self.fold_over(inner, (0.0, False), step)[0]

        others = self.reduced("logsumexp", terms, axes, True, finish)

        def element(index: Index) -> Any:
            if not keepdims:
                left = list(index)
                index = tuple(0 if a in axes else left.pop(0) for a in range(x.ndim))
            largest, rest = top.element(index), others.element(index)
            finite = OPERATORS["isfinite"](largest)
            # What is not finite leads to infinities and nan.
            odd = OPERATORS["log"](OPERATORS["exp"](largest) + rest)
            return self.choose(finite, largest, 0.0) + self.choose(finite, OPERATORS["log1p"](rest), odd)

        shape = tuple(1 if a in axes else n for a, n in enumerate(x.shape) if keepdims or a not in axes)
        return self.tensor(shape, element)

    def exponentials(self, x: Any, top: Any) -> Any:
        """exp(x - top); beside a top of inf 1 where x is inf too, else 0."""
        x, top = self.settled(x), self.settled(top)
        if x.ndim != top.ndim or any(n not in (1, m) for n, m in zip(top.shape, x.shape)):
            shape = OPERATORS["add"](x, top).shape
            x, top = (OPERATORS["broadcast_to"](part, shape=shape) for part in (x, top))
            return self.exponentials(x, top)
        rest = [a for a, n in enumerate(top.shape) if n > 1]
        axes = [a for a in range(x.ndim) if a not in rest]
        out = self.empty(x.shape)

        def line(outer: Index) -> None:
            place = dict(zip(rest, outer))
            largest = top.element(tuple(place.get(a, 0) for a in range(x.ndim)))
            infinite = OPERATORS["equal"](largest, INFINITY)
            shift = self.choose(OPERATORS["isfinite"](largest), largest, 0.0)

            def one(inner: Index) -> None:
                full = {**place, **dict(zip(axes, inner))}
                at = tuple(full[a] for a in range(x.ndim))
                item = x.element(at)
                beside = self.choose(OPERATORS["equal"](item, INFINITY), 1.0, 0.0)
                self.put(out, at, self.choose(infinite, beside, OPERATORS["exp"](item - shift)))

            self.each(tuple(x.shape[a] for a in axes), one)

        self.each(tuple(x.shape[a] for a in rest), line)
        return out

    def softmax(self, x: Any, axis: Any) -> Any:
        """exp(x) / sum(exp(x)) along an axis."""

        def line(inner: tuple[int, ...], at: At, put: Callable[[Any, Any], None], get: Callable[[Any], Any]) -> None:
            shift = self.finite_top(inner, at)[1]

            def weigh(i: Any, total: Any) -> Any:
                weight = OPERATORS["exp"](at((i,)) - shift)
                put(i, weight)
                return (total + weight,)

            total = self.fold(inner[0], (0.0,), weigh)[0]
            self.count(inner[0], lambda i: put(i, OPERATORS["divide"](get(i), total)))

        return self.along(x, axis, line)

    def log_softmax(self, x: Any, axis: Any) -> Any:
        """x - logsumexp(x) along an axis."""

        def line(inner: tuple[int, ...], at: At, put: Callable[[Any, Any], None], get: Callable[[Any], Any]) -> None:
            top, shift = self.finite_top(inner, at)
            rest = self.log_beside_top(inner, at, top, shift)
            self.count(inner[0], lambda i: put(i, (at((i,)) - shift) - rest))

        return self.along(x, axis, line)

    def along(self, x: Any, axis: Any, line: Callable[..., None]) -> Lazy:
        """An array of x's shape, line by line along an axis: `line(length, element at, put, get)` fills each."""
        x = self.settled(x)
        axis = axes_of("softmax", axis, x.ndim)[0]
        out = self.changing(x.shape)

        def visit(rest: Index) -> None:
            def place(i: Any) -> Index:
                return (*rest[:axis], i, *rest[axis:])

            line(
                (x.shape[axis],), lambda index: x.element(place(index[0])), lambda i, value: self.put(out, place(i), value),
                lambda i: self.read(out, place(i)),
            )  # fmt: skip

        self.each((*x.shape[:axis], *x.shape[axis + 1 :]), visit)
        return out

    # --- truth ------------------------------------------------------------------------------------------------------

    def truth(self, name: str, x: Any, axis: Any, keepdims: Any) -> Any:
        """Whether any element, or every one, is true."""

        def finish(inner: tuple[int, ...], at: At) -> Any:
            def step(index: Index, state: Any) -> Any:
                item = self.builder.to_bool(at(index))
                return (state | item if name == "any" else state & item,)

            return self.fold_over(inner, (name == "all",), step)[0]

        return self.reduced(name, x, axis, keepdims, finish, BOOL)

    def count_nonzero(self, x: Any, axis: Any, keepdims: Any) -> Any:
        """How many elements are true or not zero."""

        def finish(inner: tuple[int, ...], at: At) -> Any:
            def step(index: Index, total: Any) -> Any:
                return (total + self.builder.to_int(self.builder.to_bool(at(index))),)

            return self.fold_over(inner, (0,), step)[0]

        return self.reduced("count_nonzero", x, axis, keepdims, finish, INT)


__all__ = ["Reducing"]
