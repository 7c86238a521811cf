"""Definitions of functions and classes, and exceptions: statements to closures, as in statements.py."""

from __future__ import annotations

from ...parser.errors import AdiffError
from ..core.errors import failure
from ..core.operands import describe
from ..core.state import STATE
from ..program import core as c
from ..program.core import UNSET
from ..program.expressions import FIRST
from .calls import invoke
from .classes import ABSENT, Class
from .exceptions import caught, handled, raise_value
from .values import in_library

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .compile import Compiler

    Run = Callable[[list[Any]], Any]


def define(compiler: Compiler, node: c.Define) -> Run:
    function = compiler.expression(node.function)
    decorators = compiler.expressions(node.decorators)
    put = compiler.target(node.target)
    site = node.site

    def run(f: list[Any]) -> None:
        value: Any = function(f)
        for decorator in reversed(decorators):
            decorate = decorator(f)
            STATE.site = site
            value = invoke(decorate, [value], {})
        put(f, value)

    return run


def define_class(compiler: Compiler, node: c.DefineClass) -> Run:
    bases = compiler.expressions(node.bases)
    body = compiler.block(node.body.body)
    decorators = compiler.expressions(node.decorators)
    put = compiler.target(node.target)
    site = node.site

    def run(f: list[Any]) -> None:
        parents = [base(f) for base in bases]
        STATE.site = site
        for parent in parents:
            if parent.__class__ is not Class:
                raise failure("E0304", f"the base of {node.name} is {describe(parent)}, and no class")
        made: Any = Class(node.name, parents, {"_annotated": node.annotated}, library=in_library(site))
        frame: list[Any] = [UNSET] * node.body.size
        frame[0], frame[FIRST] = f, made
        body(frame)
        made.members.update({name: frame[slot] for name, slot in node.members if frame[slot] is not UNSET})
        begin = made.lookup("__init_subclass__", made)
        if begin is not ABSENT:
            invoke(begin, [made], {})
        for decorator in reversed(decorators):
            decorate = decorator(f)
            STATE.site = site
            made = invoke(decorate, [made], {})
        put(f, made)

    return run


def handler_of(
    compiler: Compiler, node: c.Try, compiled: Callable[[list[c.Stmt]], Run]
) -> Callable[[list[Any], AdiffError], Run | None]:
    """A function that gives the handler of an error, whose block is `compiled`; None where there is none."""
    handlers = [
        (
            None if kinds is None else compiler.expression(kinds),
            [compiler.target(target) for target in targets],
            compiled(block),
            site,
        )
        for kinds, targets, block, site in node.handlers
    ]

    def choose(f: list[Any], error: AdiffError) -> Run | None:
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


def try_(compiler: Compiler, node: c.Try) -> Run:
    body = compiler.block(node.body)
    orelse = compiler.block(node.orelse)
    final = compiler.block(node.final) if node.final else None
    choose = handler_of(compiler, node, compiler.block)
    divides = any(handles_division(kinds) for kinds, *_ in node.handlers)

    def attempt(f: list[Any]) -> Any:
        STATE.dividing += divides
        try:
            signal = body(f)
        except AdiffError as error:
            STATE.dividing -= divides
            handler = choose(f, error)
            if handler is None:
                raise
        else:
            STATE.dividing -= divides
            return signal if signal is not None else orelse(f)
        return handler(f)

    if final is None:
        return attempt

    def run(f: list[Any]) -> Any:
        try:
            signal = attempt(f)
        except AdiffError as error:
            ended = final(f) if handled(error) else None
            if ended is None:
                raise
            return ended
        ended = final(f)
        return signal if ended is None else ended

    return run


def raise_(compiler: Compiler, node: c.Raise) -> Run:
    value = compiler.expression(node.value)
    site = node.site

    def run(f: list[Any]) -> None:
        x = value(f)
        STATE.site = site
        raise raise_value(x)

    return run
