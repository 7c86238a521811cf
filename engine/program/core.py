"""The nodes of the core program.

Variables are resolved to a place: `depth` frames up from the current function's, `slot` within that frame. Every
expression that can fail carries a `site`, the place in the source (and the row, where one is applied).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...parser.source import Source
    from ..core.operation import Operation
    from ..core.state import Site

# The slots of a frame that are not variables: the frame of the enclosing function, and the running result.
PARENT = 0
RESULT = 1
# What a slot holds until its variable is assigned.
UNSET: Any = type("Unset", (), {"__repr__": lambda self: "UNSET"})()


class Node:
    """A node of the core program; its fields are its `__slots__`."""

    __slots__: tuple[str, ...] = ()

    def __init__(self, *fields: Any) -> None:
        for name, value in zip(self.__slots__, fields, strict=True):
            setattr(self, name, value)

    def __repr__(self) -> str:
        inner = ", ".join(repr(getattr(self, name)) for name in self.__slots__ if name != "site")
        return f"{type(self).__name__}({inner})"


class Expr(Node):
    __slots__ = ()


class Stmt(Node):
    __slots__ = ()


# --- expressions ----------------------------------------------------------------------------------------------------


class Literal(Expr):
    """A constant: a number, a string, None, a row, a dtype, ..."""

    __slots__ = ("value",)
    value: Any


class Intrinsic(Expr):
    """A function of the language that is no row (range, grad, GradientTape, ...); each executor supplies it."""

    __slots__ = ("name",)
    name: str


class LibraryName(Expr):
    """What a file of the library (program/library.py) defines: the file is parsed when the name is first read."""

    __slots__ = ("file", "name")
    file: str
    name: str


class Load(Expr):
    __slots__ = ("depth", "slot", "name", "site")
    depth: int
    slot: int
    name: str
    site: Site


class Operator(Expr):
    """A binary operator of Python: the row `op` on numbers and tensors, Python's meaning on lists and strings."""

    __slots__ = ("symbol", "op", "left", "right", "site")
    symbol: str
    op: Operation
    left: Expr
    right: Expr
    site: Site


class Prefix(Expr):
    __slots__ = ("symbol", "op", "operand", "site")
    symbol: str
    op: Operation
    operand: Expr
    site: Site


class Comparison(Expr):
    """A chain of comparisons, each evaluated at most once: `a < b <= c`."""

    __slots__ = ("left", "symbols", "ops", "rights", "site")
    left: Expr
    symbols: list[str]
    ops: list[Operation | None]
    rights: list[Expr]
    site: Site


class Logical(Expr):
    """`and` / `or` over values, with Python's short circuit and its value."""

    __slots__ = ("symbol", "values", "site")
    symbol: str
    values: list[Expr]
    site: Site


class Not(Expr):
    __slots__ = ("operand", "site")
    operand: Expr
    site: Site


class Choose(Expr):
    __slots__ = ("test", "then", "otherwise", "site")
    test: Expr
    then: Expr
    otherwise: Expr
    site: Site


class Apply(Expr):
    """A call of a row of the table."""

    __slots__ = ("op", "args", "keywords", "site")
    op: Operation
    args: list[Expr]
    keywords: list[tuple[str, Expr]]
    site: Site


class Call(Expr):
    """A call of anything else: a function of the program's, an intrinsic, a value. The name of `**value` is "**"."""

    __slots__ = ("function", "args", "keywords", "site")
    function: Expr
    args: list[Expr]
    keywords: list[tuple[str, Expr]]
    site: Site


class Method(Expr):
    """`value.name(args)`."""

    __slots__ = ("value", "name", "args", "keywords", "site")
    value: Expr
    name: str
    args: list[Expr]
    keywords: list[tuple[str, Expr]]
    site: Site


class Watch(Expr):
    """`tape.watch(x)`: `target` is where the watched value goes back to, if `x` is a place."""

    __slots__ = ("tape", "value", "target", "site")
    tape: Expr
    value: Expr
    target: Target | None
    site: Site


class Attribute(Expr):
    __slots__ = ("value", "name", "site")
    value: Expr
    name: str
    site: Site


class Item(Expr):
    """`value[index]`."""

    __slots__ = ("value", "index", "site")
    value: Expr
    index: Expr
    site: Site


class SliceOf(Expr):
    __slots__ = ("lower", "upper", "step")
    lower: Expr | None
    upper: Expr | None
    step: Expr | None


class Spread(Expr):
    """`*value` in a call or a display."""

    __slots__ = ("value", "site")
    value: Expr
    site: Site


class MakeList(Expr):
    __slots__ = ("items",)
    items: list[Expr]


class MakeTuple(Expr):
    __slots__ = ("items",)
    items: list[Expr]


class MakeDict(Expr):
    """The key of `**value` is None."""

    __slots__ = ("keys", "values", "site")
    keys: list[Expr | None]
    values: list[Expr]
    site: Site


class Clause(Node):
    """`for target in iterable if test if test`."""

    __slots__ = ("target", "iterable", "tests", "site")
    target: Target
    iterable: Expr
    tests: list[Expr]
    site: Site


class Comprehension(Expr):
    """A list ("list") or dict ("dict") comprehension; `key` is None for a list."""

    __slots__ = ("kind", "key", "element", "clauses")
    kind: str
    key: Expr | None
    element: Expr
    clauses: list[Clause]


class FormatText(Expr):
    """An f-string: text and (value, conversion, format) in order."""

    __slots__ = ("parts", "site")
    parts: list[str | tuple[Expr, str | None, Expr | None]]
    site: Site


class FunctionCode(Node):
    """A function's code: its parameters fill the first variable slots of its frame.

    `positional` of them may be given by position, the others by name only. `rest` and `named` are the slots of `*rest`
    and `**named`, or None. `count` arguments by position are all that it takes; it is -1 where that depends on the call.
    `generates` says that there is a `yield` in the body, so that a call gives a generator.
    """

    __slots__ = (
        "name", "parameters", "defaults", "size", "body", "site", "slot_names", "positional", "rest", "named", "count",
        "generates",
    )  # fmt: skip
    name: str
    parameters: list[str]
    defaults: list[Expr | None]
    size: int
    body: list[Stmt]
    site: Site
    slot_names: list[str]
    positional: int
    rest: int | None
    named: int | None
    count: int
    generates: bool


class MakeFunction(Expr):
    __slots__ = ("code",)
    code: FunctionCode


# --- targets --------------------------------------------------------------------------------------------------------


class Target(Node):
    __slots__ = ()


class Store(Target):
    __slots__ = ("depth", "slot", "name", "site")
    depth: int
    slot: int
    name: str
    site: Site


class Unpack(Target):
    """A list of targets; `star` is the position of the starred one, or None."""

    __slots__ = ("targets", "star", "site")
    targets: list[Target]
    star: int | None
    site: Site


class StoreItem(Target):
    """`container[index] = ...`. `back` is where an updated tensor goes: tensors are values."""

    __slots__ = ("container", "index", "back", "site")
    container: Expr
    index: Expr
    back: Target | None
    site: Site


class StoreAttribute(Target):
    __slots__ = ("value", "name", "site")
    value: Expr
    name: str
    site: Site


# --- statements -----------------------------------------------------------------------------------------------------


class Evaluate(Stmt):
    """An expression statement; `result` says that its value may be the program's."""

    __slots__ = ("value", "result")
    value: Expr
    result: bool


class Assign(Stmt):
    """`dtype` is the annotation's, if it names one; `result` as for Evaluate."""

    __slots__ = ("targets", "value", "dtype", "result", "site")
    targets: list[Target]
    value: Expr
    dtype: Any
    result: bool
    site: Site


class Augment(Stmt):
    """`target op= value`: the container and index of an item are evaluated once."""

    __slots__ = ("target", "symbol", "op", "value", "result", "site")
    target: Target
    symbol: str
    op: Operation
    value: Expr
    result: bool
    site: Site


class If(Stmt):
    __slots__ = ("test", "body", "orelse", "site")
    test: Expr
    body: list[Stmt]
    orelse: list[Stmt]
    site: Site


class For(Stmt):
    __slots__ = ("target", "iterable", "body", "orelse", "site")
    target: Target
    iterable: Expr
    body: list[Stmt]
    orelse: list[Stmt]
    site: Site


class While(Stmt):
    __slots__ = ("test", "body", "orelse", "site")
    test: Expr
    body: list[Stmt]
    orelse: list[Stmt]
    site: Site


class Break(Stmt):
    __slots__ = ()


class Continue(Stmt):
    __slots__ = ()


class Return(Stmt):
    __slots__ = ("value", "result")
    value: Expr | None
    result: bool


class Yield(Stmt):
    """`yield value`; with `each`, `yield from value`."""

    __slots__ = ("value", "each", "site")
    value: Expr
    each: bool
    site: Site


class Define(Stmt):
    """`def`, with its decorators applied from the last to the first."""

    __slots__ = ("target", "function", "decorators", "site")
    target: Target
    function: MakeFunction
    decorators: list[Expr]
    site: Site


class DefineClass(Stmt):
    """`class`: the body fills a frame, whose first variable is the class itself; `members` are its names with their slots."""

    __slots__ = ("target", "name", "bases", "body", "members", "decorators", "site")
    target: Target
    name: str
    bases: list[Expr]
    body: FunctionCode
    members: list[tuple[str, int]]
    decorators: list[Expr]
    site: Site


class Try(Stmt):
    """Each handler is the types it is for (None: all), where the exception goes, its block, and its site."""

    __slots__ = ("body", "handlers", "orelse", "final", "site")
    body: list[Stmt]
    handlers: list[tuple[Expr | None, list[Target], list[Stmt], Site]]
    orelse: list[Stmt]
    final: list[Stmt]
    site: Site


class Raise(Stmt):
    __slots__ = ("value", "site")
    value: Expr
    site: Site


class With(Stmt):
    __slots__ = ("items", "body", "site")
    items: list[tuple[Expr, Target | None, Site]]
    body: list[Stmt]
    site: Site


class Assert(Stmt):
    __slots__ = ("test", "message", "site")
    test: Expr
    message: Expr | None
    site: Site


class Delete(Stmt):
    __slots__ = ("targets",)
    targets: list[Target]


class CoreProgram:
    """A whole program: `inputs` are bound from outside to their slots of the module's frame."""

    __slots__ = ("body", "ends_with_value", "inputs", "optional", "places", "size", "slot_names", "source")

    def __init__(
        self,
        source: Source,
        body: list[Stmt],
        inputs: dict[str, int],
        optional: dict[str, tuple[int, Any]],
        size: int,
        ends_with_value: bool,
        slot_names: list[str],
        places: dict[str, Site],
    ) -> None:
        self.source = source
        self.body = body
        self.inputs = inputs  # name -> slot, in order of first use
        # Names that may be bound and need not be -> (slot, the meaning when not bound): those of the vocabulary used as values,
        # and variables that may be read before they are assigned.
        self.optional = optional
        self.size = size
        self.ends_with_value = ends_with_value
        self.slot_names = slot_names
        self.places = places  # where each input is read first
