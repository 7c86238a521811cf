"""Lowering: from the syntax tree to the core program.

Scopes follow Python: a name that is assigned in a function is the function's own, any other is looked for outwards;
a name that is read and never assigned anywhere around it is an input of the program, unless the vocabulary knows it.
"""

from __future__ import annotations

from functools import cache

from ...parser import syntax as s
from ...parser.source import Source
from ..core.dtypes import DType
from ..ops.registry import OPERATOR_ROWS
from . import core as c
from . import library, vocabulary
from .expressions import FIRST, Expressions, is_literal
from .scopes import DEFINITIONS, Scope, assigned_names, inside, surely_assigned, target_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .session import Session

# What may stand in the body of a class.
IN_CLASSES = (s.FunctionDef, s.Assign, s.AnnAssign, s.ExprStmt, s.ClassDef, s.Pass)


def lower(source: Source, module: s.Module, session: Session | None = None) -> c.CoreProgram:
    """The core program of a syntax tree. Raises AdiffError E02xx for names that mean nothing."""
    return Lowering(source, session).program(module)


@cache
def library_core(file: str) -> c.CoreProgram:
    """The core program of a file of the library."""
    from ...parser.parse import parse

    source = library.LibrarySource(library.text_of(file), f"adiff/{file}")
    return lower(source, parse(source))


def ends_with_value(statements: Sequence[s.Statement]) -> bool:
    """Whether a program ends, on some path, with an expression, an assignment or a return."""
    if not statements or statements[-1].__class__ in DEFINITIONS:
        return False
    last: Any = statements[-1]
    if last.__class__ in (s.ExprStmt, s.Assign, s.AnnAssign, s.AugAssign, s.Return):
        return True
    handlers = [handler.body for handler in getattr(last, "handlers", ())]
    return any(map(ends_with_value, (getattr(last, "body", ()), getattr(last, "orelse", ()), *handlers)))


def literal_names(statements: list[s.Statement], text: str) -> frozenset[str]:
    """The variables that are assigned once, to a literal, and that no tape watches."""
    times: dict[str, int] = {}
    for statement in statements:
        for name in assigned_names([statement]):
            times[name] = times.get(name, 0) + 1
    watched = [part.partition(")")[0] for part in text.split("watch(")[1:]]
    return frozenset(
        target.id
        for statement in statements
        if statement.__class__ is s.Assign and is_literal(statement.value)
        for target in statement.targets
        if target.__class__ is s.Name and times[target.id] == 1 and not any(target.id in part for part in watched)
    )


class Lowering(Expressions):
    """One program on its way to the core program."""

    def program(self, module: s.Module) -> c.CoreProgram:
        statements = self.with_modules_imported(module.body)
        for name in assigned_names(statements):
            self.module.declare(name)
        self.literals = literal_names(statements, self.source.text)
        body = self.block(statements)
        if self.session is not None:
            self.session.assigned = self.module.slots
        # At a prompt an assignment shows nothing.
        valued = ends_with_value(module.body) if self.session is None else module.body[-1].__class__ is s.ExprStmt
        slot_names = self.module.slot_names
        return c.CoreProgram(self.source, body, self.inputs, self.optional, valued, slot_names, self.places)

    def with_modules_imported(self, statements: list[s.Statement]) -> list[s.Statement]:
        """`layers = tf.keras.layers` as the import that it is, where it is the one assignment to this name."""
        assigned = [name for statement in statements for name in assigned_names([statement])]

        def imported(statement: s.Statement) -> s.Statement:
            for node in inside([statement]):
                if isinstance(node, s.Import | s.ImportFrom):
                    STATEMENTS[node.__class__](self, node)  # other lines may speak of what it binds
            if statement.__class__ is not s.Assign or statement.value.__class__ is not s.Attribute:
                return statement
            target, path = statement.targets[0], self.module_path(statement.value)
            if path is None or target.__class__ is not s.Name or len(statement.targets) > 1:
                return statement
            name = ".".join([vocabulary.MODULES.get(path[0], path[0]), *path[1:]])
            taken = assigned.count(target.id) > 1 or self.find(target.id) is not None
            if path[0] in assigned or taken or not vocabulary.is_module(path):
                return statement
            place = statement.start, statement.end
            return s.Import([s.Alias(name, target.id, *place)], *place)

        return [imported(statement) for statement in statements]

    def function(
        self, name: str, parameters: list[s.Parameter], body: list[s.Statement] | s.Expression, node: s.Node
    ) -> c.FunctionCode:
        starred = [p.name for p in parameters if p.name[0] == "*"]
        plain = [p for p in parameters if p.name[0] != "*"]
        positional = len(plain)
        if starred and starred[0][:2] != "**":
            positional = [p.name for p in parameters].index(starred[0])
        defaults = [None if p.default is None else self.expression(p.default, "argument") for p in plain]
        names = [p.name for p in plain]
        scope = Scope(self.scope, names + [name.lstrip("*") for name in starred if name != "*"])
        rest = next((scope.slots[name[1:]] for name in starred if name[1:2] not in ("", "*")), None)
        named = next((scope.slots[name[2:]] for name in starred if name[:2] == "**"), None)
        outer, self.scope = self.scope, scope
        if isinstance(body, list):
            statements = self.with_modules_imported(body)
            for node_inside in inside(statements):
                if isinstance(node_inside, s.Global | s.Nonlocal):
                    declared = scope.globals if node_inside.__class__ is s.Global else scope.nonlocals
                    declared.update(node_inside.names)
            for local in assigned_names(statements):
                if local in scope.globals:
                    self.module.declare(local)
                elif local not in scope.nonlocals:
                    scope.declare(local)
            lowered = self.block(statements)
        else:
            lowered = [c.Return(self.expression(body, "argument"), False)]
        self.scope = outer
        return c.FunctionCode(
            name, names, defaults, lowered, self.site(node), scope.slot_names, positional, rest, named,
            -1 if starred else positional, scope.yields,
        )  # fmt: skip

    # --- statements -------------------------------------------------------------------------------------------------

    def block(self, statements: list[s.Statement]) -> list[c.Stmt]:
        lowered: list[c.Stmt] = []
        for statement in statements:
            before = len(self.assigned)
            result = STATEMENTS[statement.__class__](self, statement)
            if self.at_module:
                while len(self.assigned) > before:
                    self.assigned.popitem()
                self.assigned.update(surely_assigned([statement]))
            if result is not None:
                lowered.append(result)
        return lowered

    @property
    def at_module(self) -> bool:
        return self.scope is self.module

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
        return meaning.value if meaning.__class__ is c.Literal and meaning.value.__class__ is DType else None

    def augmented(self, node: s.AugAssign) -> c.Stmt:
        if node.target.__class__ is s.Name:
            self.name(node.target)
        op = OPERATOR_ROWS[node.op]
        value = self.expression(node.value)
        return c.Augment(self.target(node.target), op, value, self.at_module, self.site(node, op))

    def for_(self, node: s.For) -> c.Stmt:
        iterable = self.expression(node.iter)
        if self.at_module:
            self.assigned.update(dict.fromkeys(target_names(node.target)))
        return c.For(
            self.target(node.target), iterable, self.loop_body(node.body), self.block(node.orelse), self.site(node.iter)
        )

    def leave_iteration(self, node: s.Break | s.Continue) -> c.Stmt:
        """`break` or `continue`."""
        word = node.__class__.__name__.lower()
        if not self.scope.loops:
            raise self.error("E0209", f"'{word}' outside a loop", node, "it belongs in the body of a 'for' or 'while'")
        return c.Break() if word == "break" else c.Continue()

    def loop_body(self, statements: list[s.Statement]) -> list[c.Stmt]:
        self.scope.loops += 1
        lowered = self.block(statements)
        self.scope.loops -= 1
        return lowered

    def return_(self, node: s.Return) -> c.Stmt:
        return c.Return(None if node.value is None else self.expression(node.value, "argument"), self.at_module)

    def yield_(self, node: s.Yield) -> c.Stmt:
        if self.at_module or self.scope.of_class:
            raise self.error("E0207", "'yield' outside a function", node, "it makes a generator of the 'def' around it")
        self.scope.yields = True
        value = c.Literal(None) if node.value is None else self.expression(node.value, "argument")
        return c.Yield(value, node.each, self.site(node))

    def define(self, node: s.FunctionDef) -> c.Stmt:
        name = f"{next(iter(self.scope.slots))}.{node.name}" if self.scope.of_class else node.name
        return self.decorated(node, c.MakeFunction(self.function(name, node.parameters, node.body, node)))

    def decorated(self, node: s.FunctionDef | s.ClassDef, made: c.Expr) -> c.Stmt:
        """The assignment of a function or a class, which its decorators take from the last to the first."""
        site = self.site(node)
        for decorator in reversed(node.decorators):
            made = c.Call(self.expression(decorator, "call"), [made], [], site)
        place = self.find(node.name)
        assert place is not None
        return c.Assign([c.Store(*place, node.name, site)], made, None, False, site)

    def define_class(self, node: s.ClassDef) -> c.Stmt:
        """A class. Its body has a frame, between that around it and those of its methods."""
        site = self.site(node)
        if node.keywords:
            raise self.error("E0207", "a class takes no keywords", node.keywords[-1], "name its bases alone")
        bases = [base for base in map(self.base, node.bases) if base is not None]
        outer, scope = self.scope, Scope(self.scope, [node.name], of_class=True)
        self.scope = scope
        for statement in node.body:
            if statement.__class__ not in IN_CLASSES:
                raise self.error(
                    "E0207", "this cannot stand in the body of a class", statement,
                    "it holds functions (def), constants (name = value) and classes; put the rest into __init__",
                )  # fmt: skip
        for name in assigned_names(node.body):
            scope.slots[name] = scope.fresh(name)
        body = self.block(node.body)
        self.scope = outer
        code = c.FunctionCode(node.name, [], [], body, site, scope.slot_names, 0, None, None, 0, False)
        members = [(name, slot) for name, slot in scope.slots.items() if slot != FIRST]
        annotated = [name for item in node.body if item.__class__ is s.AnnAssign for name in target_names(item.target)]
        return self.decorated(node, c.MakeClass(bases, code, members, annotated))

    def base(self, node: s.Expression) -> c.Expr | None:
        if node.__class__ is not s.Name:
            return self.expression(node)
        if node.id == "object" and self.find("object") is None:
            return None
        return self.name(node, "class")

    def try_(self, node: s.Try) -> c.Stmt:
        body = self.block(node.body)
        handlers = []
        for handler in node.handlers:
            kind = None if handler.kind is None else self.expression(handler.kind, "argument")
            slot = self.scope.fresh("exception")  # what a bare `raise` raises again
            targets: list[c.Target] = [c.Store(0, slot, "exception", self.site(handler))]
            if handler.name is not None:
                place = self.find(handler.name)
                assert place is not None
                targets.append(c.Store(*place, handler.name, self.site(handler)))
            self.scope.caught.append(slot)
            block = self.block(handler.body)
            self.scope.caught.pop()
            handlers.append((kind, targets, block, self.site(handler if handler.kind is None else handler.kind)))
        return c.Try(body, handlers, self.block(node.orelse), self.block(node.final), self.site(node))

    def raise_(self, node: s.Raise) -> c.Stmt:
        site = self.site(node)
        if node.value is not None:
            return c.Raise(self.expression(node.value, "argument"), site)
        if not self.scope.caught:
            raise self.error("E0207", "a bare 'raise' stands in an 'except'", node, "write raise ValueError('...')")
        return c.Raise(c.Load(0, self.scope.caught[-1], "exception", site), site)

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


STATEMENTS: dict[type, Callable[[Lowering, Any], c.Stmt | None]] = {
    s.ExprStmt: lambda self, node: c.Evaluate(self.expression(node.value, "argument"), self.at_module),
    s.Assign: Lowering.assign,
    s.AnnAssign: Lowering.annotated,
    s.AugAssign: Lowering.augmented,
    s.If: lambda self, node: c.If(
        self.expression(node.test), self.block(node.body), self.block(node.orelse), self.site(node.test)
    ),
    s.For: Lowering.for_,
    s.While: lambda self, node: c.While(
        self.expression(node.test), self.loop_body(node.body), self.block(node.orelse), self.site(node.test)
    ),
    s.Break: Lowering.leave_iteration,
    s.Continue: Lowering.leave_iteration,
    s.Return: Lowering.return_,
    s.Yield: Lowering.yield_,
    s.FunctionDef: Lowering.define,
    s.ClassDef: Lowering.define_class,
    s.Try: Lowering.try_,
    s.Raise: Lowering.raise_,
    s.With: Lowering.with_,
    s.Assert: Lowering.assert_,
    s.Delete: lambda self, node: c.Delete([self.target(x) for x in node.targets]),
    s.Import: Lowering.import_,
    s.ImportFrom: Lowering.import_from,
    **dict.fromkeys((s.Pass, s.Global, s.Nonlocal), lambda self, node: None),
}
