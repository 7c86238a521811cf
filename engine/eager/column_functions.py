"""Functions of the language given columns: Python's built-ins, composite rows, and an item by an index of each row's."""

from __future__ import annotations

from ..core.dtypes import WEAK_COUNT, WEAK_FLOAT, WEAK_INT
from ..core.operands import as_operand
from ..core.state import STATE
from ..core.tensor import Tensor
from ..ops.registry import NAMES, ROWS
from .builtins import FUNCTIONS, INTRINSICS
from .columns import Column, dtype_of, holds_column, raised_by
from .row_sets import NotTogether, Table
from .transforms import TRANSFORMS
from .values import Builtin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..core.operation import Operation


class ColumnRange:
    """A range whose bounds differ from row to row."""

    __slots__ = ("counts", "rows", "start", "step", "table")

    def __init__(self, table: Table, start: Any, stop: Any, step: Any) -> None:
        import numpy as np

        begin, end, by = (whole_numbers(x) for x in (start, stop, step))
        still = np.broadcast_to(np.asarray(by) == 0, (table.active.size,))
        if still.any():
            table.fail(still, lambda: raised_by(FUNCTIONS["range"], 0, 1, 0))
            begin, end, by = (whole_numbers(x) for x in (start, stop, step))
        self.table = table
        self.rows = table.active
        begin, end, by = np.broadcast_arrays(begin, end, by)
        self.counts = np.broadcast_to(np.maximum(0, -((begin - end) // by)), (self.rows.size,))
        self.start = begin
        self.step = by

    def here(self, values: Any) -> Any:
        active = self.table.active
        if active is self.rows or values.ndim == 0:
            return values
        return values[active.places_in(self.rows)]

    def continues(self, k: int) -> Any:
        """Which of the active rows have an iteration k."""
        return self.here(self.counts) > k

    def at(self, k: int) -> Any:
        """The value in iteration k."""
        start, step = self.here(self.start), self.here(self.step)
        if start.size and (start == start.flat[0]).all() and (step == step.flat[0]).all():
            return int(start.flat[0] + k * step.flat[0])
        return Column(self.table, Tensor(start + k * step, WEAK_INT), self.table.active)


STEPS = ColumnRange


def whole_numbers(x: Any) -> Any:
    """The integers of a bound, one for each row or one for all."""
    import numpy as np

    if x.__class__ is Column:
        values = x.numbers()
        if x.mixed or values.ndim != 1 or not (values.dtype.kind == "i" or x.dtype is WEAK_COUNT):
            raise NotTogether("a range of other than integers")
        if values.dtype.kind == "f" and (values != np.floor(values)).any():
            raise NotTogether("a range of broken numbers")
        end_of_path(x)
        return values.astype(np.int64)
    if x.__class__ is not int:
        raise NotTogether("a range of other than integers")
    return np.asarray(x)


def end_of_path(x: Column) -> None:
    from ..core.following import path_ends

    path_ends((x.tensor,), "a place where it counts as an integer")


def of_columns(name: str, run: Callable[..., Any]) -> Builtin:
    """A built-in that does otherwise if it is given a column."""
    ordinary = FUNCTIONS[name]

    def either(*args: Any, **keywords: Any) -> Any:
        if holds_column(args) or holds_column(keywords):
            return run(*args, **keywords)
        return ordinary(*args, **keywords)

    return Builtin(name, either)


def refuse(what: str) -> Callable[..., Any]:
    def run(*args: Any, **keywords: Any) -> Any:
        raise NotTogether(what)

    return run


def column_range(start: Any, stop: Any = None, step: Any = 1) -> ColumnRange:
    if stop is None:
        start, stop = 0, start
    table = next(x.table for x in (start, stop, step) if x.__class__ is Column)
    return ColumnRange(table, start, stop, step)


def only(x: Any) -> Any:
    if x.__class__ is not Column or x.shape:
        raise NotTogether("the number of a list")
    return x


def column_int(x: Any, ordinary: Any = FUNCTIONS["int"]) -> Any:
    """The integers of a column, as the ordinary function has them of a number."""
    x = only(x)
    if x.dtype.kind == "i" and x.raw:
        return x
    import numpy as np

    values = x.numbers()
    if values.dtype.kind == "f":
        none = ~np.isfinite(values)
        if none.any():
            x.table.fail(none, lambda value: raised_by(ordinary, value), values)
            values = x.numbers()
        doubtful = ~(np.abs(values) < 2.0**53)
        if doubtful.any():
            x.table.leave(doubtful, "numbers that no integer of a column holds")
            values = x.numbers()
        end_of_path(x)
    elif values.dtype.kind == "c":
        raise NotTogether("int of a complex number")
    return Column(x.table, Tensor(np.trunc(values).astype(np.int64), WEAK_INT), x.table.active)


def column_float(x: Any) -> Column:
    x = only(x)
    if x.dtype.kind == "f":
        return Column(x.table, x.here(), x.table.active, live=x.live_here())
    if x.dtype.kind == "c" or not (x.raw or x.dtype.kind == "b"):
        raise NotTogether("float of this dtype")
    return Column(x.table, Tensor(x.numbers().astype("float64"), WEAK_FLOAT), x.table.active)


def column_round(x: Any, ndigits: Any = None) -> Any:
    x = only(x)
    if x.raw:
        if x.dtype.kind == "i" and ndigits is None:
            return x
        if ndigits is not None or x.dtype.kind != "f":
            raise NotTogether("round to decimals, which Python does correctly")
        import numpy as np

        doubtful = ~(np.abs(x.numbers()) < 2.0**53)
        if doubtful.any():
            x.table.leave(doubtful, "numbers that no integer of a column holds")
        return Column(x.table, Tensor(np.rint(x.numbers()).astype(np.int64), WEAK_INT), x.table.active)
    return NAMES["round"].call((x,), None if ndigits is None else {"decimals": ndigits})


def column_bool(x: Any) -> Column:
    x = only(x)
    from ..core.dtypes import BOOL

    return Column(x.table, Tensor(x.numbers() != 0, BOOL), x.table.active)


def column_truth(name: str) -> Callable[..., Any]:
    def run(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
        if x.__class__ is not Column or not x.shape:
            raise NotTogether(f"{name} of a list")
        return NAMES[name].call((x,), {"axis": axis, "keepdims": keepdims})

    return run


def column_abs(x: Any) -> Any:
    return NAMES["abs"].call((x,), None)


def whole_part(name: str) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        x = only(x)
        return column_int(x if x.dtype.kind == "i" else NAMES[name](x), FUNCTIONS[f"math.{name}"])

    return run


def column_extreme(name: str, row: str, reduction: str) -> Callable[..., Any]:
    ordinary = FUNCTIONS[name]

    def run(*xs: Any, **keywords: Any) -> Any:
        if len(xs) == 1 and xs[0].__class__ is Column and keywords.keys() <= {"axis", "keepdims"}:
            return NAMES[reduction].call(xs, keywords)
        if keywords or any(holds_column(x) and x.__class__ is not Column for x in xs[1:]):
            raise NotTogether(f"{name} with options")
        items = xs[0] if len(xs) == 1 else xs
        if any(x.__class__ is Column and (x.shape or x.mixed) for x in items):
            raise NotTogether(f"{name} of other than numbers")
        if len({dtype_of(x).kind for x in items}) > 1:
            # Python gives the very item back, an integer or a float.
            first, *others = items
            best = first
            for item in others:
                best = NAMES[row](best, item)
                best.mixed = True
            return best
        return ordinary(*xs)

    return run


COLUMN_FUNCTIONS: dict[str, Builtin] = {
    "range": of_columns("range", column_range),
    "int": of_columns("int", column_int),
    "float": of_columns("float", column_float),
    "bool": of_columns("bool", column_bool),
    "round": of_columns("round", column_round),
    "abs": of_columns("abs", column_abs),
    "min": of_columns("min", column_extreme("min", "minimum", "reduce_min")),
    "max": of_columns("max", column_extreme("max", "maximum", "reduce_max")),
    "any": of_columns("any", column_truth("any")),
    "all": of_columns("all", column_truth("all")),
    "math.floor": of_columns("math.floor", whole_part("floor")),
    "math.ceil": of_columns("math.ceil", whole_part("ceil")),
    "math.trunc": of_columns("math.trunc", whole_part("trunc")),
    **{
        name: of_columns(name, refuse(f"{name} of a column"))
        for name in ("str", "repr", "type", "isinstance", "sorted", "complex", "dict", "filter", "map",
                     "assert_equal", "assert_allclose")
    },
    # They run functions on tensors of their own, which tapes follow; columns are not among those.
    **{name: Builtin(name, refuse(f"{name} inside the program")) for name in TRANSFORMS},
    **{name: Builtin(name, refuse(f"{name} inside the program")) for name in ("GradientTape", "Variable")},
    "print": Builtin("print", lambda *values, **options: None),
}  # fmt: skip

# Built-ins that take containers of columns apart without looking at the columns, and those that derive.
SAFE = frozenset(COLUMN_FUNCTIONS) | frozenset(
    "grad value_and_grad GradientTape jacobian jacfwd jacrev hessian jvp vjp hvp linearize scan map_fn foldl foldr tree_map "
    "vectorized_map cond while_loop fori_loop switch_case partial len zip enumerate list tuple "
    "reversed sum pow divmod no_op".split()
)


def safe_to_call(table: Table, callee: Any, values: list[Any], keywords: dict[str, Any]) -> None:
    """Raise NotTogether for a function that would look into columns, or change what rows share."""
    if callee.__class__ is Builtin:
        if callee.name in SAFE and INTRINSICS.get(callee.name) is not None:
            return
        raise NotTogether(f"{callee.name} inside the program")
    if callee.__class__.__name__ == "Operation":
        return
    if holds_column(values) or holds_column(keywords) or table.divided:
        raise NotTogether("a call of what is no function of the program")


# --- composite rows -------------------------------------------------------------------------------------------------


def as_shape(x: Any) -> tuple[int, ...]:
    x = as_operand(x)
    return x.shape if x.__class__ in (Column, Tensor) else ()


def root_of_sum_of_squares(table: Table, x: Any) -> Any:
    """The norm where it is not 0, and there the formula, which has no derivative."""
    x = as_operand(x)
    if x.__class__ is not Column:
        return ROWS["root_of_sum_of_squares"](x)
    axes = tuple(range(1, 1 + len(x.shape)))
    return table.choose(
        (x.numbers() != 0).any(axis=axes),
        lambda: ROWS["euclidean_norm"].call((x,), None) if axes else ROWS["abs"](x),
        lambda: ROWS["sqrt"](ROWS["sum"].call((ROWS["square"](x),), None) if axes else ROWS["square"](x)),
    )


def constant(table: Table, value: Any, dtype: Any = None) -> Any:
    """A tensor of its own dtype in every row: what `np.array` makes of numbers, lists and tensors."""
    x = as_operand(value)
    if dtype is None:
        if x.mixed:
            raise NotTogether("a tensor of what is an integer in some rows and a float in others")
        if not x.dtype.weak:
            return x
        dtype = STATE.default_float if x.dtype.kind == "f" else x.dtype.strong
    return ROWS["cast"](x, dtype=dtype)


SPECIAL: dict[str, Callable[..., Any]] = {"root_of_sum_of_squares": root_of_sum_of_squares, "constant": constant}
# Composite rows that act element by element, on vectors too.
ELEMENTWISE_COMPOSITES = frozenset("where clip hard_silu celu mish gelu squareplus sign".split())


def call_row(table: Table, op: Operation, values: list[Any], keywords: dict[str, Any]) -> Any:
    """Call a row as the program does."""
    if not holds_column(values) and not holds_column(keywords):
        found = op.call(values, keywords)
        return table.own(found) if found.__class__ is list else found
    kinds = [parameter.kind for parameter in op.parameters]
    several = next((i for i, parameter in enumerate(op.parameters) if parameter.variadic), len(kinds))
    kinds[several:] = ["list"] * len(values)
    for value, kind in zip(values, kinds):
        if kind == "static" and holds_column(value):
            raise NotTogether(f"a parameter of {op.name} that differs from row to row")
    if op.function is None:
        if "list" not in kinds:
            values = [as_operand(x) if x.__class__ in (list, tuple) else x for x in values]
        return op.call(values, keywords)
    special = SPECIAL.get(op.name)
    if special is not None:
        if keywords.keys() - {"dtype"} or len(values) > 2 or (keywords and op.name != "constant"):
            raise NotTogether(f"{op.name} with options")
        return special(table, *values, **keywords)
    if op.batch:
        found = op.call(values, keywords)
        return table.own(found) if found.__class__ is list else found
    if op.domain.__class__ is not list and op.name not in ELEMENTWISE_COMPOSITES:
        raise NotTogether(op.name)
    if op.name not in ELEMENTWISE_COMPOSITES and any(
        as_shape(x) for x in [*values, *keywords.values()] if holds_column(x)
    ):
        raise NotTogether(f"{op.name} of tensors")
    return op.call(values, keywords)


__all__ = ["COLUMN_FUNCTIONS", "STEPS", "ColumnRange", "call_row", "safe_to_call"]
