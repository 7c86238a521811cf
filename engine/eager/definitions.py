"""Definitions of functions and classes, and `raise`: statements to closures, as in statements.py."""

from __future__ import annotations

from ..core.errors import failure
from ..core.operands import describe
from ..core.state import STATE
from ..program import core as c
from ..program.core import UNSET
from ..program.expressions import FIRST
from .calls import invoke
from .classes import ABSENT, Class
from .exceptions import raise_value
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


def raise_(compiler: Compiler, node: c.Raise) -> Run:
    value = compiler.expression(node.value)
    site = node.site

    def run(f: list[Any]) -> None:
        x = value(f)
        STATE.site = site
        raise raise_value(x)

    return run
