"""Applications that are not made: their result is known, or an operand, or other rows give it; attributes in one form.

Where what is left out has float operands, it must not matter which sources reach the result, unless `builder.keeps_paths` is off.
"""

from __future__ import annotations

import math

from ....parser.fields import Record
from ...core.dispatch import apply
from ...core.dtypes import DType
from ...core.operands import wrap
from ...core.state import STATE
from ...core.tensor import OPERATORS, Tensor, shape_of
from ..ir import BOOL, FLOAT, Unsupported, Var, kind_of
from ..symbols import NUMBERS, Sym
from .forms import FORMS
from .shapes import broadcast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ...core.operation import Operation
    from ..builder import Builder

    Rule = Callable[..., Any]


def simplified(
    builder: Builder, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any], dtypes: tuple[DType, ...]
) -> Any:
    """The result of an application that need not be made as it is, or None. `dtypes` are those of the results."""
    if not any(map(is_unknown, (*inputs, *attributes.values()))):
        return apply(op, inputs, attributes or None)
    rule = RULES.get(op.name)
    if rule is None:
        return None
    try:
        return rule(At(builder, op, attributes, dtypes[0]), *inputs, **attributes)
    except (IndexError, TypeError, ValueError):
        raise Unsupported(f"operands of {op.name} that do not fit", STATE.site) from None


def is_unknown(x: Any) -> bool:
    return x.__class__ is Sym or x.__class__ is Var or (x.__class__ is tuple and any(map(is_unknown, x)))


class At(Record):
    """An application: the row, its attributes, and the dtype of its result."""

    builder: Builder
    op: Operation
    attributes: dict[str, Any]
    dtype: DType

    @property
    def kind(self) -> str:
        """The kind of the result. Raises Unsupported for a dtype that kernels do not have."""
        return kind_of(self.dtype)

    def same(self, x: Any) -> Any:
        """An operand as the result."""
        if x.__class__ is Sym:
            return self.builder.sym(self.builder.operand(x, self.kind), self.dtype)
        return OPERATORS.cast(x, dtype=self.dtype) if x.__class__ is Tensor and x.shape else self.number(number(x))

    def number(self, value: Any) -> Any:
        """A number as the result."""
        made = wrap(self.builder.operand(value, self.kind), self.dtype)
        return made.value if made.__class__ is Tensor and made.dtype.weak else made

    def full(self, value: Any, shape: tuple[int, ...]) -> Any:
        """A number everywhere in a shape as the result."""
        if not shape:
            return self.number(value)
        return self.builder.sym(
            self.builder.uniform(self.builder.operand(value, self.kind), self.kind, shape), self.dtype
        )

    def again(self, *inputs: Any, **changed: Any) -> Any:
        """The row with some of its attributes changed."""
        return self.builder.apply(self.op, inputs, {**self.attributes, **changed})

    def formed(self, *inputs: Any, **changed: Any) -> Any:
        """The same, or None if the attributes have that form already."""
        return (
            None if all(self.attributes[name] == x for name, x in changed.items()) else self.again(*inputs, **changed)
        )

    def definition(self, x: Any, *names: str) -> Any:
        """The application that defines a symbol, if it is one of some rows."""
        made = self.builder.definitions.get(x.var) if x.__class__ is Sym else None
        return made if made is not None and made.row.name in names else None

    def value(self, x: Any) -> Any:
        """The number that an operand is known to be everywhere, or None."""
        return self.builder.number_in(x) if x.__class__ is Sym else number(x)

    def only(self, x: Any, *others: Any) -> Any:
        """An operand as the result, in the shape of all of them."""
        shape = broadcast(*[shape_of(y) for y in (x, *others)])
        if x.__class__ in NUMBERS:
            return self.full(x, shape)
        x = self.same(x)
        return x if shape_of(x) == shape else OPERATORS.broadcast_to(x, shape=shape)

    def symbol(self, x: Any) -> Any:
        """An operand of a statement as a symbol, of the dtype of the result."""
        return self.builder.sym(x, self.dtype)


def number(x: Any) -> Any:
    """The value of a known number, else None."""
    value = x.value if x.__class__ is Tensor else x
    if value.__class__ in NUMBERS:
        return value
    return value.item() if getattr(value, "shape", None) == () and value.__class__ is not Sym else None


def is_finite(at: At, x: Any) -> bool:
    """Whether a factor is known to be finite."""
    value = at.value(x)
    if value is not None:
        return math.isfinite(value)
    return x.__class__ is Sym and x.kind != FLOAT


# --- arithmetic and logic -------------------------------------------------------------------------------------------


def is_zero(value: Any, sign: float) -> bool:
    """Whether a number is the zero that changes nothing: of floats that of a sign, of integers either."""
    return value is not None and value == 0 and (value.__class__ is not float or math.copysign(1.0, value) == sign)


def add(at: At, a: Any, b: Any) -> Any:
    for x, y in ((a, b), (b, a)):
        # 0.0 added to -0.0 is 0.0.
        if is_zero(at.value(y), -1.0) and (at.value(y).__class__ is float or at.dtype.kind == "i"):
            return at.only(x, y)
    return None


def subtract(at: At, a: Any, b: Any) -> Any:
    return at.only(a, b) if is_zero(at.value(b), 1.0) else None


def multiply(at: At, a: Any, b: Any) -> Any:
    for x, y in ((a, b), (b, a)):
        if at.value(y) == 1:
            return at.only(x, y)
        if at.value(y) == 0 and at.dtype.kind == "i":
            return at.only(0, x, y)
    return None


def strong_multiply(at: At, g: Any, p: Any) -> Any:
    if at.value(g) == 0:
        return at.only(0.0, g, p)
    return OPERATORS.multiply(g, p) if at.value(g) is not None or is_finite(at, p) else None


def power(at: At, a: Any, b: Any) -> Any:
    if at.dtype.kind == "i" and b.__class__ is Sym:
        at.builder.check(OPERATORS.greater_equal(b, 0))
    return at.only(a, b) if at.value(b) == 1 else None


def logic(neutral: bool) -> Rule:
    """`and`, of which True is neutral, or `or`."""

    def rule(at: At, a: Any, b: Any) -> Any:
        for x, y in ((a, b), (b, a)):
            value = at.value(y)
            if value is not None and at.dtype.kind == "b":
                return at.only(x if bool(value) is neutral else not neutral, a, b)
        return None

    return rule


def cast(at: At, x: Any, dtype: Any) -> Any:
    if x.kind == at.kind:
        return at.same(x)
    if x.kind == FLOAT and at.dtype.kind == "i":
        at.builder.check(OPERATORS.less(OPERATORS.abs(x), 2.0**62))
    return None


def not_float(at: At, x: Any) -> Any:
    """Of floats the row is a mark on their way, which `expand` removes."""
    return at.same(x) if x.kind != FLOAT else None


RULES: dict[str, Rule] = {
    "add": add, "subtract": subtract, "multiply": multiply, "strong_multiply": strong_multiply, "power": power,
    "divide": lambda at, a, b: at.only(a, b) if at.value(b) == 1 else None,
    "logical_and": logic(True), "bitwise_and": logic(True), "logical_or": logic(False), "bitwise_or": logic(False),
    "cast": cast, "stop_gradient": not_float, "positive": not_float,
    "invert": lambda at, x: OPERATORS.logical_not(x) if x.kind == BOOL else None,
    **dict.fromkeys(("identity", "real", "conj"), At.same),
    "abs": lambda at, x: at.same(x) if x.kind == BOOL else None,
    **FORMS,
}  # fmt: skip
