"""How rows of the table act on whole columns of a table of data: on one value for each of its rows, along a first axis.

A row of operations names its rule as `batch`. The rule is given the row, its operands, all with that axis in front, the number
of axes that one row's value has of each, and the static parameters as a program gives them for one value. It applies the row,
once for all, and gives what it gives, with that axis in front again; NotImplemented where it cannot. No rule mixes rows.
"""

from __future__ import annotations

from ..core.dispatch import apply
from ..core.tensor import OPERATORS, count, shape_of
from ..ops.support import as_shape, axes_of, axis_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ..core.operation import Operation

    Operands = tuple[Any, ...]
    Ranks = tuple[int, ...]


# --- rows with axes -------------------------------------------------------------------------------------------------


def along_axes(op: Operation, xs: Operands, ranks: Ranks, static: dict[str, Any]) -> Any:
    """`axis` names one axis of all operands, or several; None stands for all."""
    moved = tuple(a + 1 for a in axes_of(op.name, static["axis"], ranks[0]))
    return apply(op, xs, {**static, "axis": moved[0] if len(moved) == 1 else moved})


def along_axis(op: Operation, xs: Operands, ranks: Ranks, static: dict[str, Any]) -> Any:
    """`axis` names one axis; None stands for the elements in one row."""
    axis = static["axis"]
    if axis is None:
        if static.get("keepdims"):
            return NotImplemented
        lines = tuple(reshaped(x, (count(shape_of(x)[1:]),)) for x in xs)
        return apply(op, lines, {**static, "axis": 1})
    if len(set(ranks)) != 1:
        return NotImplemented
    return apply(op, xs, {**static, "axis": axis_of(op.name, axis, ranks[0]) + 1})


def along_new_axis(op: Operation, xs: Operands, ranks: Ranks, static: dict[str, Any]) -> Any:
    """`axis` names an axis that the result has and the operands have not."""
    if len(set(ranks)) != 1:
        return NotImplemented
    return apply(op, xs, {**static, "axis": axis_of(op.name, static["axis"], ranks[0] + 1) + 1})


def in_order_of_axes(op: Operation, xs: Operands, ranks: Ranks, static: dict[str, Any]) -> Any:
    """`axes` is an order of all axes; None reverses them."""
    axes = tuple(range(ranks[0]))[::-1] if static["axes"] is None else axes_of(op.name, static["axes"], ranks[0])
    return apply(op, xs, {**static, "axes": (0, *(a + 1 for a in axes))})


# --- rows with shapes -----------------------------------------------------------------------------------------------


def to_shape(op: Operation, xs: Operands, ranks: Ranks, static: dict[str, Any]) -> Any:
    """`shape` is what the elements are put into; a size of -1 is worked out."""
    (x,), shape = xs, static["shape"]
    sizes = tuple(shape) if shape.__class__ in (tuple, list) else (shape,)
    return apply(op, xs, {**static, "shape": (shape_of(x)[0], *sizes)})


def broadcast_to_shape(op: Operation, xs: Operands, ranks: Ranks, static: dict[str, Any]) -> Any:
    """`shape` is what the operand is repeated to."""
    shape = as_shape(static["shape"])
    if len(shape) < ranks[0]:
        return NotImplemented
    x = with_axes(xs[0], ranks[0], len(shape))
    return apply(op, (x,), {**static, "shape": (shape_of(x)[0], *shape)})


def padded(op: Operation, xs: Operands, ranks: Ranks, static: dict[str, Any]) -> Any:
    """`pad_width` has widths for each axis."""
    return apply(op, xs, {**static, "pad_width": ((0, 0), *static["pad_width"])})


def in_places(op: Operation, xs: Operands, ranks: Ranks, static: dict[str, Any]) -> Any:
    """`index` says where elements are, the same places in every row of data; `shape`, if there is one, among how many."""
    index = static["index"]
    parts = index if index.__class__ is tuple else (index,)
    if not places_stay_together(parts):
        return NotImplemented
    wider: dict[str, Any] = {**static, "index": (slice(None), *parts)}
    if "shape" in static:
        wider["shape"] = (shape_of(xs[0])[0], *static["shape"])
    return apply(op, xs, wider)


def places_stay_together(parts: Sequence[Any]) -> bool:
    """Whether the axes that an index makes stay behind one in front: NumPy moves those of arrays that stand apart."""
    import numpy as np

    arrays = [i for i, part in enumerate(parts) if part.__class__ is np.ndarray]
    if any(parts[i].dtype.kind not in "iu" for i in arrays):
        return False
    if not all(p is None or p is Ellipsis or p.__class__ in (int, slice, np.ndarray) for p in parts):
        return False
    used = [i for i, part in enumerate(parts) if part.__class__ in (int, np.ndarray)] if arrays else []
    return not used or used[-1] - used[0] + 1 == len(used)


# --- rows of matrices -----------------------------------------------------------------------------------------------


def on_matrices(op: Operation, xs: Operands, ranks: Ranks, static: dict[str, Any]) -> Any:
    """The last two axes of every operand are a matrix; those before are batches, as the axis in front is."""
    if min(ranks) < 2:
        return NotImplemented
    widest = max(ranks)
    return apply(op, tuple(with_axes(x, rank, widest) for x, rank in zip(xs, ranks)), static or None)


def solved(op: Operation, xs: Operands, ranks: Ranks, static: dict[str, Any]) -> Any:
    """A matrix, and a right side that is a vector or a matrix of columns."""
    a, b = xs
    if ranks[1] != 1:
        return on_matrices(op, xs, ranks, static)
    found = on_matrices(op, (a, reshaped(b, (*shape_of(b)[1:], 1))), (ranks[0], 2), static)
    return found if found is NotImplemented else OPERATORS["index"](found, index=(Ellipsis, 0))


def multiplied(op: Operation, xs: Operands, ranks: Ranks, static: dict[str, Any]) -> Any:
    """Products of matrices, or of vectors that count as a row on the left and as a column on the right."""
    a, b = xs
    if not min(ranks):
        return NotImplemented
    own_a, own_b = shape_of(a)[1:], shape_of(b)[1:]
    if ranks == (1, 1):
        if own_a != own_b:
            return NotImplemented
        return OPERATORS["sum"](OPERATORS["multiply"](a, b), axis=1)
    left = reshaped(a, (1, *own_a)) if ranks[0] == 1 else a
    right = reshaped(b, (*own_b, 1)) if ranks[1] == 1 else b
    found = on_matrices(op, (left, right), (max(ranks[0], 2), max(ranks[1], 2)), static)
    if found is NotImplemented or min(ranks) > 1:
        return found
    return OPERATORS["index"](found, index=(Ellipsis, 0) if ranks[1] == 1 else (Ellipsis, 0, slice(None)))


def contracted(op: Operation, xs: Operands, ranks: Ranks, static: dict[str, Any]) -> Any:
    """Sums of products over labels of axes: the axis in front has a label of its own."""
    label = max((-1, *static["first"], *static["second"])) + 1
    return apply(op, xs, static | {name: (label, *static[name]) for name in ("first", "second", "output")})


# --- shapes behind the axis in front --------------------------------------------------------------------------------


def reshaped(x: Any, shape: Sequence[int]) -> Any:
    return OPERATORS["reshape"](x, shape=(shape_of(x)[0], *shape))


def with_axes(x: Any, rank: int, wanted: int) -> Any:
    """An operand whose rows' values have axes of size 1 before their own, up to so many."""
    return x if rank == wanted else reshaped(x, (*(1,) * (wanted - rank), *shape_of(x)[1:]))


BATCHING: dict[str, Callable[[Operation, Operands, Ranks, dict[str, Any]], Any]] = {
    "axes": along_axes,
    "axis": along_axis,
    "new axis": along_new_axis,
    "order": in_order_of_axes,
    "shape": to_shape,
    "broadcasting": broadcast_to_shape,
    "padding": padded,
    "places": in_places,
    "matrices": on_matrices,
    "system": solved,
    "product": multiplied,
    "contraction": contracted,
}

__all__ = ["BATCHING"]
