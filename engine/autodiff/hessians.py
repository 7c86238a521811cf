"""Second derivatives of a function of tensors: the Hessian and its products with vectors, over the recorders.

Functions and inputs are as in drivers.py.
"""

from __future__ import annotations

from ..core.following import follows
from ..core.operands import as_operand
from ..core.state import RECORDERS, STATE
from ..core.tensor import OPERATORS, Tensor, conjugate, count, is_complex, shape_of
from .drivers import (
    assemble,
    basis,
    fit_seed,
    scalar_seed,
    several_directions,
    source,
    strip,
    value_and_gradients,
    with_tangents,
    without_notices,
    zeros,
)  # fmt: skip
from .forward import tangent_of
from .tape import Tape, gradient

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .drivers import Function


def hvp(
    f: Function, xs: Sequence[Any], vectors: Sequence[Any], wanted: Sequence[bool] | None = None
) -> tuple[Any, list[Any], list[Any]]:
    """The value, the gradients and the Hessian times a vector, forward over reverse, without forming the Hessian.

    `vectors[i]` is None for a zero block; `wanted` limits the rows of the product. An unconnected block is None.
    """
    outer, STATE.ambiguous = STATE.ambiguous, False
    forward, inputs = with_tangents(xs, vectors, "a vector")
    RECORDERS.append(forward)
    try:
        # The tape must follow the very tensors that carry the tangents.
        tape = Tape(changing=True)
        for i, x in enumerate(inputs):
            if x.dtype.differentiable and (wanted is None or wanted[i]):
                tape.watch(x)
        RECORDERS.append(tape)
        try:
            y = as_operand(f(inputs))
        finally:
            RECORDERS.remove(tape)
        gradients = gradient(tape, [y], [scalar_seed(y, "a Hessian")], [[x] for x in inputs], consume=True)
    finally:
        RECORDERS.remove(forward)
    products = [
        None if g is None else (zeros(shape_of(x)) if (t := tangent_of(g, forward.token)) is None else t)
        for g, x in zip(gradients, inputs)
    ]
    ambiguous, STATE.ambiguous = STATE.ambiguous, outer
    if ambiguous:
        products = reverse_over_reverse(f, xs, vectors, gradients)
    return y, gradients, products


def reverse_over_reverse(f: Function, xs: Sequence[Any], vectors: Sequence[Any], gradients: list[Any]) -> list[Any]:
    """The Hessian times a vector by two tapes: what forward over reverse cannot decide (0 * inf)."""

    def directional(inputs: list[Any]) -> Any:
        _, inner = value_and_gradients(f, inputs)
        total: Any = 0.0
        for g, v, x in zip(inner, vectors, inputs):
            if g is not None and v is not None:
                # Of complex numbers the real part of conj(v)*g counts: what moving along v does to the function.
                term = OPERATORS.strong_multiply(conjugate(fit_seed(v, x, "the vector", "its input")), g)
                total = total + (OPERATORS.sum_to(term, shape=()) if shape_of(term) else term)
        return total

    _, products = value_and_gradients(directional, xs)
    return [None if g is None else (zeros(shape_of(x)) if p is None else p) for g, p, x in zip(gradients, products, xs)]


def recorded_twice(f: Function, xs: Sequence[Any], outer: Tape) -> tuple[Tape, list[Tensor], Any]:
    """Run `f` under a tape for the gradient, which `outer` follows."""
    tensors = [source(x) for x in xs]
    inner = Tape(changing=True)
    for x in tensors:
        if x.dtype.differentiable:
            outer.watch(x)
            inner.watch(x)
    RECORDERS.append(outer)
    RECORDERS.append(inner)
    try:
        y = f(tensors)
    finally:
        RECORDERS.remove(inner)
        RECORDERS.remove(outer)
    return inner, tensors, y


def gradient_on_tape(f: Function, xs: Sequence[Any], outer: Tape) -> tuple[Any, list[Tensor], list[Any]]:
    """The value, the inputs and the gradients of a scalar function, with the gradient itself recorded on `outer`."""
    inner, tensors, y = recorded_twice(f, xs, outer)
    y = as_operand(y)
    seed = scalar_seed(y, "a Hessian")
    RECORDERS.append(outer)
    try:
        with several_directions():
            gradients = gradient(inner, [y], [seed], [[x] for x in tensors], consume=True)
    finally:
        RECORDERS.remove(outer)
    return y, tensors, gradients


def hessian(f: Function, xs: Sequence[Any]) -> tuple[Any, list[Any], list[list[Any]]]:
    """The value, the gradients and every block H[i][j] = d²y / dx_i dx_j of shape x_i.shape + x_j.shape.

    The gradient is recorded once; each row is a sweep back along that tape (sparse.py has a way with fewer). Only blocks
    on and above the diagonal are swept for: the others follow by symmetry. By complex inputs a column is what moving an
    element along the real axis does to the gradient, which has no such symmetry.
    """
    outer = Tape(changing=True)
    y, tensors, gradients = gradient_on_tape(f, xs, outer)
    blocks = blocks_by_row(outer, tensors, gradients)
    return strip(y), [None if g is None else strip(g) for g in gradients], blocks


def blocks_by_row(outer: Tape, tensors: Sequence[Tensor], gradients: Sequence[Any]) -> list[list[Any]]:
    """The blocks of a Hessian from the tape of the gradient.

    A sweep from an element x_k of the gradient gives row k of the Hessian; of a complex one, from its real part, what
    moving x_k along the real axis does to every gradient: column k.
    """
    n = len(tensors)
    by_symmetry = not any(is_complex(x) for x in tensors)
    blocks: list[list[Any]] = [[None] * n for _ in range(n)]
    last = max((i for i, g in enumerate(gradients) if g is not None), default=-1)
    for i, (x, g) in enumerate(zip(tensors, gradients)):
        if g is None:
            continue
        size = count(x.shape)
        rows: list[list[Any]] = []
        for k in range(size):
            consume = i == last and k + 1 == size
            wanted = [[z] for z in (tensors[i:] if by_symmetry else tensors)]
            with without_notices():
                rows.append(gradient(outer, [g], [basis(x, k)], wanted, consume) if follows(g, outer.token) else [])
        first = i if by_symmetry else 0
        for j in range(first, n):
            parts = [row[j - first] if row else None for row in rows]
            block = assemble(parts, x.shape + tensors[j].shape, tensors[j])
            if block is None:
                continue
            if by_symmetry:
                blocks[i][j] = block
            if i != j or not by_symmetry:
                blocks[j][i] = transposed(block, x.shape, tensors[j].shape)
    return blocks


def transposed(block: Any, rows: tuple[int, ...], columns: tuple[int, ...]) -> Any:
    if shape_of(block) == ():
        return block
    flat = OPERATORS.reshape(block, shape=(count(rows), count(columns)))
    return OPERATORS.reshape(OPERATORS.transpose(flat), shape=columns + rows)
