"""Which sources reach a value where data decide: a mask beside each variable, of which bit i is set if source i reaches it."""

from __future__ import annotations

from ..core.tensor import OPERATORS
from .ir import INT, Apply, Var
from .paths import path_inputs, reach
from .replay import Replay
from .tangent import Tangent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .builder import Builder
    from .ir import Block


class Masks(Tangent):
    """Replays a block with masks, carried as tangents are, beside the variables that sources reach on some ways through the branches
    and loops, and not on all. `known` has the masks of the others."""

    def __init__(self, builder: Builder, block: Block, sources: Sequence[Var]) -> None:
        super().__init__(builder, block, {})
        self.known = reach(block, sources, int.__or__)
        always = reach(block, sources, int.__and__)
        self.varied = {x for x, mask in self.known.items() if mask != always.get(x, 0)}

    def like(self, x: Var) -> tuple[Any, ...]:
        return INT, (), "mask"

    def of(self, x: Any) -> Any:
        if x.__class__ is not Var:
            return 0
        return self.tangents[x] if x in self.varied else self.known.get(x, 0)

    def apply(self, stmt: Apply) -> None:
        Replay.apply(self, stmt)
        if self.varied.isdisjoint(stmt.outs):
            return
        masks = dict.fromkeys(map(self.tangent_of, path_inputs(stmt)))
        first, *others = [self.builder.sym(x) for x in masks if x != 0]
        for x in others:
            first = OPERATORS.bitwise_or(first, x)
        self.tangents.update(dict.fromkeys(stmt.outs, first))
