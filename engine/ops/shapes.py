"""Rearranging: the same elements in another shape or order, joined, cut, repeated or padded."""

from __future__ import annotations

from ..core import limits
from ..core.dispatch import as_operand, common_dtype
from ..core.errors import failure, plural
from ..core.operation import composite, linear, no_tangent, static
from ..core.tensor import OPERATORS
from .gathering import diagonal_index, take_rows
from .structure import broadcast_to, index, index_scatter, reshape
from .support import (
    CUBE,
    SQUARE,
    TALL,
    VECTOR,
    WIDE,
    as_shape,
    axes_of,
    axis_of,
    cases,
    count,
    mask_tensor,
    shape_of,
    swapped,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ..core.dtypes import DType
    from ..core.operation import Operation


# --- what a tensor is like ------------------------------------------------------------------------------------------


def operand_shape(x: Any) -> tuple[int, ...]:
    """The shape of any operand, lists included."""
    return shape_of(as_operand(x))


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
    "transpose", "x | axes=None", _transpose_back,
    array=lambda np, x, axes: np.transpose(x, _order(axes, np.ndim(x))), moves=True, dtype="first", accepts="bifcs",
    aliases="permute_dims permute", method=True, domain=cases(((WIDE,), {}), ((CUBE,), {"axes": (1, 2, 0)})),
    doc="x with its axes in another order; reversed if no order is given.",
    example=("transpose([[1, 2], [3, 4]])", [[1, 3], [2, 4]]),
)  # fmt: skip


def _swapaxes(x: Any, axis1: Any, axis2: Any) -> Any:
    rank = len(operand_shape(x))
    return transpose(x, axes=swapped(rank, axis_of("swapaxes", axis1, rank), axis_of("swapaxes", axis2, rank)))


swapaxes = composite(
    "swapaxes", "x | axis1, axis2", _swapaxes,
    method=True, domain=cases(((CUBE,), {"axis1": 0, "axis2": -1})), doc="x with two axes exchanged.",
    example=("swapaxes([[1, 2], [3, 4]], 0, 1)", [[1, 3], [2, 4]]),
)  # fmt: skip


def _matrix_transpose(x: Any, conjugate: Any = False) -> Any:
    from .support import conjugate as conj

    rank = len(operand_shape(x))
    if rank < 2:
        raise failure("E0302", f"matrix_transpose needs a matrix, and this tensor has {plural(rank, 'dimension')}")
    moved = transpose(x, axes=swapped(rank))
    return conj(moved) if conjugate else moved


matrix_transpose = composite(
    "matrix_transpose", "x | conjugate=False", _matrix_transpose,
    domain=cases(((CUBE,), {})), doc="x with its last two axes exchanged.",
    example=("matrix_transpose([[1, 2], [3, 4]])", [[1, 3], [2, 4]]),
)  # fmt: skip
adjoint_row = composite(
    "adjoint", "x", lambda x: _matrix_transpose(x, True),
    domain=cases(((SQUARE,), {})), doc="The conjugate transpose of the last two axes.",
    example=("adjoint([[1, 2], [3, 4]])", [[1, 3], [2, 4]]),
)  # fmt: skip


def _moveaxis(x: Any, source: Any, destination: Any) -> Any:
    rank = len(operand_shape(x))
    sources = axes_of("moveaxis", source, rank)
    targets = axes_of("moveaxis", destination, rank)
    if len(sources) != len(targets):
        raise failure("E0302", f"moveaxis: {len(sources)} source axes and {len(targets)} destinations")
    order = [i for i in range(rank) if i not in sources]
    for target, origin in sorted(zip(targets, sources)):
        order.insert(target, origin)
    return transpose(x, axes=tuple(order))


moveaxis = composite(
    "moveaxis", "x | source, destination", _moveaxis,
    domain=cases(((CUBE,), {"source": 0, "destination": -1})), doc="x with some axes moved to other places.",
    example=("shape(moveaxis([[[1, 2, 3]]], 2, 0))", (3, 1, 1)),
)  # fmt: skip


# --- number of axes -------------------------------------------------------------------------------------------------


ravel = composite(
    "ravel", "x", lambda x: reshape(x, shape=-1),
    method=True, domain=cases(((WIDE,), {})), doc="The elements of x in one row.",
    example=("ravel([[1, 2], [3, 4]])", [1, 2, 3, 4]),
)  # fmt: skip
flatten = composite(
    "flatten", "x", lambda x: reshape(x, shape=-1),
    method=True, domain=cases(((WIDE,), {})), doc="The elements of x in one row.",
    example=("flatten([[1, 2], [3, 4]])", [1, 2, 3, 4]),
)  # fmt: skip


def _expand_dims(x: Any, axis: Any) -> Any:
    shape = operand_shape(x)
    added = 1 if axis.__class__ is int else len(axis)
    places = axes_of("expand_dims", axis, len(shape) + added)
    sizes = list(shape)
    for place in sorted(places):
        sizes.insert(place, 1)
    return reshape(x, shape=tuple(sizes))


expand_dims = composite(
    "expand_dims", "x | axis", _expand_dims,
    aliases="expanddims", domain=cases(((VECTOR,), {"axis": 0}), ((WIDE,), {"axis": -1})),
    doc="x with an axis of size 1 put in.", example=("expand_dims([1, 2], 0)", [[1, 2]]),
)  # fmt: skip


def _squeeze(x: Any, axis: Any = None) -> Any:
    shape = operand_shape(x)
    if axis is None:
        return reshape(x, shape=tuple([size for size in shape if size != 1]))
    gone = axes_of("squeeze", axis, len(shape))
    for place in gone:
        if shape[place] != 1:
            raise failure("E0302", f"squeeze: axis {place} has size {shape[place]}, not 1")
    return reshape(x, shape=tuple([size for i, size in enumerate(shape) if i not in gone]))


squeeze = composite(
    "squeeze", "x | axis=None", _squeeze,
    method=True, domain=cases((([[0.5], [1.5]],), {}), (([[0.5], [1.5]],), {"axis": -1})),
    doc="x without its axes of size 1, or without those named.", example=("squeeze([[1, 2]])", [1, 2]),
)  # fmt: skip


def _at_least(rank: int) -> Callable[..., Any]:
    def one(x: Any) -> Any:
        shape = operand_shape(x)
        if len(shape) >= rank:
            return as_operand(x)
        if rank == 3:  # NumPy puts a vector in the middle
            shape = {0: (1, 1, 1), 1: (1, *shape, 1), 2: (*shape, 1)}[len(shape)]
        else:
            shape = (1,) * (rank - len(shape)) + shape
        return reshape(x, shape=shape)

    return lambda values: one(values[0]) if len(values) == 1 else [one(x) for x in values]


atleast_1d = composite(
    "atleast_1d", "*values", _at_least(1), domain=cases(((0.5,), {})),
    doc="x with at least one axis.", example=("atleast_1d(3)", [3]),
)  # fmt: skip
atleast_2d = composite(
    "atleast_2d", "*values", _at_least(2), domain=cases(((VECTOR,), {})),
    doc="x with at least two axes; a vector becomes a row.", example=("atleast_2d([1, 2])", [[1, 2]]),
)  # fmt: skip
atleast_3d = composite(
    "atleast_3d", "*values", _at_least(3), domain=cases(((VECTOR,), {})),
    doc="x with at least three axes.", example=("shape(atleast_3d([1, 2]))", (1, 2, 1)),
)  # fmt: skip


# --- joining --------------------------------------------------------------------------------------------------------


def parts_of(name: str, values: Any) -> list[Any]:
    """The operands of a list argument; a tensor stands for the list of its rows."""
    if values.__class__ in (list, tuple):
        parts = [as_operand(x) for x in values]
    else:
        x = as_operand(values)
        shape = shape_of(x)
        if not shape:
            raise failure("E0304", f"{name} needs a list of tensors, not a scalar")
        parts = [index(x, index=i) for i in range(shape[0])]
    if not parts:
        raise failure("E0304", f"{name} needs at least one tensor")
    return parts


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
    "concat", "[values] | axis=0", _concat_back,
    array=_concat, moves=True, dtype=_concat_dtype, accepts="bifcs", aliases="concatenate",
    domain=cases((((VECTOR, [0.3]),), {}), (((WIDE, SQUARE[:2]),), {"axis": -1}), (((WIDE, VECTOR),), {"axis": None})),
    doc="Tensors joined along an axis that they have; axis=None joins their elements in one row.",
    example=("concat([[1, 2], [3]])", [1, 2, 3]),
)  # fmt: skip


def _hstack(values: Any) -> Any:
    parts = [_at_least(1)([x]) for x in parts_of("hstack", values)]
    return concat(parts, axis=0 if len(shape_of(parts[0])) == 1 else 1)


def _column_stack(values: Any) -> Any:
    parts = parts_of("column_stack", values)
    return concat([reshape(x, shape=(-1, 1)) if len(shape_of(x)) < 2 else x for x in parts], axis=1)


hstack = composite(
    "hstack", "[values]", _hstack, domain=cases((((VECTOR, [0.3]),), {}), (((WIDE, SQUARE[:2]),), {})),
    doc="Tensors joined side by side: along axis 1, or axis 0 for vectors.",
    example=("hstack([[1, 2], [3]])", [1, 2, 3]),
)  # fmt: skip
vstack = composite(
    "vstack", "[values]", lambda values: concat([_at_least(2)([x]) for x in parts_of("vstack", values)], axis=0),
    aliases="row_stack", domain=cases((((VECTOR, VECTOR),), {})),
    doc="Tensors joined one below the other; vectors count as rows.",
    example=("vstack([[1, 2], [3, 4]])", [[1, 2], [3, 4]]),
)  # fmt: skip
dstack = composite(
    "dstack", "[values]", lambda values: concat([_at_least(3)([x]) for x in parts_of("dstack", values)], axis=2),
    domain=cases((((VECTOR, VECTOR),), {})), doc="Tensors joined along the third axis.",
    example=("dstack([[1, 2], [3, 4]])", [[[1, 3], [2, 4]]]),
)  # fmt: skip
column_stack = composite(
    "column_stack", "[values]", _column_stack, domain=cases((((VECTOR, VECTOR),), {})),
    doc="Vectors as the columns of a matrix.", example=("column_stack([[1, 2], [3, 4]])", [[1, 3], [2, 4]]),
)  # fmt: skip
append = composite(
    "append", "x, values | axis=None", lambda x, values,
    axis=None: concat([as_operand(x), as_operand(values)], axis=axis),
    domain=cases(((VECTOR, 0.3), {})), doc="x with values joined at its end.", example=("append([1, 2], 3)", [1, 2, 3]),
)  # fmt: skip


# --- cutting --------------------------------------------------------------------------------------------------------


def pieces(x: Any, bounds: Sequence[int], axis: int) -> list[Any]:
    """The parts of `x` between consecutive bounds along an axis."""
    before = (slice(None),) * axis
    return [index(x, index=(*before, slice(bounds[i], bounds[i + 1]))) for i in range(len(bounds) - 1)]


def _equal_parts(name: str, size: int, sections: int) -> list[int]:
    if sections < 1:
        raise failure("E0302", f"{name} into {sections} parts is not possible")
    if size % sections:
        raise failure(
            "E0302", f"{name}: an axis of size {size} has no {sections} equal parts", "array_split makes unequal parts"
        )
    return [size // sections * i for i in range(sections + 1)]


def _split_points(x: Any, points: Any, axis: Any = 0, name: str = "split", equal: bool = True) -> list[Any]:
    shape = operand_shape(x)
    axis = axis_of(name, axis, len(shape))
    size = shape[axis]
    if points.__class__ is int:
        if equal:
            return pieces(x, _equal_parts(name, size, points), axis)
        if points < 1:
            raise failure("E0302", f"{name} into {points} parts is not possible")
        small, larger = divmod(size, points)
        return pieces(x, [i * small + min(i, larger) for i in range(points + 1)], axis)
    inner = [max(0, p + size) if p < 0 else min(p, size) for p in integer_list(name, points)]
    # As NumPy: places that fall give empty parts.
    return [pieces(x, (low, max(low, high)), axis)[0] for low, high in zip([0, *inner], [*inner, size])]


def integer_list(name: str, values: Any) -> list[int]:
    plain = static(values)
    if plain.__class__ not in (list, tuple) or not all(item.__class__ is int for item in plain):
        raise failure("E0304", f"{name} needs an integer or a list of integers, not {plain!r}")
    return list(plain)


def _split_sizes(x: Any, sizes: Any, axis: Any = 0) -> list[Any]:
    shape = operand_shape(x)
    axis = axis_of("split", axis, len(shape))
    if sizes.__class__ is int:
        return pieces(x, _equal_parts("split", shape[axis], sizes), axis)
    sizes = integer_list("split", sizes)
    if sizes.count(-1) == 1:
        sizes[sizes.index(-1)] = shape[axis] - sum(sizes) - 1
    if sum(sizes) != shape[axis] or any(size < 0 for size in sizes):
        raise failure("E0302", f"split: the sizes {sizes} do not add up to {shape[axis]}, the size of axis {axis}")
    bounds = [0]
    for size in sizes:
        bounds.append(bounds[-1] + size)
    return pieces(x, bounds, axis)


def _split(x: Any, indices_or_sections: Any = None, axis: Any = 0, num_or_size_splits: Any = None) -> list[Any]:
    if num_or_size_splits is not None:
        return _split_sizes(x, num_or_size_splits, axis)
    if indices_or_sections is None:
        raise failure("E0305", "split needs a number of parts, or a list of places", "write split(x, 2)")
    return _split_points(x, indices_or_sections, axis)


split = composite(
    "split", "x | indices_or_sections=None, axis=0, num_or_size_splits=None", _split,
    domain=cases(((VECTOR,), {"indices_or_sections": 2}), ((TALL,), {"num_or_size_splits": (1, -1)})),
    doc="A list of parts of x: a number of equal parts, or those between the places of a list (NumPy's rule; "
    "tf.split and num_or_size_splits= take a list of sizes).",
    example=("split([1, 2, 3, 4], 2)", [[1, 2], [3, 4]]),
)  # fmt: skip
split_sizes = composite(
    "tf.split", "x | num_or_size_splits, axis=0, num=None", lambda x, num_or_size_splits,
    axis=0, num=None: _split_sizes(
        x, num_or_size_splits, axis),
    domain=cases(((VECTOR,), {"num_or_size_splits": (1, 3)})),
    doc="A list of parts of x: a number of equal parts, or parts of the sizes in a list, of which one may be -1.",
    example=("tf.split([1, 2, 3], [1, 2])", [[1], [2, 3]]),
)  # fmt: skip
array_split = composite(
    "array_split", "x | indices_or_sections, axis=0",
    lambda x, indices_or_sections, axis=0: _split_points(x, indices_or_sections, axis, "array_split", False),
    domain=cases(((VECTOR,), {"indices_or_sections": 3})), doc="split into parts that need not be equal.",
    example=("array_split([1, 2, 3], 2)", [[1, 2], [3]]),
)  # fmt: skip
hsplit = composite(
    "hsplit", "x | indices_or_sections",
    lambda x, indices_or_sections: _split_points(x, indices_or_sections, min(1, len(operand_shape(x)) - 1), "hsplit"),
    domain=cases(((SQUARE,), {"indices_or_sections": 3})), doc="split along axis 1, or axis 0 for a vector.",
    example=("hsplit([1, 2], 2)", [[1], [2]]),
)  # fmt: skip
vsplit = composite(
    "vsplit", "x | indices_or_sections",
    lambda x, indices_or_sections: _split_points(x, indices_or_sections, 0, "vsplit"),
    domain=cases(((SQUARE,), {"indices_or_sections": 3})), doc="split along axis 0.",
    example=("vsplit([[1], [2]], 2)", [[[1]], [[2]]]),
)  # fmt: skip


def _unstack(x: Any, num: Any = None, axis: Any = 0) -> list[Any]:
    shape = operand_shape(x)
    axis = axis_of("unstack", axis, len(shape))
    if num is not None and num != shape[axis]:
        raise failure("E0302", f"unstack: axis {axis} has size {shape[axis]}, not {num}")
    before = (slice(None),) * axis
    return [index(x, index=(*before, i)) for i in range(shape[axis])]


unstack = composite(
    "unstack", "x | num=None, axis=0", _unstack,
    aliases="unpack", domain=cases(((WIDE,), {}), ((WIDE,), {"axis": -1})),
    doc="The list of the slices of x along an axis: the inverse of stack.", example=("unstack([1, 2])", [1, 2]),
)  # fmt: skip


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
    "slice", "x | begin, size", _slice, domain=cases(((SQUARE,), {"begin": [1, 0], "size": [2, -1]})),
    doc="The block of x that starts at begin and has the sizes of size; -1 means up to the end.",
    example=("slice([1, 2, 3, 4], [1], [2])", [2, 3]),
)  # fmt: skip


# --- reversing and repeating ----------------------------------------------------------------------------------------


flip: Operation = linear(
    "flip", "x | axis=None", lambda g, y, x, axis: flip(g, axis=axis),
    kernel=lambda k, x, axis: k.flip(x, axis),
    array=lambda np, x, axis: np.flip(x, axes_of("flip", axis, np.ndim(x))), moves=True, dtype="first", accepts="bifcs",
    aliases="reverse", domain=cases(((WIDE,), {}), ((WIDE,), {"axis": 1})),
    doc="x with the order of its elements reversed along one axis, several, or all.",
    example=("flip([1, 2, 3])", [3, 2, 1]),
)  # fmt: skip
fliplr = composite(
    "fliplr", "x", lambda x: flip(x, axis=1), domain=cases(((WIDE,), {})), doc="x with its columns reversed.",
    example=("fliplr([[1, 2], [3, 4]])", [[2, 1], [4, 3]]),
)  # fmt: skip
flipud = composite(
    "flipud", "x", lambda x: flip(x, axis=0), domain=cases(((WIDE,), {})), doc="x with its rows reversed.",
    example=("flipud([[1, 2], [3, 4]])", [[3, 4], [1, 2]]),
)  # fmt: skip


def _roll_back(g: Any, y: Any, x: Any, shift: Any, axis: Any) -> Any:
    back = -shift if shift.__class__ is int else tuple([-s for s in shift])
    return roll(g, shift=back, axis=axis)


def _roll(np: Any, x: Any, shift: Any, axis: Any) -> Any:
    if axis is not None:
        axes_of("roll", list(dict.fromkeys(axis)) if axis.__class__ in (list, tuple) else axis, np.ndim(x))
    return np.roll(x, shift, axis if axis is None or axis.__class__ is int else tuple(axis))


roll: Operation = linear(
    "roll", "x | shift, axis=None", _roll_back, array=_roll, moves=True, dtype="first", accepts="bifcs",
    kernel=lambda k, x, shift, axis: k.roll(x, shift, axis),
    domain=cases(((VECTOR,), {"shift": 1}), ((WIDE,), {"shift": (1, -1), "axis": (0, 1)})),
    doc="x with its elements moved on along an axis, those at the end coming back at the start.",
    example=("roll([1, 2, 3], 1)", [3, 1, 2]),
)  # fmt: skip


def _rot90(x: Any, k: Any = 1, axes: Any = None) -> Any:
    rank = len(operand_shape(x))
    first, second = axes_of("rot90", (0, 1) if axes is None else axes, rank)
    turns = k % 4
    if turns == 0:
        return as_operand(x)
    if turns == 2:
        return flip(x, axis=(first, second))
    order = swapped(rank, first, second)
    if turns == 1:
        return transpose(flip(x, axis=second), axes=order)
    return flip(transpose(x, axes=order), axis=second)


rot90 = composite(
    "rot90", "x | k=1, axes=None", _rot90, domain=cases(((WIDE,), {}), ((WIDE,), {"k": -1})),
    doc="x turned by 90 degrees k times, from the first axis towards the second.",
    example=("rot90([[1, 2], [3, 4]])", [[2, 4], [1, 3]]),
)  # fmt: skip


def _tile(x: Any, reps: Any) -> Any:
    shape = operand_shape(x)
    times = as_shape(reps)
    rank = max(len(shape), len(times))
    shape = (1,) * (rank - len(shape)) + shape
    times = (1,) * (rank - len(times)) + times
    limits.allocate(count(shape) * count(times))
    split_axes = [size for n, s in zip(times, shape) for size in (1, s)]
    repeated = [size for n, s in zip(times, shape) for size in (n, s)]
    grown = broadcast_to(reshape(x, shape=tuple(split_axes)), shape=tuple(repeated))
    return reshape(grown, shape=tuple([n * s for n, s in zip(times, shape)]))


tile = composite(
    "tile", "x | reps", _tile, domain=cases(((VECTOR,), {"reps": 2}), ((WIDE,), {"reps": (2, 1)})),
    doc="x repeated as a whole, so many times along each axis.", example=("tile([1, 2], 2)", [1, 2, 1, 2]),
)  # fmt: skip


def _repeat(x: Any, repeats: Any, axis: Any = None) -> Any:
    import numpy as np

    x = as_operand(x)
    if axis is None:
        x, axis = reshape(x, shape=-1), 0
    axis = axis_of("repeat", axis, len(shape_of(x)))
    size = shape_of(x)[axis]
    times = np.asarray(static(repeats))
    if times.dtype.kind not in "iu" or times.ndim > 1 or times.size not in (1, size):
        raise failure("E0302", f"repeat: repeats is one integer or {size}, one for each element along axis {axis}")
    if (times < 0).any():
        raise failure("E0302", "repeat: a number of repeats cannot be negative")
    total = int(times.sum()) * (size if times.size == 1 else 1)
    limits.allocate(total * (count(shape_of(x)) // max(size, 1)))
    return take_rows(x, indices=np.repeat(np.arange(size), times), axis=axis)


repeat = composite(
    "repeat", "x | repeats, axis=None", _repeat,
    method=True, domain=cases(((VECTOR,), {"repeats": 2}), ((WIDE,), {"repeats": [2, 1], "axis": 0})),
    doc="Each element of x repeated, along an axis or in one row.", example=("repeat([1, 2], 2)", [1, 1, 2, 2]),
)  # fmt: skip


# --- padding --------------------------------------------------------------------------------------------------------


def _inner(shape: Sequence[int], widths: Sequence[Sequence[int]]) -> tuple[slice, ...]:
    return tuple([slice(low, low + size) for size, (low, _) in zip(shape, widths)])


def _pad_zeros(np: Any, x: Any, pad_width: Any) -> Any:
    limits.allocate(count([size + low + high for size, (low, high) in zip(np.shape(x), pad_width)]), x.itemsize)
    return np.pad(x, pad_width)


pad_zeros = linear(
    "pad_zeros", "x | pad_width", lambda g, y, x, pad_width: index(g, index=_inner(shape_of(x), pad_width)),
    kernel=lambda k, x, pad_width: k.pad_zeros(x, pad_width),
    array=_pad_zeros, moves=True, dtype="first", domain=cases(((WIDE,), {"pad_width": ((1, 0), (0, 2))})),
    internal=True, doc="x with zeros around it: so many before and after along each axis.",
    example=("pad_zeros([1, 2], [[1, 1]])", [0, 1, 2, 0]),
)  # fmt: skip


def _widths(pad_width: Any, rank: int) -> list[tuple[int, int]]:
    import numpy as np

    try:
        widths = np.broadcast_to(np.asarray(static(pad_width)), (rank, 2))
    except ValueError:
        raise failure(
            "E0302", f"pad: {pad_width!r} does not give a width before and after each of {plural(rank, 'dimension')}",
            "write [[before, after], ...], one pair for each axis",
        ) from None  # fmt: skip
    if widths.dtype.kind not in "iu" or (widths < 0).any():
        raise failure("E0302", "pad: the widths must be integers and not negative")
    return [(int(low), int(high)) for low, high in widths]


def _pad(x: Any, pad_width: Any, mode: Any = "constant", constant_values: Any = 0) -> Any:
    import numpy as np

    x = as_operand(x)
    shape = shape_of(x)
    widths = _widths(pad_width, len(shape))
    mode = str(mode).lower()
    if mode == "constant":
        value = as_operand(constant_values)  # an input: it carries its gradient
        if shape_of(value):
            raise failure("E0304", "pad: constant_values must be one number")
        if value.__class__ in (int, float) and value == 0:
            return pad_zeros(x, pad_width=tuple(widths))
        inside = np.zeros([size + low + high for size, (low, high) in zip(shape, widths)], dtype=bool)
        inside[_inner(shape, widths)] = True
        return OPERATORS["where"](mask_tensor(inside), pad_zeros(x, pad_width=tuple(widths)), value)
    if mode not in ("edge", "reflect", "symmetric", "wrap"):
        raise failure(
            "E0305", f"pad: unknown mode '{mode}'", "the modes are constant, edge, reflect, symmetric and wrap"
        )
    for axis, (size, (low, high)) in enumerate(zip(shape, widths)):
        if low or high:
            if size == 0:
                raise failure("E0302", f"pad: axis {axis} is empty, so there is nothing to {mode}")
            if mode == "reflect" and size == 1:
                raise failure("E0302", f"pad: axis {axis} of size 1 cannot be reflected")
            limits.allocate(size + low + high)
            x = take_rows(x, indices=np.pad(np.arange(size), (low, high), mode=mode), axis=axis)
    return x


pad = composite(
    "pad", "x, pad_width, mode='constant', constant_values=0", _pad,
    domain=cases(((VECTOR,), {"pad_width": 1}), ((WIDE,), {"pad_width": [[1, 0], [0, 2]], "mode": "reflect"})),
    doc="x with a border: mode constant (constant_values), edge, reflect, symmetric or wrap.",
    example=("pad([1, 2], 1)", [0, 1, 2, 0]),
)  # fmt: skip


# --- diagonals and triangles ----------------------------------------------------------------------------------------


def _diagonal(x: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Any:
    shape = operand_shape(x)
    rank = len(shape)
    if rank < 2:
        raise failure("E0302", f"diagonal needs a matrix, and this tensor has {plural(rank, 'dimension')}")
    first, second = axis_of("diagonal", axis1, rank), axis_of("diagonal", axis2, rank)
    if (first, second) != (rank - 2, rank - 1):
        x = _moveaxis(x, (first, second), (-2, -1))
    rows, columns = diagonal_index(shape[first], shape[second], offset)
    return index(x, index=(Ellipsis, rows, columns))


def _diag_matrix(v: Any, k: int = 0) -> Any:
    import numpy as np

    shape = operand_shape(v)
    side = shape[-1] + abs(k)
    limits.allocate(count(shape[:-1]) * side * side)
    places = np.arange(shape[-1])
    return index_scatter(v, shape=(*shape[:-1], side, side), index=(Ellipsis, places + max(-k, 0), places + max(k, 0)))


def _diag(x: Any, k: Any = 0) -> Any:
    rank = len(operand_shape(x))
    if rank == 1:
        return _diag_matrix(x, k)
    if rank == 2:
        return _diagonal(x, k)
    raise failure(
        "E0302", f"diag takes a vector or a matrix, not a tensor of {plural(rank, 'dimension')}",
        "tf.linalg.diag and diag_part take batches",
    )  # fmt: skip


def _diag_batch(x: Any, k: Any = 0) -> Any:
    if not operand_shape(x):
        raise failure("E0302", "diag takes a vector, not a scalar")
    return _diag_matrix(x, k)


diagonal = composite(
    "diagonal", "x | offset=0, axis1=0, axis2=1", _diagonal,
    method=True, domain=cases(((SQUARE,), {}), ((CUBE,), {"offset": 1, "axis1": 1, "axis2": 2})),
    doc="The diagonal of a matrix, or those of the matrices along two axes.",
    example=("diagonal([[1, 2], [3, 4]])", [1, 4]),
)  # fmt: skip
diag = composite(
    "diag", "x | k=0", _diag, domain=cases(((VECTOR,), {"k": -1}), ((SQUARE,), {"k": 1})),
    doc="The matrix with the vector x as its diagonal; of a matrix, its diagonal.",
    example=("diag([1, 2])", [[1, 0], [0, 2]]),
)  # fmt: skip
diag_batch = composite(
    "tf.linalg.diag", "x | k=0", _diag_batch,
    aliases="tf.linalg.tensor_diag tf.matrix_diag matrix_diag", domain=cases(((WIDE,), {})),
    doc="The matrices with the vectors along the last axis as their diagonals.",
    example=("tf.linalg.diag([1, 2])", [[1, 0], [0, 2]]),
)  # fmt: skip
diag_part = composite(
    "diag_part", "x | k=0", lambda x, k=0: _diagonal(x, k, -2, -1),
    aliases="tensor_diag_part matrix_diag_part", domain=cases(((CUBE,), {})),
    doc="The diagonals of the matrices in the last two axes.", example=("diag_part([[1, 2], [3, 4]])", [1, 4]),
)  # fmt: skip


def _triangle(name: str, doc: str, example: list[list[int]], aliases: str = "") -> Operation:
    def array(np: Any, x: Any, k: Any) -> Any:
        if np.ndim(x) < 2:
            raise failure("E0302", f"{name} needs a matrix, and this tensor has {plural(np.ndim(x), 'dimension')}")
        return getattr(np, name)(x, k)

    row: Operation = linear(
        name, "x | k=0", lambda g, y, x, k: row(g, k=k), array=array, moves=True, dtype="first", aliases=aliases,
        kernel=lambda kernel, x, k: kernel.triangle(x, k, name == "tril"),
        domain=cases(((SQUARE,), {}), ((CUBE,), {"k": 1 if name == "triu" else -1})), doc=doc,
        example=(f"{name}([[1, 2], [3, 4]])", example),
    )  # fmt: skip
    return row


tril = _triangle("tril", "The lower triangle of a matrix, up to diagonal k; zeros above it.", [[1, 0], [3, 4]])
triu = _triangle("triu", "The upper triangle of a matrix, from diagonal k on; zeros below it.", [[1, 2], [0, 4]])


def _band_part(x: Any, num_lower: Any, num_upper: Any) -> Any:
    if num_lower >= 0:
        x = triu(x, k=-num_lower)
    return tril(x, k=num_upper) if num_upper >= 0 else as_operand(x)


band_part = composite(
    "band_part", "x | num_lower, num_upper", _band_part,
    aliases="matrix_band_part", domain=cases(((SQUARE,), {"num_lower": 1, "num_upper": 0})),
    doc="A matrix with all but a band around its diagonal set to zero; -1 keeps that whole triangle.",
    example=("band_part([[1, 2], [3, 4]], 0, -1)", [[1, 2], [0, 4]]),
)  # fmt: skip


def _set_diag(x: Any, diagonal: Any, k: Any = 0) -> Any:
    from .structure import index_update

    shape = operand_shape(x)
    rows, columns = diagonal_index(shape[-2], shape[-1], k)
    return index_update(x, diagonal, index=(Ellipsis, rows, columns))


set_diag = composite(
    "set_diag", "x, diagonal | k=0", _set_diag,
    aliases="matrix_set_diag", domain=cases(((SQUARE, VECTOR[:3]), {})), doc="A matrix with another diagonal.",
    example=("set_diag([[1, 2], [3, 4]], [0, 0])", [[0, 2], [3, 0]]),
)  # fmt: skip


# --- grids ----------------------------------------------------------------------------------------------------------


def _meshgrid(values: Any, indexing: Any = "xy", sparse: Any = False) -> list[Any]:
    parts = [reshape(as_operand(x), shape=-1) for x in values]
    if indexing not in ("xy", "ij"):
        raise failure("E0305", f"meshgrid: indexing is 'xy' or 'ij', not {indexing!r}")
    rank = len(parts)
    order = list(range(rank))
    if indexing == "xy" and rank > 1:
        order[0], order[1] = 1, 0
    sizes = [0] * rank
    for place, part in zip(order, parts):
        sizes[place] = shape_of(part)[0]
    limits.allocate(count(sizes))
    grids = []
    for place, part in zip(order, parts):
        grid = reshape(part, shape=tuple([sizes[i] if i == place else 1 for i in range(rank)]))
        grids.append(grid if sparse else broadcast_to(grid, shape=tuple(sizes)))
    return grids


meshgrid = composite(
    "meshgrid", "*values | indexing='xy', sparse=False", _meshgrid,
    domain=cases(((VECTOR, VECTOR[:2]), {}), ((VECTOR, VECTOR[:2]), {"indexing": "ij"})),
    doc="The coordinates of a grid: one tensor for each vector, constant along the other axes.",
    example=("meshgrid([1, 2], [3, 4])", [[[1, 2], [1, 2]], [[3, 3], [4, 4]]]),
)  # fmt: skip


def _broadcast_arrays(values: Any) -> list[Any]:
    parts = [as_operand(x) for x in values]
    shape = broadcast_shape("broadcast_arrays", [shape_of(x) for x in parts])
    return [broadcast_to(x, shape=shape) for x in parts]


def broadcast_shape(name: str, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape to which shapes broadcast together."""
    import numpy as np

    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        joined = ", ".join(str(list(shape)) for shape in shapes)
        raise failure("E0302", f"{name}: shapes {joined} do not broadcast") from None


broadcast_arrays = composite(
    "broadcast_arrays", "*values", _broadcast_arrays, domain=cases(((VECTOR, 0.5), {})),
    doc="Tensors broadcast to one shape.", example=("broadcast_arrays([1, 2], 3)", [[1, 2], [3, 3]]),
)  # fmt: skip

# `x in t`, for masks
isin = no_tangent(
    "isin", "x, values", array=lambda np, x, values: np.isin(x, values), dtype="bool", accepts="bifcs",
    kernel=lambda k, x, values: k.isin(x, values),
    doc="Whether each element of x is among values.", example=("isin([1, 2, 3], [2, 3])", [False, True, True]),
    reason="a comparison",
)  # fmt: skip
