"""Reading and writing at any index of NumPy's, in terms of the rows and indices that kernels have."""

from __future__ import annotations

from ...core.state import STATE
from ...core.tensor import OPERATORS, Tensor, count, shape_of
from ...ops.support import whole_tensor
from ..ir import INT, Loop, Unsupported, Var, index_shape
from ..symbols import Sym
from .indexing import FULL, OUTSIDE, entries, is_array, known_places, places, within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..builder import Builder

    Shape = tuple[int, ...]


class Selection:
    """What an index selects of an array, in steps: `basic` is an index of the IR; the axes `flips` of what it selects are flipped;
    then, if there are arrays of indices, the axes are put in `order`, those that the arrays index (`joined` of them) are joined to
    the axis `at`, and the rows `indices` of that axis are taken. `selected` is the shape of the selection."""

    def __init__(self, builder: Builder, shape: Shape, index: Any) -> None:
        self.builder = builder
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
        value = OPERATORS.broadcast_to(fitted(value, self.selected), shape=self.selected)
        if self.indices is not None:
            part = self.rows(OPERATORS.index(x, index=self.basic))
            value = with_rows(self.builder, part, value, self.indices, self.at)
        return OPERATORS.index_update(x, self.back(value), index=self.basic)


def fitted(value: Any, shape: Shape) -> Any:
    """A value to be written without leading axes of one element that what it replaces does not have."""
    extra = len(shape_of(value)) - len(shape)
    return OPERATORS.reshape(value, shape=shape_of(value)[extra:]) if extra > 0 else value


def with_rows(builder: Builder, x: Any, value: Any, indices: Any, axis: int) -> Any:
    """x with rows replaced, one after the other."""
    many = count(indices.shape)
    value = OPERATORS.reshape(value, shape=(*x.shape[:axis], many, *x.shape[axis + 1 :]))
    indices = OPERATORS.reshape(tensor(indices), shape=-1)
    initial = builder.operand(x)
    k, position, trips = [Var(INT, (), hint) for hint in ("k", "position", "trips")]
    phi, out = [Var(initial.kind, initial.shape, "rows") for _ in range(2)]
    builder.bounds[k] = (0, max(many - 1, 0))
    with builder.inside([]) as body:
        row = OPERATORS.index(value, index=(*(FULL,) * axis, builder.sym(k), Ellipsis))
        place = OPERATORS.index(indices, index=builder.sym(k))
        made = OPERATORS.index_update(builder.sym(phi, x.dtype), row, index=(*(FULL,) * axis, place, Ellipsis))
    carried = [(phi, initial, builder.operand(made, phi.kind), out)]
    builder.block.append(Loop(k, 0, many, 1, [], True, carried, body, None, position, trips, [], None))
    return builder.sym(out, x.dtype)


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
