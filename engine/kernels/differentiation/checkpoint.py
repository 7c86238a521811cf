"""Binomial checkpointing: the states of a long loop kept at the starts of some blocks, its heads for one block at a time.

The forward sweep keeps the loop's first state alone. The reverse sweep takes the blocks from the last to the first: it
goes forward from the nearest state that is kept to the start of the block, keeping states on the way as the binomial
schedule says (autodiff/revolve.py), runs the block once more with its heads kept, and then its iterations in reverse.
(Griewank and Walther, Algorithm 799: revolve, ACM TOMS 2000.)
"""

from __future__ import annotations

from ...autodiff.checkpoint_sizes import shares, states_for, states_kept
from .. import ir
from ..ir import BOOL, INT, Array, Loop, ReverseLoop, Stack, Stmt, Var
from ..symbols.build import Builder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Rename = Callable[[list[Stmt], dict[Any, Any]], list[Stmt]]

WORD = 8
# More iterations in a block save no work, and leave the caches.
LONGEST_BLOCK = 1 << 15


class Checkpointed:
    """A loop of the program's, `budget` bytes, and the arrays in which its states are kept.

    `logs` are the arrays that it changes in place, `rename` copies its body for another run.
    """

    def __init__(self, loop: Loop, budget: int, logs: list[tuple[Var, Array]], rename: Rename) -> None:
        self.loop = loop
        self.rename = rename
        self.arrays = [array for _, array in logs]
        marked = {phi for phi, _ in logs}
        self.carried = [entry for entry in loop.carried if entry[0] not in marked]
        self.body = without_logs(loop.body, set(self.arrays))
        state = WORD * (len(self.carried) + 1 + sum(array.size for array in self.arrays))
        head = WORD * len(loop.carried) + 2 * WORD * sum(kept_elements(loop.body, array) for array in self.arrays)
        self.block, room = shares(budget, max(head, WORD), state, LONGEST_BLOCK)
        self.kept = states_kept(room)
        if loop.test is None and all(x.__class__ is int for x in (loop.start, loop.stop, loop.step)):
            blocks = -(-len(range(loop.start, loop.stop, loop.step)) // self.block)
            self.kept = [(blocks, states_for(blocks, room))]
        self.slots = self.kept[-1][1]
        self.free: Any = self.slots
        self.at = Array(INT, (self.slots,), "h")
        self.states = {phi: Array(phi.kind, (self.slots,), "h") for phi, _, _ in self.carried}
        self.copies = {array: Array(array.kind, (self.slots * array.size,), "h") for array in self.arrays}
        self.builder = Builder()

    def forward(self) -> list[Stmt]:
        """The loop without heads, after its first state has been kept."""
        builder = self.builder

        def fill() -> None:
            for array in (self.at, *self.states.values(), *self.copies.values()):
                builder.append(ir.Alloc(array, False))
            self.keep(0, 0, [initial for _, initial, _ in self.carried])
            builder.append(self.loop.replace(carried=self.carried, body=self.body, stacks={}))

        return builder.nested(fill)[0]

    def backward(self, reverse: ReverseLoop) -> list[Stmt]:
        """The blocks in reverse; `reverse` is the reverse loop over all the heads, kept at once."""
        builder = self.builder

        def fill() -> None:
            whole = self.whole("add", self.loop.trips, self.block - 1)
            blocks = self.whole("int_floor_divide", whole, self.block)
            for most, states in reversed(self.kept[:-1]):
                enough = Var(BOOL)
                builder.append(ir.Set(enough, "less_equal", (blocks, most), None, None))
                chosen = Var(INT)
                builder.append(ir.Set(chosen, "where_select", (enough, states, self.free), None, None))
                self.free = chosen
            number, top, rest = Var(INT, "i"), Var(INT, "l"), Var(INT, "v")
            body, _ = builder.nested(lambda: self.one_block(reverse, number, top, rest))
            last = self.whole("subtract", blocks, 1)
            builder.append(
                Loop(number, last, -1, -1, None, None, [(top, 1, rest)], body, None, {}, Var(INT, "t"), self.loop.site)
            )

        return builder.nested(fill)[0]

    def one_block(self, reverse: ReverseLoop, number: Var, top: Var, rest: Var) -> None:
        """Go to the start of a block, run it with its heads kept, and in reverse. `rest` states are left then."""
        builder, loop = self.builder, self.loop
        last = self.whole("subtract", top, 1)
        nearest = self.loaded(self.at, last)
        found = [self.loaded(self.states[phi], last) for phi, _, _ in self.carried]
        for array in self.arrays:
            self.copied(self.copies[array], self.whole("multiply", last, array.size), array, 0, array.size)
        reached, kept = Var(INT, "l"), Var(INT, "l")
        phis = [Var(phi.kind, "l") for phi, _, _ in self.carried]
        condition = Var(BOOL)
        test: list[Stmt] = [ir.Set(condition, "less", (reached, number), None, None)]
        following: list[Any] = []
        body, _ = builder.nested(lambda: following.extend(self.advance(number, reached, kept, phis)))
        carried = list(zip([reached, kept, *phis], [nearest, top, *found], following))
        builder.append(Loop(None, 0, 0, 1, test, condition, carried, body, None, {}, Var(INT, "t"), loop.site))
        # A state at the start of this block has served.
        here = Var(BOOL)
        builder.append(ir.Set(here, "equal", (nearest, number), None, None))
        builder.append(ir.Set(rest, "where_select", (here, last, kept), None, None))
        start = self.whole("multiply", number, self.block)
        count = self.whole("minimum", self.whole("subtract", loop.trips, start), self.block)
        first: dict[Var, Any] = dict(zip([phi for phi, _, _ in self.carried], phis))
        for phi, _, _ in loop.carried:
            if phi not in first:
                array = next(a for a in self.arrays if ends_log(loop.body, a) is entry_of(loop, phi))
                builder.append(ir.OpenLog(array))
                first[phi] = Var(INT)
                builder.append(ir.Mark(first[phi], array))
        heads = {phi: stack for (phi, _, _), (_, stack) in zip(loop.carried, reverse.restore)}
        again, _ = self.again(loop.carried, loop.body, first, start, count, heads)
        index = reverse.index if reverse.index is not None else (reverse.position if loop.index is not None else None)
        builder.append(
            ReverseLoop(
                again.trips, Var(INT, "k"), index, self.place(start), loop.step, reverse.restore, reverse.body
            )
        )  # fmt: skip

    def advance(self, number: Var, reached: Var, kept: Var, phis: list[Var]) -> list[Any]:
        """Go on by the schedule's stride, and keep the state unless the block is reached; what is carried on."""
        builder = self.builder
        far, free = self.whole("subtract", number, reached), self.whole("subtract", self.free, kept)
        stride = self.whole("revolve", far, free)
        first = dict(zip([phi for phi, _, _ in self.carried], phis))
        start, count = self.whole("multiply", reached, self.block), self.whole("multiply", stride, self.block)
        _, found = self.again(self.carried, self.body, first, start, count, {})
        now = self.whole("add", reached, stride)
        before = Var(BOOL)
        builder.append(ir.Set(before, "less", (now, number), None, None))
        more: list[Any] = []

        def keep() -> None:
            self.keep(kept, now, found)
            more.append(self.whole("add", kept, 1))

        then, _ = builder.nested(keep)
        merged = Var(INT, "m")
        builder.append(ir.If(before, then, [], [(merged, more[0], kept)]))
        return [now, merged, *found]

    def again(
        self, carried: Any, body: list[Stmt], first: dict[Var, Any], start: Any, count: Any, heads: dict[Var, Stack]
    ) -> tuple[Loop, list[Var]]:
        """Run `count` iterations from number `start` on, from the state `first`; the loop and the state after it."""
        loop = self.loop
        names: dict[Any, Any] = {phi: Var(phi.kind, "r") for phi, _, _ in carried}
        counter = Var(INT, "i")
        place = None
        if loop.index is not None:
            place = self.place(start)
            names[loop.index] = Var(INT, "i")

        def fill() -> None:
            if place is not None:
                offset = counter if loop.step == 1 else self.whole("multiply", counter, loop.step)
                index = names[loop.index]
                self.builder.append(ir.Set(index, "add", (place, offset), None, None))
            self.builder.block.extend(self.rename(body, names))

        made, _ = self.builder.nested(fill)
        found = Loop(
            counter, 0, count, 1, None, None,
            [(names[phi], first[phi], names.get(f, f) if f.__class__ is Var else f) for phi, _, f in carried],
            made, None, {names[phi]: stack for phi, stack in heads.items()}, Var(INT, "t"), loop.site,
        )  # fmt: skip
        self.builder.append(found)
        return found, [names[phi] for phi, _, _ in carried]

    def place(self, start: Any) -> Any:
        """The loop's index at an iteration's number."""
        loop = self.loop
        offset = start if loop.step == 1 else self.whole("multiply", start, loop.step)
        return offset if loop.start.__class__ is int and loop.start == 0 else self.whole("add", loop.start, offset)

    def keep(self, slot: Any, number: Any, state: list[Any]) -> None:
        """Keep the state at the start of a block in a slot."""
        self.builder.append(ir.Store(self.at, slot, number))
        for (phi, _, _), value in zip(self.carried, state):
            self.builder.append(ir.Store(self.states[phi], slot, value))
        for array in self.arrays:
            self.copied(array, 0, self.copies[array], self.whole("multiply", slot, array.size), array.size)

    def copied(self, source: Array, start: Any, target: Array, place: Any, size: int) -> None:
        """Copy `size` elements."""
        builder = self.builder

        def element(i: Any) -> None:
            value = self.loaded(source, self.whole("add", start, i.var))
            builder.append(ir.Store(target, self.whole("add", place, i.var), value))

        builder.count(size, element)

    def loaded(self, array: Array, index: Any) -> Var:
        var = Var(array.kind, "x")
        self.builder.append(ir.Load(var, array, index))
        return var

    def whole(self, op: str, a: Any, b: Any) -> Any:
        """An operation on integers."""
        if a.__class__ is int and b.__class__ is int and op in ("add", "multiply"):
            return a + b if op == "add" else a * b
        if op == "add" and 0 in (a, b):
            return b if a.__class__ is int and a == 0 else a
        var = Var(INT)
        self.builder.append(ir.Set(var, op, (a, b), None, None))
        return var


def entry_of(loop: Loop, phi: Var) -> Any:
    """What a carried variable is at the end of an iteration."""
    return next(following for carried, _, following in loop.carried if carried is phi)


def ends_log(body: list[Stmt], array: Array) -> Any:
    """The variable that holds the length of an array's log at the end of a body."""
    return next(s.var for s in reversed(body) if s.__class__ is ir.Mark and s.array is array)


def without_logs(block: list[Stmt], arrays: set[Array]) -> list[Stmt]:
    """A block that notes nothing of what it overwrites in some arrays."""
    found: list[Stmt] = []
    removed: set[Any] = set()
    for s in block:
        if isinstance(s, ir.Keep | ir.Mark) and s.array in arrays:
            if s.__class__ is ir.Mark:
                removed.add(s.var)
            continue
        if s.__class__ is Loop:
            ends = {x.var for x in s.body if x.__class__ is ir.Mark and x.array in arrays}
            carried = [entry for entry in s.carried if entry[2] not in ends]
            s = s.replace(body=without_logs(s.body, arrays), carried=carried)
        elif s.__class__ is ir.If:
            s = ir.If(s.condition, without_logs(s.then, arrays), without_logs(s.orelse, arrays), s.merges)
        found.append(s)
    return found


def kept_elements(block: list[Stmt], array: Array) -> int:
    """About how many elements of an array a block notes."""
    total = 0
    for s in block:
        if s.__class__ is ir.Keep and s.array is array:
            total += 1
        elif s.__class__ is Loop:
            bounds = (s.start, s.stop, s.step)
            known = s.test is None and all(x.__class__ is int for x in bounds)
            total += kept_elements(s.body, array) * (len(range(*bounds)) if known else array.size)
        elif s.__class__ is ir.If:
            total += max(kept_elements(s.then, array), kept_elements(s.orelse, array))
    return total
