"""Taylor mode: the first N derivatives of a scalar function in time polynomial in N.

A `Series` is the truncated power series of a value around the point of evaluation. It flows through a program as a
number does. Sums, products, quotients and powers have the recurrences of Griewank and Walther, Evaluating Derivatives
(2nd ed., SIAM 2008), chapter 13. Every other element-wise row needs no rule of its own: from its partials,
y' = sum of p_i(x, y) x_i', so coefficient k of y follows from the partials known to order k - 1. The partials are series
too, made once by the table's own formulas and as long as somebody asks: the slope of sin is a cos whose own slope is that
sin, and each of the two is found one coefficient after the other.
"""

from __future__ import annotations

from operator import eq, ge, gt, le, lt, mul, ne

from ...parser.errors import AdiffError
from ..core.dispatch import apply, apply_scalar
from ..core.tensor import OPERATORS
from ..ops.operation import Operation
from ..ops.registry import OPERATOR_METHODS, OPERATOR_ROWS, PREFIX_ROWS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Coefficients = list[float]
    # Coefficient k, given those before it.
    Term = Callable[[Coefficients, int], float]


class Unsupported(Exception):
    """The program leaves what Taylor mode covers (tensors, singular points, rules); nested forward mode covers all."""


class Series:
    """Coefficients c[0] + c[1] t + c[2] t**2 + ..., `length` of them.

    One in the formula of a partial has as many coefficients as somebody has asked for: `term` gives the next one.
    """

    __slots__ = ("c", "term")
    description = "a power series"
    length = 0
    # What has been grown for the formulas of a row's partials, while that row is grown.
    memory: dict[Any, Series] | None = None

    def __init__(self, c: Coefficients, term: Term | None = None) -> None:
        self.c = c
        self.term = term

    def known(self, length: int) -> Coefficients:
        """The coefficients, of which at least the first `length` are known."""
        c = self.c
        if len(c) < length:
            term = self.term
            assert term is not None
            while len(c) < length:
                c.append(term(c, len(c)))
        return c

    def as_symbol(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
        """Apply a row to inputs of which at least one is a series."""
        return apply_series(op, inputs, attributes)

    def __bool__(self) -> bool:
        return head(self) != 0

    def text(self, representation: Any) -> str:
        """What a program makes of numbers as text has no series; where it only prints them nobody asks."""
        raise Unsupported


def head(x: Any) -> float:
    """The value itself: coefficient 0."""
    if x.__class__ is Series:
        return x.c[0]
    if x.__class__ in (float, int, bool):
        return x
    value = getattr(x, "value", None)  # of a tensor
    if value.__class__ is float:
        return value
    raise Unsupported


def series(first: float, term: Term) -> Series:
    """The series of a recurrence: in the formula of a partial, as much as is asked for."""
    y = Series([first], term)
    if Series.memory is None:
        y.known(Series.length)
        y.term = None
    return y


def constant(value: float) -> Series:
    return series(float(value), lambda c, k: 0.0)


def apply_series(op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
    recurrence = RECURRENCES.get(op)
    if recurrence is not None and not op.singular:
        return recurrence(*inputs)
    heads = tuple([head(x) for x in inputs])
    if op.singular and is_singular(op, inputs, heads):
        # The value stands; forward mode knows what is told, chosen or refused there if somebody wants more.
        return series(head(evaluate(op, heads, attributes)), leave)
    if recurrence is not None:
        return recurrence(*inputs)
    kind = op.derivative
    if op is OPERATORS.where:
        return inputs[1] if heads[0] else inputs[2]
    if op in (OPERATORS.identity, OPERATORS.positive):
        return inputs[0]
    value = evaluate(op, heads, attributes)
    if kind == "none":
        return value
    if kind == "zero":
        return constant(head(value))
    if kind != "partials" or value.__class__ is not float:
        raise Unsupported
    return grown(op, inputs, attributes, value)


def is_singular(op: Operation, inputs: tuple[Any, ...], heads: tuple[float, ...]) -> bool:
    """Whether a partial that takes part is singular; of a piecewise constant row, whether what moves is at a jump."""
    if op.derivative == "zero":
        return any(map(moves, inputs)) and any(spot.where(*heads) is not False for spot in op.singular)
    return any(inputs[spot.input].__class__ is Series and spot.where(*heads) is not False for spot in op.singular)


def moves(x: Any) -> bool:
    """Whether a series may be more than its value."""
    return x.__class__ is Series and (Series.memory is not None or any(x.c[1:]))


def leave(c: Coefficients, k: int) -> float:
    raise Unsupported


def evaluate(op: Operation, heads: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
    """The row's value on numbers."""
    return apply_scalar(op, heads) if attributes is None else apply(op, heads, attributes)


def grown(op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None, value: float) -> Series:
    """The series of a row from its partials.

    What is grown for the same inputs inside one formula is one series: the partials of sin ask for cos, those of cos for
    sin, and without memory the two would ask each other ever more often.
    """
    outermost = Series.memory is None
    memory = Series.memory = {} if Series.memory is None else Series.memory
    # What is grown holds its inputs, so that no other series has the id of one.
    key = (op.name, tuple([(id(x),) if x.__class__ is Series else head(x) for x in inputs]), str(attributes))
    y = memory.get(key)
    if y is None:
        y = memory[key] = Series([value])
        y.term = Growth(op, inputs, attributes, y)
    if outermost:
        try:
            y.known(Series.length)
        finally:
            Series.memory = None
            for other in memory.values():  # they hold one another
                other.term = None
    return y


class Growth:
    """The coefficients of a row, from its partials: k y[k] = sum over j of p[k - j] j x[j], for each input x."""

    __slots__ = ("attributes", "inputs", "op", "parts", "y")

    def __init__(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None, y: Series) -> None:
        self.op = op
        self.inputs = inputs
        self.attributes = attributes
        self.y = y
        # Of each input its partial, itself, and its coefficients j x[j]; None before somebody asks for one.
        self.parts: list[tuple[Any, Series, Coefficients]] | None = None

    def __call__(self, c: Coefficients, k: int) -> float:
        if self.parts is None:
            self.parts = [
                (formula(self.y, *self.inputs, **(self.attributes or {})) if callable(formula) else formula, x, [0.0])
                for formula, x in zip(self.op.partials, self.inputs)
                if x.__class__ is Series and formula is not None
            ]
        slope = 0.0
        for p, x, moved in self.parts:
            u = x.known(k + 1)
            while len(moved) <= k:
                moved.append(len(moved) * u[len(moved)])
            if isinstance(p, Series):
                slope += sum(map(mul, p.known(k), moved[k:0:-1]))
            else:
                slope += head(p) * moved[k]
        return slope / k


def coefficient(x: Any, k: int) -> float:
    """Coefficient k > 0 of a series or a number."""
    return x.known(k + 1)[k] if x.__class__ is Series else 0.0


def add(a: Any, b: Any) -> Series:
    return series(head(a) + head(b), lambda c, k: coefficient(a, k) + coefficient(b, k))


def subtract(a: Any, b: Any) -> Series:
    return series(head(a) - head(b), lambda c, k: coefficient(a, k) - coefficient(b, k))


def negative(a: Any) -> Series:
    return series(-a.c[0], lambda c, k: -coefficient(a, k))


def multiply(a: Any, b: Any) -> Series:
    if a.__class__ is not Series:
        a, b = b, a
    if b.__class__ is not Series:
        factor = head(b)
        return series(factor * a.c[0], lambda c, k: factor * a.known(k + 1)[k])
    return series(a.c[0] * b.c[0], lambda c, k: sum(map(mul, a.known(k + 1), b.known(k + 1)[k::-1])))


def divide(a: Any, b: Any) -> Series:
    divisor = head(b)
    if divisor == 0:
        raise Unsupported

    def term(c: Coefficients, k: int) -> float:
        known = sum(map(mul, c, b.known(k + 1)[k:0:-1])) if b.__class__ is Series else 0.0
        found: float = (coefficient(a, k) - known) / divisor
        return found

    return series(head(a) / divisor, term)


# Coefficients of a power are found by what is multiplied with its value and divided by its base: neither may be near the
# ends of the range of floats.
LEAST, MOST = 1e-200, 1e200


def power(a: Any, b: Any) -> Any:
    """a**b: for a constant exponent, a y' = b a' y; a whole one is a product, which needs no a != 0."""
    base, exponent = head(a), head(b)
    if b.__class__ is not Series:
        if exponent == int(exponent) and 0 <= exponent <= 64:
            return whole_power(a, int(exponent))
        value = base**exponent if base > 0 or (exponent == int(exponent) and base) else 0.0
        if not (LEAST < abs(value) < MOST and LEAST < abs(base) < MOST):
            raise Unsupported

        def term(c: Coefficients, k: int) -> float:
            u = a.known(k + 1)
            found: float = sum([(exponent * j - (k - j)) * u[j] * c[k - j] for j in range(1, k + 1)]) / (k * base)
            return found

        return series(value, term)
    if base <= 0:
        raise Unsupported
    e = multiply(b, OPERATORS.log(a))

    def of_exponent(c: Coefficients, k: int) -> float:
        u = e.known(k + 1)
        found: float = sum([j * u[j] * c[k - j] for j in range(1, k + 1)]) / k
        return found

    return series(base**exponent, of_exponent)


def whole_power(a: Series, exponent: int) -> Series:
    result: Series | None = None
    factor = a
    while exponent:
        if exponent & 1:
            result = factor if result is None else multiply(result, factor)
        exponent >>= 1
        if exponent:
            factor = multiply(factor, factor)
    return constant(1.0) if result is None else result


RECURRENCES: dict[Operation, Callable[..., Any]] = {
    OPERATOR_ROWS["+"]: add,
    OPERATOR_ROWS["-"]: subtract,
    OPERATOR_ROWS["*"]: multiply,
    OPERATORS.strong_multiply: multiply,
    OPERATOR_ROWS["/"]: divide,
    OPERATOR_ROWS["**"]: power,
    PREFIX_ROWS["-"]: negative,
}


def comparison(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda a, b: compare(head(a), head(b))


# Equal by value as numbers are, and so no key of a dict: what compares by identity asks for id().
for _compare in (eq, ne, lt, le, gt, ge):
    setattr(Series, f"__{_compare.__name__}__", comparison(_compare))
setattr(Series, "__hash__", None)  # noqa: B010


def operator(row: Operation, turn: int = 1) -> Callable[..., Any]:
    return lambda *operands: apply(row, operands[::turn], None)


for _symbol, (_left, _right) in OPERATOR_METHODS.items():
    if OPERATOR_ROWS[_symbol] in RECURRENCES:
        setattr(Series, _left, operator(OPERATOR_ROWS[_symbol]))
        setattr(Series, _right, operator(OPERATOR_ROWS[_symbol], -1))
setattr(Series, "__neg__", operator(PREFIX_ROWS["-"]))  # noqa: B010


def derivatives(f: Callable[[list[Any]], Any], x: float, order: int) -> list[float]:
    """y, y', ..., up to `order` for a scalar function of one float. Raises Unsupported outside of Taylor mode."""
    # Coefficient k is that of (t/2)**k: the second is the second derivative doubled and not halved, so that it keeps its
    # digits near the least floats.
    Series.length = order + 1
    start = Series([x, 2.0] + [0.0] * (order - 1))
    try:
        y = f([start])
    except (OverflowError, ZeroDivisionError, AdiffError):
        raise Unsupported from None  # the program runs on numbers: forward mode tells whether it is at fault
    c = y.c if isinstance(y, Series) else [float(head(y))] + [0.0] * order
    found = []
    factor = 1.0
    for k, coefficient in enumerate(c):
        if k:
            factor *= 0.5 * k
        found.append(coefficient * factor)
    if any(d - d != 0 for d in found):
        raise Unsupported  # an infinity or a NaN: nested forward mode finds its reason
    return found
