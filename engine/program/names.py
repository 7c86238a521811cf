"""What a name means: a variable, an input, a module, or something of the vocabulary."""

from __future__ import annotations

from ...parser import syntax as s
from ...parser.errors import AdiffError
from ...parser.source import Source, Span
from ...parser.suggest import suggest
from ..core.state import Site
from ..kinds import names as kinds
from ..ops.operation import Operation
from . import core as c
from . import vocabulary
from .scopes import Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .session import Session


def did_you_mean(names: list[str]) -> str | None:
    if not names:
        return None
    return "did you mean " + " or ".join(f"'{name}'" for name in names[:3]) + "?"


class Names:
    """The names of one program, and where they are looked for."""

    def __init__(self, source: Source, session: Session | None = None) -> None:
        self.source = source
        self.session = session
        self.held: dict[str, Any] = {} if session is None else session.names
        self.inputs: dict[str, int] = {}
        self.places: dict[str, Site] = {}
        self.optional: dict[str, tuple[int, Any]] = {}
        self.modules: dict[str, list[str]] = {name: [name] for name in (*vocabulary.MODULES, *kinds.modules())}
        if source.library:
            self.modules["internal"] = ["internal"]
        # The module's variables that are assigned wherever the statement at hand is reached, in the order of their assignment.
        self.assigned: dict[str, None] = {}
        self.imported: dict[str, c.Expr] = {}
        if session is not None:
            self.imported = session.imported
            session.modules = self.modules = session.modules or self.modules
        self.module = Scope(None, ())
        self.literals: frozenset[str] = frozenset()  # the variables of the module that only ever hold one literal
        self.scope = self.module

    def error(self, code: str, message: str, node: s.Node, hint: str | None = None) -> AdiffError:
        return AdiffError(code, message, Span(self.source, node.start, node.end), hint)

    def site(self, node: s.Node, op: Operation | None = None) -> Site:
        return Site(op, self.source, node.start, node.end)

    def find(self, name: str) -> tuple[int, int] | None:
        """(depth, slot) of a variable that is assigned somewhere around here."""
        depth = 0
        scope: Scope | None = self.scope
        while scope is not None:
            for shadow in reversed(scope.shadows):
                if name in shadow:
                    return depth, shadow[name]
            if name in scope.slots and (not scope.of_class or scope is self.scope):
                return depth, scope.slots[name]
            if name in scope.globals:
                return depth + self.height(scope), self.module.declare(name)
            scope = scope.parent
            depth += 1
        return None

    def height(self, scope: Scope) -> int:
        """How many frames the module's is above a scope's."""
        count = 0
        while scope.parent is not None:
            scope = scope.parent
            count += 1
        return count

    def input_load(self, name: str, node: s.Node) -> c.Load:
        """A read of an input: a slot of the module's frame that is filled from outside."""
        if name not in self.inputs:
            # Where it was read before, and a function might have stood, it was this input already.
            read = self.optional.pop(name, None)
            self.inputs[name] = self.module.fresh(name) if read is None else read[0]
            self.places[name] = self.site(node)
        return c.Load(self.height(self.scope), self.inputs[name], name, self.site(node))

    def begin_with(self, name: str, place: tuple[int, int]) -> None:
        """Let a variable of the module that may be read before it is assigned begin with the value bound to its name."""
        of_module = name in self.scope.globals or self.scope is self.module
        if (
            of_module
            and name not in self.assigned
            and self.module.slots.get(name) == place[1]
            and not self.source.library
        ):
            self.optional.setdefault(name, (place[1], c.Literal(c.UNSET)))

    # --- reading ----------------------------------------------------------------------------------------------------

    def name(self, node: s.Name, position: str = "value") -> c.Expr:
        """A read of a bare name; `position` is "value", "argument" (a function may stand there), "call" or "class" (a
        base of one)."""
        name, called = node.id, position in ("call", "class")
        place = self.find(name)
        if place is not None:
            self.begin_with(name, place)
            return c.Load(*place, name, self.site(node))
        if name in self.held:
            return self.input_load(name, node)
        if name in self.imported:
            return self.imported[name]
        if name == "__name__":
            return c.Literal("__main__")
        if name.startswith("__") or (called and name in vocabulary.FORBIDDEN):
            raise self.forbidden(name, node)
        meaning = vocabulary.bare(name)
        if meaning is None and name in self.modules and name not in self.inputs and called:
            if self.modules[name][0] in vocabulary.NOT_SERVED:
                raise self.unknown_member(self.modules[name], node)
            raise self.error("E0203", f"'{name}' is a module and cannot be called", node)
        if called:
            if meaning is None or vocabulary.is_constant(meaning):
                raise self.unknown_function(name, node, position)
            return meaning
        if meaning is None or name in self.inputs or (vocabulary.is_function(meaning) and position == "value"):
            # `beta*x`: a function cannot stand there, so it is an input that shares its name.
            return self.input_load(name, node)
        # A constant or a function where a function may stand: itself, unless an input of that name is bound.
        if name not in self.optional:
            self.optional[name] = (self.module.fresh(name), meaning)
        return c.Load(self.height(self.scope), self.optional[name][0], name, self.site(node))

    def module_path(self, node: s.Expression) -> list[str] | None:
        """['tf', 'math', 'log'] for `tf.math.log` where `tf` is a module and no variable; else None."""
        parts: list[str] = []
        while node.__class__ is s.Attribute:
            parts.append(node.name)
            node = node.value
        if node.__class__ is not s.Name or not parts:
            return None
        root = node.id
        if root not in self.modules or self.find(root) is not None or root in self.inputs or root in self.held:
            return None
        return self.modules[root] + parts[::-1]

    def visible_names(self) -> list[str]:
        names: list[str] = []
        scope: Scope | None = self.scope
        while scope is not None:
            names.extend(scope.slots)
            scope = scope.parent
        return names

    # --- what means nothing -----------------------------------------------------------------------------------------

    def forbidden(self, name: str, node: s.Node) -> AdiffError:
        return self.error(
            "E0206", f"'{name}' is not part of the language", node,
            "adiff programs compute: they reach no file, no module and nothing of Python's insides",
        )  # fmt: skip

    def unknown_function(self, name: str, node: s.Node, position: str) -> AdiffError:
        if position == "class":
            close = did_you_mean(suggest(name, self.visible_names()))
            return self.error("E0203", f"unknown class '{name}'", node, close or f"define it before: class {name}: ...")
        close = did_you_mean(suggest(name, [*vocabulary.function_names(), *self.visible_names(), *self.held]))
        product = f"to multiply, write {name}*(...)" if len(name) == 1 else "`adiff ops` lists the functions"
        return self.error("E0203", f"unknown function '{name}'", node, close or product)

    def unknown_member(self, path: list[str], node: s.Node) -> AdiffError:
        if path[-1].startswith("__"):
            return self.forbidden(path[-1], node)
        spelled = self.source.text[node.start : node.end] if node.__class__ is s.Attribute else ".".join(path)
        apart = vocabulary.module_apart([*path[1:], ""])
        advice = vocabulary.NOT_SERVED.get(path[0]) if apart is None else vocabulary.APART[apart][1]
        listed, what = "`adiff ops` lists the functions", "is not part of the language"
        if vocabulary.is_tensorflows(path):
            what, advice = "is TensorFlow's, and is not built here", advice or listed
        elif advice is None and "random" in path[:-1]:
            advice = "random numbers have a seed here: random.normal(shape, seed=1), random.uniform, random.shuffle"
        elif advice is None:
            written = spelled.split(".")
            close = [
                ".".join([*written[:-1], way[-1]] if way[:-1] == path[:-1] else [written[0], *way[1:]])
                for way in vocabulary.near(path)
            ]
            advice = did_you_mean(close) or listed
        return self.error("E0204", f"'{spelled}' {what}", node, advice)

    # --- imports ----------------------------------------------------------------------------------------------------

    def import_(self, node: s.Import) -> None:
        for alias in node.names:
            if alias.name in vocabulary.IGNORED_IMPORTS:
                continue
            path = vocabulary.importable(alias.name)
            if path is None:
                raise self.refused_import(alias.name, alias)
            root = alias.name.partition(".")[0]
            self.modules[alias.asname or root] = path if alias.asname else vocabulary.importable(root) or [root]

    def import_from(self, node: s.ImportFrom) -> None:
        if node.module in vocabulary.IGNORED_IMPORTS:
            return
        path = vocabulary.importable(node.module)
        if path is None:
            raise self.refused_import(node.module, node)
        for alias in node.names:
            bound = alias.asname or alias.name
            if alias.name == "*":
                continue
            meaning = vocabulary.dotted([*path, alias.name])
            if path[0] in vocabulary.NOT_SERVED:
                self.modules[bound] = [*path, alias.name]
            elif meaning is not None:
                self.imported[bound] = meaning
            elif (
                vocabulary.importable(f"{node.module}.{alias.name}") is not None or alias.name in vocabulary.SUBMODULES
            ):
                self.modules[bound] = [*path, alias.name]
            else:
                raise self.unknown_member([*path, alias.name], alias)

    def refused_import(self, name: str, node: s.Node) -> AdiffError:
        return self.error(
            "E0205", f"the module '{name}' cannot be imported", node,
            vocabulary.BIND if "datasets" in name.split(".") else
            "delete the line if nothing of it is used; there are names of numpy, tensorflow, keras, jax, scipy and math, and of "
            "random, collections, itertools, functools, dataclasses, enum, abc, contextlib, time, timeit and datetime",
        )  # fmt: skip
