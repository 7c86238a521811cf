"""Order: sorting, ranks, medians and quantiles, searching.

A sorted tensor is its input permuted, so the derivative moves cotangents back. Where elements are equal their order is
arbitrary: the least-norm subgradient shares the cotangents of tied places equally (the elements of Clarke's
subdifferential of an order statistic at a tie are the convex combinations of the tied unit vectors).
"""

from __future__ import annotations

from ..core.dtype_rules import common_dtype
from ..core.dtypes import WEAK_INT
from ..core.errors import failure
from ..core.operands import plain
from ..core.state import STATE
from ..core.tensor import OPERATORS, Tensor
from .operation import no_tangent, rule
from .structure import index, index_scatter
from .support import axis_of, found_by_rule, meet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..core.dtypes import DType
    from .operation import Operation


def order_of(np: Any, x: Any, axis: int, descending: bool) -> Any:
    """The stable order of the elements along an axis: of equal elements the earlier one comes first."""
    axis = axis_of("argsort", axis, x.ndim)
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    backwards = np.argsort(np.flip(x, axis), axis=axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(backwards, axis)


def _sort(np: Any, x: Any, axis: int, descending: bool) -> Any:
    axis = axis_of("sort", axis, x.ndim)
    found = np.sort(x, axis=axis, kind="stable")
    return np.flip(found, axis) if descending else found


def _shared_among_ties(g: Any, y: Any, axis: int) -> Any:
    """The cotangent of a sorted tensor with its average over each run of equal elements."""
    import numpy as np

    values = np.moveaxis(plain(y), axis, -1)
    starts = np.ones(values.shape, dtype=bool)
    starts[..., 1:] = values[..., 1:] != values[..., :-1]
    if starts.all() or STATE.kinks not in ("adiff", "error"):
        return g
    runs = np.moveaxis((np.cumsum(starts) - 1).reshape(starts.shape), -1, axis)
    lengths = np.bincount(runs.ravel()).astype("float64")
    mean = OPERATORS.divide(index_scatter(g, shape=lengths.shape, index=runs), weak(lengths))
    shared = index(mean, index=runs)
    tied = lengths[runs] > 1
    meet(sort_along, tied, matters=np.asarray(plain(g)) != (0.0 if STATE.several else plain(shared)))
    return shared


def weak(values: Any) -> Tensor:
    """A float64 array that adopts the dtype of what it meets."""
    from ..core.dtypes import WEAK_FLOAT

    return Tensor(values, WEAK_FLOAT)


def _order_dtype(op: Operation, dtypes: list[DType], attributes: Any) -> tuple[DType, DType]:
    return dtypes[0], WEAK_INT


argsort_along = no_tangent(
    "argsort_along", "x | axis, descending", array=lambda np, x, axis, descending: order_of(np, x, axis, descending),
    dtype=_order_dtype, accepts="bifs", internal=True,
    doc="The stable order of the elements along an axis counted from the front: what argsort is made of.",
    example=("argsort_along([3, 1, 2], 0, False)", [1, 2, 0]), reason="an index",
)  # fmt: skip


def _sort_vjp(g: Any, y: Any, x: Any, axis: int, descending: bool) -> Any:
    import numpy as np

    order = order_of(np, plain(x), axis, descending)
    grid: list[Any] = list(np.ix_(*[np.arange(size) for size in order.shape]))
    grid[axis] = np.argsort(order, axis=axis, kind="stable")
    return index(_shared_among_ties(g, y, axis), index=tuple(grid))


sort_along = rule(
    "sort_along", "x | axis, descending", _sort_vjp, array=_sort, dtype="first", accepts="bifs",
    singular=[
        found_by_rule("sort is not differentiable where elements are equal", "their cotangents are shared equally")
    ],
    internal=True, analytic=False, depends="lines",
    doc="x sorted along an axis that is counted from the front: what sort, median and top_k are made of.",
    example=("sort_along([3, 1, 2], 0, True)", [3, 2, 1]),
)  # fmt: skip


# --- searching ------------------------------------------------------------------------------------------------------


def _searchsorted(np: Any, a: Any, v: Any, side: Any, right: Any) -> Any:
    side = "right" if right else side
    if side not in ("left", "right"):
        raise failure("E0305", f"searchsorted: side is 'left' or 'right', not {side!r}")
    a, v = np.asarray(a), np.asarray(v)
    if a.ndim == 0:
        raise failure("E0302", "searchsorted needs a sorted vector, not a scalar")
    if a.ndim == 1:
        return np.searchsorted(a, v, side)
    if v.shape[:-1] != a.shape[:-1]:
        raise failure("E0302", f"searchsorted: batches of shape {list(a.shape[:-1])} and {list(v.shape[:-1])}")
    found = [np.searchsorted(s, w, side) for s, w in zip(a.reshape(-1, a.shape[-1]), v.reshape(-1, v.shape[-1]))]
    return np.array(found).reshape(v.shape)


searchsorted = no_tangent(
    "searchsorted", "a, v | side='left', right=False", array=_searchsorted, dtype="int", accepts="bifs",
    kernel=lambda k, a, v, side, right: k.searchsorted(a, v, bool(right) or side == "right"),
    doc="Where the elements of v belong in the sorted vector a; a batch of both row by row.",
    example=("searchsorted([1, 3, 5], 4)", 2), reason="an index",
)  # fmt: skip


# --- positions of extrema -------------------------------------------------------------------------------------------


def _arg_dtype(op: Operation, dtypes: list[DType], attributes: Any) -> tuple[DType, DType]:
    from ..core.dtypes import INT64
    from .structure import as_dtype

    chosen = attributes.get("output_type")
    return common_dtype(op, dtypes), INT64 if chosen is None else as_dtype(chosen)


def _arg_extremum(name: str, word: str, example: int) -> Operation:
    def array(np: Any, x: Any, axis: Any, keepdims: Any, output_type: Any) -> Any:
        if axis is not None:
            axis = axis_of(name, axis, np.ndim(x))
        if 0 in (np.shape(x) if axis is None else (x.shape[axis],)):
            raise failure("E0302", f"{name} of an empty tensor has no value")
        return getattr(np, name)(x, axis=axis, keepdims=bool(keepdims))

    return no_tangent(
        name, "x | axis=None, keepdims=False, output_type=None", array=array, dtype=_arg_dtype, accepts="bif", method=True,
        doc=f"The index of the first {word} element, in one row unless an axis is named.",
        example=(f"{name}([3, 9, 1])", example), reason="an index", code="place_of_extremum",
    )  # fmt: skip


argmax = _arg_extremum("argmax", "largest", 1)
argmin = _arg_extremum("argmin", "smallest", 2)
