"""Applications that are not made: their result is known, or an operand, or other rows give it; attributes in one form.

Where what is left out has float operands, it must not matter which sources reach the result.
"""

from __future__ import annotations

import math

from ....parser.fields import Record
from ...core.dispatch import apply
from ...core.dtypes import DType
from ...core.operands import counted, wrap
from ...core.state import STATE
from ...core.tensor import OPERATORS, Tensor, count, shape_of
from ..ir import BOOL, FLOAT, Unsupported, Var, index_shape, kind_of
from ..symbols import NUMBERS, Sym
from .indexing import Selection, fitted, is_normal, rows_of, whole
from .shapes import axes_of, axis_of, broadcast, full_shape, order_of, reduced_shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ...ops.operation import Operation
    from ..builder import Builder

    Rule = Callable[..., Any]


def simplified(
    builder: Builder, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any], dtypes: tuple[DType, ...]
) -> Any:
    """The result of an application that need not be made as it is, or None. `dtypes` are those of the results."""
    if not any(map(is_unknown, (*inputs, *attributes.values()))):
        return apply(op, inputs, attributes or None)
    rule = RULES.get(op.name)
    if rule is None:
        return None
    try:
        return rule(At(builder, op, attributes, dtypes[0]), *inputs, **attributes)
    except (IndexError, TypeError, ValueError):
        raise Unsupported(f"operands of {op.name} that do not fit", STATE.site) from None


def is_unknown(x: Any) -> bool:
    return x.__class__ is Sym or x.__class__ is Var or (x.__class__ is tuple and any(map(is_unknown, x)))


class At(Record):
    """An application: the row, its attributes, and the dtype of its result."""

    builder: Builder
    op: Operation
    attributes: dict[str, Any]
    dtype: DType

    @property
    def kind(self) -> str:
        """The kind of the result. Raises Unsupported for a dtype that kernels do not have."""
        return kind_of(self.dtype)

    def same(self, x: Any) -> Any:
        """An operand as the result."""
        if x.__class__ is Sym:
            return self.builder.sym(self.builder.operand(x, self.kind), self.dtype)
        return OPERATORS.cast(x, dtype=self.dtype) if x.__class__ is Tensor and x.shape else self.number(number(x))

    def number(self, value: Any) -> Any:
        """A number as the result."""
        made = wrap(self.builder.operand(value, self.kind), self.dtype)
        return made.value if made.__class__ is Tensor and made.dtype.weak else made

    def full(self, value: Any, shape: tuple[int, ...]) -> Any:
        """A number everywhere in a shape as the result."""
        if not shape:
            return self.number(value)
        return self.builder.sym(
            self.builder.uniform(self.builder.operand(value, self.kind), self.kind, shape), self.dtype
        )

    def again(self, *inputs: Any, **changed: Any) -> Any:
        """The row with some of its attributes changed."""
        return self.builder.apply(self.op, inputs, {**self.attributes, **changed})

    def formed(self, *inputs: Any, **changed: Any) -> Any:
        """The same, or None if the attributes have that form already."""
        return (
            None if all(self.attributes[name] == x for name, x in changed.items()) else self.again(*inputs, **changed)
        )

    def definition(self, x: Any, *names: str) -> Any:
        """The application that defines a symbol, if it is one of some rows."""
        made = self.builder.definitions.get(x.var) if x.__class__ is Sym else None
        return made if made is not None and made.row.name in names else None

    def value(self, x: Any) -> Any:
        """The number that an operand is known to be everywhere, or None."""
        return self.builder.number_in(x) if x.__class__ is Sym else number(x)

    def only(self, x: Any, *others: Any) -> Any:
        """An operand as the result, in the shape of all of them."""
        shape = broadcast(*[shape_of(y) for y in (x, *others)])
        if x.__class__ in NUMBERS:
            return self.full(x, shape)
        x = self.same(x)
        return x if shape_of(x) == shape else OPERATORS.broadcast_to(x, shape=shape)

    def symbol(self, x: Any) -> Any:
        """An operand of a statement as a symbol, of the dtype of the result."""
        return self.builder.sym(x, self.dtype)


def number(x: Any) -> Any:
    """The value of a known number, else None."""
    value = x.value if x.__class__ is Tensor else x
    if value.__class__ in NUMBERS:
        return value
    return value.item() if getattr(value, "shape", None) == () and value.__class__ is not Sym else None


def is_finite(at: At, x: Any) -> bool:
    """Whether a factor is known to be finite."""
    value = at.value(x)
    if value is not None:
        return math.isfinite(value)
    return x.__class__ is Sym and x.kind != FLOAT


# --- arithmetic and logic -------------------------------------------------------------------------------------------


def is_zero(value: Any, sign: float) -> bool:
    """Whether a number is the zero that changes nothing: of floats that of a sign, of integers either."""
    return value is not None and value == 0 and (value.__class__ is not float or math.copysign(1.0, value) == sign)


def add(at: At, a: Any, b: Any) -> Any:
    for x, y in ((a, b), (b, a)):
        # 0.0 added to -0.0 is 0.0.
        if is_zero(at.value(y), -1.0) and (at.value(y).__class__ is float or at.dtype.kind == "i"):
            return at.only(x, y)
    return None


def subtract(at: At, a: Any, b: Any) -> Any:
    return at.only(a, b) if is_zero(at.value(b), 1.0) else None


def multiply(at: At, a: Any, b: Any) -> Any:
    for x, y in ((a, b), (b, a)):
        if at.value(y) == 1:
            return at.only(x, y)
        if at.value(y) == 0 and at.dtype.kind == "i":
            return at.only(0, x, y)
    return None


def strong_multiply(at: At, g: Any, p: Any) -> Any:
    if at.value(g) == 0:
        return at.only(0.0, g, p)
    return OPERATORS.multiply(g, p) if at.value(g) is not None or is_finite(at, p) else None


def unless_one(at: At, a: Any, b: Any) -> Any:
    return at.only(a, b) if at.value(b) == 1 else None


def logic(neutral: bool) -> Rule:
    """`and`, of which True is neutral, or `or`."""

    def rule(at: At, a: Any, b: Any) -> Any:
        for x, y in ((a, b), (b, a)):
            value = at.value(y)
            if value is not None and at.dtype.kind == "b":
                return at.only(x if bool(value) is neutral else not neutral, a, b)
        return None

    return rule


def cast(at: At, x: Any, dtype: Any) -> Any:
    if x.kind == at.kind:
        return at.same(x)
    if x.kind == FLOAT and at.dtype.kind == "i":
        at.builder.check(OPERATORS.less(OPERATORS.abs(x), 2.0**62))
    return None


def not_float(at: At, x: Any) -> Any:
    """Of floats the row is a mark on their way, which `expand` removes."""
    return at.same(x) if x.kind != FLOAT else None


# --- shapes ---------------------------------------------------------------------------------------------------------


def reshape(at: At, x: Any, shape: Any) -> Any:
    sizes = full_shape(known_sizes(at, shape), count(shape_of(x)))
    if sizes == shape_of(x):
        return at.same(x)
    made = at.definition(x, "reshape")
    return at.again(at.symbol(made.inputs[0]), shape=sizes) if made else at.formed(x, shape=sizes)


def known_sizes(at: At, shape: Any) -> tuple[int, ...]:
    """A shape whose sizes may be symbols that must be known."""
    sizes = tuple(shape) if shape.__class__ in (tuple, list) else (shape,)
    return tuple([at.builder.known(n) if n.__class__ is Sym else counted(n) for n in sizes])


def transpose(at: At, x: Any, axes: Any) -> Any:
    order = order_of(axes, x.ndim)
    if order == tuple(range(x.ndim)):
        return at.same(x)
    made = at.definition(x, "transpose")
    if made:
        return at.again(at.symbol(made.inputs[0]), axes=tuple([made.attributes["axes"][i] for i in order]))
    return at.formed(x, axes=order)


def broadcast_to(at: At, x: Any, shape: Any) -> Any:
    sizes = known_sizes(at, shape)
    value = at.value(x)
    if sizes == shape_of(x):
        return at.same(x)
    return at.formed(x, shape=sizes) if value is None else at.full(value, sizes)


def sum_to(at: At, x: Any, shape: Any) -> Any:
    return at.same(x) if shape == x.shape else None


def flip(at: At, x: Any, axis: Any) -> Any:
    axes = tuple([i for i in axes_of(axis, x.ndim) if x.shape[i] > 1])
    return at.formed(x, axis=axes) if axes else at.same(x)


def concat(at: At, *parts: Any, axis: Any) -> Any:
    if axis is None:
        return at.again(*[OPERATORS.reshape(x, shape=-1) for x in parts], axis=0)
    return at.same(parts[0]) if len(parts) == 1 else at.formed(*parts, axis=axis_of(axis, len(shape_of(parts[0]))))


def stack(at: At, *parts: Any, axis: int) -> Any:
    return at.formed(*parts, axis=axis_of(axis, len(shape_of(parts[0])) + 1))


def pad_zeros(at: At, x: Any, pad_width: Any) -> Any:
    widths = tuple([(int(low), int(high)) for low, high in pad_width])
    return at.formed(x, pad_width=widths) if any(map(any, widths)) else at.same(x)


# --- reductions -----------------------------------------------------------------------------------------------------

# What a reduction over no axes leaves as it is.
KEEPING = frozenset(("sum", "mean", "prod", "max", "min", "any", "all", "logsumexp"))


def reduction(at: At, x: Any, axis: Any, keepdims: Any, **attributes: Any) -> Any:
    axes = axes_of(axis, x.ndim)
    if at.dtype.kind == "b" and x.kind != BOOL:
        return at.again(OPERATORS.not_equal(x, 0))
    if at.op.name in KEEPING and not axes:
        return at.same(x)
    if at.op.name in ("max", "min") and x.kind == BOOL:
        return OPERATORS["any" if at.op.name == "max" else "all"](x, axis=axes, keepdims=keepdims)
    if keepdims:
        return OPERATORS.reshape(at.again(x, axis=axes, keepdims=False), shape=reduced_shape(x.shape, axes, True))
    return at.formed(x, axis=axes, keepdims=False)


def extremum_place(at: At, x: Any, axis: Any, keepdims: Any, output_type: Any) -> Any:
    name = at.op.name.removeprefix("tf.")
    if at.kind and axis is None:
        found = OPERATORS[name](OPERATORS.reshape(x, shape=-1), axis=0)
        return OPERATORS.reshape(found, shape=(1,) * x.ndim) if keepdims else found
    place = axis_of(axis, x.ndim)
    if x.kind == BOOL:
        x = OPERATORS.cast(x, dtype="int64")
    elif not keepdims and place == axis and name == at.op.name:
        return None
    found = OPERATORS[name](x, axis=place)
    return OPERATORS.reshape(found, shape=reduced_shape(x.shape, (place,), True)) if keepdims else found


def along(at: At, x: Any, axis: int, **attributes: Any) -> Any:
    return at.formed(x, axis=axis_of(axis, x.ndim))


# --- indices --------------------------------------------------------------------------------------------------------


def index(at: At, x: Any, index: Any) -> Any:
    shape = shape_of(x)
    if not is_normal(shape, index):
        found = Selection(at.builder, shape, index)
        return at.again(x, index=found.basic) if found.plain else at.same(found.take(x))
    if tuple([entry for entry in index if entry is not None]) == whole(shape):
        return OPERATORS.reshape(x, shape=index_shape(shape, index))
    return None


def index_scatter(at: At, x: Any, shape: Any, index: Any) -> Any:
    if is_normal(shape, index):
        return at.same(x) if index == whole(shape) else None
    found = Selection(at.builder, shape, index)
    return at.again(x, index=found.basic) if found.plain else at.same(found.scatter(x))


def index_update(at: At, x: Any, value: Any, index: Any) -> Any:
    shape = shape_of(x)
    if index.__class__ is Sym and index.kind == BOOL and index.ndim and not shape_of(value):
        mask = OPERATORS.reshape(index, shape=index.shape + (1,) * (len(shape) - index.ndim))
        if index.shape == shape[: index.ndim]:
            return at.same(OPERATORS.where(mask, value, x))
    if not is_normal(shape, index):
        found = Selection(at.builder, shape, index)
        return at.again(x, value, index=found.basic) if found.plain else at.same(found.update(x, value))
    return with_fitted(at, x, value, index)


def with_fitted(at: At, x: Any, value: Any, index: Any) -> Any:
    """Leading axes of one element of a value that its place in x does not have are left out."""
    found = fitted(value, index_shape(shape_of(x), index))
    return at.again(x, found, index=index) if found is not value else None


def index_add(at: At, x: Any, value: Any, index: Any) -> Any:
    shape = shape_of(x)
    if is_normal(shape, index):
        return with_fitted(at, x, value, index)
    found = Selection(at.builder, shape, index)
    if found.plain:
        return at.again(x, value, index=found.basic)
    return OPERATORS.add(x, found.scatter(OPERATORS.broadcast_to(value, shape=found.selected)))


def take_rows(at: At, x: Any, indices: Any, axis: int) -> Any:
    place = axis_of(axis, len(shape_of(x)))
    found = rows_of(indices, shape_of(x)[place])
    if not found.shape:
        chosen = at.symbol(found) if found.__class__ is Var else found
        return OPERATORS.index(x, index=(*(slice(None),) * place, chosen))
    return at.again(x, indices=found, axis=place) if found is not indices or place != axis else None


def put_rows(at: At, x: Any, indices: Any, axis: int, size: int) -> Any:
    found = rows_of(indices, size)
    return at.again(x, indices=found) if found is not indices else None


RULES: dict[str, Rule] = {
    "add": add, "subtract": subtract, "multiply": multiply, "strong_multiply": strong_multiply, "power": unless_one,
    "divide": unless_one,
    "logical_and": logic(True), "bitwise_and": logic(True), "logical_or": logic(False), "bitwise_or": logic(False),
    "cast": cast, "stop_gradient": not_float, "positive": not_float,
    "invert": lambda at, x: OPERATORS.logical_not(x) if x.kind == BOOL else None,
    **dict.fromkeys(("identity", "real", "conj"), At.same),
    "abs": lambda at, x: at.same(x) if x.kind == BOOL else None,
    "reshape": reshape, "transpose": transpose, "broadcast_to": broadcast_to, "sum_to": sum_to, "flip": flip,
    "concat": concat, "stack": stack, "pad_zeros": pad_zeros,
    **dict.fromkeys(
        ("sum", "mean", "prod", "max", "min", "any", "all", "logsumexp", "var", "std", "euclidean_norm", "power_norm",
         "count_nonzero"),
        reduction,
    ),
    **dict.fromkeys(("argmax", "argmin", "tf.argmax", "tf.argmin"), extremum_place),
    **dict.fromkeys(("cumsum_along", "cumprod_along"), along),
    "index": index, "index_scatter": index_scatter, "index_update": index_update, "index_add": index_add,
    "take_rows": take_rows, "put_rows": put_rows,
}  # fmt: skip
