"""The derivative of one applied row on symbols: cotangents backwards and tangents forwards, from the row's one rule.

What engine/autodiff/pullback.py does on values. A singular point becomes its chosen value in the code and a flag where it is met.
"""

from __future__ import annotations

from ..autodiff.pullback import FUNCTION, fit, singular_notice, strong_product
from ..core.state import STATE
from ..core.tensor import OPERATORS, shape_of
from ..ops.support import mask_tensor
from .ir import FLOAT, Unsupported, Var
from .symbols import Sym

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..core.operation import Operation, Singular
    from .builder import Builder


def zeros(builder: Builder, shape: tuple[int, ...]) -> Any:
    """Zeros of a shape: 0.0 for a number."""
    if not shape:
        return 0.0
    return builder.sym(builder.emit(OPERATORS["broadcast_to"], (0.0,), {"shape": shape}, [FLOAT], [shape])[0])


def is_zero(x: Any) -> bool:
    return x.__class__ in (float, int) and x == 0


def partial(
    builder: Builder, op: Operation, i: int, y: Any, inputs: tuple[Any, ...], attributes: dict[str, Any], g: Any, forward: bool
) -> Any:  # fmt: skip
    """The partial of `y` by input `i`, singular points resolved by the policy; `g` is the cotangent, or the tangent, that it meets."""
    formula = op.partials[i]
    p = formula(y, *inputs, **attributes) if callable(formula) else formula
    for spot in op.singular:
        if spot.input == i:
            p = resolved(builder, spot, p, inputs, g, forward)
    return p


def resolved(builder: Builder, spot: Singular, p: Any, inputs: tuple[Any, ...], g: Any, forward: bool) -> Any:
    """`p` with the value that is chosen at a singular point."""
    mask = spot.where(*inputs)
    if mask is NotImplemented or (mask.__class__ is not Sym and not getattr(mask, "any", lambda: mask)()):
        return p
    mask = mask_tensor(mask)
    choice = spot.choice(STATE.kinks)
    if forward:
        # A tangent passes through branches that are not taken: only a reverse sweep tells whether the point matters.
        builder.check(OPERATORS["logical_not"](mask))
    else:
        note(builder, spot, choice, mask, inputs, g)
    if choice is None:
        return p
    if callable(choice):
        choice = choice(*inputs)
    if choice.__class__ is float and choice != choice:
        choice = p * choice
    return OPERATORS["where"](mask, choice, p)


def note(builder: Builder, spot: Singular, choice: Any, mask: Any, inputs: tuple[Any, ...], g: Any) -> None:
    """Flag that a derivative is taken at a singular point, where what it meets is not zero."""
    if STATE.quiet or is_zero(g):
        return
    hit = mask if g.__class__ in (float, int) else OPERATORS["logical_and"](mask, OPERATORS["not_equal"](g, 0.0))
    if STATE.kinks == "error":
        builder.check(OPERATORS["logical_not"](hit))
    else:
        builder.flag(singular_notice(spot, choice, inputs), hit)


def pullback(
    builder: Builder, op: Operation, g: Any, y: Any, inputs: tuple[Any, ...], attributes: dict[str, Any], wanted: list[bool]
) -> list[Any]:  # fmt: skip
    """The cotangents of the inputs for the cotangent `g` of `y`; None where it is not wanted, or zero throughout."""
    kind = op.derivative
    if kind == "partials" and op.transpose is None:
        found: list[Any] = []
        for i, x in enumerate(inputs):
            if not wanted[i] or op.partials[i] is None:
                found.append(None)
                continue
            p = partial(builder, op, i, y, inputs, attributes, g, forward=False)
            found.append(fit(strong_product(g, p), x))
        return found
    if kind == "zero":
        for spot in op.singular:
            resolved(builder, spot, 0.0, inputs, g, forward=False)
        return [None] * len(inputs)
    if kind == "missing":
        raise Unsupported(f"the derivative of {op.name}, which is not available", STATE.site)
    rule = op.vjp if kind == "rule" else op.transpose
    assert rule is not None
    result = rule(g, y, *inputs, **attributes)
    if result.__class__ is not tuple:
        result = (result,)
    return [
        fit(c() if c.__class__ is FUNCTION else c, x) if want and c is not None else None
        for c, x, want in zip(result, inputs, wanted)
    ]


def pushforward(
    builder: Builder, op: Operation, y: Any, inputs: tuple[Any, ...], attributes: dict[str, Any], tangents: list[Any]
) -> Any:  # fmt: skip
    """The tangent of `y`, a tuple for a row of several results, for the tangents of the inputs (None: zero). None: zero throughout."""
    kind = op.derivative
    if kind in ("partials", "multilinear"):
        total: Any = None
        for i, t in enumerate(tangents):
            if t is None or (kind == "partials" and op.partials[i] is None):
                continue
            if kind == "partials" and op.transpose is None:
                term = strong_product(t, partial(builder, op, i, y, inputs, attributes, t, forward=True))
            else:
                term = applied(op, (*inputs[:i], t, *inputs[i + 1 :]), attributes)
            total = term if total is None else total + term
        if total is not None and shape_of(total) != shape_of(y):
            total = OPERATORS["broadcast_to"](total, shape=shape_of(y))
        return total
    if kind == "linear":
        moved = [
            x if i < op.skip else zeros(builder, shape_of(x)) if t is None else t
            for i, (x, t) in enumerate(zip(inputs, tangents))
        ]
        return applied(op, tuple(moved), attributes)
    if kind == "zero":
        for t in tangents:
            if t is not None:
                for spot in op.singular:
                    resolved(builder, spot, 0.0, inputs, t, forward=True)
        return None
    if kind == "missing":
        raise Unsupported(f"the derivative of {op.name}, which is not available", STATE.site)
    return transposed(builder, op, y, inputs, attributes, tangents)


def applied(op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    from ..core.dispatch import apply

    return apply(op, inputs, attributes or None)


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
    stops, builder.stops = builder.stops, True
    transposing, STATE.transposing = STATE.transposing, True
    try:
        syms = tuple([builder.sym(seed) for seed in seeds])
        wanted = [t is not None for t in tangents]
        cotangents = pullback(builder, op, syms if several else syms[0], y, inputs, attributes, wanted)
        recorded = builder.block[start:]
        adjoint = Adjoint(builder, varied(recorded, seeds))
        for c, t in zip(cotangents, tangents):
            if c.__class__ is Sym and t is not None:
                adjoint.add(c.var, t)
        adjoint.sweep(recorded)
    finally:
        builder.stops, STATE.transposing = stops, transposing
    found = tuple([adjoint.cotangents.get(seed) for seed in seeds])
    if not several:
        return found[0]
    return tuple([zeros(builder, shape_of(part)) if c is None else c for part, c in zip(outputs, found)])


__all__ = ["is_zero", "pullback", "pushforward", "zeros"]
