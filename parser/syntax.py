# ruff: noqa: RUF023  # the order of `__slots__` is the order of the fields
"""The syntax tree: what the parser gives and all that later stages know of the text.

A node's fields are its `__slots__`, in the order of its constructor; `start` and `end` follow them.
`start` and `end` are offsets into the source, `end` exclusive. Parentheses leave no node and do not widen the node
inside them, but they do count into the node around: `(a + b)*c` spans all of its text.
"""

from __future__ import annotations


class Node:
    __slots__ = ("end", "start")
    start: int
    end: int

    def __repr__(self) -> str:
        """The node with its fields but without places; for reading in tests, and recursive."""
        fields = ", ".join(repr(getattr(self, field)) for field in type(self).__slots__)
        return f"{type(self).__name__}({fields})"


class Expression(Node):
    __slots__ = ()


class Statement(Node):
    __slots__ = ()


class Number(Expression):
    """A number literal; `value` is an int, float or complex."""

    __slots__ = ("value",)

    def __init__(self, value: complex, start: int, end: int) -> None:
        self.value = value
        self.start = start
        self.end = end


class String(Expression):
    """One or more adjacent string literals, decoded. A `b` prefix leaves no trace: strings here are text."""

    __slots__ = ("value",)

    def __init__(self, value: str, start: int, end: int) -> None:
        self.value = value
        self.start = start
        self.end = end


class FormattedString(Expression):
    """An f-string: literal text and replacement fields in order."""

    __slots__ = ("parts",)

    def __init__(self, parts: list[str | FormattedValue], start: int, end: int) -> None:
        self.parts = parts
        self.start = start
        self.end = end


class FormattedValue(Expression):
    """A replacement field; `conversion` is "r", "s", "a" or None, `spec` what follows the colon."""

    __slots__ = ("value", "conversion", "spec")

    def __init__(
        self,
        value: Expression,
        conversion: str | None,
        spec: FormattedString | None,
        start: int,
        end: int,
    ) -> None:
        self.value = value
        self.conversion = conversion
        self.spec = spec
        self.start = start
        self.end = end


class Name(Expression):
    __slots__ = ("id",)

    def __init__(self, id: str, start: int, end: int) -> None:
        self.id = id
        self.start = start
        self.end = end


class Constant(Expression):
    """`True`, `False`, `None` or `...`."""

    __slots__ = ("value",)

    def __init__(self, value: object, start: int, end: int) -> None:
        self.value = value
        self.start = start
        self.end = end


class Unary(Expression):
    """`op` is one of `-` `+` `~` `not`."""

    __slots__ = ("op", "operand")

    def __init__(self, op: str, operand: Expression, start: int, end: int) -> None:
        self.op = op
        self.operand = operand
        self.start = start
        self.end = end


class Binary(Expression):
    """`op` is one of `+ - * / // % ** @ & | << >>`. A chain nests to the left, however long."""

    __slots__ = ("op", "left", "right")

    def __init__(self, op: str, left: Expression, right: Expression, start: int, end: int) -> None:
        self.op = op
        self.left = left
        self.right = right
        self.start = start
        self.end = end


class Compare(Expression):
    """A chain of comparisons; operators are `< > <= >= == !=`, `in`, `not in`, `is` and `is not`."""

    __slots__ = ("left", "operators", "comparators")

    def __init__(
        self,
        left: Expression,
        operators: list[str],
        comparators: list[Expression],
        start: int,
        end: int,
    ) -> None:
        self.left = left
        self.operators = operators
        self.comparators = comparators
        self.start = start
        self.end = end


class BoolOp(Expression):
    """`op` is `and` or `or`; a chain of one operator is one node."""

    __slots__ = ("op", "values")

    def __init__(self, op: str, values: list[Expression], start: int, end: int) -> None:
        self.op = op
        self.values = values
        self.start = start
        self.end = end


class IfExp(Expression):
    """`body if test else orelse`."""

    __slots__ = ("test", "body", "orelse")

    def __init__(self, test: Expression, body: Expression, orelse: Expression, start: int, end: int) -> None:
        self.test = test
        self.body = body
        self.orelse = orelse
        self.start = start
        self.end = end


class Call(Expression):
    __slots__ = ("function", "arguments", "keywords")

    def __init__(
        self,
        function: Expression,
        arguments: list[Expression],
        keywords: list[Keyword],
        start: int,
        end: int,
    ) -> None:
        self.function = function
        self.arguments = arguments
        self.keywords = keywords
        self.start = start
        self.end = end


class Keyword(Node):
    """`name=value` in a call; `**value` has no name."""

    __slots__ = ("name", "value")

    def __init__(self, name: str | None, value: Expression, start: int, end: int) -> None:
        self.name = name
        self.value = value
        self.start = start
        self.end = end


class Starred(Expression):
    """`*value` in a call, a display, a subscript or a target."""

    __slots__ = ("value",)

    def __init__(self, value: Expression, start: int, end: int) -> None:
        self.value = value
        self.start = start
        self.end = end


class Attribute(Expression):
    __slots__ = ("value", "name")

    def __init__(self, value: Expression, name: str, start: int, end: int) -> None:
        self.value = value
        self.name = name
        self.start = start
        self.end = end


class Subscript(Expression):
    """`index` is a Tuple where there is a comma, and may be or hold a Slice."""

    __slots__ = ("value", "index")

    def __init__(self, value: Expression, index: Expression, start: int, end: int) -> None:
        self.value = value
        self.index = index
        self.start = start
        self.end = end


class Slice(Expression):
    __slots__ = ("lower", "upper", "step")

    def __init__(
        self,
        lower: Expression | None,
        upper: Expression | None,
        step: Expression | None,
        start: int,
        end: int,
    ) -> None:
        self.lower = lower
        self.upper = upper
        self.step = step
        self.start = start
        self.end = end


class List(Expression):
    __slots__ = ("elements",)

    def __init__(self, elements: list[Expression], start: int, end: int) -> None:
        self.elements = elements
        self.start = start
        self.end = end


class Tuple(Expression):
    __slots__ = ("elements",)

    def __init__(self, elements: list[Expression], start: int, end: int) -> None:
        self.elements = elements
        self.start = start
        self.end = end


class Set(Expression):
    __slots__ = ("elements",)

    def __init__(self, elements: list[Expression], start: int, end: int) -> None:
        self.elements = elements
        self.start = start
        self.end = end


class Dict(Expression):
    """The key of `**value` is None."""

    __slots__ = ("keys", "values")

    def __init__(self, keys: list[Expression | None], values: list[Expression], start: int, end: int) -> None:
        self.keys = keys
        self.values = values
        self.start = start
        self.end = end


class ListComp(Expression):
    __slots__ = ("element", "generators")

    def __init__(self, element: Expression, generators: list[Comprehension], start: int, end: int) -> None:
        self.element = element
        self.generators = generators
        self.start = start
        self.end = end


class GeneratorExp(Expression):
    __slots__ = ("element", "generators")

    def __init__(self, element: Expression, generators: list[Comprehension], start: int, end: int) -> None:
        self.element = element
        self.generators = generators
        self.start = start
        self.end = end


class DictComp(Expression):
    __slots__ = ("key", "value", "generators")

    def __init__(
        self,
        key: Expression,
        value: Expression,
        generators: list[Comprehension],
        start: int,
        end: int,
    ) -> None:
        self.key = key
        self.value = value
        self.generators = generators
        self.start = start
        self.end = end


class Comprehension(Node):
    """`for target in iter if ... if ...`."""

    __slots__ = ("target", "iter", "ifs")

    def __init__(self, target: Expression, iter: Expression, ifs: list[Expression], start: int, end: int) -> None:
        self.target = target
        self.iter = iter
        self.ifs = ifs
        self.start = start
        self.end = end


class Lambda(Expression):
    __slots__ = ("parameters", "body")

    def __init__(self, parameters: list[Parameter], body: Expression, start: int, end: int) -> None:
        self.parameters = parameters
        self.body = body
        self.start = start
        self.end = end


class Parameter(Node):
    """The names of `*rest` and `**named` begin with their stars, and a bare `*` is all of one."""

    __slots__ = ("name", "default", "annotation")

    def __init__(
        self,
        name: str,
        default: Expression | None,
        annotation: Expression | None,
        start: int,
        end: int,
    ) -> None:
        self.name = name
        self.default = default
        self.annotation = annotation
        self.start = start
        self.end = end


class Module(Node):
    __slots__ = ("body",)

    def __init__(self, body: list[Statement], start: int, end: int) -> None:
        self.body = body
        self.start = start
        self.end = end


class ExprStmt(Statement):
    __slots__ = ("value",)

    def __init__(self, value: Expression, start: int, end: int) -> None:
        self.value = value
        self.start = start
        self.end = end


class Assign(Statement):
    """`a = b = value` has two targets."""

    __slots__ = ("targets", "value")

    def __init__(self, targets: list[Expression], value: Expression, start: int, end: int) -> None:
        self.targets = targets
        self.value = value
        self.start = start
        self.end = end


class AnnAssign(Statement):
    __slots__ = ("target", "annotation", "value")

    def __init__(
        self,
        target: Expression,
        annotation: Expression,
        value: Expression | None,
        start: int,
        end: int,
    ) -> None:
        self.target = target
        self.annotation = annotation
        self.value = value
        self.start = start
        self.end = end


class AugAssign(Statement):
    """`op` is the operator without its `=`."""

    __slots__ = ("target", "op", "value")

    def __init__(self, target: Expression, op: str, value: Expression, start: int, end: int) -> None:
        self.target = target
        self.op = op
        self.value = value
        self.start = start
        self.end = end


class If(Statement):
    """An `elif` is an If alone in `orelse`."""

    __slots__ = ("test", "body", "orelse")

    def __init__(self, test: Expression, body: list[Statement], orelse: list[Statement], start: int, end: int) -> None:
        self.test = test
        self.body = body
        self.orelse = orelse
        self.start = start
        self.end = end


class For(Statement):
    __slots__ = ("target", "iter", "body", "orelse")

    def __init__(
        self,
        target: Expression,
        iter: Expression,
        body: list[Statement],
        orelse: list[Statement],
        start: int,
        end: int,
    ) -> None:
        self.target = target
        self.iter = iter
        self.body = body
        self.orelse = orelse
        self.start = start
        self.end = end


class While(Statement):
    __slots__ = ("test", "body", "orelse")

    def __init__(self, test: Expression, body: list[Statement], orelse: list[Statement], start: int, end: int) -> None:
        self.test = test
        self.body = body
        self.orelse = orelse
        self.start = start
        self.end = end


class Break(Statement):
    __slots__ = ()

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end


class Continue(Statement):
    __slots__ = ()

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end


class Pass(Statement):
    __slots__ = ()

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end


class Return(Statement):
    __slots__ = ("value",)

    def __init__(self, value: Expression | None, start: int, end: int) -> None:
        self.value = value
        self.start = start
        self.end = end


class Yield(Statement):
    """`yield value`; `each` is that of `yield from value`."""

    __slots__ = ("value", "each")

    def __init__(self, value: Expression | None, each: bool, start: int, end: int) -> None:
        self.value = value
        self.each = each
        self.start = start
        self.end = end


class FunctionDef(Statement):
    __slots__ = ("name", "parameters", "body", "decorators", "returns")

    def __init__(
        self,
        name: str,
        parameters: list[Parameter],
        body: list[Statement],
        decorators: list[Expression],
        returns: Expression | None,
        start: int,
        end: int,
    ) -> None:
        self.name = name
        self.parameters = parameters
        self.body = body
        self.decorators = decorators
        self.returns = returns
        self.start = start
        self.end = end


class ClassDef(Statement):
    __slots__ = ("name", "bases", "keywords", "body", "decorators")

    def __init__(
        self,
        name: str,
        bases: list[Expression],
        keywords: list[Keyword],
        body: list[Statement],
        decorators: list[Expression],
        start: int,
        end: int,
    ) -> None:
        self.name = name
        self.bases = bases
        self.keywords = keywords
        self.body = body
        self.decorators = decorators
        self.start = start
        self.end = end


class Try(Statement):
    __slots__ = ("body", "handlers", "orelse", "final")

    def __init__(
        self,
        body: list[Statement],
        handlers: list[ExceptHandler],
        orelse: list[Statement],
        final: list[Statement],
        start: int,
        end: int,
    ) -> None:
        self.body = body
        self.handlers = handlers
        self.orelse = orelse
        self.final = final
        self.start = start
        self.end = end


class ExceptHandler(Node):
    """`except kind as name:`; without a kind it takes every error."""

    __slots__ = ("kind", "name", "body")

    def __init__(self, kind: Expression | None, name: str | None, body: list[Statement], start: int, end: int) -> None:
        self.kind = kind
        self.name = name
        self.body = body
        self.start = start
        self.end = end


class Raise(Statement):
    __slots__ = ("value", "cause")

    def __init__(self, value: Expression | None, cause: Expression | None, start: int, end: int) -> None:
        self.value = value
        self.cause = cause
        self.start = start
        self.end = end


class With(Statement):
    __slots__ = ("items", "body")

    def __init__(self, items: list[WithItem], body: list[Statement], start: int, end: int) -> None:
        self.items = items
        self.body = body
        self.start = start
        self.end = end


class WithItem(Node):
    __slots__ = ("context", "target")

    def __init__(self, context: Expression, target: Expression | None, start: int, end: int) -> None:
        self.context = context
        self.target = target
        self.start = start
        self.end = end


class Assert(Statement):
    __slots__ = ("test", "message")

    def __init__(self, test: Expression, message: Expression | None, start: int, end: int) -> None:
        self.test = test
        self.message = message
        self.start = start
        self.end = end


class Delete(Statement):
    __slots__ = ("targets",)

    def __init__(self, targets: list[Expression], start: int, end: int) -> None:
        self.targets = targets
        self.start = start
        self.end = end


class Import(Statement):
    __slots__ = ("names",)

    def __init__(self, names: list[Alias], start: int, end: int) -> None:
        self.names = names
        self.start = start
        self.end = end


class ImportFrom(Statement):
    """`from module import *` has the one name `*`."""

    __slots__ = ("module", "names")

    def __init__(self, module: str, names: list[Alias], start: int, end: int) -> None:
        self.module = module
        self.names = names
        self.start = start
        self.end = end


class Alias(Node):
    """`name` is dotted in an `import`."""

    __slots__ = ("name", "asname")

    def __init__(self, name: str, asname: str | None, start: int, end: int) -> None:
        self.name = name
        self.asname = asname
        self.start = start
        self.end = end


class Global(Statement):
    __slots__ = ("names",)

    def __init__(self, names: list[str], start: int, end: int) -> None:
        self.names = names
        self.start = start
        self.end = end


class Nonlocal(Statement):
    __slots__ = ("names",)

    def __init__(self, names: list[str], start: int, end: int) -> None:
        self.names = names
        self.start = start
        self.end = end
