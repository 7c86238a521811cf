"""Loops and branches: what they carry stays in one place, and arrays are handed on without copies where that is possible."""

from __future__ import annotations

from contextlib import contextmanager

from ...core.tensor import OPERATORS
from ..ir import Apply, If, Loop, Var, defined, ends, free, inside
from .code import ROOM, State, reads
from .memory import Affine, Buffer, Ref, variable
from .scalars import BOUND, NAME, is_elementwise
from .statements import STATEMENTS, Statements

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from ..ir import Block, Stmt
    from .fusion import Reading

# How many iterations go by between two looks at the stop word.
STRIDE = 4096
# And where the iterations are counted; a conditional loop has room for the heads of as many at first.
FIRST = 256
# Numbers of iterations, and what loops count, are far from the bound of integers.
MOST = 2**50


class Emitter(Statements):
    def block(self, block: Block, last: Iterable[Any], own: Iterable[Var], outer: bool = False) -> None:
        """The statements of a block, at whose end `last` is read."""
        self.inline |= inlined(block, () if outer else last)
        self.state = State(block, last, own)
        for self.state.position, stmt in enumerate(block):
            KINDS[stmt.__class__](self, stmt)
        self.state.position = len(block)

    @contextmanager
    def inner(self) -> Iterator[None]:
        """A block inside this one: what it puts into memory is there in it alone."""
        depth, state, refs = self.depth, self.state, self.refs
        self.refs = dict(refs)
        yield
        self.close_all()
        if self.lines[-1].endswith(":"):
            self.add("pass")
        self.depth, self.state, self.refs = depth, state, refs

    def enter(self, stmt: Stmt) -> None:
        """Before a loop or a branch: what its blocks read is put where they find it."""
        for x in free([stmt]):
            if not x.shape:
                self.atom(x)
            elif not self.light(x):
                self.force(x)
        self.close_all()

    # --- loops --------------------------------------------------------------------------------------------------------

    def loop(self, stmt: Loop) -> None:
        self.enter(stmt)
        firsts = [first for _, first, _, _ in stmt.carried]
        read_inside = free([*stmt.test, *stmt.body], ends(stmt))
        for phi, first, _, _ in stmt.carried:
            if phi.shape:
                self.refs[phi] = self.taken(first, first in read_inside or firsts.count(first) > 1)
            else:
                text = self.text(first, phi.kind)
                self.texts[phi] = self.new(phi)
                self.add(f"{self.texts[phi]} = {text}")
        self.close_all()
        counter = ""
        if stmt.index is None or stmt.stop_when is not None or abs(stmt.step) > 1:
            counter = self.new("n")
            self.add(f"{counter} = 0")
        growing = self.make_stacks(stmt, counter)
        fixed = self.fixed_adds(stmt)
        for update, _ in fixed:
            self.collected[update] = self.new("s")
            self.add(f"{self.collected[update]} = 0.0")
        with self.inner():
            polls = self.head(stmt, counter)
            if stmt.index is None:
                self.block(stmt.test, [stmt.condition], ())
                self.add(f"if not {self.text(stmt.condition, 'b')}:", "    break")
                self.close_all()
            phis, afters = [phi for phi, _, _, _ in stmt.carried], [after for _, _, after, _ in stmt.carried]
            self.block(stmt.body, [stmt.stop_when, *afters], phis)
            pairs = [(self.texts[phi], self.text(x, phi.kind)) for phi, x in zip(phis, afters) if not phi.shape]
            if stmt.stop_when is not None:
                pairs.append((self.new("stop"), self.text(stmt.stop_when, "b")))
            self.deliver([(self.refs[phi].buffer, x) for phi, x in zip(phis, afters) if phi.shape])
            self.exchange(pairs)
            if counter:
                self.add(f"{counter} += 1")
            if stmt.stop_when is not None:
                self.add(f"if {pairs[-1][0]}:", "    break")
            if growing:
                polls += [f"if {counter} & ({counter} - 1) == 0:", *growing]
            if polls:
                self.add(f"if {counter} & {FIRST - 1} == 0:", *["    " + line for line in polls])
        for phi, _, _, out in stmt.carried:
            if phi.shape:
                self.refs[out] = self.refs[phi]
            else:
                self.texts[out] = self.texts[phi]
        for update, phi in fixed:
            total, at = self.collected[update], tuple(map(self.place, update.attributes["index"]))
            self.add(f"if {total} != 0.0:", f"    {self.refs[phi].element(at)} += {total}")
        self.bounds[stmt.trips] = MOST
        if counter:
            self.texts[stmt.trips] = counter
        elif self.uses.get(stmt.trips, 0):
            self.assign(stmt.trips, self.trips(stmt))

    def trips(self, stmt: Loop) -> str:
        """The number of iterations of a counted loop."""
        first, last, step = self.place(stmt.start), self.place(stmt.stop), stmt.step
        if not first.terms and not last.terms:
            return str(len(range(first.constant, last.constant, step)))
        way = last + first * -1 if step > 0 else first + last * -1
        return f"max(0, {way})" if abs(step) == 1 else f"max(0, ({way + Affine(abs(step) - 1)}) // {abs(step)})"

    def make_stacks(self, stmt: Loop, counter: str) -> list[str]:
        """Memory for what the iterations put; that of a conditional loop is doubled by the lines that are returned."""
        growing = []
        for stack in stmt.stacks:
            name, size = self.new("stack"), stack.size
            self.stacks[stack] = Buffer(name, stack.kind, -1, writable=False)
            room = f"stack_of_{ROOM[stack.kind]}(run, {self.slot()}, {{}}{f' * {size}' if size != 1 else ''})"
            if stmt.index is None:
                self.entry[name] = room.format(FIRST)
                growing.append(f"    {name} = {room.format(f'(2 * {counter})')}")
            else:
                self.add(f"{name} = {room.format(self.trips(stmt))}")
        return growing

    def head(self, stmt: Loop, counter: str) -> list[str]:
        """Write the lines that begin an iteration. Loops of the program look at the stop word now and then: the lines that do so
        every few iterations are returned."""
        polled, nested = stmt.site is not None, any(s.__class__ is Loop for s in (*stmt.test, *stmt.body))
        if stmt.index is None:
            self.add("while True:")
        else:
            first, last, step = self.place(stmt.start), self.place(stmt.stop), stmt.step
            index = self.texts[stmt.index] = self.new(stmt.index)
            known = not first.terms and not last.terms
            polled = polled and (nested or not known or len(range(first.constant, last.constant, step)) > STRIDE)
            # A loop that starts at a small number never comes near the bound of integers.
            limits = [self.bound(x) for x in (stmt.start, stmt.stop)]
            self.bounds[stmt.index] = max(limits) if max(limits) < BOUND else MOST if min(limits) < MOST else BOUND
            begin, end = str(first), str(last)
            if polled and not nested and not counter:
                # A branch in the loop would keep its loads and stores from being moved.
                begin, polled = self.new("block"), False
                self.add(f"for {begin} in range({first}, {last}, {STRIDE * step}):", "    poll(run)")
                self.depth += 1
                end = f"min({begin} + {STRIDE}, {last})" if step == 1 else f"max({begin} - {STRIDE}, {last})"
            self.add(f"for {index} in range({begin}, {end}{f', {step}' if step != 1 else ''}):")
            way = variable(index) + first * -1 if step > 0 else first + variable(index) * -1
            self.places[stmt.position], self.texts[stmt.position] = way, way.as_operand()
        self.depth += 1
        self.bounds[stmt.position] = MOST
        if counter:
            self.places[stmt.position], self.texts[stmt.position] = variable(counter), counter
        if polled and nested:
            self.add("poll(run)")
        return ["poll(run)"] if polled and not nested else []

    def fixed_adds(self, stmt: Loop) -> list[tuple[Any, Var]]:
        """The statements that add to an element of a carried array which is the same in all iterations, while others only add to
        that array: what they add is summed up first, so that the loop does not write to memory for it."""
        made: dict[Any, Any] = {out: s for s in stmt.body for out in defined(s)}
        found = []
        for phi, _, x, _ in stmt.carried:
            chain = []
            while made.get(x).__class__ is Apply and made[x].row is OPERATORS.index_add and self.uses[x] == 1:
                chain.append(made[x])
                x = made[x].inputs[0]
            if x is phi and self.uses.get(phi) == 1 and phi.kind == "f":
                moving = (*made, *inside(stmt), None)
                for s in chain:
                    entries = s.attributes["index"]
                    if len(entries) == len(phi.shape) and not any(e.__class__ is slice or e in moving for e in entries):
                        found.append((s, phi))
        return found

    def taken(self, first: Any, shared: bool) -> Ref:
        """The memory of a carried array: that of its first value where nobody else reads it, or a copy."""
        if first in self.refs and not shared and self.dies(first):
            return self.refs[first]
        return self.copied(first)

    # --- branches -----------------------------------------------------------------------------------------------------

    def branch(self, stmt: If) -> None:
        self.enter(stmt)
        arrays = [item for item in stmt.outs if item[0].shape]
        bases = [base(a, stmt.then) if base(a, stmt.then) is base(b, stmt.orelse) else None for _, a, b in arrays]
        granted = [x for x in bases if x in self.refs and bases.count(x) == 1 and self.dies(x)]
        targets = [self.refs[x].buffer if x in granted else self.buffer(out) for (out, _, _), x in zip(arrays, bases)]
        self.close_all()
        names = {out: self.new(out) for out, _, _ in stmt.outs if not out.shape}
        heads = [f"if {self.text(stmt.condition, 'b')}:", "else:"]
        for side, block in ((1, stmt.then), (2, stmt.orelse)):
            self.add(heads[side - 1])
            with self.inner():
                self.depth += 1
                self.block(block, [item[side] for item in stmt.outs], granted)
                self.deliver([(target, item[side]) for target, item in zip(targets, arrays)])
                for item in stmt.outs:
                    if item[0] in names:
                        self.add(f"{names[item[0]]} = {self.text(item[side], item[0].kind)}")
        if self.lines[-1] == "    " * self.depth + "    pass":
            del self.lines[-2:]
        for (out, _, _), target in zip(arrays, targets):
            self.refs[out] = Ref(target, out.shape)
        self.texts.update(names)

    # --- what blocks hand on when they end ----------------------------------------------------------------------------

    def deliver(self, wanted: list[tuple[Buffer, Any]]) -> None:
        """Bring arrays into the memory where they are expected, as if all were written at once."""
        wanted = [(buffer, v) for buffer, v in wanted if v not in self.refs or self.refs[v].buffer is not buffer]
        readings: list[tuple[Any, Reading]] = []
        for _ in range(2):  # the first time stores what is costly
            readings = [(v, {}) for _, v in wanted]
            for v, reading in readings:
                self.prepare(v, v.shape, reading, True)
        buffers = {buffer for buffer, _ in wanted}
        if any(buffer in buffers for _, reading in readings for buffer in reading):
            self.close_all()
        late = []
        for buffer, v in sorted(wanted, key=lambda item: item[1].shape):
            readers = [(w, reading[buffer]) for w, reading in readings if buffer in reading]
            # The stores of a nest stand behind what it reads at the same index.
            direct = all(in_order and w.shape == v.shape for w, in_order in readers)
            ref = Ref(buffer if direct else self.buffer(v), v.shape)
            if readers or not self.cleared(v, ref):
                self.store(v, ref)
            if not direct:
                late.append((buffer, ref.buffer))
        self.state.position += 1  # nothing is read later
        self.close_all()
        for buffer, other in late:
            self.add(f"for i in range({buffer.size}):", f"    {buffer.name}[i] = {other.name}[i]")

    def exchange(self, pairs: list[tuple[str, str]]) -> None:
        """Assign texts to names as if at once."""
        pairs = [(name, text) for name, text in pairs if name != text]
        late = []
        for k, (name, text) in enumerate(pairs):
            if any(name in NAME.findall(other) for _, other in pairs[k + 1 :]):
                late.append((name, self.new("next")))
                name = late[-1][1]
            self.add(f"{name} = {text}")
        self.add(*[f"{name} = {new}" for name, new in late])


def base(x: Any, block: Block) -> Var | None:
    """The array from outside a block that `x` is, after updates in the block."""
    made = {out: stmt for stmt in block for out in defined(stmt)}
    while x in made:
        stmt: Any = made[x]
        if stmt.__class__ is Apply and stmt.row in (OPERATORS.index_update, OPERATORS.index_add):
            x = stmt.inputs[0]
        elif stmt.__class__ is Loop:
            x = next((first for _, first, _, out in stmt.carried if out is x), None)
        elif stmt.__class__ is If:
            one, other = next((base(a, stmt.then), base(b, stmt.orelse)) for out, a, b in stmt.outs if out is x)
            x = one if one is other else None
        else:
            return None
    return x if x.__class__ is Var else None


def inlined(block: Block, last: Iterable[Any]) -> set[Var]:
    """The numbers of a block that one of its statements alone reads, once, in an expression of numbers, or that its end does."""
    count: dict[Any, int] = {}
    fit: set[Any] = set(last)
    stmt: Any
    for stmt in block:
        plain = stmt.__class__ is Apply and is_elementwise(stmt.row) and not stmt.outs[0].shape
        given = stmt.inputs if plain else reads(stmt)
        fit.update(given if plain else ())
        for x in given:
            count[x] = count.get(x, 0) + 1
    for x in last:
        count[x] = count.get(x, 0) + 1
    return {x for x in fit if x.__class__ is Var and count[x] == 1 and not x.shape}


KINDS: dict[Any, Callable[[Any, Any], None]] = {**STATEMENTS, Loop: Emitter.loop, If: Emitter.branch}
