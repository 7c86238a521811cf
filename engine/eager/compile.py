"""Core program to closures: the table of what compiles each node."""

from __future__ import annotations

from ..core.state import STATE, Site
from ..kinds.access import get_item
from ..kinds.operators import truth
from ..program import core as c
from ..program.core import UNSET
from . import calls, expressions, generators, libraries, statements
from .targets import assigner, writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Run = Callable[[list[Any]], Any]
    Assigner = Callable[[list[Any], Any], None]


class Compiler:
    """Compiles one program.

    `scalars` allows Python floats; with float32 as default every literal is a tensor. `stable` allows the rewrites of
    program/rewrite.py.
    """

    get_item = staticmethod(get_item)

    def __init__(
        self, intrinsics: dict[str, Any], scalars: bool = True, fast: bool = True, stable: bool = True
    ) -> None:
        self.intrinsics = intrinsics
        self.scalars = scalars
        self.fast = fast
        self.stable = stable
        # The frames of the files of the library that the program has used.
        self.libraries: dict[str, list[Any]] = {}

    def program(self, core: c.CoreProgram) -> Compiler:
        """This compiler with a program: `body` runs it in a frame."""
        self.core = core
        self.body = self.block(core.body)
        return self

    def frame(self, values: Mapping[str, Any], core: c.CoreProgram | None = None) -> list[Any]:
        """The variables of a program as it starts, with its inputs by name."""
        if core is None:
            core = self.core
            for file in libraries.OF_ONE_RUN:
                self.libraries.pop(file, None)
            STATE.library = lambda file, name: libraries.member(self, file, name)
        frame: list[Any] = [UNSET] * len(core.slot_names)
        frame[c.PARENT] = None
        for name, (slot, meaning) in core.optional.items():
            frame[slot] = values[name] if name in values else self.expression(meaning)(frame)
        for name, slot in core.inputs.items():
            frame[slot] = values[name]
        return frame

    def expression(self, node: c.Expr) -> Run:
        return EXPRESSIONS[node.__class__](self, node)

    def expressions(self, nodes: list[c.Expr]) -> list[Run]:
        return [self.expression(node) for node in nodes]

    def condition(self, node: c.Expr, site: Site) -> Callable[[list[Any]], bool]:
        """Whether an expression is true; an error is at the site."""
        value = self.expression(node)

        def run(f: list[Any]) -> bool:
            x = value(f)
            if x.__class__ is not bool:
                STATE.site = site
                x = truth(x)
            return x

        return run

    def target(self, node: c.Target) -> Assigner:
        return assigner(self, node)

    def writer(self, node: c.StoreItem) -> Callable[[list[Any], Any, Any, Any], Any]:
        return writer(self, node)

    def statement(self, node: c.Stmt) -> Run:
        return STATEMENTS[node.__class__](self, node)

    def function(self, code: c.FunctionCode) -> Run:
        return generators.body_of(self, code) if code.generates else self.block(code.body)

    def block(self, nodes: list[c.Stmt]) -> Run:
        compiled = [self.statement(node) for node in nodes]
        return compiled[0] if len(compiled) == 1 else statements.one_by_one(compiled)


EXPRESSIONS: dict[type, Callable[[Compiler, Any], Run]] = {
    c.Literal: expressions.literal,
    c.Intrinsic: expressions.intrinsic,
    c.LibraryName: libraries.library_name,
    c.Load: expressions.load,
    c.Operator: expressions.operator,
    c.Prefix: expressions.prefix,
    c.Comparison: expressions.comparison,
    c.Logical: expressions.logical,
    c.Not: expressions.negation,
    c.Choose: expressions.choose,
    c.Apply: calls.apply,
    c.Spread: lambda compiler, node: compiler.expression(node.value),
    c.Call: calls.call,
    c.Method: calls.method,
    c.Watch: statements.watch,
    c.Attribute: expressions.attribute,
    c.Item: expressions.item,
    c.SliceOf: expressions.slice_of,
    c.MakeList: expressions.make_list,
    c.MakeTuple: expressions.make_tuple,
    c.MakeDict: expressions.make_dict,
    c.Comprehension: expressions.comprehension,
    c.FormatText: expressions.format_text,
    c.MakeFunction: calls.make_function,
    c.MakeClass: statements.make_class,
}

STATEMENTS: dict[type, Callable[[Compiler, Any], Run]] = {
    c.Evaluate: statements.evaluate,
    c.Assign: statements.assign,
    c.Augment: statements.augment,
    c.If: statements.if_,
    c.For: generators.whole,
    c.While: generators.whole,
    c.Break: statements.break_,
    c.Continue: statements.continue_,
    c.Return: statements.return_,
    c.Try: generators.whole,
    c.Raise: statements.raise_,
    c.With: generators.whole,
    c.Assert: statements.assert_,
    c.Delete: statements.delete,
}
