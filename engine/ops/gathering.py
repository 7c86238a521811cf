"""Gather and scatter: elements selected by tensors of indices, and put back by them.

Indices are constants of a rule: they carry no tangent. They count from 0, or from the end where negative, as in
indexing. What gathers reads an element twice adds its cotangents up; what scatters says in its row what becomes of
duplicates.
"""

from __future__ import annotations

import math

from ..core import limits
from ..core.dtypes import INT64
from ..core.errors import failure
from ..core.tensor import Tensor
from .operation import Operation, composite, linear, no_tangent
from .support import (
    FOR_LIBRARY,
    count,
    is_symbol,
    ndarray,
    shape_of,
    whole_tensor,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def diagonal_places(rows: int, columns: int, offset: int) -> tuple[Any, Any]:
    """The row and column indices of a diagonal: above the main one for a positive offset, below for a negative."""
    import numpy as np

    places = np.arange(max(0, min(rows + min(offset, 0), columns - max(offset, 0))))
    return whole_tensor(places + max(-offset, 0)), whole_tensor(places + max(offset, 0))


def element(label: str, position: Any) -> str:
    """How messages name an element: `indices[1,2]`, or `indices` for a scalar."""
    places = [int(i) for i in position]
    return f"{label}[{','.join(map(str, places))}]" if places else label


def checked(
    name: str, indices: Any, size: Any, label: str = "indices", negative: bool = True, code: str = "E0405"
) -> Any:
    """Integer indices into an axis of a size, of any for None, negative ones counted from the end; several for vectors of them.

    Raises AdiffError E0405, or that of another code, that names the first element out of range.
    """
    import numpy as np

    if is_symbol(indices):
        return indices  # the kernel of taking rows checks them
    size = np.asarray(math.inf if size is None else size)
    low = -size if negative else np.zeros_like(size)
    wrong = (indices < low) | (indices >= size)
    if wrong.any():
        position = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        low, size = (np.broadcast_to(limit, wrong.shape)[position] for limit in (low, size))
        raise failure(
            code, f"{name}: {element(label, position)} = {int(indices[position])} "
            + ("is negative" if size == math.inf else f"is not in [{low}, {size})"),
            "the axis is empty" if size == 0 else None,
        )  # fmt: skip
    return np.where(indices < 0, indices + size, indices) if negative else indices


FOR_LIBRARY["internal.diagonal_places"] = diagonal_places
FOR_LIBRARY["internal.within"] = lambda name, x, size: (
    x.within(size) if is_symbol(x) else Tensor(checked(name, x.value, size), INT64)
)
FOR_LIBRARY["internal.checked"] = lambda name, x, *how: (
    x if is_symbol(x) else Tensor(checked(name, x.value, *how), INT64)
)


# --- along one axis -------------------------------------------------------------------------------------------------


def _accumulate_rows(buffer: Any, g: Any, indices: Any, axis: int) -> None:
    """Add g to the rows of a buffer, duplicates summed."""
    import numpy as np

    indices = np.asarray(indices)
    place = (slice(None),) * axis + (indices,)
    size = buffer.shape[axis]
    # In-place addition by an index drops duplicates; finding out that there are none is worth it for many rows.
    if indices.size * 4 >= size and (indices.size == 0 or np.bincount(indices.ravel(), minlength=size).max() <= 1):
        buffer[place] += g
    else:
        np.add.at(buffer, place, g)


take_rows: Operation = linear(
    "take_rows", "x | indices, axis=0",
    lambda g, y, x, indices, axis: put_rows(g, indices=indices, axis=axis, size=shape_of(x)[axis]), code="element",
    array=lambda np, x, indices, axis: np.take(x, indices, range(np.ndim(x))[axis]),
    accumulate=_accumulate_rows, moves=True, dtype="first",
    accepts="bifcs", internal=True,
    doc="The slices of x at constant indices along an axis: what gather, take and repeat are made of.",
    example=("take_rows([10, 20, 30], [2, 0])", [30, 10]),
)  # fmt: skip


def _put_rows(np: Any, x: Any, indices: Any, axis: int, size: int) -> Any:
    x = np.asarray(x)
    shape = (*x.shape[:axis], size, *x.shape[axis + np.ndim(indices) :])
    limits.allocate(count(shape), x.itemsize)
    out = np.zeros(shape, x.dtype)
    _accumulate_rows(out, x, indices, axis)
    return out


put_rows: Operation = linear(
    "put_rows", "x | indices, axis, size", lambda g, y, x, indices, axis, size: take_rows(g, indices=indices, axis=axis),
    code="put_rows", array=_put_rows, dtype="first", internal=True, depends="sums",
    doc="The transpose of take_rows: slices added up at their places among zeros.",
    example=("put_rows([1, 2], [2, 0], 0, 3)", [2, 0, 1]),
)  # fmt: skip


# --- from masks and labels ------------------------------------------------------------------------------------------


nonzero = composite(
    "nonzero", "x", lambda x: tuple(map(whole_tensor, (ndarray(x) if ndarray(x).ndim else ndarray([x])).nonzero())),
    doc="Where x is true or not zero: one tensor of indices for each axis.", example=("nonzero([0, 5, 7])", [[1, 2]]),
)  # fmt: skip


def _argwhere(condition: Any) -> Tensor:
    import numpy as np

    return whole_tensor(np.argwhere(ndarray(condition)))


argwhere = composite(
    "argwhere", "x", _argwhere, doc="Where x is true or not zero: one row of indices for each such element.",
    example=("argwhere([0, 5, 7])", [[1], [2]]),
)  # fmt: skip
count_nonzero = no_tangent(
    "count_nonzero", "x | axis=None, keepdims=False",
    array=lambda np, x, axis, keepdims: np.count_nonzero(
        x, axis=tuple(axis) if axis.__class__ is list else axis, keepdims=bool(keepdims)
    ),
    kernel=lambda k, x, axis, keepdims: k.count_nonzero(x, axis, keepdims),
    dtype="int", accepts="bifcs", doc="How many elements are true or not zero.",
    example=("count_nonzero([0, 5, 7])", 2),
    reason="a count",
)  # fmt: skip
