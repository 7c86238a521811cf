"""Expressions of emitted source in LLVM's intermediate representation: each computed where, and if, it is asked for."""

from __future__ import annotations

import ast
import math

from ..ir import BOOL, FLOAT, INT, WIDTHS
from .llvm_calls import called_with, range_length, range_parts
from .llvm_operators import INTEGERS, both, compared, constant, either, operation
from .llvm_writer import FLOATS, RUN, STORED, TYPES, Untranslatable, Value, float_text, joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .llvm_writer import Writer

CONSTANTS = {"math.inf": math.inf, "math.nan": math.nan, "math.pi": math.pi, "math.e": math.e}
# What may be computed whether or not it is asked for: nothing that fails, reads memory or takes long.
CHEAP = (
    ast.Name, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Attribute, ast.IfExp, ast.expr_context,
    ast.cmpop, ast.boolop, ast.unaryop, ast.operator,
)  # fmt: skip
CHEAP_OPERATORS = (ast.Add, ast.Sub, ast.Mult)


def expression(w: Writer, node: ast.expr) -> Value:
    """The value of an expression."""
    found = EXPRESSIONS.get(node.__class__)
    if found is None:
        raise Untranslatable(ast.dump(node))
    return found(w, node)


def name(w: Writer, node: Any) -> Value:
    if node.id in w.kinds:
        return w.read(node.id)
    return w.module.constant(node.id)


def dotted(node: ast.expr) -> str:
    """The name of a function or a constant of a module."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    raise Untranslatable(ast.dump(node))


def attribute(w: Writer, node: Any) -> Value:
    called = dotted(node)
    if called not in CONSTANTS:
        raise Untranslatable(f"the constant {called}")
    return FLOAT, float_text(CONSTANTS[called])


# --- operators ------------------------------------------------------------------------------------------------------


def binary(w: Writer, node: Any) -> Value:
    a = expression(w, node.left)
    return operation(w, node.op.__class__, a, expression(w, node.right), freedom=adding_up(w, node.op, node.left))


def adding_up(w: Writer, operator: ast.operator, sum_so_far: ast.expr) -> str:
    """What LLVM may do where a number is added to a sum: of what is added, each lane of a vector has a part to itself."""
    unordered = isinstance(operator, ast.Add) and isinstance(sum_so_far, ast.Name) and sum_so_far.id in w.unordered
    return " reassoc" if unordered else ""


def unary(w: Writer, node: Any) -> Value:
    if isinstance(node.op, ast.Not):
        text = w.truth(expression(w, node.operand))
        if text in ("true", "false"):
            return BOOL, "false" if text == "true" else "true"
        return w.value(BOOL, f"xor i1 {text}, true")
    if not isinstance(node.op, ast.USub):
        raise Untranslatable(ast.dump(node))
    kind, text = expression(w, node.operand)
    if kind in FLOATS:
        if text.startswith("0x"):
            sign = format(int(text, 16) ^ 1 << 63, "016X")
            return kind, "0x" + sign
        return w.value(kind, f"fneg {TYPES[kind]} {text}")
    if text.isdigit():
        return INT, "-" + text
    return w.value(INT, f"sub i64 0, {w.to(INT, (kind, text))[1]}")


def comparison(w: Writer, node: Any) -> Value:
    if len(node.ops) > 1:
        if all(map(cheap, node.comparators)):
            return BOOL, chained(w, node)
        return by_branches(w, node)
    left = expression(w, node.left)
    right = expression(w, node.comparators[0])
    return BOOL, compared(w, node.ops[0], left, right)


def chained(w: Writer, node: Any) -> str:
    """a < b < c with all of it computed."""
    left = expression(w, node.left)
    found = ""
    for operator, comparator in zip(node.ops, node.comparators):
        right = expression(w, comparator)
        holds = compared(w, operator, left, right)
        found = holds if not found else both(w, found, holds)
        left = right
    return found


def connective(w: Writer, node: Any) -> Value:
    """`and` and `or` of truth values."""
    if not all(map(cheap, node.values[1:])):
        return by_branches(w, node)
    join = both if isinstance(node.op, ast.And) else either
    found = truth_value(w, node.values[0])
    for part in node.values[1:]:
        found = join(w, found, truth_value(w, part))
    return BOOL, found


def truth_value(w: Writer, node: ast.expr) -> str:
    """A value that is asked whether it is true, and must be a truth value: `and` would give the number otherwise."""
    kind, text = expression(w, node)
    if kind != BOOL:
        raise Untranslatable("`and` or `or` of numbers")
    return text


def by_branches(w: Writer, node: ast.expr) -> Value:
    """A truth value whose parts are computed only when they are asked for."""
    place = w.place(BOOL)
    yes, no, end = w.fresh("yes"), w.fresh("no"), w.fresh("end")
    branch(w, node, yes, no)
    for label, text in ((yes, "true"), (no, "false")):
        w.start(label)
        w.line(f"store i1 {text}, ptr {place}")
        w.go(end)
    w.start(end)
    return w.value(BOOL, f"load i1, ptr {place}")


def branch(w: Writer, node: Any, yes: str, no: str, note: str = "") -> None:
    """Go to one label or another by a condition, computed as far as it takes."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        if not note:
            branch(w, node.operand, no, yes)
            return
    elif isinstance(node, ast.BoolOp) and not cheap(node):
        for part in node.values[:-1]:
            on = w.fresh("on")
            if isinstance(node.op, ast.And):
                branch(w, part, on, no)
            else:
                branch(w, part, yes, on)
            w.start(on)
        branch(w, node.values[-1], yes, no)
        return
    elif isinstance(node, ast.Compare) and len(node.ops) > 1 and not all(map(cheap, node.comparators)):
        left = expression(w, node.left)
        for operator, comparator in zip(node.ops[:-1], node.comparators[:-1]):
            right = expression(w, comparator)
            on = w.fresh("on")
            w.choose(compared(w, operator, left, right), on, no)
            w.start(on)
            left = right
        right = expression(w, node.comparators[-1])
        w.choose(compared(w, node.ops[-1], left, right), yes, no)
        return
    w.choose(w.truth(expression(w, node)), yes, no, note)


def cheap(node: ast.AST) -> bool:
    """Whether an expression may be computed where nobody asks for it."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, CHEAP_OPERATORS) and cheap(node.left) and cheap(node.right)
    if isinstance(node, ast.Call):
        quick = isinstance(node.func, ast.Name) and node.func.id in ("abs", "float", "min", "max")
        return quick and all(map(cheap, node.args))
    return isinstance(node, CHEAP) and all(map(cheap, ast.iter_child_nodes(node)))


def choice(w: Writer, node: Any) -> Value:
    """One value or another; only that which is asked for is computed, where it matters."""
    settled = known_condition(w, node.test)
    if settled is not None:
        return expression(w, node.body if settled else node.orelse)
    if cheap(node.body) and cheap(node.orelse):
        condition = w.truth(expression(w, node.test))
        a = expression(w, node.body)
        kind, x, y = w.alike(a, expression(w, node.orelse))
        return w.value(kind, f"select i1 {condition}, {TYPES[kind]} {x}, {TYPES[kind]} {y}")
    yes, no, end = w.fresh("yes"), w.fresh("no"), w.fresh("end")
    branch(w, node.test, yes, no)
    w.start(yes)
    first = expression(w, node.body)
    first_from, mark = w.label, len(w.lines)
    w.go(end)
    w.start(no)
    second = expression(w, node.orelse)
    # The kind of both is known now: the first is converted where it was computed.
    kind = joined(first[0], second[0])
    later = w.lines[mark:]
    del w.lines[mark:]
    _, x = w.to(kind, first)
    w.lines += later
    _, y = w.to(kind, second)
    second_from = w.label
    w.start(end)
    return w.value(kind, f"phi {TYPES[kind]} [ {x}, %{first_from} ], [ {y}, %{second_from} ]")


def known_condition(w: Writer, node: ast.expr) -> bool | None:
    """What a condition is whatever the inputs are: whether a parameter is None."""
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot):
        return comparison(w, node)[1] == "true"
    if isinstance(node, ast.Constant):
        return bool(node.value)
    return None


# --- memory ---------------------------------------------------------------------------------------------------------


def element(w: Writer, node: Any) -> tuple[str, str, str]:
    """An element of memory: its kind, where it is, and what is said of it to LLVM."""
    kind, base = name(w, node.value)
    if not kind.isupper():
        raise Untranslatable("an element of a number")
    kind = kind.lower()
    index = w.to(INT, index_value(w, node.slice))[1]
    where = w.value(kind, f"getelementptr inbounds {STORED[kind]}, ptr {base}, i64 {index}")[1]
    return kind, where, w.module.tag(node.value.id)


def index_value(w: Writer, node: Any) -> Value:
    """An index: it is inside an array, and so was all that it was computed from."""
    if isinstance(node, ast.BinOp) and node.op.__class__ in INTEGERS:
        a = index_value(w, node.left)
        return operation(w, node.op.__class__, a, index_value(w, node.right), " nsw")
    return expression(w, node)


def load(w: Writer, kind: str, where: str, note: str) -> Value:
    if kind == BOOL:
        stored = w.value(BOOL, f"load i8, ptr {where}{note}")[1]
        return w.value(BOOL, f"icmp ne i8 {stored}, 0")
    return w.value(kind, f"load {STORED[kind]}, ptr {where}, align {WIDTHS[kind]}{note}")


def store(w: Writer, kind: str, where: str, note: str, value: Value) -> None:
    text = w.to(kind, value)[1]
    if kind == BOOL:
        text = w.value(BOOL, f"zext i1 {text} to i8")[1]
        w.line(f"store i8 {text}, ptr {where}{note}")
    else:
        w.line(f"store {STORED[kind]} {text}, ptr {where}, align {WIDTHS[kind]}{note}")


def subscript(w: Writer, node: Any) -> Value:
    return load(w, *element(w, node))


def call(w: Writer, node: Any) -> Value:
    called = dotted(node.func)
    if called == "len":
        return range_length(w, [expression(w, arg) for arg in node.args[0].args])
    return called_with(w, called, [expression(w, arg) for arg in node.args])


EXPRESSIONS: dict[type, Callable[[Writer, Any], Value]] = {
    ast.Constant: constant,
    ast.Name: name,
    ast.Attribute: attribute,
    ast.BinOp: binary,
    ast.UnaryOp: unary,
    ast.Compare: comparison,
    ast.BoolOp: connective,
    ast.IfExp: choice,
    ast.Subscript: subscript,
    ast.Call: call,
}
__all__ = ["RUN", "branch", "element", "expression", "load", "operation", "range_length", "range_parts", "store"]
