"""Rows of shapes, reductions and indices in one form each, with rows that come to nothing left out: rules of simplify.py."""

from __future__ import annotations

from ...core.operands import counted
from ...core.tensor import OPERATORS, count, shape_of
from ..ir import BOOL, Var, index_shape
from ..symbols import Sym
from .indexing import is_normal, rows_of, whole
from .selection import Selection, fitted
from .shapes import axes_of, axis_of, full_shape, order_of, reduced_shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .simplify import At

    Rule = Callable[..., Any]

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
    made = at.definition(x, "index_update")
    if made and made.attributes["index"] == index and not at.builder.keeps_paths:
        return at.again(at.symbol(made.inputs[0]), value, index=index)
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


FORMS: dict[str, Rule] = {
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
