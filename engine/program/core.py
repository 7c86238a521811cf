"""The nodes of the core program.

Variables are resolved to a place: `depth` frames up from the current function's, `slot` within that frame. Every
expression that can fail carries a `site`, the place in the source (and the row, where one is applied).
"""

from __future__ import annotations

from ...parser.fields import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...parser.source import Source
    from ..core.state import Site
    from ..ops.operation import Operation

# The slots of a frame that are not variables: the frame of the enclosing function, and the running result.
PARENT = 0
RESULT = 1
# What a slot holds until its variable is assigned.
UNSET: Any = type("Unset", (), {"__repr__": lambda self: "UNSET"})()


class Node(Record):
    def __repr__(self) -> str:
        inner = ", ".join(repr(getattr(self, name)) for name in self.__slots__ if name != "site")
        return f"{type(self).__name__}({inner})"


class Expr(Node):
    pass


class Stmt(Node):
    pass


# --- expressions ----------------------------------------------------------------------------------------------------


class Literal(Expr):
    """A constant: a number, a string, None, a row, a dtype, ..."""

    value: Any


class Intrinsic(Expr):
    """A function of the language that is no row (range, grad, GradientTape, ...); each executor supplies it."""

    name: str


class LibraryName(Expr):
    """What a file of the library (program/library.py) defines: the file is parsed when the name is first read.

    With `default_dtypes`, what a function gives has TensorFlow's default dtypes in the place of those of bare numbers.
    """

    file: str
    name: str
    default_dtypes: bool


class Load(Expr):
    depth: int
    slot: int
    name: str
    site: Site


class Operator(Expr):
    """A binary operator of Python: the row `op` on numbers and tensors, Python's meaning on lists and strings."""

    op: Operation
    left: Expr
    right: Expr
    site: Site


class Prefix(Expr):
    op: Operation
    operand: Expr
    site: Site


class Comparison(Expr):
    """A chain of comparisons, each evaluated at most once: `a < b <= c`."""

    left: Expr
    symbols: list[str]
    ops: list[Operation | None]
    rights: list[Expr]
    site: Site


class Logical(Expr):
    """`and` / `or` over values, with Python's short circuit and its value."""

    symbol: str
    values: list[Expr]
    site: Site


class Not(Expr):
    operand: Expr
    site: Site


class Choose(Expr):
    test: Expr
    then: Expr
    otherwise: Expr
    site: Site


class Apply(Expr):
    """A call of a row of the table."""

    op: Operation
    args: list[Expr]
    keywords: list[tuple[str, Expr]]
    site: Site


class Call(Expr):
    """A call of anything else: a function of the program's, an intrinsic, a value. The name of `**value` is "**"."""

    function: Expr
    args: list[Expr]
    keywords: list[tuple[str, Expr]]
    site: Site


class Method(Expr):
    """`value.name(args)`."""

    value: Expr
    name: str
    args: list[Expr]
    keywords: list[tuple[str, Expr]]
    site: Site


class Watch(Expr):
    """`tape.watch(x)`: `target` is where the watched value goes back to, if `x` is a place."""

    tape: Expr
    value: Expr
    target: Target | None
    site: Site


class Attribute(Expr):
    value: Expr
    name: str
    site: Site


class Item(Expr):
    """`value[index]`."""

    value: Expr
    index: Expr
    site: Site


class SliceOf(Expr):
    lower: Expr | None
    upper: Expr | None
    step: Expr | None


class Spread(Expr):
    """`*value` in a call or a display."""

    value: Expr
    site: Site


class MakeList(Expr):
    items: list[Expr]


class MakeTuple(Expr):
    items: list[Expr]


class MakeDict(Expr):
    """The key of `**value` is None."""

    keys: list[Expr | None]
    values: list[Expr]
    site: Site


class Clause(Node):
    """`for target in iterable if test if test`."""

    target: Target
    iterable: Expr
    tests: list[Expr]
    site: Site


class Comprehension(Expr):
    """A comprehension of a "list" or a "dict", or a "generator" expression; `key` is None but for a dict."""

    kind: str
    key: Expr | None
    element: Expr
    clauses: list[Clause]


class FormatText(Expr):
    """An f-string: text and (value, conversion, format) in order."""

    parts: list[str | tuple[Expr, str | None, Expr | None]]
    site: Site


class FunctionCode(Node):
    """A function's code: its parameters fill the first variable slots of its frame.

    `positional` of them may be given by position, the others by name only. `rest` and `named` are the slots of `*rest`
    and `**named`, or None. `count` arguments by position are all that it takes; it is -1 where that depends on the call.
    `generates` says that there is a `yield` in the body, so that a call gives a generator.
    """

    name: str
    parameters: list[str]
    defaults: list[Expr | None]
    body: list[Stmt]
    site: Site
    slot_names: list[str]
    positional: int
    rest: int | None
    named: int | None
    count: int
    generates: bool


class MakeFunction(Expr):
    code: FunctionCode


class MakeClass(Expr):
    """A class: the body fills a frame, whose first variable is the class itself; `members` are its names with their slots,
    and `annotated` those that have an annotation.
    """

    bases: list[Expr]
    body: FunctionCode
    members: list[tuple[str, int]]
    annotated: list[str]


# --- targets --------------------------------------------------------------------------------------------------------


class Target(Node):
    pass


class Store(Target):
    depth: int
    slot: int
    name: str
    site: Site


class Unpack(Target):
    """A list of targets; `star` is the position of the starred one, or None."""

    targets: list[Target]
    star: int | None
    site: Site


class StoreItem(Target):
    """`container[index] = ...`. `back` is where an updated tensor goes: tensors are values."""

    container: Expr
    index: Expr
    back: Target | None
    site: Site


class StoreAttribute(Target):
    value: Expr
    name: str
    site: Site


# --- statements -----------------------------------------------------------------------------------------------------


class Evaluate(Stmt):
    """An expression statement; `result` says that its value may be the program's."""

    value: Expr
    result: bool


class Assign(Stmt):
    """`dtype` is the annotation's, if it names one; `result` as for Evaluate."""

    targets: list[Target]
    value: Expr
    dtype: Any
    result: bool
    site: Site


class Augment(Stmt):
    """`target op= value`: the container and index of an item are evaluated once."""

    target: Target
    op: Operation
    value: Expr
    result: bool
    site: Site


class If(Stmt):
    test: Expr
    body: list[Stmt]
    orelse: list[Stmt]
    site: Site


class For(Stmt):
    target: Target
    iterable: Expr
    body: list[Stmt]
    orelse: list[Stmt]
    site: Site


class While(Stmt):
    test: Expr
    body: list[Stmt]
    orelse: list[Stmt]
    site: Site


class Break(Stmt):
    pass


class Continue(Stmt):
    pass


class Return(Stmt):
    value: Expr | None
    result: bool


class Yield(Stmt):
    """`yield value`; with `each`, `yield from value`."""

    value: Expr
    each: bool
    site: Site


class Try(Stmt):
    """Each handler is the types it is for (None: all), where the exception goes, its block, and its site."""

    body: list[Stmt]
    handlers: list[tuple[Expr | None, list[Target], list[Stmt], Site]]
    orelse: list[Stmt]
    final: list[Stmt]
    site: Site


class Raise(Stmt):
    value: Expr
    site: Site


class With(Stmt):
    items: list[tuple[Expr, Target | None, Site]]
    body: list[Stmt]
    site: Site


class Assert(Stmt):
    test: Expr
    message: Expr | None
    site: Site


class Delete(Stmt):
    targets: list[Target]


class CoreProgram(Record):
    """A whole program.

    `inputs` are bound from outside to their slots of the module's frame, in the order of their first use; `places` is where
    each is read first. Names in `optional` may be bound and need not be, each with its slot and its meaning when it is not
    bound: those of the vocabulary used as values, and variables that may be read before they are assigned.
    """

    source: Source
    body: list[Stmt]
    inputs: dict[str, int]
    optional: dict[str, tuple[int, Any]]
    ends_with_value: bool
    slot_names: list[str]
    places: dict[str, Site]
