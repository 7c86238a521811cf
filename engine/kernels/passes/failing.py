"""What may fail though nobody reads it, as in `z = k**50`: a check reads it, so that it is no dead code.

This is for the program's own statements, before they are differentiated: what a sweep repeats has failed or not before.
"""

from __future__ import annotations

from .. import ir
from ..ir import LEAST, MOST, Stmt
from .simplify import after_undoing, live
from .statements import LEAVING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


def keep_failing(kernel: ir.Kernel, results: Iterable[Any]) -> None:
    """Add the checks; `results` are read beside the kernel's own."""
    whole = ir.Kernel(kernel.parameters, kernel.body, [*kernel.results, *results])
    kernel.body[:] = checked(kernel.body, live(whole, False, after_undoing(kernel.body)))


def checked(block: list[Stmt], needed: set[Any]) -> list[Stmt]:
    found: list[Stmt] = []
    for s in block:
        if s.blocks and s.__class__ is not ir.Region:  # the statements of a row are ours
            inside = {name: checked(b, needed) for name in s.blocks if (b := getattr(s, name))}
            if any(b != getattr(s, name) for name, b in inside.items()):
                s = s.replace(**inside)
        found.append(s)
        if s.__class__ is ir.Set and s.op in LEAVING and s.var not in needed:
            found.append(ir.Check(s.var, LEAST, MOST, s.site))
    return found


__all__ = ["keep_failing"]
