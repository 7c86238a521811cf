"""Expressions in which symbols need more than the interpreter does: each function compiles a node to one of the frame."""

from __future__ import annotations

from ...core.state import STATE
from ...core.tensor import OPERATORS
from ...eager import calls, expressions
from ...eager.expressions import unassigned
from ...kinds import operators
from ...program import core as c
from ...program.core import PARENT, UNSET
from ..ir import Unsupported
from ..symbols import Sym
from .containers import own_variables
from .loops import sum_of
from .members import get_item
from .values import MOST_UNROLLED, RETURN, VALUE, Conflict, Frame, Maybe, holds_symbol, is_numeric

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .tracer import Tracer

    Run = Callable[[Any], Any]

# How deep a function is followed that calls itself.
MOST_NESTED = 16


def load(t: Tracer, node: c.Load) -> Run:
    depth, slot = node.depth, node.slot

    def run(f: Any) -> Any:
        for _ in range(depth):
            f = f[PARENT]
        value = f[slot]
        if value.__class__ is Maybe:
            t.builder.check(value.assigned)
            value = value.value
        if value is UNSET:
            raise unassigned(node)
        if value.__class__ is Conflict:
            raise Unsupported(f"'{node.name}': {value.reason}", node.site)
        return value

    return run


def item(t: Tracer, node: c.Item) -> Run:
    value, index = t.expression(node.value), t.expression(node.index)

    def run(f: Any) -> Any:
        x = value(f)
        i = index(f)
        STATE.site = node.site
        return get_item(x, i)

    return run


# --- conditions -----------------------------------------------------------------------------------------------------


def compare(op: Any, symbol: str, x: Any, y: Any) -> Any:
    """One comparison of a chain."""
    if op is not None and Sym in (x.__class__, y.__class__):
        if x is None or y is None:
            return symbol == "!="
        if not (is_numeric(x) and is_numeric(y)):
            raise Unsupported("a comparison of a number with something else", STATE.site)
        return op(x, y)
    return operators.compare(op, symbol, x, y)


def comparison(t: Tracer, node: c.Comparison) -> Run:
    left, rights = t.expression(node.left), t.expressions(node.rights)

    def link(f: Any, x: Any, i: int) -> Any:
        """The comparisons from number i on, `x` on the left of the first."""
        y = rights[i](f)
        STATE.site = node.site
        result = compare(node.ops[i], node.symbols[i], x, y)
        if i + 1 == len(rights):
            return result
        holds = t.truth(result)
        return t.choice(holds, lambda: link(f, y, i + 1), lambda: result)

    return lambda f: link(f, left(f), 0)


def logical(t: Tracer, node: c.Logical) -> Run:
    values = t.expressions(node.values)

    def link(f: Any, i: int) -> Any:
        x = values[i](f)
        if i + 1 == len(values):
            return x
        STATE.site = node.site
        holds = t.truth(x)
        ways = (lambda: x), (lambda: link(f, i + 1))
        return t.choice(holds, *(ways if node.symbol == "or" else ways[::-1]))

    return lambda f: link(f, 0)


def negation(t: Tracer, node: c.Not) -> Run:
    operand = t.expression(node.operand)

    def run(f: Any) -> Any:
        x = operand(f)
        STATE.site = node.site
        holds = t.truth(x)
        return OPERATORS.logical_not(holds) if holds.__class__ is Sym else not holds

    return run


def choose(t: Tracer, node: c.Choose) -> Run:
    test, then, otherwise = t.expressions([node.test, node.then, node.otherwise])

    def run(f: Any) -> Any:
        x = test(f)
        STATE.site = node.site
        return t.choice(t.truth(x), lambda: then(f), lambda: otherwise(f))

    return run


# --- lists and functions ----------------------------------------------------------------------------------------------


def comprehension(t: Tracer, node: c.Comprehension) -> Run:
    run, own = expressions.comprehension(t, node), own_variables(node)

    def limited(f: Any) -> Any:
        found = run(f)
        if found.__class__ not in (list, dict):
            found = list(found)
        for slot in own:
            f[slot] = UNSET
        if len(found) > MOST_UNROLLED and holds_symbol(found):
            raise Unsupported(f"a list of more than {MOST_UNROLLED} values that depend on data", STATE.site)
        return found

    return limited


def call(t: Tracer, node: c.Call) -> Run:
    run = calls.call(t, node)
    summed = node.args[0] if len(node.args) == 1 and not node.keywords else None
    if summed.__class__ is not c.Comprehension or summed.kind == "dict" or len(summed.clauses) > 1:
        return run
    function, total = t.expression(node.function), sum_of(t, summed, node.site)
    return lambda f: total(f) if function(f) is t.intrinsics["sum"] else run(f)


def function_body(t: Tracer, code: c.FunctionCode) -> Run:
    block = t.block(code.body)

    def body(cells: list[Any]) -> tuple[Any]:
        """The result for the cells of a frame, in the form of the interpreter's signal."""
        if sum(f.__class__ is Frame and f.code is code for f in t.roots) >= MOST_NESTED:
            raise Unsupported("a recursion that data end, or that is deep", STATE.site)
        frame, depth = Frame(cells, code, (STATE.site.start, STATE.site.end)), len(t.roots)
        t.roots.append(frame)
        try:
            block(frame)
            if frame[RETURN] is not True:
                t.unless_left(frame[RETURN], frame, lambda: frame.__setitem__(VALUE, None))
        finally:
            del t.roots[depth:]
        if frame[VALUE].__class__ is Conflict:
            raise Unsupported(frame[VALUE].reason, STATE.site)
        return (frame[VALUE],)

    return body


def make_class(t: Tracer, node: c.MakeClass) -> Run:
    def run(f: Any) -> Any:
        raise Unsupported("classes", node.body.site)

    return run


EXPRESSIONS: dict[type, Callable[[Any, Any], Run]] = {
    c.Load: load, c.Item: item, c.Comparison: comparison, c.Logical: logical, c.Not: negation, c.Choose: choose,
    c.Comprehension: comprehension, c.Call: call, c.MakeClass: make_class,
}  # fmt: skip
