"""Reverse mode by source transformation: the statements of a block in reverse, each by its row's rule.

Straight-line statements follow the block whose adjoint they are and read its values. Of a loop the values of the phis at the
head of every iteration are kept (`Put`); the reverse loop reads them (`Get`), runs the body again and then its adjoint. A
branch runs again, too, inside the adjoint branch.

    for i in range(n):                heads[i] = y
        y = sin(y) * a        --->    ...
                                      for p in range(n - 1, -1, -1):
                                          y = heads[p];  s = sin(y)
                                          da += dy * s;  dy = dy * a * cos(y)

What is kept and not read, and what is run again in vain, goes as dead code.
"""

from __future__ import annotations

from collections import Counter

from ..autodiff import pullback as on_values
from ..core.state import STATE
from ..core.tensor import OPERATORS
from .checkpoint import Schedule
from .ir import (
    FLOAT,
    INT,
    Apply,
    Get,
    If,
    Loop,
    Put,
    Stack,
    Unsupported,
    Var,
    defined,
    ends,
    free,
    inside,
    operands,
    walk,
)  # fmt: skip
from .replay import Replay
from .symbols import Sym

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..ops.operation import Operation
    from .builder import Builder
    from .ir import Block, Stmt


def zeros(builder: Builder, shape: tuple[int, ...]) -> Any:
    """Zeros of a shape: 0.0 for a number."""
    return builder.full(0.0, shape)


def is_zero(x: Any) -> bool:
    return x.__class__ in (float, int) and x == 0


def pullback(
    op: Operation, g: Any, y: Any, inputs: tuple[Any, ...], attributes: dict[str, Any], wanted: list[bool]
) -> list[Any]:  # fmt: skip
    """The cotangents of the inputs for the cotangent `g` of `y`; None where it is not wanted, or zero throughout."""
    if op.derivative == "zero":
        on_values.note_jumps(op, inputs, g)
        return [None] * len(inputs)
    return on_values.pullback(op, g, y, inputs, attributes, wanted)


class Adjoint:
    """Cotangents by variable, as symbols or numbers, while statements are passed in reverse.

    `varied` are the variables that depend on the sources. The states that the reverse sweep of a loop keeps take `limit` bytes, those
    of loops inside that loop as many as there are. `cotangents` begins with the seeds and ends with those of variables that no
    passed statement defines.
    """

    def __init__(self, builder: Builder, varied: set[Any], limit: int | None = None) -> None:
        self.builder = builder
        self.varied = varied
        self.limit = limit
        self.cotangents: dict[Var, Any] = {}

    def add(self, x: Any, c: Any) -> None:
        """Add a cotangent to that of an operand, if it is a variable that depends on the sources."""
        if x.__class__ is not Var or x not in self.varied or c is None or (is_zero(c) and not x.shape):
            return
        old = self.cotangents.get(x)
        self.cotangents[x] = self.builder.symbol(c if old is None else old + c)

    def current(self, x: Var) -> Any:
        """The cotangent of a variable so far; zeros where there is none."""
        found = self.cotangents.get(x)
        return zeros(self.builder, x.shape) if found is None else found

    def sweep(self, stmts: Block) -> None:
        """Pass statements in reverse."""
        for stmt in reversed(stmts):
            if stmt.__class__ is Apply:
                self.apply(stmt)
            elif stmt.__class__ is If:
                self.branch(stmt)
            elif stmt.__class__ is Loop:
                self.loop(stmt)

    def apply(self, stmt: Apply) -> None:
        found = [self.cotangents.pop(out, None) for out in stmt.outs]
        if all(g is None for g in found):
            return
        wanted = [x.__class__ is Var and x in self.varied and x.kind == FLOAT for x in stmt.inputs]
        if not any(wanted):
            return
        builder = self.builder
        saved, STATE.site = STATE.site, stmt.site or STATE.site
        try:
            if stmt.row.name == "index":
                # Reading an element must not cost an array of zeros: add to the cotangent at that place.
                self.add_at(stmt, found[0])
                return
            g = tuple([zeros(builder, out.shape) if c is None else c for c, out in zip(found, stmt.outs)])
            g = tuple(map(builder.symbol, g))
            y = tuple([builder.sym(out) for out in stmt.outs])
            several = len(y) > 1
            inputs = tuple([builder.sym(x) for x in stmt.inputs])
            cotangents = pullback(
                stmt.row, g if several else g[0], y if several else y[0], inputs, stmt.attributes, wanted
            )
            for x, c in zip(stmt.inputs, cotangents):
                self.add(x, c)
        finally:
            STATE.site = saved

    def add_at(self, stmt: Apply, g: Any) -> None:
        x = stmt.inputs[0]
        index = stmt.attributes["index"]
        base = self.builder.operand(self.current(x))
        added = self.builder.emit(
            OPERATORS.index_add, (base, self.builder.operand(g)), {"index": index}, [FLOAT], [x.shape]
        )[0]  # fmt: skip
        self.cotangents[x] = self.builder.sym(added)

    # --- branches and loops -------------------------------------------------------------------------------------------

    def threaded(self, stmt: Any, bodies: tuple[Block, ...]) -> list[Var]:
        """The variables from outside a statement to whose cotangents its blocks may add."""
        ended = [x for entry in (stmt.outs if stmt.__class__ is If else stmt.carried) for x in entry[1:3]]
        read: dict[Var, None] = {}
        for body in bodies:
            read.update(free(body))
        read.update((x, None) for x in ended if x.__class__ is Var)
        own = set(inside(stmt))
        own.update(out for body in bodies for part in body for out in defined(part))
        return [x for x in read if x in self.varied and x.kind == FLOAT and x not in own]

    def run_again(self, names: dict[Var, Any], body: Block) -> Replay:
        """Append the statements of a body again. What is differentiated has variables of its own, to have cotangents of its own."""
        replay = Replay(self.builder, names, self.varied)
        replay.block(body)
        self.varied.update(new for old, new in replay.names.items() if new.__class__ is Var and old in self.varied)
        return replay

    def branch(self, stmt: If) -> None:
        seeds = [(out, a, b, self.cotangents.pop(out)) for out, a, b in stmt.outs if out in self.cotangents]
        if not seeds:
            return
        threaded = self.threaded(stmt, (stmt.then, stmt.orelse))
        before = {x: self.cotangents.get(x) for x in threaded}
        sides = []
        for block, side in ((stmt.then, 1), (stmt.orelse, 2)):
            with self.builder.inside([]) as made:
                start = len(made)
                replay = self.run_again({}, block)
                inner = Adjoint(self.builder, self.varied, self.limit)
                inner.cotangents.update({x: c for x, c in before.items() if c is not None})
                for seed in seeds:
                    inner.add(replay.at(seed[side]), seed[3])
                inner.sweep(made[start:])
                sides.append((made, {x: inner.cotangents.get(x) for x in threaded}))
        (then, found), (orelse, other) = sides
        outs = []
        for x in threaded:
            a, b = found[x], other[x]
            if a is before[x] and b is before[x]:
                continue
            # Zeros for a branch that adds nothing stand before the statement, where both branches see them.
            a, b = [zeros(self.builder, x.shape) if c is None else c for c in (a, b)]
            out = Var(FLOAT, x.shape, "cotangent")
            outs.append((out, self.builder.operand(a), self.builder.operand(b)))
            self.cotangents[x] = self.builder.sym(out)
        if outs:
            self.builder.block.append(If(stmt.condition, then, orelse, outs))

    def loop(self, stmt: Loop) -> None:
        active = [entry for entry in stmt.carried if entry[0] in self.varied]
        seeds = {out: self.cotangents.pop(out) for _, _, _, out in active if out in self.cotangents}
        if not seeds:
            return
        if any(part.__class__ is Get for part in walk(stmt.body)):
            raise Unsupported("the reverse mode of a loop's reverse sweep")
        builder = self.builder
        sums = running_sums(stmt)
        constant = [(entry, seeds[entry[3]]) for entry in active if entry[0] in sums and entry[3] in seeds]
        active = [entry for entry in active if entry[0] not in sums]
        if not active and self.in_place(stmt, constant):
            return
        threaded = self.threaded(stmt, (stmt.body,))
        seeded = [seeds[out] if out in seeds else zeros(builder, out.shape) for _, _, _, out in active]
        first = [builder.operand(x, FLOAT) for x in seeded]
        before = [builder.operand(self.current(x), FLOAT) for x in threaded]
        if self.limit is not None and (schedule := Schedule(self, stmt, sums, self.limit)).needed():
            outs = schedule.sweep(active, constant, first, threaded, before)
        else:
            outs = self.with_heads(stmt, active, constant, first, threaded, before)
        for x, out in zip(threaded, outs[len(active) :]):
            self.cotangents[x] = builder.sym(out)
        for (_, initial, _, _), out in zip(active, outs):
            self.add(initial, builder.sym(out))
        for (_, initial, _, _), g in constant:
            self.add(initial, g)

    def with_heads(
        self, stmt: Loop, active: list[Any], constant: list[Any], first: list[Any], threaded: list[Var], before: list[Any]
    ) -> list[Var]:  # fmt: skip
        """A reverse sweep for which the heads of all iterations are kept: the cotangents of what is carried at the head of the
        loop, and those of variables from outside, `before` which come those from after the loop."""
        builder = self.builder
        last = builder.operand(OPERATORS.subtract(builder.sym(stmt.trips), 1))
        position, counter = Var(INT, (), "p"), Var(INT, (), "count")
        heads = [Var(FLOAT, phi.shape, "cotangent") for phi, _, _, _ in active]
        collected = [Var(FLOAT, x.shape, "cotangent") for x in threaded]
        names: dict[Var, Any] = {stmt.position: position}
        with builder.inside([]) as body:
            if stmt.index is not None:
                names[stmt.index] = builder.operand(builder.sym(position) * stmt.step + builder.sym(stmt.start))
            puts = []
            for phi, initial, after, _ in stmt.carried:
                if after is phi and phi not in self.varied:
                    names[phi] = initial
                    continue
                stack = Stack(phi.kind, phi.shape)
                puts.append(Put(stack, stmt.position, phi))
                names[phi] = Var(phi.kind, phi.shape, phi.name.rpartition("_")[0])
                body.append(Get(names[phi], stack, position))
                if phi in self.varied:
                    self.varied.add(names[phi])
            start = len(body)
            replay = self.run_again(names, stmt.body)
            inner = Adjoint(builder, self.varied)
            inner.cotangents.update((x, builder.sym(c)) for x, c in zip(threaded, collected))
            for (_, _, after, _), g in zip(active, heads):
                inner.add(replay.at(after), builder.sym(g))
            for (_, _, after, _), g in constant:
                inner.add(replay.at(after), g)
            inner.sweep(body[start:])
            after_heads = [builder.operand(inner.current(names[phi])) for phi, _, _, _ in active]
            after_sums = [builder.operand(inner.current(x)) for x in threaded]
        stmt.body[:0] = puts
        stmt.stacks += [put.stack for put in puts]
        outs = [Var(FLOAT, x.shape, "cotangent") for x in (*heads, *collected)]
        carried = list(zip((*heads, *collected), (*first, *before), (*after_heads, *after_sums), outs))
        trips = Var(INT, (), "trips")
        builder.block.append(Loop(position, last, -1, -1, [], True, carried, body, None, counter, trips, [], stmt.site))
        return outs

    # --- sweeps in the loop itself ------------------------------------------------------------------------------------

    def in_place(self, stmt: Loop, seeds: list[tuple[Any, Any]]) -> bool:
        """The adjoint of a loop that carries sums alone, inside the loop: an iteration's adjoint follows the iteration, and needs no
        heads. False where that cannot be, since the seeds depend on what comes after the loop.

            for i in range(n): e += f(v[i])    --->    for i in range(n): e += f(v[i]); dv[i] += de * df(v[i])
        """
        builder = self.builder
        place = next((k for k, part in enumerate(builder.block) if part is stmt), None)
        if place is None:
            return False
        factor: Any = None
        if not self.move_before(stmt, [g for _, g in seeds]):
            if len(seeds) > 1 or seeds[0][0][0].shape:
                return False
            # The adjoint is linear in its seed: it is found for 1, and multiplied afterwards.
            factor, seeds = seeds[0][1], [(seeds[0][0], 1.0)]
        threaded = self.threaded(stmt, (stmt.body,))
        first, later = [], {}
        for x in threaded:
            old = self.cotangents.get(x)
            if old is not None and (factor is not None or not self.move_before(stmt, [old])):
                later[x], old = old, None
            first.append(builder.operand(zeros(builder, x.shape) if old is None else old))
        collected = [Var(FLOAT, x.shape, "cotangent") for x in threaded]
        with builder.inside(stmt.body) as body:
            builder.know(body)
            own = list(body)
            inner = Adjoint(builder, self.varied)
            inner.cotangents.update((x, builder.sym(c)) for x, c in zip(threaded, collected))
            for (_, _, after, _), g in seeds:
                inner.add(after, g)
            inner.sweep(own)
            after = [builder.operand(inner.current(x)) for x in threaded]
        outs = [Var(FLOAT, x.shape, "cotangent") for x in threaded]
        stmt.carried += list(zip(collected, first, after, outs))
        for x, out in zip(threaded, outs):
            found = builder.sym(out) if factor is None else OPERATORS.strong_multiply(factor, builder.sym(out))
            self.cotangents[x] = later[x] + found if x in later else found
        for (_, initial, _, _), g in seeds:
            self.add(initial, g if factor is None else factor)
        return True

    def move_before(self, stmt: Loop, values: list[Any]) -> bool:
        """Move what computes some values, and stands behind a loop, before it; False where it depends on the loop."""
        block = self.builder.block
        place = next(k for k, part in enumerate(block) if part is stmt)
        made = {out: k for k, part in enumerate(block[place:], place) for out in defined(part)}
        pending = [x.var for x in values if x.__class__ is Sym]
        moved: set[int] = set()
        while pending:
            k = made.get(pending.pop())
            if k is None or k in moved:
                continue
            if block[k].__class__ is not Apply:
                return False
            moved.add(k)
            pending += operands(block[k])
        order = sorted(moved)
        parts = [block[k] for k in order]
        for k in reversed(order):
            del block[k]
        block[place:place] = parts
        return True


# Which values that a loop carries are sums: a phi to which every iteration adds, and that is read for nothing else. The
# cotangent of a sum is the same in every iteration, so that its reverse sweep may go through the iterations in any order.


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
