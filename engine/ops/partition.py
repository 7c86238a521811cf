"""Parts: tensors cut into parts by labels, put together again by places, and reduced segment by segment.

`dynamic_partition` and `dynamic_stitch` are written with rows that take and join, so that their derivatives of every
order, in both modes, follow. A place that is written twice belongs to its last writer, who alone receives its
cotangent (TensorFlow gives it to every writer, which is no derivative of what it computes).
"""

from __future__ import annotations

from ..core import limits
from ..core.dtypes import STRING
from ..core.errors import failure
from ..core.operands import as_operand, plain
from ..core.operation import composite, rule
from ..core.state import STATE
from ..core.tensor import OPERATORS, Tensor
from .creation import whole_number
from .gathering import checked, element, put_rows, take_rows
from .joining import concat
from .scans import linear_recurrence
from .sorting import weak
from .structure import broadcast_to, reshape
from .support import (
    axis_of,
    count,
    floating,
    found_by_rule,
    integers,
    is_symbol,
    mask_tensor,
    meet,
    ndarray,
    operand_shape,
    shape_of,
    whole_tensor,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..core.operation import Operation


def bracketed(shape: Sequence[int]) -> str:
    """A shape as TensorFlow's messages show it: [2,3]."""
    return "[" + ",".join(map(str, shape)) + "]"


# --- partition ------------------------------------------------------------------------------------------------------


def _dynamic_partition(data: Any, partitions: Any, n: Any) -> list[Any]:
    import numpy as np

    parts = whole_number("dynamic_partition", "the number of parts", n)
    labels = integers("dynamic_partition", "partitions", partitions)
    checked("dynamic_partition", labels, parts, "partitions", negative=False, code="E0407")
    data = as_operand(data)
    shape = shape_of(data)
    if shape[: labels.ndim] != labels.shape:
        raise failure(
            "E0407",
            "data.shape must start with partitions.shape, "
            f"got data.shape = {bracketed(shape)}, partitions.shape = {bracketed(labels.shape)}",
        )
    rows = reshape(data, shape=(labels.size, *shape[labels.ndim :]))
    flat = labels.reshape(-1)
    order = np.argsort(flat, kind="stable")
    bounds = np.searchsorted(flat[order], np.arange(parts + 1))
    return [take_rows(rows, indices=order[bounds[i] : bounds[i + 1]], axis=0) for i in range(parts)]


dynamic_partition = composite(
    "dynamic_partition", "data, partitions, n", _dynamic_partition,
    doc="A list of n tensors: part i holds the slices of data whose label in partitions is i, in their order.",
    example=("dynamic_partition([10, 20, 30], [1, 0, 1], 2)", [[20], [10, 30]]),
)  # fmt: skip


# --- stitch ---------------------------------------------------------------------------------------------------------


def _items(name: str, what: str, values: Any) -> list[Any]:
    """The entries of a list argument; a tensor stands for the list of its rows."""
    if values.__class__ in (list, tuple):
        return list(values)
    if not operand_shape(values):
        raise failure("E0304", f"{name}: {what} is a list of tensors, and this is a scalar", f"write [{what}]")
    return list(OPERATORS.unstack(values))


def _places(name: str, indices: Any, data: Any) -> tuple[list[Any], list[Any], tuple[int, ...]]:
    """The index arrays, the data tensors, and the shape of a slice; errors name the element at fault."""
    import numpy as np

    wheres = [ndarray(entry) for entry in _items(name, "indices", indices)]
    whats = [as_operand(entry) for entry in _items(name, "data", data)]
    if len(wheres) != len(whats):
        raise failure(
            "E0407",
            f"{name}: indices and data must be lists of one length, and they have {len(wheres)} and {len(whats)} "
            "entries",
        )
    if not wheres:
        raise failure("E0407", f"{name} needs at least one tensor")
    rest: tuple[int, ...] | None = None
    for i, (where, what) in enumerate(zip(wheres, whats)):
        if where.size and where.dtype.kind not in "iu":
            raise failure(
                "E0301",
                f"{name}: indices must be integers, and indices[{i}] is {where.dtype.name}",
                "write cast(..., int64)",
            )
        wheres[i] = where = where.astype("int64")
        shape = shape_of(what)
        if shape[: where.ndim] != where.shape:
            raise failure(
                "E0407",
                f"data[{i}].shape = {bracketed(shape)} does not start with "
                f"indices[{i}].shape = {bracketed(where.shape)}",
            )
        if rest is None:
            rest, first = shape[where.ndim :], shape
        elif shape[where.ndim :] != rest:
            raise failure(
                "E0407",
                f"data[{i}].shape = {bracketed(shape)} leaves slices of shape {bracketed(shape[where.ndim :])}, and "
                f"data[0].shape = {bracketed(first)} leaves {bracketed(rest)}: all must be equal",
            )
        if where.size and where.min() < 0:
            place = np.unravel_index(int(np.argmin(where)), where.shape)
            raise failure("E0407", f"{element(f'indices[{i}]', place)} = {int(where[place])} is negative")
    assert rest is not None
    return wheres, whats, rest


def _dynamic_stitch(indices: Any, data: Any, fill: Any = None) -> Any:
    import numpy as np

    wheres, whats, rest = _places("dynamic_stitch", indices, data)
    flat = np.concatenate([where.reshape(-1) for where in wheres])
    total = int(flat.max()) + 1 if flat.size else 0
    limits.allocate(total * max(count(rest), 1))
    rows = concat([reshape(what, shape=(where.size, *rest)) for where, what in zip(wheres, whats)], axis=0)
    # The last writer of each place; np.unique finds first occurrences, so it reads backwards.
    written, backwards = np.unique(flat[::-1], return_index=True)
    source = np.full(total, flat.size)
    source[written] = flat.size - 1 - backwards
    unwritten = total - written.size
    if unwritten:
        if fill is None:
            empty = int(np.argmax(source == flat.size))
            others = f" and {unwritten - 1} more" if unwritten > 1 else ""
            strings = rows.__class__ is Tensor and rows.dtype is STRING
            STATE.notify(
                "N0505",
                f"dynamic_stitch: nothing was written to row {empty}{others}: filled with {repr('') if strings else 0} "
                "(fill= sets another value)",
            )
            fill = "" if strings else 0
        rows = concat([rows, broadcast_to(_filling(fill, rows), shape=(1, *rest))], axis=0)
    return take_rows(rows, indices=source, axis=0)


def _filling(fill: Any, rows: Any) -> Any:
    """The fill value in the dtype of the rows where it is a plain number."""
    value = as_operand(fill)
    strong = rows.__class__ is Tensor and rows.dtype.kind in "if" and not rows.dtype.weak
    if strong and value.__class__ in (int, float) and float(value).is_integer():
        return OPERATORS.cast(value, dtype=rows.dtype)
    return value


dynamic_stitch = composite(
    "dynamic_stitch", "indices, data, fill=None", _dynamic_stitch, aliases="parallel_dynamic_stitch",
    doc="One tensor of slices written to places: result[indices[i][j]] = data[i][j]. The last writer of a place wins "
    "and alone receives its gradient; places nobody wrote hold fill, or 0.",
    example=("dynamic_stitch([[2, 0], [1]], [[30, 10], [20]])", [10, 20, 30]),
)  # fmt: skip


def _boolean_mask(x: Any, mask: Any, axis: Any = None) -> Any:
    chosen = ndarray(mask)
    x = as_operand(x)
    shape = shape_of(x)
    if chosen.dtype.kind != "b":
        raise failure(
            "E0301",
            f"boolean_mask: the mask must be bool, and it is {chosen.dtype.name}",
            "write x > 0, or cast(mask, bool)",
        )
    if not chosen.ndim:
        raise failure("E0302", "boolean_mask: the mask cannot be a scalar")
    start = 0 if axis is None else axis_of("boolean_mask", axis, len(shape))
    end = start + chosen.ndim
    if shape[start:end] != chosen.shape:
        raise failure(
            "E0302", f"boolean_mask: a mask of shape {bracketed(chosen.shape)} does not fit shape {bracketed(shape)}"
            + (f" from axis {start} on" if start else ""),
        )  # fmt: skip
    rows = reshape(x, shape=(*shape[:start], chosen.size, *shape[end:]))
    return take_rows(rows, indices=chosen.reshape(-1).nonzero()[0], axis=start)


boolean_mask = composite(
    "boolean_mask", "x, mask | axis=None", _boolean_mask, doc="The slices of x where the mask is true.",
    example=("boolean_mask([1, 2, 3], [True, False, True])", [1, 3]),
)  # fmt: skip


# --- segments -------------------------------------------------------------------------------------------------------


def _segments(name: str, x: Any, segment_ids: Any, num_segments: Any, ordered: bool) -> tuple[Any, Any, int]:
    """The rows that belong to a segment, their segments, and how many segments there are."""
    x = as_operand(x)
    ids = integers(name, "segment_ids", segment_ids)
    shape = shape_of(x)
    if shape[: ids.ndim] != ids.shape or (ordered and ids.ndim != 1):
        raise failure(
            "E0302",
            f"{name}: segment_ids of shape {bracketed(ids.shape)} must be "
            f"{'the first size' if ordered else 'the start'} of the data's shape {bracketed(shape)}",
        )
    rows = reshape(x, shape=(ids.size, *shape[ids.ndim :]))
    flat = ids.reshape(-1)
    if ordered:
        if flat.size and flat[0] < 0:
            raise failure("E0407", f"{name}: segment_ids[0] = {int(flat[0])} is negative")
        falls = (flat[1:] < flat[:-1]).nonzero()[0]
        if falls.size:
            k = int(falls[0]) + 1
            raise failure(
                "E0407",
                f"{name}: segment_ids[{k}] = {int(flat[k])} is less than segment_ids[{k - 1}] = {int(flat[k - 1])}",
                "they must not fall; unsorted_" + name + " takes any order",
            )  # fmt: skip
        total = int(flat[-1]) + 1 if flat.size else 0
    else:
        total = whole_number(name, "num_segments", num_segments)
        if flat.size and flat.max() >= total:
            import numpy as np

            place = np.unravel_index(int(np.argmax(ids >= total)), ids.shape)
            raise failure(
                "E0407", f"{name}: {element('segment_ids', place)} = {int(ids[place])} is not in [0, {total})"
            )
        inside = flat >= 0  # negative ids belong to no segment
        if not inside.all():
            rows = take_rows(rows, indices=inside.nonzero()[0], axis=0)
            flat = flat[inside]
    limits.allocate(total * max(count(shape_of(rows)[1:]), 1))
    return rows, flat, total


def _sizes(rows: Any, ids: Any, total: int) -> Any:
    """The number of rows of each segment, shaped to divide the segments."""
    import numpy as np

    return np.bincount(ids, minlength=total).reshape([-1] + [1] * (len(shape_of(rows)) - 1))


def _sum(rows: Any, ids: Any, total: int) -> Any:
    return put_rows(rows, indices=ids, axis=0, size=total)


def _mean(rows: Any, ids: Any, total: int) -> Any:
    sizes = _sizes(rows, ids, total).clip(1)
    if (rows.__class__ is Tensor or is_symbol(rows)) and rows.dtype.kind == "i":
        return OPERATORS.floor_divide(_sum(rows, ids, total), whole_tensor(sizes))
    return _sum(floating(rows), ids, total) / weak(sizes.astype("float64"))


def _sqrt_n(rows: Any, ids: Any, total: int) -> Any:
    return _sum(floating(rows), ids, total) / weak(_sizes(rows, ids, total).clip(1) ** 0.5)


def _prod(rows: Any, ids: Any, total: int) -> Any:
    """Running products that start anew at each segment are a linear recurrence; each segment's last one is taken."""
    import numpy as np

    order = np.argsort(ids, kind="stable")
    line = take_rows(rows, indices=order, axis=0)
    sorted_ids = ids[order]
    starts = np.ones(ids.size, dtype=bool)
    starts[1:] = sorted_ids[1:] != sorted_ids[:-1]
    wide = starts.reshape([-1] + [1] * (len(shape_of(rows)) - 1)) & np.ones(shape_of(rows), dtype=bool)
    where = OPERATORS.where
    running = linear_recurrence(where(mask_tensor(wide), 0, line), where(mask_tensor(wide), line, 0))
    ends = np.append(starts[1:], True).nonzero()[0] if ids.size else starts.nonzero()[0]
    products = put_rows(take_rows(running, indices=ends, axis=0), indices=sorted_ids[ends], axis=0, size=total)
    return _where_present(_sizes(rows, ids, total) > 0, products, 1)


def _where_present(present: Any, found: Any, empty: int) -> Any:
    """The reductions of segments, with another value for those without rows."""
    import numpy as np

    if present.all():
        return found
    return OPERATORS.where(mask_tensor(np.broadcast_to(present, shape_of(found)).copy()), found, empty)


def _extremum(name: str, largest: bool) -> Operation:
    def array(np: Any, x: Any, ids: Any, total: int, empty: float | None) -> Any:
        limit = np.finfo(x.dtype) if x.dtype.kind == "f" else np.iinfo(x.dtype)
        start = limit.min if largest else limit.max
        out = np.full((total, *x.shape[1:]), start, dtype=x.dtype)
        infinite = (-np.inf if largest else np.inf) if x.dtype.kind == "f" else start
        out[ids] = infinite
        (np.maximum if largest else np.minimum).at(out, ids, x)
        if empty is not None:
            out[np.bincount(ids, minlength=total) == 0] = empty
        return out

    def vjp(g: Any, y: Any, x: Any, ids: Any, total: int, empty: float | None) -> Any:
        x, y = OPERATORS.stop_gradient(x), OPERATORS.stop_gradient(y)
        tied = OPERATORS.equal(x, take_rows(y, indices=ids, axis=0))
        ties = put_rows(OPERATORS.where(tied, 1.0, 0.0), indices=ids, axis=0, size=total)
        meet(row, plain(ties) > 1, matters=plain(g) != 0)
        shared = take_rows(g, indices=ids, axis=0) / take_rows(ties, indices=ids, axis=0)
        return OPERATORS.where(tied, shared, 0.0)

    word = "largest" if largest else "smallest"
    row = rule(
        name, "x | ids, total, empty", vjp, internal=True, array=array, dtype="first", accepts="if", analytic=False,
        singular=[
            found_by_rule(
                f"the {word} of a segment is not differentiable where several elements are it",
                "they share the cotangent equally"
            )
        ],
        doc=f"The {word} elements of segments: what segment_{'max' if largest else 'min'} is made of.",
        example=(f"{name}([1.0, 4.0, 2.0], [0, 0, 1], 2, None)", [4.0, 2.0] if largest else [1.0, 2.0]),
    )  # fmt: skip
    return row


segments_max = _extremum("segments_max", True)
segments_min = _extremum("segments_min", False)

REDUCTIONS: dict[str, tuple[Any, str]] = {
    "sum": (_sum, "sum"),
    "mean": (_mean, "mean"),
    "sqrt_n": (_sqrt_n, "sum over the root of the size"),
    "prod": (_prod, "product"),
    "max": (segments_max, "largest element"),
    "min": (segments_min, "smallest element"),
}


def _segment_row(kind: str, ordered: bool, example: list[float]) -> Operation:
    reduction, word = REDUCTIONS[kind]
    name = f"{'' if ordered else 'unsorted_'}segment_{kind}"
    # A segment without rows: TensorFlow's sorted forms give 0, its unsorted extrema the end of the range of the dtype.
    keywords = {} if kind not in ("max", "min") else {"empty": 0 if ordered else None}

    def reduce(rows: Any, ids: Any, total: int) -> Any:
        if keywords:
            return reduction(rows, ids=ids, total=total, **keywords)
        found = reduction(rows, ids, total)
        present = _sizes(rows, ids, total) > 0
        return _where_present(present, found, 0) if kind == "prod" and ordered else found

    if ordered:
        return composite(
            name, "data, segment_ids", lambda data, segment_ids: reduce(*_segments(name, data, segment_ids, None, True)),
            doc=f"The {word} of each segment: of the rows that have one id. Ids must not fall.",
            example=(f"{name}([1.0, 4.0, 2.0], [0, 0, 1])", example),
        )  # fmt: skip
    return composite(
        name, "data, segment_ids, num_segments",
        lambda data, segment_ids, num_segments: reduce(*_segments(name, data, segment_ids, num_segments, False)),
        doc=f"The {word} of each segment, with ids in any order; rows with a negative id are left out.",
        example=(f"{name}([1.0, 2.0, 4.0], [0, 1, 0], 2)", example),
    )  # fmt: skip


segment_sum = _segment_row("sum", True, [5.0, 2.0])
segment_mean = _segment_row("mean", True, [2.5, 2.0])
segment_prod = _segment_row("prod", True, [4.0, 2.0])
segment_max = _segment_row("max", True, [4.0, 2.0])
segment_min = _segment_row("min", True, [1.0, 2.0])
unsorted_segment_sum = _segment_row("sum", False, [5.0, 2.0])
unsorted_segment_mean = _segment_row("mean", False, [2.5, 2.0])
unsorted_segment_sqrt_n = _segment_row("sqrt_n", False, [5.0 / 2.0**0.5, 2.0])
unsorted_segment_prod = _segment_row("prod", False, [4.0, 2.0])
unsorted_segment_max = _segment_row("max", False, [4.0, 2.0])
unsorted_segment_min = _segment_row("min", False, [1.0, 2.0])


# --- counts ---------------------------------------------------------------------------------------------------------


def _bincount(x: Any, weights: Any = None, minlength: Any = 0) -> Any:
    import numpy as np

    values = integers("bincount", "the values", x)
    if values.size and values.min() < 0:
        raise failure("E0407", f"bincount: {int(values.min())} is negative")
    total = max(int(values.max()) + 1 if values.size else 0, 0 if minlength is None else minlength)
    limits.allocate(total)
    flat = values.reshape(-1)
    if weights is None:
        return whole_tensor(np.bincount(flat, minlength=total))
    w = as_operand(weights)
    if shape_of(w) != values.shape:
        raise failure(
            "E0302", f"bincount: weights of shape {list(shape_of(w))} for values of shape {list(values.shape)}"
        )
    return _sum(reshape(w, shape=-1), flat, total)


bincount = composite(
    "bincount", "x, weights=None | minlength=0", _bincount,
    doc="How often each integer occurs in x, or the sums of weights over them.", example=("bincount([0, 2, 2])", [1, 0, 2]),
)  # fmt: skip
