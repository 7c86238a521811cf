"""Taylor mode: the first N derivatives of a scalar function in time polynomial in N.

A `Series` is the truncated power series of a value around the point of evaluation. It flows through a program as a
number does. Sums, products, quotients and constant powers have the recurrences of Griewank and Walther, Evaluating
Derivatives (2nd ed., SIAM 2008), chapter 13. Every other element-wise row needs no rule of its own: from its partials,
y' = sum of p_i(x, y) x_i', so coefficient k + 1 of y follows from the partials known to order k. The partials are
evaluated on series again, by the table's own formulas.
"""

from __future__ import annotations

from ..core.dispatch import apply
from ..core.operation import Operation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Coefficients = list[float]


class Unsupported(Exception):
    """The program leaves what Taylor mode covers (tensors, kinks, rules); nested forward mode covers all."""


class Series:
    """Coefficients c[0] + c[1] t + c[2] t**2 + ...

    A truncated view of a series shares its `root`, and with it `grown`, the memory of what was computed from it.
    """

    __slots__ = ("c", "grown", "root")
    description = "a power series"

    def __init__(self, coefficients: Coefficients, root: Series | None = None) -> None:
        self.c = coefficients
        self.root: Series = self if root is None else root
        self.grown: dict[Any, Series] = {} if root is None else root.grown

    def view(self, length: int) -> Series:
        """The first `length` coefficients."""
        return self if length == len(self.c) else Series(self.c[:length], self.root)

    def as_symbol(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
        """Apply a row to inputs of which at least one is a series."""
        return apply_series(op, inputs, attributes)

    def __add__(self, other: Any) -> Any:
        return operator("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return operator("add", other, self)

    def __sub__(self, other: Any) -> Any:
        return operator("subtract", self, other)

    def __rsub__(self, other: Any) -> Any:
        return operator("subtract", other, self)

    def __mul__(self, other: Any) -> Any:
        return operator("multiply", self, other)

    def __rmul__(self, other: Any) -> Any:
        return operator("multiply", other, self)

    def __truediv__(self, other: Any) -> Any:
        return operator("divide", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return operator("divide", other, self)

    def __pow__(self, other: Any) -> Any:
        return operator("power", self, other)

    def __rpow__(self, other: Any) -> Any:
        return operator("power", other, self)

    def __neg__(self) -> Any:
        return operator("negative", self)

    def __lt__(self, other: Any) -> bool:
        return head(self) < head(other)

    def __le__(self, other: Any) -> bool:
        return head(self) <= head(other)

    def __gt__(self, other: Any) -> bool:
        return head(self) > head(other)

    def __ge__(self, other: Any) -> bool:
        return head(self) >= head(other)


def operator(name: str, *inputs: Any) -> Any:
    from ..core.tensor import OPERATORS

    return apply(OPERATORS[name], inputs, None)


class Undecided(Series):
    """A series whose value is known and whose other coefficients are not: nobody may ask for these.

    A branch that is not taken may end in one.
    """

    __slots__ = ("length", "value")

    def __init__(self, value: float, length: int) -> None:
        self.value = value
        self.length = length

    @property
    def c(self) -> Coefficients:  # type: ignore[override]
        raise Unsupported

    def as_symbol(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
        return apply_series(op, inputs, attributes)


def head(x: Any) -> float:
    """The value itself: coefficient 0."""
    if x.__class__ is Series:
        return x.c[0]
    if x.__class__ in (float, int, bool):
        return x
    value = getattr(x, "value", None)  # of a tensor, or of what is undecided
    if value.__class__ is float:
        return value
    raise Unsupported


def coefficients(x: Any, length: int) -> Coefficients:
    """The first `length` coefficients of a series or of a constant."""
    if isinstance(x, Series):
        return x.c[:length]
    return [float(head(x))] + [0.0] * (length - 1)


def apply_series(op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
    length = min(x.length if x.__class__ is Undecided else len(x.c) for x in inputs if isinstance(x, Series))
    undecided = any(x.__class__ is Undecided for x in inputs)
    recurrence = RECURRENCES.get(op.name)
    if recurrence is not None and not undecided:
        return recurrence(length, *inputs)
    heads = tuple(head(x) for x in inputs)
    kind = op.derivative
    if op.name == "where_select":
        return inputs[1] if heads[0] else inputs[2]
    if op.name in ("identity", "positive"):
        return inputs[0]
    value = apply(op, heads, attributes)
    if kind == "none":
        return value
    if kind == "zero":
        return Series(coefficients(value, length))
    if undecided:
        if value.__class__ is not float:
            raise Unsupported
        return Undecided(value, length)
    if kind != "partials" or value.__class__ is not float:
        raise Unsupported
    for spot in op.singular:
        if spot.where(*heads) is not False:
            return Undecided(value, length)
    return grow(op, inputs, attributes, value, length)


def grow(
    op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None, value: float, length: int
) -> Series:
    """The series of a row from its partials, one coefficient at a time.

    What was grown before for the same inputs is kept and extended: the partials of sin ask for cos, those of cos for
    sin, and without memory the two would ask each other ever more often.
    """
    owner = next(x for x in inputs if x.__class__ is Series)
    key = (op.name, tuple(x.root if x.__class__ is Series else head(x) for x in inputs), str(attributes))
    y = owner.grown.get(key)
    if y is None:
        y = owner.grown[key] = Series([value])
    while len(y.c) < length:
        k = len(y.c) - 1
        known = Series(y.c.copy(), y)
        views = tuple(x.view(k + 1) if x.__class__ is Series else x for x in inputs)
        slope = 0.0
        for i, x in enumerate(inputs):
            if x.__class__ is not Series:
                continue
            formula = op.partials[i]
            if formula is None:
                continue
            p = formula if not callable(formula) else formula(known, *views, **(attributes or {}))
            pc = coefficients(p, k + 1)
            slope += sum(pc[j] * (k + 1 - j) * x.c[k + 1 - j] for j in range(k + 1))
        y.c.append(slope / (k + 1))
    return Series(y.c[:length], y)


def add(length: int, a: Any, b: Any) -> Series:
    return Series([u + v for u, v in zip(coefficients(a, length), coefficients(b, length))])


def subtract(length: int, a: Any, b: Any) -> Series:
    return Series([u - v for u, v in zip(coefficients(a, length), coefficients(b, length))])


def negative(length: int, a: Any) -> Series:
    return Series([-u for u in coefficients(a, length)])


def multiply(length: int, a: Any, b: Any) -> Series:
    if a.__class__ is not Series:
        factor = head(a)
        return Series([factor * v for v in coefficients(b, length)])
    if b.__class__ is not Series:
        factor = head(b)
        return Series([factor * u for u in coefficients(a, length)])
    u, v = a.c, b.c
    return Series([sum(u[j] * v[k - j] for j in range(k + 1)) for k in range(length)])


def divide(length: int, a: Any, b: Any) -> Series:
    u, v = coefficients(a, length), coefficients(b, length)
    if v[0] == 0:
        raise Unsupported
    y: Coefficients = []
    for k in range(length):
        y.append((u[k] - sum(y[j] * v[k - j] for j in range(k))) / v[0])
    return Series(y)


def power(length: int, a: Any, b: Any) -> Any:
    """a**b for a constant exponent: a y' = b a' y. A whole exponent is a product, which needs no a != 0."""
    if b.__class__ is Series:
        from ..core.tensor import OPERATORS

        if head(a) <= 0:
            raise Unsupported
        return OPERATORS["exp"](multiply(length, b, as_series(OPERATORS["log"](a), length)))
    exponent = head(b)
    if exponent == int(exponent) and 0 <= exponent <= 64:
        return whole_power(length, a, int(exponent))
    u = coefficients(a, length)
    if u[0] == 0 or (u[0] < 0 and exponent != int(exponent)):
        raise Unsupported
    y = [u[0] ** exponent]
    for k in range(1, length):
        y.append(sum((exponent * j - (k - j)) * u[j] * y[k - j] for j in range(1, k + 1)) / (k * u[0]))
    return Series(y)


def as_series(x: Any, length: int) -> Series:
    return x if x.__class__ is Series else Series(coefficients(x, length))


def whole_power(length: int, a: Any, exponent: int) -> Series:
    result = Series([1.0] + [0.0] * (length - 1))
    factor = as_series(a, length)
    while exponent:
        if exponent & 1:
            result = multiply(length, result, factor)
        exponent >>= 1
        if exponent:
            factor = multiply(length, factor, factor)
    return result


RECURRENCES: dict[str, Callable[..., Any]] = {
    "add": add,
    "subtract": subtract,
    "negative": negative,
    "multiply": multiply,
    "strong_multiply": multiply,
    "divide": divide,
    "power": power,
}


# Nodes of the core program whose meaning needs tensors, tapes or containers of them.
OUTSIDE = frozenset("Watch With Method Attribute Item StoreItem FormatText".split())
INSIDE_INTRINSICS = frozenset("range abs min max pow float len sum zip enumerate list tuple reversed print".split())


def covers(node: Any) -> bool:
    """Whether every node of a core program is one that series can flow through."""
    pending = [node.body if hasattr(node, "source") else node]
    while pending:
        item = pending.pop()
        if item.__class__ in (list, tuple):
            pending.extend(item)
            continue
        name = item.__class__.__name__
        if name in OUTSIDE or (name == "Intrinsic" and item.name not in INSIDE_INTRINSICS):
            return False
        if (
            hasattr(item, "__slots__")
            and hasattr(item, "__init__")
            and item.__class__.__module__.endswith("program.core")
        ):
            pending.extend(getattr(item, slot) for slot in item.__slots__ if slot != "site")
    return True


def derivatives(f: Callable[[list[Any]], Any], x: float, order: int) -> list[float]:
    """y, y', ..., up to `order` for a scalar function of one float. Raises Unsupported outside of Taylor mode."""
    start = Series([x, 1.0] + [0.0] * (order - 1))
    try:
        y = f([start])
    except (OverflowError, ZeroDivisionError):
        raise Unsupported from None
    c = coefficients(y, order + 1)
    found = []
    factorial = 1.0
    for k, coefficient in enumerate(c):
        factorial *= max(k, 1)
        found.append(coefficient * factorial)
    if any(d - d != 0 for d in found):
        raise Unsupported  # an infinity or a NaN: nested forward mode finds its reason
    return found


__all__ = ["Series", "Unsupported", "derivatives"]
