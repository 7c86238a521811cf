"""The tangent of a row's result from those of its inputs."""

from __future__ import annotations

from ..core.dispatch import apply
from ..core.dtypes import FLOAT64
from ..core.errors import failure
from ..core.following import follows
from ..core.operands import plain, tensor
from ..core.state import RECORDERS, STATE
from ..core.tensor import OPERATORS, Tensor, is_complex, shape_of
from .pullback import fit, given, note_jumps, partial, strong_product, zeros_like
from .tape import Tape, sweep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..ops.operation import Operation


def pushforward(
    op: Operation, y: Any, inputs: tuple[Any, ...], attributes: dict[str, Any] | None, tangents: list[Any]
) -> Any:
    """The tangent of `y` (a tuple for a row of several results) for the inputs' tangents, None meaning zero."""
    kind = op.derivative
    if kind == "partials" and op.transpose is None:
        total: Any = None
        for i, t in enumerate(tangents):
            if t is None or op.partials[i] is None:
                continue
            p = partial(op, i, y, inputs, attributes, t)
            term = strong_product(t, p)
            note_ambiguity(t, p)
            total = term if total is None else total + term
        if total is not None and shape_of(total) != shape_of(y):
            total = OPERATORS.broadcast_to(total, shape=shape_of(y))
        if is_complex(total) and not is_complex(y):
            total = OPERATORS.real(total)
        return total
    if kind == "linear":
        moved = [
            x if i < op.skip else (zeros_like(x) if t is None else t) for i, (x, t) in enumerate(zip(inputs, tangents))
        ]
        return apply(op, tuple(moved), attributes)
    if kind in ("multilinear", "partials"):
        total = None
        for i, t in enumerate(tangents):
            if t is not None:
                term = apply(op, (*inputs[:i], t, *inputs[i + 1 :]), attributes)
                note_ambiguity(t, inputs[1 - i])
                total = term if total is None else total + term
        return total
    if kind == "zero":
        for t in tangents:
            if t is not None:
                note_jumps(op, inputs, t)
        return tuple(zeros_like(part) for part in y) if y.__class__ is tuple else zeros_like(y)
    if kind == "missing":
        raise failure("E0502", f"the derivative of {op.name} is not available: {op.reason}")
    return transpose_of_rule(op, y, inputs, attributes, tangents)


def note_ambiguity(t: Any, p: Any) -> None:
    """Remember that a zero tangent met an infinite partial: reverse mode decides such cases (see drivers)."""
    value = plain(p)
    if hasattr(value, "as_symbol"):
        return
    if value.__class__ in (int, float):
        if value - value == 0.0:
            return
    else:
        import numpy as np

        if np.isfinite(value).all():
            return
    STATE.ambiguous = True


def transpose_of_rule(
    op: Operation, y: Any, inputs: tuple[Any, ...], attributes: dict[str, Any] | None, tangents: list[Any]
) -> Any:
    """The JVP of a row that has only a VJP: the VJP is linear in its cotangent, and its transpose is the JVP."""
    assert op.vjp is not None
    several = y.__class__ is tuple
    outputs = y if several else (y,)
    tape = Tape()
    seeds = []
    for part in outputs:
        seed = tensor(zeros_like(part))
        if seed.value.__class__ is int:
            seed = Tensor(0.0, FLOAT64)
        seed = Tensor(seed.value, seed.dtype, tape.token)
        seeds.append(seed)
    RECORDERS.append(tape)
    transposing, STATE.transposing = STATE.transposing, True
    try:
        g = tuple(seeds) if several else seeds[0]
        cotangents = op.vjp(g, y, *inputs, **(attributes or {}))
        if cotangents.__class__ is not tuple:
            cotangents = (cotangents,)
        cotangents = tuple(
            None if c is None or t is None else fit(given(c), x) for c, x, t in zip(cotangents, inputs, tangents)
        )
    finally:
        RECORDERS.remove(tape)
        STATE.transposing = transposing
    adjoints: dict[Any, Any] = {}
    for c, t in zip(cotangents, tangents):
        if c is not None and t is not None and follows(c, tape.token):
            adjoints[c] = t if c not in adjoints else adjoints[c] + t
    results = sweep(tape, adjoints, seeds, consume=True)
    found = [results.get(seed) for seed in seeds]
    filled = [zeros_like(part) if r is None else r for part, r in zip(outputs, found)]
    return tuple(filled) if several else filled[0]
