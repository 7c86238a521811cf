"""Operations that a function's result does not depend on: singular points that they meet are nobody's."""

from __future__ import annotations

from ..core.operands import as_operand
from ..core.state import RECORDERS
from ..core.tensor import Tensor
from .drivers import source, without_notices
from .tape import Tape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .drivers import Function


def idle_places(f: Function, xs: Sequence[Any]) -> set[tuple[int, int]]:
    """Where operations stand, by the first character and the end, none of whose results leads to that of `f`."""
    tape = Tape()
    tensors = [source(x) for x in xs]
    for x in tensors:
        if x.dtype.differentiable:
            tape.watch(x)
    RECORDERS.append(tape)
    try:
        with without_notices():
            y = f(tensors)
    finally:
        RECORDERS.remove(tape)
    needed: set[Any] = {as_operand(y)}
    idle: set[tuple[int, int]] = set()
    busy: set[tuple[int, int]] = set()
    log = tape.log
    for i in range(len(log) - 4, -1, -4):
        site, a, b, out = log[i : i + 4]
        if site.__class__ is str:  # several operations at once
            return set()
        if needed.isdisjoint(out if out.__class__ is tuple else (out,)):
            idle.add((site.start, site.end))
            continue
        busy.add((site.start, site.end))
        needed.update(x for x in (a if a.__class__ is tuple else (a, b)) if x.__class__ is Tensor)
    return idle - busy


__all__ = ["idle_places"]
