"""Bounded memory for the reverse sweep of a long loop: a few of its states are kept, and the iterations between them run again.

The iterations are taken in blocks, the last block first. The states at the starts of some blocks are kept on a stack, by the
binomial schedule; from the last of them the iterations up to the block at hand run again, and the adjoint of one block needs the
heads of its own iterations alone:

    end = blocks;  kept = [initial]                          # number of a block, and the state at its start
    while end > 0:
        at, y = kept.top()
        while end - at > 1:
            step = split(end - at, slots that are free)
            for i in range(at * length, (at + step) * length): y = body(y)
            at += step;  kept.push(at, y)
        for i in range(at * length, min(end * length, n)): y = body(y)       # and the adjoint of this loop
        end = at;  kept.pop()

The loop itself keeps nothing. It has said how many iterations there are, of a conditional loop as well.

A. Griewank and A. Walther, Algorithm 799: revolve, ACM Transactions on Mathematical Software 26 (2000) 19-45.
"""

from __future__ import annotations

from ..core.tensor import OPERATORS
from .ir import FLOAT, INT, Loop, Var

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .adjoint import Adjoint

# How many states are kept at least and at most: with 8 no iteration of 10^11 blocks runs again more than 100 times, and with 4000
# none of 8*10^6 blocks more than twice.
LEAST_STATES, MOST_STATES = 8, 4000
# Iterations in a block, if there is room: passing from block to block takes time as well.
SHORT = 512


class Schedule:
    """The reverse sweep of a loop within a limit of bytes. `state` has the phis that an iteration needs to run again."""

    def __init__(self, adjoint: Adjoint, stmt: Loop, sums: set[Var], limit: int) -> None:
        self.adjoint = adjoint
        self.builder = adjoint.builder
        self.stmt = stmt
        self.state = [phi for phi, _, after, _ in stmt.carried if phi not in sums and not self.fixed(phi, after)]
        # Half of the limit is for the heads of a block, half for kept states with the number of their block.
        self.most = max(limit // (16 * (1 + sum(phi.size for phi in self.state))), 1)
        self.slots = min(max(self.most - 1, LEAST_STATES), MOST_STATES)

    def fixed(self, phi: Var, after: Any) -> bool:
        """Whether a phi is what it was before the loop."""
        return after is phi and phi not in self.adjoint.varied

    def needed(self) -> bool:
        """Whether the heads of all iterations may take more than the limit."""
        start, stop = self.stmt.start, self.stmt.stop
        known = start.__class__ is int and stop.__class__ is int
        return self.stmt.site is not None and not (known and len(range(start, stop, self.stmt.step)) <= 2 * self.most)

    def sweep(
        self, active: Sequence[Any], constant: Sequence[Any], first: list[Any], threaded: list[Var], before: list[Any]
    ) -> list[Var]:
        """The cotangents of `active` phis at the head of the loop, which are `first` after it, and those of the variables `threaded`
        from outside, which are `before` without it. `constant` has the phis that are sums, with their cotangents."""
        builder, stmt, adjoint = self.builder, self.stmt, self.adjoint
        sym, size = builder.sym, len(self.state)
        total = sym(stmt.trips)
        length = OPERATORS.maximum(quotient(total, self.slots), min(SHORT, self.most))
        length = OPERATORS.minimum(length, self.most)
        initial = {phi: x for phi, x, _, _ in stmt.carried}
        rows = [sym(builder.uniform(0, INT, (self.slots + 1,)))]
        for phi in self.state:
            empty = builder.zero(phi.kind, (self.slots + 1, *phi.shape))
            rows.append(put(sym(empty), 0, sym(initial[phi])))

        def block(top: Any, end: Any, *more: Any) -> list[Any]:
            kept, cotangents = list(more[: size + 1]), more[size + 1 :]

            def advance(top: Any, at: Any, *more: Any) -> list[Any]:
                to = at + self.split(end - at, self.slots - top)
                left = self.iterations(at * length, to * length, more[size + 1 :])
                now = [to, *map(left.get, self.state)]
                return [top + 1, to, *map(put, more[: size + 1], [top + 1] * len(now), now), *now[1:]]

            at, *now = [get(x, top) for x in kept]
            top, at, *found = self.repeat([top, at, *kept, *now], lambda _, at, *more: end - at > 1, advance)
            kept, now = found[: size + 1], found[size + 1 :]
            last = OPERATORS.minimum(end * length, total)
            left = self.iterations(at * length, last, now)
            run = builder.block[-1]
            paired = [*zip(self.state, now), *left.items()]
            adjoint.varied.update(x.var for phi, x in paired if phi in adjoint.varied)
            inner = type(adjoint)(builder, adjoint.varied)
            inner.cotangents.update(zip(threaded, cotangents[len(active) :]))
            for (phi, _, _, _), g in [*zip(active, cotangents), *constant]:
                inner.add(left[phi].var, g)
            inner.sweep([run])
            heads = [inner.current(now[self.state.index(phi)].var) for phi, _, _, _ in active]
            return [top - 1, at, *kept, *heads, *[inner.current(x) for x in threaded]]

        firsts = [0, quotient(total, length), *rows, *map(sym, [*first, *before])]
        found = self.repeat(firsts, lambda _, end, *more: end > 0, block)
        return [x.var for x in found[size + 3 :]]

    def iterations(self, start: Any, stop: Any, now: Sequence[Any]) -> dict[Var, Any]:
        """Append a loop that runs the iterations from number `start` up to `stop` again, from their state. What it leaves, by phi."""
        builder, stmt = self.builder, self.stmt
        number = Var(INT, (), "number")
        names: dict[Var, Any] = {stmt.position: number}
        initial = {phi: builder.operand(x) for phi, x in zip(self.state, now)}
        with builder.inside([]) as body:
            if stmt.index is not None:
                names[stmt.index] = builder.operand(builder.sym(number) * stmt.step + builder.sym(stmt.start))
            for phi, first, after, _ in stmt.carried:
                names[phi] = first if self.fixed(phi, after) else Var(phi.kind, phi.shape, "x")
            replay = self.adjoint.run_again(names, stmt.body)
        carried, phis = [], []
        for phi, _, after, _ in stmt.carried:
            if not self.fixed(phi, after):
                phis.append(phi)
                first = initial.get(phi, builder.zero(phi.kind, phi.shape))
                carried.append((names[phi], first, replay.at(after), Var(phi.kind, phi.shape, "x")))
        ends = [builder.operand(x) for x in (start, stop)]
        position, trips = Var(INT, (), "position"), Var(INT, (), "trips")
        builder.block.append(Loop(number, *ends, 1, [], True, carried, body, None, position, trips, [], stmt.site))
        return {phi: builder.sym(out) for phi, (_, _, _, out) in zip(phis, carried)}

    def split(self, blocks: Any, slots: Any) -> Any:
        """How many of some blocks to run again before the next state is kept, where `slots` states, the one at hand among them, are
        there for all of them.

        With s slots, and every block run at most r times before its own turn, binomial(s + r, r) blocks can be reversed: `reach`,
        which is `old` for r - 1, and `older` for r - 2.
        """

        def more(times: Any, older: Any, old: Any, reach: Any) -> list[Any]:
            times = times + 1
            return [times, old, reach, OPERATORS.floor_divide(reach * (slots + times), times)]

        _, older, old, reach = self.repeat([0, 0, 0, 1], lambda _, older, old, reach: reach < blocks, more)
        return OPERATORS.maximum(OPERATORS.maximum(older, blocks - (reach - old)), 1)

    def repeat(self, firsts: list[Any], going: Callable[..., Any], step: Callable[..., list[Any]]) -> list[Any]:
        """Append a loop that changes some values while a condition holds. What they are after it."""
        builder = self.builder
        firsts = list(map(builder.operand, firsts))
        kinds = [x.kind if x.__class__ is Var else FLOAT if x.__class__ is float else INT for x in firsts]
        phis, outs = ([Var(k, getattr(x, "shape", ()), "x") for k, x in zip(kinds, firsts)] for _ in range(2))
        with builder.inside([]) as test:
            condition = builder.operand(going(*map(builder.sym, phis)))
        with builder.inside([]) as body:
            after = list(map(builder.operand, step(*map(builder.sym, phis))))
        position, trips = Var(INT, (), "position"), Var(INT, (), "trips")
        carried = list(zip(phis, firsts, after, outs))
        ends = (None, None, None, 1)
        builder.block.append(Loop(*ends, test, condition, carried, body, None, position, trips, [], self.stmt.site))
        return list(map(builder.sym, outs))


def get(rows: Any, k: Any) -> Any:
    """Row `k` of an array."""
    return OPERATORS.index(rows, index=(k, *[slice(0, n, 1) for n in rows.shape[1:]]))


def put(rows: Any, k: Any, values: Any) -> Any:
    """An array with other values in row `k`."""
    return OPERATORS.index_update(rows, values, index=(k, *[slice(0, n, 1) for n in rows.shape[1:]]))


def quotient(x: Any, y: Any) -> Any:
    """x / y, rounded up."""
    return OPERATORS.floor_divide(x + (y - 1), y)
