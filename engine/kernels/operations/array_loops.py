"""The loops, stores and index maps that array kernels are made of."""

from __future__ import annotations

from ...core.tensor import OPERATORS
from ...ops.matrix_scale import BITS, BITS_OF_FLOAT32
from .. import ir
from ..ir import FLOAT, INT, Array, Unsupported, Var
from ..passes.widths import OF_FLOAT32, OF_FLOAT64, Floats
from ..symbols.arrays import known_integers, lazy, remap
from ..symbols.build import Builder
from ..symbols.symbol import Lazy, Sym, broadcast, kind_of, pick, raw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..built import Noted

    Index = tuple[Any, ...]


class Loops:
    """Made once for each builder. Indices are tuples of integers and symbols, one for each axis."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder

    @property
    def floats(self) -> Floats:
        """The bounds of the floats that the kernel computes in."""
        return OF_FLOAT32 if self.builder.mode else OF_FLOAT64

    @property
    def differentiated(self) -> bool:
        """Whether derivatives may be asked for, of the kernel or inside the program."""
        return self.builder.outer or self.builder.derives

    # --- arrays as functions ----------------------------------------------------------------------------------------

    def tensor(self, shape: tuple[int, ...], element: Callable[[Index], Any], kind: str = FLOAT) -> Lazy:
        """The array of `element(index)`, computed where it is used."""
        return Lazy(self.builder, kind, shape, element)

    def settled(self, x: Any) -> Lazy:
        """An array whose elements may be asked for again and again."""
        found: Lazy = self.builder.settle(lazy(self.builder, x))
        return found

    def moved(self, x: Any, shape: tuple[int, ...], source: Callable[[Index], Index]) -> Lazy:
        """x rearranged: each element of the result is x's at `source(index)`, no element twice."""
        return remap(lazy(self.builder, x), shape, source)

    def repeated(self, x: Any, shape: tuple[int, ...], source: Callable[[Index], Index]) -> Lazy:
        """As `moved`, for elements that may come again."""
        return remap(self.settled(x), shape, source)

    def integers(self, values: Any) -> Lazy:
        """Static integers, or integers of the program, as an array."""
        return values if values.__class__ is Lazy else known_integers(self.builder, values)

    def broadcast(self, *arrays: Any) -> tuple[tuple[int, ...], list[Lazy]]:
        """The common shape of arrays, and each in it."""
        parts = [lazy(self.builder, x) for x in arrays]
        shape = broadcast([x.shape for x in parts], "arrays")
        return shape, [x if x.shape == shape else self.spread(x, shape) for x in parts]

    def spread(self, x: Lazy, shape: tuple[int, ...]) -> Lazy:
        """x repeated to a shape by NumPy's rules."""
        x = self.settled(x)
        return remap(
            x, shape, lambda index: tuple(0 if n == 1 else i for i, n in zip(index[len(shape) - x.ndim :], x.shape))
        )

    # --- memory -----------------------------------------------------------------------------------------------------

    def empty(self, shape: tuple[int, ...], kind: str = FLOAT) -> Lazy:
        """An array to be filled with `put`, each element once."""
        return self._memory(shape, kind, False, "local")

    def zeros(self, shape: tuple[int, ...], kind: str = FLOAT) -> Lazy:
        """An array of zeros to be added to, or to be filled in some places."""
        return self._memory(shape, kind, True, "local")

    def changing(self, shape: tuple[int, ...], kind: str = FLOAT, zero: bool = False) -> Lazy:
        """An array whose elements may be stored more than once: the last one counts."""
        return self._memory(shape, kind, zero, "updated")

    def overwritten(self, shape: tuple[int, ...], kind: str = FLOAT, zero: bool = False) -> Lazy:
        """An array whose elements are read before others are stored there: a row with a rule of its own makes it, since no
        sweep finds its way back through such statements."""
        return self._memory(shape, kind, zero, "overwritten")

    def _memory(self, shape: tuple[int, ...], kind: str, zero: bool, role: str) -> Lazy:
        array = Array(kind, shape, role=role)
        self.builder.append(ir.Alloc(array, zero))
        return self.builder.stored(array)

    def put(self, out: Lazy, index: Index, value: Any) -> None:
        """out[index] = value."""
        self._write(ir.Store, out, index, value)

    def add(self, out: Lazy, index: Index, value: Any) -> None:
        """out[index] += value."""
        self._write(ir.AddTo, out, index, value)

    def _write(self, statement: type, out: Lazy, index: Index, value: Any) -> None:
        builder = self.builder
        assert out.stored is not None
        if out.kind == FLOAT:
            value = builder.to_float(value)
        builder.append(statement(out.stored, raw(builder.flat(index, out.shape)), raw(value)))

    def copy_into(self, out: Lazy, x: Any) -> None:
        """Fill an array with the elements of one of the same shape."""
        x = lazy(self.builder, x)
        self.each(out.shape, lambda index: self.put(out, index, x.element(index)))

    def read(self, x: Lazy, index: Index) -> Any:
        """The element of an array that is being changed: never shared with an earlier reading."""
        builder = self.builder
        assert x.stored is not None
        var = Var(x.kind, "x")
        builder.append(ir.Load(var, x.stored, raw(builder.flat(index, x.shape))))
        return Sym(builder, var)

    # --- loops ------------------------------------------------------------------------------------------------------

    def each(self, shape: tuple[int, ...], visit: Callable[[Index], None]) -> None:
        """`visit` for every index of a shape."""
        if 0 not in shape:
            self.builder.each(shape, visit)

    def count(self, n: int, visit: Callable[[Any], None]) -> None:
        """`visit` for 0, ..., n - 1."""
        self.each((n,), lambda index: visit(index[0]))

    def fold(
        self, n: Any, starts: tuple[Any, ...], step: Callable[..., tuple[Any, ...]], limit: int = 0,
        within: tuple[int, int] | None = None,
    ) -> tuple[Any, ...]:  # fmt: skip
        """What `state = step(i, *state)` for i = 0, ..., n - 1 makes of `starts`.

        n may be a symbol, below `limit`; `within` bounds the integers among the states.
        """
        builder = self.builder
        if n.__class__ is int and n < 2:
            return step(0, *starts) if n == 1 else starts
        index = builder.counter(n if n.__class__ is int else limit)
        phis = [Var(kind_of(start), "s") for start in starts]
        if within is not None:
            builder.ranges.update({phi: within for phi in phis if phi.kind == INT})

        def body() -> list[Any]:
            found = step(Sym(builder, index), *(Sym(builder, phi) for phi in phis))
            return [builder.to_float(x) if phi.kind == FLOAT else x for phi, x in zip(phis, found, strict=True)]

        block, following = builder.nested(body)
        carried = [(phi, raw(start), raw(x)) for phi, start, x in zip(phis, starts, following)]
        builder.append(ir.Loop(index, 0, raw(n), 1, None, None, carried, block, None, {}, Var(INT, "t"), None))
        return tuple(Sym(builder, phi) for phi in phis)

    def span(self, n: Any, limit: int, visit: Callable[[Any], None]) -> None:
        """`visit` for 0, ..., n - 1, where n may be a symbol of at most `limit`."""
        if n.__class__ is int:
            self.count(n, visit)
        else:

            def step(i: Any) -> tuple[Any, ...]:
                visit(i)
                return ()

            self.fold(n, (), step, limit=limit)

    def bound(self, i: Any, high: int) -> Any:
        """An index that is known to be between 0 and `high`."""
        if i.__class__ is Sym:
            self.builder.ranges[i.var] = (0, high)
        return i

    def when(self, condition: Any, fill: Callable[[], None]) -> None:
        """Statements for the case that a condition holds."""
        builder = self.builder
        if condition.__class__ is not Sym:
            if condition:
                fill()
            return
        block, _ = builder.nested(fill)
        builder.append(ir.If(builder.to_bool(condition).var, block, [], []))

    def leave_if(self, condition: Any) -> None:
        """Leave the kernel, for the tape to answer, if a condition holds."""
        builder = self.builder
        if condition.__class__ is Sym:
            builder.append(ir.Check(builder.to_bool(condition).var, 0, 1))
        elif condition:
            raise Unsupported("a step with values that only the tape takes")

    def leave_unless(self, condition: Any) -> None:
        """Leave the kernel unless a condition holds, everywhere if it is an array."""
        if condition.__class__ is Lazy:
            self.each(condition.shape, lambda index: self.leave_if(OPERATORS["logical_not"](condition.element(index))))
        else:
            self.leave_if(OPERATORS["logical_not"](condition))

    def note_where(self, condition: Any, noted: Noted) -> None:
        """Raise the flag of a notice if a condition holds, or holds anywhere."""
        if condition.__class__ is Lazy:
            self.each(condition.shape, lambda index: self.note_where(condition.element(index), noted))
        elif condition.__class__ is Sym or condition:
            flag = self.builder.watch.flag(noted)
            self.when(condition, lambda: self.builder.append(flag))

    def leave_unless_finite(self, x: Lazy) -> None:
        """Leave the kernel for a matrix with infinities or nan: what LAPACK makes of them, or says, is the tape's."""
        self.leave_unless(OPERATORS["isfinite"](x))

    def leave_unless_ordinary(self, x: Lazy, rank: int = 2) -> None:
        """Leave the kernel for matrices of numbers that are not finite, and of extreme ones, which the tape scales."""
        bits = BITS_OF_FLOAT32 if self.floats is OF_FLOAT32 else BITS
        largest = OPERATORS["max"](OPERATORS["abs"](x), axis=tuple(range(-rank, 0)))
        self.leave_unless((largest <= 2.0**bits) & ((largest >= 2.0**-bits) | OPERATORS["equal"](largest, 0.0)))

    def either(self, condition: Any, then: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
        """`then()` if a condition holds, else `orelse()`: floats, of which only the one that is needed is computed."""
        builder = self.builder
        if condition.__class__ is not Sym:
            return then() if condition else orelse()
        first, a = builder.nested(lambda: builder.to_float(then()))
        second, b = builder.nested(lambda: builder.to_float(orelse()))
        merged = Var(FLOAT, "m")
        builder.append(ir.If(condition.var, first, second, [(merged, raw(a), raw(b))]))
        return Sym(builder, merged)

    def choose(self, condition: Any, a: Any, b: Any) -> Any:
        """`a if condition else b`, both computed."""
        return self.builder.select(condition, a, b)


__all__ = ["Loops", "Unsupported", "pick"]
