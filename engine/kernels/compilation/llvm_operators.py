"""Operators of emitted source on values of LLVM's intermediate representation.

Their meaning is Numba's with error_model="numpy": division by zero gives what IEEE 754 says, integers are of 64 bits and
divide towards minus infinity, `max(a, b)` is b where b > a and else a, comparisons with nan are false but for `!=`.
"""

from __future__ import annotations

import ast

from ..ir import BOOL, FLOAT, INT
from .llvm_writer import FLOATS, NONE, TYPES, Untranslatable, Value, float_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .llvm_writer import Writer

ARITHMETIC: dict[type, str] = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
INTEGERS: dict[type, str] = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul"}
# Of integers as bits: shifts are by less than 64 places.
BITS: dict[type, str] = {
    ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor", ast.LShift: "shl", ast.RShift: "ashr",
}  # fmt: skip
COMPARISONS: dict[type, tuple[str, str]] = {
    ast.Lt: ("olt", "slt"), ast.LtE: ("ole", "sle"), ast.Gt: ("ogt", "sgt"), ast.GtE: ("oge", "sge"),
    ast.Eq: ("oeq", "eq"), ast.NotEq: ("une", "ne"),
}  # fmt: skip


def constant(w: Writer, node: Any) -> Value:
    x = node.value
    if x.__class__ is bool:
        return BOOL, "true" if x else "false"
    if x.__class__ is int:
        return INT, str(x)
    if x.__class__ is float:
        return FLOAT, float_text(x)
    if x is None:
        return NONE, ""
    raise Untranslatable(f"the constant {x!r}")


def operation(w: Writer, operator: type, a: Value, b: Value, note: str = "", freedom: str = "") -> Value:
    """An operator of two numbers; `note` is what is known of integers, `freedom` what may be done with floats."""
    if operator is ast.Div:
        kind, x, y = w.alike(a, b, FLOAT)
        return w.value(kind, f"fdiv {TYPES[kind]} {x}, {y}")
    kind, x, y = w.alike(a, b, INT)
    if kind in FLOATS and operator in ARITHMETIC:
        return w.value(kind, f"{ARITHMETIC[operator]}{freedom} {TYPES[kind]} {x}, {y}")
    if kind == INT and operator in INTEGERS:
        return w.value(INT, f"{INTEGERS[operator]}{note} i64 {x}, {y}")
    if kind == INT and operator in BITS:
        return w.value(INT, f"{BITS[operator]} i64 {x}, {y}")
    if kind == INT and operator in (ast.FloorDiv, ast.Mod):
        return divided(w, operator, x, y)
    raise Untranslatable(f"{operator.__name__} of numbers of the kind {kind}")


def divided(w: Writer, operator: type, x: str, y: str) -> Value:
    """x // y or x % y of integers: towards minus infinity, and 0 where y is 0.

    The processor's division fails for 0, and for -2**63 by -1: those are divided by 1. The latter wraps around.
    """
    if operator is ast.FloorDiv and y == "-1":
        return w.value(INT, f"sub i64 0, {x}")
    zero = w.value(BOOL, f"icmp eq i64 {y}, 0")[1]
    opposite = w.value(BOOL, f"icmp eq i64 {y}, -1")[1]
    failing = w.value(BOOL, f"or i1 {zero}, {opposite}")[1]
    by = w.value(INT, f"select i1 {failing}, i64 1, i64 {y}")[1]
    quotient = w.value(INT, f"sdiv i64 {x}, {by}")[1]
    rest = w.value(INT, f"srem i64 {x}, {by}")[1]
    uneven = w.value(BOOL, f"icmp ne i64 {rest}, 0")[1]
    signs = w.value(INT, f"xor i64 {rest}, {by}")[1]
    apart = w.value(BOOL, f"icmp slt i64 {signs}, 0")[1]
    lower = w.value(BOOL, f"and i1 {uneven}, {apart}")[1]
    if operator is ast.FloorDiv:
        less = w.value(INT, f"sub i64 {quotient}, 1")[1]
        found = w.value(INT, f"select i1 {lower}, i64 {less}, i64 {quotient}")[1]
        negative = w.value(INT, f"sub i64 0, {x}")[1]
        found = w.value(INT, f"select i1 {opposite}, i64 {negative}, i64 {found}")[1]
    else:
        more = w.value(INT, f"add i64 {rest}, {by}")[1]
        found = w.value(INT, f"select i1 {lower}, i64 {more}, i64 {rest}")[1]
    return w.value(INT, f"select i1 {zero}, i64 0, i64 {found}")


def compared(w: Writer, operator: ast.cmpop, a: Value, b: Value) -> str:
    """A comparison, as an i1."""
    if isinstance(operator, ast.Is | ast.IsNot):
        if NONE not in (a[0], b[0]):
            raise Untranslatable("`is` of numbers")  # they would be constants of one kind: None is asked for
        return "true" if (a[0] == b[0]) == isinstance(operator, ast.Is) else "false"
    of_floats, of_integers = COMPARISONS[operator.__class__]
    kind, x, y = w.alike(a, b, INT)
    if kind in FLOATS:
        return w.value(BOOL, f"fcmp {of_floats} {TYPES[kind]} {x}, {y}")[1]
    return w.value(BOOL, f"icmp {of_integers} i64 {x}, {y}")[1]


def both(w: Writer, a: str, b: str) -> str:
    return w.value(BOOL, f"select i1 {a}, i1 {b}, i1 false")[1]


def either(w: Writer, a: str, b: str) -> str:
    return w.value(BOOL, f"select i1 {a}, i1 true, i1 {b}")[1]


def extreme(w: Writer, args: list[Value], largest: bool) -> Value:
    """The first of the largest, or of the smallest, of numbers."""
    found = args[0]
    for arg in args[1:]:
        kind, x, y = w.alike(found, arg, INT)
        order = COMPARISONS[ast.Gt if largest else ast.Lt]
        how = f"fcmp {order[0]} {TYPES[kind]}" if kind in FLOATS else f"icmp {order[1]} i64"
        condition = w.value(BOOL, f"{how} {y}, {x}")[1]
        found = w.value(kind, f"select i1 {condition}, {TYPES[kind]} {y}, {TYPES[kind]} {x}")
    return found


def exact(name: str) -> Callable[[Writer, list[Value]], Value]:
    """Arithmetic of integers that leaves the kernel where the result does not fit into 64 bits."""

    def arithmetic(w: Writer, args: list[Value]) -> Value:
        a, b = (w.to(INT, arg)[1] for arg in args)
        w.module.declare(f"{{ i64, i1 }} @llvm.{name}.with.overflow.i64(i64, i64)")
        both = w.value(INT, f"call {{ i64, i1 }} @llvm.{name}.with.overflow.i64(i64 {a}, i64 {b})")[1]
        w.leave_if(w.value(BOOL, f"extractvalue {{ i64, i1 }} {both}, 1")[1])
        return w.value(INT, f"extractvalue {{ i64, i1 }} {both}, 0")

    return arithmetic
