"""The functions that make RaggedTensors: `tf.ragged.constant`, `tf.RaggedTensor.from_row_splits` and their kin."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtypes import STRING
from ..core.errors import failure, plural
from ..core.operands import as_operand, describe, shape_text
from ..core.tensor import OPERATORS, Tensor, shape_of
from ..ops.structure import as_dtype
from ..ops.support import as_shape, integers
from .access import iterate
from .kind import Kind, whole
from .ragged import RaggedTensor, counts, nest, nrows, ranges, rows_at, splits_of
from .ragged_rows import boolean_mask, concat, ragged, stack
from .ragged_values import cross, map_flat_values
from .sparse import SparseTensor

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


# --- from values and row partitions -----------------------------------------------------------------------------------


def operand(values: Any) -> Any:
    return values if values.__class__ is RaggedTensor else as_operand(values)


def checked_splits(name: str, splits: Any, count: int) -> Any:
    """Row splits as an array. Raises AdiffError E0302 where they do not cut `count` values into rows."""
    if splits.ndim != 1 or not len(splits):
        raise failure(
            "E0302", f"{name}: row_splits must be a vector that begins with 0, not of shape {shape_text(splits.shape)}"
        )
    if splits[0] != 0:
        raise failure("E0302", f"{name}: row_splits[0] = {splits[0]} must be 0")
    falls = np.diff(splits) < 0
    if falls.any():
        i = int(falls.argmax())
        raise failure(
            "E0302",
            f"{name}: row_splits must not decrease: row_splits[{i + 1}] = {splits[i + 1]} comes after {splits[i]}",
        )
    if splits[-1] != count:
        raise failure(
            "E0302",
            f"{name}: the rows end at {splits[-1]}, and there are {count} values",
            "the last of row_splits is their number",
        )
    return splits


def from_row_splits(values: Any, row_splits: Any, validate: Any = True) -> RaggedTensor:
    values = operand(values)
    return RaggedTensor(
        values, checked_splits("from_row_splits", integers("from_row_splits", "row_splits", row_splits), nrows(values))
    )


def vector(name: str, what: str, x: Any) -> Any:
    found = integers(name, what, x) if not (x.__class__ is list and not x) else np.zeros(0, "int64")
    if found.ndim != 1:
        raise failure("E0302", f"{name}: {what} must be a vector, not of shape {shape_text(found.shape)}")
    return found


def from_row_lengths(values: Any, row_lengths: Any, validate: Any = True) -> RaggedTensor:
    lengths = vector("from_row_lengths", "row_lengths", row_lengths)
    if (lengths < 0).any():
        i = int((lengths < 0).argmax())
        raise failure("E0302", f"from_row_lengths: row_lengths[{i}] = {lengths[i]} is negative")
    values = operand(values)
    if lengths.sum() != nrows(values):
        raise failure(
            "E0302",
            f"from_row_lengths: the lengths add up to {lengths.sum()}, and there are {plural(nrows(values), 'value')}",
        )
    return RaggedTensor(values, splits_of(lengths))


def from_value_rowids(values: Any, value_rowids: Any, nrows: Any = None, validate: Any = True) -> RaggedTensor:
    rows = vector("from_value_rowids", "value_rowids", value_rowids)
    values = operand(values)
    needed = int(rows[-1]) + 1 if len(rows) else 0
    count = needed if nrows is None else whole("from_value_rowids", "nrows", nrows)
    if count < 0:
        raise failure("E0302", f"from_value_rowids: Expected nrows >= 0; got {count}")
    if count < needed:
        raise failure(
            "E0302", f"from_value_rowids: Expected nrows >= value_rowids[-1] + 1; got nrows={count}, value_rowids[-1]={needed - 1}",
        )  # fmt: skip
    if shape_of(values)[:1] != rows.shape and values.__class__ is not RaggedTensor:
        raise failure(
            "E0302",
            f"from_value_rowids: {len(rows)} value_rowids do not fit values of shape {shape_text(shape_of(values))}",
        )
    falls = np.diff(rows) < 0
    if falls.any() or (len(rows) and rows[0] < 0):
        i = int(falls.argmax()) + 1 if falls.any() else 0
        raise failure(
            "E0302",
            f"from_value_rowids: value_rowids must not decrease or be negative, and value_rowids[{i}] = {rows[i]}",
        )
    return from_row_lengths(values, counts(np.bincount(rows, minlength=count)))


def from_row_starts(values: Any, row_starts: Any, validate: Any = True) -> RaggedTensor:
    values = operand(values)
    splits = np.append(vector("from_row_starts", "row_starts", row_starts), nrows(values))
    return RaggedTensor(values, checked_splits("from_row_starts", splits, nrows(values)))


def from_row_limits(values: Any, row_limits: Any, validate: Any = True) -> RaggedTensor:
    values = operand(values)
    splits = np.append(0, vector("from_row_limits", "row_limits", row_limits))
    return RaggedTensor(values, checked_splits("from_row_limits", splits, nrows(values)))


def from_uniform_row_length(
    values: Any, uniform_row_length: Any, nrows: Any = None, validate: Any = True
) -> RaggedTensor:
    values = operand(values)
    size = whole("from_uniform_row_length", "uniform_row_length", uniform_row_length)
    total = values.length() if values.__class__ is RaggedTensor else shape_of(values)[0]
    count = total // max(size, 1) if nrows is None else whole("from_uniform_row_length", "nrows", nrows)
    if size < 0 or count * size != total:
        raise failure(
            "E0302", f"from_uniform_row_length: {plural(total, 'value')} are no {count} rows of length {size}"
        )
    return RaggedTensor(values, np.arange(count + 1) * size, size)


def from_nested_row_splits(flat_values: Any, nested_row_splits: Any, validate: Any = True) -> Any:
    for splits in reversed(list(nested_row_splits)):
        flat_values = from_row_splits(flat_values, splits)
    return flat_values


def from_nested_row_lengths(flat_values: Any, nested_row_lengths: Any, validate: Any = True) -> Any:
    for lengths in reversed(list(nested_row_lengths)):
        flat_values = from_row_lengths(flat_values, lengths)
    return flat_values


def from_tensor(
    tensor: Any, lengths: Any = None, padding: Any = None, ragged_rank: Any = 1, row_splits_dtype: Any = None
) -> Any:
    """The rows of a dense tensor, cut to `lengths`, or before the `padding` at their ends."""
    x = as_operand(tensor)
    shape, rank = shape_of(x), whole("from_tensor", "ragged_rank", ragged_rank)
    if not 0 < rank < max(len(shape), 1):
        raise failure(
            "E0401",
            f"from_tensor: ragged_rank {rank} does not fit a tensor of shape {shape_text(shape)}",
            "it is above 0 and below the number of dimensions",
        )
    if lengths is None and padding is None:
        return ragged(x, rank)
    if lengths is not None and padding is not None:
        raise failure("E0305", "from_tensor takes lengths or padding, not both")
    if padding is not None:
        differs = np.asarray(x.value) != np.asarray(
            as_operand(padding).value if as_operand(padding).__class__ is Tensor else padding
        )
        written = differs.reshape(*shape[: rank + 1], -1).any(-1)
        sizes = np.where(written.any(-1), shape[rank] - written[..., ::-1].argmax(-1), 0).reshape(-1)
    else:
        sizes = vector("from_tensor", "lengths", lengths)
        if rank != 1 or sizes.shape != shape[:1]:
            raise failure(
                "E0302",
                f"from_tensor: lengths of shape {shape_text(sizes.shape)} do not fit a tensor of shape {shape_text(shape)}",
            )
        sizes = np.clip(sizes, 0, shape[1])
    full = ragged(x, rank)
    last = full
    for _ in range(rank - 1):
        last = last.values
    inner = RaggedTensor(rows_at(last.values, ranges(last.splits[:-1], sizes)), splits_of(sizes))
    return nest(inner, full.levels[:-1])


def from_sparse(st_input: Any, row_splits_dtype: Any = None) -> RaggedTensor:
    """The rows of a SparseTensor of two axes that has no gaps in them."""
    if st_input.__class__ is not SparseTensor or len(st_input.shape) != 2:
        raise failure("E0304", f"from_sparse needs a SparseTensor of 2 dimensions, and got {describe(st_input)}")
    rows, columns = np.asarray(st_input.indices).T
    sizes = np.bincount(rows, minlength=st_input.shape[0])
    wrong = (np.diff(rows) < 0).any() or (columns != ranges(np.zeros_like(sizes), sizes)).any()
    if wrong:
        raise failure(
            "E0302",
            "from_sparse: the entries of a row must begin at column 0, in order and without gaps",
            "sparse.reorder(s) puts them in order",
        )
    return RaggedTensor(st_input.values, splits_of(sizes))


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


def row_splits_to_segment_ids(splits: Any, out_type: Any = None) -> Any:
    found = vector("row_splits_to_segment_ids", "splits", splits)
    return counts(
        np.repeat(np.arange(len(found) - 1), np.diff(checked_splits("row_splits_to_segment_ids", found, found[-1])))
    )


def segment_ids_to_row_splits(segment_ids: Any, num_segments: Any = None, out_type: Any = None) -> Any:
    ids = vector("segment_ids_to_row_splits", "segment_ids", segment_ids)
    return counts(
        splits_of(
            np.bincount(
                ids,
                minlength=0
                if num_segments is None
                else whole("segment_ids_to_row_splits", "num_segments", num_segments),
            )
        )
    )


def stack_dynamic_partitions(data: Any, partitions: Any, num_partitions: Any) -> RaggedTensor:
    """One row for each partition, with the elements of `data` that belong there."""
    name = "stack_dynamic_partitions"
    x, count = operand(data), whole(name, "num_partitions", num_partitions)
    rows = integers(name, "partitions", partitions)
    if rows.ndim != 1 or len(rows) != nrows(x):
        raise failure(
            "E0302", f"{name}: partitions of shape {shape_text(rows.shape)} do not fit {nrows(x)} rows of data"
        )
    for wrong, what in (
        (rows < 0, "must be non-negative"),
        (rows >= count, f"must be less than num_partitions = {count}"),
    ):
        if wrong.any():
            raise failure("E0405", f"{name}: partitions {what}: partitions[{int(wrong.argmax())}] = {rows[wrong][0]}")
    return RaggedTensor(rows_at(x, rows.argsort(kind="stable")), splits_of(np.bincount(rows, minlength=count)))


class RaggedTensorSpec(Kind):
    """What `fn_output_signature` says of the results of a function: that their lengths may differ."""

    description = "a RaggedTensorSpec"
    ragged = True


def spec(
    shape: Any = None, dtype: Any = None, ragged_rank: Any = None, row_splits_dtype: Any = None
) -> RaggedTensorSpec:
    return RaggedTensorSpec()


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
    "ragged.cross": cross,
    "ragged.stack_dynamic_partitions": stack_dynamic_partitions,
    "ragged.boolean_mask": mask,
    **{
        f"RaggedTensor.{function.__name__}": function
        for function in (
            from_row_splits, from_row_lengths, from_value_rowids, from_row_starts, from_row_limits,
            from_uniform_row_length, from_nested_row_splits, from_nested_row_lengths, from_tensor, from_sparse,
        )
    },
    "ragged.map_flat_values": map_flat_values,
    "ragged.row_splits_to_segment_ids": row_splits_to_segment_ids,
    "ragged.segment_ids_to_row_splits": segment_ids_to_row_splits,
    "RaggedTensor": ragged_tensor,
    "RaggedTensorSpec": spec,
}  # fmt: skip
