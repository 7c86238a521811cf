"""Tensors joined, and cut into parts."""

from __future__ import annotations

from ..core import limits
from ..core.dtype_rules import common_dtype
from ..core.errors import failure, plural
from ..core.operation import composite, linear, static
from .structure import index, reshape
from .support import axis_of, count, operand_shape, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..core.dtypes import DType
    from ..core.operation import Operation


def _concat(np: Any, *parts: Any, axis: Any) -> Any:
    parts = tuple([np.asarray(part) for part in parts])
    if axis is None:
        return np.concatenate([part.ravel() for part in parts])
    first = parts[0].shape
    if not first:
        raise failure("E0302", "concat needs tensors of at least one dimension", "stack joins scalars")
    axis = axis_of("concat", axis, len(first))
    for i, part in enumerate(parts):
        shape = part.shape
        if len(shape) != len(first) or any(a != b for k, (a, b) in enumerate(zip(shape, first)) if k != axis):
            raise failure(
                "E0302",
                f"concat: element {i} has shape {list(shape)}, and element 0 has {list(first)}: "
                f"only the sizes along axis {axis} may differ",
            )
    limits.allocate(sum(part.size for part in parts), parts[0].itemsize)
    return np.concatenate(parts, axis=axis)


def _concat_back(g: Any, y: Any, *parts: Any, axis: Any) -> tuple[Any, ...]:
    cotangents = []
    start = 0
    before = () if axis is None else (slice(None),) * (axis % len(shape_of(y)))
    for part in parts:
        shape = shape_of(part)
        size = count(shape) if axis is None else shape[len(before)]
        piece = index(g, index=(*before, slice(start, start + size)))
        cotangents.append(reshape(piece, shape=shape) if axis is None else piece)
        start += size
    return tuple(cotangents)


def _concat_dtype(op: Operation, dtypes: list[DType], attributes: Any) -> tuple[DType, DType]:
    if not dtypes:
        raise failure("E0304", f"{op.name} needs at least one tensor")
    computed = common_dtype(op, dtypes)
    return computed, computed


concat = linear(
    "concat", "[values] | axis=0", _concat_back, code="joined", array=_concat, moves=True, dtype=_concat_dtype,
    accepts="bifcs", aliases="concatenate",
    doc="Tensors joined along an axis that they have; axis=None joins their elements in one row.",
    example=("concat([[1, 2], [3]])", [1, 2, 3]),
)  # fmt: skip


# --- cutting --------------------------------------------------------------------------------------------------------


def integer_list(name: str, values: Any) -> list[int]:
    plain = static(values)
    if plain.__class__ not in (list, tuple) or not all(item.__class__ is int for item in plain):
        raise failure("E0304", f"{name} needs an integer or a list of integers, not {plain!r}")
    return list(plain)


def _slice(x: Any, begin: Any, size: Any) -> Any:
    shape = operand_shape(x)
    begins, sizes = integer_list("slice", begin), integer_list("slice", size)
    if not len(begins) == len(sizes) == len(shape):
        raise failure("E0302", f"slice: begin and size need one entry for each of {plural(len(shape), 'dimension')}")
    for axis, (low, length, full) in enumerate(zip(begins, sizes, shape)):
        if low < 0 or length < -1 or low + max(length, 0) > full:
            raise failure("E0405", f"slice: begin {low} and size {length} leave axis {axis} of size {full}")
    return index(x, index=tuple([slice(b, None if n == -1 else b + n) for b, n in zip(begins, sizes)]))


slice_row = composite(
    "slice", "x | begin, size", _slice,
    doc="The block of x that starts at begin and has the sizes of size; -1 means up to the end.",
    example=("slice([1, 2, 3, 4], [1], [2])", [2, 3]),
)  # fmt: skip
