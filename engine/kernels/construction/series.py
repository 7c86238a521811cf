"""The kernel of `derivative`: value and the first derivatives of a function of one number, by Taylor mode."""

from __future__ import annotations

from .. import ir
from ..built import Built, Noted
from ..differentiation.adjoint import adjoint
from ..differentiation.taylor import Taylor
from ..ir import FLOAT, Array, Unsupported, Var
from ..outline import statements
from ..passes.dead_code import without_dead_code
from ..symbols.regions import dissolved, for_tangents
from .construct import Lowered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What each order adds grows with its square.
MANY_STATEMENTS = 12_000


def derivative(lowered: Lowered, order: int) -> Built:
    """Value, the derivatives from the first to that of an order, flags."""
    if lowered.shape or lowered.value.__class__ is Array:
        raise Unsupported("the derivative of a tensor")  # the tape words the error
    (source,) = lowered.targets.values()
    if source.__class__ is not Var or lowered.value.__class__ is not Var or lowered.value.kind != FLOAT:
        raise Unsupported("the derivative of what is no number, or by what is none")
    result = lowered.summed()
    kernel, noted = adjoint(
        lowered.kernel, result, [source], watch=lowered.builder.watch, every=True, precision=lowered.precision
    )
    flags = kernel.results[-1:] if noted else []
    if not noted:
        kernel = ir.Kernel(lowered.kernel.parameters, for_tangents(lowered.kernel.body), [])
    found: list[Any] = [lowered.value]
    parameters = kernel.parameters
    body = without_dead_code(ir.Kernel(parameters, kernel.body, [*found, *flags])).body
    last: Taylor | None = None
    for _ in range(order):
        last = Taylor(parameters, body, source, found, last)
        body = last.run(body)
        found.append(last.of(found[-1])[0])
        if statements(body) > MANY_STATEMENTS:
            raise Unsupported("a derivative of this order")
    body = without_dead_code(ir.Kernel(parameters, dissolved(body), [*found, *flags])).body
    # Forward mode of several orders cannot say which singular points take part: the tape does.
    told = [Noted(n.message, n.site, False, n.code) for n in noted]
    return lowered.built(ir.Kernel(parameters, body, [*found, *flags]), told, result)
