"""`tf.autodiff.ForwardAccumulator`: the product of a Jacobian and a tangent, for what a block computes."""

from __future__ import annotations

from ..core.errors import failure
from ..core.operands import as_operand
from .structure import flatten, rebuild
from .tapes import GradientTape, wants_zero, zeros_for
from .values import Context

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class ForwardAccumulator(Context):
    """A tape keeps the block. A reverse sweep is linear in its cotangent u, so that J t is the gradient of <u J, t> in u."""

    __slots__ = ("primals", "tangents", "tape")
    description = "a ForwardAccumulator"

    def __init__(self, primals: Any, tangents: Any) -> None:
        self.tape = GradientTape(persistent=True, watch_accessed_variables=False)
        self.tangents = flatten(tangents if primals.__class__ in (list, tuple, dict) else [as_operand(tangents)])
        self.primals = flatten(self.tape.watch(primals))
        if len(self.primals) != len(self.tangents):
            raise failure("E0506", f"{len(self.primals)} primals need as many tangents, not {len(self.tangents)}")

    def enter(self) -> ForwardAccumulator:
        self.tape.enter()
        return self

    def leave(self) -> None:
        self.tape.leave()

    def method_jvp(self, primals: Any, unconnected_gradients: Any = "none") -> Any:
        """The tangent of a value that the block computed, or of each in a structure."""
        found = [self.tangent(y, wants_zero(unconnected_gradients)) for y in flatten(primals)]
        return rebuild(primals, found)

    def tangent(self, y: Any, zero: bool) -> Any:
        sweep = GradientTape()
        sweep.enter()
        u = sweep.watch(zeros_for(as_operand(y)))
        rows = self.tape.method_gradient(y, self.primals, output_gradients=u)
        sweep.leave()
        linked = [(g, t) for g, t in zip(rows, self.tangents) if g is not None]
        if not linked:
            return zeros_for(as_operand(y)) if zero else None
        return sweep.method_gradient([g for g, t in linked], u, output_gradients=[t for g, t in linked])
