"""Formulas as values of a program: what rows of the table make of them."""

from __future__ import annotations

import math
from functools import cache
from re import fullmatch
from string import Formatter

from ...parser.errors import AdiffError
from ...parser.parse import parse
from ...parser.source import Source
from ..core.dtypes import WEAK_FLOAT
from ..core.errors import failure
from ..core.operands import describe
from ..core.state import Site
from ..core.tensor import OPERATORS, Tensor
from ..ops import arithmetic
from ..ops.operation import Operation
from ..ops.rounding import maximum, minimum
from ..ops.structure import as_dtype
from ..program.core import RESULT
from ..program.lower import lower
from .nodes import CALL, HALF, HINT, MINUS, NUMBER, PI, TWO, E, Node, add, make, multiply, number, power

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# What the arithmetic of nodes is.
BASIC: dict[Operation, Callable[..., Node]] = {
    arithmetic.add: add,
    arithmetic.subtract: lambda a, b: add(a, multiply(MINUS, b)),
    arithmetic.multiply: multiply,
    arithmetic.divide: lambda a, b: multiply(a, power(b, MINUS)),
    arithmetic.power: power,
    arithmetic.negative: lambda a: multiply(MINUS, a),
    OPERATORS["zeros_like"]: lambda a: number(0),
}
# The floats that stand for other numbers.
NAMED: dict[float, Callable[[], Node]] = {
    math.pi: lambda: PI,
    math.e: lambda: E,
    math.tau: lambda: multiply(TWO, PI),
    2.0 / math.sqrt(math.pi): lambda: multiply(TWO, power(PI, multiply(MINUS, HALF))),
    1.0 / math.sqrt(math.tau): lambda: power(multiply(TWO, PI), multiply(MINUS, HALF)),
}


def refused(what: str, site: Site | None = None) -> AdiffError:
    return failure("E0513", f"derive writes no formula for {what}", HINT, site)


class Formula:
    """A number that the inputs decide."""

    __slots__ = ("node",)
    description = "a number that the inputs decide"
    shape: tuple[int, ...] = ()
    ndim = 0
    dtype = WEAK_FLOAT

    def __init__(self, node: Node) -> None:
        self.node = node

    def __repr__(self) -> str:
        return self.description

    def as_symbol(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Formula:
        return Formula(applied(op, [node_of(x, op) for x in inputs], attributes))

    def __bool__(self) -> bool:
        raise refused("what depends on the truth of a number that the inputs decide")


for _name in "add radd sub rsub mul rmul truediv rtruediv pow rpow neg lt le gt ge".split():
    setattr(Formula, f"__{_name}__", getattr(Tensor, f"__{_name}__"))


def node_of(x: Any, op: Operation | None = None) -> Node:
    """The formula of a value. Raises AdiffError E0513 for what is no number."""
    if x.__class__ is Formula:
        return x.node
    value = x.value if x.__class__ is Tensor and not x.shape else x
    if getattr(value, "ndim", 1) == 0:
        value = value.item()
    if value.__class__ in (int, float, bool):
        return NAMED[value]() if value in NAMED else number(value)
    what = "tensors" if x.__class__ in (Tensor, list, tuple) else describe(x)
    raise refused(what if op is None else f"{what} ({op.name})")


def value_of(node: Node) -> Any:
    """A formula as the program's value: whole numbers may count, and index lists."""
    v = node.value
    return int(v) if node.kind == NUMBER and v.__class__ is not float and v.denominator == 1 else Formula(node)


def applied(op: Operation, args: list[Node], attributes: dict[str, Any] | None) -> Node:
    """A row on formulas: arithmetic, what the row is written as, or a call of it."""
    basic = BASIC.get(op)
    if basic is not None:
        return basic(*args)
    if op is OPERATORS["cast"] and as_dtype((attributes or {})["dtype"]).kind == "f":
        return args[0]
    if op.derivative in ("linear", "multilinear", "rule") and op is not arithmetic.where_select:
        raise refused(f"{op.name}, which works on tensors")
    if args[-1] is args[0] and op in (maximum, minimum):
        return args[0]
    static = tuple((attributes or {}).items())
    if any(value.__class__ not in (int, float, bool, str, type(None)) for _, value in static):
        raise refused(f"{op.name} with such options")
    written = definition(op)
    if written is not None:
        return node_of(written({**dict(zip((p.name for p in op.parameters), map(Formula, args))), **dict(static)}))
    if op is arithmetic.where_select:
        condition, a, b = args
        if condition.kind == NUMBER or a is b:
            return a if a is b or condition.value else b
    elif all(x.kind == NUMBER for x in args) and op.scalar is not None and op.derivative != "missing":
        try:
            found = op.scalar(*[float(x.value) for x in args], **dict(static))
        except (ArithmeticError, ValueError, TypeError):
            found = math.nan
        # sin(0) is 0, and sin(1) stays what it is.
        if found.__class__ is bool or (found == found and abs(found) < 2**53 and found == int(found)):
            return number(int(found))
    return make(CALL, tuple(args), (op, static))


@cache
def definition(op: Operation) -> Callable[[dict[str, Any]], Any] | None:
    """What a row is written as: its `formula`, or the code of kernels where that is arithmetic of other rows."""
    text = op.formula
    if not text:
        if op.derivative != "partials" or op.kernel.__class__ is not str or fullmatch(r"[\w.]+\([^()]*\)", op.kernel):
            return None
        names = {str(i): p.name for i, p in enumerate(op.parameters)}
        text = "".join(
            literal + ("" if field is None else names.get(field, field))
            for literal, field, _, _ in Formatter().parse(op.kernel)
        )
    from .trace import Tracer, frame_of

    try:
        core = lower(source := Source(text, op.name), parse(source))
    except AdiffError:  # helpers of kernels alone
        return None
    run = Tracer().block(core.body)

    def written(values: dict[str, Any]) -> Any:
        frame = frame_of(core, values)
        run(frame)
        return frame[RESULT]

    return written


def constant(value: Any) -> Any:
    """A finite float of a program as a formula: pi, e, or a decimal number."""
    return Formula(node_of(value)) if value.__class__ is float and value - value == 0.0 else value
