"""Rewrites of the core program that keep digits: each formula becomes the same function in a form that does not cancel.

    log(sigmoid(x))                 log_sigmoid(x)
    log(cosh(x))                    log_cosh(x)
    1 / (1 + exp(-x))               sigmoid(x)
    log(sum(exp(x)))                logsumexp(x)
    exp(x) / sum(exp(x))            softmax over all axes
    sqrt(sum(x**2))                 scaled as norm is
    log(1 + exp(x))                 softplus(x)
    log(1 + x), log(1 - x)          log1p(x), log1p(-x)
    exp(x) - 1                      expm1(x)
    1 - cos(x)                      2 sin(x/2)**2
    sqrt(a**2 + b**2 [+ c**2])      scaled as hypot is
    sqrt(x)**2                      x, where x >= 0
    norm(x)**2                      sum(x*x)
    sqrt(x + c) - sqrt(x + d)       (c - d) / (sqrt(x + c) + sqrt(x + d)), for numbers c and d
    lgamma(x + 1) - lgamma(x)       log(abs(x))
    sin(x)/x, sinh(x)/x, expm1(x)/x, log1p(x)/x, (1 - cos(x))/x**2     with their limits at 0

They hold for every real x at which the formula has a value (complex numbers keep the formula itself). The executors
apply them when they compile an expression; `adiff tape` shows the program as it is written.
"""

from __future__ import annotations

from ..core.state import Site
from ..core.tensor import OPERATORS
from ..ops.registry import NAMES
from . import core as c

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Functions whose argument decides: the outer row, the inner row, what stands for both.
COMPOSITIONS = {("log", "sigmoid"): "log_of_sigmoid", ("log", "cosh"): "log_of_cosh"}
QUOTIENTS = {"sin": "sin_quotient", "sinh": "sinh_quotient", "expm1": "expm1_quotient", "log1p": "log1p_quotient"}


def rewrite(node: Any) -> c.Expr | None:
    """The stable form of an expression, or None where there is none."""
    if node.__class__ is c.Apply:
        return rewrite_call(node)
    if node.__class__ is c.Operator:
        return rewrite_operator(node)
    return None


def rewrite_call(node: c.Apply) -> c.Expr | None:
    name = node.op.name
    if name not in ("log", "sqrt") or len(node.args) != 1 or node.keywords:
        return None
    inner = node.args[0]
    if name == "sqrt":
        parts = squares(inner)
        if parts is not None and 2 <= len(parts) <= 3:
            return apply("root_of_squares" if len(parts) == 2 else "root_of_three_squares", parts, node.site)
        total = sum_of(inner)
        root = None if total is None or is_one(total) else root_of(total)
        return None if root is None else apply("root_of_sum_of_squares", [root], node.site)
    found = call_of(sum_of(inner))
    if found is not None and found[0] == "exp":
        return apply("log_of_sum_of_exp", [found[1]], node.site)
    found = call_of(inner)
    if found is not None and (name, found[0]) in COMPOSITIONS:
        return apply(COMPOSITIONS[name, found[0]], [found[1]], node.site)
    if inner.__class__ is c.Operator and inner.symbol in "+-":
        left, right = inner.left, inner.right
        if inner.symbol == "+" and is_one(right):
            left, right = right, left
        if is_one(left):
            if inner.symbol == "-":
                return apply("log1p", [negative(right, inner.site)], node.site)
            found = call_of(right)
            if found is not None and found[0] == "exp":
                return apply("log_of_one_plus_exp", [found[1]], node.site)
            return apply("log1p", [right], node.site)
    return None


def rewrite_operator(node: c.Operator) -> c.Expr | None:
    left, right = node.left, node.right
    if node.symbol == "-":
        a, b = call_of(left), call_of(right)
        if a is not None and a[0] == "exp" and is_one(right):
            return apply("expm1", [a[1]], node.site)
        if b is not None and b[0] == "cos" and is_one(left):
            return apply("one_minus_cos", [b[1]], node.site)
        if a is not None and b is not None and a[0] == b[0]:
            if a[0] == "sqrt":
                return difference_of_roots(node, a[1], b[1])
            if a[0] == "lgamma" and difference(a[1], b[1]) == 1:
                return apply("log", [apply("abs", [b[1]], node.site)], node.site)
    elif node.symbol == "**":
        a = call_of(left)
        if a is not None and a[0] in ("sqrt", "norm") and literal(right) == 2:
            return apply("square_of_root" if a[0] == "sqrt" else "square_of_norm", [a[1]], node.site)
    elif node.symbol == "/":
        top = call_of(left)
        if left.__class__ is c.Apply or (left.__class__ is c.Operator and left.symbol == "-"):
            stable = rewrite(left)  # (exp(x) - 1)/x is expm1(x)/x
            top = top if stable is None else call_of(stable)
        if is_one(left) and right.__class__ is c.Operator and right.symbol == "+":
            found = call_of(right.right if is_one(right.left) else right.left)
            if found is not None and found[0] == "exp" and (is_one(right.left) or is_one(right.right)):
                return apply("sigmoid", [negative(found[1], node.site)], node.site)
        if top is None:
            return None
        if top[0] == "exp" and same(sum_of(right), left):
            return apply("normalised_exp", [top[1]], node.site)
        if top[0] in QUOTIENTS and same(top[1], right):
            return apply(QUOTIENTS[top[0]], [right], node.site)
        if top[0] == "one_minus_cos":
            roots = squares(right)
            if roots is not None and len(roots) == 1 and same(top[1], roots[0]):
                return apply("cos_quotient", [roots[0]], node.site)
    return None


# --- what expressions are -------------------------------------------------------------------------------------------


def apply(name: str, args: list[c.Expr], site: Site) -> c.Apply:
    return c.Apply(NAMES[name], args, [], site_of(name, site))


def site_of(name: str, site: Site) -> Site:
    """The place of the formula, for the row that stands in it."""
    return Site(NAMES[name], site.source, site.start, site.end)


def call_of(node: Any) -> tuple[str, c.Expr] | None:
    """(name, argument) of a call of a row with one argument."""
    if (
        node.__class__ is c.Apply
        and len(node.args) == 1
        and not node.keywords
        and node.args[0].__class__ is not c.Spread
    ):
        return node.op.name, node.args[0]
    return None


def literal(node: Any) -> Any:
    return node.value if node.__class__ is c.Literal and node.value.__class__ in (int, float) else None


def is_one(node: Any) -> bool:
    return bool(literal(node) == 1)


def sum_of(node: Any) -> Any:
    """What is summed by `sum(x)`, `np.sum(x)` or `x.sum()` over all axes; None for anything else."""
    if node.__class__ is c.Call and node.function.__class__ is c.Intrinsic and node.function.name == "sum":
        single = len(node.args) == 1 and not node.keywords and node.args[0].__class__ in (c.Apply, c.Operator)
        return node.args[0] if single else None
    found = call_of(node)
    return found[1] if found is not None and found[0] == "sum" else None


def negative(node: c.Expr, site: Site) -> c.Expr:
    if node.__class__ is c.Prefix and node.symbol == "-":
        return node.operand
    return c.Prefix("-", OPERATORS.negative, node, site_of("negative", site))


def split(node: Any) -> tuple[Any, Any]:
    """`x + 3`, `3 + x` and `x - 3` as (x, 3) and (x, -3); anything else as (itself, 0)."""
    if node.__class__ is c.Operator and node.symbol in "+-":
        offset = literal(node.right)
        if offset is not None:
            return node.left, offset if node.symbol == "+" else -offset
        offset = literal(node.left)
        if offset is not None and node.symbol == "+":
            return node.right, offset
    return node, 0


def difference(a: Any, b: Any) -> Any:
    """a - b where both are written as one expression plus a number; None elsewhere."""
    (first, c1), (second, c2) = split(a), split(b)
    return c1 - c2 if same(first, second) else None


def difference_of_roots(node: c.Operator, a: c.Expr, b: c.Expr) -> c.Expr | None:
    gap = difference(a, b)
    if not gap:
        return None
    total = c.Operator("+", OPERATORS.add, node.left, node.right, site_of("add", node.site))
    return c.Operator("/", OPERATORS.divide, c.Literal(float(gap)), total, site_of("divide", node.site))


def squares(node: Any) -> list[c.Expr] | None:
    """The roots of a sum of squares that is written as one: a**2 + b*b + square(c)."""
    roots: list[c.Expr] = []
    while node.__class__ is c.Operator and node.symbol == "+":
        root = root_of(node.right)
        if root is None or len(roots) == 3:
            return None
        roots.append(root)
        node = node.left
    root = root_of(node)
    return None if root is None else [root, *roots[::-1]]


def root_of(node: Any) -> c.Expr | None:
    if node.__class__ is c.Operator:
        if node.symbol == "**" and literal(node.right) == 2:
            return node.left
        if node.symbol == "*" and same(node.left, node.right):
            return node.left
    found = call_of(node)
    if found is not None and found[0] == "square":
        return found[1]
    return node if is_one(node) else None


def same(a: Any, b: Any) -> bool:
    """Whether two expressions are written alike and have no effect, so that one value serves for both."""
    if a.__class__ is not b.__class__:
        return False
    if a.__class__ is c.Load:
        return bool(a.depth == b.depth and a.slot == b.slot)
    if a.__class__ is c.Literal:
        return a.value.__class__ in (int, float) and a.value.__class__ is b.value.__class__ and a.value == b.value
    if a.__class__ is c.Operator:
        return a.symbol == b.symbol and same(a.left, b.left) and same(a.right, b.right)
    if a.__class__ is c.Prefix:
        return a.symbol == b.symbol and same(a.operand, b.operand)
    if a.__class__ is c.Item:
        return same(a.value, b.value) and same(a.index, b.index)
    if a.__class__ is c.Apply:
        return (
            a.op is b.op
            and not a.keywords
            and not b.keywords
            and len(a.args) == len(b.args)
            and all(same(x, y) for x, y in zip(a.args, b.args))
        )
    return False
