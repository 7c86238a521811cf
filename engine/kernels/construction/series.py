"""The kernel of `derivative`: value and the first derivatives of a function of one number, by tangents of tangents."""

from __future__ import annotations

from .. import ir
from ..built import Built, Noted
from ..differentiation.adjoint import adjoint
from ..differentiation.tangent import Tangent
from ..ir import FLOAT, Array, Unsupported, Var
from ..outline import statements
from ..passes.dead_code import without_dead_code
from ..symbols.regions import for_tangents
from ..symbols.symbol import raw
from .construct import Lowered

# Each order has about twice the statements of the one before.
MANY_STATEMENTS = 4_000


def derivative(lowered: Lowered, order: int) -> Built:
    """Value, the derivatives from the first to that of an order, flags."""
    if lowered.shape or lowered.value.__class__ is Array:
        raise Unsupported("the derivative of a tensor")  # the tape words the error
    (source,) = lowered.targets.values()
    if source.__class__ is not Var or lowered.value.__class__ is not Var or lowered.value.kind != FLOAT:
        raise Unsupported("the derivative of what is no number, or by what is none")
    result = lowered.summed()
    kernel, noted = adjoint(lowered.kernel, result, [source], watch=lowered.builder.watch, every=True)
    flags = kernel.results[-1:] if noted else []
    if not noted:
        kernel = ir.Kernel(lowered.kernel.parameters, for_tangents(lowered.kernel.body), [])
    found: list[object] = [lowered.value]
    parameters, body = kernel.parameters, kernel.body
    for _ in range(order):
        tangent = Tangent(ir.Kernel(parameters, body, []), {source: [1.0]}, 1, True)
        body = tangent.run(body)
        slope = tangent.of(found[-1])[0]
        if slope.__class__ is not Var:
            var = Var(FLOAT)
            body.append(ir.Set(var, "copy", (raw(slope),), None, None))
            slope = var
        found.append(slope)
        short = without_dead_code(ir.Kernel(parameters, body, [*found, *flags]))
        body = short.body
        if statements(body) > MANY_STATEMENTS:
            raise Unsupported("a derivative of this order")
    # Forward mode of several orders cannot say which singular points take part: the tape does.
    told = [Noted(n.message, n.site, False, n.code) for n in noted]
    return lowered.built(ir.Kernel(parameters, body, [*found, *flags]), told, result)
