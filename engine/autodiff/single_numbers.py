"""The reverse sweep over float32 numbers, a step of which costs about what one of float64 does."""

from __future__ import annotations

from ..core.following import follows
from ..core.operands import plain
from ..core.single import KIND, meet, number
from ..core.tensor import Tensor
from .collecting import SingleSum
from .pullback import partial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..core.operation import Operation


def pull_single(op: Operation, g: Any, out: Any, a: Any, b: Any, token: Any, adjoints: dict[Any, Any]) -> bool:
    """Pass the cotangent of a float32 number on to the float32 numbers that it was computed from, each step rounded as a
    tensor's would be; False where they are others."""
    float32 = KIND[0] if KIND else meet()
    if g.value.__class__ is not float32:
        return False
    inputs = (a,) if b is None else (a, b)
    found = []
    for k, x in enumerate(inputs):
        if x.__class__ is not Tensor or not (x.on is token or follows(x, token)):
            continue
        if x.value.__class__ is not float32:
            return False
        p = op.partials[k]
        if p.__class__ is not int:
            p = number(partial(op, k, out, inputs, None, g), float32)
            if p is None:
                return False
            found.append((x, g.value * p if g.value != 0 else g.value))
        else:
            found.append((x, g.value if p == 1 else g.value * float32(p)))
    for x, c in found:
        old = adjoints.get(x)
        if old is None:
            adjoints[x] = Tensor(c, x.dtype)
        elif old.__class__ is SingleSum:
            old.total += float(c)
        else:
            adjoints[x] = SingleSum(x.dtype, float(plain(old)) + float(c))
    return True
