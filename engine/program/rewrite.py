"""Rewrites of the core program that keep digits: a formula becomes the same function in a form that does not cancel.

A row says in `replaces` which formulas it stands for: log1p for "log(1 + x)"; so does the comment above a function of
`engine/library/internal.stable.adiff`. In such a formula

    x, a, b      are expressions, which the row's inputs of these names get; one name twice is one expression twice
    m, n         are numbers as they are written, 0 where there is none
    x**2         is also x*x, square(x), and 1
    p[i]         is any element of p: the row's result is indexed in its place

Sums match in either order, and `p - q` as the sum of p and -q. A function's further arguments, such as an axis, go to
the row if it has the same ones. Rewrites hold for every real number at which the formula has a value (complex numbers
keep the formula itself). Both executors apply them when they read an expression; `adiff tape` shows the program as it
is written.
"""

from __future__ import annotations

from ..core.state import NOWHERE
from ..core.tensor import OPERATORS
from ..ops.operation import Operation
from ..ops.registry import NAMES, ROWS
from . import core as c
from .library import OPERATIONS, definitions

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from typing import Any

STABLE = "internal.stable"
# Formulas by their outermost row, the longest first, and the row that replaces each.
FORMULAS: dict[Operation, list[tuple[ast.expr, Operation]]] = {}
# The row of an operator in a formula, by its name in Python's syntax trees.
OPERATOR_ROWS = {
    "Add": OPERATORS.add,
    "Sub": OPERATORS.subtract,
    "Mult": OPERATORS.multiply,
    "Div": OPERATORS.divide,
    "Pow": OPERATORS.power,
}
NUMBERS = ("m", "n")
SYNTAX_TREE = 0x400  # ast.PyCF_ONLY_AST, without the import of ast


def functions() -> list[Operation]:
    """The functions of the library that stand for formulas, as rows that are called by nobody."""
    return [
        Operation(name, signature, "composite", replaces=comment.removeprefix("# "))
        for comment, name, signature in definitions(STABLE)
        if comment
    ]


def read_formulas() -> None:
    rows = [row for row in (*ROWS.values(), *functions()) if row.replaces]
    formulas = [(formula, row) for row in rows for formula in row.replaces.split("; ")]
    for formula, row in sorted(formulas, key=lambda pair: -len(pair[0])):
        tree: Any = compile(formula, row.name, "eval", SYNTAX_TREE).body
        outermost = NAMES[tree.func.id] if hasattr(tree, "func") else OPERATOR_ROWS[tree.op.__class__.__name__]
        FORMULAS.setdefault(outermost, []).append((tree, row))


def rewrite(node: Any) -> c.Expr | None:
    """The stable form of an expression, or None where there is none."""
    if node.__class__ is not c.Apply and node.__class__ is not c.Operator:
        return None
    if not FORMULAS:
        read_formulas()
    for formula, row in FORMULAS.get(node.op, ()):
        found: dict[str, Any] = {}
        if match(formula, node, row, found):
            inputs = [found[p.name] for p in row.parameters if p.kind == "input"]
            site = node.site.of(row)
            if row.name in ROWS:
                made: Any = c.Apply(row, inputs, found.get("keywords", []), site)
            else:
                made = c.Call(c.LibraryName(STABLE, row.name, False), inputs, [], site)
            return c.Item(made, found["i"], node.site) if "i" in found else made
    return None


def match(formula: Any, node: Any, row: Operation, found: dict[str, Any]) -> bool:
    """Whether an expression has the form of a formula; what its names stand for is put into `found`."""
    kind = formula.__class__.__name__
    if kind == "Name":
        return (formula.id not in found and found.setdefault(formula.id, node) is node) or same(found[formula.id], node)
    if kind == "Constant":
        return bool(literal(node) == formula.value)
    if kind == "UnaryOp":
        return match(formula.operand, negative(node), row, found)
    if kind == "Subscript":
        return (
            node.__class__ is c.Item
            and match(formula.value, node.value, row, found)
            and match(formula.slice, node.index, row, found)
        )
    if kind == "Call":
        return match_call(formula, node, row, found)
    op, left, right = OPERATOR_ROWS[formula.op.__class__.__name__], formula.left, formula.right
    if op is OPERATORS.power and right.value == 2:
        root = root_of(node)
        return root is not None and match(left, root, row, found)
    if op is OPERATORS.add and getattr(right, "id", "") in NUMBERS:
        base, offset = split(node)
        found[right.id] = c.Literal(offset)
        return match(left, base, row, found)
    if node.__class__ is not c.Operator:
        return False
    a, b = node.left, node.right
    if op is not OPERATORS.add:
        return node.op is op and match(left, a, row, found) and match(right, b, row, found)
    if node.op is OPERATORS.subtract:
        b = negative(b)
    elif node.op is not op:
        return False
    before = dict(found)
    if match(left, a, row, found) and match(right, b, row, found):
        return True
    found.clear()
    found.update(before)
    return match(left, b, row, found) and match(right, a, row, found)


def match_call(formula: Any, node: Any, row: Operation, found: dict[str, Any]) -> bool:
    inner = formula.args[0]
    if node.__class__ is c.Call and node.function.__class__ is c.LibraryName:
        alone = len(node.args) == 1 and not node.keywords and node.args[0].__class__ is not c.Spread
        place = (node.function.file, node.function.name)
        return alone and place == OPERATIONS.get(formula.func.id) and match(inner, node.args[0], row, found)
    function: Any = NAMES.get(formula.func.id)
    if node.__class__ is c.Call and node.function.__class__ is c.Intrinsic:  # Python's own: sum, abs
        called, single = node.function.name, len(node.args) == 1 and not node.keywords
        if called != formula.func.id or not single or node.args[0].__class__ not in (c.Apply, c.Operator):
            return False
    elif node.__class__ is not c.Apply or node.op is not function or not node.args:
        return False
    further, names = node.args[1:], [p.name for p in function.parameters[1:]]
    if further or node.keywords:
        if not names or names != [p.name for p in row.parameters[1:]] or len(further) > len(names):
            return False
        found["keywords"] = [*zip(names, further), *node.keywords]
    spread = any(x.__class__ is c.Spread for x in node.args) or any(name == "**" for name, _ in node.keywords)
    return not spread and match(inner, node.args[0], row, found)


# --- what expressions are -------------------------------------------------------------------------------------------


def literal(node: Any) -> Any:
    return node.value if node.__class__ is c.Literal and node.value.__class__ in (int, float) else None


def negative(node: c.Expr) -> c.Expr:
    if node.__class__ is c.Prefix and node.op is OPERATORS.negative:
        return node.operand
    return c.Prefix(OPERATORS.negative, node, getattr(node, "site", NOWHERE).of(OPERATORS.negative))


def split(node: Any) -> tuple[Any, Any]:
    """`x + 3`, `3 + x` and `x - 3` as (x, 3) and (x, -3); anything else as (itself, 0)."""
    if node.__class__ is c.Operator and node.op in (OPERATORS.add, OPERATORS.subtract):
        offset = literal(node.right)
        if offset is not None:
            return node.left, offset if node.op is OPERATORS.add else -offset
        offset = literal(node.left)
        if offset is not None and node.op is OPERATORS.add:
            return node.right, offset
    return node, 0


def root_of(node: Any) -> Any:
    """x of `x**2`, `x*x` and `square(x)`, and 1 of 1; None for anything else."""
    if node.__class__ is c.Operator:
        if node.op is OPERATORS.power and literal(node.right) == 2:
            return node.left
        if node.op is OPERATORS.multiply and same(node.left, node.right):
            return node.left
    if node.__class__ is c.Apply and node.op is OPERATORS.square and len(node.args) == 1 and not node.keywords:
        return None if node.args[0].__class__ is c.Spread else node.args[0]
    return node if literal(node) == 1 else None


def same(a: Any, b: Any) -> bool:
    """Whether two expressions are written alike and have no effect, so that one value serves for both."""
    if a.__class__ is not b.__class__:
        return False
    if a.__class__ is list:
        return len(a) == len(b) and all(map(same, a, b))
    if a.__class__ is c.Literal:
        return literal(a) is not None and a.value.__class__ is b.value.__class__ and a.value == b.value
    if a.__class__ in (c.Load, c.Operator, c.Prefix, c.Item) or (a.__class__ is c.Apply and not a.keywords):
        return all(same(getattr(a, name), getattr(b, name)) for name in a.__slots__ if name != "site")
    return bool(a == b) and not isinstance(a, c.Node)
