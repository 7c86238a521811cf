"""Which elements of its inputs an element of a row's result depends on, for the rows of the table that are neither
element-wise nor only move elements; and which of them its second derivative joins.

The `ways` to an input are places in it, flat and counted from 1, as an array of shape (ways, *shape of the result) or one
that broadcasts to it: element e of the result depends on the elements ways[:, e], 0 for none. A row that chooses (the
largest element, the order of a sort) depends on what it has chosen at this point, and on what is tied with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.dtypes import INT64
from ..core.operands import plain
from ..core.tensor import Tensor
from ..ops.support import axes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Ids = np.ndarray[Any, np.dtype[np.int64]]
    Truths = np.ndarray[Any, np.dtype[np.bool_]]
    # The ways to each input.
    Ways = list[Ids]

# Pairs of an element of a result and one of an input that are looked at for one row; of more, all count as dependent.
MOST = 1 << 22


class Place:
    """A row where it is applied: its inputs and its first result as arrays, and its static parameters."""

    __slots__ = ("attributes", "inputs", "name", "shape", "transpose")

    def __init__(self, op: Any, inputs: Sequence[Any], attributes: dict[str, Any], shape: tuple[int, ...]) -> None:
        self.name: str = op.name
        self.transpose = op.transpose
        self.inputs = inputs
        self.attributes = attributes
        self.shape = shape

    def array(self, k: int) -> Any:
        """The values of an input."""
        return np.asarray(plain(self.inputs[k]))

    def sizes(self) -> list[tuple[int, ...]]:
        return [np.shape(plain(x)) for x in self.inputs]


def ways_of(place: Place, result: Any) -> Ways | None:
    """The ways to the inputs; None where every element counts as dependent on all. `result` is the row's."""
    rows = WAYS.get(place.name)
    if rows is None:
        return None
    size = int(np.prod(place.shape, dtype=np.int64))
    if place.name not in SPARSE and any(size * int(np.prod(s, dtype=np.int64)) > MOST for s in place.sizes()):
        return None
    found: Ways | None = rows(place, result)
    return found


def packed(met: Truths, shape: tuple[int, ...]) -> Ids:
    """Ways from a table of what depends on what, of shape (elements of the result, elements of the input)."""
    elements, places = np.nonzero(met)
    return gathered(elements, places, shape)


def gathered(elements: Ids, places: Ids, shape: tuple[int, ...]) -> Ids:
    """Ways from pairs of an element of the result and a place in the input, in order of the elements."""
    size = int(np.prod(shape, dtype=np.int64))
    counts = np.bincount(elements, minlength=size)
    most = int(counts.max(initial=0))
    if elements.size == size * most:  # as many for each
        return (places.reshape(size, most).T + 1).reshape(most, *shape)
    way = np.arange(elements.size) - (np.cumsum(counts) - counts)[elements]
    found = np.zeros((most, size), dtype=np.int64)
    found[way, elements] = places + 1
    return found.reshape(most, *shape)


# --- sums -----------------------------------------------------------------------------------------------------------


def summed(place: Place, result: Any) -> Ways | None:
    """Each element of an input goes to one of the result, which the transpose tells: it brings cotangents back."""
    transpose, attributes = place.transpose, place.attributes
    if place.name == "mean":
        from ..ops.registry import ROWS

        transpose = ROWS["sum"].transpose
    size = int(np.prod(place.shape, dtype=np.int64))
    numbers = Tensor(np.arange(1, size + 1, dtype=np.int64).reshape(place.shape), INT64) if place.shape else 1
    found = transpose(numbers, None, *place.inputs, **attributes)
    ways: Ways = []
    for x, goes in zip(place.inputs, found if found.__class__ is tuple else (found,)):
        goes = goes() if callable(goes) else goes
        to = np.broadcast_to(np.asarray(plain(goes), dtype=np.int64), np.shape(plain(x))).ravel()
        places = np.flatnonzero(to)
        places = places[np.argsort(to[places], kind="stable")]
        ways.append(gathered(to[places] - 1, places, place.shape))
    return ways


def running_sum(place: Place, result: Any) -> Ways | None:
    a = place.attributes
    lines, along = positions(place.sizes()[0], (a["axis"],))
    here, there = along[:, None], along[None, :]
    before = (there > here if a["exclusive"] else there >= here) if a["reverse"] else (
        there < here if a["exclusive"] else there <= here
    )  # fmt: skip
    return [packed((lines[:, None] == lines) & before, place.shape)]


# --- along axes -----------------------------------------------------------------------------------------------------


def positions(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[Ids, Ids]:
    """For each element the number of its line along axes, and its place in it."""
    kept = tuple(a for a in range(len(shape)) if a not in axes)
    grid = np.indices(shape).reshape(len(shape), -1)

    def number(which: tuple[int, ...]) -> Ids:
        if not which:
            return np.zeros(grid.shape[1], dtype=np.int64)
        found: Ids = np.ravel_multi_index(tuple(grid[a] for a in which), tuple(shape[a] for a in which))
        return found

    return number(kept), number(axes)


def reduced_axes(place: Place) -> tuple[int, ...]:
    return axes_of(place.name, place.attributes.get("axis"), len(place.sizes()[0]))


def whole_line(place: Place, result: Any) -> Ways | None:
    (shape,) = place.sizes()
    axes = reduced_axes(place)
    lines = tuple(1 if a in axes else n for a, n in enumerate(shape))
    ids = np.moveaxis(np.arange(1, np.prod(shape, dtype=np.int64) + 1).reshape(shape), axes, range(len(axes)))
    return [ids.reshape(-1, *(lines if len(place.shape) == len(shape) else place.shape))]


def extremum(place: Place, result: Any) -> Ways | None:
    lines, _ = positions(place.sizes()[0], reduced_axes(place))
    here = np.arange(np.prod(place.shape, dtype=np.int64))[:, None]
    return [packed((here == lines) & equal(plain(result), place.array(0)), place.shape)]


def running(place: Place, result: Any) -> Ways | None:
    """The elements of the line so far."""
    lines, along = positions(place.shape, (place.attributes["axis"],))
    return [packed((lines[:, None] == lines) & (along <= along[:, None]), place.shape)]


def running_extremum(place: Place, result: Any) -> Ways | None:
    lines, along = positions(place.shape, (place.attributes["axis"],))
    met = (lines[:, None] == lines) & (along <= along[:, None])
    return [packed(met & equal(plain(result), place.array(0)), place.shape)]


def sorted_line(place: Place, result: Any) -> Ways | None:
    lines, _ = positions(place.shape, (place.attributes["axis"],))
    return [packed((lines[:, None] == lines) & equal(plain(result), place.array(0)), place.shape)]


def segment_extremum(place: Place, result: Any) -> Ways | None:
    shape, (total, *rest) = place.sizes()[0], place.shape
    ids = np.asarray(place.attributes["ids"]).ravel()
    inner = int(np.prod(rest, dtype=np.int64))
    if shape[1:] != tuple(rest) or ids.size != shape[0]:
        return None
    of_input = (ids[:, None] * inner + np.arange(inner)).ravel()
    of_input[np.repeat((ids < 0) | (ids >= total), inner)] = -1
    met = np.arange(total * inner)[:, None] == of_input
    return [packed(met & equal(plain(result), place.array(0)), place.shape)]


def equal(y: Any, x: Any) -> Truths:
    """Which elements of a result are elements of an input, as a table."""
    y, x = np.asarray(y).ravel()[:, None], np.asarray(x).ravel()
    found: Truths = (y == x) | ((y != y) & (x != x))
    return found


def others(place: Place, result: Any) -> Ways | None:
    lines, along = positions(place.shape, (0,))
    return [packed((lines[:, None] == lines) & (along != along[:, None]), place.shape)]


# --- products -------------------------------------------------------------------------------------------------------


def products(place: Place, result: Any) -> Ways | None:
    """The terms of a product of tensors: the ways to one factor beside those to the other."""
    a, b = (np.arange(1, int(np.prod(s, dtype=np.int64)) + 1).reshape(s) for s in place.sizes())
    if place.name in ("matmul", "strong_matmul"):
        left = a if a.ndim > 1 else a[None, :]
        right = b if b.ndim > 1 else b[:, None]
        terms = [left[..., :, None, :], np.swapaxes(right, -1, -2)[..., None, :, :]]
    elif place.name == "contract":
        first, second, output = (list(place.attributes[name]) for name in ("first", "second", "output"))
        labels = output + [n for n in dict.fromkeys([*first, *second]) if n not in output]
        summed_over = len(labels) - len(output)
        terms = []
        for x, own in ((a, first), (b, second)):
            there = sorted(range(len(own)), key=lambda k: labels.index(own[k]))
            shape = [x.shape[own.index(n)] if n in own else 1 for n in labels]
            view = x.transpose(there).reshape(shape)
            terms.append(np.moveaxis(view, range(len(output)), range(-len(output), 0)) if summed_over else view[None])
        full = np.broadcast_shapes(*(t.shape for t in terms))
        if int(np.prod(full, dtype=np.int64)) > MOST:
            return None
        return [np.broadcast_to(t, full).reshape(-1, *place.shape) for t in terms]
    else:
        k, m = np.arange(place.shape[0])[:, None], np.arange(b.size)
        reached: Any = k - m if place.name == "convolve_full" else k + m
        inside = (reached >= 0) & (reached < a.size)
        first_ways = np.where(inside, reached + 1, 0)
        return [first_ways.T, np.where(inside, m + 1, 0).T]
    full = np.broadcast_shapes(*(t.shape for t in terms))
    if int(np.prod(full, dtype=np.int64)) > MOST:
        return None
    return [np.moveaxis(np.broadcast_to(t, full), -1, 0).reshape(-1, *place.shape) for t in terms]


# --- matrices -------------------------------------------------------------------------------------------------------


def matrices(place: Place, result: Any) -> Ways:
    """Every element of a matrix of a batch of results depends on all of the matrices that it is made of, and a column of
    a solution on one column of the right side."""
    sizes = place.sizes()
    ways: Ways = []
    vector = len(sizes) > 1 and len(sizes[1]) == 1
    core = (1 if vector else 2) if len(sizes) > 1 else len(place.shape) - len(sizes[0]) + 2
    batches = len(place.shape) - core
    for k, size in enumerate(sizes):
        own = len(size) - (1 if k and vector else 2)
        ids = np.arange(1, np.prod(size, dtype=np.int64) + 1).reshape(size)
        if k and not vector:
            found = np.moveaxis(ids, -2, 0)[..., None, :]
        else:
            found = np.moveaxis(ids.reshape(*size[:own], int(np.prod(size[own:], dtype=np.int64))), -1, 0)
            found = found.reshape(-1, *size[:own], *[1] * core)
        ways.append(found.reshape(len(found), *[1] * (batches - own), *found.shape[1:]))
    return ways


def triangle(place: Place, result: Any) -> Ways | None:
    """Substitution: an element of a solution depends on the rows that come before its own, and on its own."""
    found = matrices(place, result)
    before = order_of_rows(place)
    own = np.arange(place.shape[-2])
    a, b = (np.broadcast_to(x, (len(x), *place.shape)).copy() for x in found)
    n = len(own)
    rows, columns = np.divmod(np.arange(n * n), n)
    if place.attributes["adjoint"]:
        rows, columns = columns, rows
    used = before[rows[:, None], own] & before[columns, rows][:, None]
    a *= used.reshape(n * n, *[1] * (len(place.shape) - 2), n, 1)
    b *= before[own[:, None], own].reshape(n, *[1] * (len(place.shape) - 2), n, 1)
    return [a, b]


def order_of_rows(place: Place) -> Truths:
    """Whether the first row is solved for before the second, or is it."""
    n = place.shape[-2]
    i, j = np.arange(n)[:, None], np.arange(n)
    return i <= j if place.attributes["lower"] != bool(place.attributes["adjoint"]) else i >= j


# --- which ways a second derivative joins -----------------------------------------------------------------------------


def joins(place: Place, k: int, other: int, ways: Ids, others: Ids) -> Truths | None:
    """The pairs of ways to two inputs that the second derivative joins, as a table; None for all."""
    if place.name in DISTINCT:
        return ~np.eye(len(ways), dtype=np.bool_)
    if place.name in SOLVING and k and other:
        return np.zeros((len(ways), len(others)), dtype=np.bool_)
    if place.name == "det" and place.sizes()[0][-1] < 4:
        # Of more rows it is found by factors, which have all elements in them.
        rows, columns = places_of(place.sizes()[0][-1])
        apart: Truths = (rows[:, None] != rows) & (columns[:, None] != columns)
        return apart
    if place.name == "triangular_system":
        n = place.sizes()[0][-1]
        rows, columns = places_of(n)
        before = order_of_rows(place)
        if place.attributes["adjoint"]:
            rows, columns = columns, rows
        if other:
            return before[np.arange(n), columns[:, None]]
        return before[rows, columns[:, None]] | before[rows[:, None], columns]
    return None


def places_of(n: int) -> tuple[Ids, Ids]:
    """The rows and the columns of the elements of a square matrix in order."""
    rows, columns = np.divmod(np.arange(n * n), max(n, 1))
    return rows, columns


SOLVING = frozenset(("solve", "triangular_system", "least_squares"))
MATRICES = ("cholesky qr_tall eigh svd_thin cofactor det slogdet inv solve least_squares expm logm sqrtm").split()
# Rows whose ways take no table to find.
SUMS = frozenset("sum mean sum_to index_scatter put_elements index_add put_rows place_rows join_rows fsum".split())
LINES = frozenset("softmax log_softmax logsumexp prod var std euclidean_norm power_norm".split())
SPARSE = SUMS | LINES | frozenset(MATRICES)
WAYS: dict[str, Callable[[Place, Any], Ways | None]] = {
    **dict.fromkeys(SUMS, summed),
    "cumsum_along": running_sum,
    **dict.fromkeys(LINES, whole_line),
    **dict.fromkeys(("cumprod_along", "cumlogsumexp_along"), running),
    **dict.fromkeys(("max", "min"), extremum),
    **dict.fromkeys(("cummax_along", "cummin_along"), running_extremum),
    **dict.fromkeys(("segments_max", "segments_min"), segment_extremum),
    "sort_along": sorted_line,
    "product_of_others": others,
    **dict.fromkeys(("matmul", "strong_matmul", "contract", "convolve_full", "correlate_valid"), products),
    **dict.fromkeys(MATRICES, matrices),
    "triangular_system": triangle,
}
# Rows that are linear once they have chosen.
CHOOSING = frozenset("max min cummax_along cummin_along segments_max segments_min sort_along".split())
# Rows whose second derivative by one and the same element is zero.
DISTINCT = frozenset(("prod", "cumprod_along", "product_of_others"))

__all__ = ["CHOOSING", "Place", "joins", "ways_of"]
