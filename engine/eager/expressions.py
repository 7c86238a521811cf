"""Expressions to closures: one Python function per node, each taking the frame and giving the value.

Scalars go straight through Python's operators; everything else is left to the operators' general forms.
"""

from __future__ import annotations

import math

from ..core import limits
from ..core.errors import ARITHMETIC_FAULTS, failure
from ..core.limits import LIMITS
from ..core.operands import describe, tensor
from ..core.state import STATE
from ..kinds.access import get_item, hashable, iterate
from ..kinds.generators import Generator
from ..kinds.operators import binary, compare, truth
from ..kinds.operators import prefix as apply_prefix
from ..kinds.text import formatted
from ..program import core as c
from ..program.core import UNSET
from ..program.rewrite import rewrite
from .attributes import get_attribute
from .calls import arguments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .compile import Compiler

    Run = Callable[[list[Any]], Any]


def literal(compiler: Compiler, node: c.Literal) -> Run:
    value = node.value
    if value.__class__ is float and not compiler.scalars:
        given, value = value, tensor(value)
        if math.isinf(value.value) and not math.isinf(given):
            # Whoever asks where an infinity comes from finds it where the number is used.
            return lambda f: value if STATE.trace is None else given
    return lambda f: value


def intrinsic(compiler: Compiler, node: c.Intrinsic) -> Run:
    value = compiler.intrinsics[node.name]
    return lambda f: value


def load(compiler: Compiler, node: c.Load) -> Run:
    slot = node.slot
    depth = node.depth
    if depth == 0:

        def run(f: list[Any]) -> Any:
            value = f[slot]
            if value is UNSET:
                raise unassigned(node)
            return value

        return run

    def run_outer(f: list[Any]) -> Any:
        for _ in range(depth):
            f = f[0]
        value = f[slot]
        if value is UNSET:
            raise unassigned(node)
        return value

    return run_outer


def operator(compiler: Compiler, node: c.Operator) -> Run:
    # The left spine of a long chain is walked in a loop here, and in another when it runs, not by recursion.
    spine: list[c.Operator] = []
    left: c.Expr = node
    while left.__class__ is c.Operator:
        found = rewrite(left) if compiler.stable else None
        if found is not None:
            left = found
            break
        spine.append(left)
        left = left.left
    first = compiler.expression(left)
    steps = [
        (compiler.expression(item.right), item.op.scalar if compiler.fast else None, item) for item in reversed(spine)
    ]
    state = STATE

    def run(f: list[Any]) -> Any:
        x = first(f)
        for right, scalar, item in steps:
            y = right(f)
            if x.__class__ is float and y.__class__ is float and scalar is not None:
                try:
                    x = scalar(x, y)
                    continue
                except ARITHMETIC_FAULTS:
                    pass
            state.site = item.site
            x = binary(item.op, x, y)
        return x

    return run


def prefix(compiler: Compiler, node: c.Prefix) -> Run:
    operand = compiler.expression(node.operand)
    op, site, state = node.op, node.site, STATE
    minus = op.symbol == "-"

    def run(f: list[Any]) -> Any:
        x = operand(f)
        if x.__class__ is float and minus:
            return -x
        state.site = site
        return apply_prefix(op, x)

    return run


def comparison(compiler: Compiler, node: c.Comparison) -> Run:
    left, site, state = compiler.expression(node.left), node.site, STATE
    scalars = [None if op is None else op.scalar for op in node.ops]
    links = list(zip(node.ops, node.symbols, scalars, compiler.expressions(node.rights)))

    def run(f: list[Any]) -> Any:
        x = left(f)
        result: Any = True
        for op, symbol, scalar, right in links:
            if result is not True and not truth(result):
                return result
            y = right(f)
            if x.__class__ is float and y.__class__ is float and scalar is not None:
                result = scalar(x, y)
            else:
                state.site = site
                result = compare(op, symbol, x, y)
            x = y
        return result

    return run


def logical(compiler: Compiler, node: c.Logical) -> Run:
    values = compiler.expressions(node.values)
    stop_on = node.symbol == "or"
    site = node.site
    last = values[-1]
    others = values[:-1]

    def run(f: list[Any]) -> Any:
        for value in others:
            x = value(f)
            STATE.site = site
            if truth(x) is stop_on:
                return x
        return last(f)

    return run


def negation(compiler: Compiler, node: c.Not) -> Run:
    operand = compiler.condition(node.operand, node.site)
    return lambda f: not operand(f)


def choose(compiler: Compiler, node: c.Choose) -> Run:
    test = compiler.condition(node.test, node.site)
    then = compiler.expression(node.then)
    otherwise = compiler.expression(node.otherwise)
    return lambda f: then(f) if test(f) else otherwise(f)


def attribute(compiler: Compiler, node: c.Attribute) -> Run:
    value = compiler.expression(node.value)
    name, site = node.name, node.site

    def run(f: list[Any]) -> Any:
        x = value(f)
        STATE.site = site
        return get_attribute(x, name)

    return run


def item(compiler: Compiler, node: c.Item) -> Run:
    value = compiler.expression(node.value)
    index = compiler.expression(node.index)
    site = node.site
    state = STATE

    def run(f: list[Any]) -> Any:
        x = value(f)
        i = index(f)
        state.site = site
        if x.__class__ is list and i.__class__ is int and -len(x) <= i < len(x):
            return x[i]
        return get_item(x, i)

    return run


def slice_of(compiler: Compiler, node: c.SliceOf) -> Run:
    lower, upper, step = [
        (lambda f: None) if part is None else compiler.expression(part) for part in (node.lower, node.upper, node.step)
    ]
    return lambda f: slice(lower(f), upper(f), step(f))


def make_list(compiler: Compiler, node: c.MakeList | c.MakeTuple) -> Run:
    items = compiler.expressions(node.items)
    if any(item.__class__ is c.Spread for item in node.items):
        collect = arguments(compiler, node.items, items, [])
        return lambda f: collect(f)[0]
    return lambda f: [item(f) for item in items]


def make_tuple(compiler: Compiler, node: c.MakeTuple) -> Run:
    items = make_list(compiler, node)
    return lambda f: tuple(items(f))


def make_dict(compiler: Compiler, node: c.MakeDict) -> Run:
    keys = [None if key is None else compiler.expression(key) for key in node.keys]
    values = compiler.expressions(node.values)
    site = node.site

    def run(f: list[Any]) -> dict[Any, Any]:
        result = {}
        for key, value in zip(keys, values):
            k = None if key is None else key(f)
            STATE.site = site
            if key is not None:
                result[hashable(k)] = value(f)
                continue
            x = value(f)
            if x.__class__ is not dict:
                raise failure("E0304", f"'**' needs a dict, and got {describe(x)}", site=site)
            result.update(x)
        return result

    return run


def comprehension(compiler: Compiler, node: c.Comprehension) -> Run:
    element = compiler.expression(node.element)
    key = None if node.key is None else compiler.expression(node.key)
    clauses = [
        (
            compiler.target(clause.target),
            compiler.expression(clause.iterable),
            compiler.expressions(clause.tests),
            clause.site,
        )
        for clause in node.clauses
    ]

    def walk(f: list[Any], level: int, items: Any) -> Iterator[None]:
        put, _, tests, site = clauses[level]
        STATE.site = site
        for item in iterate(items):
            if LIMITS.max_steps is not None:
                STATE.site = site
                limits.step()
            put(f, item)
            if all(truth(test(f)) for test in tests):
                if level + 1 < len(clauses):
                    yield from walk(f, level + 1, clauses[level + 1][1](f))
                else:
                    yield

    def run(f: list[Any]) -> Any:
        steps = walk(f, 0, clauses[0][1](f))
        if node.kind == "generator":
            return Generator("a generator expression", (element(f) for _ in steps))
        if key is None:
            return [element(f) for _ in steps]
        return {hashable(key(f)): element(f) for _ in steps}

    return run


def format_text(compiler: Compiler, node: c.FormatText) -> Run:
    parts: list[Any] = [
        part
        if isinstance(part, str)
        else (compiler.expression(part[0]), part[1], None if part[2] is None else compiler.expression(part[2]))
        for part in node.parts
    ]
    site = node.site

    def run(f: list[Any]) -> str:
        pieces = []
        for part in parts:
            if part.__class__ is str:
                pieces.append(part)
            else:
                value = part[0](f)
                spec = "" if part[2] is None else part[2](f)
                STATE.site = site
                pieces.append(formatted(value, part[1], spec))
        return "".join(pieces)

    return run


def unassigned(node: c.Load) -> Exception:
    return failure(
        "E0408",
        f"'{node.name}' is read before it is assigned",
        "give it a value before what may not assign it, a branch or a loop; "
        f"a value to begin with is bound by --at {node.name}=...",
        node.site,
    )
