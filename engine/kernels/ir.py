# ruff: noqa: RUF023  # the order of `__slots__` is the order of the fields
"""The intermediate representation: scalar statements, loops and flat arrays.

Arrays have a static shape and row-major flat storage; every array operation has already become loops over scalars,
so fusion is a matter of how those loops were written, and differentiation sees scalars only. A scalar variable is
assigned in one place; what changes from iteration to iteration is carried by its loop explicitly.

A `Region` is the exception: statements that compute together what one row of the table gives. The adjoint does not look
into it but takes the row's own rule, applied to the symbols of the operands and results, so that a decomposition, a
reduction with ties or a matrix product has the derivative that the row states. After the adjoint regions dissolve into
their statements, and no other pass knows them.
"""

from __future__ import annotations

from ..core.state import NOWHERE, STATE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self

    from ..core.state import Site

FLOAT, INT, BOOL = "f", "i", "b"
# What a float is in the emitted source of a kernel that computes in float32; the IR knows no widths (widths.py).
SINGLE = "s"
# What NumPy calls the kinds, and how many bytes an element takes.
DTYPES = {FLOAT: "float64", INT: "int64", BOOL: "bool", SINGLE: "float32"}
WIDTHS = {FLOAT: 8, INT: 8, BOOL: 1, SINGLE: 4}
# A float holds integers exactly up to here; so large are inputs, and what counts iterations, at most.
LIMIT = 2**53
# What an integer of 64 bits holds: a larger one is the tape's to compute.
LEAST, MOST = -(2**63), 2**63 - 1


# Constant arrays from this length on are written as the bytes of their elements.
LONG_CONSTANT = 1_000


def bytes_of(kind: str, values: list[Any]) -> bytes:
    """The elements of a constant array as they are in memory."""
    import numpy as np

    return np.array(values, dtype=DTYPES[kind]).tobytes()


class Unsupported(Exception):
    """The program leaves what the kernel tier covers; the message says with what, in the language's words, for `-v`.

    `site` is where that stands in the program, as far as that is known.
    """

    def __init__(self, message: str, site: Site | None = None) -> None:
        super().__init__(message)
        self.site = site

    def place(self, node: Any) -> None:
        """Take the place of a node of the program that is being lowered: the innermost one comes first."""
        if self.site is None:
            self.site = getattr(node, "site", None)


class Left(Exception):
    """A kernel left before its end: `why`, `where` and a `number`, as record.py lists them."""

    def __init__(self, why: int = 0, where: int = 0, number: int = 0, arrays: dict[int, Any] | None = None) -> None:
        super().__init__(why, where, number)
        self.why = why
        self.where = where
        self.number = number
        # The results that are arrays, as it left them, by their numbers.
        self.arrays = arrays or {}


class Stopped(BaseException):
    """A kernel was left at the place `where` because of a signal; its exception is the cause."""

    def __init__(self, where: int, arrays: dict[int, Any]) -> None:
        super().__init__(where)
        self.where = where
        self.arrays = arrays


class Signed(Unsupported):
    """The program reads eigenvectors or singular vectors, whose signs LAPACK decides."""


class TooLarge(Unsupported):
    """A kernel has become too large to be worth its compilation."""


class Cramped(Unsupported):
    """There was too little memory, within `limit` if there is one: at another moment, or within another, there may be more."""

    def __init__(self, message: str, limit: int | None, site: Any = None) -> None:
        super().__init__(message, site)
        self.limit = limit


class TooLate(Exception):
    """The tape would be done before a kernel is: `budget.py` says when. No reason against the kernel as such."""


class Followed(Unsupported):
    """A derivative inside the program is by what only some paths lead from: fewer do where short loops are written out."""


class Outlived(Unsupported):
    """A variable is read after a loop that first assigns it and may not run: `variable` says which, of which loop."""

    def __init__(self, message: str, variable: tuple[int, int]) -> None:
        super().__init__(message)
        self.variable = variable


class Tabled(Unsupported):
    """A small list of lists is indexed by data: it must be one array, and no numbers of their own."""


class Aliased(Unsupported):
    """A GradientTape watches a number that goes by several names: if it is a tensor, all of them are followed."""


class Needed(Unsupported):
    """Something must be known that inputs decide: `names` are theirs."""

    def __init__(self, message: str, names: frozenset[str]) -> None:
        super().__init__(message)
        self.names = names


class Sized(Unsupported):
    """How long something is must be known, which data decides (lowering/sizes.py)."""


class Parted(Unsupported):
    """A kernel in which parts of tensors have the lengths that data decides is left: one for these lengths may not be."""


class Spared(Unsupported):
    """A kernel is left in which loops stayed loops that could have been written out: one in which they are may not be."""


class Resized(Unsupported):
    """The sizes that a kernel was made for are others now, from the `number`-th on; it may be known to be `size`."""

    def __init__(self, number: int, size: int | None) -> None:
        super().__init__("a size that depends on data")
        self.number = number
        self.size = size


class Crowded(Unsupported):
    """A list has outgrown the room for the iterations of a loop of unknown length, that begins at `start`."""

    def __init__(self, start: int, room: int) -> None:
        super().__init__("a list that grows in a loop of so many iterations")
        self.start = start
        self.room = room


class Hasty(Unsupported):
    """Of a result that is not finite, the products of the reverse sweep were not formed as a tape forms them; or a derivative
    inside the program is not finite that was found in forward mode."""


class Untold(Unsupported):
    """An assertion fails, and its message is to be computed."""


class Told(Unsupported):
    """An assertion fails, and its message is the last line that a kernel, `teller`, which was made to tell has printed."""

    teller: Any = None


class Fault(Unsupported):
    """A fault of adiff's own, met while a kernel was made."""

    def __init__(self, fault: Exception) -> None:
        super().__init__(f"this program, for a fault of adiff's own ({type(fault).__name__}: {str(fault)[:200]})")
        self.fault = fault

    @property
    def notice(self) -> str:
        """What a user is told whom the tape answers all the same."""
        return f"no kernel for {self}; please report it"

    def tell(self) -> None:
        """Give the notice."""
        STATE.notify("N0911", self.notice, NOWHERE)


class Var:
    """A scalar variable."""

    __slots__ = ("kind", "name")
    counter = 0

    def __init__(self, kind: str, hint: str = "v") -> None:
        Var.counter += 1
        self.kind = kind
        self.name = f"{hint}{Var.counter}"

    def __repr__(self) -> str:
        return self.name


class Array:
    """A flat array of a static shape. `role` is "input", "local", "list" for a list of the program's, or
    "updated" for one whose elements are stored more than once, "carried" for one that a loop changes in place, and that
    the reverse sweep brings back to what it was from a log of the elements that were overwritten, "overwritten" for one
    without such a log, through which there is no sweep; "constant" for one that
    is known; "unsigned" for vectors that only the rules of derivatives may read; "printed" for what a program has printed,
    which whoever ends a kernel reads: what is stored in it, and when, stays where it is among loops.

    `mixed` says that a tape may follow some elements and not others, or the array at one time and not at another;
    `grown` is the place of the loop in which a list grows to its size, where there may be no memory for it.
    """

    __slots__ = ("grown", "kind", "mixed", "name", "role", "shape")

    def __init__(self, kind: str, shape: tuple[int, ...], hint: str = "a", role: str = "local") -> None:
        Var.counter += 1
        self.kind = kind
        self.shape = shape
        self.role = role
        self.mixed = role == "list"
        self.grown: Site | None = None
        self.name = f"{hint}{Var.counter}"

    @property
    def size(self) -> int:
        total = 1
        for n in self.shape:
            total *= n
        return total

    def __repr__(self) -> str:
        return f"{self.name}{list(self.shape)}"


class Stack:
    """Values of a loop-carried variable at the head of each iteration, indexed by iteration; or of an array's `width`
    elements, side by side."""

    __slots__ = ("kind", "name", "width")

    def __init__(self, kind: str, hint: str = "h", width: int = 1) -> None:
        Var.counter += 1
        self.kind = kind
        self.width = width
        self.name = f"{hint}{Var.counter}"

    def __repr__(self) -> str:
        return self.name


class Stmt:
    __slots__: tuple[str, ...] = ()
    # The fields that hold other statements.
    blocks: tuple[str, ...] = ()

    def __init__(self, *fields: Any) -> None:
        for name, value in zip(self.__slots__, fields, strict=True):
            setattr(self, name, value)

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed."""
        copy = object.__new__(self.__class__)
        for name in self.__slots__:
            setattr(copy, name, changes[name] if name in changes else getattr(self, name))
        return copy


# Statements of which there are most have their fields set one by one: that is several times as quick.


class Set(Stmt):
    """`var = op(args)`; an argument is a Var or a Python number. `site` is the place in the program.

    `attributes` are the row's static parameters, or None.
    """

    __slots__ = ("var", "op", "args", "site", "attributes")
    var: Var
    op: str
    args: tuple[Any, ...]
    site: Site | None
    attributes: dict[str, Any] | None

    def __init__(
        self, var: Var, op: str, args: tuple[Any, ...], site: Site | None, attributes: dict[str, Any] | None
    ) -> None:
        self.var = var
        self.op = op
        self.args = args
        self.site = site
        self.attributes = attributes


class Load(Stmt):
    """`var = array[index]`, the index flat and within bounds."""

    __slots__ = ("var", "array", "index")
    var: Var
    array: Array
    index: Any

    def __init__(self, var: Var, array: Array, index: Any) -> None:
        self.var = var
        self.array = array
        self.index = index


class Check(Stmt):
    """Leave the kernel unless `low <= index < size`, false counting as 0 and true as 1.

    What the error is, at the place `site`, is said by `failure`, the name of a function of failures.py and its arguments
    before the number that the kernel gives: the index or, where there is a `value`, what `Printer.check` makes of both.
    Where `failure` is None, the tape says it.
    """

    __slots__ = ("index", "low", "size", "site", "failure", "value")
    index: Any
    low: int
    size: int
    site: Site | None
    failure: tuple[Any, ...] | None
    value: Any

    def __init__(
        self, index: Any, low: int, size: int, site: Site | None = None, failure: tuple[Any, ...] | None = None,
        value: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(index, low, size, site, failure, value)


class Alloc(Stmt):
    """A local array; zero-filled if `zero`."""

    __slots__ = ("array", "zero")
    array: Array
    zero: bool


class Store(Stmt):
    __slots__ = ("array", "index", "value")
    array: Array
    index: Any
    value: Any


class OpenLog(Stmt):
    """Start the log of an array's overwritten elements."""

    __slots__ = ("array",)
    array: Array


class Keep(Stmt):
    """Note in the log the element that is about to be overwritten."""

    __slots__ = ("array", "index")
    array: Array
    index: Any


class Mark(Stmt):
    """`var = ` the length of the log."""

    __slots__ = ("var", "array")
    var: Var
    array: Array


class TakeBack(Stmt):
    """Undo the last store in the log."""

    __slots__ = ("array",)
    array: Array


class Rewind(Stmt):
    """Undo the stores since the log had the length `value`."""

    __slots__ = ("array", "value")
    array: Array
    value: Any


class Routine(Store):
    """`array = name(value)` for whole arrays: a routine of externals.py on a matrix of `rows` and `columns`.

    `index` is 0: what is true of a store of its first element holds for it.
    """

    __slots__ = ("array", "index", "value", "name", "rows", "columns")
    name: str
    rows: int
    columns: int


class AddTo(Stmt):
    """`array[index] += value`."""

    __slots__ = ("array", "index", "value")
    array: Array
    index: Any
    value: Any


class Accumulate(Stmt):
    """`var += value`: the one way in which a scalar is assigned in several places (cotangents)."""

    __slots__ = ("var", "value")
    var: Var
    value: Any

    def __init__(self, var: Var, value: Any) -> None:
        self.var = var
        self.value = value


class Loop(Stmt):
    """A counted loop (`start`, `stop`, `step`) or a conditional one (`test` block giving `condition`).

    `carried` lists (phi, initial, next): phi holds the value at the head of an iteration and, after the loop, the
    last one. `stop_when` is a bool variable of the body that ends the loop after the iteration that sets it, or None.
    `stacks` gives the Stack that keeps the heads of a phi, or of an array as a whole. `trips` counts the iterations.
    `site` is the place of a loop of the program, None for one that an array operation became.
    """

    __slots__ = (
        "index",
        "start",
        "stop",
        "step",
        "test",
        "condition",
        "carried",
        "body",
        "stop_when",
        "stacks",
        "trips",
        "site",
    )
    blocks = ("test", "body")
    index: Var | None
    start: Any
    stop: Any
    step: Any
    test: list[Stmt] | None
    condition: Any
    carried: list[tuple[Var, Any, Any]]
    body: list[Stmt]
    stop_when: Any
    stacks: dict[Any, Stack]
    trips: Var
    site: Site | None

    @property
    def own(self) -> bool:
        """Whether the loop is the program's."""
        return self.site is not None


class ReverseLoop(Stmt):
    """The iterations `trips - 1 ... 0` again: `position` is the number of the iteration.

    `restore` lists (phi, stack), or (array, stack): the heads to be loaded. `index` is rebuilt from `start` and `step`.
    """

    __slots__ = ("trips", "position", "index", "start", "step", "restore", "body")
    blocks = ("body",)
    trips: Var
    position: Var
    index: Var | None
    start: Any
    step: Any
    restore: list[tuple[Any, Stack]]
    body: list[Stmt]


class If(Stmt):
    """`merges` lists (var, value if true, value if false)."""

    __slots__ = ("condition", "then", "orelse", "merges")
    blocks = ("then", "orelse")
    condition: Any
    then: list[Stmt]
    orelse: list[Stmt]
    merges: list[tuple[Var, Any, Any]]


class Constant(Stmt):
    """An array whose elements are known: a nested list of its flat elements is not copied into the kernel's code."""

    __slots__ = ("array", "values")
    array: Array
    values: list[Any]


class Region(Stmt):
    """`results = row(operands)`, as `body` computes it: the adjoint takes the row's rule, not that of the statements.

    Results are variables that the body sets, or arrays that were allocated before it. What else the body defines is not
    known after it. Operands are variables, arrays or numbers, in the order of the row's inputs. Of a row on complex numbers
    `pairs` says of each result, and of each input, whether it is two in a row, the real and the imaginary part.
    """

    __slots__ = ("row", "results", "operands", "attributes", "body", "site", "pairs")
    blocks = ("body",)
    row: str
    results: list[Any]
    operands: tuple[Any, ...]
    attributes: dict[str, Any]
    body: list[Stmt]
    site: Site | None
    pairs: tuple[tuple[bool, ...], tuple[bool, ...]] | None

    def __init__(
        self,
        row: str,
        results: list[Any],
        operands: tuple[Any, ...],
        attributes: dict[str, Any],
        body: list[Stmt],
        site: Site | None,
        pairs: tuple[tuple[bool, ...], tuple[bool, ...]] | None = None,
    ) -> None:
        super().__init__(row, results, operands, attributes, body, site, pairs)


class Kernel:
    """A whole kernel: `parameters` in order, `body`, and `results`, which are scalars or arrays."""

    __slots__ = ("body", "parameters", "results")

    def __init__(self, parameters: list[Var | Array], body: list[Stmt], results: list[Any]) -> None:
        self.parameters = parameters
        self.body = body
        self.results = results
