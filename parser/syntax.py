"""The syntax tree: what the parser gives and all that later stages know of the text.

A node's fields are its annotated names; the constructor takes them in their order, and then `start` and `end`.
`start` and `end` are offsets into the source, `end` exclusive. Parentheses leave no node and do not widen the node
inside them, but they do count into the node around: `(a + b)*c` spans all of its text.
"""

from __future__ import annotations

from .fields import Fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Node(metaclass=Fields):
    if TYPE_CHECKING:
        __slots__: tuple[str, ...]
    start: int
    end: int

    def __init__(self, *values: Any) -> None:
        *own, self.start, self.end = values
        for name, value in zip(self.__slots__, own, strict=True):
            setattr(self, name, value)

    def __repr__(self) -> str:
        """The node with its fields but without places; for reading in tests, and recursive."""
        fields = ", ".join(repr(getattr(self, field)) for field in self.__slots__)
        return f"{type(self).__name__}({fields})"


class Expression(Node):
    pass


class Statement(Node):
    pass


class Number(Expression):
    """A number literal; `value` is an int, float or complex."""

    value: complex


class String(Expression):
    """One or more adjacent string literals, decoded. A `b` prefix leaves no trace: strings here are text."""

    value: str


class FormattedString(Expression):
    """An f-string: literal text and replacement fields in order."""

    parts: list[str | FormattedValue]


class FormattedValue(Expression):
    """A replacement field; `conversion` is "r", "s", "a" or None, `spec` what follows the colon."""

    value: Expression
    conversion: str | None
    spec: FormattedString | None


class Name(Expression):
    id: str


class Constant(Expression):
    """`True`, `False`, `None` or `...`."""

    value: object


class Unary(Expression):
    """`op` is one of `-` `+` `~` `not`."""

    op: str
    operand: Expression


class Binary(Expression):
    """`op` is one of `+ - * / // % ** @ & | << >>`. A chain nests to the left, however long."""

    op: str
    left: Expression
    right: Expression


class Compare(Expression):
    """A chain of comparisons; operators are `< > <= >= == !=`, `in`, `not in`, `is` and `is not`."""

    left: Expression
    operators: list[str]
    comparators: list[Expression]


class BoolOp(Expression):
    """`op` is `and` or `or`; a chain of one operator is one node."""

    op: str
    values: list[Expression]


class IfExp(Expression):
    """`body if test else orelse`."""

    test: Expression
    body: Expression
    orelse: Expression


class Call(Expression):
    function: Expression
    arguments: list[Expression]
    keywords: list[Keyword]


class Keyword(Node):
    """`name=value` in a call; `**value` has no name."""

    name: str | None
    value: Expression


class Starred(Expression):
    """`*value` in a call, a display, a subscript or a target."""

    value: Expression


class Attribute(Expression):
    value: Expression
    name: str


class Subscript(Expression):
    """`index` is a Tuple where there is a comma, and may be or hold a Slice."""

    value: Expression
    index: Expression


class Slice(Expression):
    lower: Expression | None
    upper: Expression | None
    step: Expression | None


class List(Expression):
    elements: list[Expression]


class Tuple(Expression):
    elements: list[Expression]


class Set(Expression):
    elements: list[Expression]


class Dict(Expression):
    """The key of `**value` is None."""

    keys: list[Expression | None]
    values: list[Expression]


class ListComp(Expression):
    element: Expression
    generators: list[Comprehension]


class GeneratorExp(Expression):
    element: Expression
    generators: list[Comprehension]


class DictComp(Expression):
    key: Expression
    value: Expression
    generators: list[Comprehension]


class Comprehension(Node):
    """`for target in iter if ... if ...`."""

    target: Expression
    iter: Expression
    ifs: list[Expression]


class Lambda(Expression):
    parameters: list[Parameter]
    body: Expression


class Parameter(Node):
    """The names of `*rest` and `**named` begin with their stars, and a bare `*` is all of one."""

    name: str
    default: Expression | None
    annotation: Expression | None


class Module(Node):
    body: list[Statement]


class ExprStmt(Statement):
    value: Expression


class Assign(Statement):
    """`a = b = value` has two targets."""

    targets: list[Expression]
    value: Expression


class AnnAssign(Statement):
    target: Expression
    annotation: Expression
    value: Expression | None


class AugAssign(Statement):
    """`op` is the operator without its `=`."""

    target: Expression
    op: str
    value: Expression


class If(Statement):
    """An `elif` is an If alone in `orelse`."""

    test: Expression
    body: list[Statement]
    orelse: list[Statement]


class For(Statement):
    target: Expression
    iter: Expression
    body: list[Statement]
    orelse: list[Statement]


class While(Statement):
    test: Expression
    body: list[Statement]
    orelse: list[Statement]


class Break(Statement):
    pass


class Continue(Statement):
    pass


class Pass(Statement):
    pass


class Return(Statement):
    value: Expression | None


class Yield(Statement):
    """`yield value`; `each` is that of `yield from value`."""

    value: Expression | None
    each: bool


class FunctionDef(Statement):
    name: str
    parameters: list[Parameter]
    body: list[Statement]
    decorators: list[Expression]


class ClassDef(Statement):
    name: str
    bases: list[Expression]
    keywords: list[Keyword]
    body: list[Statement]
    decorators: list[Expression]


class Try(Statement):
    body: list[Statement]
    handlers: list[ExceptHandler]
    orelse: list[Statement]
    final: list[Statement]


class ExceptHandler(Node):
    """`except kind as name:`; without a kind it takes every error."""

    kind: Expression | None
    name: str | None
    body: list[Statement]


class Raise(Statement):
    value: Expression | None


class With(Statement):
    items: list[WithItem]
    body: list[Statement]


class WithItem(Node):
    context: Expression
    target: Expression | None


class Assert(Statement):
    test: Expression
    message: Expression | None


class Delete(Statement):
    targets: list[Expression]


class Import(Statement):
    names: list[Alias]


class ImportFrom(Statement):
    """`from module import *` has the one name `*`."""

    module: str
    names: list[Alias]


class Alias(Node):
    """`name` is dotted in an `import`."""

    name: str
    asname: str | None


class Global(Statement):
    names: list[str]


class Nonlocal(Statement):
    names: list[str]
