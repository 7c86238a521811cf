"""Indices: NumPy's, with symbols in them, as the indices that kernels have.

The index of a row in the IR is a tuple with one entry for each axis, and None for a new one: an int in range, a variable that
is in range, or a slice of known places with a step above 0. All else is made of other rows: an array of indices takes rows, a
step below 0 flips.
"""

from __future__ import annotations

import operator
from itertools import product

from ...core.operands import as_operand, counted
from ...core.state import STATE
from ...core.tensor import OPERATORS, Tensor, count, shape_of
from ...ops.support import whole_tensor
from ..ir import BOOL, INT, Unsupported, Var, index_shape
from ..symbols import Sym

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..builder import Builder
    from ..ir import Apply

    Shape = tuple[int, ...]
    Interval = tuple[int, int]

FULL = slice(None)
OUTSIDE = "an index that is out of range"
NO_INTEGER = "an index that is no integer"


def is_normal(shape: Shape, index: Any) -> bool:
    """Whether an index is one of the IR for an array of a shape."""
    if index.__class__ is not tuple or sum(entry is not None for entry in index) != len(shape):
        return False
    sizes = iter(shape)
    for entry in index:
        if entry is None:
            continue
        n = next(sizes)
        if entry.__class__ is int:
            if not 0 <= entry < n:
                return False
        elif entry.__class__ is slice:
            if entry.step.__class__ is not int or entry.step < 1 or entry != places(entry, n):
                return False
        elif entry.__class__ is not Var or entry.shape:
            return False
    return True


def places(entry: slice, n: int) -> slice:
    """A slice of an axis of n elements with the bounds written out; one that goes backwards the other way round."""
    found = range(n)[entry]
    if not found:
        return slice(0, 0, 1)
    low, high = sorted((found[0], found[-1]))
    return slice(low, high + 1, abs(found.step) if len(found) > 1 else 1)


def whole(shape: Shape) -> tuple[slice, ...]:
    """The index of all of an array."""
    return tuple([slice(0, n, 1) for n in shape])


def within(builder: Builder, i: Sym, size: int) -> Sym:
    """An integer symbol, or each of an array of them, as places of an axis: negative ones counted from the end. Checked."""
    i = i.as_index()
    if i.kind != INT:
        raise Unsupported(NO_INTEGER, STATE.site)
    low, high = builder.bounds.get(i.var, (-(2**63), 2**63))
    key = ("within", i.var, size)
    if (low < -size or high >= size) and not any(key in scope.known for scope in builder.scopes):
        builder.scopes[-1].known[key] = True
        above = low >= -size or OPERATORS.greater_equal(i, -size)
        below = high < size or OPERATORS.less(i, size)
        builder.check(OPERATORS.logical_and(above, below))
    if low >= 0:
        return i
    found: Sym = OPERATORS.where(OPERATORS.less(i, 0), OPERATORS.add(i, size), i)
    builder.bounds[found.var] = (0, max(size - 1, 0))
    return found


def entries(builder: Builder, items: tuple[Any, ...]) -> list[Any]:
    """The entries of an index: ints, variables, symbols of integers, arrays of integers, slices of known bounds, None, Ellipsis."""
    import numpy as np

    found: list[Any] = []
    for item in items:
        if item.__class__ is slice:
            bounds: Any = window_of(builder, item.start, item.stop) if item.step in (None, 1) else None
            if bounds is None:
                bounds = slice(*[known_integer(builder, x) for x in (item.start, item.stop, item.step)])
                if bounds.step == 0:
                    raise Unsupported("a slice whose step is 0", STATE.site)
            found.append(bounds)
            continue
        if item is None or item is Ellipsis or item.__class__ in (int, Var):
            found.append(item)
            continue
        if item.__class__ is not Sym:
            item = item if item.__class__ is np.ndarray else as_operand(counted(as_operand(item)))
            item = np.asarray(item.value if item.__class__ is Tensor else item)
            if item.dtype.kind == "b" and item.ndim:
                found.extend(np.nonzero(item))
                continue
            if item.dtype.kind not in "iu" and item.size:
                raise Unsupported(NO_INTEGER, STATE.site)
            found.append(item if item.ndim else int(item))
            continue
        item = item.as_index()
        if item.kind != INT:
            raise Unsupported(
                "a mask that depends on data as an index" if item.kind == BOOL else NO_INTEGER, STATE.site
            )
        found.append(item)
    return found


def window_of(builder: Builder, start: Any, stop: Any) -> Any:
    """The places of a slice that begins where data say and has a known length, or None."""
    if not start.__class__ is stop.__class__ is Sym or not start.kind == stop.kind == INT:
        return None
    (base, first), (other, last) = offset(builder, start.var), offset(builder, stop.var)
    length = last - first
    if base is not other or length < 1:
        return None
    builder.check(OPERATORS.greater_equal(start, 0))  # taking the rows looks at the end
    steps = builder.sym(builder.emit(OPERATORS.ramp, (0, 1), {"num": length}, [INT], [(length,)])[0])
    return OPERATORS.add(steps, start)


def known_integer(builder: Builder, x: Any) -> int | None:
    if x is None or x.__class__ is int:
        return x
    x = builder.known(x) if x.__class__ is Sym else counted(as_operand(x))
    x = x.value if x.__class__ is Tensor else x
    if x.__class__ is not int:
        raise Unsupported("the bound of a slice that is no integer", STATE.site)
    return x


def is_array(item: Any) -> bool:
    return item.__class__ is not Var and getattr(item, "shape", ()) != ()


def rows_of(indices: Any, size: int) -> Any:
    """The indices of a row that takes rows: integers that depend on data, or a known array of places."""
    if indices.__class__ not in (Sym, Var):
        return known_places(indices, size)
    if indices.kind != INT:
        raise Unsupported(NO_INTEGER, STATE.site)
    return indices


def known_places(indices: Any, size: int) -> Any:
    """Known indices as places of an axis; the array itself if it has them."""
    import numpy as np

    found = np.asarray(indices).astype("int64", copy=False)
    if ((found < -size) | (found >= size)).any():
        raise Unsupported(OUTSIDE, STATE.site)
    return np.where(found < 0, found + size, found) if (found < 0).any() else found


class Selection:
    """What an index selects of an array, in steps: `basic` is an index of the IR; the axes `flips` of what it selects are flipped;
    then, if there are arrays of indices, the axes are put in `order`, those that the arrays index (`joined` of them) are joined to
    the axis `at`, and the rows `indices` of that axis are taken. `selected` is the shape of the selection."""

    def __init__(self, builder: Builder, shape: Shape, index: Any) -> None:
        self.shape = shape
        items = entries(builder, index if index.__class__ is tuple else (index,))
        dots = [k for k, item in enumerate(items) if item is Ellipsis] or [len(items)]
        used = sum(item is not None and item is not Ellipsis for item in items)
        if len(dots) > 1 or used > len(shape):
            raise Unsupported(OUTSIDE, STATE.site)
        items[dots[0] : dots[0] + 1] = [FULL] * (len(shape) - used)
        several = any(is_array(item) for item in items)
        numbers = [k for k, item in enumerate(items) if several and item is not None and item.__class__ is not slice]
        basic: list[Any] = []
        self.flips: list[int] = []
        arrays: list[tuple[int, Any, int]] = []
        place = 0
        sizes = iter(shape)
        for item in items:
            n = 1 if item is None else next(sizes)
            if item.__class__ is int and not -n <= item < n:
                raise Unsupported(OUTSIDE, STATE.site)
            if item.__class__ is int:
                basic.append(item % n)
                continue
            if item.__class__ is Var or (item.__class__ is Sym and not item.shape):
                basic.append(within(builder, item, n).var if item.__class__ is Sym else item)
                continue
            if item.__class__ is slice and item.step is not None and item.step < 0:
                self.flips.append(place)
            if is_array(item):
                arrays.append((place, item, n))
                item = FULL
            basic.append(None if item is None else places(item, n))
            place += 1
        self.basic = tuple(basic)
        self.indices: Any = None
        self.order: tuple[int, ...] = tuple(range(place))
        self.at = self.joined = 0
        if arrays:
            gathered = [p for p, _, _ in arrays]
            # As NumPy: where the arrays, and integers beside them, are no neighbours, what they select comes first.
            self.at = gathered[0] if numbers[-1] - numbers[0] + 1 == len(numbers) else 0
            rest = [p for p in range(place) if p not in gathered]
            self.order = (*rest[: self.at], *gathered, *rest[self.at :])
            self.joined = len(arrays)
            self.indices = joined_indices(builder, [x for _, x, _ in arrays], [n for _, _, n in arrays])
        self.middle = index_shape(shape, self.basic)
        ordered = tuple([self.middle[p] for p in self.order])
        self.before, self.after = ordered[: self.at], ordered[self.at + self.joined :]
        self.size = count(ordered[self.at : self.at + self.joined])
        self.selected = ordered if self.indices is None else (*self.before, *self.indices.shape, *self.after)

    @property
    def plain(self) -> bool:
        """Whether the index of the IR is all that there is."""
        return self.indices is None and not self.flips

    def rows(self, x: Any) -> Any:
        """The steps between the first one and the taking of rows."""
        for axis in self.flips:
            x = OPERATORS.flip(x, axis=axis)
        if self.indices is not None:
            x = OPERATORS.transpose(x, axes=self.order)
            x = OPERATORS.reshape(x, shape=(*self.before, self.size, *self.after))
        return x

    def back(self, x: Any) -> Any:
        """The inverse of `rows`."""
        if self.indices is not None:
            x = OPERATORS.reshape(x, shape=tuple([self.middle[p] for p in self.order]))
            x = OPERATORS.transpose(x, axes=tuple([self.order.index(p) for p in range(len(self.order))]))
        for axis in self.flips:
            x = OPERATORS.flip(x, axis=axis)
        return x

    def take(self, x: Any) -> Any:
        x = self.rows(OPERATORS.index(x, index=self.basic))
        return x if self.indices is None else OPERATORS.take_rows(x, indices=self.indices, axis=self.at)

    def scatter(self, g: Any) -> Any:
        """The transpose of `take`."""
        if self.indices is not None:
            g = OPERATORS.put_rows(g, indices=self.indices, axis=self.at, size=self.size)
        return OPERATORS.index_scatter(self.back(g), shape=self.shape, index=self.basic)

    def update(self, x: Any, value: Any) -> Any:
        """x with the selection replaced by a value."""
        if self.indices is not None:
            raise Unsupported("elements that are replaced at an array of indices", STATE.site)
        value = OPERATORS.broadcast_to(fitted(value, self.selected), shape=self.selected)
        return OPERATORS.index_update(x, self.back(value), index=self.basic)


def fitted(value: Any, shape: Shape) -> Any:
    """A value to be written without leading axes of one element that what it replaces does not have."""
    extra = len(shape_of(value)) - len(shape)
    return OPERATORS.reshape(value, shape=shape_of(value)[extra:]) if extra > 0 else value


def joined_indices(builder: Builder, arrays: list[Any], sizes: list[int]) -> Any:
    """Arrays of indices into several axes as one into those axes joined."""
    total: Any = None
    for x, n in zip(arrays, sizes):
        # The row that takes rows looks at variable indices itself.
        x = (x if len(arrays) == 1 else within(builder, x, n)) if x.__class__ is Sym else known_places(x, n)
        total = x if total is None else tensor(total) * n + tensor(x)
    return total if total.__class__ is Sym else getattr(total, "value", total)


def tensor(x: Any) -> Any:
    return x if x.__class__ in (Sym, Tensor) else whole_tensor(x)


# --- between which values integers are, so that indices need no checks -----------------------------------------------------

# Rows whose results are elements of their inputs.
MOVING = frozenset(
    """broadcast_to reshape transpose index flip take_rows stop_gradient cast where_select concat stack""".split()
)
# Rows that rise or fall in each operand, where a divisor is above 0.
MONOTONE = (
    OPERATORS.add, OPERATORS.subtract, OPERATORS.multiply, OPERATORS.floor_divide, OPERATORS.negative, OPERATORS.minimum,
    OPERATORS.maximum,
)  # fmt: skip
QUOTIENTS = (OPERATORS.floor_divide, OPERATORS.mod)


def of_operand(x: Any, bounds: Mapping[Var, Interval]) -> Interval | None:
    if x.__class__ is int or x.__class__ is bool:
        return int(x), int(x)
    if x.__class__ is Var and x.kind == BOOL:
        return 0, 1
    return bounds.get(x) if x.__class__ is Var else None


def interval(made: Apply, bounds: Mapping[Var, Interval]) -> Interval | None:
    """The least and the largest value that an application of integers may give; None if that is not known."""
    row = made.row
    if row in (OPERATORS.argmax, OPERATORS.argmin):
        return 0, max(made.inputs[0].shape[made.attributes["axis"]] - 1, 0)
    inputs = made.inputs[1:] if row is OPERATORS.where_select else made.inputs
    pairs = [pair for pair in [of_operand(x, bounds) for x in inputs] if pair is not None]
    if not pairs or len(pairs) < len(inputs):
        return None
    if row.name in MOVING:
        return min(low for low, _ in pairs), max(high for _, high in pairs)
    if row is OPERATORS.ramp:
        start, step = pairs
        return interval_of(operator.add, start, interval_of(operator.mul, step, (0, made.attributes["num"])))
    if row in QUOTIENTS and pairs[1][0] <= 0:
        return None
    if row is OPERATORS.mod:
        return 0, pairs[1][1] - 1
    return interval_of(row.scalar, *pairs) if row in MONOTONE else None


def interval_of(function: Any, *pairs: Interval) -> Interval:
    """The bounds of a function that rises or falls in each of its operands."""
    corners = [function(*corner) for corner in product(*pairs)]
    return min(corners), max(corners)


def offset(builder: Builder, x: Var) -> tuple[Var, int]:
    """An integer as a variable and a number that is added to it."""
    made = builder.definitions.get(x)
    if made is not None and made.row in (OPERATORS.add, OPERATORS.subtract) and made.inputs[1].__class__ is int:
        return made.inputs[0], made.inputs[1] if made.row is OPERATORS.add else -made.inputs[1]
    return x, 0
