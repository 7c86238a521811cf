"""Lowering: from the syntax tree to the core program.

Scopes follow Python: a name that is assigned in a function is the function's own, any other is looked for outwards;
a name that is read and never assigned anywhere around it is an input of the program, unless the vocabulary knows it.
"""

from __future__ import annotations

from ...parser import syntax as s
from ...parser.errors import AdiffError
from ...parser.source import Source, Span
from ...parser.suggest import suggest
from ..core.operation import Operation
from ..core.state import Site
from ..ops.registry import NAMES
from . import core as c
from . import vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

ROWS_OF_OPERATORS = {
    "+": "add",
    "-": "subtract",
    "*": "multiply",
    "/": "divide",
    "//": "floor_divide",
    "%": "mod",
    "**": "power",
    "@": "matmul",
    "&": "bitwise_and",
    "|": "bitwise_or",
    "^": "bitwise_xor",
    "<<": "left_shift",
    ">>": "right_shift",
}
ROWS_OF_COMPARISONS = {
    "<": "less",
    "<=": "less_equal",
    ">": "greater",
    ">=": "greater_equal",
    "==": "equal",
    "!=": "not_equal",
}
ROWS_OF_PREFIXES = {"-": "negative", "+": "positive", "~": "invert"}


class Scope:
    """The variables of one function (or of the module), each with its slot in the frame."""

    __slots__ = ("globals", "names", "nonlocals", "parent", "slot_names", "slots")

    def __init__(self, parent: Scope | None, names: Iterable[str]) -> None:
        self.parent = parent
        self.slots: dict[str, int] = {}
        self.slot_names: list[str] = ["", ""]
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        for name in names:
            self.declare(name)

    def declare(self, name: str) -> int:
        """The slot of a variable, new if need be."""
        if name not in self.slots:
            self.slots[name] = self.fresh(name)
        return self.slots[name]

    def fresh(self, name: str) -> int:
        """A slot of its own for a comprehension's variable."""
        self.slot_names.append(name)
        return len(self.slot_names) - 1


class Lowering:
    """One program on its way to the core program."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.inputs: dict[str, int] = {}
        self.places: dict[str, Site] = {}
        self.optional: dict[str, tuple[int, Any]] = {}
        self.modules: dict[str, list[str]] = {name: [name] for name in vocabulary.MODULES}
        self.imported: dict[str, vocabulary.Meaning] = {}
        self.module = Scope(None, ())
        self.scope = self.module
        # Comprehension variables shadow the scope's while their comprehension is lowered.
        self.shadows: list[dict[str, int]] = []
        # How many loops of the present function are around the statement being lowered.
        self.loops = 0

    # --- help -------------------------------------------------------------------------------------------------------

    def error(self, code: str, message: str, node: s.Node, hint: str | None = None) -> AdiffError:
        return AdiffError(code, message, Span(self.source, node.start, node.end), hint)

    def site(self, node: s.Node, op: Operation | None = None) -> Site:
        return Site(op, self.source, node.start, node.end)

    # --- programs and scopes ----------------------------------------------------------------------------------------

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

    def find(self, name: str) -> tuple[int, int] | None:
        """(depth, slot) of a variable that is assigned somewhere around here."""
        depth = 0
        scope: Scope | None = self.scope
        for shadow in reversed(self.shadows):
            if name in shadow:
                return 0, shadow[name]
        while scope is not None:
            if name in scope.slots and name not in scope.globals and name not in scope.nonlocals:
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
            self.inputs[name] = self.module.fresh(name)
            self.places[name] = self.site(node)
        return c.Load(self.height(self.scope), self.inputs[name], name, self.site(node))

    # --- names ------------------------------------------------------------------------------------------------------

    def name(self, node: s.Name, position: str = "value") -> c.Expr:
        """A read of a bare name; `position` is "value", "argument" (a function may stand there) or "call"."""
        name = node.id
        place = self.find(name)
        if place is not None:
            return c.Load(*place, name, self.site(node))
        if name in self.imported:
            return self.meaning(self.imported[name], node)
        if name.startswith("__") or name in vocabulary.FORBIDDEN:
            raise self.forbidden(name, node)
        if name in self.modules and name not in self.inputs and position == "call":
            raise self.error("E0203", f"'{name}' is a module and cannot be called", node)
        meaning = vocabulary.bare(name)
        if position == "call":
            if meaning is None or meaning.kind == "constant":
                raise self.unknown_function(name, node)
            return self.meaning(meaning, node)
        if meaning is None:
            return self.input_load(name, node)
        if meaning.kind in ("row", "intrinsic") and position == "value":
            # `beta*x`: a function cannot stand there, so it is an input that shares its name.
            return self.input_load(name, node)
        # A constant or a function where a function may stand: itself, unless an input of that name is bound.
        if name in self.inputs:
            return self.input_load(name, node)
        if name not in self.optional:
            self.optional[name] = (self.module.fresh(name), vocabulary.expression_of(meaning))
        return c.Load(self.height(self.scope), self.optional[name][0], name, self.site(node))

    def meaning(self, meaning: vocabulary.Meaning, node: s.Node) -> c.Expr:
        expression: c.Expr = vocabulary.expression_of(meaning)
        return expression

    def forbidden(self, name: str, node: s.Node) -> AdiffError:
        return self.error(
            "E0206", f"'{name}' is not part of the language", node,
            "adiff programs compute: they reach no file, no module and nothing of Python's insides",
        )  # fmt: skip

    def unknown_function(self, name: str, node: s.Node) -> AdiffError:
        known = [*vocabulary.function_names(), *self.visible_names()]
        close = suggest(name, known)
        hint = did_you_mean(close) or "`adiff ops` lists the functions"
        return self.error("E0203", f"unknown function '{name}'", node, hint)

    def visible_names(self) -> list[str]:
        names: list[str] = []
        scope: Scope | None = self.scope
        while scope is not None:
            names.extend(scope.slots)
            scope = scope.parent
        return names

    def module_path(self, node: s.Expression) -> list[str] | None:
        """['tf', 'math', 'log'] for `tf.math.log` where `tf` is a module and no variable; else None."""
        parts: list[str] = []
        while node.__class__ is s.Attribute:
            parts.append(node.name)
            node = node.value
        if node.__class__ is not s.Name or not parts:
            return None
        root = node.id
        if root not in self.modules or self.find(root) is not None or root in self.inputs:
            return None
        return self.modules[root] + parts[::-1]

    # --- expressions ------------------------------------------------------------------------------------------------

    def expression(self, node: s.Expression, position: str = "value") -> c.Expr:
        handler = EXPRESSIONS.get(node.__class__)
        if handler is not None:
            return handler(self, node)
        assert node.__class__ is s.Name
        return self.name(node, position)

    def number(self, node: s.Number) -> c.Expr:
        return c.Literal(node.value)

    def formatted(self, node: s.FormattedString) -> c.Expr:
        parts: list[Any] = []
        for part in node.parts:
            if isinstance(part, str):
                parts.append(part)
            else:
                spec = None if part.spec is None else self.expression(part.spec)
                parts.append((self.expression(part.value), part.conversion, spec))
        return c.FormatText(parts, self.site(node))

    def unary(self, node: s.Unary) -> c.Expr:
        if node.op == "not":
            return c.Not(self.expression(node.operand), self.site(node))
        operand = self.expression(node.operand)
        if node.op == "-" and operand.__class__ is c.Literal and operand.value.__class__ in (int, float, complex):
            return c.Literal(-operand.value)
        op = NAMES[ROWS_OF_PREFIXES[node.op]]
        return c.Prefix(node.op, op, operand, self.site(node, op))

    def binary(self, node: s.Binary) -> c.Expr:
        # A sum of 100,000 terms nests that deep on the left: walk down it, then build back up.
        spine: list[s.Binary] = []
        left: s.Expression = node
        while left.__class__ is s.Binary:
            spine.append(left)
            left = left.left
        built = self.expression(left)
        for item in reversed(spine):
            op = NAMES[ROWS_OF_OPERATORS[item.op]]
            built = c.Operator(item.op, op, built, self.expression(item.right), self.site(item, op))
        return built

    def compare(self, node: s.Compare) -> c.Expr:
        ops = [NAMES[ROWS_OF_COMPARISONS[o]] if o in ROWS_OF_COMPARISONS else None for o in node.operators]
        return c.Comparison(
            self.expression(node.left),
            node.operators,
            ops,
            [self.expression(x, "argument") for x in node.comparators],
            self.site(node),
        )

    def logical(self, node: s.BoolOp) -> c.Expr:
        return c.Logical(node.op, [self.expression(x) for x in node.values], self.site(node))

    def choose(self, node: s.IfExp) -> c.Expr:
        return c.Choose(
            self.expression(node.test),
            self.expression(node.body, "argument"),
            self.expression(node.orelse, "argument"),
            self.site(node.test),
        )

    def arguments(self, node: s.Call) -> tuple[list[c.Expr], list[tuple[str, c.Expr]]]:
        args: list[c.Expr] = []
        for item in node.arguments:
            if item.__class__ is s.Starred:
                args.append(c.Spread(self.expression(item.value), self.site(item)))
            else:
                args.append(self.expression(item, "argument"))
        keywords: list[tuple[str, c.Expr]] = []
        seen: set[str] = set()
        for keyword in node.keywords:
            if keyword.name is None:
                raise self.error(
                    "E0207", "'**' in a call is not part of the language", keyword, "write the keywords out"
                )
            if keyword.name in seen:
                raise self.error("E0207", f"the keyword '{keyword.name}' is given twice", keyword)
            seen.add(keyword.name)
            keywords.append((keyword.name, self.expression(keyword.value, "argument")))
        return args, keywords

    def call(self, node: s.Call) -> c.Expr:
        callee = node.function
        path = self.module_path(callee)
        if path is not None:
            meaning = vocabulary.dotted(path)
            if meaning is None or meaning.kind == "constant":
                raise self.unknown_member(path, callee)
            return self.call_of(self.meaning(meaning, callee), node)
        if callee.__class__ is s.Attribute:
            name = callee.name
            if name.startswith("__"):
                raise self.forbidden(name, callee)
            value = self.expression(callee.value)
            if name == "watch" and len(node.arguments) == 1 and not node.keywords:
                argument = node.arguments[0]
                target = self.place(argument)
                return c.Watch(value, self.expression(argument), target, self.site(node))
            args, keywords = self.arguments(node)
            return c.Method(value, name, args, keywords, self.site(node))
        if callee.__class__ is s.Name:
            return self.call_of(self.name(callee, "call"), node)
        if callee.__class__ is s.Number:
            raise self.error("E0203", "a number cannot be called", node, "write '*' to multiply: 2*(x + 1)")
        return self.call_of(self.expression(callee), node)

    def call_of(self, function: c.Expr, node: s.Call) -> c.Expr:
        args, keywords = self.arguments(node)
        if function.__class__ is c.Literal and function.value.__class__ is Operation:
            row = function.value
            if row.name == "log" and len(args) == 2 and not keywords:
                # math.log(x, base)
                logs: list[c.Expr] = [c.Apply(row, [arg], [], self.site(node, row)) for arg in args]
                return c.Operator("/", NAMES["divide"], *logs, self.site(node, NAMES["divide"]))
            if row.name == "hypot" and len(args) > 2 and not keywords:
                row = NAMES["hypot_of"]
            return c.Apply(row, args, keywords, self.site(node, row))
        return c.Call(function, args, keywords, self.site(node))

    def unknown_member(self, path: list[str], node: s.Node) -> AdiffError:
        if path[-1].startswith("__"):
            return self.forbidden(path[-1], node)
        spelled = self.source.text[node.start : node.end] if node.__class__ is s.Attribute else ".".join(path)
        if path[0] == "matplotlib":
            return self.error(
                "E0204", f"'{spelled}' is not part of the language", node, "nothing here draws: leave this line out"
            )
        if "random" in path[:-1]:
            return self.error(
                "E0204", f"'{spelled}' is not part of the language", node,
                "random numbers have a seed here: random.normal(shape, seed=1), random.uniform, random.shuffle",
            )  # fmt: skip
        prefix = spelled.rpartition(".")[0]
        close = [f"{prefix}.{name}" for name in vocabulary.members_near(path)]
        if not close:
            # The way may be misspelt, and not its end: np.lingalg.inv.
            close = [".".join([spelled.partition(".")[0], *way[1:]]) for way in vocabulary.ways_near(path)]
        return self.error(
            "E0204", f"'{spelled}' is not part of the language", node,
            did_you_mean(close) or "`adiff ops` lists the functions",
        )  # fmt: skip

    def place(self, node: s.Expression) -> c.Target | None:
        """The place that an argument of `watch` names, so that the watched value can be put back there."""
        if node.__class__ is s.Name:
            found = self.find(node.id)
            if found is None:
                if vocabulary.bare(node.id) is not None:
                    return None
                load = self.input_load(node.id, node)
                return c.Store(load.depth, load.slot, load.name, load.site)
            return c.Store(*found, node.id, self.site(node))
        if node.__class__ in (s.List, s.Tuple):
            places = [self.place(item) for item in node.elements]
            if all(p is not None for p in places):
                return c.Unpack(places, None, self.site(node))
            return None
        if node.__class__ is s.Subscript:
            return self.target(node)
        return None

    def attribute(self, node: s.Attribute) -> c.Expr:
        path = self.module_path(node)
        if path is not None:
            meaning = vocabulary.dotted(path)
            if meaning is None:
                raise self.unknown_member(path, node)
            return self.meaning(meaning, node)
        if node.name.startswith("__"):
            raise self.forbidden(node.name, node)
        return c.Attribute(self.expression(node.value), node.name, self.site(node))

    def subscript(self, node: s.Subscript) -> c.Expr:
        return c.Item(self.expression(node.value), self.index(node.index), self.site(node))

    def index(self, node: s.Expression) -> c.Expr:
        if node.__class__ is s.Name and node.id == "newaxis" and self.find("newaxis") is None:
            return c.Literal(None)
        if node.__class__ is s.Tuple:
            return c.MakeTuple([self.index(item) for item in node.elements])
        return self.expression(node)

    def slice_of(self, node: s.Slice) -> c.Expr:
        parts = [None if p is None else self.expression(p) for p in (node.lower, node.upper, node.step)]
        return c.SliceOf(*parts)

    def items(self, nodes: list[s.Expression]) -> list[c.Expr]:
        return [
            c.Spread(self.expression(n.value), self.site(n))
            if n.__class__ is s.Starred
            else self.expression(n, "argument")
            for n in nodes
        ]

    def list_display(self, node: s.List) -> c.Expr:
        return c.MakeList(self.items(node.elements))

    def tuple_display(self, node: s.Tuple) -> c.Expr:
        return c.MakeTuple(self.items(node.elements))

    def set_display(self, node: s.Set) -> c.Expr:
        raise self.error("E0207", "set displays are not part of the language", node, "write a list: [1, 2, 3]")

    def dict_display(self, node: s.Dict) -> c.Expr:
        keys = []
        for key in node.keys:
            if key is None:
                raise self.error("E0207", "'**' in a dict is not part of the language", node)
            keys.append(self.expression(key))
        return c.MakeDict(keys, [self.expression(v, "argument") for v in node.values], self.site(node))

    def comprehension(
        self, kind: str, key: s.Expression | None, element: s.Expression, generators: list[s.Comprehension]
    ) -> c.Expr:
        # The first iterable belongs to the scope around; each clause sees the variables of those before it.
        clauses: list[c.Clause] = []
        pushed = 0
        try:
            for generator in generators:
                iterable = self.expression(generator.iter)
                shadow = {name: self.scope.fresh(name) for name in target_names(generator.target)}
                self.shadows.append(shadow)
                pushed += 1
                target = self.target(generator.target)
                tests = [self.expression(t) for t in generator.ifs]
                clauses.append(c.Clause(target, iterable, tests, self.site(generator.iter)))
            lowered_key = None if key is None else self.expression(key)
            return c.Comprehension(kind, lowered_key, self.expression(element, "argument"), clauses)
        finally:
            del self.shadows[len(self.shadows) - pushed :]

    def list_comprehension(self, node: s.ListComp | s.GeneratorExp) -> c.Expr:
        return self.comprehension("list", None, node.element, node.generators)

    def dict_comprehension(self, node: s.DictComp) -> c.Expr:
        return self.comprehension("dict", node.key, node.value, node.generators)

    def lambda_(self, node: s.Lambda) -> c.Expr:
        return c.MakeFunction(self.function("<lambda>", node.parameters, None, node.body, node))

    def starred(self, node: s.Starred) -> c.Expr:
        raise self.error("E0207", "'*' can stand only in a call, a list or a tuple", node)

    # --- functions --------------------------------------------------------------------------------------------------

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

    # --- targets ----------------------------------------------------------------------------------------------------

    def target(self, node: s.Expression) -> c.Target:
        if node.__class__ is s.Name:
            name = node.id
            place = self.find(name)
            if place is None:  # an input that `watch` or an item assignment writes back
                load = self.input_load(name, node)
                return c.Store(load.depth, load.slot, name, self.site(node))
            return c.Store(*place, name, self.site(node))
        if node.__class__ in (s.Tuple, s.List):
            elements = node.elements
            stars = [i for i, item in enumerate(elements) if item.__class__ is s.Starred]
            if len(stars) > 1:
                raise self.error("E0207", "only one starred target is possible", elements[stars[1]])
            targets = [self.target(e.value if e.__class__ is s.Starred else e) for e in elements]
            return c.Unpack(targets, stars[0] if stars else None, self.site(node))
        if node.__class__ is s.Subscript:
            container = node.value
            back = self.target(container) if container.__class__ in (s.Name, s.Subscript) else None
            return c.StoreItem(self.expression(container), self.index(node.index), back, self.site(node))
        if node.__class__ is s.Attribute:
            raise self.error(
                "E0207", "attributes cannot be assigned", node, "tensors are values; a Variable has v.assign(...)"
            )
        raise self.error("E0207", "this cannot be assigned to", node)

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

    def import_(self, node: s.Import) -> None:
        for alias in node.names:
            if alias.name in vocabulary.IGNORED_IMPORTS:
                if alias.name.startswith("matplotlib"):  # for the words of the error where it is used
                    self.modules[alias.asname or "matplotlib"] = ["matplotlib"]
                continue
            if alias.name not in vocabulary.IMPORTABLE:
                raise self.refused_import(alias.name, alias)
            if alias.asname is None:
                root = alias.name.split(".")[0]
                self.modules.setdefault(root, [root])
            else:
                self.modules[alias.asname] = alias.name.split(".")
        return

    def import_from(self, node: s.ImportFrom) -> None:
        if node.module in vocabulary.IGNORED_IMPORTS:
            return
        if node.module not in vocabulary.IMPORTABLE:
            raise self.refused_import(node.module, node)
        path = node.module.split(".")
        for alias in node.names:
            bound = alias.asname or alias.name
            if alias.name == "*":
                continue
            meaning = vocabulary.dotted([*path, alias.name])
            if meaning is not None:
                self.imported[bound] = meaning
            elif f"{node.module}.{alias.name}" in vocabulary.IMPORTABLE or alias.name in vocabulary.SUBMODULES:
                self.modules[bound] = [*path, alias.name]
            else:
                raise self.unknown_member([*path, alias.name], alias)
        return

    def refused_import(self, name: str, node: s.Node) -> AdiffError:
        return self.error(
            "E0205", f"the module '{name}' cannot be imported", node,
            "adiff knows the names of numpy, tensorflow, jax, math and scipy.special, without any import too",
        )  # fmt: skip

    def global_(self, node: s.Node) -> None:
        return None


def did_you_mean(names: list[str]) -> str | None:
    if not names:
        return None
    return "did you mean " + " or ".join(f"'{name}'" for name in names[:3]) + "?"


def target_names(node: s.Expression) -> list[str]:
    """The variables that an assignment to `node` sets."""
    if node.__class__ is s.Name:
        return [node.id]
    if node.__class__ in (s.Tuple, s.List):
        return [name for item in node.elements for name in target_names(item)]
    if node.__class__ is s.Starred:
        return target_names(node.value)
    return []


def assigned_names(statements: list[s.Statement]) -> list[str]:
    """The variables that statements assign, not looking into functions, in order of appearance."""
    names: dict[str, None] = {}
    pending: list[s.Statement] = list(reversed(statements))
    while pending:
        node = pending.pop()
        cls = node.__class__
        found: list[str] = []
        if cls is s.Assign:
            found = [name for target in node.targets for name in target_names(target)]  # type: ignore[attr-defined]
        elif cls in (s.AnnAssign, s.AugAssign) or cls is s.For:
            found = target_names(node.target)  # type: ignore[attr-defined]
        elif cls is s.FunctionDef:
            found = [node.name]  # type: ignore[attr-defined]
        elif cls is s.With:
            found = [n for item in node.items if item.target is not None for n in target_names(item.target)]  # type: ignore[attr-defined]
        names.update(dict.fromkeys(found))
        if cls is not s.FunctionDef:
            for block in ("orelse", "body"):
                pending.extend(reversed(getattr(node, block, ())))
    return list(names)


def collect_declarations(statements: list[s.Statement], scope: Scope) -> None:
    """Note the `global` and `nonlocal` names of a function's body."""
    pending = list(statements)
    while pending:
        node = pending.pop()
        if node.__class__ is s.Global:
            scope.globals.update(node.names)
        elif node.__class__ is s.Nonlocal:
            scope.nonlocals.update(node.names)
        elif node.__class__ is not s.FunctionDef:
            for block in ("body", "orelse"):
                pending.extend(getattr(node, block, ()))


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


EXPRESSIONS: dict[type, Callable[[Lowering, Any], c.Expr]] = {
    s.Number: Lowering.number,
    s.String: Lowering.number,
    s.Constant: Lowering.number,
    s.FormattedString: Lowering.formatted,
    s.Unary: Lowering.unary,
    s.Binary: Lowering.binary,
    s.Compare: Lowering.compare,
    s.BoolOp: Lowering.logical,
    s.IfExp: Lowering.choose,
    s.Call: Lowering.call,
    s.Starred: Lowering.starred,
    s.Attribute: Lowering.attribute,
    s.Subscript: Lowering.subscript,
    s.Slice: Lowering.slice_of,
    s.List: Lowering.list_display,
    s.Tuple: Lowering.tuple_display,
    s.Set: Lowering.set_display,
    s.Dict: Lowering.dict_display,
    s.ListComp: Lowering.list_comprehension,
    s.GeneratorExp: Lowering.list_comprehension,
    s.DictComp: Lowering.dict_comprehension,
    s.Lambda: Lowering.lambda_,
}

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


def lower(source: Source, module: s.Module) -> c.CoreProgram:
    """The core program of a syntax tree. Raises AdiffError E02xx for names that mean nothing."""
    return Lowering(source).program(module)
