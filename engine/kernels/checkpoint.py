"""Bounded memory for the reverse sweep of a long loop: the loop becomes a loop over blocks of iterations.

    for i in range(n): body    --->    for b in range(k): for i in range(b * n / k, (b + 1) * n / k): body

The adjoint of nested loops keeps the heads of the outer one, and those of the inner one for one block at a time, which it runs again
for that. So `levels` nested loops keep about levels * n**(1/levels) heads in the place of n, and run every iteration
`levels` times before its adjoint: nested checkpoints, as in Griewank and Walther, Evaluating Derivatives (2008), chapter 12.
"""

from __future__ import annotations

from ..core.state import STATE
from ..core.tensor import OPERATORS
from .ir import BOOL, INT, Loop, Var
from .replay import Replay

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .builder import Builder
    from .ir import Block

# Bytes below which two levels of blocks may not be enough.
SMALL = 1 << 20


class Blocks(Replay):
    """Replays a block with its outermost loops in blocks of iterations, for a limit of bytes."""

    def __init__(self, builder: Builder, limit: int) -> None:
        super().__init__(builder)
        self.repeats_checks = True
        self.limit = limit
        self.nested = 0

    def loop(self, stmt: Loop) -> None:
        if self.nested or stmt.site is None or stmt.stacks:
            self.nested += 1
            super().loop(stmt)
            self.nested -= 1
            return
        saved, STATE.site = STATE.site, stmt.site
        sym = self.builder.sym
        width = 8 * sum(phi.size for phi, _, _, _ in stmt.carried) or 8
        initial = [self.at(first) for _, first, _, _ in stmt.carried]
        if stmt.index is not None:
            span = sym(self.at(stmt.stop)) - sym(self.at(stmt.start))
            rounding = stmt.step - 1 if stmt.step > 0 else stmt.step + 1
            count = OPERATORS["maximum"](OPERATORS["floor_divide"](span + rounding, stmt.step), 0)
            levels = 2 if self.limit >= SMALL else 3
            root = OPERATORS["power"](OPERATORS["cast"](count, dtype="float64"), 1.0 / levels)
            length = OPERATORS["cast"](OPERATORS["ceil"](OPERATORS["maximum"](root, 1.0)), dtype="int64")
        else:
            count, levels, length = None, 2, max(self.limit // (2 * width), 1)
        outs, trips = self.blocks(stmt, levels, length, 0, count, initial, False)
        self.names.update((out, made) for (_, _, _, out), made in zip(stmt.carried, outs))
        self.names[stmt.trips] = self.builder.operand(trips)
        STATE.site = saved

    def blocks(
        self, stmt: Loop, level: int, length: Any, first: Any, last: Any, initial: list[Any], stopped: Any
    ) -> tuple[list[Var], Any]:  # fmt: skip
        """Append the iterations from number `first` to number `last` (None: while the condition holds), nested so deep; what they
        carry, the last entry of which says whether the loop has stopped, and how many there were."""
        builder = self.builder
        operand, sym = builder.operand, builder.sym
        phis = [Var(phi.kind, phi.shape, "x") for phi, _, _, _ in stmt.carried] + [Var(BOOL, (), "stopped")]
        position, trips = Var(INT, (), "position"), Var(INT, (), "trips")
        number = Var(INT, (), "number")
        test: Block = []
        condition: Any = True
        if stmt.index is None:
            with builder.inside(test):
                self.names.update((phi, made) for (phi, _, _, _), made in zip(stmt.carried, phis))
                self.block(stmt.test)
                condition = self.at(stmt.condition)
                if level == 1:
                    more = OPERATORS["less"](sym(position), length)
                    condition = operand(OPERATORS["logical_and"](sym(condition), more))
        with builder.inside([]) as body:
            if level > 1:
                if stmt.index is None:
                    outs, _ = self.blocks(stmt, level - 1, length, None, None, list(phis[:-1]), phis[-1])
                else:
                    size = length if level == 2 else length * length
                    start = first + sym(number) * size
                    end = OPERATORS["minimum"](start + size, last)
                    outs, _ = self.blocks(stmt, level - 1, length, start, end, list(phis[:-1]), phis[-1])
                after: list[Any] = list(outs)
                stop_when = outs[-1]
            else:
                self.names.update((phi, made) for (phi, _, _, _), made in zip(stmt.carried, phis))
                if stmt.index is not None:
                    here = first + sym(number)
                    self.names[stmt.index] = operand(sym(self.at(stmt.start)) + here * stmt.step)
                    self.names[stmt.position] = operand(here)
                else:
                    self.names[stmt.position] = position
                self.nested += 1
                self.block(stmt.body)
                self.nested -= 1
                stop_when = self.at(stmt.stop_when)
                after = [self.at(x) for _, _, x, _ in stmt.carried] + [False if stop_when is None else stop_when]
        made = [Var(phi.kind, phi.shape, "x") for phi in phis]
        carried = list(zip(phis, [*initial, stopped], after, made))
        index: Var | None = None
        stop: Any = None
        if stmt.index is not None:
            index = number
            count = last - first
            if level > 1:
                size = length if level == 2 else length * length
                count = OPERATORS["floor_divide"](count + size - 1, size)
            stop = operand(count)
        start = None if index is None else 0
        loop = Loop(index, start, stop, 1, test, condition, carried, body, stop_when, position, trips, [], stmt.site)
        builder.block.append(loop)
        return made, sym(trips)


__all__ = ["Blocks"]
