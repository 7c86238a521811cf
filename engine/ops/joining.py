"""Tensors joined, and cut into parts."""

from __future__ import annotations

from ..core import limits
from ..core.dtype_rules import common_dtype
from ..core.errors import failure, plural
from ..core.operands import as_operand
from ..core.operation import composite, linear, static
from .shapes import at_least
from .structure import index, reshape
from .support import (
    SQUARE,
    TALL,
    VECTOR,
    WIDE,
    axis_of,
    cases,
    count,
    operand_shape,
    shape_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..core.dtypes import DType
    from ..core.operation import Operation


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
    code="joined", array=_concat, moves=True, dtype=_concat_dtype, accepts="bifcs", aliases="concatenate",
    domain=cases((((VECTOR, [0.3]),), {}), (((WIDE, SQUARE[:2]),), {"axis": -1}), (((WIDE, VECTOR),), {"axis": None})),
    doc="Tensors joined along an axis that they have; axis=None joins their elements in one row.",
    example=("concat([[1, 2], [3]])", [1, 2, 3]),
)  # fmt: skip


def _hstack(values: Any) -> Any:
    parts = [at_least(1)([x]) for x in parts_of("hstack", values)]
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
    "vstack", "[values]", lambda values: concat([at_least(2)([x]) for x in parts_of("vstack", values)], axis=0),
    aliases="row_stack", domain=cases((((VECTOR, VECTOR),), {})),
    doc="Tensors joined one below the other; vectors count as rows.",
    example=("vstack([[1, 2], [3, 4]])", [[1, 2], [3, 4]]),
)  # fmt: skip
dstack = composite(
    "dstack", "[values]", lambda values: concat([at_least(3)([x]) for x in parts_of("dstack", values)], axis=2),
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
    domain=cases(((WIDE,), {}), ((WIDE,), {"axis": -1})),
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
