"""Gather and scatter: elements selected by tensors of indices, and put back by them.

Indices are constants of a rule: they carry no tangent. They count from 0, or from the end where negative, as in
indexing. What gathers reads an element twice adds its cotangents up; what scatters says in its row what becomes of
duplicates.
"""

from __future__ import annotations

import math

from ..core import limits
from ..core.dtypes import INT64
from ..core.errors import failure, plural
from ..core.operands import as_operand
from ..core.operation import Operation, composite, linear, no_tangent, static
from ..core.tensor import OPERATORS, Tensor
from .structure import as_dtype, index, line_axis, reshape
from .support import (
    FOR_LIBRARY,
    axis_of,
    count,
    integers,
    is_symbol,
    mask_tensor,
    ndarray,
    shape_of,
    whole_tensor,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


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


def _gather(x: Any, indices: Any, axis: Any = None, batch_dims: Any = 0) -> Any:
    import numpy as np

    x = as_operand(x)
    shape = shape_of(x)
    chosen = integers("gather", "indices", indices, symbols=batch_dims == 0)
    if batch_dims < 0:
        batch_dims += chosen.ndim
    if not shape:
        raise failure("E0302", "gather needs a tensor of at least one dimension, not a scalar")
    axis = axis_of("gather", batch_dims if axis is None else axis, len(shape))
    if batch_dims == 0:
        return take_rows(x, indices=checked("gather", chosen, shape[axis]), axis=axis)
    if axis < batch_dims or chosen.shape[:batch_dims] != shape[:batch_dims]:
        raise failure(
            "E0302",
            f"gather: with batch_dims={batch_dims} the indices' shape {list(chosen.shape)} must start with "
            f"{list(shape[:batch_dims])}, and the axis must not be among those",
        )
    # Batches become one axis of rows: row (b, p, i) of x is row (b * P + p) * n + i.
    chosen = checked("gather", chosen, shape[axis])
    batch, between, size = count(shape[:batch_dims]), count(shape[batch_dims:axis]), shape[axis]
    rest = shape[axis + 1 :]
    starts = (np.arange(batch)[:, None] * between + np.arange(between)) * size
    rows = starts[:, :, None] + chosen.reshape(batch, 1, -1)
    flat = reshape(x, shape=(batch * between * size, *rest))
    found = take_rows(flat, indices=rows.reshape(-1), axis=0)
    return reshape(found, shape=(*shape[:axis], *chosen.shape[batch_dims:], *rest))


gather = composite(
    "gather", "x, indices | axis=None, batch_dims=0", _gather,
    doc="The slices of x at the indices, along axis 0 unless another is named; batch_dims leading axes go in step.",
    example=("gather([10, 20, 30], [2, 0])", [30, 10]),
)  # fmt: skip


embedding_lookup = composite(
    "embedding_lookup", "params, ids", lambda params, ids: gather(params, ids),
    doc="The rows of a table of embeddings by their numbers.",
    example=("embedding_lookup([[1, 2], [3, 4]], [1])", [[3, 4]]),
)  # fmt: skip


def _take(x: Any, indices: Any, axis: Any = None, mode: Any = "raise") -> Any:
    import numpy as np

    x, axis = line_axis("take", x, axis)
    size = shape_of(x)[axis]
    chosen = integers("take", "indices", indices, symbols=True)
    if mode == "wrap" and size:
        chosen = chosen % size
    elif mode == "clip" and size:
        chosen = np.clip(chosen, 0, size - 1)
    elif mode not in ("raise", "wrap", "clip"):
        raise failure("E0305", f"take: unknown mode '{mode}'", "the modes are raise, wrap and clip")
    return take_rows(x, indices=checked("take", chosen, size), axis=axis)


take = composite(
    "take", "x, indices | axis=None, mode='raise'", _take, method=True,
    doc="The elements of x at the indices, counted in one row or along an axis.",
    example=("take([10, 20, 30], [2, 0])", [30, 10]),
)  # fmt: skip


def _along_axis(name: str, shape: tuple[int, ...], indices: Any, axis: int) -> tuple[Any, ...]:
    """The index that picks, in each line along an axis, the elements that `indices` names."""
    chosen = integers(name, "indices", indices, symbols=True)
    if chosen.ndim != len(shape):
        raise failure("E0302", f"{name}: x has {plural(len(shape), 'dimension')} and the indices have {chosen.ndim}")
    chosen = chosen.within(shape[axis]) if is_symbol(chosen) else checked(name, chosen, shape[axis])
    grid: list[Any] = []
    for i, size in enumerate(shape):
        if i == axis:
            grid.append(chosen)
        else:
            grid.append(_open(i, size, len(shape)))
    return tuple(grid)


def _open(axis: int, size: int, rank: int) -> Any:
    """The numbers of the places along an axis, shaped to broadcast along the others."""
    import numpy as np

    return np.arange(size).reshape([-1 if i == axis else 1 for i in range(rank)])


def _take_along_axis(x: Any, indices: Any, axis: Any = -1) -> Any:
    x, axis = line_axis("take_along_axis", x, axis)
    return index(x, index=_along_axis("take_along_axis", shape_of(x), indices, axis))


take_along_axis = composite(
    "take_along_axis", "x, indices | axis=-1", _take_along_axis,
    doc="In each line along an axis, the elements at the indices.",
    example=("take_along_axis([[1, 2], [3, 4]], [[1], [0]], 1)", [[2], [3]]),
)  # fmt: skip


# --- from masks and labels ------------------------------------------------------------------------------------------


def _one_hot(
    indices: Any, depth: Any, on_value: Any = None, off_value: Any = None, axis: Any = -1, dtype: Any = None
) -> Any:
    import numpy as np

    labels, depth = integers("one_hot", "indices", indices, symbols=True), static(depth)
    shape = shape_of(labels)
    limits.allocate(math.prod(shape) * depth)
    place = axis_of("one_hot", axis, len(shape) + 1)
    grid = _open(place, depth, len(shape) + 1)
    if is_symbol(labels):
        mask = OPERATORS.equal(OPERATORS.expand_dims(labels, axis=place), whole_tensor(grid))
    else:
        mask = mask_tensor(np.expand_dims(labels, place) == grid)
    chosen = OPERATORS.where(mask, 1.0 if on_value is None else on_value, 0.0 if off_value is None else off_value)
    return chosen if dtype is None else OPERATORS.cast(chosen, dtype=as_dtype(dtype))


one_hot = composite(
    "one_hot", "indices, depth, on_value=None, off_value=None | axis=-1, dtype=None", _one_hot,
    doc="For each index a row of zeros with a one at that place; other values on request.",
    example=("one_hot([1, 0], 3)", [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]),
)  # fmt: skip


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
flatnonzero = composite(
    "flatnonzero", "x", lambda x: whole_tensor(ndarray(x).ravel().nonzero()[0]),
    doc="Where x is true or not zero, its elements counted in one row.", example=("flatnonzero([0, 5, 7])", [1, 2]),
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


def diagonal_index(rows: int, columns: int, offset: int = 0) -> tuple[Any, Any]:
    """The row and column indices of a diagonal: above the main one for a positive offset, below for a negative."""
    import numpy as np

    length = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    places = np.arange(length)
    return places + max(-offset, 0), places + max(offset, 0)


__all__ = ["Tensor", "checked", "diagonal_index", "element", "take_rows"]
