"""Derivatives inside a program that is run on whole columns: `grad`, `value_and_grad` and GradientTape.

Rows do not mix, so a sweep from ones gives every row its own gradient, here as in the derivatives of a table itself. What
is watched is a column, constants too; whatever rows have part in, or not, is the same for all of them, or they do not go
together.
"""

from __future__ import annotations

from ..autodiff import drivers
from ..autodiff.tape import Tape, gradient
from ..core.dispatch import apply
from ..core.dtypes import WEAK_COUNT
from ..core.errors import failure
from ..core.operands import as_operand, plain, shape_text, tensor
from ..core.state import RECORDERS, STATE
from ..core.tensor import OPERATORS, Tensor
from .columns import Column, dtype_of, whole_column
from .derived import Derived, callable_of
from .row_sets import NotTogether, Rows, Table
from .structure import flatten, rebuild
from .tapes import GradientTape, wants_zero
from .transforms import Arguments, gradients_of
from .values import Builtin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    # What calls a value of the program with columns among its arguments.
    Call = Callable[[Any, list[Any], dict[str, Any]], Any]


class ColumnDerived(Derived):
    """A function made from a function, of columns."""

    __slots__ = ()


class ColumnArguments(Arguments):
    """The arguments of a call of such a function."""

    def __init__(self, call: Call, f: Any, args: list[Any], keywords: dict[str, Any], argnums: Any) -> None:
        super().__init__(f, args, keywords, argnums)
        self.call = call

    def function(self, inputs: list[Any]) -> Any:
        replaced = rebuild(self.structures, list(inputs))
        args = list(self.args)
        for n, value in zip(self.numbers, replaced):
            args[n] = value
        return self.call(self.f, args, self.keywords)


def derivatives_of(table: Table, call: Call) -> dict[str, Builtin]:
    """The built-ins that derive, for columns of `table`; `call(f, args, keywords)` calls a value of the program."""

    def value_and_grad(f: Any, argnums: Any = 0, has_aux: Any = False) -> ColumnDerived:
        callable_of(f, "value_and_grad")

        def run(args: list[Any], keywords: dict[str, Any]) -> Any:
            arguments = ColumnArguments(call, f, args, keywords, argnums)
            arguments.require_tangents("grad")
            y, found = value_and_gradients(table, arguments.scalar("grad", bool(has_aux)), arguments.leaves)
            g = arguments.result(gradients_of(found, y, arguments.leaves))
            return ((y, arguments.auxiliary), g) if has_aux else (y, g)

        return ColumnDerived("value_and_grad", run)

    def grad(f: Any, argnums: Any = 0, has_aux: Any = False) -> ColumnDerived:
        callable_of(f, "grad")
        both = value_and_grad(f, argnums, has_aux)

        def run(args: list[Any], keywords: dict[str, Any]) -> Any:
            y, g = both.run(args, keywords)
            return (g, y[1]) if has_aux else g

        return ColumnDerived("grad", run)

    def gradient_tape(persistent: Any = False, watch_accessed_variables: Any = True) -> ColumnTape:
        if persistent.__class__ is not bool:
            raise NotTogether("a tape that data makes persistent")
        return ColumnTape(table, persistent)

    return {
        "grad": Builtin("grad", grad),
        "value_and_grad": Builtin("value_and_grad", value_and_grad),
        "GradientTape": Builtin("GradientTape", gradient_tape),
    }


def source_of(table: Table, x: Any) -> Tensor:
    """A tensor of its own for an input that is differentiated, with the active rows along its first axis."""
    x = as_operand(x)
    if x.__class__ not in (Column, Tensor, int, float) or (x.__class__ is Column and x.mixed):
        raise NotTogether("a derivative by what is no float in every row")
    found = whole_column(table, x)
    if dtype_of(found).kind not in "if":
        raise NotTogether("a derivative by what is no float in every row")
    if found.dtype.weak and found.dtype.kind == "i":
        found = OPERATORS["cast"](found, dtype="float64")
        return Tensor(plain(found), WEAK_COUNT, found.on)
    return drivers.source(found)


def value_and_gradients(
    table: Table, f: Callable[[list[Any]], Any], leaves: list[Any], what: str = "grad"
) -> tuple[Any, list[Column | None]]:
    """The value of every row and the derivatives by its inputs, None where no row's value depends on one."""
    rows = table.active
    sources = [source_of(table, x) for x in leaves]
    tape = Tape()
    for x in sources:
        if x.dtype.differentiable:
            tape.watch(x)
    RECORDERS.append(tape)
    try:
        y = f([Column(table, x, rows) for x in sources])
    finally:
        RECORDERS.remove(tape)
    if y.__class__ is not Column:
        return y, [None for _ in leaves]
    require_scalar(y, what)
    return y, gradients(table, tape, [y], sources, [rows] * len(sources), consume=True)


def require_scalar(y: Column, what: str) -> None:
    if y.shape:
        raise failure(
            "E0507", f"{what} needs a function with a scalar result, and this one's has shape {shape_text(y.shape)}",
            "use jacobian, or sum the result",
        )  # fmt: skip


def gradients(
    table: Table, tape: Tape, targets: list[Column], sources: list[Tensor], rows: list[Rows], consume: bool
) -> list[Column | None]:
    """The derivatives of the sum of targets by tensors, of each with its rows along the first axis."""
    ends = [end_of(tape, y) for y in targets]
    found = gradient(tape, ends, [OPERATORS["ones_like"](y) for y in ends], [[x] for x in sources], consume)
    table.end_forbidden()
    y = next((y for y in targets if y.dtype.name == "float32"), None)
    return [column_of(table, g, y, x, r) for g, x, r in zip(found, sources, rows)]


def column_of(table: Table, g: Any, y: Any, x: Any, rows: Rows) -> Column | None:
    """A derivative of `y` by `x` in every row, as the program gets it."""
    return None if g is None else Column(table, tensor(drivers.handed_back(as_operand(g), y, x)), rows)


def end_of(tape: Tape, y: Column) -> Tensor:
    """What a sweep begins with: the active rows of a target, cut down under the tape that it is the target of.

    Rows may have left since the tape stopped recording, and a path that it has not recorded would be none.
    """
    table = y.table
    if y.rows is table.active:
        return y.tensor
    outside = tape not in RECORDERS
    if outside:
        RECORDERS.append(tape)
    try:
        places = table.active.places_in(y.rows)
        return tensor(apply(OPERATORS["pick_rows"], (y.tensor,), {"places": places}))
    finally:
        if outside:
            RECORDERS.remove(tape)


class ColumnTape(GradientTape):
    """A GradientTape of columns."""

    __slots__ = ("rows", "table")

    def __init__(self, table: Table, persistent: bool) -> None:
        super().__init__(persistent)
        self.table = table
        self.rows = table.active

    def enter(self) -> GradientTape:
        self.rows = self.table.active
        return super().enter()

    def watch(self, x: Any) -> Any:
        if x.__class__ in (list, tuple, dict):
            return super().watch(x)
        if x.__class__ is Tensor or hasattr(x, "read_value"):
            raise NotTogether("a tape that watches a tensor of all rows")
        if x.__class__ is Column and not x.raw and x.dtype.kind == "f":
            found = x.here()  # whoever else has it, has it watched
        else:
            found = source_of(self.table, x)
        self.tape.watch(found)
        return Column(self.table, found, self.table.active)

    def asked(self, target: Any, sources: Any, unconnected_gradients: Any) -> tuple[list[Column], list[Column]]:
        """The targets and the sources of which derivatives are asked for."""
        if self.table.present(self.rows) != self.table.active.size:
            raise NotTogether("a tape that only some of its rows ask")
        wants_zero(unconnected_gradients)
        leaves = flatten(sources)
        targets = [as_operand(y) for y in flatten(target)]
        if any(x.__class__ is not Column for x in (*leaves, *targets)):
            raise NotTogether("a derivative of, or by, what is the same in all rows")
        alike(self.tape.log, [x.tensor for x in leaves])
        return targets, leaves

    def ask(self, target: Any, sources: Any, unconnected_gradients: Any = "none") -> Any:
        """`t.gradient(target, sources)`."""
        table = self.table
        targets, leaves = self.asked(target, sources, unconnected_gradients)
        consume = self.claim()
        for y in targets:
            if y.shape:
                STATE.notify("N0503", f"the target has shape {shape_text(y.shape)}: its elements are summed")
        found = gradients(table, self.tape, targets, [x.tensor for x in leaves], [x.rows for x in leaves], consume)
        if any(g is None for g in found):
            raise NotTogether("a derivative by what the target does not depend on")
        return rebuild(sources, found)


def alike(log: list[Any], sources: list[Tensor]) -> None:
    """Raise NotTogether unless a recorded value depends on the same sources in all of its rows."""
    reached: dict[Tensor, frozenset[int]] = {x: frozenset((i,)) for i, x in enumerate(sources)}
    for place in range(0, len(log), 4):
        site, a, b, out = log[place : place + 4]
        inputs = a if a.__class__ is tuple else (a, b)
        parts = [reached.get(x, frozenset()) if x.__class__ is Tensor else frozenset() for x in inputs]
        if site.op.name == "join_rows" and len(set(parts)) > 1:
            raise NotTogether("a derivative that only some rows have")
        for y in out if out.__class__ is tuple else (out,):
            reached[y] = reached.get(y, frozenset()).union(*parts)


__all__ = [
    "ColumnArguments",
    "ColumnDerived",
    "ColumnTape",
    "column_of",
    "derivatives_of",
    "end_of",
    "require_scalar",
    "source_of",
    "value_and_gradients",
]
