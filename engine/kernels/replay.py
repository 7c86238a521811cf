"""Running IR again: statements appended to the block at hand under new names, alone or with tangents beside them."""

from __future__ import annotations

from ..core.state import STATE
from .ir import FLOAT, Apply, Constant, Get, If, Loop, Put, Stack, Var, with_index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .builder import Builder
    from .ir import Block, Stmt


class Replay:
    """Appends statements to the builder's block again, by themselves. `names` maps variables to the operands that stand for them.

    A subclass (tangent.py) carries tangents beside the variables that are `varied`. Checks and flags are not repeated: the first
    run has made them.
    """

    def __init__(
        self, builder: Builder, names: dict[Var, Any] | None = None, alone: frozenset[Var] | set[Var] = frozenset()
    ) -> None:
        self.builder = builder
        self.names: dict[Var, Any] = {} if names is None else names
        self.stacks: dict[Stack, Stack] = {}
        # Variables that are computed anew even where a block around holds an equal one.
        self.alone = alone
        self.floor = len(builder.scopes) - 1
        self.repeats_checks = False
        self.varied: set[Any] = set()
        self.tangents: dict[Var, Any] = {}

    def at(self, x: Any) -> Any:
        """What stands for an operand."""
        return self.names.get(x, x) if x.__class__ is Var else x

    def new(self, x: Var) -> Var:
        made = self.names[x] = Var(x.kind, x.shape, x.name.rpartition("_")[0])
        return made

    def stack(self, x: Stack) -> Stack:
        if x not in self.stacks:
            self.stacks[x] = Stack(x.kind, x.shape, x.name.rpartition("_")[0])
        return self.stacks[x]

    def block(self, stmts: Block) -> None:
        for stmt in stmts:
            self.one(stmt)

    def one(self, stmt: Stmt) -> None:
        append: Any = self.branch if stmt.__class__ is If else getattr(self, stmt.__class__.__name__.lower())
        append(stmt)

    def tangent_of(self, x: Any) -> Any:
        """The tangent of an operand of the statements that are replayed, as an operand."""
        raise NotImplementedError

    def like(self, x: Var) -> tuple[Any, ...]:
        """The kind, shape and name of a variable's tangent."""
        return FLOAT, x.shape, "tangent"

    def new_tangent(self, x: Var) -> Var:
        """A variable for the tangent of a phi, of what a branch leaves, or of what a stack holds."""
        made = Var(*self.like(x))
        self.tangents[x] = self.builder.sym(made)
        return made

    # --- statements ---------------------------------------------------------------------------------------------------

    def apply(self, stmt: Apply) -> None:
        saved, STATE.site = STATE.site, stmt.site or STATE.site
        inputs = tuple([self.at(x) for x in stmt.inputs])
        attributes = with_index(stmt.attributes, self.at)
        floor = self.floor if any(out in self.alone for out in stmt.outs) else 0
        kinds, shapes = [out.kind for out in stmt.outs], [out.shape for out in stmt.outs]
        found = self.builder.emit(stmt.row, inputs, attributes, kinds, shapes, floor)
        self.names.update(zip(stmt.outs, found))
        STATE.site = saved

    def constant(self, stmt: Constant) -> None:
        self.names[stmt.out] = self.builder.constant(stmt.values)

    def check(self, stmt: Any) -> None:
        if self.repeats_checks:
            self.builder.block.append(stmt.__class__(self.at(stmt.condition)))

    def flag(self, stmt: Any) -> None:
        if self.repeats_checks:
            self.builder.block.append(stmt.__class__(self.at(stmt.condition), stmt.number))

    def put(self, stmt: Put) -> None:
        self.builder.block.append(Put(self.stack(stmt.stack), self.at(stmt.position), self.at(stmt.value)))

    def get(self, stmt: Get) -> None:
        position = self.at(stmt.position)
        self.builder.block.append(Get(self.new(stmt.out), self.stack(stmt.stack), position))

    def branch(self, stmt: If) -> None:
        condition = self.at(stmt.condition)
        both = []
        varied = [entry for entry in stmt.outs if entry[0] in self.varied]
        for block, side in ((stmt.then, 1), (stmt.orelse, 2)):
            with self.builder.inside([]) as made:
                self.block(block)
                ended = [self.at(entry[side]) for entry in stmt.outs]
                beside = [self.tangent_of(entry[side]) for entry in varied]
            both.append((made, ended, beside))
        (then, a, u), (orelse, b, v) = both
        outs = [(self.new(entry[0]), x, y) for entry, x, y in zip(stmt.outs, a, b)]
        outs += [(self.new_tangent(out), x, y) for (out, _, _), x, y in zip(varied, u, v)]
        self.builder.block.append(If(condition, then, orelse, outs))

    def loop(self, stmt: Loop) -> None:
        start, stop = self.at(stmt.start), self.at(stmt.stop)
        initial = [self.at(x) for _, x, _, _ in stmt.carried]
        varied = [entry for entry in stmt.carried if entry[0] in self.varied]
        beside = [self.tangent_of(x) for _, x, _, _ in varied]
        index = None if stmt.index is None else self.new(stmt.index)
        position = self.new(stmt.position)
        phis = [self.new(phi) for phi, _, _, _ in stmt.carried]
        tangents = [self.new_tangent(phi) for phi, _, _, _ in varied]
        with self.builder.inside([]) as test:
            self.block(stmt.test)
            condition = self.at(stmt.condition)
        with self.builder.inside([]) as body:
            self.block(stmt.body)
            after = [self.at(x) for _, _, x, _ in stmt.carried]
            moved = [self.tangent_of(x) for _, _, x, _ in varied]
            stop_when = self.at(stmt.stop_when)
        carried = [
            (phi, first, last, self.new(out))
            for phi, first, last, (_, _, _, out) in zip(phis, initial, after, stmt.carried)
        ]
        carried += [
            (phi, first, last, self.new_tangent(out))
            for (_, _, _, out), phi, first, last in zip(varied, tangents, beside, moved)
        ]
        stacks = [self.stack(x) for x in stmt.stacks] + self.more_stacks(stmt)
        self.builder.block.append(
            Loop(
                index, start, stop, stmt.step, test, condition, carried, body, stop_when, position, self.new(stmt.trips),
                stacks, stmt.site,
            )
        )  # fmt: skip

    def more_stacks(self, stmt: Loop) -> list[Stack]:
        """The stacks on which the tangents of what a loop puts are put."""
        return []
