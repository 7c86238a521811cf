"""Activation functions of neural networks."""

from __future__ import annotations

import math

from ..core.errors import failure
from ..core.tensor import OPERATORS
from . import kernel_functions as floats
from .arithmetic import choose, divide, everywhere, greater, where_select
from .exponential import exp, square, tanh
from .operation import Singular, elementwise, rule
from .rounding import absolute
from .support import strong

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Klambauer, Unterthiner, Mayr, Hochreiter: Self-normalizing neural networks (2017), section 2.
SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946


def _corner(name: str, at: float, low: float, high: float, **choices: Any) -> Singular:
    """The kink of a piecewise linear function, with its two slopes; all peers take the slope on the left of it."""
    policies = {**everywhere(0.0), **choices}
    return Singular(
        lambda x: x == at, f"{name} is not differentiable at {at:g}", **policies, subgradients=f"[{low:g}, {high:g}]"
    )


relu = elementwise(
    "relu", "x", [lambda y, x: choose(x > 0, 1.0, 0.0)], scalar=lambda x: x if x > 0 or x != x else x.__class__(0),
    array=lambda np, x: np.maximum(x, 0), dtype="arithmetic", accepts="bif", kernel="_relu({0})", domain=[(0.5, 5)],
    singular=[_corner("relu", 0, 0, 1)], analytic=False, doc="The positive part of x.", example=("relu(-2)", 0),
    formula="where(x > 0, x, 0)",
)  # fmt: skip
relu6 = elementwise(
    "relu6", "x", [lambda y, x: choose(x > 0, choose(x < 6, 1.0, 0.0), 0.0)],
    scalar=lambda x: min(max(x, 0.0), 6.0) if x == x else x, array=lambda np, x: np.minimum(6, np.maximum(0, x)),
    kernel="_clip({0}, 0.0, 6.0)", dtype="float", accepts="bif", domain=[(0.5, 5)],
    singular=[_corner("relu6", 0, 0, 1), _corner("relu6", 6, 0, 1)], analytic=False, doc="x kept between 0 and 6.",
    example=("relu6(8)", 6.0),
)  # fmt: skip
hard_tanh = elementwise(
    "hard_tanh", "x", [lambda y, x: choose(x > -1, choose(x < 1, 1.0, 0.0), 0.0)],
    scalar=lambda x: min(max(x, -1.0), 1.0) if x == x else x, array=lambda np, x: np.minimum(np.maximum(x, -1), 1),
    kernel="_clip({0}, -1.0, 1.0)", dtype="float", accepts="bif", aliases="hardtanh", domain=[(-0.9, 0.9)],
    singular=[_corner("hard_tanh", -1, 0, 1), _corner("hard_tanh", 1, 0, 1)], analytic=False,
    doc="x kept between -1 and 1.", example=("hard_tanh(3)", 1.0),
)  # fmt: skip
hard_sigmoid = elementwise(
    "hard_sigmoid", "x", [lambda y, x: choose(x > -3, choose(x < 3, 1.0 / 6.0, 0.0), 0.0)],
    scalar=lambda x: min(max(x + 3.0, 0.0), 6.0) / 6.0 if x == x else x,
    array=lambda np, x: np.minimum(np.maximum(x + 3, 0), 6) / 6, dtype="float", accepts="bif", aliases="hardsigmoid",
    kernel="(_clip({0} + 3.0, 0.0, 6.0) / 6.0)", domain=[(-2, 2)],
    singular=[_corner("hard_sigmoid", -3, 0, 1 / 6), _corner("hard_sigmoid", 3, 0, 1 / 6)], analytic=False,
    doc="The piecewise linear sigmoid relu6(x + 3)/6.", example=("hard_sigmoid(0)", 0.5), formula="clip(x + 3, 0, 6)/6",
)  # fmt: skip
leaky_relu = elementwise(
    "leaky_relu", "x | alpha=0.2", [lambda y, x, alpha: choose(x > 0, 1.0, alpha)],
    scalar=lambda x, alpha: x if x > 0 else alpha * x,
    array=lambda np, x, alpha: np.where(x > 0, x, alpha * x), kernel="({0} if {0} > 0.0 else {alpha} * {0})", dtype="float",
    accepts="bif", domain=[(0.5, 5)],
    singular=[Singular(lambda x: x == 0, "leaky_relu is not differentiable at 0", subgradients="[alpha, 1]")], analytic=False,
    doc="x where it is positive, else alpha*x (TensorFlow's default slope).", example=("leaky_relu(-2.0)", -0.4),
)  # fmt: skip


def _elu(np: Any, x: Any, alpha: Any) -> Any:
    if alpha.__class__ in (list, tuple):
        raise failure("E0304", "elu: alpha is a number, not a list", "for several: where(x > 0, x, alpha*expm1(x))")
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(0, x)))


elu = elementwise(
    "elu", "x | alpha=1.0", [lambda y, x, alpha: choose(x > 0, 1.0, alpha * exp(choose(x > 0, 0.0, x)))],
    scalar=lambda x, alpha: x if x > 0 and alpha.__class__ not in (list, tuple) else alpha * math.expm1(x), array=_elu,
    dtype="float", accepts="bif", kernel="({0} if {0} > 0.0 else {alpha} * math.expm1({0}))", domain=[(-3, 3)],
    doc="x where it is positive, else alpha*(exp(x) - 1).", example=("elu(2.0)", 2.0),
)  # fmt: skip
selu = elementwise(
    "selu", "x", [lambda y, x: choose(x > 0, SELU_SCALE, SELU_SCALE * SELU_ALPHA * exp(choose(x > 0, 0.0, x)))],
    scalar=lambda x: SELU_SCALE * (x if x > 0 else SELU_ALPHA * math.expm1(x)),
    array=lambda np, x: SELU_SCALE * np.where(x > 0, x, SELU_ALPHA * np.expm1(np.minimum(0, x))), dtype="float", accepts="bif",
    domain=[(0.5, 3)], kernel=f"({SELU_SCALE!r} * ({{0}} if {{0}} > 0.0 else {SELU_ALPHA!r} * math.expm1({{0}})))",
    singular=[
        Singular(
            lambda x: x == 0, "selu is not differentiable at 0", adiff=SELU_SCALE, tensorflow=SELU_SCALE * SELU_ALPHA,
            jax=SELU_SCALE * SELU_ALPHA, torch=SELU_SCALE * SELU_ALPHA, subgradients="[1.0507, 1.7581]",
        )
    ],
    analytic=False, doc="The self-normalising elu, with fixed scale and alpha.",
    example=("selu(0.0)", 0.0),
)  # fmt: skip
softsign = elementwise(
    "softsign", "x", [lambda y, x: square(divide(1.0, 1.0 + absolute(x)))], scalar=lambda x: x / (1.0 + abs(x)),
    array=lambda np, x: x / (1 + np.abs(x)), dtype="float", accepts="bif", kernel="({0} / (1.0 + abs({0})))",
    aliases="soft_sign", domain=[(0.5, 3)], doc="x/(1 + abs(x)).", example=("softsign(1)", 0.5),
)  # fmt: skip


def _tanh_shrink(np: Any, x: Any) -> Any:
    x = np.asarray(x)
    if x.dtype.kind == "c":
        return x - np.tanh(x)
    near = np.abs(x) < 1.0
    small = np.where(near, x, 0.0)
    return np.where(near, floats._shrink_series(small) / np.cosh(small), x - np.tanh(x))


tanh_shrink = elementwise(
    "tanh_shrink", "x", [lambda y, x: tanh(x) * tanh(x)], dtype="float", scalar=floats._tanh_shrink, array=_tanh_shrink,
    kernel="_tanh_shrink({0})", domain=[(-3, 3)], doc="x - tanh(x), without cancellation near 0.",
    example=("tanh_shrink(0.0)", 0.0), formula="x - tanh(x)", replaces="x - tanh(x)",
)  # fmt: skip


# --- softmax --------------------------------------------------------------------------------------------------------


def _total(x: Any, axis: Any) -> Any:
    return OPERATORS.sum(x, axis=axis, keepdims=True)


def _balanced(c: Any, y: Any, axis: Any) -> Any:
    """`c` with the component of the dominant probability taken from the others: they sum to 0.

    Softmax does not move along (1, ..., 1), so its cotangents sum to 0 exactly. The component of a probability
    close to 1 is a difference of almost equal numbers; minus the sum of the others is not. At most one
    probability exceeds a half.
    """
    dominant = greater(y, 0.5)
    others = where_select(dominant, 0.0, c)
    return where_select(dominant, -_total(others, axis), c)


def _softmax(np: Any, x: Any, axis: Any) -> Any:
    if not x.size:
        return x
    weights = np.exp(x - _finite(np, np.max(x, axis=axis, keepdims=True)))
    return weights / np.sum(weights, axis=axis, keepdims=True)


def _finite(np: Any, top: Any) -> Any:
    """The largest element to subtract; where all are -inf there is nothing to subtract."""
    return np.where(np.isfinite(top), top, 0)


def _log_softmax(np: Any, x: Any, axis: Any) -> Any:
    if not x.size:
        return x
    top = np.max(x, axis=axis, keepdims=True)
    shifted = x - _finite(np, top)
    # log of a sum 1 + small: the largest term is 1 and is left to log1p.
    largest = np.argmax(shifted, axis=axis)
    weights = np.exp(shifted)
    np.put_along_axis(weights, np.expand_dims(largest, axis), 0, axis=axis)
    others = np.sum(weights, axis=axis, keepdims=True)
    # Where the largest element is infinite or nan, it is no 1.
    return shifted - np.where(np.isfinite(top), np.log1p(others), np.log(np.exp(top) + others))


def _softmax_pullback(g: Any, y: Any, x: Any, axis: Any) -> Any:
    return _balanced(strong(g - _total(strong(g, y), axis), y), y, axis)


def _log_softmax_pullback(g: Any, y: Any, x: Any, axis: Any) -> Any:
    weights = exp(y)
    return _balanced(g - strong(_total(g, axis), weights), weights, axis)


softmax = rule(
    "softmax", "x | axis=-1", _softmax_pullback, kernel=lambda k, x, axis: k.softmax(x, axis), array=_softmax,
    dtype="float", accepts="bif", depends="lines", doc="exp(x) divided by its sum along an axis, without overflow.",
    example=("softmax([0.0, 0.0])", [0.5, 0.5]),
)  # fmt: skip
log_softmax = rule(
    "log_softmax", "x | axis=-1", _log_softmax_pullback, kernel=lambda k, x, axis: k.log_softmax(x, axis),
    array=_log_softmax, dtype="float", accepts="bif", depends="lines", replaces="log(softmax(x)); log(softmax(x)[i])",
    doc="log(softmax(x)) along an axis, without underflow.", example=("log_softmax([1000.0, 0.0])", [0.0, -1000.0]),
)  # fmt: skip
