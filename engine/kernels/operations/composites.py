"""Composite rows that look at their operands' values, written for symbols."""

from __future__ import annotations

from ...ops.registry import ROWS
from ..ir import BOOL, FLOAT, INT, Unsupported
from ..symbols.arrays import checked_places, lazy, view
from ..symbols.build import Builder
from ..symbols.regions import floats, outcome
from ..symbols.symbol import Lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def root_of_sum_of_squares(builder: Builder, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    """The norm's own statements, which the chain rule goes through: at 0 it finds no derivative, as for the formula."""
    x = floats(builder, lazy(builder, inputs[0]))
    return outcome(builder.arrays.euclidean_norm(x, None, False))


# --- at places that data decides --------------------------------------------------------------------------------------


def of_data(x: Any) -> bool:
    """Whether an operand is an array of integers that is known when the kernel runs."""
    return x.__class__ is Lazy and x.known is None and x.kind == INT


def told(x: Any) -> Any:
    """An array that is known as the tensor that it is."""
    return x.known if x.__class__ is Lazy and x.known is not None else x


def places_of(builder: Builder, vectors: Lazy, shape: tuple[int, ...]) -> tuple[Lazy, ...]:
    """The indices of a tensor of index vectors, one for each of the first axes of `shape`."""
    vectors = builder.settle(vectors)
    depth = vectors.shape[-1] if vectors.shape else 0
    if not 0 < depth <= len(shape):
        raise Unsupported("indices of this kind")

    def column(k: int) -> Lazy:
        places = Lazy(builder, INT, vectors.shape[:-1], lambda at: vectors.element((*at, k)))
        return checked_places(builder, places, shape[k])  # the tape says which is out of range

    return tuple([column(k) for k in range(depth)])


def known_shape(shape: Any) -> tuple[int, ...]:
    """A shape in a list or a number."""
    sizes = tuple(shape) if shape.__class__ in (list, tuple) else (shape,)
    if any(n.__class__ is not int or n < 0 for n in sizes):
        raise Unsupported("a shape of this kind")
    return sizes


def scattered(builder: Builder, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    """scatter_nd: zeros with updates added."""
    vectors, updates, shape = inputs
    if not of_data(vectors):
        return ROWS["scatter_nd"].function(*inputs, **attributes)  # type: ignore[misc]
    sizes, updates = known_shape(shape), lazy(builder, updates)
    if updates.shape != (*vectors.shape[:-1], *sizes[vectors.shape[-1] :]):
        raise Unsupported("updates that do not fit their indices")
    empty = view(builder, updates.kind, sizes, lambda index: 0.0 if updates.kind == FLOAT else 0)
    return builder.arrays.index_update(empty, updates, places_of(builder, vectors, sizes), True)


def scattered_into(name: str, adding: bool, sign: int = 1) -> Any:
    def row(builder: Builder, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
        x, vectors, updates = inputs
        if adding and sign > 0 and lazy(builder, x).kind == BOOL == lazy(builder, updates).kind:
            raise Unsupported(f"{name} of truth values")
        if not of_data(vectors):
            x, updates = (whole(builder, part) if adding else part for part in (x, updates))
            return ROWS[name].function(x, told(vectors), updates, **attributes)  # type: ignore[misc]
        x, updates = lazy(builder, x), lazy(builder, updates)
        if sign < 0:
            updates = builder.apply(ROWS["negative"], (updates,), None)
        places = places_of(builder, vectors, x.shape)
        return builder.arrays.index_update(whole(builder, x) if adding else x, updates, places, adding)

    return row


def whole(builder: Builder, x: Any) -> Any:
    """Truth values as the integers that a sum takes them for."""
    if x.__class__ is not Lazy or x.kind != BOOL:
        return x
    return Lazy(builder, INT, x.shape, lambda index: builder.to_int(x.element(index)))


def segments(name: str, divided: Callable[[Any], Any] | None) -> Any:
    """The sums of segments in any order, over what `divided` makes of how many rows each has."""

    def row(builder: Builder, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
        data, ids, total = inputs
        if not of_data(ids):
            return ROWS[name].function(data, told(ids), total, **attributes)  # type: ignore[misc]
        data, ids = lazy(builder, data), builder.settle(ids)
        (total,) = known_shape(total)
        if data.shape[: len(ids.shape)] != ids.shape or (divided is not None and data.kind != FLOAT):
            raise Unsupported("segments with these numbers")
        # Rows of no segment, and errors, are the tape's.
        builder.arrays.leave_unless(ROWS["greater_equal"](ids, 0))
        places = (checked_places(builder, ids, total),)
        rest = data.shape[len(ids.shape) :]
        empty = view(builder, data.kind, (total, *rest), lambda index: 0.0 if data.kind == FLOAT else 0)
        sums = builder.arrays.index_update(whole(builder, empty), whole(builder, data), places, True)
        if divided is None:
            return sums
        sizes = builder.arrays.zeros((total,))
        builder.arrays.each(ids.shape, lambda at: builder.arrays.add(sizes, (places[0].element(at),), 1.0))
        wide = ROWS["reshape"](divided(ROWS["maximum"](sizes, 1.0)), shape=(total, *(1 for _ in rest)))
        return ROWS["divide"](sums, wide)

    return row


COMPOSITES: dict[str, Callable[[Builder, tuple[Any, ...], dict[str, Any]], Any]] = {
    "root_of_sum_of_squares": root_of_sum_of_squares,
    "scatter_nd": scattered,
    "tensor_scatter_nd_update": scattered_into("tensor_scatter_nd_update", False),
    "tensor_scatter_nd_add": scattered_into("tensor_scatter_nd_add", True),
    "tensor_scatter_nd_sub": scattered_into("tensor_scatter_nd_sub", True, -1),
    "unsorted_segment_sum": segments("unsorted_segment_sum", None),
    "unsorted_segment_mean": segments("unsorted_segment_mean", lambda sizes: sizes),
    "unsorted_segment_sqrt_n": segments("unsorted_segment_sqrt_n", ROWS["sqrt"]),
}
