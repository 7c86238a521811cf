"""Forward mode by source transformation: a block replayed with a tangent beside every variable that depends on the sources.

Reverse sweeps are statements like others, so a tangent of a gradient's block is a product with the Hessian.
"""

from __future__ import annotations

from ..autodiff.pullback import note_jumps
from ..autodiff.pushforward import pushforward as pushforward_of_values
from ..core.state import STATE
from ..core.tensor import shape_of
from .adjoint import Adjoint, pullback, zeros
from .ir import FLOAT, Apply, Get, Loop, Put, Stack, Var, defined, walk, with_index
from .paths import varied
from .replay import Replay
from .symbols import Sym

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..ops.operation import Operation
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
        # Inside a loop or a branch that is replayed, what it hands on belongs to the replay.
        self.shared = None
        super().one(stmt)
        self.shared = shared
        self.names.update((x, shared.names[x]) for x in defined(stmt))
        for part in walk([stmt]):
            if part.__class__ is Put:
                self.stacks[part.stack] = shared.stacks[part.stack]

    def of(self, x: Any) -> Any:
        """The tangent of an operand of the block: zeros where it has none."""
        found = self.tangents.get(x) if x.__class__ is Var else None
        return zeros(self.builder, getattr(x, "shape", ())) if found is None else found

    def tangent_of(self, x: Any) -> Any:
        return self.builder.operand(self.of(x))

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
            self.builder.block.append(Put(self.tangents_of(stmt.stack), position, self.tangent_of(stmt.value)))

    def get(self, stmt: Get) -> None:
        super().get(stmt)
        if stmt.stack in self.varied:
            out = self.new_tangent(stmt.out)
            self.builder.block.append(Get(out, self.tangents_of(stmt.stack), self.at(stmt.position)))

    def tangents_of(self, stack: Stack) -> Stack:
        if stack not in self.beside:
            self.beside[stack] = Stack(*self.like(stack))
        return self.beside[stack]

    def more_stacks(self, stmt: Loop) -> list[Stack]:
        return [self.tangents_of(stack) for stack in stmt.stacks if stack in self.varied]


def pushforward(
    builder: Builder, op: Operation, y: Any, inputs: tuple[Any, ...], attributes: dict[str, Any], tangents: list[Any]
) -> Any:  # fmt: skip
    """The tangent of `y`, a tuple for a row of several results, for the tangents of the inputs (None: zero). None: zero throughout."""
    stops, builder.stops = builder.stops, True
    try:
        if op.derivative == "rule":
            return transposed(builder, op, y, inputs, attributes, tangents)
        if op.derivative == "zero":
            for t in tangents:
                if t is not None:
                    note_jumps(op, inputs, t)
            return None
        if op.derivative == "linear":
            tangents = [zeros(builder, shape_of(x)) if t is None else t for x, t in zip(inputs, tangents)]
        return pushforward_of_values(op, y, inputs, attributes, tangents)
    finally:
        builder.stops = stops


def transposed(
    builder: Builder, op: Operation, y: Any, inputs: tuple[Any, ...], attributes: dict[str, Any], tangents: list[Any]
) -> Any:  # fmt: skip
    """The JVP of a row that has only a VJP. The VJP is linear in its cotangent, and its transpose is the JVP.

    The statements of the VJP are appended with a cotangent that nothing defines. What depends on it is dead afterwards, since its
    own adjoint reads the coefficients alone.
    """
    several = y.__class__ is tuple
    outputs = y if several else (y,)
    seeds = tuple([Var(FLOAT, shape_of(part), "cotangent") for part in outputs])
    start = len(builder.block)
    transposing, STATE.transposing = STATE.transposing, True
    try:
        syms = tuple([builder.sym(seed) for seed in seeds])
        wanted = [t is not None for t in tangents]
        cotangents = pullback(op, syms if several else syms[0], y, inputs, attributes, wanted)
        recorded = builder.block[start:]
        adjoint = Adjoint(builder, varied(recorded, seeds))
        for c, t in zip(cotangents, tangents):
            if c.__class__ is Sym and t is not None:
                adjoint.add(c.var, t)
        adjoint.sweep(recorded)
    finally:
        STATE.transposing = transposing
    found = tuple([adjoint.cotangents.get(seed) for seed in seeds])
    if not several:
        return found[0]
    return tuple([zeros(builder, shape_of(part)) if c is None else c for part, c in zip(outputs, found)])
