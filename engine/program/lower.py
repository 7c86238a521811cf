"""Lowering: from the syntax tree to the core program.

Scopes follow Python: a name that is assigned in a function is the function's own, any other is looked for outwards;
a name that is read and never assigned anywhere around it is an input of the program, unless the vocabulary knows it.
"""

from __future__ import annotations

from ...parser import syntax as s
from ...parser.source import Source
from ..ops.registry import NAMES
from . import core as c
from . import vocabulary
from .expressions import ROWS_OF_OPERATORS, Expressions
from .scopes import Scope, assigned_names, collect_declarations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def lower(source: Source, module: s.Module) -> c.CoreProgram:
    """The core program of a syntax tree. Raises AdiffError E02xx for names that mean nothing."""
    return Lowering(source).program(module)


def ends_with_value(statements: list[s.Statement]) -> bool:
    """Whether a program ends, on some path, with an expression, an assignment or a return."""
    if not statements:
        return False
    last = statements[-1]
    if last.__class__ in (s.ExprStmt, s.Assign, s.AnnAssign, s.AugAssign, s.Return):
        return True
    if last.__class__ is s.If:
        return ends_with_value(last.body) or ends_with_value(last.orelse)
    if last.__class__ in (s.For, s.While, s.With):
        return ends_with_value(last.body)
    return False


class Lowering(Expressions):
    """One program on its way to the core program."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        # How many loops of the present function are around the statement being lowered.
        self.loops = 0

    def program(self, module: s.Module) -> c.CoreProgram:
        for name in assigned_names(module.body):
            self.module.declare(name)
        body = self.block(module.body)
        return c.CoreProgram(
            self.source,
            body,
            self.inputs,
            self.optional,
            len(self.module.slot_names),
            ends_with_value(module.body),
            self.module.slot_names,
            self.places,
        )

    def function(
        self,
        name: str,
        parameters: list[s.Parameter],
        statements: list[s.Statement] | None,
        expression: s.Expression | None,
        node: s.Node,
    ) -> c.FunctionCode:
        defaults: list[c.Expr | None] = []
        seen: set[str] = set()
        for parameter in parameters:
            if parameter.name in seen:
                raise self.error("E0207", f"the parameter '{parameter.name}' appears twice", parameter)
            seen.add(parameter.name)
            if parameter.default is None and defaults and defaults[-1] is not None:
                raise self.error(
                    "E0207", f"the parameter '{parameter.name}' without a default follows one with a default", parameter
                )
            defaults.append(None if parameter.default is None else self.expression(parameter.default, "argument"))
        scope = Scope(self.scope, [p.name for p in parameters])
        # Variables of comprehensions around a lambda live in the frame outside it.
        outer_shadows, self.shadows = self.shadows, []
        hidden = {k: v for shadow in outer_shadows for k, v in shadow.items()}
        saved = {k: self.scope.slots.get(k) for k in hidden}
        self.scope.slots.update(hidden)
        outer, self.scope = self.scope, scope
        loops, self.loops = self.loops, 0
        try:
            if statements is not None:
                collect_declarations(statements, scope)
                for local in assigned_names(statements):
                    if local not in scope.globals and local not in scope.nonlocals:
                        scope.declare(local)
                    elif local in scope.globals:
                        self.module.declare(local)
                body = self.block(statements)
            else:
                assert expression is not None
                body = [c.Return(self.expression(expression, "argument"), False)]
        finally:
            self.scope = outer
            self.loops = loops
            self.shadows = outer_shadows
            for k, v in saved.items():
                if v is None:
                    del self.scope.slots[k]
                else:
                    self.scope.slots[k] = v
        return c.FunctionCode(
            name, [p.name for p in parameters], defaults, len(scope.slot_names), body, self.site(node), scope.slot_names
        )

    # --- statements -------------------------------------------------------------------------------------------------

    def block(self, statements: list[s.Statement]) -> list[c.Stmt]:
        lowered: list[c.Stmt] = []
        for statement in statements:
            result = STATEMENTS[statement.__class__](self, statement)
            if result is not None:
                lowered.append(result)
        return lowered

    @property
    def at_module(self) -> bool:
        return self.scope is self.module

    def evaluate(self, node: s.ExprStmt) -> c.Stmt:
        return c.Evaluate(self.expression(node.value, "argument"), self.at_module)

    def assign(self, node: s.Assign) -> c.Stmt:
        value = self.expression(node.value, "argument")
        return c.Assign([self.target(t) for t in node.targets], value, None, self.at_module, self.site(node))

    def annotated(self, node: s.AnnAssign) -> c.Stmt | None:
        if node.value is None:
            return None
        dtype = self.annotation(node.annotation)
        value = self.expression(node.value, "argument")
        return c.Assign([self.target(node.target)], value, dtype, self.at_module, self.site(node))

    def annotation(self, node: s.Expression) -> Any:
        """The dtype that an annotation names, or None: other annotations are for the reader."""
        meaning = None
        if node.__class__ is s.Name:
            meaning = vocabulary.under_prefix(node.id)
            if node.id in ("int", "float", "bool", "complex", "str"):
                return None
        else:
            path = self.module_path(node)
            if path is not None:
                meaning = vocabulary.dotted(path)
        return meaning.value if meaning is not None and meaning.kind == "dtype" else None

    def augmented(self, node: s.AugAssign) -> c.Stmt:
        op = NAMES[ROWS_OF_OPERATORS[node.op]]
        value = self.expression(node.value)
        return c.Augment(self.target(node.target), node.op, op, value, self.at_module, self.site(node, op))

    def if_(self, node: s.If) -> c.Stmt:
        return c.If(self.expression(node.test), self.block(node.body), self.block(node.orelse), self.site(node.test))

    def for_(self, node: s.For) -> c.Stmt:
        iterable = self.expression(node.iter)
        return c.For(
            self.target(node.target), iterable, self.loop_body(node.body), self.block(node.orelse), self.site(node.iter)
        )

    def while_(self, node: s.While) -> c.Stmt:
        return c.While(
            self.expression(node.test), self.loop_body(node.body), self.block(node.orelse), self.site(node.test)
        )

    def break_(self, node: s.Node) -> c.Stmt:
        self.need_loop("break", node)
        return c.Break()

    def continue_(self, node: s.Node) -> c.Stmt:
        self.need_loop("continue", node)
        return c.Continue()

    def need_loop(self, word: str, node: s.Node) -> None:
        if not self.loops:
            raise self.error("E0209", f"'{word}' outside a loop", node, "it belongs in the body of a 'for' or 'while'")

    def loop_body(self, statements: list[s.Statement]) -> list[c.Stmt]:
        self.loops += 1
        try:
            return self.block(statements)
        finally:
            self.loops -= 1

    def pass_(self, node: s.Node) -> None:
        return None

    def return_(self, node: s.Return) -> c.Stmt:
        return c.Return(None if node.value is None else self.expression(node.value, "argument"), self.at_module)

    def define(self, node: s.FunctionDef) -> c.Stmt:
        decorators = [self.decorator(d) for d in node.decorators]
        place = self.find(node.name)
        assert place is not None
        target = c.Store(*place, node.name, self.site(node))
        code = self.function(node.name, node.parameters, node.body, None, node)
        return c.Define(target, c.MakeFunction(code), decorators, self.site(node))

    def decorator(self, node: s.Expression) -> c.Expr:
        return self.expression(node, "call") if node.__class__ is s.Name else self.expression(node)

    def with_(self, node: s.With) -> c.Stmt:
        items = []
        for item in node.items:
            context = self.expression(item.context)
            target = None if item.target is None else self.target(item.target)
            items.append((context, target, self.site(item)))
        return c.With(items, self.block(node.body), self.site(node))

    def assert_(self, node: s.Assert) -> c.Stmt:
        message = None if node.message is None else self.expression(node.message)
        return c.Assert(self.expression(node.test), message, self.site(node.test))

    def delete(self, node: s.Delete) -> c.Stmt:
        return c.Delete([self.target(t) for t in node.targets])

    def global_(self, node: s.Node) -> None:
        return None


STATEMENTS: dict[type, Callable[[Lowering, Any], c.Stmt | None]] = {
    s.ExprStmt: Lowering.evaluate,
    s.Assign: Lowering.assign,
    s.AnnAssign: Lowering.annotated,
    s.AugAssign: Lowering.augmented,
    s.If: Lowering.if_,
    s.For: Lowering.for_,
    s.While: Lowering.while_,
    s.Break: Lowering.break_,
    s.Continue: Lowering.continue_,
    s.Pass: Lowering.pass_,
    s.Return: Lowering.return_,
    s.FunctionDef: Lowering.define,
    s.With: Lowering.with_,
    s.Assert: Lowering.assert_,
    s.Delete: Lowering.delete,
    s.Import: Lowering.import_,
    s.ImportFrom: Lowering.import_from,
    s.Global: Lowering.global_,
    s.Nonlocal: Lowering.global_,
}
