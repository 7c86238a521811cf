"""Running IR again: statements appended to the block at hand under new names, alone or with what is carried beside them."""

from __future__ import annotations

from ..core.state import STATE
from .ir import Apply, Constant, Get, If, Loop, Put, Stack, Var, with_index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .builder import Builder
    from .ir import Block, Stmt


class Replay:
    """Appends statements to the builder's block again, by themselves. `names` maps variables to the operands that stand for them.

    A subclass may carry a companion beside each variable (a tangent, a mask): it overrides `companion`, which is asked after
    every statement, and `accompanied`, which says of a phi or an output that it has one. Checks and flags are not
    repeated: the first run has made them.
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
        getattr(self, stmt.__class__.__name__.lower())(stmt)

    # --- companions ---------------------------------------------------------------------------------------------------

    def accompanied(self, x: Var) -> bool:
        """Whether a phi or an output of a branch has a companion."""
        return False

    def companion_like(self, x: Var) -> Var:
        """The variable of a companion."""
        raise NotImplementedError

    def companion_of(self, x: Any) -> Any:
        """The companion of an operand of the statements that are replayed, as an operand."""
        raise NotImplementedError

    def accompany(self, x: Var, companion: Any) -> None:
        """Keep the companion of a variable."""
        raise NotImplementedError

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

    # `if` and `loop` are Python's words: the methods are found by the statements' names.
    def __getattr__(self, name: str) -> Any:
        if name == "if":
            return self.branch
        raise AttributeError(name)

    def branch(self, stmt: If) -> None:
        condition = self.at(stmt.condition)
        both = []
        accompanied = [out for out, _, _ in stmt.outs if self.accompanied(out)]
        for block, side in ((stmt.then, 1), (stmt.orelse, 2)):
            with self.builder.inside([]) as made:
                self.block(block)
                ended = [self.at(entry[side]) for entry in stmt.outs]
                beside = [self.companion_of(entry[side]) for entry in stmt.outs if entry[0] in accompanied]
            both.append((made, ended, beside))
        (then, a, u), (orelse, b, v) = both
        outs = [(self.new(entry[0]), x, y) for entry, x, y in zip(stmt.outs, a, b)]
        for out, x, y in zip(accompanied, u, v):
            made_out = self.companion_like(out)
            outs.append((made_out, x, y))
            self.accompany(out, made_out)
        self.builder.block.append(If(condition, then, orelse, outs))

    def loop(self, stmt: Loop) -> None:
        start, stop = self.at(stmt.start), self.at(stmt.stop)
        initial = [self.at(x) for _, x, _, _ in stmt.carried]
        accompanied = [entry for entry in stmt.carried if self.accompanied(entry[0])]
        beside = [self.companion_of(x) for _, x, _, _ in accompanied]
        index = None if stmt.index is None else self.new(stmt.index)
        position = self.new(stmt.position)
        phis = [self.new(phi) for phi, _, _, _ in stmt.carried]
        companions = [self.companion_like(phi) for phi, _, _, _ in accompanied]
        for (phi, _, _, _), made in zip(accompanied, companions):
            self.accompany(phi, made)
        with self.builder.inside([]) as test:
            self.block(stmt.test)
            condition = self.at(stmt.condition)
        with self.builder.inside([]) as body:
            self.block(stmt.body)
            after = [self.at(x) for _, _, x, _ in stmt.carried]
            moved = [self.companion_of(x) for _, _, x, _ in accompanied]
            stop_when = self.at(stmt.stop_when)
        carried = [
            (phi, first, last, self.new(out))
            for phi, first, last, (_, _, _, out) in zip(phis, initial, after, stmt.carried)
        ]
        for (_, _, _, out), phi, first, last in zip(accompanied, companions, beside, moved):
            made = self.companion_like(out)
            carried.append((phi, first, last, made))
            self.accompany(out, made)
        stacks = [self.stack(x) for x in stmt.stacks] + self.more_stacks(stmt)
        self.builder.block.append(
            Loop(
                index, start, stop, stmt.step, test, condition, carried, body, stop_when, position, self.new(stmt.trips),
                stacks, stmt.site,
            )
        )  # fmt: skip

    def more_stacks(self, stmt: Loop) -> list[Stack]:
        """The stacks on which the companions of what a loop puts are put."""
        return []
