"""Scans: sums, products and extrema of the elements so far, and the linear recurrence that their derivatives are.

The derivative of a running product in factor k is the product before it times a sum that obeys
s[k] = g[k] + x[k+1] * s[k+1]: a linear recurrence, whose own derivative is one again. So no scan here divides, and
zeros and factors of 1e300 are exact at every order.
"""

from __future__ import annotations

import math

from ..core.errors import failure
from ..core.operands import plain
from ..core.tensor import OPERATORS
from .arithmetic import PRODUCTS, power_bound
from .joining import concat
from .operation import Operation, linear, rule, zero
from .shapes import flip
from .structure import index
from .support import (
    conjugate,
    found_by_rule,
    from_front,
    meet,
    shape_of,
    strong,
    strong_terms,
    to_front,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


# --- the two linear ones --------------------------------------------------------------------------------------------


def _shifted(np: Any, x: Any, step: int) -> Any:
    out = np.zeros_like(x)
    if step > 0:
        out[step:] = x[:-step]
    else:
        out[:step] = x[-step:]
    return out


shifted: Operation = linear(
    "shifted", "x | step", lambda g, y, x, step: shifted(g, step=-step), array=_shifted, dtype="first",
    kernel=lambda k, x, step: k.shifted(x, step), internal=True, depends="sums",
    doc="x moved on along axis 0, with zeros coming in.", example=("shifted([1, 2, 3], 1)", [0, 1, 2]),
)  # fmt: skip


def _linear_recurrence(np: Any, a: Any, b: Any, reverse: bool, strong: bool = False) -> Any:
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or not a.ndim:
        raise failure(
            "E0302", f"linear_recurrence needs two tensors of one shape, not {list(a.shape)} and {list(b.shape)}"
        )
    if reverse:
        a, b = a[::-1], b[::-1]
    out = _states(np, a, b)
    if strong and np.isnan(out).any():
        times = PRODUCTS["a"]
        out = np.array(b)
        for k in range(1, len(out)):
            out[k] += times(np, out[k - 1], a[k])
    return out[::-1] if reverse else out


def _states(np: Any, a: Any, b: Any) -> Any:
    """The states of a recurrence from the front, one after the other."""
    if a.ndim == 1:  # Python's floats are faster than NumPy's one at a time
        state: Any = 0.0
        line = []
        for k, (factor, term) in enumerate(zip(a.tolist(), b.tolist())):
            state = factor * state + term if k else term
            line.append(state)
        return np.array(line, dtype=a.dtype)
    out = np.array(b)
    for k in range(1, len(out)):
        out[k] += a[k] * out[k - 1]
    return out


def _linear_recurrence_vjp(g: Any, y: Any, a: Any, b: Any, reverse: bool, strong: bool = False) -> tuple[Any, Any]:
    back = 1 if reverse else -1
    s = linear_recurrence(shifted(conjugate(a), step=back), g, reverse=not reverse, strong=True)
    return strong_terms(s, conjugate(shifted(y, step=-back)), strong), s


linear_recurrence: Operation = rule(
    "linear_recurrence", "a, b | reverse=False, strong=False", _linear_recurrence_vjp, code="scan",
    array=_linear_recurrence, dtype="promote", accepts="ifc", internal=True, depends="lines",
    doc="Along axis 0: s[0] = b[0], s[k] = a[k]*s[k-1] + b[k]; from the other end if reverse. If strong, b and s are "
    "cotangents, whose zeros stay zero beside inf or nan.",
    example=("linear_recurrence([0, 2, 3], [1, 1, 1])", [1, 3, 10]),
)  # fmt: skip


def _cumsum(np: Any, x: Any, axis: int, exclusive: bool, reverse: bool) -> Any:
    if reverse:
        x = np.flip(x, axis)
    total = np.cumsum(x, axis=axis)
    if exclusive:
        inside = [slice(None)] * x.ndim
        inside[axis] = slice(0, -1)
        before = [slice(None)] * x.ndim
        before[axis] = slice(1, None)
        moved = np.zeros_like(total)
        moved[tuple(before)] = total[tuple(inside)]
        total = moved
    return np.flip(total, axis) if reverse else total


cumsum_along: Operation = linear(
    "cumsum_along", "x | axis, exclusive, reverse",
    lambda g, y, x, axis, exclusive, reverse: cumsum_along(g, axis=axis, exclusive=exclusive, reverse=not reverse),
    code="scan", array=_cumsum, dtype="total", internal=True, largest=lambda sizes, n: sizes[0] * n, depends="lines",
    doc="The running sum along an axis counted from the front: what cumsum is made of.",
    example=("cumsum_along([1, 2, 3], 0, True, False)", [0, 1, 3]),
)  # fmt: skip


# --- running products -----------------------------------------------------------------------------------------------


def _cumprod_vjp(g: Any, y: Any, x: Any, axis: int) -> Any:
    shape = shape_of(x)
    lines, g = to_front(conjugate(x), (axis,)), to_front(g, (axis,))
    s = linear_recurrence(shifted(lines, step=-1), g, reverse=True, strong=True)
    return from_front(strong(s, exclusive_product(lines)), (axis,), shape)


def exclusive_product(lines: Any, reverse: bool = False) -> Any:
    """The products of the elements before each one along axis 0, or after each if reverse."""
    if reverse:
        return flip(exclusive_product(flip(lines, axis=0)), axis=0)
    ones = OPERATORS.ones_like(index(lines, index=slice(0, 1)))
    return cumprod_along(concat([ones, index(lines, index=slice(0, -1))]), axis=0)


cumprod_along = rule(
    "cumprod_along", "x | axis", _cumprod_vjp, code="scan", array=lambda np, x, axis: np.cumprod(x, axis=axis),
    dtype="total", internal=True, largest=lambda sizes, n: power_bound(sizes[0], n), depends="lines",
    doc="The running product along an axis counted from the front: what cumprod is made of.",
    example=("cumprod_along([1, 2, 3], 0)", [1, 2, 6]),
)  # fmt: skip


# --- running extrema ------------------------------------------------------------------------------------------------


def _running_ties(np: Any, x: Any, y: Any, axis: int) -> Any:
    values, tops = np.moveaxis(x, axis, 0), np.moveaxis(y, axis, 0)
    ties = np.ones(values.shape)
    for k in range(1, len(ties)):
        ties[k] = np.where(tops[k] == tops[k - 1], ties[k - 1] + (values[k] == tops[k]), 1)
    return np.moveaxis(ties, 0, axis)


running_ties = zero(
    "running_ties", "x, y | axis", array=_running_ties, dtype="float", accepts="bif",
    internal=True,
    doc="How many elements so far equal the running extremum y of x.",
    example=("running_ties([1.0, 1.0, 2.0], [1.0, 1.0, 2.0], 0)", [1.0, 2.0, 1.0]),
)  # fmt: skip


def _running_extremum(name: str, ufunc: str, word: str, example: list[int]) -> Operation:
    def vjp(g: Any, y: Any, x: Any, axis: int) -> Any:
        # Within a run of one extremum, the places that equal it so far share each cotangent equally.
        where, equal = OPERATORS.where, OPERATORS.equal
        values, tops = (to_front(OPERATORS.stop_gradient(x), (axis,)), to_front(OPERATORS.stop_gradient(y), (axis,)))
        goes_on = where(equal(index(tops, index=slice(1, None)), index(tops, index=slice(0, -1))), 1.0, 0.0)
        same_run = concat([goes_on, index(tops, index=slice(0, 1)) * 0.0])
        lines = to_front(g, (axis,))
        ties = running_ties(values, tops, axis=0)
        meet(along, plain(ties) > 1, matters=plain(lines) != 0)
        shared = linear_recurrence(same_run, lines / ties, reverse=True)
        return from_front(where(equal(values, tops), shared, 0.0), (axis,), shape_of(x))

    along = rule(
        f"{name}_along", "x | axis", vjp, internal=True, analytic=False,
        array=lambda np, x, axis: getattr(np, ufunc).accumulate(x, axis=axis), dtype="first", accepts="bif",
        singular=[
            found_by_rule(
                f"{name} is not differentiable where several elements are the {word} so far",
                "they share the cotangent equally"
            )
        ],
        depends="lines", doc=f"The {word} elements so far along an axis counted from the front: what {name} is made of.",
        example=(f"{name}_along([2, 1, 3], 0)", example),
    )  # fmt: skip

    return along


cummax_along = _running_extremum("cummax", "maximum", "largest", [2, 2, 3])
cummin_along = _running_extremum("cummin", "minimum", "smallest", [2, 1, 1])


# --- running log-sum-exp --------------------------------------------------------------------------------------------


def _cumlogsumexp_vjp(g: Any, y: Any, x: Any, axis: int) -> Any:
    # The sum over i >= k of g[i] exp(x[k] - y[i]) is exp(x[k] - y[k]) s[k] with
    # s[k] = g[k] + exp(y[k] - y[k+1]) s[k+1]; y never falls, so no factor exceeds 1.
    shape = shape_of(x)
    x, y, g = to_front(x, (axis,)), to_front(y, (axis,)), to_front(g, (axis,))
    last = shape[axis]
    safe = OPERATORS.where(OPERATORS.equal(y, -math.inf), 0.0, y)
    step = OPERATORS.exp(index(safe, index=slice(0, last - 1)) - index(safe, index=slice(1, last)))
    ratio = concat([step, OPERATORS.zeros_like(index(y, index=slice(0, 1)))])
    s = linear_recurrence(ratio, g, reverse=True, strong=True)
    return from_front(strong(s, OPERATORS.exp(x - safe)), (axis,), shape)


cumlogsumexp_along = rule(
    "cumlogsumexp_along", "x | axis", _cumlogsumexp_vjp, array=lambda np, x, axis: np.logaddexp.accumulate(x, axis=axis),
    dtype="float", accepts="bif", internal=True, depends="lines",
    doc="The running log-sum-exp along an axis counted from the front: what cumlogsumexp is made of.",
    example=("cumlogsumexp_along([0.0, 0.0], 0)", [0.0, math.log(2)]),
)  # fmt: skip
