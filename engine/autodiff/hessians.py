"""Second derivatives of a function of tensors: the Hessian, its trace and its products with vectors, over the recorders.

Functions and inputs are as in drivers.py.
"""

from __future__ import annotations

from ..core.following import follows
from ..core.operands import as_operand, plain
from ..core.state import STATE
from ..core.tensor import Tensor, count, is_complex, shape_of
from . import drivers
from .forward import tangent_of
from .tape import Tape, gradient

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .drivers import Function
    from .forward import Forward
    from .sparse import SparseHessian


def gradients_under(recorder: Tape | Forward, f: Function, inputs: list[Any]) -> tuple[Any, list[Any]]:
    """The value and the gradients of a scalar function, both of which a recorder around them follows."""

    def scalar(xs: list[Any]) -> Any:
        y = as_operand(f(xs))
        drivers.require_scalar(y, "a Hessian")
        return y

    with drivers.raised("several"):
        found: tuple[Any, list[Any]] = drivers.under(
            recorder, lambda xs: drivers.value_and_gradients(scalar, xs), inputs
        )
    return found


def hvp(f: Function, xs: Sequence[Any], vectors: Sequence[Any]) -> tuple[Any, list[Any], list[Any]]:
    """The value, the gradients and the Hessian times a vector, forward over reverse, without forming the Hessian.

    `vectors[i]` is None for a zero block. An unconnected block is None.
    """
    outer, STATE.ambiguous = STATE.ambiguous, False
    forward, inputs = drivers.with_tangents(xs, vectors, "a vector")
    y, gradients = gradients_under(forward, f, inputs)
    products = [None if g is None else tangent_of(g, forward.token) for g in gradients]
    ambiguous, STATE.ambiguous = STATE.ambiguous, outer
    if ambiguous:
        # What forward over reverse cannot decide (0 * inf), two tapes do.
        _, products = drivers.value_and_gradients(lambda inputs: drivers.reverse_product(f, inputs, vectors), xs)
    found = [drivers.zeros(shape_of(x)) if p is None else p for p, x in zip(products, inputs)]
    return y, gradients, [None if g is None else p for g, p in zip(gradients, found)]


def gradient_on_tape(
    f: Function, xs: Sequence[Any], look: bool = False
) -> tuple[Tape, Any, list[Tensor], list[Any], SparseHessian | None]:
    """A tape with the gradient of a scalar function on it, the value, the inputs, the gradients, and where it is to `look`
    for zeros that are known beforehand and has found many, the Hessian."""
    outer = Tape(changing=True)
    tensors = [drivers.source(x) for x in xs]
    for x in tensors:
        if x.dtype.differentiable:
            outer.watch(x)
    y, gradients = gradients_under(outer, f, tensors)
    found = None
    if look:
        from .sparse import by_pattern

        found = by_pattern(outer, tensors, gradients)
    return outer, y, tensors, gradients, found


def hessian(f: Function, xs: Sequence[Any], look: bool = False) -> tuple[Any, list[Any], list[list[Any]]]:
    """The value, the gradients and every block H[i][j] = d²y / dx_i dx_j of shape x_i.shape + x_j.shape.

    The gradient is recorded once; each row is a sweep back along that tape. With `look` there are fewer sweeps where the
    Hessian has zeros that are known beforehand.
    """
    outer, y, tensors, gradients, found = gradient_on_tape(f, xs, look)
    blocks = blocks_by_row(outer, tensors, gradients) if found is None else found.filled(gradients)
    return y, gradients, blocks


def laplacian(f: Function, xs: Sequence[Any], look: bool) -> tuple[Any, list[Any], float]:
    """The value, the gradients and the trace of the Hessian, in the memory of its rows."""
    outer, y, tensors, gradients, found = gradient_on_tape(f, xs, look)
    trace = 0.0 if found is None else found.trace()
    for x, g in zip(tensors, gradients) if found is None else ():
        for k in range(count(x.shape) if g is not None and follows(g, outer.token) else 0):
            with drivers.raised("quiet"):
                (row,) = gradient(outer, [g], [drivers.basis(x, k)], [[x]], consume=False)
            if row is not None:
                trace += float(plain(row).reshape(-1)[k] if x.shape else plain(row))
    return y, gradients, trace


def blocks_by_row(outer: Tape, tensors: Sequence[Tensor], gradients: Sequence[Any]) -> list[list[Any]]:
    """The blocks of a Hessian from the tape of the gradient.

    A sweep from an element x_k of the gradient gives row k of the Hessian, of which blocks below the diagonal follow by
    symmetry; of a complex one, from its real part, what moving x_k along the real axis does to every gradient: column k.
    """
    real = not any(is_complex(x) for x in tensors)
    blocks: list[list[Any]] = [[None] * len(tensors) for _ in tensors]
    for i, (x, g) in enumerate(zip(tensors, gradients)):
        if g is None:
            continue
        first = i if real else 0
        with drivers.raised("quiet"):
            row = drivers.reverse_jacobian(outer, tensors[first:], g)
        for j, block in enumerate(row, first):
            if block is not None:
                blocks[j][i] = drivers.transposed(block, x.shape, tensors[j].shape)
                if real:
                    blocks[i][j] = block
    return blocks
