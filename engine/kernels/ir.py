"""The intermediate representation (IR) of a kernel: applications of rows to numbers and dense arrays, loops, branches.

It is in static single assignment form: a `Var` is defined by one statement and never changes. What an iteration hands to
the next one is a phi of its loop; what two branches leave is an output of their `If`. A statement may read the
variables of its own block that were defined before it, and those of the blocks around it. An operand is a `Var` or a Python
number (float, int, bool). Shapes are known; a number has the shape ().

Whole arrays are values as well: `index_update` gives a new array. Whether that shares memory with the old one is for
the code generator to decide.

The one kind of memory that statements share is a `Stack`, on which a loop puts values for its reverse sweep, one an iteration.
"""

from __future__ import annotations

from math import prod

from ...parser.fields import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ..core.dtypes import DType
    from ..core.state import Site
    from ..ops.operation import Operation

    Block = list["Stmt"]

FLOAT, INT, BOOL = "f", "i", "b"
# A float holds every integer up to here exactly; larger integers are left to the tape.
LIMIT = 2**53
# The rows that multiply elements, by which of the factors are cotangents.
PRODUCTS = {"": "multiply", "a": "strong_multiply", "b": "strong_multiply", "ab": "multiply_cotangents"}


class Unsupported(Exception):
    """The program leaves what kernels take; the message says with what, in the language's words. `site` is the place, if known."""

    def __init__(self, message: str, site: Site | None = None) -> None:
        super().__init__(message)
        self.site = site


class Fault(Unsupported):
    """A fault of adiff's own, met while a kernel was made: the tape answers, and a notice asks for a report."""

    def __init__(self, fault: Exception) -> None:
        text = str(fault).strip().splitlines()
        super().__init__(
            f"this program, for a fault of adiff's own ({type(fault).__name__}: {text[0][:200] if text else ''})"
        )


KINDS = {"float64": FLOAT, "int64": INT, "bool": BOOL}


def kind_of(dtype: DType) -> str:
    """The kind in which kernels hold a dtype. Raises Unsupported for one that they do not take."""
    kind = KINDS.get(dtype.name)
    if kind is None:
        raise Unsupported({"s": "strings", "c": "complex numbers"}.get(dtype.kind, dtype.name))
    return kind


class Var:
    """A value: a number (shape ()) or a dense row-major array."""

    __slots__ = ("kind", "name", "shape")
    count = 0

    def __init__(self, kind: str, shape: tuple[int, ...] = (), hint: str = "t") -> None:
        Var.count += 1
        self.kind = kind
        self.shape = shape
        self.name = f"{hint}_{Var.count}"

    @property
    def size(self) -> int:
        return prod(self.shape)

    def __repr__(self) -> str:
        return self.name if not self.shape else f"{self.name}{list(self.shape)}"


class Stack(Var):
    """Memory that holds one value of a shape for each iteration of a loop: put by one loop, read by another."""

    __slots__ = ()


class Stmt(Record):
    """A statement."""


class Apply(Stmt):
    """`outs = row(*inputs, **attributes)`. Indices among the attributes may hold Vars: `index`, a tuple normalised by
    `symbols.normal_index`, and the `indices` of take_rows and put_rows, an array of integers."""

    outs: tuple[Var, ...]
    row: Operation
    inputs: tuple[Any, ...]
    attributes: dict[str, Any]
    site: Site | None


class Constant(Stmt):
    """An array whose elements are known: a NumPy array."""

    out: Var
    values: Any


class Check(Stmt):
    """Stop the kernel unless a condition holds (everywhere, if it is an array): the tape runs the program and says what is wrong."""

    condition: Any


class Flag(Stmt):
    """Note that a derivative was taken at a singular point if a condition holds (anywhere); `number` counts the kernel's flags."""

    condition: Any
    number: int


class Put(Stmt):
    """Write a value at a position of a stack: the number of an iteration."""

    stack: Stack
    position: Any
    value: Any


class Get(Stmt):
    """Read the value at a position of a stack."""

    out: Var
    stack: Stack
    position: Any


class If(Stmt):
    """`outs` lists (variable, operand if true, operand if false), each defined in its branch or before."""

    condition: Any
    then: Block
    orelse: Block
    outs: list[tuple[Var, Any, Any]]


class Loop(Stmt):
    """A counted loop (`index` from `start` to `stop` by the known `step`) or, without an index, a conditional one.

    A conditional loop runs while `condition`, which the block `test` computes from the phis, holds at the head of an iteration.
    `carried` lists (phi, initial operand, next operand, out): the phi is the value at the head of an iteration, the out the last
    one, after the loop. `stop_when`, unless it is None, is an operand of the body: the loop ends after the iteration in which it
    is true. `position` is the number of the iteration (0, 1, ...) and `trips`, after the loop, how many there were.
    `stacks` are those that the body puts on at `position`. `site` is the place of a loop of the program, or None.
    """

    index: Var | None
    start: Any
    stop: Any
    step: int
    test: Block
    condition: Any
    carried: list[tuple[Var, Any, Any, Var]]
    body: Block
    stop_when: Any
    position: Var
    trips: Var
    stacks: list[Stack]
    site: Site | None


class SingularPoint(Record):
    """What a flag stands for: the text of the notice of a singular point, and its place in the program."""

    text: str
    site: Site | None


class Kernel(Record):
    """A whole kernel. `parameters` are variables that the caller binds; `results` are operands."""

    parameters: list[Var]
    body: Block
    results: list[Any]
    flags: list[SingularPoint]


class Emitted(Record):
    """Source text that defines `kernel(run, inputs..., constants..., results...)`, and what a caller must know of it: the (kind, shape)
    of its parameters and results, how many slots and flags it has, and its constant arrays. `narrow` says whether there are
    products of matrices whose rows are shorter than a vector or two."""

    text: str
    parameters: list[tuple[str, tuple[int, ...]]]
    results: list[tuple[str, tuple[int, ...]]]
    slots: int
    flags: int
    constants: list[Any]
    narrow: bool


# --- walking --------------------------------------------------------------------------------------------------------


def index_vars(attributes: dict[str, Any]) -> Iterator[Var]:
    """The variables among the attributes of a statement: indices that data decide."""
    for value in attributes.values():
        if value.__class__ is Var:
            yield value
        elif value.__class__ is tuple:
            for entry in value:
                if entry.__class__ is Var:
                    yield entry


def operands(stmt: Stmt) -> Iterator[Var]:
    """The variables that a statement itself reads, without those that its blocks read."""
    kind = stmt.__class__
    found: list[Any] = []
    if kind is Apply:
        found = [*stmt.inputs, *index_vars(stmt.attributes)]  # type: ignore[attr-defined]
    elif kind is Check or kind is Flag or kind is If:
        found = [stmt.condition]  # type: ignore[attr-defined]
    elif kind is Put:
        found = [stmt.position, stmt.value]  # type: ignore[attr-defined]
    elif kind is Get:
        found = [stmt.position]  # type: ignore[attr-defined]
    elif kind is Loop:
        found = [stmt.start, stmt.stop, *(initial for _, initial, _, _ in stmt.carried)]  # type: ignore[attr-defined]
    return (x for x in found if x.__class__ is Var)


def ends(stmt: Stmt) -> Iterator[Var]:
    """The variables that a loop or a branch reads where its blocks end: what is handed on, and conditions."""
    found: list[Any] = []
    if stmt.__class__ is Loop:
        found = [stmt.condition, stmt.stop_when, *(after for _, _, after, _ in stmt.carried)]
    elif stmt.__class__ is If:
        found = [x for _, then, orelse in stmt.outs for x in (then, orelse)]
    return (x for x in found if x.__class__ is Var)


def blocks(stmt: Stmt) -> tuple[Block, ...]:
    """The blocks inside a statement."""
    if stmt.__class__ is Loop:
        return stmt.test, stmt.body
    if stmt.__class__ is If:
        return stmt.then, stmt.orelse
    return ()


def defined(stmt: Stmt) -> tuple[Var, ...]:
    """The variables that a statement defines for those after it."""
    kind = stmt.__class__
    if kind is Apply:
        return stmt.outs  # type: ignore[attr-defined,no-any-return]
    if kind is Constant or kind is Get:
        return (stmt.out,)  # type: ignore[attr-defined]
    if kind is If:
        return tuple([out for out, _, _ in stmt.outs])  # type: ignore[attr-defined]
    if kind is Loop:
        return (*[out for _, _, _, out in stmt.carried], stmt.trips)  # type: ignore[attr-defined]
    return ()


def inside(stmt: Stmt) -> tuple[Var, ...]:
    """The variables that a loop defines for its own blocks."""
    if stmt.__class__ is Loop:
        index = () if stmt.index is None else (stmt.index,)
        return (*index, stmt.position, *[phi for phi, _, _, _ in stmt.carried])
    return ()


def walk(block: Block) -> Iterator[Stmt]:
    """Every statement of a block and of the blocks inside it."""
    for stmt in block:
        yield stmt
        for inner in blocks(stmt):
            yield from walk(inner)


def free(block: Block, more: Iterator[Var] | tuple[Var, ...] = ()) -> dict[Var, None]:
    """The variables that a block, and `more` that is read at its end, reads from outside, in order of first use."""
    known: set[Var] = set()
    found: dict[Var, None] = {}

    def visit(inner: Block) -> None:
        for stmt in inner:
            for x in operands(stmt):
                if x not in known:
                    found[x] = None
            known.update(inside(stmt))
            for part in blocks(stmt):
                visit(part)
            for x in ends(stmt):
                if x not in known:
                    found[x] = None
            known.update(defined(stmt))

    visit(block)
    for x in more:
        if x not in known:
            found[x] = None
    return found


def with_index(attributes: dict[str, Any], at: Callable[[Any], Any]) -> dict[str, Any]:
    """Attributes with the variables in them replaced."""
    if not any(True for _ in index_vars(attributes)):
        return attributes
    return {
        name: tuple([at(entry) for entry in value]) if value.__class__ is tuple else at(value)
        for name, value in attributes.items()
    }


def index_shape(shape: tuple[int, ...], index: Any) -> tuple[int, ...]:
    """The shape of what an index of a row selects."""
    found = []
    axis = 0
    for entry in index if index.__class__ is tuple else (index,):
        if entry is None:
            found.append(1)
            continue
        if entry.__class__ is slice:
            found.append(len(range(shape[axis])[entry]))
        elif entry.__class__ is int:
            range(shape[axis])[entry]
        elif getattr(entry, "shape", None) != ():
            raise TypeError
        axis += 1
    return (*found, *shape[axis:])
