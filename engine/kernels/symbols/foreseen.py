"""What is known of a result before it is computed: bounds of integers, identities, logic that one operand decides."""

from __future__ import annotations

from ..ir import INT, LEAST, LIMIT, MOST
from .symbol import Sym

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EVERYTHING = (LEAST, MOST)
COUNTABLE = (-LIMIT, LIMIT)


def interval_of(op: str, operands: list[tuple[int, int]]) -> tuple[int, int] | None:
    """Bounds of an integer result, before any check of it."""
    if op in ("add", "subtract", "multiply"):
        (a, b), (c, d) = operands
        if op == "add":
            return (a + c, b + d)
        if op == "subtract":
            return (a - d, b - c)
        corners = (a * c, a * d, b * c, b * d)
        return (min(corners), max(corners))
    if op == "int_mod" and operands[1][0] > 0:
        return (0, operands[1][1] - 1)
    if op == "int_floor_divide" and operands[1][0] > 0 and operands[0][0] >= 0:
        return (0, operands[0][1])
    if op == "right_shift" and operands[0][0] >= 0:
        return (0, operands[0][1])
    if op == "bitwise_and" and any(low >= 0 for low, _ in operands):
        return (0, min(high for low, high in operands if low >= 0))
    if op == "where_select":
        (a, b), (c, d) = operands[1:]
        return (min(a, c), max(b, d))
    if op == "int_of_bool":
        return (0, 1)
    return None


def simplified(op: str, args: tuple[Any, ...]) -> Any:
    """Identities that hold for every value: x + 0 is left alone for the sign of zero, x * 1 is x."""
    if op == "multiply":
        for a, b in (args, args[::-1]):
            if a.__class__ in (int, float) and a == 1 and b.__class__ is Sym:
                return b
            if a.__class__ is int and a == 0 and b.__class__ is Sym and b.kind == INT:
                return 0
    if op == "add":
        for a, b in (args, args[::-1]):
            if a.__class__ is int and a == 0 and b.__class__ is Sym and b.kind == INT:
                return b
    if op == "strong_multiply":
        g, p = args
        if p.__class__ in (int, float) and p == 1:
            return g
    return None


def decided_logic(op: str, args: tuple[Any, ...]) -> Any:
    """`and` and `or` with an operand that is known."""
    if op in ("logical_and", "logical_or"):
        decisive = op == "logical_or"
        for a, b in (args, args[::-1]):
            if a.__class__ is bool:
                return decisive if a is decisive else b
    return None
