"""Rearranging: the same elements in another shape or order, repeated or padded."""

from __future__ import annotations

from ..core import limits
from ..core.errors import failure
from ..core.operands import shown
from .operation import composite, linear, no_tangent
from .structure import index
from .support import (
    axes_of,
    axis_of,
    count,
    operand_shape,
    shape_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .operation import Operation


# --- what a tensor is like ------------------------------------------------------------------------------------------


shape_row = composite(
    "shape", "x", operand_shape,
    doc="The sizes of x along its axes.", example=("shape([[1, 2, 3], [4, 5, 6]])", (2, 3)),
)  # fmt: skip
size_row = composite(
    "size", "x | axis=None", lambda x, axis=None: _size(operand_shape(x), axis),
    doc="The number of elements of x, or its size along an axis.", example=("size([[1, 2, 3], [4, 5, 6]])", 6),
)  # fmt: skip
rank_row = composite(
    "ndim", "x", lambda x: len(operand_shape(x)),
    aliases="rank", doc="The number of axes of x: 0 for a scalar.", example=("ndim([[1, 2], [3, 4]])", 2),
)  # fmt: skip


def _size(shape: tuple[int, ...], axis: Any) -> int:
    return count(shape) if axis is None else shape[axis_of("size", axis, len(shape))]


# --- order of axes --------------------------------------------------------------------------------------------------


def _order(axes: Any, rank: int) -> tuple[int, ...]:
    if axes is None:
        return tuple(range(rank))[::-1]
    order = axes_of("transpose", axes, rank)
    if len(order) != rank:
        raise failure(
            "E0302", f"transpose: {list(order)} names {len(order)} of {rank} axes", "name every axis once",
        )  # fmt: skip
    return order


def _transpose_back(g: Any, y: Any, x: Any, axes: Any) -> Any:
    order = _order(axes, len(shape_of(x)))
    return transpose(g, axes=tuple([order.index(i) for i in range(len(order))]))


transpose: Operation = linear(
    "transpose", "x | axes=None", _transpose_back, code="element",
    array=lambda np, x, axes: np.transpose(x, _order(axes, np.ndim(x))), moves=True, dtype="first", accepts="bifcs",
    aliases="permute_dims permute", method=True, doc="x with its axes in another order; reversed if no order is given.",
    example=("transpose([[1, 2], [3, 4]])", [[1, 3], [2, 4]]),
)  # fmt: skip


# --- reversing ----------------------------------------------------------------------------------------


flip: Operation = linear(
    "flip", "x | axis=None", lambda g, y, x, axis: flip(g, axis=axis), code="element",
    array=lambda np, x, axis: np.flip(x, axes_of("flip", axis, np.ndim(x))), moves=True, dtype="first", accepts="bifcs",
    aliases="reverse", doc="x with the order of its elements reversed along one axis, several, or all.",
    example=("flip([1, 2, 3])", [3, 2, 1]),
)  # fmt: skip


def _roll_back(g: Any, y: Any, x: Any, shift: Any, axis: Any) -> Any:
    back = -shift if shift.__class__ is int else tuple([-s for s in shift])
    return roll(g, shift=back, axis=axis)


def _roll(np: Any, x: Any, shift: Any, axis: Any) -> Any:
    for one in shift if shift.__class__ in (list, tuple) else (shift,):
        if one.__class__ is not int:
            raise failure("E0304", f"roll: a shift is an integer, not {shown(one)}")
    if axis is not None:
        axes_of("roll", list(dict.fromkeys(axis)) if axis.__class__ in (list, tuple) else axis, np.ndim(x))
    return np.roll(x, shift, axis if axis is None or axis.__class__ is int else tuple(axis))


roll: Operation = linear(
    "roll", "x | shift, axis=None", _roll_back, array=_roll, moves=True, dtype="first", accepts="bifcs",
    kernel=lambda k, x, shift, axis: k.roll(x, shift, axis),
    doc="x with its elements moved on along an axis, those at the end coming back at the start.",
    example=("roll([1, 2, 3], 1)", [3, 1, 2]),
)  # fmt: skip


# --- padding --------------------------------------------------------------------------------------------------------


def _inner(shape: Sequence[int], widths: Sequence[Sequence[int]]) -> tuple[slice, ...]:
    return tuple([slice(low, low + size) for size, (low, _) in zip(shape, widths)])


def _pad_zeros(np: Any, x: Any, pad_width: Any) -> Any:
    if pad_width.__class__ not in (list, tuple):
        raise failure("E0304", f"pad_zeros: the widths are a list of pairs, not {shown(pad_width)}")
    limits.allocate(count([size + low + high for size, (low, high) in zip(np.shape(x), pad_width)]), x.itemsize)
    return np.pad(x, pad_width) if pad_width else x


pad_zeros = linear(
    "pad_zeros", "x | pad_width", lambda g, y, x, pad_width: index(g, index=_inner(shape_of(x), pad_width)), code="joined",
    array=_pad_zeros, moves=True, dtype="first", internal=True,
    doc="x with zeros around it: so many before and after along each axis.",
    example=("pad_zeros([1, 2], [[1, 1]])", [0, 1, 2, 0]),
)  # fmt: skip


# `x in t`, for masks
isin = no_tangent(
    "isin", "x, values", array=lambda np, x, values: np.isin(x, values), dtype="bool", accepts="bifcs",
    doc="Whether each element of x is among values.", example=("isin([1, 2, 3], [2, 3])", [False, True, True]),
    reason="a comparison",
)  # fmt: skip
