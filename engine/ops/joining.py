"""Tensors joined along an axis."""

from __future__ import annotations

from ..core import limits
from ..core.errors import failure
from .operation import linear
from .structure import index, joined_dtype, reshape
from .support import axis_of, count, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


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


concat = linear(
    "concat", "[values] | axis=0", _concat_back, code="joined", array=_concat, moves=True, dtype=joined_dtype,
    accepts="bifcs", aliases="concatenate",
    doc="Tensors joined along an axis that they have; axis=None joins their elements in one row.",
    example=("concat([[1, 2], [3]])", [1, 2, 3]),
)  # fmt: skip
