"""Arrays in memory: made, filled, read and changed in place; and the loops that go through them."""

from __future__ import annotations

from .. import ir
from ..ir import FLOAT, INT, LONG_CONSTANT, Array, Unsupported, Var, bytes_of
from .following import Renewed
from .foreseen import COUNTABLE
from .scalars import Scalars
from .symbol import Lazy, Sym, raw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ...core.state import Site

MAX_CONSTANT = 4_000_000


class Memory(Scalars):
    """The part of the builder that keeps arrays."""

    def constant(self, kind: str, shape: tuple[int, ...], values: list[Any]) -> Lazy:
        """An array of known elements."""
        if len(values) > MAX_CONSTANT:
            raise Unsupported("a large constant tensor")
        key = (kind, shape, repr(values) if len(values) < LONG_CONSTANT else bytes_of(kind, values))
        array = self.constants.get(key)
        if array is None:
            array = self.constants[key] = Array(kind, shape, "c", "constant")
            self.root.insert(0, ir.Constant(array, values))
        interval = (min(values), max(values)) if kind == INT and values else None

        def element(index: tuple[Any, ...]) -> Any:
            place = self.flat(index, shape)
            if place.__class__ is int:
                return values[place]
            found = self.load(array, place)
            if interval is not None:
                self.ranges[found.var] = interval
            return found

        known = Lazy(self, kind, shape, element, array)
        known.interval = interval
        return known

    def materialised(self, x: Lazy) -> Lazy:
        """`x` computed into memory of its own."""
        array = Array(x.kind, x.shape)
        self.append(ir.Alloc(array, False))
        self.fill(array, x)
        return self.stored(array)

    def fill(self, array: Array, x: Lazy) -> None:
        """Store the elements of `x`, in the first rows if the array has more."""

        def store(index: tuple[Any, ...]) -> None:
            value = self.of_kind(array.kind, x.element(index))
            self.append(ir.Store(array, raw(self.flat(index, x.shape)), raw(value)))

        self.renewed(array, x)
        if array.kind == FLOAT and (x.kind == INT or x.stored in self.some_whole) and self.is_list(array):
            self.some_whole.add(array)
        self.each(x.shape, store)

    def renewed(self, array: Array, x: Lazy) -> None:
        """Note that all of an array is written anew, with the elements of `x`."""
        if self.follower is None:
            return
        self.append(Renewed(array))
        if 0 in x.shape and x.kind == FLOAT and x.stored is not None:
            self.follower.link([array], x)  # no statement tells of a copy without elements

    def is_list(self, array: Array) -> bool:
        """Whether an array stands for a list of the program, whose elements are as they were put there."""
        return array.mixed

    def stored(self, array: Array) -> Lazy:
        """A lazy array that loads from memory."""
        if array.role == "unsigned" and self.meets is None:
            return Lazy(self, array.kind, array.shape, unsigned, array)
        return Lazy(self, array.kind, array.shape, lambda index: self.load(array, self.flat(index, array.shape)), array)

    def load(self, array: Array, place: Any) -> Sym:
        # Loads are shared: arrays are values, written completely before they are read.
        key = ("load", array, raw(place))
        found = self.known(key)
        if found is not None and array.role != "carried":
            return found
        var = Var(array.kind, "x")
        if array in self.strong:
            self.strong.add(var)
        elif array.kind == INT:
            self.read_bare.add(array)
        elif array in self.some_whole:
            self.doubtful.add(var)
        if array.kind == INT and array.role == "input":
            self.ranges[var] = COUNTABLE
        if array.kind == FLOAT and not self.is_list(array):
            self.elements.add(var)
        self.append(ir.Load(var, array, raw(place)))
        return self.remember(key, Sym(self, var))

    def carried(self, x: Lazy, kind: str | None = None) -> Lazy:
        """A copy of `x` that a loop may change in place."""
        array = Array(kind or x.kind, x.shape, "w", "carried")
        self.append(ir.Alloc(array, False))
        self.append(ir.OpenLog(array))
        self.fill(array, x)
        found = self.stored(array)
        found.volatile = True
        return found

    def blank(self, kind: str, shape: tuple[int, ...], grown: Site | None = None) -> Lazy:
        """An array of zeros that a loop may change in place; `grown` is the place of one in which a list grows to it."""
        array = Array(kind, shape, "w", "carried")
        array.grown = grown
        self.listed(array)
        array.mixed = True
        self.append(ir.Alloc(array, True))
        self.append(ir.OpenLog(array))
        found = self.stored(array)
        found.volatile = True
        return found

    def listed(self, array: Array) -> None:
        """Note that the elements of an array are values each of its own, as those of a list."""
        if self.follower is not None:
            self.follower.listed.add(array)

    def overwrite(self, x: Lazy, place: Any, value: Any, converting: bool = False) -> None:
        """Store in an array that a loop carries; `converting` says that it is a tensor, whose elements are of one dtype."""
        assert x.stored is not None
        self.overwritten += 1
        self.append(ir.Keep(x.stored, raw(place)))
        store = ir.Store(x.stored, raw(place), raw(self.of_kind(x.kind, value)))
        self.append(store)
        if converting:
            self.converting.add(store)

    def of_kind(self, kind: str, value: Any) -> Any:
        """A scalar as an element of an array of a kind."""
        return self.to_float(value) if kind == FLOAT else self.to_int(value) if kind == INT else value

    def flat(self, index: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
        """The place of an index in row-major order."""
        place: Any = 0
        for i, n in zip(index, shape):
            place = self.integer("add", self.integer("multiply", place, n), i)
        return place

    def each(self, shape: tuple[int, ...], visit: Callable[[tuple[Any, ...]], None]) -> None:
        """Nested loops over all indices of a shape."""

        def level(k: int, index: tuple[Any, ...]) -> None:
            if k == len(shape):
                visit(index)
            elif shape[k] == 1:
                level(k + 1, (*index, 0))
            else:
                self.count(shape[k], lambda i: level(k + 1, (*index, i)))

        level(0, ())

    def count(self, n: int, visit: Callable[[Sym], None]) -> None:
        """`for i in range(n)` with nothing carried."""
        index = self.counter(n)
        body, _ = self.nested(lambda: visit(Sym(self, index)))
        self.append(ir.Loop(index, 0, n, 1, None, None, [], body, None, {}, Var(INT, "t"), None))

    def counter(self, n: int) -> Var:
        index = Var(INT, "i")
        self.ranges[index] = (0, max(n - 1, 0))
        return index

    def total(self, shape: tuple[int, ...], element: Callable[[tuple[Any, ...]], Any]) -> Any:
        """The sum of the elements of a shape, in row-major order."""
        if 0 in shape:
            return 0.0

        def level(k: int, index: tuple[Any, ...], start: Any) -> Any:
            if k == len(shape):
                return self.scalar_or_static("add", start, element(index))
            if shape[k] == 1:
                return level(k + 1, (*index, 0), start)
            return self.reduce(shape[k], start, lambda i, acc: level(k + 1, (*index, i), acc))

        return level(0, (), 0.0)

    def reduce(self, n: int, start: Any, step: Callable[[Sym, Sym], Any]) -> Sym:
        """A loop that carries one float."""
        index = self.counter(n)
        phi = Var(FLOAT, "s")
        body, following = self.nested(lambda: self.to_float(step(Sym(self, index), Sym(self, phi))))
        carried = [(phi, raw(self.to_float(start)), raw(following))]
        self.append(ir.Loop(index, 0, n, 1, None, None, carried, body, None, {}, Var(INT, "t"), None))
        return Sym(self, phi)


def unsigned(index: tuple[Any, ...]) -> Any:
    """What a program gets that asks for the elements of eigenvectors or singular vectors found without LAPACK."""
    raise ir.Signed("the signs of eigenvectors or singular vectors, which LAPACK decides")
