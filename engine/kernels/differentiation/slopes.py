"""Slopes of iterations: where a loop hands on one number, an iteration may find its slope first, and multiply once."""

from __future__ import annotations

import math

from .. import ir
from ..ir import FLOAT, Stmt, Var
from ..passes.statements import read_counts
from .products import CONVERSE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# From so many operations on, one after the other, it is sooner to find an iteration's slope first.
STEEP = 3


class Slopes:
    """Whether iterations may find their slope first (`allowed`), and whether any does (`used`).

    With c the cotangent, (c * p) * q and c * (p * q) differ beyond rounding where a factor or a product is not finite: zero
    times infinity may be in one and not in the other. Such results are computed anew without slopes.
    """

    __slots__ = ("allowed", "used")

    def __init__(self, allowed: bool = True) -> None:
        self.allowed = allowed
        self.used = False


def worth_a_slope(s: ir.Loop, phi: Var) -> bool:
    """Whether an iteration that hands on one number had better find its slope first, and then multiply: only the product
    waits for the iteration after it, and the processor computes the slopes of several iterations at once."""
    depths: dict[Any, int] = {phi: 0}

    def walk(block: list[Stmt]) -> float:
        """How often a block reads the number."""
        uses: float = 0
        for inner in block:
            if inner.__class__ is ir.Set and inner.op in CONVERSE:
                return -math.inf  # the cotangent is rounded on its way
            if inner.__class__ is ir.Set and inner.var.kind == FLOAT:
                uses += inner.args.count(phi)
                before = [depths[a] for a in inner.args if a.__class__ is Var and a in depths]
                if before:
                    depths[inner.var] = max(before) + (inner.op not in ("add", "subtract", "negative", "copy"))
            elif inner.__class__ is ir.If:
                sides = walk(inner.then), walk(inner.orelse)
                uses += max(sides) if min(sides) >= 0 else -math.inf
                for var, a, b in inner.merges:
                    found = [depths[x] for x in (a, b) if x.__class__ is Var and x in depths]
                    if found:
                        depths[var] = max(found)
            elif not isinstance(inner, ir.Set | ir.Load | ir.Check):
                return -math.inf
        return uses

    following = next(f for carried, _, f in s.carried if carried is phi)
    uses = walk(s.body)
    return following in depths and depths[following] + uses - 1 >= STEEP


# Operations whose partials are finite where their operands are, and zero at single points alone; and those whose partials
# may be infinite.
SMOOTH = frozenset("add subtract multiply negative square abs sin cos tanh copy zero to_float".split())
STEEPER = SMOOTH | frozenset("divide reciprocal sqrt exp log sinh cosh".split())


def smooth(block: list[Stmt], operations: frozenset[str], active: Callable[[Any], bool]) -> bool:
    """Whether an iteration is straight code whose derivatives are those of some operations, none of which chooses among its
    operands: of those that are not chosen the cotangents would be zero whatever their values are. In its adjoint zero times
    infinity is seldom met then, and where it is, the result is nan, and computed anew by products in which a zero stays zero."""
    return all(
        s.op in operations or not active(s.var)
        if s.__class__ is ir.Set
        else smooth(s.then, operations, active) and smooth(s.orelse, operations, active)
        if s.__class__ is ir.If
        else isinstance(s, ir.Load | ir.Store | ir.AddTo | ir.Check | ir.Keep | ir.Mark)
        for s in block
    )


# Operations that hand an operand on by a derivative of exactly 1: a difference its first one.
PASSING = frozenset(("add", "subtract", "copy", "unsure"))


def handed_on(body: list[Stmt], phi: Var, following: Any) -> set[Any]:
    """The variables of which each hands `phi` on to `following` by a derivative of exactly 1 beside what else it has of it.

    x + h*f(x) has the slope 1 + h*f'(x), of which the digits of a small h*f'(x) are lost, and the same ones in iteration
    after iteration: with the cotangent g, g + g*(h*f'(x)) keeps them. Empty where a path through the body has no such sum,
    or another statement reads what is on the way.
    """
    reads = read_counts(body)

    def sums(x: Any, block: list[Stmt]) -> set[Any]:
        """Such sums on all paths to x, which a block or a branch in it computes; none where one of the paths has none."""
        for s in block:
            if s.__class__ is ir.Set and s.var is x and s.op in PASSING:
                if phi in s.args:
                    once = s.args.count(phi) == 1 and (s.op != "subtract" or s.args[0] is phi)
                    return {x} if once else set()
                for a in s.args[:1] if s.op == "subtract" else s.args:
                    if reads[a] == 1 and (found := sums(a, block)):
                        return found
            elif s.__class__ is ir.If:
                for var, *sides in s.merges:
                    if var is x:
                        ways = [
                            {x} if y is phi else sums(y, inner) if reads.get(y) == 1 else set()
                            for y, inner in zip(sides, (s.then, s.orelse))
                        ]
                        return ways[0] | ways[1] if all(ways) else set()
        return set()

    return set() if following in reads else sums(following, body)
