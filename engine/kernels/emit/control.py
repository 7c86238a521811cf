"""Loops and branches: what they carry stays in one place, and arrays are handed on without copies where that is possible."""

from __future__ import annotations

from ..ir import Apply, If, Loop, Stmt, Var, defined, ends, free, inside, walk
from .code import ROOM, State, reads
from .handing import Handing, base, inlined
from .memory import Buffer, Ref, size_of
from .scalars import BOUND, kind_of
from .text import Affine, is_atom, variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ..ir import Block

# How many iterations go by between two looks at the stop word.
STRIDE = 4096


class Emitter(Handing):
    def block(self, block: Block, last: Iterable[Any] = ()) -> None:
        self.inline |= inlined(block, last)
        for stmt in block:
            if stmt in self.state.done:
                continue
            if stmt.__class__ is Loop:
                self.loop(stmt)
            elif stmt.__class__ is If:
                self.branch(stmt)
            else:
                self.statement(stmt)

    def enter(self, stmt: Stmt, but: Iterable[Var] = ()) -> dict[Var, None]:
        """Before a loop or a branch: what its blocks read is put where they find it."""
        outside = free([stmt])
        for x in outside:
            if x.shape:
                if x not in self.refs and not self.light(x):
                    self.force(x)
            elif x not in but:
                self.atom(x)
        self.close_all()
        return outside

    # --- loops --------------------------------------------------------------------------------------------------------

    def loop(self, stmt: Loop) -> None:
        if self.empty(stmt):
            return
        outside = self.enter(stmt)
        carried = [(phi, first, after, out) for phi, first, after, out in stmt.carried if phi.shape]
        numbers = [(phi, first, after, out) for phi, first, after, out in stmt.carried if not phi.shape]
        inner = free([*stmt.test, *stmt.body], ends(stmt))
        for x in inside(stmt):
            inner.pop(x, None)
        for phi, first, _, _ in carried:
            ref = self.taken(first, phi, inner, [x for _, x, _, _ in carried])
            self.refs[phi] = ref
        self.close_all()
        start, stop, step = self.if_known(stmt.start), self.if_known(stmt.stop), stmt.step
        counting = stmt.index is not None
        trips = self.trips(start, stop, step) if counting else ""
        collected = self.collect(stmt, inner)
        self.note_useless(stmt)
        for phi, first, _, _ in numbers:
            name = self.texts[phi] = self.new(phi)
            self.lines.add(f"{name} = {self.text(first, phi.kind)}")
            if phi.kind == "i":
                self.bounds[phi] = self.carried_bound(stmt, phi, first)
        grown = []
        for stack in stmt.stacks:
            name = self.new("stack")
            slot = self.slot()
            self.stacks[stack] = Buffer(name, stack.kind, -1, writable=False)
            size = size_of(stack.shape)
            count = trips if counting else "256"
            if not counting:
                room = self.new("room")
                self.lines.add(f"{room} = 256")
                grown.append((name, stack.kind, slot, room, size))
            if count.isdigit() and counting:
                self.entry.append(f"{name} = {ROOM[stack.kind]}(run, {slot}, {int(count) * size})")
            else:
                self.lines.add(f"{name} = {ROOM[stack.kind]}(run, {slot}, {count}{f' * {size}' if size != 1 else ''})")
        block = [*stmt.test, *stmt.body]
        position, counter = stmt.position, ""
        positioned = position in free([], ()) or self.uses.get(position, 0) > 0
        simple = counting and step in (1, -1) and start.__class__ is not float
        if not simple and (positioned or not counting or stmt.stop_when is not None or grown):
            counter = self.new("n")
        if simple and stmt.stop_when is not None and self.uses.get(stmt.trips, 0):
            counter = self.new("n")
        polled = stmt.site is not None
        nested = any(s.__class__ is Loop for s in block)
        if counter:
            self.lines.add(f"{counter} = 0")
        depth = self.lines.depth
        if counting:
            self.head(stmt, start, stop, step, counter, polled, nested)
        else:
            self.lines.add("while True:")
            self.lines.depth += 1
            if polled:
                self.poll(counter, nested)
        if positioned:
            if simple and not counter:
                begin = self.place(start)
                index = variable(self.texts[stmt.index])  # type: ignore[index]
                self.places[position] = index + begin * -1 if step == 1 else begin + index * -1
                self.texts[position] = self.places[position].as_operand()
            else:
                self.texts[position] = counter
            self.bounds[position] = 2**50
        for name, kind, slot, room, size in grown:
            self.lines.add(f"if {counter} >= {room}:")
            self.lines.add(f"{room} = 2 * {room}", 1)
            self.lines.add(f"{name} = {ROOM[kind]}(run, {slot}, {room} * {size})", 1)
        before = self.state
        last = [stmt.condition, stmt.stop_when, *(after for _, _, after, _ in stmt.carried)]
        self.state = State(block, last, [phi for phi, _, _, _ in stmt.carried])
        self.state.own |= {x for s in block for x in defined(s)}
        if not counting:
            self.block(stmt.test, [stmt.condition] if self.uses.get(stmt.condition) == 1 else ())
            self.lines.add(f"if not {self.text(stmt.condition, 'b')}:")
            self.lines.add("break", 1)
        self.block(stmt.body, last[1:])
        texts = [(self.texts[phi], self.text(after, phi.kind)) for phi, _, after, _ in numbers]
        stop_text = ""
        if stmt.stop_when is not None:
            stop_text = self.text(stmt.stop_when, "b")
            if not is_atom(stop_text) or stop_text in {name for name, _ in texts}:
                name = self.new("stop")
                self.lines.add(f"{name} = {stop_text}")
                stop_text = name
        self.deliver([(self.refs[phi].buffer, after) for phi, _, after, _ in carried], swap=True)
        self.close_all()
        self.exchange(texts)
        if counter:
            self.lines.add(f"{counter} += 1")
        if stop_text:
            self.lines.add(f"if {stop_text}:")
            self.lines.add("break", 1)
        if not block and not counter and not texts:
            self.lines.add("pass")
        self.lines.depth = depth
        self.state = before
        for phi, _, _, out in carried:
            self.refs[out] = self.refs[phi]
        for phi, _, _, out in numbers:
            self.texts[out] = self.texts[phi]
        for name, place in collected:
            self.lines.add(f"if {name} != 0.0:")
            self.lines.add(f"{place} += {name}", 1)
        if counter:
            self.texts[stmt.trips] = counter
        elif trips.isdigit():
            self.texts[stmt.trips], self.places[stmt.trips] = trips, Affine(int(trips))
        elif self.uses.get(stmt.trips, 0):
            self.assign(stmt.trips, trips)
        self.bounds[stmt.trips] = int(trips) if trips.isdigit() and not counter else 2**50
        for x in outside:
            self.release(x)

    def if_known(self, x: Any) -> Any:
        """An integer that is known by now, as a number."""
        if x.__class__ is Var:
            place = self.place(x)
            return x if place.terms else place.constant
        return x

    def empty(self, stmt: Loop) -> bool:
        """A loop that does nothing; only the number of its iterations may be wanted."""
        if stmt.index is None or stmt.body or stmt.carried or stmt.stop_when is not None:
            return False
        trips = self.trips(self.if_known(stmt.start), self.if_known(stmt.stop), stmt.step)
        if self.uses.get(stmt.trips, 0):
            if trips.isdigit():
                self.texts[stmt.trips], self.places[stmt.trips] = trips, Affine(int(trips))
            else:
                self.assign(stmt.trips, trips)
            self.bounds[stmt.trips] = 2**50
        self.consume(stmt)
        return True

    def carried_bound(self, stmt: Loop, phi: Var, first: Any) -> int:
        """A bound of a carried integer: a counter gets no further than the number of iterations lets it."""
        made = {out: s for s in walk(stmt.body) for out in defined(s)}

        def step(x: Any) -> int | None:
            if x is phi:
                return 0
            s: Any = made.get(x)
            if s.__class__ is Apply and s.row.name in ("add", "subtract") and s.outs[0].kind == "i":
                more, other = step(s.inputs[0]), s.inputs[1]
                made_by: Any = made.get(other)
                if made_by.__class__ is Apply and made_by.row.name == "mod":
                    other = made_by.inputs[1]
                return None if more is None or other.__class__ is not int else more + abs(other)
            if s.__class__ is If:
                sides = [step(v) for out, *both in s.outs if out is x for v in both]
                return None if None in sides else max(sides)  # type: ignore[type-var]
            return None

        after = next(x for p, _, x, _ in stmt.carried if p is phi)
        more = step(after)
        begin = self.bounds.get(first, BOUND) if first.__class__ is Var else abs(first)
        return BOUND if more is None or more > 2**10 or begin > 2**50 else 2**61

    def collect(self, stmt: Loop, inner: dict[Var, None]) -> list[tuple[str, str]]:
        """Where a loop only adds to elements of a carried array, of which one is the same in all iterations: sum that up first."""
        found = []
        made = {out: s for s in stmt.body for out in defined(s)}
        for phi, _, after, _ in stmt.carried:
            chain: list[Any] = []
            x = after
            while phi.kind == "f" and phi.shape:
                s: Any = made.get(x)
                if s.__class__ is not Apply or s.row.name != "index_add" or self.uses[x] != 1:
                    break
                chain.append(s)
                x = s.inputs[0]
            if x is not phi or self.uses.get(phi, 0) != 1:
                continue
            for s in chain:
                entries = s.attributes["index"]
                fixed = all(e.__class__ is int or (e.__class__ is Var and e in inner) for e in entries)
                if fixed and len(entries) == len(phi.shape) and kind_of(s.inputs[1]) == "f":
                    ref = self.refs[phi]
                    name = self.collected[s.outs[0]] = self.new("s")
                    self.lines.add(f"{name} = 0.0")
                    found.append((name, f"{ref.buffer.name}[{ref.at(tuple(map(self.place, entries)))}]"))
        return found

    def note_useless(self, stmt: Loop) -> None:
        """Updates that nobody sees: of the one element that an iteration reads, and no other one does."""
        made = {out: s for s in stmt.body for out in defined(s)}
        for phi, _, after, out in stmt.carried:
            update: Any = made.get(after)
            if (
                not phi.shape
                or self.uses.get(out, 0)
                or update.__class__ is not Apply
                or update.row.name != "index_update"
            ):
                continue
            entries = update.attributes["index"]
            readers = [s for s in stmt.body if phi in reads(s) and s is not update]
            alone = (
                update.inputs[0] is phi and self.uses[after] == 1 and any(moves(e, stmt.index, made) for e in entries)
            )
            same = all(
                s.__class__ is Apply and s.row.name == "index" and s.attributes["index"] == entries for s in readers
            )
            if alone and same:
                self.useless.add(update)

    def trips(self, start: Any, stop: Any, step: int) -> str:
        """The number of iterations of a counted loop, as text."""
        if start.__class__ is int and stop.__class__ is int:
            return str(len(range(start, stop, step)))
        first, last = self.place(start), self.place(stop)
        way = last + first * -1 if step > 0 else first + last * -1
        if abs(step) > 1:
            return f"max(0, ({way + Affine(abs(step) - 1)}) // {abs(step)})"
        return f"max(0, {way})"

    def head(self, stmt: Loop, start: Any, stop: Any, step: int, counter: str, polled: bool, nested: bool) -> None:
        """The line `for`, in blocks of iterations where the stop word is to be looked at."""
        index = self.texts[stmt.index] = self.new(stmt.index)  # type: ignore[index]
        ends_ = [abs(x) if x.__class__ is int else self.bounds.get(x, BOUND) for x in (start, stop)]
        small = start.__class__ is int and stop.__class__ is int and len(range(start, stop, step)) <= STRIDE
        # A loop that starts at a small number never comes near the bound of integers.
        self.bounds[stmt.index] = max(ends_) if max(ends_) < BOUND else 2**50 if min(ends_) < 2**50 else BOUND  # type: ignore[index]
        first, last = self.place(start), self.place(stop)
        span = (
            f"{last}"
            if first == Affine() and step == 1
            else f"{first}, {last}"
            if step == 1
            else f"{first}, {last}, {step}"
        )
        if not polled or (small and not nested):
            self.lines.add(f"for {index} in range({span}):")
            self.lines.depth += 1
        elif nested or stmt.stop_when is not None or step not in (1, -1):
            self.lines.add(f"for {index} in range({span}):")
            self.lines.depth += 1
            self.poll(counter or index, nested)
        else:
            block = self.new("block")
            reach = f"{block} + {STRIDE}" if step == 1 else f"{block} - {STRIDE}"
            self.lines.add(f"for {block} in range({first}, {last}, {STRIDE * step}):")
            self.lines.add("poll(run)", 1)
            best = "min" if step == 1 else "max"
            self.lines.add(f"for {index} in range({block}, {best}({reach}, {last}){'' if step == 1 else ', -1'}):", 1)
            self.lines.depth += 2

    def poll(self, counter: str, nested: bool) -> None:
        if not nested:
            self.lines.add(f"if {counter} & {STRIDE - 1} == 0:")
        self.lines.add("poll(run)", 0 if nested else 1)

    def taken(self, first: Any, phi: Var, inner: dict[Var, None], all_first: list[Any]) -> Ref:
        """The memory of a carried array: that of its first value where nobody else reads it, or a copy."""
        if first.__class__ is Var and first in self.refs and first not in inner and all_first.count(first) == 1:
            ref = self.refs[first]
            if self.dies(first, ref):
                return ref
        ref = Ref(self.buffer(phi), phi.shape)
        if not self.cleared(first, ref):
            self.store(first, ref)
        return ref

    # --- branches -----------------------------------------------------------------------------------------------------

    def branch(self, stmt: If) -> None:
        outside = self.enter(stmt)
        granted: list[Var] = []
        targets: list[Buffer] = []
        arrays = [item for item in stmt.outs if item[0].shape]
        bases = [(base(a, stmt.then), base(b, stmt.orelse)) for _, a, b in arrays]
        for (out, _, _), (one, other) in zip(arrays, bases):
            x = one or other
            ref = self.refs.get(x) if x is not None else None
            if (
                x is not None and ref is not None and None in (one, other, None if one is other else 0)
                and sum(x in pair for pair in bases) == 1 and self.dies(x, ref)
            ):  # fmt: skip
                granted.append(x)
                targets.append(ref.buffer)
            else:
                targets.append(self.buffer(out))
        self.close_all()
        names = {out: self.new(out) for out, _, _ in stmt.outs if not out.shape}
        condition = self.text(stmt.condition, "b")
        self.lines.add(f"if {condition}:")
        depth, before = self.lines.depth, self.state
        for side, block in ((1, stmt.then), (2, stmt.orelse)):
            mark = len(self.lines.lines)
            if side == 2:
                self.lines.add("else:")
            self.lines.depth += 1
            self.state = State(block, [item[side] for item in stmt.outs], granted)
            self.state.own |= {x for s in block for x in defined(s)}
            self.block(block, [item[side] for item in stmt.outs])
            self.deliver([(target, item[side]) for target, item in zip(targets, arrays)])
            self.close_all()
            for item in stmt.outs:
                if not item[0].shape:
                    self.lines.add(f"{names[item[0]]} = {self.text(item[side], item[0].kind)}")
            self.lines.depth = depth
            if len(self.lines.lines) == mark + side - 1:
                if side == 1:
                    self.lines.add("pass", 1)
                else:
                    del self.lines.lines[mark:]
        self.state = before
        for (out, _, _), target in zip(arrays, targets):
            self.refs[out] = Ref(target, out.shape)
        self.texts.update(names)
        for x in outside:
            self.release(x)


def moves(entry: Any, index: Var | None, made: dict[Var, Any]) -> bool:
    """Whether a part of an index is another one in each iteration: the index of the loop, or that and a number."""
    if entry.__class__ is not Var:
        return False
    stmt = made.get(entry)
    if stmt.__class__ is Apply and stmt.row.name in ("add", "subtract") and stmt.inputs[1].__class__ is int:
        entry = stmt.inputs[0]
    return entry is index
