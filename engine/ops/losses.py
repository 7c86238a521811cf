"""Losses and clipping as training code has them, in forms that neither overflow nor cancel."""

from __future__ import annotations

from ..core.errors import failure
from ..core.operands import as_operand
from ..core.operation import composite
from ..core.tensor import OPERATORS
from .activations import log_softmax
from .exponential import softplus
from .gathering import take_along_axis
from .norms import norm
from .reductions import reduce_sum
from .support import POSITIVE, VECTOR, WIDE, cases, floating, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _sigmoid_cross_entropy(labels: Any, logits: Any) -> Any:
    z, x = as_operand(labels), floating(logits)
    # -z log(sigmoid(x)) - (1 - z) log(1 - sigmoid(x)), each logarithm in its stable form.
    return z * softplus(-x) + (1 - z) * softplus(x)


sigmoid_cross_entropy_with_logits = composite(
    "sigmoid_cross_entropy_with_logits", "labels, logits", _sigmoid_cross_entropy, domain=cases(((POSITIVE, VECTOR), {})),
    doc="The cross entropy of probabilities `labels` and sigmoid(logits), element by element.",
    example=("sigmoid_cross_entropy_with_logits([1.0, 0.0], [1000.0, -1000.0])", [0.0, 0.0]),
)  # fmt: skip


def _softmax_cross_entropy(labels: Any, logits: Any, axis: Any = -1) -> Any:
    return -reduce_sum(as_operand(labels) * log_softmax(floating(logits), axis=axis), axis=axis)


softmax_cross_entropy_with_logits = composite(
    "softmax_cross_entropy_with_logits", "labels, logits | axis=-1", _softmax_cross_entropy,
    domain=cases(((WIDE, WIDE), {}), ((WIDE, WIDE), {"axis": 0})),
    doc="The cross entropy of the probabilities `labels` and softmax(logits), along an axis.",
    example=("softmax_cross_entropy_with_logits([0.0, 1.0], [0.0, 1000.0])", 0.0),
)  # fmt: skip


def _sparse_softmax_cross_entropy(labels: Any, logits: Any) -> Any:
    chosen, scores = as_operand(labels), log_softmax(floating(logits))
    if shape_of(chosen) != shape_of(scores)[:-1]:
        raise failure(
            "E0302", f"labels of shape {list(shape_of(chosen))} do not fit logits of shape {list(shape_of(scores))}",
            "one label for each row of logits",
        )  # fmt: skip
    column = OPERATORS.reshape(chosen, shape=(*shape_of(chosen), 1))
    return -OPERATORS.squeeze(take_along_axis(scores, column, axis=-1), axis=-1)


sparse_softmax_cross_entropy_with_logits = composite(
    "sparse_softmax_cross_entropy_with_logits", "labels, logits", _sparse_softmax_cross_entropy,
    doc="The cross entropy of softmax(logits) and one class for each row of logits, by number.",
    example=("sparse_softmax_cross_entropy_with_logits([1], [[0.0, 1000.0]])", [0.0]),
)  # fmt: skip


def _clip_by_norm(x: Any, clip_norm: Any, axes: Any = None) -> Any:
    x = floating(x)
    size = norm(x, axis=axes, keepdims=True) if shape_of(x) else OPERATORS.abs(x)
    return OPERATORS.where(size > clip_norm, x * (clip_norm / size), x)


clip_by_norm = composite(
    "clip_by_norm", "x, clip_norm | axes=None", _clip_by_norm,
    domain=cases(((VECTOR, 0.8), {}), ((VECTOR, 20.0), {}), ((WIDE, 0.8), {"axes": 1})),
    doc="x, scaled down to the norm clip_norm where its norm is larger.", example=("clip_by_norm([3.0, 4.0], 1.0)", [0.6, 0.8]),
)  # fmt: skip

l2_loss = composite(
    "l2_loss", "x", lambda x: reduce_sum(floating(x) * floating(x)) / 2.0, domain=cases(((WIDE,), {})),
    doc="Half the sum of the squares.", example=("l2_loss([3.0, 4.0])", 12.5),
)  # fmt: skip


def _moments(x: Any, axes: Any = None, shift: Any = None, keepdims: Any = False) -> Any:
    x = floating(x)
    return OPERATORS.mean(x, axis=axes, keepdims=keepdims), OPERATORS.var(x, axis=axes, keepdims=keepdims)


moments = composite(
    "moments", "x | axes=None, shift=None, keepdims=False", _moments, domain=cases(((WIDE,), {"axes": 0})),
    doc="The mean and the variance along axes.", example=("moments([1.0, 3.0], [0])", (2.0, 1.0)),
)  # fmt: skip
