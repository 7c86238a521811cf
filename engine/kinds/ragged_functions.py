"""The functions that make RaggedTensors, beside those in the language: `tf.ragged.constant`, `range`, `stack`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtypes import STRING
from ..core.errors import failure
from ..core.operands import as_operand
from ..core.tensor import OPERATORS, Tensor, shape_of
from ..ops.structure import as_dtype
from ..ops.support import as_shape, integers
from .access import iterate
from .kind import whole
from .ragged import RaggedTensor, nest, nrows, ranges, splits_of
from .ragged_rows import boolean_mask, concat, ragged, stack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def constant(
    pylist: Any, dtype: Any = None, ragged_rank: Any = None, inner_shape: Any = None, row_splits_dtype: Any = None
) -> Any:
    """Nested lists whose lengths may differ; without lists inside them a tensor."""
    depth = depth_of(pylist)
    sizes = None if inner_shape is None else as_shape(inner_shape)
    if ragged_rank is None:
        rank = max(depth - 1 - len(sizes or ()), 0)
    else:
        rank = whole("ragged.constant", "ragged_rank", ragged_rank)
        if not 0 <= rank < depth:
            raise failure(
                "E0401", f"ragged.constant: ragged_rank {rank} is not below the depth {depth} of the lists",
                f"lists of depth {depth} have a ragged rank of at most {depth - 1}",
            )  # fmt: skip
    items, levels = list(iterate(pylist)), []
    for _ in range(rank):
        levels.append(splits_of([nrows_of(x) for x in items]))
        items = [inner for x in items for inner in iterate(x)]
    kind = None if dtype is None else as_dtype(dtype)
    if items:
        flat = as_operand(items)
        if sizes is not None:
            flat = OPERATORS.reshape(flat, shape=(-1, *sizes))
    else:
        flat = Tensor(
            np.zeros((0, *(sizes or ())), dtype=object if kind is STRING else "float64"),
            kind or as_operand([0.0]).dtype,
        )
    return nest(flat if kind is None else OPERATORS.constant(flat, dtype=kind), levels)


def nrows_of(x: Any) -> int:
    return len(x) if x.__class__ in (list, tuple) else nrows(as_operand(x))


def depth_of(pylist: Any) -> int:
    """How deep lists are nested. Raises AdiffError E0302 where numbers stand at several depths."""
    found: dict[int, str] = {}
    deepest = 0
    pending = [(pylist, 0, "")]
    while pending:
        x, depth, place = pending.pop()
        if x.__class__ in (list, tuple):
            deepest = max(deepest, depth + 1)
            pending += [(item, depth + 1, f"{place}[{i}]") for i, item in enumerate(x)]
        else:
            found[depth + len(shape_of(as_operand(x)))] = place
    if len(found) > 1 or any(depth < deepest for depth in found):
        at = min(found)
        raise failure(
            "E0302", "ragged.constant: all numbers must have the same nesting depth, and "
            f"element {found[at]} is {at} deep where lists are {max(deepest, *found)} deep",
        )  # fmt: skip
    if not deepest and not max(found):
        raise failure("E0302", "ragged.constant takes nested lists, and this is a single number", "write [[1, 2], [3]]")
    return max(deepest, *found) if found else deepest


def operand(values: Any) -> Any:
    return values if values.__class__ is RaggedTensor else as_operand(values)


# --- others -----------------------------------------------------------------------------------------------------------


def ragged_stack(values: Any, axis: Any = 0) -> Any:
    parts = list(iterate(values)) if values.__class__ is not RaggedTensor else [values]
    return stack(OPERATORS.stack, *parts, axis=axis)


def ragged_concat(values: Any, axis: Any) -> Any:
    return concat(OPERATORS.concat, *iterate(values), axis=axis)


def range_(
    starts: Any, limits: Any = None, deltas: Any = 1, dtype: Any = None, row_splits_dtype: Any = None
) -> RaggedTensor:
    """A row of numbers from each start to each limit."""
    if limits is None:
        starts, limits = 0, starts
    operands = [as_operand(x) for x in (starts, limits, deltas)]
    first, last, step = np.broadcast_arrays(*[np.atleast_1d(x.value if x.__class__ is Tensor else x) for x in operands])
    if (step == 0).any():
        raise failure("E0401", "ragged.range: deltas must not be 0")
    lengths = np.maximum(np.ceil((last - first) / step), 0)
    if not (lengths < 1 << 40).all():
        raise failure("E0401", "ragged.range: the rows have no end")
    sizes = lengths.astype("int64")
    rows = np.repeat(np.arange(len(sizes)), sizes)
    values = first[rows] + step[rows] * ranges(np.zeros_like(sizes), sizes)
    kind = fold_dtype(operands) if dtype is None else as_dtype(dtype)
    return RaggedTensor(Tensor(values.astype(kind.name), kind), splits_of(sizes))


def fold_dtype(operands: list[Any]) -> Any:
    """The dtype in which operands meet."""
    found = operands[0]
    for x in operands[1:]:
        found = OPERATORS.add(found, x)
    return as_operand([found]).dtype if found.__class__ is not Tensor else found.dtype


def mask(data: Any, mask: Any) -> Any:
    return boolean_mask(None, operand(data), mask if mask.__class__ is RaggedTensor else as_operand(mask))


def of_splits(values: Any, splits: Any, uniform: Any = None) -> RaggedTensor:
    """Rows of splits that are known to fit."""
    return RaggedTensor(operand(values), integers("RaggedTensor", "row_splits", splits), uniform)


def ragged_tensor(*values: Any) -> Any:
    raise failure(
        "E0305",
        "RaggedTensor is made by functions of its own",
        "write RaggedTensor.from_row_splits(values, row_splits)",
    )


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "ragged.constant": constant,
    "ragged.range": range_,
    "ragged.stack": ragged_stack,
    "ragged.concat": ragged_concat,
    "ragged.boolean_mask": mask,
    "RaggedTensor": ragged_tensor,
    "internal.ragged.nrows": nrows,
    "internal.ragged.of": of_splits,
    "internal.ragged.operand": operand,
    "internal.ragged.ragged": ragged,
}  # fmt: skip
