"""Source text of numbers, of element-wise rows applied to them, and of what must be checked beside that."""

from __future__ import annotations

import math
import re

from ...core.tensor import OPERATORS
from ..ir import BOOL, FLOAT, INT, Unsupported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
CALL = re.compile(r"[a-z0-9]\(")
ATOM = re.compile(r"[A-Za-z_][A-Za-z_0-9.]*|[0-9][0-9.e+]*")
# Every integer of a kernel lies within this bound, so that a sum of two is exact in 64 bits.
BOUND = 2**62
OVERFLOW = f"abs({{0}}) > {BOUND}"


def literal(x: Any, kind: str) -> str:
    """A number as source text, of the given kind."""
    if kind == "b":
        return repr(bool(x))
    if kind == "i":
        return repr(int(x)) if x >= 0 else f"({int(x)})"
    x = float(x)
    if math.isfinite(x):
        return repr(x) if math.copysign(1.0, x) > 0 else f"({x!r})"
    return "math.nan" if x != x else "math.inf" if x > 0 else "(-math.inf)"


def is_atom(text: str) -> bool:
    """Whether text is a name or a number, which may stand anywhere and be repeated."""
    return ATOM.fullmatch(text) is not None


def bound_of(row: Any, bounds: list[int]) -> int:
    """A bound of the absolute value of an integer row's result, from bounds of its operands."""
    if row is OPERATORS.mod:
        return bounds[1]
    if row.keeps:
        return max(bounds[-2:])
    # Of floats: a power of large integers would take for ever.
    return int(min(BOUND, row.largest(list(map(float, bounds)), 1))) if row.largest else BOUND


def is_elementwise(row: Any) -> bool:
    return row.kernel.__class__ is str or row is OPERATORS.cast


def cost(row: Any) -> int:
    """What an element costs, in additions: 20 for a call, 4 for a division, nothing for a view."""
    if not is_elementwise(row):
        return 0
    text = str(row.kernel).replace("_strong(", "").replace("abs(", "")
    return 1 + 20 * len(CALL.findall(text)) + 4 * text.count("/")


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


def template(row: Any, kind: str, kinds: list[str], attributes: dict[str, Any]) -> tuple[str, list[str], str, str]:
    """How to compute an element: a template, the kinds in which it wants its operands, a condition on the operands that
    must not hold and one on the result (each may be empty)."""
    if row is OPERATORS.cast:
        refused = "not abs({0}) < 4.6e18" if (kind, kinds[0]) == (INT, FLOAT) else ""
        return converted("{0}", kinds[0], kind), kinds, refused, ""
    if row.truth and kind == BOOL:  # `&` takes no branch, as `and` does
        return row.truth, [BOOL] * len(kinds), "", ""
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
    if row is OPERATORS.power:
        return "integer_power({0}, {1})", wanted, "{1} < 0", OVERFLOW
    text = row.integer or filled(row.kernel, attributes)
    return text, wanted, row.refused, "" if row.integer or row.keeps else OVERFLOW


def filled(text: str, attributes: dict[str, Any]) -> str:
    """A template with the static attributes written in; operands stay open."""
    for name, value in attributes.items():
        if f"{{{name}}}" in text:
            if value is not None and value.__class__ not in (float, int, bool):
                raise Unsupported(f"such a value of {name}")
            text = text.replace(f"{{{name}}}", "None" if value is None else literal(value, kind_of(value)))
    return text
