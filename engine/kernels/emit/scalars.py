"""Source text of element-wise rows applied to numbers, of each kind, and what must be checked beside it."""

from __future__ import annotations

import string

from ..ir import BOOL, FLOAT, INT, Unsupported
from .text import literal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Every integer of a kernel lies within this bound, so that a sum of two is exact in 64 bits.
BOUND = 2**62
OVERFLOW = f"abs({{0}}) > {BOUND}"
TOO_LARGE = "abs(float({0}) * float({1})) > 4.6e18"
INTEGER = {
    "multiply": "({0} * {1})",
    "square": "({0} * {0})",
    "strong_multiply": "({0} * {1})",
    "floor_divide": "({0} // {1})",
    "mod": "({0} % {1})",
    "power": "integer_power({0}, {1})",
    "sign": "((1 if {0} > 0 else 0) - (1 if {0} < 0 else 0))",
    "maximum": "({0} if {0} >= {1} else {1})",
    "minimum": "({0} if {0} <= {1} else {1})",
    "right_shift": "({0} >> ({1} if {1} < 63 else 63))",
    "fmod": "(abs({0}) % abs({1}) * (1 if {0} > 0 else -1))",
}
# What must not hold of the operands of integer rows.
REFUSED = {
    "multiply": TOO_LARGE,
    "strong_multiply": TOO_LARGE,
    "square": "abs({0}) > 2147483648",
    "floor_divide": "{1} == 0",
    "mod": "{1} == 0",
    "fmod": "{1} == 0",
    "left_shift": "not (0 <= {1} < 62 and abs({0}) <= (4611686018427387904 >> {1}))",
    "right_shift": "{1} < 0",
}
# Integer rows whose results stay within the bound.
SAFE = frozenset(
    """abs negative sign maximum minimum fmin fmax clip clip_between floor_divide mod fmod stop_gradient where where_select
    right_shift bitwise_and bitwise_or bitwise_xor invert left_shift multiply strong_multiply square positive""".split()
)
# Of truth values. `&` takes no branch, as `and` does.
LOGIC = {
    "logical_and": "({0} & {1})", "logical_or": "({0} | {1})", "logical_xor": "({0} != {1})", "logical_not": "(not {0})",
}  # fmt: skip
BITS = {
    "bitwise_and": "({0} & {1})", "bitwise_or": "({0} | {1})", "bitwise_xor": "({0} != {1})", "invert": "(not {0})",
}  # fmt: skip
# What an element costs, in additions; rows that are not listed call a function.
CHEAP = dict.fromkeys(
    """add subtract multiply negative abs positive maximum minimum square less less_equal greater greater_equal equal not_equal
    logical_and logical_or logical_not where where_select stop_gradient cast relu strong_multiply sign clip clip_between
    strong_product copysign_like bitwise_and bitwise_or invert logical_xor""".split(),
    1,
) | {"divide": 4, "reciprocal": 4, "sqrt": 6, "floor": 2, "ceil": 2}  # fmt: skip
CALL = 20


def bound_of(name: str, bounds: list[int], known: list[Any]) -> int:
    """A bound of the absolute value of an integer row's result, from bounds of its operands; `known` has those that are numbers."""
    if name in ("add", "subtract"):
        return bounds[0] + bounds[1]
    if name in ("multiply", "strong_multiply"):
        return bounds[0] * bounds[1]
    if name in ("floor_divide", "negative", "abs", "right_shift", "stop_gradient"):
        return bounds[0]
    if name == "mod":
        return bounds[1]
    if name in ("maximum", "minimum", "where_select"):
        return max(bounds[-2:])
    if name == "power" and known[0] == 2 and bounds[1] < 62:
        return 1 << bounds[1]
    return 1 if name == "sign" else BOUND


def is_elementwise(row: Any) -> bool:
    return row.kernel.__class__ is str or row.name == "cast"


def cost(name: str) -> int:
    return CHEAP.get(name, CALL)


def kind_of(x: Any) -> str:
    """The kind of an operand."""
    kind = x.__class__
    return BOOL if kind is bool else INT if kind is int else FLOAT if kind is float else x.kind


def converted(text: str, kind: str, wanted: str) -> str:
    """A number of one kind as one of another."""
    if kind == wanted:
        return text
    if wanted == FLOAT:
        return f"float({text})"
    if wanted == BOOL:
        return f"({text} != 0)"
    return f"int({text})"


def template(
    name: str, row: Any, kind: str, kinds: list[str], attributes: dict[str, Any]
) -> tuple[str, list[str], str, str]:
    """How to compute an element: a template, the kinds in which it wants its operands, a condition on the operands that
    must not hold and one on the result (each may be empty)."""
    if name == "cast":
        return cast(kind, kinds[0])
    if name in LOGIC:
        return LOGIC[name], [BOOL] * len(kinds), "", ""
    if name in BITS and kind == BOOL:
        return BITS[name], [BOOL] * len(kinds), "", ""
    chooses = row.kernel.startswith("({1} if {0} else")
    if kind == BOOL:
        same = kinds if len(set(kinds)) == 1 or BOOL not in kinds else [INT if k == BOOL else k for k in kinds]
        same = [BOOL, *kinds[1:]] if chooses else same
        return filled(row.kernel, attributes), same, "", ""
    wanted = [kind] * len(kinds)
    if chooses:
        wanted[0] = BOOL
    if kind == FLOAT:
        return filled(row.kernel, attributes), wanted, "", ""
    text = INTEGER.get(name) or filled(row.kernel, attributes)
    return text, wanted, REFUSED.get(name, ""), "" if name in SAFE else OVERFLOW


def cast(kind: str, given: str) -> tuple[str, list[str], str, str]:
    if kind == INT and given == FLOAT:
        return "int({0})", [FLOAT], "not abs({0}) < 4.6e18", ""
    return converted("{0}", given, kind) if kind != given else "{0}", [given], "", ""


def filled(text: str, attributes: dict[str, Any]) -> str:
    """A template with the static attributes written in; operands stay open."""
    if not attributes:
        return text
    values: dict[str, str] = {}
    for name, value in attributes.items():
        if f"{{{name}}}" not in text:
            continue
        if value is not None and value.__class__ not in (float, int, bool):
            raise Unsupported(f"such a value of {name}")
        kind = FLOAT if value.__class__ is float else INT if value.__class__ is int else BOOL
        values[name] = "None" if value is None else literal(value, kind)
    for name, value_text in values.items():
        text = text.replace(f"{{{name}}}", value_text)
    return text


def repeated(text: str) -> set[int]:
    """The operands that a template names more than once."""
    found: list[str] = [name for _, name, _, _ in string.Formatter().parse(text) if name]
    return {int(name) for name in found if name.isdigit() and found.count(name) > 1}
