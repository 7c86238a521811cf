"""Complex numbers while a program is compiled: pairs of real symbols, or of real arrays.

The IR knows real numbers only. What a row gives for complex operands is said in complex_rows.py.
"""

from __future__ import annotations

from ...core.dtypes import COMPLEX128
from ...core.tensor import Tensor
from .. import ir
from ..built import ANY
from ..ir import FLOAT, Array, Unsupported
from .symbol import NUMBERS, Lazy, Sym, give_operators, raw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ...core.operation import Operation
    from .build import Builder


class Pair:
    """A complex number or array: `re` and `im` are floats or symbols of floats, or arrays of floats of one shape."""

    __slots__ = ("block", "builder", "im", "re", "uses")
    description = "a complex number"
    dtype = COMPLEX128
    __array_ufunc__ = None

    def __init__(self, builder: Builder, re: Any, im: Any) -> None:
        self.builder = builder
        self.re = re
        self.im = im
        self.uses = 0
        self.block = builder.block

    @property
    def shape(self) -> tuple[int, ...]:
        return self.re.shape if self.re.__class__ is Lazy else ()

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def settled(self) -> Pair:
        """The pair with elements of arrays in memory, both parts stored by one loop."""
        builder, parts = self.builder, (self.re, self.im)
        if self.re.__class__ is not Lazy or all(
            not part.volatile and (part.stored is not None or getattr(part.element, "view", False)) for part in parts
        ):
            return self
        arrays = [Array(FLOAT, self.shape) for _ in parts]
        for array in arrays:
            builder.append(ir.Alloc(array, False))

        def store(index: tuple[Any, ...]) -> None:
            place = raw(builder.flat(index, self.shape))
            for array, value in zip(arrays, [part.element(index) for part in parts]):
                builder.append(ir.Store(array, place, raw(builder.to_float(value))))

        builder.each(self.shape, store)
        return Pair(builder, *map(builder.stored, arrays))

    def as_symbol(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
        return self.builder.apply(op, inputs, attributes)

    def __array__(self, *args: Any, **keywords: Any) -> Any:
        raise Unsupported("an operation that needs a complex number known before the program runs")

    def __bool__(self) -> bool:
        raise Unsupported("an operation that decides by a complex number")

    def __iter__(self) -> Any:
        raise Unsupported("an operation on the items of a tensor one by one")


give_operators(Pair)


def meeting(builder: Builder, inputs: tuple[Any, ...], skip: int) -> tuple[Any, ...]:
    """The operands of a row, with a note of the symbols that meet if some are complex and some are real.

    A float64 and a complex128 that both have a dtype of their own do not mix. Which of them have one is known when the
    kernel is called (`Built.meetings`), so what they came from is noted here.
    """
    real: set[Any] = set()
    complex_: set[Any] = set()

    def noting(x: Any, found: set[Any]) -> Any:
        if x.__class__ is Sym:
            found.add(x.var)
        elif x.__class__ is Lazy:
            element = x.element
            if x.stored is not None:
                found.add(x.stored)  # of which some elements may be written and not read

            def noted(index: tuple[Any, ...]) -> Any:
                value = element(index)
                if value.__class__ is Sym:
                    found.add(value.var)
                return value

            return like(x, noted)
        return x

    operands = inputs[skip:]
    if all(x.__class__ is Pair or is_complex_constant(x) or is_weak_constant(x) for x in operands):
        return inputs
    builder.meetings.append((real, complex_))
    return (
        *inputs[:skip],
        *(Pair(builder, noting(x.re, complex_), noting(x.im, complex_)) if x.__class__ is Pair else noting(x, real)
          for x in operands),
    )  # fmt: skip


def marked(builder: Builder, x: Any) -> Any:
    """A real or complex operand that has a dtype of its own from here on: noted as the origin of what is computed of it."""
    if x.__class__ is Pair:
        builder.made_strong[1] = True
        if x.shape:
            return Pair(builder, origin(builder, x.re, as_origin), origin(builder, x.im, unchanged))
        # What has no dtype where it comes from is told apart from what it is here.
        im = x.im if x.im.__class__ is float else as_origin(builder, x.im)
        return Pair(builder, as_origin(builder, x.re), im)
    builder.made_strong[0] = True
    return origin(builder, x, nowhere)


def origin(builder: Builder, x: Any, number: Callable[[Builder, Any], Any]) -> Any:
    """A symbol or an array as an origin; `number` is what is done to what is known."""
    if x.__class__ is Sym:
        # A copy does not count as an integer, as what it is made of may.
        if x.kind == FLOAT and builder.counts(x):
            x = builder.emit("copy", (x,), FLOAT, by=object())
        builder.origins.add(x.var)
        return x
    if x.__class__ is not Lazy:
        return number(builder, x)
    if x.stored is not None:
        builder.origins.add(x.stored)
        return x
    return like(x, lambda index: origin(builder, x.element(index), number))


def as_origin(builder: Builder, x: Any) -> Sym:
    """A number as an origin of its own."""
    var = ir.Var(FLOAT)
    builder.append(ir.Set(var, "copy", (raw(x),), None, None))
    builder.origins.add(var)
    return Sym(builder, var)


def nowhere(builder: Builder, x: Any) -> Any:
    """A number that stays known, and so is no origin."""
    builder.origins.add(ANY)
    return x


def unchanged(builder: Builder, x: Any) -> Any:
    """What is no origin: a known imaginary part beside the real one, or what has no dtype of its own."""
    return x


def like(x: Lazy, element: Callable[[tuple[Any, ...]], Any]) -> Lazy:
    """An array with the same elements, which are asked of another function."""
    if getattr(x.element, "view", False):
        element.view = True  # type: ignore[attr-defined]
    copy = Lazy(x.builder, x.kind, x.shape, element, x.stored)
    copy.volatile = x.volatile
    return copy


def is_complex_constant(x: Any) -> bool:
    """Whether a value that is known holds complex numbers."""
    if x.__class__ is complex:
        return True
    dtype = getattr(x, "dtype", None)
    return dtype is not None and x.__class__ not in (Sym, Lazy, Pair) and dtype.kind == "c"


def is_weak_constant(x: Any) -> bool:
    """Whether a value is known, and takes the dtype of what it meets; a bare float may stand for a tensor that does not."""
    return x.__class__ in (int, bool) or (x.__class__ is Tensor and x.dtype.weak)


def has_complex(x: Any) -> bool:
    """Whether an operand is complex, or is a list that holds what is."""
    if x.__class__ in (list, tuple):
        return any(map(has_complex, x))
    return x.__class__ is Pair or is_complex_constant(x)


def pair_of(builder: Builder, x: Any) -> Pair:
    """Any operand as a pair; a real one has the imaginary part 0."""
    from .arrays import array_of_list, constant_array, view

    if x.__class__ is Pair:
        return x
    if x.__class__ is complex:
        return Pair(builder, x.real, x.imag)
    if x.__class__ in (list, tuple):
        parts = [pair_of(builder, item) for item in x]
        re, im = ([getattr(part, name) for part in parts] for name in ("re", "im"))
        return Pair(builder, array_of_list(builder, re), array_of_list(builder, im))
    if is_complex_constant(x):
        value = getattr(x, "value", x)
        if value.__class__ is complex or not value.ndim:
            found = pair_of(builder, complex(value))
        else:
            found = Pair(builder, constant_array(builder, value.real), constant_array(builder, value.imag))
        return found if getattr(x.dtype, "weak", False) else marked(builder, found)
    if x.__class__ not in (Sym, Lazy) and x.__class__ not in NUMBERS:
        x = builder.operand(x)
    if x.__class__ is Lazy:
        if x.shape == ():
            return pair_of(builder, x.element(()))
        real = x if x.kind == FLOAT else Lazy(builder, FLOAT, x.shape, lambda index: builder.to_float(x.element(index)))
        return Pair(builder, real, view(builder, FLOAT, x.shape, lambda index: 0.0))
    return Pair(builder, builder.to_float(x), 0.0)


def used(x: Pair) -> None:
    """Note that an operation takes a pair; arrays that a second one takes are put into memory, for both."""
    x.uses += 1
    if x.uses == 2 and x.block is x.builder.block:
        kept = x.settled()
        x.re, x.im = kept.re, kept.im


def by_parts(x: Pair, change: Callable[[Any], Any]) -> Pair:
    """The pair of what `change` gives for either part."""
    return Pair(x.builder, change(x.re), change(x.im))


def paired(flat: tuple[Any, ...], pairs: tuple[bool, ...], builder: Builder) -> list[Any]:
    """What a region holds side by side, as the pairs and numbers that a rule takes."""
    found: list[Any] = []
    rest = list(flat)
    for pair in pairs:
        found.append(Pair(builder, rest.pop(0), rest.pop(0)) if pair else rest.pop(0))
    return found


def of_operand(flat: tuple[Any, ...], pairs: tuple[bool, ...], k: int) -> tuple[Any, ...]:
    """What a region holds of its operand `k`: both parts, or the real number."""
    start = k + sum(pairs[:k])
    return flat[start : start + 1 + pairs[k]]


__all__ = [
    "Pair",
    "by_parts",
    "has_complex",
    "marked",
    "meeting",
    "nowhere",
    "of_operand",
    "origin",
    "pair_of",
    "paired",
    "unchanged",
    "used",
]
