"""Columns: one value for each row of a table, and the rows of the operation table applied to whole columns.

A column of scalars looks like a scalar to the program, and one of vectors like a vector: its first axis is the rows',
and no operation mixes rows. What is known to act on each row alone acts on the whole column, under the ordinary tapes;
anything else is `NotTogether`.
"""

from __future__ import annotations

from ...parser.errors import AdiffError
from ..core.dispatch import apply
from ..core.dtypes import BOOL, WEAK_COUNT, WEAK_FLOAT, WEAK_INT, DType, DTypeMismatch, promote, raw_dtype
from ..core.following import CONDITION, path_ends
from ..core.operands import as_operand, plain
from ..core.state import RECORDERS
from ..core.tensor import OPERATORS, Tensor
from ..kinds.access import static_index
from .batching import BATCHING
from .row_sets import NotTogether, Rows, Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ..core.operation import Operation

# Rows that act element by element without having partial derivatives.
ELEMENTWISE = frozenset(
    "floor ceil trunc round signum sign floor_divide unit angle conj real imag complex cast identity stop_gradient positive "
    "where_select less less_equal greater greater_equal equal not_equal logical_and logical_or logical_xor logical_not "
    "zeros_like ones_like bitwise_and bitwise_or bitwise_xor invert isnan isinf isfinite isposinf isneginf signbit isreal isclose "
    "is_close_symmetric".split()
)
# Where an integer means something else than the float of the same size.
KIND_MATTERS = frozenset("power floor_divide mod fmod".split())
# Integers of Python's have no bounds; those of a column stay well inside theirs, or their rows leave.
LARGEST = 2.0**62
EXACT = 2.0**53


class Unlike(Exception):
    """Values that cannot be rows of one column."""


class Column:
    """One value for each row of a set: `tensor` has the rows along its first axis.

    `mixed` says that some rows hold integers or booleans in the place of floats; `live` which rows depend on a source,
    where not all do although the tensor does.
    """

    __slots__ = ("live", "mixed", "rows", "table", "tensor")
    description = "a column"

    def __init__(self, table: Table, tensor: Tensor, rows: Rows, mixed: bool = False, live: Any = None) -> None:
        self.table = table
        self.tensor = tensor
        self.rows = rows
        self.mixed = mixed
        self.live = live

    @property
    def dtype(self) -> DType:
        return self.tensor.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one row's value."""
        return self.tensor.value.shape[1:]  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def raw(self) -> bool:
        """Whether a row's value would be a bare number of Python's."""
        return self.tensor.dtype.weak and self.tensor.on is None and not self.shape

    @property
    def value(self) -> Any:
        raise NotTogether("a function that looks at the numbers themselves")

    def here(self) -> Tensor:
        """The tensor of the active rows."""
        active = self.table.active
        if self.rows is active:
            return self.tensor
        found = active.taken.get(self)
        if found is None:
            places = active.places_in(self.rows)
            if self.tensor.on is None:
                found = Tensor(self.tensor.value.take(places, 0), self.tensor.dtype)
            else:
                found = apply(OPERATORS["pick_rows"], (self.tensor,), {"places": places})
            active.taken[self] = found
        return found

    def live_here(self) -> Any:
        """Of the active rows those that depend on a source: a mask, or None for all of a followed tensor."""
        if self.live is None or self.rows is self.table.active:
            return self.live
        return self.live[self.table.active.places_in(self.rows)]

    def numbers(self) -> Any:
        """The array of the active rows."""
        return self.here().value

    def as_symbol(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
        return apply_to_columns(self.table, op, inputs, attributes)

    def set_item(self, index: Any, value: Any) -> Any:
        """What `x[index] = value` makes of the variable."""
        return OPERATORS["index_update"].call((self, value, static_index(index)), None)

    def iterate(self) -> Iterator[Any]:
        """The items of each row together, of rows that are vectors."""
        if not self.shape:
            raise NotTogether("iterating over a number")
        return iter([take_item(self, i) for i in range(self.shape[0])])

    def length(self) -> int:
        if not self.shape:
            raise NotTogether("the length of a number")
        return self.shape[0]

    def no_count(self) -> None:
        """Refuse to be how often a list is repeated, unless a row's value is no such number."""
        if not self.shape and (self.dtype is WEAK_INT or self.dtype is WEAK_COUNT):
            raise NotTogether("a list repeated a number of times that differs from row to row")

    def __bool__(self) -> bool:
        raise NotTogether("a condition inside a function that is given whole columns")

    def __eq__(self, other: object) -> bool:
        raise NotTogether("a comparison inside a function that is given whole columns")

    __hash__ = object.__hash__


def _operator(name: str, swapped: bool = False) -> Callable[..., Any]:
    def method(self: Column, *others: Any) -> Any:
        return OPERATORS[name](*((*others, self) if swapped else (self, *others)))

    return method


for _symbol, _row in {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "pow": "power", "floordiv": "floor_divide",
    "mod": "mod", "matmul": "matmul",
}.items():  # fmt: skip
    setattr(Column, f"__{_symbol}__", _operator(_row))
    setattr(Column, f"__r{_symbol}__", _operator(_row, swapped=True))
for _symbol, _row in {
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "neg": "negative",
}.items():
    setattr(Column, f"__{_symbol}__", _operator(_row))


def holds_column(x: Any) -> bool:
    """Whether a value is a column, or a container of one."""
    cls = x.__class__
    if cls is Column:
        return True
    if cls is list or cls is tuple:
        return any(holds_column(item) for item in x)
    if cls is dict:
        return any(holds_column(item) for item in x.values())
    return False


def live_of(operands: tuple[Any, ...]) -> Any:
    """Which active rows of a result depend on a source: those of which an operand does."""
    found: Any = None
    for x in operands:
        if x.__class__ is Column and x.tensor.on is not None:
            live = x.live_here()
            if live is None:
                return None
            found = live if found is None else found | live
    return found


def take_item(x: Column, index: Any) -> Any:
    """`x[index]` of every row, the index the same for all."""
    key = (slice(None), *index) if index.__class__ is tuple else (slice(None), index)
    return Column(
        x.table, apply(OPERATORS["index"], (x.here(),), {"index": key}), x.table.active, x.mixed, x.live_here()
    )


def truths(x: Column) -> Any:
    """The truth of the active rows."""
    values = x.numbers()
    if values.ndim != 1:
        raise NotTogether("the truth of a tensor")
    if RECORDERS and x.tensor.on is not None:
        path_ends((x.here(),), CONDITION)
    return values if values.dtype == bool else values != 0


# --- applying a row -------------------------------------------------------------------------------------------------


def apply_to_columns(table: Table, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
    """A row applied to operands of which at least one is a column."""
    if attributes and any(holds_column(value) for value in attributes.values()):
        raise NotTogether(f"a parameter of {op.name} that differs from row to row")
    inputs = tuple(as_operand(x, op) for x in inputs)
    if op.name == "index_update":
        return updated(table, op, inputs, attributes or {})
    if op.batch:
        return batched(table, op, inputs, attributes or {})
    if op.derivative != "partials" and op.name not in ELEMENTWISE:
        raise NotTogether(op.name)
    if op.name in KIND_MATTERS and any(x.__class__ is Column and x.mixed for x in inputs[op.name == "power" :]):
        raise NotTogether(f"{op.name} of numbers that are integers in some rows and floats in others")
    keep_integers(table, op, inputs, attributes)
    rank = max(len(x.shape) if x.__class__ in (Column, Tensor) else 0 for x in inputs)
    operands = tuple(aligned(x, rank) if x.__class__ is Column else x for x in inputs)
    if op.singular:
        for x, given in zip(operands, inputs):
            if given.__class__ is Column:
                table.rows_of[x] = (table.active, given.live_here())
    return Column(table, apply(op, operands, attributes), table.active, live=live_of(inputs))


def aligned(x: Column, rank: int) -> Tensor:
    """The active rows, with the axes before a row's own that broadcasting against `rank` axes needs."""
    tensor = x.here()
    missing = rank - (tensor.value.ndim - 1)
    if not missing:
        return tensor
    shape = tensor.value.shape
    return OPERATORS["reshape"](tensor, shape=(shape[0], *(1,) * missing, *shape[1:]))  # type: ignore[no-any-return]


def keep_integers(table: Table, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> None:
    """Let the rows leave whose integers fail here, or outgrow their column."""
    name = op.name
    if name not in INTEGER_DOUBTS:
        return
    if name == "cast":
        target = (attributes or {}).get("dtype")
        if (
            getattr(target, "kind", str(target)[:1]) == "i"
            and inputs[0].__class__ is Column
            and inputs[0].dtype.kind == "f"
        ):
            import numpy as np

            none = ~np.isfinite(inputs[0].numbers())
            if none.any():
                number = inputs[0].dtype
                table.fail(
                    rowwise(none), lambda: raised_by(apply, op, (Tensor(np.full(1, np.nan), number),), attributes)
                )
            doubtful = ~(np.abs(inputs[0].numbers()) < LARGEST)
            if doubtful.any():
                table.leave(rowwise(doubtful), "numbers that no integer holds")
        return
    if any(dtype_of(x).kind not in "bi" for x in inputs):
        return
    import numpy as np

    values = [x.numbers() if x.__class__ is Column else plain(x) for x in inputs]
    if name in DIVISIONS and all(x.raw if x.__class__ is Column else x.__class__ in (int, bool) for x in inputs):
        none = np.broadcast_to(np.asarray(values[1]) == 0, (table.active.size,))
        if none.any():
            table.fail(none, lambda: raised_by(op, 1, 0))
            values = [x.numbers() if x.__class__ is Column else plain(x) for x in inputs]
    with np.errstate(all="ignore"):
        doubtful = INTEGER_DOUBTS[name](np, *[np.asarray(v, dtype=np.float64) for v in values])
    if doubtful.any():
        if doubtful.ndim == 0:
            raise NotTogether("integers that outgrow a column")
        table.leave(rowwise(doubtful), "integers that outgrow a column, or an operation on them that fails")


def raised_by(function: Callable[..., Any], *values: Any) -> AdiffError:
    """The error of a function for values that it does not take."""
    try:
        function(*values)
    except AdiffError as error:
        return error
    raise AssertionError(f"{function} of {values} is no error")


def rowwise(mask: Any) -> Any:
    """One truth for each row."""
    return mask if mask.ndim == 1 else mask.reshape(mask.shape[0], -1).any(axis=1)


DIVISIONS = frozenset(("floor_divide", "mod", "fmod"))
INTEGER_DOUBTS: dict[str, Callable[..., Any]] = {
    "add": lambda np, a, b: np.abs(a + b) > LARGEST,
    "subtract": lambda np, a, b: np.abs(a - b) > LARGEST,
    "multiply": lambda np, a, b: np.abs(a * b) > LARGEST,
    "square": lambda np, a: a * a > LARGEST,
    "squared_difference": lambda np, a, b: (a - b) ** 2 > LARGEST,
    "power": lambda np, a, b: (b < 0) | ~(np.abs(np.power(a, b)) < LARGEST),
    "divide": lambda np, a, b: (np.abs(a) > EXACT) | (np.abs(b) > EXACT),
    "floor_divide": lambda np, a, b: (b == 0) | (np.abs(a) > LARGEST),
    "mod": lambda np, a, b: b == 0,
    "fmod": lambda np, a, b: b == 0,
    "cast": None,  # type: ignore[dict-item]
}


def dtype_of(x: Any) -> DType:
    found = x.dtype if x.__class__ in (Column, Tensor) else raw_dtype(x)
    if found is None:
        raise NotTogether("a value that is no number")
    return found


# --- rows that look at the axes of a row's value --------------------------------------------------------------------


def batched(table: Table, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    """A row that looks at the axes of a row's value, by its rule for whole columns."""
    ranks = tuple(len(x.shape) if x.__class__ in (Column, Tensor) else 0 for x in inputs)
    if op.batch == "axes" and not ranks[0]:
        if attributes.get("axis") is not None or op.name not in ("sum", "mean", "max", "min", "prod"):
            raise NotTogether(f"{op.name} of a number")
        return inputs[0]
    if not (op.moves or op.derivative == "none" or op.name in WHOLE) and any(dtype_of(x).kind in "bi" for x in inputs):
        raise NotTogether(f"{op.name} of integers")
    if op.name in APART and inputs[0].__class__ is Column:
        keep_apart(table, op, inputs[0])
    operands = tuple(whole_column(table, x) for x in inputs)
    live = live_of(inputs)
    if op.singular:
        for x, given in zip(operands, inputs):
            table.rows_of[x] = (table.active, given.live_here() if given.__class__ is Column else None)
    found = BATCHING[op.batch](op, operands, ranks, attributes)  # type: ignore[index]
    if found is NotImplemented:
        import numpy as np

        # What no single value has either fails in its words.
        apply(
            op, tuple(Tensor(np.zeros(x.value.shape[1:], x.dtype.name), x.dtype) for x in operands), attributes or None
        )
        raise NotTogether(f"{op.name} of these shapes")
    of_vectors = op.name == "matmul" and max(ranks) == 1  # a sum of products
    if op.derivative in ("rule", "multilinear") and op.name not in STRONG and not of_vectors:
        table.doubtful = op.name
    mixed = any(x.__class__ is Column and x.mixed for x in inputs)

    def column(y: Any) -> Column:
        return Column(table, y, table.active, mixed, live)

    return tuple(map(column, found)) if found.__class__ is tuple else column(found)


# Rows whose results are elements of their operands, integers too.
WHOLE = frozenset(("max", "min", "sort_along"))
# Rows whose rules keep a zero cotangent zero beside nan and infinities.
STRONG = frozenset("sum mean prod max min var std euclidean_norm power_norm logsumexp sort_along".split())


def keep_apart(table: Table, op: Operation, x: Column) -> None:
    """Let the rows leave whose matrices the rule of a decomposition treats differently: those with values that coincide,
    or with less than full rank. What it then tells, it tells of all matrices together."""
    import numpy as np

    matrices = x.numbers()
    if matrices.ndim < 3 or 0 in matrices.shape:
        raise NotTogether(f"{op.name} of these shapes")
    if matrices.dtype.kind == "c":
        raise NotTogether(f"{op.name} of complex matrices")
    doubtful = ~np.isfinite(matrices).reshape(len(matrices), -1).all(axis=1)
    if x.tensor.on is not None or op.name == "least_squares":
        values = APART[op.name](np, np.where(doubtful.reshape(-1, *(1,) * (matrices.ndim - 1)), 0.0, matrices))
        size = np.abs(values).max(axis=-1, keepdims=True)
        gap = np.abs(np.diff(np.sort(values, axis=-1), axis=-1))
        least = 32.0 * max(matrices.shape[-2:]) * np.finfo(values.dtype).eps * size
        if op.name != "least_squares":
            doubtful |= rowwise((gap <= least).any(axis=-1))
        if op.name != "eigh":
            doubtful |= rowwise((values <= least).any(axis=-1))
    if doubtful.any():
        table.leave(doubtful, f"{op.name} where values coincide, or the rank is not full")


# Decompositions with rules that look at these values of the matrices.
APART: dict[str, Callable[..., Any]] = {
    "eigh": lambda np, x: np.linalg.eigvalsh((x + np.swapaxes(x, -1, -2)) * 0.5),
    "svd_thin": lambda np, x: np.linalg.svd(x, compute_uv=False),
    "least_squares": lambda np, x: np.linalg.svd(x, compute_uv=False),
}


def whole_column(table: Table, x: Any) -> Tensor:
    """An operand as a tensor with the active rows along its first axis."""
    if x.__class__ is Column:
        return x.here()
    import numpy as np

    value = np.asarray(plain(x), dtype=dtype_of(x).name)
    repeated = np.broadcast_to(value, (table.active.size, *value.shape))
    if x.__class__ is Tensor and x.on is not None:
        return OPERATORS["broadcast_to"](x, shape=repeated.shape)  # type: ignore[no-any-return]
    return Tensor(repeated, dtype_of(x))


def unit(x: Any, place: tuple[int, ...]) -> Any:
    """Ones in every row at one place of what rows hold, and zeros elsewhere."""
    if not place:
        return OPERATORS["ones_like"](x)
    import numpy as np

    found: Any = np.zeros(x.shape)
    found[(slice(None), *place)] = 1.0
    return Tensor(found.astype(x.dtype.name), x.dtype.strong)


def updated(table: Table, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    """`x[index] = value` of every row, the index the same for all."""
    import numpy as np

    x, value = inputs
    index = attributes["index"]
    parts = index if index.__class__ is tuple else (index,)
    if (
        any(part.__class__ not in (int, slice) for part in parts)
        or len(parts) > len(x.shape)
        or dtype_of(x).kind != "f"
    ):
        raise NotTogether("an update at other than plain places")
    if any(part.__class__ is int and not -size <= part < size for part, size in zip(parts, x.shape)):
        raise NotTogether("an update that is out of range")
    if value.__class__ is Column:
        rank = np.broadcast_to(0, x.shape)[parts].ndim
        if value.ndim > rank:
            raise NotTogether("an update by a tensor of more axes")
        value = aligned(value, rank)
    updated_rows = apply(op, (whole_column(table, x), value), {"index": (slice(None), *parts)})
    return Column(table, updated_rows, table.active, live=live_of(inputs))


# --- joining --------------------------------------------------------------------------------------------------------


def join(table: Table, pieces: list[tuple[Rows, Any]]) -> Any:
    """Values of disjoint sets of rows as one value for the active rows. Raises Unlike."""
    first = pieces[0][1]
    if all(value is first for _, value in pieces):
        return first
    cls = first.__class__
    if cls in (list, tuple):
        if any(value.__class__ is not cls or len(value) != len(first) for _, value in pieces):
            raise Unlike
        items = [join(table, [(rows, value[i]) for rows, value in pieces]) for i in range(len(first))]
        if cls is tuple:
            return tuple(items)
        # Neither may change any more: what one of them came to hold, the others would have to hold in its rows.
        for held in (items, *(value for _, value in pieces)):
            table.frozen[id(held)] = held
        return items
    if cls in (str, bool, int, float) and all(same(value, first) for _, value in pieces):
        return first
    return join_numbers(table, pieces)


def same(a: Any, b: Any) -> bool:
    return a.__class__ is b.__class__ and repr(a) == repr(b)


def join_numbers(table: Table, pieces: list[tuple[Rows, Any]]) -> Column:
    import numpy as np

    dtypes: list[DType] = []
    shapes = set()
    mixed = False
    for _, value in pieces:
        if value.__class__ in (Column, Tensor):
            dtypes.append(value.dtype)
            shapes.add(value.shape)
            mixed = mixed or (value.__class__ is Column and value.mixed)
        else:
            raw = raw_dtype(value)
            if raw is None or raw.kind == "s":
                raise Unlike
            dtypes.append(raw)
            shapes.add(())
    if len(shapes) > 1:
        raise Unlike
    dtype = dtypes[0]
    for other in dtypes[1:]:
        if other is not dtype:
            dtype = joined_dtype(dtype, other)
    mixed = mixed or any(other.kind != dtype.kind for other in dtypes)
    if dtype is WEAK_FLOAT and WEAK_COUNT in dtypes:
        mixed = True
    active = table.active
    operands = []
    lives = []
    for rows, value in pieces:
        table.active = rows
        tensor = whole_column(table, value)
        lives.append(
            tensor.on is not None if value.__class__ is not Column or value.live is None else value.live_here()
        )
        table.active = active
        if tensor.dtype.name != dtype.name:
            number = tensor.value
            if number.dtype.kind == "i" and number.size and abs(number).max() > EXACT:
                raise Unlike
            tensor = Tensor(number.astype(dtype.name), dtype)
        operands.append(tensor)
    places = [rows.places_in(active) for rows, _ in pieces]
    out = apply(OPERATORS["join_rows"], tuple(operands), {"places": places, "size": active.size})
    live = None
    if out.on is not None and not all(part is True for part in lives):
        live = np.empty(active.size, bool)
        for where, part in zip(places, lives):
            live[where] = part
    return Column(table, Tensor(out.value, dtype) if out.on is None else out, active, mixed, live)


def joined_dtype(a: DType, b: DType) -> DType:
    if a.name == b.name:
        return a if not a.weak else b if not b.weak else WEAK_FLOAT if WEAK_COUNT in (a, b) else a
    if a.kind == b.kind or not (a.weak or a is BOOL or b.weak or b is BOOL) or "c" in (a.kind, b.kind):
        raise Unlike
    try:
        found = promote(a, b)
    except DTypeMismatch:
        raise Unlike from None
    return found if found.kind != "b" else WEAK_INT


__all__ = [
    "Column",
    "Unlike",
    "apply_to_columns",
    "holds_column",
    "join",
    "raised_by",
    "take_item",
    "truths",
    "unit",
    "whole_column",
]
