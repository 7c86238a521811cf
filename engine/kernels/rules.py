"""The derivative of one applied row on symbols: cotangents backwards and tangents forwards, as on values (autodiff/pullback.py)."""

from __future__ import annotations

from ..autodiff import pullback as on_values
from ..autodiff.pushforward import pushforward as pushforward_of_values
from ..core.state import STATE
from ..core.tensor import shape_of
from .ir import FLOAT, Var
from .symbols import Sym

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..core.operation import Operation
    from .builder import Builder


def zeros(builder: Builder, shape: tuple[int, ...]) -> Any:
    """Zeros of a shape: 0.0 for a number."""
    return builder.full(0.0, shape)


def is_zero(x: Any) -> bool:
    return x.__class__ in (float, int) and x == 0


def pullback(
    op: Operation, g: Any, y: Any, inputs: tuple[Any, ...], attributes: dict[str, Any], wanted: list[bool]
) -> list[Any]:  # fmt: skip
    """The cotangents of the inputs for the cotangent `g` of `y`; None where it is not wanted, or zero throughout."""
    if op.derivative == "zero":
        on_values.note_jumps(op, inputs, g)
        return [None] * len(inputs)
    return on_values.pullback(op, g, y, inputs, attributes, wanted)


def pushforward(
    builder: Builder, op: Operation, y: Any, inputs: tuple[Any, ...], attributes: dict[str, Any], tangents: list[Any]
) -> Any:  # fmt: skip
    """The tangent of `y`, a tuple for a row of several results, for the tangents of the inputs (None: zero). None: zero throughout."""
    stops, builder.stops = builder.stops, True
    try:
        if op.derivative == "rule":
            return transposed(builder, op, y, inputs, attributes, tangents)
        if op.derivative == "zero":
            for t in tangents:
                if t is not None:
                    on_values.note_jumps(op, inputs, t)
            return None
        if op.derivative == "linear":
            tangents = [zeros(builder, shape_of(x)) if t is None else t for x, t in zip(inputs, tangents)]
        return pushforward_of_values(op, y, inputs, attributes, tangents)
    finally:
        builder.stops = stops


def transposed(
    builder: Builder, op: Operation, y: Any, inputs: tuple[Any, ...], attributes: dict[str, Any], tangents: list[Any]
) -> Any:  # fmt: skip
    """The JVP of a row that has only a VJP. The VJP is linear in its cotangent, and its transpose is the JVP.

    The statements of the VJP are appended with a cotangent that nothing defines. What depends on it is dead afterwards, since its
    own adjoint reads the coefficients alone.
    """
    from .adjoint import Adjoint
    from .paths import varied

    several = y.__class__ is tuple
    outputs = y if several else (y,)
    seeds = tuple([Var(FLOAT, shape_of(part), "cotangent") for part in outputs])
    start = len(builder.block)
    transposing, STATE.transposing = STATE.transposing, True
    try:
        syms = tuple([builder.sym(seed) for seed in seeds])
        wanted = [t is not None for t in tangents]
        cotangents = pullback(op, syms if several else syms[0], y, inputs, attributes, wanted)
        recorded = builder.block[start:]
        adjoint = Adjoint(builder, varied(recorded, seeds))
        for c, t in zip(cotangents, tangents):
            if c.__class__ is Sym and t is not None:
                adjoint.add(c.var, t)
        adjoint.sweep(recorded)
    finally:
        STATE.transposing = transposing
    found = tuple([adjoint.cotangents.get(seed) for seed in seeds])
    if not several:
        return found[0]
    return tuple([zeros(builder, shape_of(part)) if c is None else c for part, c in zip(outputs, found)])
