"""Norms of vectors and matrices, condition numbers, ranks."""

from __future__ import annotations

import math

from ..core.operands import plain
from ..core.tensor import OPERATORS
from .exponential import hypot
from .operation import Singular, composite, no_tangent, rule
from .reductions import reduced, to_unit
from .structure import stack
from .support import (
    axes_of,
    beside,
    floating,
    found_by_rule,
    mask_tensor,
    meet,
    part_by_part,
    real_of_float,
    some,
    spread,
    strong,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# --- norms of vectors -----------------------------------------------------------------------------------------------


def _euclidean(np: Any, x: Any, axis: Any, keepdims: Any) -> Any:
    axes = axes_of("norm", axis, np.ndim(x))
    squares = x.real**2 + x.imag**2 if x.dtype.kind == "c" else x * x
    total = np.sum(squares, axis=axes, keepdims=bool(keepdims))
    if total.size == 0 or (((total > 1e-280) & (total < 1e300)).all() and x.dtype.itemsize >= 8):
        return np.sqrt(total)
    x, exponent = to_unit(np, x, axes)
    squares = x.real**2 + x.imag**2 if x.dtype.kind == "c" else x * x
    root = np.ldexp(np.sqrt(np.sum(squares, axis=axes, keepdims=True)), exponent)
    return root if keepdims else np.squeeze(root, axis=axes)


def _euclidean_vjp(g: Any, y: Any, x: Any, axis: Any, keepdims: Any) -> Any:
    shape, axes, _ = reduced("norm", x, axis)
    origin = plain(y) == 0
    meet(euclidean_norm, origin, matters=plain(g) != 0)
    safe = spread(OPERATORS.where(mask_tensor(origin), 1.0, y), shape, axes, keepdims)
    direction = part_by_part(lambda part: part / safe, x)
    if some(origin):
        # The choice at 0 is a constant: what the formula says there has no derivative either.
        at_origin = spread(mask_tensor(origin), shape, axes, keepdims)
        direction = OPERATORS.where(at_origin, 0.0, direction)
    return strong(beside(spread(g, shape, axes, keepdims), x), direction)


euclidean_norm = rule(
    "euclidean_norm", "x | axis=None, keepdims=False", _euclidean_vjp,
    kernel=lambda k, x, axis, keepdims: k.euclidean_norm(x, axis, keepdims), array=_euclidean, dtype=real_of_float,
    aliases="reduce_euclidean_norm",
    singular=[
        Singular(lambda x: (x == 0).all(), "norm is not differentiable at 0", adiff=0.0, torch=0.0,
                 subgradients="0 chosen from the unit ball")
    ],
    analytic=False, depends="lines",
    doc="The square root of the sum of squares, without overflow or underflow on the way.",
    example=("euclidean_norm([3.0, 4.0])", 5.0),
)  # fmt: skip


def _power_norm(np: Any, x: Any, p: float, axis: Any, keepdims: Any) -> Any:
    axes = axes_of("norm", axis, np.ndim(x))
    size = np.abs(x)
    largest = np.max(size, axis=axes, keepdims=True, initial=0.0)
    if p < 0:
        largest = np.min(size, axis=axes, keepdims=True, initial=math.inf)
    unit = np.where((largest > 0) & np.isfinite(largest), largest, 1.0)
    total = np.sum((size / unit) ** p, axis=axes, keepdims=True) ** (1.0 / p) * unit
    return total if keepdims else np.squeeze(total, axis=axes)


def _power_norm_vjp(g: Any, y: Any, x: Any, p: float, axis: Any, keepdims: Any) -> Any:
    shape, axes, _ = reduced("norm", x, axis)
    origin = plain(y) == 0
    meet(power_norm, origin, matters=plain(g) != 0)
    safe = spread(OPERATORS.where(mask_tensor(origin), 1.0, y), shape, axes, keepdims)
    share = OPERATORS.abs(x) / safe
    if p < 1:
        # |x|**p has a cusp at 0, where every slope is a subgradient: the sign there, 0, stands for the least.
        cusp = plain(x) == 0
        meet(power_norm, some(cusp & (not origin.all() if hasattr(origin, "all") else not origin)), 1)
        share = OPERATORS.where(mask_tensor(cusp), 1.0, share)
    ratio = OPERATORS.power(share, p - 1)
    g = beside(spread(g, shape, axes, keepdims), x)
    return OPERATORS.strong_multiply(g, OPERATORS.sign(x) * beside(ratio, x))


power_norm = rule(
    "power_norm", "x | p, axis=None, keepdims=False", _power_norm_vjp, array=_power_norm, dtype=real_of_float,
    singular=[
        Singular(lambda x: (x == 0).all(), "norm is not differentiable at 0", adiff=0.0,
                 subgradients="0 chosen from the dual ball"),
        found_by_rule("norm with p below 1 is not differentiable where an element is 0", "0 chosen from all slopes"),
    ],
    internal=True, analytic=False, depends="lines", doc="The p-norm of a vector: (sum |x|**p)**(1/p).",
    example=("power_norm([3.0, 4.0], 2)", 5.0),
)  # fmt: skip


# --- norms by their order --------------------------------------------------------------------------------------------


matrix_rank = no_tangent(
    "matrix_rank", "x | tol=None",
    array=lambda np, x, tol: np.linalg.matrix_rank(x, tol), dtype="int", accepts="bifc",
    doc="The number of singular values above rounding.", example=("matrix_rank([[1.0, 2.0], [2.0, 4.0]])", 1),
    reason="a count",
)  # fmt: skip


def _hypot_of(xs: Any) -> Any:
    values = [floating(x) for x in xs]
    return hypot(*values) if len(values) == 2 else euclidean_norm(stack(values), axis=0)


hypot_of = composite(
    "hypot_of", "*xs", _hypot_of, internal=True, doc="hypot of any number of legs.", example=("hypot_of(2.0, 3.0, 6.0)", 7.0),
)  # fmt: skip
hypot.longer = hypot_of
