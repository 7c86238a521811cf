"""Kernels that move elements: broadcasting, gathering and scattering, rolling, padding, triangles."""

from __future__ import annotations

from ...core.tensor import OPERATORS
from ...ops.support import as_shape, axes_of
from ..ir import BOOL, FLOAT, Unsupported
from ..symbols.arrays import checked_places, lazy, result, selection
from ..symbols.symbol import Lazy, Sym, pick
from .array_loops import Loops
from .array_rows import reshape_row, sum_row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Rearranging(Loops):
    """The part of the vocabulary that moves elements."""

    def broadcast_to(self, x: Any, shape: Any) -> Any:
        """x repeated to a larger shape."""
        x, shape = lazy(self.builder, x), as_shape(shape)
        extra = len(shape) - x.ndim
        if extra < 0 or any(n not in (1, m) for n, m in zip(x.shape, shape[extra:])):
            raise Unsupported("a shape that does not broadcast to another")
        return self.spread(x, shape)

    def sum_to(self, x: Any, shape: tuple[int, ...]) -> Any:
        """x summed over the axes that broadcasting a tensor of that shape repeated."""
        x = lazy(self.builder, x)
        extra = x.ndim - len(shape)
        axes = [k for k, n in enumerate(x.shape) if k < extra or (shape[k - extra] == 1 and n != 1)]
        summed = sum_row(self.builder, (x,), {"axis": tuple(axes)}) if axes else x
        return reshape_row(self.builder, (summed,), {"shape": shape}) if shape else result(lazy(self.builder, summed))

    def flip(self, x: Any, axis: Any) -> Any:
        """x backwards along axes."""
        x = lazy(self.builder, x)
        axes = axes_of("flip", axis, x.ndim)
        return self.moved(
            x,
            x.shape,
            lambda index: tuple(n - 1 - i if k in axes else i for k, (i, n) in enumerate(zip(index, x.shape))),
        )

    def roll(self, x: Any, shift: Any, axis: Any) -> Any:
        """x with its elements moved on, those at the end coming back at the start."""
        x = lazy(self.builder, x)
        if any(s.__class__ is not int for s in (shift if shift.__class__ in (list, tuple) else [shift])):
            raise Unsupported("roll by what is no integer")
        if axis is None:
            shift = sum(shift) if shift.__class__ in (list, tuple) else shift
            flat = reshape_row(self.builder, (x,), {"shape": -1})
            return reshape_row(self.builder, (self.roll(flat, shift, 0),), {"shape": x.shape})
        axes = axis if axis.__class__ in (list, tuple) else [axis]
        shifts = shift if shift.__class__ in (list, tuple) else [shift] * len(axes)
        total = [0] * x.ndim
        for one, s in zip(axes, shifts, strict=True):
            total[axes_of("roll", one, x.ndim)[0]] += s
        back = [(-s) % n if n else 0 for s, n in zip(total, x.shape)]
        return self.moved(
            x, x.shape, lambda index: tuple((i + s) % n if s else i for i, s, n in zip(index, back, x.shape))
        )

    def no_part(self, x: Any) -> Any:
        """Zeros, whatever numbers they depend on: the imaginary parts of real ones."""
        if getattr(x, "kind", None) == BOOL or x.__class__ is bool:
            return OPERATORS["logical_and"](x, False)
        never = OPERATORS["logical_and"](OPERATORS["equal"](x, x), OPERATORS["not_equal"](x, x))
        return OPERATORS["where"](never, x, 0)

    def take_rows(self, x: Any, indices: Any, axis: int) -> Any:
        """The slices of x at indices along an axis."""
        x = lazy(self.builder, x)
        places = checked_places(self.builder, self.integers(indices), x.shape[axis])
        shape = (*x.shape[:axis], *places.shape, *x.shape[axis + 1 :])
        end = axis + places.ndim
        return result(
            self.repeated(x, shape, lambda index: (*index[:axis], places.element(index[axis:end]), *index[end:]))
        )

    def put_rows(self, x: Any, indices: Any, axis: int, size: int) -> Any:
        """Slices added up at their places among zeros."""
        x, places = lazy(self.builder, x), checked_places(self.builder, self.integers(indices), size)
        end = axis + places.ndim
        out = self.zeros((*x.shape[:axis], size, *x.shape[end:]), x.kind)
        self.each(
            x.shape,
            lambda index: self.add(
                out, (*index[:axis], places.element(index[axis:end]), *index[end:]), x.element(index)
            ),
        )
        return out

    def index_scatter(self, x: Any, shape: tuple[int, ...], index: Any) -> Any:
        """Zeros of a shape with x added at the indexed places."""
        x = lazy(self.builder, x)
        part, place = selection(self.builder, shape, index)
        out = self.zeros(shape, x.kind)
        self.each(part, lambda at: self.add(out, place(at), pick(x, at, part)))
        return out

    def index_update(self, x: Any, value: Any, index: Any, adding: bool = False) -> Any:
        """A copy of x with the indexed elements replaced, or added to."""
        x, value = lazy(self.builder, x), self.settled(value)
        part, place = selection(self.builder, x.shape, index)
        value = self.fitting(value, part)
        out = self.changing(x.shape, FLOAT if FLOAT in (x.kind, value.kind) else x.kind)
        self.copy_into(out, x)
        write = self.add if adding else self.put
        self.each(part, lambda at: write(out, place(at), pick(value, at, part)))
        return out

    def fitting(self, value: Lazy, shape: tuple[int, ...]) -> Lazy:
        """A value for the elements of a shape, without leading ones that it has beyond that shape's rank."""
        while value.ndim > len(shape) and value.shape[0] == 1:
            value = self.moved(value, value.shape[1:], lambda at: (0, *at))
        if value.ndim > len(shape) or any(n not in (1, m) for n, m in zip(value.shape[::-1], shape[::-1])):
            raise Unsupported("a value that does not fit into what it replaces")
        return value

    def pad_zeros(self, x: Any, pad_width: Any) -> Any:
        """x with zeros around it."""
        x = lazy(self.builder, x)
        out = self.zeros(tuple(n + low + high for n, (low, high) in zip(x.shape, pad_width)), x.kind)
        self.each(
            x.shape, lambda at: self.put(out, tuple(i + low for i, (low, _) in zip(at, pad_width)), x.element(at))
        )
        return out

    def shifted(self, x: Any, step: int) -> Any:
        """x moved on along axis 0, with zeros coming in."""
        x = lazy(self.builder, x)
        n = x.shape[0]
        out = self.zeros(x.shape, x.kind)
        start = max(-step, 0)
        if abs(step) < n:
            inner = (n - abs(step), *x.shape[1:])
            self.each(
                inner, lambda at: self.put(out, (at[0] + max(step, 0), *at[1:]), x.element((at[0] + start, *at[1:])))
            )
        return out

    def triangle(self, x: Any, k: int, lower: bool) -> Any:
        """x with zeros above (or below) a diagonal."""
        x = lazy(self.builder, x)
        if x.ndim < 2:
            raise Unsupported("a part of the program that is an error if it is reached")

        def element(index: tuple[Any, ...]) -> Any:
            row, column = index[-2:]
            inside = column <= row + k if lower else column >= row + k
            return self.choose(inside, x.element(index), 0.0 if x.kind == FLOAT else 0)

        return self.tensor(x.shape, element, x.kind)

    def linspace(self, start: Any, stop: Any, num: int, endpoint: bool, axis: int) -> Any:
        """Numbers from start to stop, evenly spaced along a new axis."""
        shape, (first, last) = self.broadcast(start, stop)
        first, last = self.settled(first), self.settled(last)
        axis %= len(shape) + 1
        gaps = num - 1 if endpoint else num

        def element(index: tuple[Any, ...]) -> Any:
            at, i = (*index[:axis], *index[axis + 1 :]), index[axis]
            a, b = first.element(at), last.element(at)
            if gaps < 1:
                return a
            found = a + (b - a) / float(gaps) * self.builder.to_float(i)
            return self.choose(i == num - 1, b, found) if endpoint else found

        return self.tensor((*shape[:axis], num, *shape[axis:]), element)

    def places_between(self, lines: Any, gaps: int) -> Any:
        """0, 1/gaps, 2/gaps, ... along axis 0."""
        shape = (lines.shape[0], *[1] * (len(lines.shape) - 1))
        return self.tensor(shape, lambda at: OPERATORS["divide"](self.builder.to_float(at[0]), float(gaps)))

    def ramp(self, start: Any, step: Any, num: int) -> Any:
        """start, start + step, ..."""
        whole = all(x.__class__ is int or (x.__class__ is Sym and x.kind != FLOAT) for x in (start, step))
        return self.tensor((num,), lambda at: start + at[0] * step, "i" if whole else FLOAT)


__all__ = ["OPERATORS", "Rearranging"]
