"""Expressions of the syntax tree, and what can be assigned to, as expressions of the core program."""

from __future__ import annotations

from ...parser import syntax as s
from ..ops.operation import Operation
from ..ops.registry import OPERATOR_METHODS, OPERATOR_ROWS, PREFIX_ROWS
from . import core as c
from . import library, vocabulary
from .names import Names
from .scopes import target_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import Any

# The first slot of a frame that is a variable.
FIRST = 2
# Python's own names that a program may define in its classes, and read.
METHODS = frozenset(
    """
    __name__ __init__ __call__ __repr__ __str__ __len__ __getitem__ __setitem__ __iter__ __next__ __contains__ __enter__ __exit__
    __neg__ __bool__ __hash__ __post_init__ __init_subclass__
    """.split()
).union(*OPERATOR_METHODS.values())


def is_inside(name: str, known: Collection[str]) -> bool:
    """Whether a name is one of Python's own insides, beside those that are `known`."""
    return name.startswith("__") and name.endswith("__") and name not in known


def is_literal(node: s.Node) -> bool:
    """Whether an argument is a number, a bool, None or a text, or a list or tuple of them."""
    if node.__class__ is s.Unary:
        return is_literal(node.operand)
    if node.__class__ in (s.List, s.Tuple):
        return all(map(is_literal, node.elements))
    return node.__class__ in (s.Number, s.Constant, s.String)


class Expressions(Names):
    """The part of the lowering that expressions take."""

    if TYPE_CHECKING:
        function: Callable[..., c.FunctionCode]

    def expression(self, node: s.Expression, position: str = "value") -> c.Expr:
        handler = EXPRESSIONS.get(node.__class__)
        if handler is not None:
            return handler(self, node)
        assert node.__class__ is s.Name
        return self.name(node, position)

    def formatted(self, node: s.FormattedString) -> c.Expr:
        def formatted(part: Any) -> Any:
            spec = None if part.spec is None else self.expression(part.spec)
            return self.expression(part.value), part.conversion, spec

        parts = [part if isinstance(part, str) else formatted(part) for part in node.parts]
        return c.FormatText(parts, self.site(node))

    def unary(self, node: s.Unary) -> c.Expr:
        if node.op == "not":
            return c.Not(self.expression(node.operand), self.site(node))
        operand = self.expression(node.operand)
        if node.op == "-" and operand.__class__ is c.Literal and operand.value.__class__ in (int, float, complex):
            return c.Literal(-operand.value)
        op = PREFIX_ROWS[node.op]
        return c.Prefix(op, operand, self.site(node, op))

    def binary(self, node: s.Binary) -> c.Expr:
        # A sum of 100,000 terms nests that deep on the left: walk down it, then build back up.
        spine: list[s.Binary] = []
        left: s.Expression = node
        while left.__class__ is s.Binary:
            spine.append(left)
            left = left.left
        built = self.expression(left)
        for item in reversed(spine):
            op = OPERATOR_ROWS[item.op]
            built = c.Operator(op, built, self.expression(item.right), self.site(item, op))
        return built

    def compare(self, node: s.Compare) -> c.Expr:
        ops = [OPERATOR_ROWS.get(o) for o in node.operators]
        sides = [node.left, *node.comparators]
        if any(x.__class__ is s.Attribute and x.name == "shape" for x in sides):
            # TensorFlow's shapes are equal to lists of their sizes.
            sides = [s.Tuple(x.elements, x.start, x.end) if x.__class__ is s.List else x for x in sides]
        left, *rights = [self.expression(x, "argument" if i else "value") for i, x in enumerate(sides)]
        return c.Comparison(left, node.operators, ops, rights, self.site(node))

    # --- calls ------------------------------------------------------------------------------------------------------

    def arguments(self, node: s.Call) -> tuple[list[c.Expr], list[tuple[str, c.Expr]]]:
        args = self.items(node.arguments)
        keywords: list[tuple[str, c.Expr]] = []
        seen: set[str] = set()
        for keyword in node.keywords:
            if keyword.name is None:
                keywords.append(("**", self.expression(keyword.value)))
                continue
            if keyword.name in seen:
                raise self.error("E0207", f"the keyword '{keyword.name}' is given twice", keyword)
            seen.add(keyword.name)
            keywords.append((keyword.name, self.expression(keyword.value, "argument")))
        return args, keywords

    def module_has(self, module: s.Expression, name: s.Expression) -> bool | None:
        """What `hasattr(tf.ragged, "cross")` gives; None where it does not ask a module."""
        named = s.Attribute(module, getattr(name, "value", ""), module.start, module.end)
        path = self.module_path(named)
        if path is None or name.__class__ is not s.String or vocabulary.has_attributes(path[:-1]):
            return None
        return vocabulary.dotted(path) is not None or vocabulary.is_module(path)

    def call(self, node: s.Call) -> c.Expr:
        callee = node.function
        path = self.module_path(callee)
        if path is not None:
            meaning = vocabulary.called(path)
            if meaning is not None and not vocabulary.is_constant(meaning):
                found = self.call_of(meaning, node)
                given = [*node.arguments, *[keyword.value for keyword in node.keywords]]
                literal = bool(given) and all(is_literal(x) or self.holds_literal(x) for x in given)
                operation = found.__class__ is c.Apply or library.operation_of(meaning) is not None
                if literal and operation and vocabulary.MODULES.get(path[0]) == "tensorflow":
                    from ..ops.tensorflow import WITH_DEFAULT_DTYPE

                    return c.Apply(WITH_DEFAULT_DTYPE, [found], [], self.site(node))
                return found
            if meaning is not None or not vocabulary.has_attributes(path[:-1]):
                raise self.unknown_member(path, callee)
        if callee.__class__ is s.Name and callee.id == "hasattr" and len(node.arguments) == 2:
            answer = self.module_has(*node.arguments)
            if answer is not None:
                return c.Literal(answer)
        if callee.__class__ is s.Attribute:
            name = callee.name
            if is_inside(name, METHODS):
                raise self.forbidden(name, callee)
            value = self.expression(callee.value)
            if name == "watch" and len(node.arguments) == 1 and not node.keywords:
                argument = node.arguments[0]
                target = self.place(argument)
                return c.Watch(value, self.expression(argument), target, self.site(node))
            args, keywords = self.arguments(node)
            return c.Method(value, name, args, keywords, self.site(node))
        if callee.__class__ is s.Name:
            if callee.id == "super" and self.find("super") is None:
                return self.super_(node)
            return self.call_of(self.name(callee, "call"), node)
        if callee.__class__ is s.Number:
            raise self.error("E0203", "a number cannot be called", node, "write '*' to multiply: 2*(x + 1)")
        return self.call_of(self.expression(callee), node)

    def holds_literal(self, node: s.Expression) -> bool:
        """Whether an argument is a variable of the module that a literal is assigned to, and nothing else."""
        if node.__class__ is not s.Name or node.id not in self.literals:
            return False
        return self.find(node.id) == (self.height(self.scope), self.module.slots.get(node.id))

    def super_(self, node: s.Call) -> c.Expr:
        """`super()` in a method is `super(the class around it, its first argument)`."""
        site = self.site(node)
        if node.arguments:
            return c.Call(c.Intrinsic("super"), *self.arguments(node), site)
        depth, scope = 0, self.scope
        while scope.parent is not None and not scope.parent.of_class:
            depth, scope = depth + 1, scope.parent
        if scope.parent is None or len(scope.slots) < 1:
            raise self.error("E0207", "super() stands outside the methods of a class", node, "write the class's name")
        cls, first = next(iter(scope.parent.slots)), next(iter(scope.slots))
        loads: list[c.Expr] = [c.Load(depth + 1, FIRST, cls, site), c.Load(depth, FIRST, first, site)]
        return c.Call(c.Intrinsic("super"), loads, [], site)

    def call_of(self, function: c.Expr, node: s.Call) -> c.Expr:
        args, keywords = self.arguments(node)
        if function.__class__ is c.Literal and function.value.__class__ is Operation:
            row = function.value
            if row.longer is not None and len(args) > row.most and not keywords:
                row = row.longer
            return c.Apply(row, args, keywords, self.site(node, row))
        return c.Call(function, args, keywords, self.site(node))

    def place(self, node: s.Expression) -> c.Target | None:
        """The place that an argument of `watch` names, so that the watched value can be put back there."""
        if node.__class__ in (s.List, s.Tuple):
            places = [self.place(item) for item in node.elements]
            return c.Unpack(places, None, self.site(node)) if None not in places else None
        if node.__class__ is s.Name and self.find(node.id) is None and vocabulary.bare(node.id) is not None:
            return None
        return self.target(node) if node.__class__ in (s.Name, s.Subscript) else None

    # --- parts ------------------------------------------------------------------------------------------------------

    def attribute(self, node: s.Attribute) -> c.Expr:
        path = self.module_path(node)
        if path is not None:
            meaning = vocabulary.dotted(path)
            if meaning is not None:
                return meaning
            if not vocabulary.has_attributes(path[:-1]):
                raise self.unknown_member(path, node)
        if is_inside(node.name, METHODS):
            raise self.forbidden(node.name, node)
        position = "argument" if node.name == "__name__" else "value"  # of a function: int.__name__
        return c.Attribute(self.expression(node.value, position), node.name, self.site(node))

    def index(self, node: s.Expression) -> c.Expr:
        if node.__class__ is s.Name and node.id == "newaxis" and self.find("newaxis") is None:
            return c.Literal(None)
        if node.__class__ is s.Tuple:
            return c.MakeTuple([self.index(item) for item in node.elements])
        return self.expression(node)

    def slice_of(self, node: s.Slice) -> c.Expr:
        parts = [None if p is None else self.expression(p) for p in (node.lower, node.upper, node.step)]
        return c.SliceOf(*parts)

    # --- displays and functions -------------------------------------------------------------------------------------

    def items(self, nodes: list[s.Expression]) -> list[c.Expr]:
        """The items of a display, or the arguments of a call by position."""
        return [
            c.Spread(self.expression(n.value), self.site(n))
            if n.__class__ is s.Starred
            else self.expression(n, "argument")
            for n in nodes
        ]

    def set_display(self, node: s.Set) -> c.Expr:
        return c.Call(
            c.LibraryName("builtins.sets", "set", False), [c.MakeList(self.items(node.elements))], [], self.site(node)
        )

    def dict_display(self, node: s.Dict) -> c.Expr:
        keys = [None if key is None else self.expression(key) for key in node.keys]
        return c.MakeDict(keys, [self.expression(v, "argument") for v in node.values], self.site(node))

    def comprehension(
        self, kind: str, key: s.Expression | None, element: s.Expression, generators: list[s.Comprehension]
    ) -> c.Expr:
        # The first iterable belongs to the scope around; each clause sees the variables of those before it.
        clauses: list[c.Clause] = []
        shadows = self.scope.shadows
        for generator in generators:
            iterable = self.expression(generator.iter)
            shadows.append({name: self.scope.fresh(name) for name in target_names(generator.target)})
            target = self.target(generator.target)
            tests = [self.expression(t) for t in generator.ifs]
            clauses.append(c.Clause(target, iterable, tests, self.site(generator.iter)))
        lowered_key = None if key is None else self.expression(key)
        made = c.Comprehension(kind, lowered_key, self.expression(element, "argument"), clauses)
        del shadows[len(shadows) - len(generators) :]
        return made

    def starred(self, node: s.Starred) -> c.Expr:
        raise self.error("E0207", "'*' can stand only in a call, a list or a tuple", node)

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
            back = self.target(container) if container.__class__ in (s.Name, s.Subscript, s.Attribute) else None
            return c.StoreItem(self.expression(container), self.index(node.index), back, self.site(node))
        if node.__class__ is s.Attribute:
            path = self.module_path(node)
            if path is not None and path[0] in vocabulary.PASSED_OVER:
                return c.StoreAttribute(c.Intrinsic(path[0]), node.name, self.site(node))
            if path is not None:
                raise self.error("E0207", "names of a module cannot be assigned", node, "give it a name of its own")
            if is_inside(node.name, ()):
                raise self.forbidden(node.name, node)
            return c.StoreAttribute(self.expression(node.value), node.name, self.site(node))
        raise self.error("E0207", "this cannot be assigned to", node)


EXPRESSIONS: dict[type, Callable[[Expressions, Any], c.Expr]] = {
    **dict.fromkeys((s.Number, s.String, s.Constant), lambda self, node: c.Literal(node.value)),
    s.FormattedString: Expressions.formatted,
    s.Unary: Expressions.unary,
    s.Binary: Expressions.binary,
    s.Compare: Expressions.compare,
    s.BoolOp: lambda self, node: c.Logical(node.op, [self.expression(x) for x in node.values], self.site(node)),
    s.IfExp: lambda self, node: c.Choose(
        self.expression(node.test), self.expression(node.body, "argument"), self.expression(node.orelse, "argument"),
        self.site(node.test),
    ),
    s.Call: Expressions.call,
    s.Starred: Expressions.starred,
    s.Attribute: Expressions.attribute,
    s.Subscript: lambda self, node: c.Item(self.expression(node.value), self.index(node.index), self.site(node)),
    s.Slice: Expressions.slice_of,
    s.List: lambda self, node: c.MakeList(self.items(node.elements)),
    s.Tuple: lambda self, node: c.MakeTuple(self.items(node.elements)),
    s.Set: Expressions.set_display,
    s.Dict: Expressions.dict_display,
    s.ListComp: lambda self, node: self.comprehension("list", None, node.element, node.generators),
    s.GeneratorExp: lambda self, node: self.comprehension("generator", None, node.element, node.generators),
    s.DictComp: lambda self, node: self.comprehension("dict", node.key, node.value, node.generators),
    s.Lambda: lambda self, node: c.MakeFunction(self.function("<lambda>", node.parameters, node.body, node)),
}  # fmt: skip
