"""The functions of `tf.sparse`. What they do to values they do by rows of the table, so that tapes record it."""

from __future__ import annotations

import numpy as np

from ..core import limits
from ..core.dtypes import STRONG
from ..core.errors import failure, listing
from ..core.operands import as_operand, describe, plain, shape_text
from ..core.operation import static
from ..core.tensor import OPERATORS, Tensor, count, shape_of
from ..ops.gathering import checked
from ..ops.support import as_shape, axis_of, integers, mask_tensor, ndarray
from .indexed_slices import mask
from .kind import call
from .sparse import SparseTensor, keys, places, sparse, sparse_tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ..core.operation import Operation

concat, put_rows = OPERATORS.concat, OPERATORS.put_rows
reshape, take_rows = OPERATORS.reshape, OPERATORS.take_rows


def chosen(s: SparseTensor, which: Any, indices: Any = None, shape: Sequence[int] | None = None) -> SparseTensor:
    """The entries of numbers or of a mask `which`, at their places or at others."""
    which = which.nonzero()[0] if which.dtype.kind == "b" else which
    indices = s.indices if indices is None else indices
    return SparseTensor(
        indices[which], take_rows(s.values, indices=which), s.shape if shape is None else tuple(map(int, shape))
    )


def sizes(name: str, what: str, x: Any, rank: int | None = None) -> Any:
    """A vector of integers, one for each axis where `rank` is given."""
    values = integers(name, what, list(x) if x.__class__ is tuple else x)
    if values.ndim != 1 or rank not in (None, len(values)):
        raise failure(
            "E0302", f"{name}: {what} must be a list of {'' if rank is None else f'{rank} '}integers, "
            f"and its shape is {shape_text(values.shape)}",
        )  # fmt: skip
    return values


def same_shape(name: str, a: SparseTensor, b: Any) -> None:
    if a.shape != shape_of(b):
        raise failure("E0302", f"{name}: shapes {shape_text(a.shape)} and {shape_text(shape_of(b))} must be equal")


# --- from and to tensors ----------------------------------------------------------------------------------------------


def from_dense(tensor: Any) -> SparseTensor:
    x = as_operand(tensor)
    values = ndarray(x)
    written = values != ("" if values.dtype.kind == "O" else 0)
    flat = take_rows(reshape(x, shape=(-1,)), indices=written.reshape(-1).nonzero()[0])
    return SparseTensor(np.argwhere(written), flat, values.shape)


def to_dense(sp_input: Any, default_value: Any = None, validate_indices: Any = True) -> Any:
    """Each place takes its entry, or the default. Entries must be in order, each place once, unless told otherwise."""
    s = sparse("sparse.to_dense", sp_input)
    at = keys(s.indices, s.shape)
    if validate_indices and (wrong := at[1:] <= at[:-1]).any():
        k = int(wrong.argmax()) + 1
        twice = at[k] == at[k - 1]
        raise failure(
            "E0405", f"sparse.to_dense: indices[{k}] = {s.indices[k].tolist()} is {'repeated' if twice else 'out of order'}",
            None if twice else "sparse.reorder(s) sorts the entries",
        )  # fmt: skip
    limits.allocate(count(s.shape))
    if default_value is None:
        default_value = {"s": "", "b": False}.get(s.values.dtype.kind, 0)
    source = np.full(count(s.shape), len(at))
    source[at] = np.arange(len(at))
    found = take_rows(concat([s.values, reshape(default_value, shape=(1,))], axis=0), indices=source)
    return reshape(found, shape=s.shape)


def eye(num_rows: Any, num_columns: Any = None, dtype: Any = None) -> SparseTensor:
    shape = as_shape([static(num_rows), static(num_rows if num_columns is None else num_columns)])
    diagonal = np.arange(min(shape))
    return SparseTensor(np.stack([diagonal, diagonal], axis=1), OPERATORS.ones(shape=len(diagonal), dtype=dtype), shape)


def to_indicator(sp_input: Any, vocab_size: Any) -> Any:
    """True at [..., v] for each value v of the row [...]."""
    s, size = sparse("sparse.to_indicator", sp_input), static(vocab_size)
    values = integers("sparse.to_indicator", "the values", s.values)
    checked("sparse.to_indicator", values, size, "values", negative=False)
    shape = (*s.shape[:-1], size)
    limits.allocate(count(shape), 1)
    found = np.zeros(shape, dtype=bool)
    found[(*s.indices[:, :-1].T, values)] = True
    return mask_tensor(found)


# --- arithmetic -------------------------------------------------------------------------------------------------------


def united(name: str, row: Operation, a: Any, b: Any) -> SparseTensor:
    """A row on the entries of two tensors, at the places of either; what one lacks is 0."""
    a, b = sparse(name, a), sparse(name, b)
    same_shape(name, a, b)
    at, number = np.unique(np.concatenate([keys(x.indices, x.shape) for x in (a, b)]), return_inverse=True)
    numbers = number[: len(a.indices)], number[len(a.indices) :]
    full = (put_rows(x.values, indices=n, axis=0, size=len(at)) for x, n in zip((a, b), numbers))
    return SparseTensor(places(at, a.shape), row(*full), a.shape)


def sparse_add(a: Any, b: Any, threshold: Any = 0) -> Any:
    """Of two SparseTensors one, without entries of a magnitude below the threshold; with a tensor a tensor."""
    name = "sparse.add"
    if a.__class__ is not SparseTensor:
        if b.__class__ is not SparseTensor:
            raise failure(
                "E0304", f"{name} needs a SparseTensor, and got {describe(a)} and {describe(b)}", "write a + b"
            )
        a, b = b, a
    if b.__class__ is SparseTensor:
        found = united(name, OPERATORS.add, a, b)
        least = static(as_operand(threshold))
        return chosen(found, abs(plain(found.values)) >= least) if least else found
    b = as_operand(b)
    same_shape(name, a, b)
    whole = put_rows(a.values, indices=keys(a.indices, a.shape), axis=0, size=count(a.shape))
    return OPERATORS.add(reshape(whole, shape=a.shape), b)


def sparse_dense_matmul(sp_a: Any, b: Any, adjoint_a: Any = False, adjoint_b: Any = False) -> Any:
    """The product of a SparseTensor and a matrix, in either order: rows of b times the entries, added up."""
    name, adjoint = "sparse.sparse_dense_matmul", OPERATORS.adjoint
    if b.__class__ is SparseTensor and sp_a.__class__ is not SparseTensor:
        return adjoint(sparse_dense_matmul(b, sp_a, not adjoint_b, not adjoint_a))
    a, b = sparse(name, sp_a), as_operand(b)
    if len(a.shape) != 2 or len(shape_of(b)) != 2:
        raise failure(
            "E0302", f"{name} takes matrices, and the shapes are {shape_text(a.shape)} and {shape_text(shape_of(b))}"
        )
    (rows, columns), (m, n), values = a.indices.T, a.shape, a.values
    if adjoint_a:
        rows, columns, m, n, values = columns, rows, n, m, OPERATORS.conj(values)
    b = adjoint(b) if adjoint_b else b
    if shape_of(b)[0] != n:
        raise failure(
            "E0302", f"{name}: shapes {shape_text((m, n))} and {shape_text(shape_of(b))} do not fit",
            "the inner dimensions must be equal",
        )  # fmt: skip
    limits.allocate(len(rows) * shape_of(b)[1])
    terms = OPERATORS.multiply(reshape(values, shape=(-1, 1)), take_rows(b, indices=columns))
    return put_rows(terms, indices=rows, axis=0, size=m)


def map_values(op: Any, *args: Any, **kwargs: Any) -> SparseTensor:
    """`op` on the values of the SparseTensors among the arguments, which must have equal indices."""
    given = [x for x in (*args, *kwargs.values()) if x.__class__ is SparseTensor]
    if not given:
        raise failure("E0304", "sparse.map_values needs a SparseTensor", "write sparse.map_values(f, s)")
    for other in given[1:]:
        same_shape("sparse.map_values", given[0], other)
        if not np.array_equal(given[0].indices, other.indices):
            raise failure("E0302", "sparse.map_values: the SparseTensors must have equal indices")
    values = [x.values if x.__class__ is SparseTensor else x for x in args]
    named = {name: x.values if x.__class__ is SparseTensor else x for name, x in kwargs.items()}
    return given[0].method_with_values(call(op, *values, **named))


# --- reductions -------------------------------------------------------------------------------------------------------


def segments_max(values: Any, groups: Any, total: int) -> Any:
    return OPERATORS.segments_max(values, ids=groups, total=total, empty=0)


def segments_sum(values: Any, groups: Any, total: int) -> Any:
    return put_rows(values, indices=groups, axis=0, size=total)


def reduction(name: str, reduce: Callable[..., Any]) -> Callable[..., Any]:
    def run(sp_input: Any, axis: Any = None, keepdims: Any = False, output_is_sparse: Any = False) -> Any:
        """Over the entries alone: what is missing is no zero, and a line without entries gives 0."""
        s, axis = sparse(name, sp_input), static(axis)
        rank = len(s.shape)
        axes = axis if axis.__class__ in (list, tuple) and axis else range(rank) if axis in (None, [], ()) else (axis,)
        for d in axes:
            if d.__class__ is not int or not -rank <= d < rank:
                raise failure("E0405", f"{name}: Invalid reduction dimension {d}, for input with {rank} dimensions")
        gone = {d % rank for d in axes}
        left = [d for d in range(rank) if d not in gone]
        shape = tuple(s.shape[d] for d in left)
        groups, total = keys(s.indices[:, left], shape), count(shape)
        at: Any = None
        if output_is_sparse:
            at, groups = np.unique(groups, return_inverse=True)
            total = len(at)
        if keepdims:
            shape = tuple(1 if d in gone else size for d, size in enumerate(s.shape))
        limits.allocate(total)
        values = reduce(s.values, groups, total)
        return reshape(values, shape=shape) if at is None else SparseTensor(places(at, shape), values, shape)

    return run


def softmax(sp_input: Any) -> SparseTensor:
    """Over the entries of each row of the last axis; what is missing takes no part."""
    s = sparse("sparse.softmax", sp_input)
    if len(s.shape) < 2:
        raise failure("E0302", f"sparse.softmax takes two dimensions or more, and the shape is {shape_text(s.shape)}")
    at, groups = np.unique(keys(s.indices[:, :-1], s.shape[:-1]), return_inverse=True)
    largest = segments_max(OPERATORS.stop_gradient(s.values), groups, len(at))
    powers = OPERATORS.exp(OPERATORS.subtract(s.values, take_rows(largest, indices=groups)))
    sums = segments_sum(powers, groups, len(at))
    return s.with_leaves([OPERATORS.divide(powers, take_rows(sums, indices=groups))])


def segment(kind: str) -> Callable[..., Any]:
    def run(data: Any, indices: Any, segment_ids: Any, num_segments: Any = None) -> Any:
        """segment_sum or segment_mean of the rows of data at the indices."""
        rows = OPERATORS.gather(data, indices)
        if num_segments is None:
            return OPERATORS[f"segment_{kind}"](rows, segment_ids)
        return OPERATORS[f"unsorted_segment_{kind}"](rows, segment_ids, num_segments)

    return run


# --- shapes -----------------------------------------------------------------------------------------------------------


def reorder(sp_input: Any) -> SparseTensor:
    s = sparse("sparse.reorder", sp_input)
    return chosen(s, np.argsort(keys(s.indices, s.shape), kind="stable"))


def reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """The same entries in a larger shape; without one in the smallest that holds them."""
    s, name = sparse("sparse.reset_shape", sp_input), "sparse.reset_shape"
    if new_shape is None:
        return SparseTensor(s.indices, s.values, tuple((s.indices.max(axis=0, initial=-1) + 1).tolist()))
    shape = as_shape(sizes(name, "new_shape", new_shape, len(s.shape)).tolist())
    if any(new < old for new, old in zip(shape, s.shape)):
        raise failure(
            "E0302", f"{name}: new_shape {shape_text(shape)} should have dimension sizes >= sp_input.shape, "
            f"{shape_text(s.shape)}",
        )  # fmt: skip
    return SparseTensor(s.indices, s.values, shape)


def sparse_reshape(sp_input: Any, shape: Any) -> SparseTensor:
    s, name = sparse("sparse.reshape", sp_input), "sparse.reshape"
    wanted = sizes(name, "shape", shape).tolist()
    rest = count([n for n in wanted if n != -1])
    if wanted.count(-1) == 1 and rest and not count(s.shape) % rest:
        wanted[wanted.index(-1)] = count(s.shape) // rest
    if -1 in wanted or count(wanted) != count(s.shape):
        raise failure("E0302", f"{name}: shape {shape_text(s.shape)} has no shape {shape_text(wanted)}")
    return SparseTensor(places(keys(s.indices, s.shape), wanted), s.values, as_shape(wanted))


def sparse_transpose(sp_input: Any, perm: Any = None) -> SparseTensor:
    s, name = sparse("sparse.transpose", sp_input), "sparse.transpose"
    rank = len(s.shape)
    order = list(range(rank))[::-1] if perm is None else sizes(name, "perm", perm, rank).tolist()
    if sorted(order) != list(range(rank)):
        raise failure("E0401", f"{name}: perm {order} must name each of the {rank} axes once")
    return reorder(SparseTensor(s.indices[:, order], s.values, tuple(s.shape[d] for d in order)))


def sparse_slice(sp_input: Any, start: Any, size: Any) -> SparseTensor:
    """The entries from `start` on, in a box of `size` or as much of it as there is."""
    s, name = sparse("sparse.slice", sp_input), "sparse.slice"
    begin, box = (sizes(name, what, x, len(s.shape)) for what, x in (("start", start), ("size", size)))
    if (begin < 0).any() or (box < 0).any():
        raise failure("E0405", f"{name}: start {begin.tolist()} and size {box.tolist()} must not be negative")
    shifted = s.indices - begin
    inside = ((shifted >= 0) & (shifted < box)).all(axis=1)
    return chosen(s, inside, shifted, np.clip(np.array(s.shape, dtype="int64") - begin, 0, box))


def split(sp_input: Any = None, num_split: Any = None, axis: Any = None) -> list[SparseTensor]:
    """Equal parts along an axis; where the size is no multiple, the first ones are longer by one."""
    s, name = sparse("sparse.split", sp_input), "sparse.split"
    axis, parts = axis_of(name, static(axis), len(s.shape)), static(num_split)
    if parts.__class__ is not int or not 0 < parts <= s.shape[axis]:
        raise failure("E0302", f"{name}: {s.shape[axis]} places cannot be split into {parts!r} parts")
    short, longer = divmod(s.shape[axis], parts)
    found, start, box = [], [0] * len(s.shape), list(s.shape)
    for part in range(parts):
        box[axis] = short + (part < longer)
        found.append(sparse_slice(s, start, box))
        start[axis] += box[axis]
    return found


def sparse_concat(axis: Any, sp_inputs: Any, expand_nonconcat_dims: Any = False) -> SparseTensor:
    name = "sparse.concat"
    inputs = [sparse(name, x) for x in (sp_inputs if sp_inputs.__class__ in (list, tuple) else [sp_inputs])]
    if not inputs or len({len(s.shape) for s in inputs}) > 1:
        raise failure("E0302", f"{name} needs SparseTensors of one rank")
    axis = axis_of(name, static(axis), len(inputs[0].shape))
    others = {s.shape[:axis] + s.shape[axis + 1 :] for s in inputs}
    if len(others) > 1 and not expand_nonconcat_dims:
        raise failure(
            "E0302", f"{name}: the shapes {listing(shape_text(s.shape) for s in inputs)} must be equal but for axis {axis}",
            "expand_nonconcat_dims=True takes the largest sizes",
        )  # fmt: skip
    shape = [max(lengths) for lengths in zip(*(s.shape for s in inputs))]
    ends = np.cumsum([s.shape[axis] for s in inputs])
    shape[axis] = int(ends[-1])
    shift = np.eye(len(shape), dtype="int64")[axis]
    indices = np.concatenate([s.indices + shift * (end - s.shape[axis]) for s, end in zip(inputs, ends)])
    return reorder(SparseTensor(indices, concat([s.values for s in inputs], axis=0), tuple(shape)))


def stack(axis: Any, inputs: Sequence[SparseTensor]) -> SparseTensor:
    return sparse_concat(axis, [expand_dims(s, axis) for s in inputs])


def expand_dims(sp_input: Any, axis: Any = None) -> SparseTensor:
    s = sparse("sparse.expand_dims", sp_input)
    axis = axis_of("sparse.expand_dims", -1 if axis is None else static(axis), len(s.shape) + 1)
    return SparseTensor(np.insert(s.indices, axis, 0, axis=1), s.values, (*s.shape[:axis], 1, *s.shape[axis:]))


def retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """The entries for which a mask is true."""
    s, which = sparse("sparse.retain", sp_input), ndarray(to_retain)
    if which.dtype.kind != "b" or which.shape != (len(s.indices),):
        raise failure(
            "E0302", f"sparse.retain needs {len(s.indices)} bools, one for each entry, and got {describe(to_retain)}"
        )
    return chosen(s, which)


def fill_empty_rows(sp_input: Any, default_value: Any) -> tuple[SparseTensor, Any]:
    """The tensor with an entry in column 0 of each row without one, and which rows those were."""
    s, name = sparse("sparse.fill_empty_rows", sp_input), "sparse.fill_empty_rows"
    if not s.shape:
        raise failure("E0302", f"{name} takes one dimension or more")
    empty = np.bincount(s.indices[:, 0], minlength=s.shape[0]) == 0
    new = np.zeros((int(empty.sum()), len(s.shape)), dtype="int64")
    new[:, 0] = empty.nonzero()[0]
    indices = np.concatenate([s.indices, new])
    order = np.argsort(indices[:, 0], kind="stable")
    default = as_operand(default_value)
    if shape_of(default) != ():
        raise failure("E0302", f"{name}: default_value must be a scalar, not {describe(default)}")
    filled = concat([s.values, reshape(default, shape=(1,))], axis=0)
    values = take_rows(filled, indices=np.minimum(order, len(s.indices)))
    return SparseTensor(indices[order], values, s.shape), Tensor(empty, STRONG["bool"])


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "SparseTensor": sparse_tensor,
    "sparse.SparseTensor": sparse_tensor,
    "sparse.add": sparse_add,
    "sparse.concat": sparse_concat,
    "sparse.expand_dims": expand_dims,
    "sparse.eye": eye,
    "sparse.fill_empty_rows": fill_empty_rows,
    "sparse.from_dense": from_dense,
    "sparse.map_values": map_values,
    "sparse.mask": mask,
    "sparse.maximum": lambda sp_a, sp_b: united("sparse.maximum", OPERATORS.maximum, sp_a, sp_b),
    "sparse.minimum": lambda sp_a, sp_b: united("sparse.minimum", OPERATORS.minimum, sp_a, sp_b),
    "sparse.reduce_max": reduction("sparse.reduce_max", segments_max),
    "sparse.reduce_sum": reduction("sparse.reduce_sum", segments_sum),
    "sparse.reorder": reorder,
    "sparse.reset_shape": reset_shape,
    "sparse.reshape": sparse_reshape,
    "sparse.retain": retain,
    "sparse.segment_mean": segment("mean"),
    "sparse.segment_sum": segment("sum"),
    "sparse.slice": sparse_slice,
    "sparse.softmax": softmax,
    "sparse.sparse_dense_matmul": sparse_dense_matmul,
    "sparse.split": split,
    "sparse.to_dense": to_dense,
    "sparse.to_indicator": to_indicator,
    "sparse.transpose": sparse_transpose,
}
