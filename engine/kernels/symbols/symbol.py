"""Symbols: a number and an array of the program being compiled, which record what is done to them.

A `Sym` is a number that the kernel computes, a `Lazy` an array as a function from index to element. Whatever is done to
either is a row of the table, applied by the builder (build.py).
"""

from __future__ import annotations

from ...core.dtypes import BOOL as BOOL_DTYPE
from ...core.dtypes import FLOAT64, INT64, DType
from ...core.operands import describe
from ...core.operation import Operation
from ...core.tensor import OPERATORS, Tensor
from ..ir import BOOL, FLOAT, INT, Array, Unsupported, Var

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .build import Builder

NUMBERS = (float, int, bool)
DTYPES = {FLOAT: FLOAT64, INT: INT64, BOOL: BOOL_DTYPE}


class Sym:
    """A scalar of the program being compiled: a variable of the IR."""

    __slots__ = ("builder", "var")
    description = "a number"
    shape = ()
    ndim = 0
    __array_ufunc__ = None

    def __init__(self, builder: Any, var: Var) -> None:
        self.builder: Builder = builder
        self.var = var

    @property
    def kind(self) -> str:
        return self.var.kind

    @property
    def dtype(self) -> DType:
        return DTYPES[self.var.kind]

    def __array__(self, *args: Any, **keywords: Any) -> Any:
        raise Unsupported("an operation that needs a number known before the program runs")

    def as_symbol(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
        return self.builder.apply(op, inputs, attributes)

    def as_static(self) -> Any:
        """The value as a parameter that must be known. Raises Needed or Unsupported where it is not."""
        return self.builder.known_value(self, "a size, axis or option that depends on data")

    def __bool__(self) -> bool:
        raise Unsupported("an operation that decides by a number which depends on data")

    def __hash__(self) -> int:
        return hash(self.var)


class Lazy:
    """An array as a function from an index (a tuple of ints and symbols) to its element.

    Element-wise operations, slices, transposes and the like compose such functions, which is what fuses them.
    `stored` is the IR array when the elements are in memory.
    """

    __slots__ = (
        "block",
        "builder",
        "element",
        "interval",
        "kind",
        "known",
        "shape",
        "stored",
        "strong",
        "uses",
        "volatile",
    )
    description = "a tensor"
    __array_ufunc__ = None  # NumPy's arrays leave their operators to these

    def __init__(
        self,
        builder: Any,
        kind: str,
        shape: tuple[int, ...],
        element: Callable[[tuple[Any, ...]], Any],
        stored: Array | None = None,
    ) -> None:
        self.builder: Builder = builder
        self.kind = kind
        self.shape = shape
        self.element = element
        self.stored = stored
        # Elements that a loop will change: whoever keeps the array must copy it.
        self.volatile = False
        # How many operations took it, and the block in which it can be put into memory for all of them.
        self.uses = 0
        self.interval: tuple[int, int] | None = None  # bounds of known integers
        self.known: Tensor | None = None  # what it is, where that is known
        self.strong = False  # integers with a dtype of their own, whatever memory they come from
        self.block = builder.block

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> DType:
        return DTYPES[self.kind]

    def as_symbol(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
        return self.builder.apply(op, inputs, attributes)

    def within(self, size: int) -> Lazy:
        """Indices into an axis of a size, from the front; where one is out of range the tape says it."""
        from .arrays import checked_places

        return checked_places(self.builder, self, size)

    def elements(self) -> Any:
        """The elements in nested lists, as a parameter that must be known. Raises Needed or Unsupported where they are not."""
        return self.builder.known_value(self, "integers that depend on data and decide what belongs together")

    def __bool__(self) -> bool:
        raise Unsupported("an operation that decides by a tensor which depends on data")

    def __array__(self, *args: Any, **keywords: Any) -> Any:
        if self.known is None:
            raise Unsupported("an operation that needs a tensor known before the program runs")
        return self.known.value

    def __iter__(self) -> Any:
        raise Unsupported("an operation on the items of a tensor one by one")


def _operator(name: str, swapped: bool = False) -> Any:
    def method(self: Any, other: Any = None) -> Any:
        if other is None:
            return self.builder.apply(OPERATORS[name], (self,), None)
        return self.builder.apply(OPERATORS[name], (other, self) if swapped else (self, other), None)

    return method


def give_operators(cls: type) -> None:
    """Python's operators on symbols and lazy arrays apply the rows of the table."""
    both = {
        "add": "add",
        "sub": "subtract",
        "mul": "multiply",
        "truediv": "divide",
        "pow": "power",
        "floordiv": "floor_divide",
        "mod": "mod",
    }
    logic = {"and": "logical_and", "or": "logical_or"}
    comparisons = {
        "lt": "less",
        "le": "less_equal",
        "gt": "greater",
        "ge": "greater_equal",
        "eq": "equal",
        "ne": "not_equal",
    }
    for name, row in {**both, **logic, **comparisons, "neg": "negative", "invert": "logical_not"}.items():
        setattr(cls, f"__{name}__", _operator(row))
    cls.__abs__ = _operator("abs")  # type: ignore[attr-defined]
    for name, row in {**both, **logic}.items():
        setattr(cls, f"__r{name}__", _operator(row, swapped=True))


give_operators(Sym)
give_operators(Lazy)


def kind_of(x: Any) -> str:
    """The kind of a scalar operand."""
    if x.__class__ is Sym:
        return x.kind
    if x.__class__ is bool:
        return BOOL
    if x.__class__ is int:
        return INT
    if x.__class__ is float:
        return FLOAT
    raise Unsupported(f"{describe(x)} as a number")


def join(kinds: list[str]) -> str:
    if FLOAT in kinds:
        return FLOAT
    return INT if INT in kinds else BOOL


def raw(x: Any) -> Any:
    """An operand as the IR holds it."""
    return x.var if x.__class__ is Sym else x


def broadcast(shapes: list[tuple[int, ...]], name: str) -> tuple[int, ...]:
    """The common shape by NumPy's rules."""
    rank = max(map(len, shapes))
    common: list[int] = []
    for axis in range(-rank, 0):
        sizes = {s[axis] for s in shapes if len(s) >= -axis} - {1}
        if len(sizes) > 1:
            raise Unsupported(f"{name}: shapes do not broadcast")  # the tape words the error
        common.append(sizes.pop() if sizes else 1)
    return tuple(common)


def pick(x: Lazy, index: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    """The element of `x` that broadcasting to `shape` puts at `index`."""
    own = index[len(shape) - len(x.shape) :]
    return x.element(tuple(0 if n == 1 else i for i, n in zip(own, x.shape)))
