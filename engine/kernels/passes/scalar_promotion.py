"""Scalar promotion of sums: what a loop adds to one element of an array it collects in a variable, and adds once behind it.

The compiler behind cannot do this by itself, for it does not know that two arrays are never the same memory (Cooper and
Lu, Register promotion in C programs, PLDI 1997).
"""

from __future__ import annotations

from .. import ir
from ..ir import FLOAT, Array, Stmt, Var
from .statements import changes, otherwise_touched, with_blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def sums_promoted(kernel: ir.Kernel) -> ir.Kernel:
    """The same kernel with such sums in variables."""
    return ir.Kernel(kernel.parameters, gathered(kernel.body), kernel.results)


def gathered(block: list[Stmt]) -> list[Stmt]:
    found: list[Stmt] = []
    for s in block:
        s = with_blocks(s, gathered)
        if isinstance(s, ir.Loop | ir.ReverseLoop):
            found.extend(taken_out(s))
        else:
            found.append(s)
    return found


def taken_out(s: Any) -> list[Stmt]:
    """A loop with what it adds to fixed elements taken out of it."""
    candidates = [inner for inner in s.body if inner.__class__ is ir.AddTo]
    if not candidates:
        return [s]
    inside = changes(s) | {s.index, s.trips, getattr(s, "position", None)}
    other = otherwise_touched(s.body)
    sums: dict[tuple[Array, Any], Var] = {}
    body: list[Stmt] = []
    for inner in s.body:
        if inner.__class__ is ir.AddTo and inner.array not in other and inner.index not in inside:
            total = sums.setdefault((inner.array, inner.index), Var(inner.array.kind, "b"))
            inner = ir.Accumulate(total, inner.value)
        body.append(inner)
    if not sums:
        return [s]
    made = s.replace(body=body) if s.__class__ is ir.Loop else with_blocks(s, lambda _: body)
    found: list[Stmt] = []
    for total in sums.values():
        op, args = ("zero", ()) if total.kind == FLOAT else ("copy", (0,))
        found.append(ir.Set(total, op, args, None, None))
    found.append(made)
    for (array, index), total in sums.items():
        # A loop without an iteration says nothing about its places.
        met = Var(ir.BOOL)
        found.append(ir.Set(met, "not_equal", (total, 0.0 if total.kind == FLOAT else 0), None, None))
        found.append(ir.If(met, [ir.AddTo(array, index, total)], [], []))
    return found
