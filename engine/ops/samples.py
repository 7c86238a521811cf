"""Sums and slopes of sampled data: the sums that skip nan, exact sums, distances, np.gradient, np.polyfit, np.block."""

from __future__ import annotations

import math

from ..core.errors import failure
from ..core.operands import as_operand
from ..core.operation import composite, linear
from ..core.tensor import OPERATORS
from .exponential import hypot
from .joining import concat
from .linalg import solution
from .norms import norm
from .reductions import reduce_sum
from .rounding import isnan
from .structure import broadcast_to, index, stack
from .support import POSITIVE, SQUARE, VECTOR, WIDE, axis_of, cases, floating, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _without_nan(x: Any) -> tuple[Any, Any]:
    """x with 0 for nan, and 1 where it is none."""
    x = floating(x)
    gap = isnan(x)
    return OPERATORS.where(gap, 0.0, x), OPERATORS.where(gap, 0.0, 1.0)


nansum = composite(
    "nansum", "x | axis=None, keepdims=False",
    lambda x, axis=None, keepdims=False: reduce_sum(_without_nan(x)[0], axis=axis, keepdims=keepdims),
    domain=cases(((VECTOR,), {}), ((WIDE,), {"axis": 1})), doc="The sum of the elements that are not nan.",
    example=("nansum([1.0, nan])", 1.0),
)  # fmt: skip


def _nanmean(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    x, there = _without_nan(x)
    return reduce_sum(x, axis=axis, keepdims=keepdims) / reduce_sum(there, axis=axis, keepdims=keepdims)


nanmean = composite(
    "nanmean", "x | axis=None, keepdims=False", _nanmean, domain=cases(((VECTOR,), {}), ((WIDE,), {"axis": 1})),
    doc="The mean of the elements that are not nan.", example=("nanmean([1.0, nan, 2.0])", 1.5),
)  # fmt: skip
fsum = linear(
    "fsum", "x", lambda g, y, x: broadcast_to(g, shape=shape_of(x)), array=lambda np, x: math.fsum(x.ravel().tolist()),
    dtype="float", accepts="bif", domain=cases(((VECTOR,), {})), depends="sums", doc="The sum of the elements, rounded once.",
    example=("fsum([1e16, 1.0, -1e16])", 1.0),
)  # fmt: skip
add_n = composite(
    "add_n", "[inputs]", lambda inputs: _add_all(inputs), domain=cases((((VECTOR, POSITIVE),), {})),
    doc="The sum of tensors of one shape.", example=("add_n([[1, 2], [3, 4]])", [4, 6]),
)  # fmt: skip


def _add_all(inputs: Any) -> Any:
    tensors = [as_operand(x) for x in inputs]
    if not tensors:
        raise failure("E0401", "add_n of nothing")
    if len({shape_of(x) for x in tensors}) > 1:
        raise failure("E0302", "add_n needs tensors of one shape", "'+' broadcasts")
    total = tensors[0]
    for x in tensors[1:]:
        total = OPERATORS.add(total, x)
    return total


dist = composite(
    "dist", "p, q", lambda p, q: norm(floating(p) - floating(q)), domain=cases(((VECTOR, POSITIVE), {})),
    doc="The Euclidean distance of two points.", example=("dist([1.0, 2.0], [4.0, 6.0])", 5.0),
)  # fmt: skip


def _hypot_of(xs: Any) -> Any:
    values = [floating(x) for x in xs]
    return hypot(*values) if len(values) == 2 else norm(stack(values), axis=0)


hypot_of = composite(
    "hypot_of", "*xs", _hypot_of, internal=True, doc="hypot of any number of legs.", example=("hypot_of(2.0, 3.0, 6.0)", 7.0),
)  # fmt: skip
hypot.longer = hypot_of


def _along(x: Any, axis: int, start: int | None, stop: int | None) -> Any:
    return index(x, index=(slice(None),) * axis + (slice(start, stop),))


def _slope(x: Any, spacing: Any, axis: int) -> Any:
    if shape_of(x)[axis] < 2:
        raise failure("E0302", "a slope needs two samples along each axis")
    step = as_operand(spacing)
    if shape_of(step) != ():
        raise failure("E0502", "slopes of samples that are not evenly spaced are not available", "give one spacing")
    inside = (_along(x, axis, 2, None) - _along(x, axis, None, -2)) / (2.0 * step)
    first = (_along(x, axis, 1, 2) - _along(x, axis, 0, 1)) / step
    last = (_along(x, axis, -1, None) - _along(x, axis, -2, -1)) / step
    return concat([first, inside, last], axis=axis)


def _slopes(f: Any, spacing: Any = 1.0, axis: Any = None) -> Any:
    x = floating(f)
    rank = len(shape_of(x))
    axes = list(range(rank)) if axis is None else [axis_of("gradient", axis, rank)]
    found = [_slope(x, spacing, a) for a in axes]
    return found[0] if len(found) == 1 else found


slopes = composite(
    "slopes", "f, spacing=1.0 | axis=None", _slopes, aliases="np.gradient jnp.gradient",
    domain=cases(((VECTOR,), {}), ((VECTOR, 0.5), {}), ((SQUARE,), {"axis": 1})),
    doc="Central differences of samples, one-sided at the ends: np.gradient. One tensor for each axis.",
    example=("slopes([1.0, 2.0, 4.0])", [1.0, 1.5, 2.0]),
)  # fmt: skip


def _polyfit(x: Any, y: Any, deg: Any) -> Any:
    x, y = floating(x), floating(y)
    powers = OPERATORS.constant([float(k) for k in range(deg, -1, -1)])
    columns = OPERATORS.expand_dims(x, axis=-1) ** powers
    # Columns of one size: the powers of large x differ by many orders of magnitude.
    scale = norm(columns, axis=0)
    found = solution(columns / scale, y)
    return found / (scale if len(shape_of(y)) == 1 else OPERATORS.expand_dims(scale, axis=-1))


polyfit = composite(
    "polyfit", "x, y | deg", _polyfit, domain=cases(((POSITIVE, VECTOR), {"deg": 2})),
    doc="The coefficients, highest power first, of the polynomial of a degree that fits samples best.",
    example=("polyfit([0.0, 1.0, 2.0], [1.0, 3.0, 5.0], 1)", [2.0, 1.0]),
)  # fmt: skip


def _block(arrays: Any) -> Any:
    def depth(x: Any) -> int:
        return 1 + max((depth(item) for item in x), default=0) if x.__class__ is list else 0

    def rank(x: Any) -> int:
        return max((rank(item) for item in x), default=0) if x.__class__ is list else len(shape_of(as_operand(x)))

    levels = depth(arrays)
    dimensions = max(levels, rank(arrays))

    def join(x: Any, level: int) -> Any:
        if x.__class__ is not list:
            x = as_operand(x)
            return OPERATORS.reshape(x, shape=(1,) * (dimensions - len(shape_of(x))) + shape_of(x))
        return concat([join(item, level + 1) for item in x], axis=dimensions - levels + level)

    return join(arrays, 0)


block = composite(
    "block", "arrays", _block, doc="A matrix (or tensor) from nested lists of blocks.",
    example=("block([[[[1]], [[2]]]])", [[[[1]], [[2]]]]),
)  # fmt: skip
