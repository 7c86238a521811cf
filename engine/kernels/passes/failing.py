"""Failures as effects: what may fail though nobody reads it, as in `z = k**50`, is read by a check, so that it is no dead code.

This is for the program's own statements, before they are differentiated: what a sweep repeats has failed or not before.
"""

from __future__ import annotations

from .. import ir
from ..ir import LEAST, MOST, Stmt
from .dead_code import after_undoing, live
from .statements import LEAVING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


# Where one of these leaves the kernel, a bare integer, which has any number of digits, goes on.
GROWING = frozenset("int_add int_subtract int_multiply int_power int_comb".split())
DIVIDING = frozenset("int_floor_divide int_mod int_fmod".split())


def keep_failing(kernel: ir.Kernel, results: Iterable[Any], strong: set[Any]) -> None:
    """Add the checks; `results` are read beside the kernel's own, and `strong` are the integers with a dtype of their own."""
    whole = ir.Kernel(kernel.parameters, kernel.body, [*kernel.results, *results])
    kernel.body[:] = checked(kernel.body, live(whole, False, after_undoing(kernel.body)), strong)


def may_fail(s: ir.Set, strong: set[Any]) -> bool:
    """Whether the tape has an error where this statement leaves the kernel, as far as is known."""
    if s.op in DIVIDING and s.args[1].__class__ is int and s.args[1]:
        return s.var in strong
    return s.op in LEAVING and (s.op not in GROWING or s.var in strong)


def checked(block: list[Stmt], needed: set[Any], strong: set[Any]) -> list[Stmt]:
    found: list[Stmt] = []
    for s in block:
        if s.blocks and s.__class__ is not ir.Region:  # the statements of a row are ours
            inside = {name: checked(b, needed, strong) for name in s.blocks if (b := getattr(s, name))}
            if any(b != getattr(s, name) for name, b in inside.items()):
                s = s.replace(**inside)
        found.append(s)
        if s.__class__ is ir.Set and s.var not in needed and may_fail(s, strong):
            found.append(ir.Check(s.var, LEAST, MOST, s.site))
    return found


__all__ = ["keep_failing"]
