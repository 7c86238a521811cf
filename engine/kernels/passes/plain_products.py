"""Speculation on finite results: plain products in a reverse sweep whose caller looks at them, and computes others anew.

A strong product, in which a zero cotangent stays zero beside an infinite partial, differs from a plain one only where the
plain one gives nan. Where results that are nan are left to somebody else, plain products do, and the partials of a
quotient share its division: g * (1/b) is g/b, and g * (-y/b) is -y * (g/b). Nor does a flag of a singular point ask
then whether the cotangent is zero.
"""

from __future__ import annotations

from .. import ir
from ..ir import FLOAT, INT, Stmt, Var
from .dead_code import without_dead_code
from .statements import everything, with_blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Rows that give zero cotangents to sides that are not taken, where an infinite partial may well be.
CHOICES = frozenset(
    "where where_select tf.where minimum maximum fmin fmax clip clip_between relu relu6 xlogy xlog1py xdivy entr".split()
)


def plain_products(kernel: ir.Kernel) -> ir.Kernel:
    """The kernel with plain products, unless it chooses between values that are all computed."""
    known = {s.var: s for s in everything(kernel.body) if s.__class__ is ir.Set}
    if any(s.site is not None and s.site.op is not None and s.site.op.name in CHOICES for s in known.values()):
        return kernel
    return without_dead_code(ir.Kernel(kernel.parameters, rewritten(kernel.body, known, {}), kernel.results))


def rewritten(block: list[Stmt], known: dict[Var, ir.Set], shared: dict[tuple[Var, Var], Var]) -> list[Stmt]:
    """A block with plain products; quotients that a block shares are shared by the blocks inside it."""
    shared = dict(shared)
    found: list[Stmt] = []
    for s in block:
        if s.__class__ is ir.Set and s.op == "strong_multiply":
            found += product(s, known, shared)
            continue
        if s.__class__ is ir.Set and s.op == "multiply" and is_unit(s.args[1], known):
            s = ir.Set(s.var, "copy", s.args[:1], s.site, None)
        if s.__class__ is ir.Accumulate and s.var.kind == INT:
            s = ir.Accumulate(s.var, mask_of(s.value, known))
        found.append(with_blocks(s, lambda inner: rewritten(inner, known, shared)))
    return found


def is_unit(x: Any, known: dict[Var, ir.Set]) -> bool:
    """Whether this keeps a reciprocal from overflowing, which would give what is not finite."""
    return x.__class__ is Var and x in known and known[x].op == "divisor_unit"


def mask_of(flag: Any, known: dict[Var, ir.Set]) -> Any:
    """Where a point is singular, of a flag that says so where a cotangent is not 0."""
    both = known.get(flag) if flag.__class__ is Var else None
    if both is None or both.op != "logical_and" or both.args[1].__class__ is not Var:
        return flag
    weighed = known.get(both.args[1])
    return both.args[0] if weighed is not None and weighed.op == "not_equal" and weighed.args[1] == 0 else flag


def product(s: ir.Set, known: dict[Var, ir.Set], shared: dict[tuple[Var, Var], Var]) -> list[Stmt]:
    """A strong product as a plain one, or as the quotient that it is."""
    g, p = s.args
    partial = known.get(p) if p.__class__ is Var else None
    if partial is None or partial.op != "divide" or g.__class__ is not Var or partial.args[1].__class__ is not Var:
        return [ir.Set(s.var, "multiply", s.args, s.site, None)]
    above, below = partial.args
    found: list[Stmt] = []
    quotient = shared.get((g, below))
    if quotient is None:
        quotient = shared[g, below] = Var(FLOAT)
        found.append(ir.Set(quotient, "divide", (g, below), s.site, None))
    if above.__class__ in (int, float) and above == 1:
        found.append(ir.Set(s.var, "copy", (quotient,), s.site, None))
    else:
        found.append(ir.Set(s.var, "multiply", (above, quotient), s.site, None))
    return found


__all__ = ["plain_products"]
