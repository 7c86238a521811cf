"""Forward mode by source transformation: a block replayed with a tangent beside every variable that depends on the sources.

Reverse sweeps are statements like others, so a tangent of a gradient's block is a product with the Hessian.
"""

from __future__ import annotations

from ..core.state import STATE
from .ir import FLOAT, Apply, Get, Loop, Put, Stack, Var, defined, operands, walk, with_index
from .paths import varied
from .replay import Replay
from .rules import pushforward, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .builder import Builder
    from .ir import Block, Stmt


class Tangent(Replay):
    """Replays a block with tangents. `tangents` maps the sources to theirs, and is filled: symbols or numbers."""

    def __init__(
        self, builder: Builder, block: Block, tangents: dict[Var, Any], shared: Replay | None = None
    ) -> None:  # fmt: skip
        super().__init__(builder)
        # A replay of the block without tangents, in a block around: what loops and branches compute is taken from it.
        self.shared = shared
        self.tangents = tangents
        self.varied = varied(block, tangents)
        self.beside: dict[Stack, Stack] = {}
        self.repeats_checks = True

    def one(self, stmt: Stmt) -> None:
        shared = self.shared
        if shared is None or stmt.__class__ is Apply:
            super().one(stmt)
            return
        if self.touches(stmt):
            # Inside a loop or a branch that is replayed, what it hands on belongs to the replay.
            self.shared = None
            super().one(stmt)
            self.shared = shared
        self.names.update((x, shared.names[x]) for x in defined(stmt))
        for part in walk([stmt]):
            if part.__class__ is Put:
                self.stacks[part.stack] = shared.stacks[part.stack]

    def touches(self, stmt: Stmt) -> bool:
        """Whether a statement, or one inside it, has a tangent."""
        if any(x in self.varied for x in (*defined(stmt), *operands(stmt))):
            return True
        return any(
            part.stack in self.varied if part.__class__ in (Put, Get) else any(x in self.varied for x in defined(part))
            for part in walk([stmt])
        )

    def accompanied(self, x: Var) -> bool:
        return x in self.varied

    def companion_like(self, x: Var) -> Var:
        return Var(FLOAT, x.shape, "tangent")

    def of(self, x: Any) -> Any:
        """The tangent of an operand of the block: zeros where it has none."""
        found = self.tangents.get(x) if x.__class__ is Var else None
        return zeros(self.builder, getattr(x, "shape", ())) if found is None else found

    def companion_of(self, x: Any) -> Any:
        return self.builder.operand(self.of(x))

    def accompany(self, x: Var, companion: Any) -> None:
        self.tangents[x] = self.builder.sym(companion)

    def apply(self, stmt: Apply) -> None:
        super().apply(stmt)
        moved = [self.tangents.get(x) if x.__class__ is Var and x.kind == FLOAT else None for x in stmt.inputs]
        if stmt.outs[0] not in self.varied or all(t is None for t in moved):
            return
        builder = self.builder
        saved, STATE.site = STATE.site, stmt.site or STATE.site
        try:
            y = tuple([builder.sym(self.at(out)) for out in stmt.outs])
            inputs = tuple([builder.sym(self.at(x)) for x in stmt.inputs])
            attributes = with_index(stmt.attributes, self.at)
            found = pushforward(builder, stmt.row, y if len(y) > 1 else y[0], inputs, attributes, moved)
        finally:
            STATE.site = saved
        if found is not None:
            parts = found if found.__class__ is tuple else (found,)
            self.tangents.update(zip(stmt.outs, map(builder.symbol, parts)))

    def put(self, stmt: Put) -> None:
        super().put(stmt)
        if stmt.stack in self.varied:
            position = self.at(stmt.position)
            self.builder.block.append(Put(self.tangents_of(stmt.stack), position, self.companion_of(stmt.value)))

    def get(self, stmt: Get) -> None:
        super().get(stmt)
        if stmt.stack in self.varied:
            out = self.companion_like(stmt.out)
            self.builder.block.append(Get(out, self.tangents_of(stmt.stack), self.at(stmt.position)))
            self.accompany(stmt.out, out)

    def tangents_of(self, stack: Stack) -> Stack:
        if stack not in self.beside:
            self.beside[stack] = Stack(stack.kind, stack.shape, "tangents")
        return self.beside[stack]

    def more_stacks(self, stmt: Loop) -> list[Stack]:
        return [self.tangents_of(stack) for stack in stmt.stacks if stack in self.varied]
