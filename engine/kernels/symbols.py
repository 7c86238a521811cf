"""Symbols: what a program, and every derivative rule, runs on in a kernel.

A `Sym` stands for a number or an array that is not known until the kernel runs. Whatever is done to one is the application of
a row, which its builder (builder.py) appends to the block at hand.
"""

from __future__ import annotations

from ..core.dtypes import WEAK_COUNT, WEAK_INT, DType
from ..core.state import STATE
from ..core.tensor import OPERATORS
from ..ops.operation import Operation
from ..ops.registry import OPERATOR_METHODS, OPERATOR_ROWS, PREFIX_METHODS, PREFIX_ROWS
from .ir import BOOL, FLOAT, INT, Unsupported, Var

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .builder import Builder

NUMBERS = (float, int, bool)


class Sym:
    """A value of the program being compiled: a variable of the IR, and the dtype that the language gives it."""

    __slots__ = ("builder", "dtype", "var")
    description = "a number that depends on data"
    methods = "kinds/Tensor"
    __array_ufunc__ = None

    def __init__(self, builder: Builder, var: Var, dtype: DType) -> None:
        self.builder = builder
        self.var = var
        self.dtype = dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self.var.shape

    @property
    def ndim(self) -> int:
        return len(self.var.shape)

    @property
    def size(self) -> int:
        return self.var.size

    @property
    def kind(self) -> str:
        return self.var.kind

    def __repr__(self) -> str:
        return f"Sym({self.var!r})"

    def as_symbol(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
        return self.builder.apply(op, inputs, attributes)

    def as_strong(self) -> Sym:
        """With a dtype of its own, as `constant(x)` makes it."""
        return Sym(self.builder, self.var, self.dtype.strong)

    def __index__(self) -> int:
        return self.builder.known(self)  # type: ignore[no-any-return]

    __ceil__ = as_static = elements = __index__

    def as_index(self) -> Any:
        """An integer symbol from one that counts: an integer, or the float of an integer that is differentiated."""
        if self.kind != FLOAT or self.dtype is not WEAK_COUNT:
            return self
        return Sym(self.builder, self.builder.cast(self.var, INT), WEAK_INT)

    def within(self, size: int) -> Any:
        """As places of an axis: negative ones counted from the end, and checked."""
        from .operations import within

        return within(self.builder, self, size)

    def __array__(self, *args: Any, **keywords: Any) -> Any:
        raise Unsupported("an operation that must know its operand before the program runs", STATE.site)

    def __bool__(self) -> bool:
        raise Unsupported("an operation that decides by a number which depends on data", STATE.site)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a number has no length")
        return self.shape[0]

    def any(self) -> Any:
        return OPERATORS.any(self) if self.shape else self

    def all(self) -> Any:
        return OPERATORS.all(self) if self.shape else self

    __hash__ = object.__hash__

    # Masks of singular points are written with Python's operators on values.
    def __eq__(self, other: object) -> Any:
        return OPERATORS.equal(self, other)

    def __ne__(self, other: object) -> Any:
        return OPERATORS.not_equal(self, other)


def operator(row: Operation, swapped: bool = False) -> Any:
    def method(self: Sym, *other: Any) -> Any:
        return row(*((*other, self) if swapped else (self, *other)))

    return method


for _symbol, (_left, _right) in OPERATOR_METHODS.items():
    setattr(Sym, _left, operator(OPERATOR_ROWS[_symbol]))
    if _right.startswith("__r"):
        setattr(Sym, _right, operator(OPERATOR_ROWS[_symbol], True))
for _symbol, _method in PREFIX_METHODS.items():
    setattr(Sym, _method, operator(PREFIX_ROWS[_symbol]))


def kind_of_number(x: Any) -> str:
    return BOOL if x.__class__ is bool else INT if x.__class__ is int else FLOAT


def frozen(x: Any) -> Any:
    """Attributes as a key of a dictionary."""
    if x.__class__ is dict:
        return tuple([(name, frozen(value)) for name, value in x.items()])
    if x.__class__ in (list, tuple):
        return tuple([frozen(item) for item in x])
    if x.__class__ is slice:
        return ("slice", x.start, x.stop, x.step)
    if x.__class__ is Var or x is None or x is Ellipsis:
        return x
    return (x.__class__, x.tobytes() if hasattr(x, "tobytes") else repr(x))
