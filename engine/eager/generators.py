"""Generators: functions with `yield`, whose statements run as far as the next item is asked for.

A block that holds a `yield` is compiled to a Python generator, which yields what it yields and returns the signal of
statements.py; every other statement stays as it is. A `try` is compiled in this way even without.
"""

from __future__ import annotations

from ...parser.errors import AdiffError
from ..core import limits
from ..core.errors import failure
from ..core.limits import LIMITS
from ..core.operands import describe
from ..core.state import STATE
from ..kinds.access import iterate
from ..kinds.exceptions import caught, handled
from ..kinds.functions import in_library
from ..kinds.generators import Generator
from ..program import core as c
from .statements import BREAK, CONTINUE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Generator as PythonGenerator
    from typing import Any

    from .compile import Compiler

    Running = PythonGenerator[Any, None, Any]
    Steps = Callable[[list[Any]], Running]


def body_of(compiler: Compiler, code: c.FunctionCode) -> Callable[[list[Any]], Generator]:
    """The body of a function with `yield`: it takes the frame, and gives a generator."""
    run = steps(compiler, code.body)
    library = in_library(code.site)
    return lambda f: Generator(code.name, run(f), library)


def holds_yield(x: Any) -> bool:
    """Whether there is a `yield` in statements, apart from the functions that they define."""
    if x.__class__ in (list, tuple):
        return any(map(holds_yield, x))
    return x.__class__ is c.Yield or (
        isinstance(x, c.If | c.For | c.While | c.With | c.Try)
        and any(holds_yield(getattr(x, name, ())) for name in ("body", "handlers", "orelse", "final"))
    )


def steps(compiler: Compiler, nodes: list[c.Stmt]) -> Steps:
    """Statements one after the other."""
    parts: list[tuple[bool, Any]] = [] if holds_yield(nodes) else [(False, compiler.block(nodes))]
    for node in [] if parts else nodes:
        own = holds_yield(node)
        parts.append((own, STATEMENTS[node.__class__](compiler, node) if own else compiler.statement(node)))

    def run(f: list[Any]) -> Running:
        for own, part in parts:
            signal = (yield from part(f)) if own else part(f)
            if signal is not None:
                return signal

    return run


def whole(compiler: Compiler, node: c.For | c.While | c.With | c.Try) -> Callable[[list[Any]], Any]:
    """A statement without a `yield`: what yields nothing ends at once."""
    statement = STATEMENTS[node.__class__](compiler, node)

    def run(f: list[Any]) -> Any:
        try:
            next(statement(f))
        except StopIteration as end:
            return end.value

    return run


def yield_(compiler: Compiler, node: c.Yield) -> Steps:
    value = compiler.expression(node.value)

    def run(f: list[Any]) -> Running:
        x = value(f)
        STATE.site = node.site
        yield from iterate(x) if node.each else (x,)

    return run


def if_(compiler: Compiler, node: c.If) -> Steps:
    test = compiler.condition(node.test, node.site)
    body, orelse = steps(compiler, node.body), steps(compiler, node.orelse)

    def run(f: list[Any]) -> Running:
        return (yield from (body if test(f) else orelse)(f))

    return run


def loop(compiler: Compiler, node: Any) -> Steps:
    site, own = node.site, holds_yield(node.body)
    body: Any = steps(compiler, node.body) if own else compiler.block(node.body)
    orelse = steps(compiler, node.orelse)
    put = None
    if node.__class__ is c.While:
        test = compiler.condition(node.test, site)
    else:
        iterable, put = compiler.expression(node.iterable), compiler.target(node.target)

    def run(f: list[Any]) -> Running:
        items = None if put is None else iterable(f)
        STATE.site = site
        counted = LIMITS.max_steps is not None
        for item in iter(lambda: test(f), False) if put is None else iterate(items):
            if counted:
                STATE.site = site
                limits.step()
            if put is not None:
                put(f, item)
            signal = (yield from body(f)) if own else body(f)
            if signal is not None:
                if signal is BREAK:
                    return None
                if signal is not CONTINUE:
                    return signal
        return (yield from orelse(f))

    return run


def with_(compiler: Compiler, node: c.With) -> Steps:
    (expression, target, site), *others = node.items
    given = compiler.expression(expression)
    put = None if target is None else compiler.target(target)
    body = steps(compiler, [c.With(others, node.body, node.site)] if others else node.body)

    def run(f: list[Any]) -> Running:
        value = given(f)
        STATE.site = site
        if not hasattr(value, "__enter__"):
            raise failure("E0304", f"'with' cannot enter {describe(value)}", "write: with GradientTape() as t:")
        with value as bound:
            if put is not None:
                put(f, bound)
            return (yield from body(f))

    return run


def try_(compiler: Compiler, node: c.Try) -> Steps:
    body, orelse, final = (steps(compiler, block) for block in (node.body, node.orelse, node.final))
    choose = handler_of(compiler, node)
    divides = not holds_yield(node.body) and any(handles_division(kinds) for kinds, *_ in node.handlers)

    def attempt(f: list[Any]) -> Running:
        STATE.dividing += divides
        try:
            signal = yield from body(f)
        except AdiffError as error:
            STATE.dividing -= divides
            handler = choose(f, error)
            if handler is None:
                raise
        else:
            STATE.dividing -= divides
            return signal if signal is not None else (yield from orelse(f))
        return (yield from handler(f))

    def run(f: list[Any]) -> Running:
        try:
            signal = yield from attempt(f)
        except AdiffError as error:
            ended = (yield from final(f)) if handled(error) else None
            if ended is None:
                raise
            return ended
        except GeneratorExit:  # whoever asked for the items breaks off
            next(final(f), None)
            raise
        ended = yield from final(f)
        return signal if ended is None else ended

    return run


def handler_of(compiler: Compiler, node: c.Try) -> Callable[[list[Any], AdiffError], Steps | None]:
    """A function that gives the handler of an error; None where there is none."""
    handlers = [
        (
            None if kinds is None else compiler.expression(kinds),
            [compiler.target(target) for target in targets],
            steps(compiler, block),
            site,
        )
        for kinds, targets, block, site in node.handlers
    ]

    def choose(f: list[Any], error: AdiffError) -> Steps | None:
        if not handled(error):
            return None
        for kinds, puts, block, site in handlers:
            wanted = None if kinds is None else kinds(f)
            STATE.site = site
            exception = caught(error, wanted)
            if exception is not None:
                for put in puts:
                    put(f, exception)
                return block
        return None

    return choose


def handles_division(kinds: c.Expr | None) -> bool:
    """Whether the types of a handler name Python's error of a division by zero."""
    items = kinds.items if kinds.__class__ is c.MakeTuple else [kinds]
    return any(getattr(x, "name", None) in ("ZeroDivisionError", "ArithmeticError") for x in items)


STATEMENTS: dict[type, Callable[[Compiler, Any], Steps]] = {
    c.Yield: yield_, c.If: if_, c.For: loop, c.While: loop, c.With: with_, c.Try: try_,
}  # fmt: skip
