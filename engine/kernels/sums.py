"""Which values that a loop carries are sums: a phi to which every iteration adds, and that is read for nothing else.

The cotangent of a sum is the same in every iteration, so that its reverse sweep may go through the iterations in any order.
"""

from __future__ import annotations

from collections import Counter

from .ir import Apply, If, Loop, Var, defined, ends, operands, walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .ir import Block, Stmt


class Chains:
    """Which carried values are sums. `uses` counts how often each variable of a block is read, `made` has the statements that
    define them."""

    def __init__(self, block: Block) -> None:
        self.made: dict[Var, Stmt] = {}
        self.uses: Counter[Var] = Counter()
        for stmt in walk(block):
            self.made.update((x, stmt) for x in defined(stmt))
            self.uses.update(operands(stmt))
            self.uses.update(ends(stmt))

    def adds(self, x: Any, phi: Var) -> bool:
        """Whether a value is a phi with something added to it, and the phi, and what lies between, are read for that alone."""
        if x is phi:
            return self.uses[phi] == 1
        if x.__class__ is not Var or self.uses[x] != 1 or x.shape != phi.shape:
            return False
        made: Any = self.made.get(x)
        if made.__class__ is Apply:
            if made.row.name == "index_add":
                return self.adds(made.inputs[0], phi)
            return made.row.name == "add" and any(self.adds(part, phi) for part in made.inputs)
        if made.__class__ is Loop:
            inner, first, after = next((p, a, b) for p, a, b, out in made.carried if out is x)
            return self.adds(first, phi) and self.adds(after, inner)
        if made.__class__ is If:
            then, orelse = next((a, b) for out, a, b in made.outs if out is x)
            return self.uses[phi] == 2 and self.adds_in(then, phi) and self.adds_in(orelse, phi)
        return False

    def adds_in(self, x: Any, phi: Var) -> bool:
        """`adds` inside one of two branches that both read the phi."""
        self.uses[phi] -= 1
        try:
            return self.adds(x, phi)
        finally:
            self.uses[phi] += 1


def running_sums(loop: Any) -> set[Var]:
    """The phis of a loop that are sums: their cotangent is the same in every iteration."""
    chains = Chains([loop])
    return {phi for phi, _, after, _ in loop.carried if after is not phi and chains.adds(after, phi)}
