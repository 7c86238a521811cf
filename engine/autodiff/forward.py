"""Forward mode: an accumulator that pushes tangents along with every operation.

The tangent travels on its tensor (`Dual`), so it is freed with it. The operations that compute a tangent are seen
by the recorders outside this one only, which is what makes nesting exact to any order.
"""

from __future__ import annotations

from ..core.following import add_mark, follows
from ..core.operands import tensor
from ..core.state import RECORDERS
from ..core.tensor import Dual, Tensor, Token
from .pushforward import pushforward

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..ops.operation import Operation


def tangent_of(x: Any, token: Token) -> Any:
    """The tangent that `x` carries for an accumulator, or None."""
    if x.__class__ is not Tensor or x.on is None:
        return None
    for entry in x.on if x.on.__class__ is tuple else (x.on,):
        if entry.token is token:
            return entry.tangent
    return None


class Forward:
    """A recorder for forward mode. It is active while it is in `RECORDERS`."""

    __slots__ = ("log", "token")

    def __init__(self) -> None:
        self.token = Token()
        self.log = None  # accumulators keep no log; the fast paths ask

    def watch(self, x: Tensor, tangent: Any) -> None:
        add_mark(x, Dual(self.token, tangent))

    def broken(self, site: Any, inputs: Any, reason: str) -> None:
        """Where paths end is not kept."""

    def record(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None, out: Any) -> Any:
        if (
            op.derivative == "none"
            or out.__class__ is bool
            or (out.__class__ is Tensor and not out.dtype.differentiable)
        ):
            return out
        saved = RECORDERS.copy()
        del RECORDERS[saved.index(self) :]
        try:
            tangents = [tangent_of(x, self.token) for x in inputs]
            tangent = pushforward(op, out, inputs, attributes, tangents)
        finally:
            RECORDERS[:] = saved
        if tangent is None:
            return out
        if out.__class__ is tuple:
            out = tuple(tensor(part) for part in out)
            for part, t in zip(out, tangent):
                add_mark(part, Dual(self.token, t))
            return out
        out = tensor(out)
        add_mark(out, Dual(self.token, tangent))
        return out


__all__ = ["Forward", "follows", "tangent_of"]
