"""Tensor: a value with a dtype and, while derivatives are recorded, an identity.

`value` is a Python scalar for float64, int64, complex128 and bool scalars and a NumPy array otherwise, so that a
scalar program needs no NumPy. `on` says which recorders (tapes, forward accumulators) follow the tensor: None, one
entry or a tuple of entries; an entry's `token` names its recorder. Tensors hash by identity, as tapes need.
"""

from __future__ import annotations

from .dtypes import DType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

SCALARS = (float, int, complex, bool)


def shape_of(x: Any) -> tuple[int, ...]:
    """The shape of an operand; () for a number."""
    return x.shape if x.__class__ is Tensor else getattr(x, "shape", ())


def count(shape: Sequence[int]) -> int:
    """The number of elements of a shape."""
    total = 1
    for size in shape:
        total *= size
    return total


def is_complex(x: Any) -> bool:
    """Whether a value inside a rule, or an array inside a mask of singular points, is complex."""
    if x.__class__ is complex:
        return True
    dtype = getattr(x, "dtype", None)
    return dtype is not None and dtype.kind == "c"


def conjugate(x: Any) -> Any:
    """The complex conjugate; a real operand as it is."""
    return OPERATORS.conj(x) if is_complex(x) else x


class Token:
    """The mark that a tape leaves on the tensors it follows. It does not refer to the tape: no cycles."""

    __slots__ = ("token",)

    def __init__(self) -> None:
        self.token = self


class Dual:
    """The mark of a forward accumulator: the tangent travels, and dies, with its tensor."""

    __slots__ = ("tangent", "token")

    def __init__(self, token: Token, tangent: Any) -> None:
        self.token = token
        self.tangent = tangent


class Tensor:
    """A scalar or dense tensor. See the module's docstring."""

    __slots__ = ("dtype", "on", "value")

    value: Any
    dtype: DType
    on: Any

    def __init__(self, value: Any, dtype: DType, on: Any = None) -> None:
        self.value = value
        self.dtype = dtype
        self.on = on

    @property
    def shape(self) -> tuple[int, ...]:
        value = self.value
        return () if value.__class__ in SCALARS or value.__class__ is str else value.shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __repr__(self) -> str:
        return f"Tensor({self.value!r}, {self.dtype!r})"

    def __bool__(self) -> bool:
        return bool(self.value)

    if TYPE_CHECKING:

        def _operator(self, other: Any) -> Any: ...

        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _operator
        __pow__ = __rpow__ = __matmul__ = __lt__ = __le__ = __gt__ = __ge__ = _operator

    def __neg__(self) -> Any:
        return OPERATORS.negative(self)


class Operators(dict):  # type: ignore[type-arg]
    """The rows of the table by name: `OPERATORS.add(a, b)`, or `OPERATORS[name]`. Filled when the table loads."""

    def __init__(self) -> None:
        self.__dict__ = self

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


# What the operators of tensors, and rules written with them, apply. `==` is left to identity: tapes key tensors by it,
# and rules say equal(x, y).
OPERATORS = Operators()


for _symbol, _row in (
    ("add", "add"), ("sub", "subtract"), ("mul", "multiply"), ("truediv", "divide"), ("pow", "power"), ("matmul", "matmul"),
    ("lt", "less"), ("le", "less_equal"), ("gt", "greater"), ("ge", "greater_equal"),
):  # fmt: skip
    setattr(Tensor, f"__{_symbol}__", lambda self, other, row=_row: OPERATORS[row](self, other))
    if _row in ("add", "subtract", "multiply", "divide", "power"):  # beside a number on the left
        setattr(Tensor, f"__r{_symbol}__", lambda self, other, row=_row: OPERATORS[row](other, self))
