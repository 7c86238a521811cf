"""Loops that stay loops: what an iteration hands on to the next is found by running the body on symbols.

Numbers are carried by the loop, arrays change in place; tuples, lists and dicts are carried by their parts. Where what
is carried is of another kind after the first iteration (a number that becomes an array), that iteration is written out.
"""

from __future__ import annotations

from ..core.state import STATE
from ..program import core as c
from . import ir
from .bodies import changed_in_place
from .build import NUMBERS, Lazy, Sym, join, kind_of, raw
from .control import ZEROS, Control
from .heap import ITEMS, Heap, Rows, same
from .ir import BOOL, FLOAT, INT, Array, Unsupported, Var
from .pairs import Pair, pair_of
from .strength import is_strong
from .values import (
    BREAK,
    CONTINUE,
    MAX_UNROLL,
    PARENT,
    RESULT,
    RETURN,
    SUSPEND,
    UNSET,
    VALUE,
    Each,
    Frame,
    List,
    Mismatch,
    Range,
    Unset,
    equal,
)
from .whole import note_loop

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..core.state import Site
    from .build import Builder

    Place = tuple[int, Any]
    Carried = list[tuple[Var, Any, Any]]

MAX_ATTEMPTS = 12
SCALARS = (*NUMBERS, Sym)
COMPLEX = (Pair, complex)


class Number:
    """A number that a loop carries in a variable; a `strong` one is an integer with a dtype of its own."""

    __slots__ = ("doubtful", "kind", "phi", "strong")

    def __init__(self, kind: str, strong: bool = False, doubtful: bool = False) -> None:
        self.kind = kind
        # Whether it may be an integer at the head of an iteration, though it is carried as a float.
        self.doubtful = doubtful and kind == FLOAT
        self.strong = strong
        self.phi = Var(kind, "l")


class Tensor:
    """An array that a loop changes in place."""

    __slots__ = ("carried",)

    def __init__(self, carried: Lazy) -> None:
        self.carried = carried


class Parts:
    """A tuple or a list that a loop replaces by another of the same length."""

    __slots__ = ("cls", "parts")

    def __init__(self, cls: type, parts: list[Any]) -> None:
        self.cls = cls
        self.parts = parts


class Grown:
    """The contents of a list that grows: an array with room for all it may hold, and its length."""

    __slots__ = ("fixed", "length", "rows")

    def __init__(self, rows: Tensor, fixed: int | None = None) -> None:
        self.rows = rows
        # Where it only changes and does not grow, its length is known.
        self.fixed = fixed
        self.length = Number(INT)


class Same:
    """What is the same in every iteration."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Header:
    """What drives a loop, a range and what is done with its counter, or a test; and its place in the program."""

    __slots__ = ("counter", "head", "site", "test")

    def __init__(
        self, counter: Range | None, head: Callable[[Any], None] | None, test: Callable[[], Any] | None, site: Site
    ) -> None:
        self.counter = counter
        self.head = head
        self.test = test
        self.site = site


def parts_of(builder: Builder, x: Any) -> Any:
    """The items of a tuple or a list, the parts of a complex number."""
    if x.__class__ in COMPLEX:
        pair = pair_of(builder, x)
        return pair.re, pair.im
    return x if x.__class__ is tuple else x.items


class Loops(Control):
    """The part of the specialiser that runs loops."""

    def each_of(self, value: Any) -> Each:
        raise NotImplementedError

    def needed(self, x: Any, why: str) -> Unsupported:
        raise NotImplementedError

    # --- statements -------------------------------------------------------------------------------------------------

    def for_(self, node: c.For, frame: Frame) -> None:
        items = self.expression(node.iterable, frame)
        self.go_through(
            items,
            frame,
            lambda item: self.put(node.target, item, frame),
            lambda: self.block(node.body, frame),
            assigned(node.body),
            node.orelse,
        )

    def go_through(
        self, items: Any, frame: Frame, receive: Callable[[Any], None], run: Callable[[], None], changing: set[Any],
        orelse: list[c.Stmt] | None = None,
    ) -> None:  # fmt: skip
        """Run a body for every item: `receive` takes the item."""
        if items.__class__ is Range:
            self.counted(items, frame, receive, run, changing)
        else:
            each = self.each_of(items)
            if each.length.__class__ is int and (not each.loopable or each.length <= 1):
                if each.length > MAX_UNROLL:
                    raise Unsupported("a long loop over a list")
                self.unrolled([each.item(i) for i in range(each.length)], frame, receive, run)
            else:
                self.counted(Range(0, each.length, 1), frame, lambda i: receive(each.item(i)), run, changing)
        self.leave(frame, orelse)

    def leave(self, frame: Frame, orelse: list[c.Stmt] | None) -> None:
        """The end of a loop: what comes in its `else`, and the flags as they are outside it."""
        frame[CONTINUE] = False
        if orelse:
            if leaves(orelse):
                raise Unsupported("'break' or 'continue' in the 'else' of a loop")
            stopped = self.stopped(frame)
            if stopped is False:
                self.block(orelse, frame)
            elif stopped is not True:
                self.guarded(stopped, frame, lambda: self.block(orelse, frame))
        frame[BREAK] = False

    def unrolled(
        self, items: list[Any], frame: Frame, receive: Callable[[Any], None], run: Callable[[], None],
        rest: Callable[[], None] | None = None,
    ) -> None:  # fmt: skip
        """A loop iteration by iteration, and then the rest of it."""
        for k, item in enumerate(items):
            frame[CONTINUE] = False
            receive(item)
            run()
            frame[CONTINUE] = False
            stopped = self.stopped(frame)
            if stopped is True:
                return
            if stopped is not False:
                others = items[k + 1 :]
                if others or rest is not None:
                    self.guarded(stopped, frame, lambda others=others: self.unrolled(others, frame, receive, run, rest))  # type: ignore[misc]
                return
        if rest is not None:
            rest()

    def counted(
        self, counter: Range, frame: Frame, receive: Callable[[Any], None], run: Callable[[], None], changing: set[Any],
        peeled: bool = False, site: Site | None = None,
    ) -> None:  # fmt: skip
        """Run a body for each place of a range; `site` is that of the loop, if it is not where the program is."""
        site = site or STATE.site
        why = self.tried(lambda: self.loop(Header(counter, receive, None, site), frame, run, changing))
        if why is None:
            return
        if not counter.known:
            start, stop = self.whole((counter.start, counter.stop), str(why))
            self.counted(Range(start, stop, counter.step), frame, receive, run, changing, peeled, site)
            return
        positions = counter.range()
        if len(positions) > MAX_UNROLL and (peeled or not why.peel):
            raise why
        if not positions:
            return
        if peeled or not why.peel:
            self.unrolled(list(positions), frame, receive, run)
            return
        others = Range(counter.start + counter.step, counter.stop, counter.step)
        self.unrolled(
            [positions[0]], frame, receive, run, lambda: self.counted(others, frame, receive, run, changing, True, site)
        )

    def while_(self, node: c.While, frame: Frame) -> None:
        STATE.site = node.site
        self.repeat(
            lambda: self.condition(node.test, frame), frame, lambda: self.block(node.body, frame), assigned(node.body)
        )
        if frame[RETURN] is not False and frame[SUSPEND] is False and endless(node) and not leaves(node.body, True):
            frame[RETURN] = True  # there is no other way out
        self.leave(frame, node.orelse)

    def repeat(
        self, test: Callable[[], Any], frame: Frame, run: Callable[[], None], changing: set[Any], peeled: bool = False,
        site: Site | None = None,
    ) -> None:  # fmt: skip
        """Run a body while a condition holds; `site` is that of the loop, if it is not where the program is."""
        site = site or STATE.site
        why = self.tried(lambda: self.loop(Header(None, None, test, site), frame, run, changing))
        if why is None:
            return
        condition = test()
        if condition is False:
            return
        if peeled or not why.peel or condition is not True:
            raise why
        again = lambda: self.repeat(test, frame, run, changing, True, site)  # noqa: E731
        self.unrolled([None], frame, lambda item: None, run, again)

    def tried(self, run: Callable[[], None]) -> Mismatch | None:
        """Run something, or leave everything as it was and say what did not fit."""
        builder = self.builder
        heap = Heap(self.frames)
        length, memo, dynamic = len(builder.block), dict(builder.memos[-1]), self.dynamic
        try:
            run()
        except Mismatch as why:
            heap.restore()
            del builder.block[length:]
            builder.memos[-1] = memo
            self.dynamic = dynamic
            return why
        return None

    # --- a loop -----------------------------------------------------------------------------------------------------

    def loop(self, header: Header, frame: Frame, run: Callable[[], None], changing: set[Any]) -> None:
        builder = self.builder
        heap = Heap(self.frames)
        plan: dict[Place, Any] = {}
        dropped: set[Place] = set()
        for key in (*sorted(changing), RESULT):
            value = frame.get(key, UNSET)
            if value.__class__ in SCALARS:
                plan[id(frame), key] = Number(kind_of(value), is_strong(builder, value), builder.may_be_whole(value))
            elif value.__class__ is Lazy and not value.volatile and key != RESULT:
                plan[id(frame), key] = Tensor(builder.carried(value))
        for _ in range(MAX_ATTEMPTS):
            found = self.attempt(header, frame, run, heap, plan, dropped)
            heap.restore()
            if found is not None:
                break
        else:
            raise Unsupported("a loop whose values do not settle on kinds")
        statement, after = found
        builder.append(statement)
        for place, value in after.items():
            heap.put(place, value)

    def attempt(
        self, header: Header, frame: Frame, run: Callable[[], None], heap: Heap, plan: dict[Place, Any],
        dropped: set[Place],
    ) -> tuple[ir.Loop, dict[Place, Any]] | None:  # fmt: skip
        """Run the body once on symbols: the loop and what it leaves, or None if the plan had to be changed."""
        builder = self.builder
        counter = header.counter
        site = STATE.site = header.site
        for place, spec in plan.items():
            fresh_variables(spec)
            heap.put(place, self.at_head(spec))
        frame[BREAK] = frame[CONTINUE] = False
        for flag in (RETURN, SUSPEND):
            if (id(frame), flag) in plan:
                frame[flag] = False  # an iteration begins only where nothing has returned
        at_head = Heap(heap.objects.values())
        index = None if counter is None else self.counter_variable(counter)
        self.dynamic += 1
        test_block: list[ir.Stmt] | None = None
        condition: Any = None
        if header.test is not None:
            test_block, condition = builder.nested(header.test)

        def iteration() -> None:
            if header.head is not None:
                header.head(Sym(builder, index))  # type: ignore[arg-type]
            self.side(frame, run)

        block, _ = builder.nested(iteration)
        self.dynamic -= 1
        stop_when: Any = None
        for flag in (BREAK, RETURN, SUSPEND):
            value = frame[flag]
            if value is not False and value is not heap.before[id(frame)][flag]:
                stop_when = value if stop_when is None else self.either(block, stop_when, value)
        runs = counter is not None and counter.nonempty
        length = len(counter.range()) if counter is not None and counter.known else None
        carried: Carried = []
        after: dict[Place, Any] = {}
        settled = True
        late: list[tuple[Place, Any]] = []
        fitting: list[tuple[Place, Any, Any, Any]] = []
        changes = at_head.changes()
        for key, held in at_head.before.items():
            now = changes.get(key, held)
            before = heap.before.get(key)
            if before is None:
                continue  # made for the head of an iteration
            for slot in {**held, **now}:
                place = (key, slot)
                if slot in (CONTINUE, PARENT) or (slot == BREAK and heap.objects[key] is not frame):
                    continue
                if slot == BREAK:
                    if now[BREAK] is not False:
                        # What comes in an `else` depends on it.
                        fitting.append((place, plan.get(place) or Number(BOOL), False, now[BREAK]))
                        plan[place] = fitting[-1][1]
                    continue
                old, new = before.get(slot, UNSET), now.get(slot, UNSET)
                if place in plan:
                    spec = plan[place]
                    try:
                        other = self.fitted(spec, old, new)
                    except Mismatch:
                        if slot != RESULT:
                            raise
                        other = None
                        dropped.add(place)
                    if other is None:
                        del plan[place]
                        settled = False
                    elif other is not spec:
                        plan[place] = other
                        settled = False
                    else:
                        fitting.append((place, spec, old, new))
                elif same(new, held.get(slot, UNSET)):
                    continue
                elif slot == VALUE or (old is not UNSET and slot != RESULT):
                    if heap.objects[key].__class__ is dict and old is UNSET:
                        raise Mismatch("a dict that grows in a loop")
                    grows = slot == ITEMS and (Rows in (old.__class__, new.__class__) or len(old) != len(new))
                    plan[place] = self.growing(old, new, length) if grows else self.specified(old, new, slot == VALUE)
                    settled = False
                elif runs and place not in dropped:
                    late.append((place, new))
                else:
                    after[place] = UNSET
        if not settled:
            return None
        for place, new in late:
            # First assigned in the body, which runs: carried from a dummy, so that the last one outlives the loop.
            after[place] = self.outliving(new, block, carried)
        arrays: list[tuple[Lazy, Lazy]] = []
        for place, spec, old, new in fitting:
            after[place] = self.handed_on(spec, old, new, block, carried, arrays, length if stop_when is None else None)
        if arrays:
            block.extend(builder.nested(lambda: self.moved(arrays))[0])
        for array in changed_in_place(block):
            # How long the log of an array is at the head of each iteration.
            phi, start, end = Var(INT, "l"), Var(INT), Var(INT)
            builder.append(ir.Mark(start, array))
            block.append(ir.Mark(end, array))
            carried.append((phi, start, end))
        bounds = (0, 0, 1) if counter is None else (counter.start, counter.stop, counter.step)
        statement = ir.Loop(
            index, *map(raw, bounds), test_block, raw(condition), carried, block, raw(stop_when), {}, Var(INT, "t"), site
        )  # fmt: skip
        return statement, after

    # --- what is carried --------------------------------------------------------------------------------------------

    def specified(self, old: Any, new: Any, dummy: bool = False) -> Any:
        """How a loop carries what is `old` before it and `new` after an iteration."""
        if same(old, new):
            return Same(new)
        if new.__class__ in COMPLEX and (old.__class__ in COMPLEX or (old is UNSET and dummy)):
            before = (UNSET, UNSET) if old is UNSET else parts_of(self.builder, old)
            pairs = zip(before, parts_of(self.builder, new))
            return Parts(Pair, [self.specified(a, b, dummy) for a, b in pairs])
        if old is UNSET and dummy:
            if new.__class__ is tuple:
                return Parts(tuple, [self.specified(UNSET, part, True) for part in new])
            if new.__class__ is Lazy:
                return Tensor(self.builder.blank(new.kind, new.shape))
            if new.__class__ in SCALARS:
                return Number(kind_of(new), is_strong(self.builder, new))
            if new.__class__ is List and new.items is not None:
                return Parts(List, [self.specified(UNSET, part, True) for part in new.items])
            raise Unsupported("what is returned from inside a loop")
        if old.__class__ in SCALARS and new.__class__ in SCALARS:
            strong = is_strong(self.builder, old) or is_strong(self.builder, new)
            doubtful = self.builder.may_be_whole(old)
            return Number(joined_kind([kind_of(old), kind_of(new)]), strong, doubtful)
        if old.__class__ is Lazy and new.__class__ is Lazy and old.shape == new.shape:
            kind = joined_kind([old.kind, new.kind])
            return Tensor(self.builder.carried(old, kind))
        if old.__class__ is tuple and new.__class__ is tuple and len(old) == len(new):
            return Parts(tuple, [self.specified(a, b) for a, b in zip(old, new)])
        if old.__class__ is List and new.__class__ is List and old.items is not None and new.items is not None:
            if len(old.items) != len(new.items):
                raise Mismatch("a list whose length changes from iteration to iteration", peel=False)
            return Parts(List, [self.specified(a, b) for a, b in zip(old.items, new.items)])
        if equal(old, new):
            return Same(new)
        raise Mismatch("a list or tensor that changes from iteration to iteration")

    def growing(self, old: Any, new: Any, length: int | None) -> Any:
        """The contents of a list that is longer after an iteration."""
        room = [len(x) if x.__class__ is tuple else x.array.shape[0] for x in (old, new)]
        growth = room[1] - room[0]
        if growth < 0:
            raise Mismatch("a list that becomes shorter in a loop", peel=False)
        lengths = [len(x) if x.__class__ is tuple else x.length for x in (old, new)]
        fixed = lengths[0] if growth == 0 and lengths[0].__class__ is int and lengths[0] is lengths[1] else None
        if fixed is not None:
            length = 0
        if length is None:
            raise Mismatch("a list that grows in a loop of unknown length", peel=False)
        if new.__class__ is tuple and length <= MAX_UNROLL:
            raise Mismatch("a list that grows in a short loop", peel=False)
        builder = self.builder
        if old.__class__ is Rows and new.__class__ is Rows and old.array is new.array and old.array.volatile:
            return Grown(Tensor(old.array))
        sample = (*(old if old.__class__ is tuple else ()), *(new if new.__class__ is tuple else ()))
        if any(x.__class__ not in (*SCALARS, Lazy) for x in sample):
            raise Mismatch("a list of lists that grows in a loop", peel=False)
        shapes = {x.shape if x.__class__ is Lazy else () for x in sample}
        kinds = [x.kind if x.__class__ is Lazy else kind_of(x) for x in sample]
        for x in (old, new):
            if x.__class__ is Rows:
                shapes.add(x.array.shape[1:])
                kinds.append(x.array.kind)
        if len(shapes) > 1:
            raise Mismatch("a list of tensors of several shapes", peel=False)
        array = builder.blank(joined_kind(kinds), (room[0] + length * growth, *shapes.pop()))
        if room[0]:
            from .arrays import rows_of_list

            assert array.stored is not None
            first = old.array if old.__class__ is Rows else rows_of_list(builder, list(old))
            builder.fill(array.stored, first)
        return Grown(Tensor(array), fixed)

    def at_head(self, spec: Any) -> Any:
        """What is carried, at the head of an iteration."""
        if spec.__class__ is Number:
            if spec.strong:
                self.builder.strong.add(spec.phi)
            if spec.doubtful:
                self.builder.doubtful.add(spec.phi)
            return Sym(self.builder, spec.phi)
        if spec.__class__ is Tensor:
            return spec.carried
        if spec.__class__ is Same:
            return spec.value
        if spec.__class__ is Grown:
            length = Sym(self.builder, spec.length.phi) if spec.fixed is None else spec.fixed
            return Rows(spec.rows.carried, length)
        parts = [self.at_head(part) for part in spec.parts]
        return self.put_together(spec.cls, parts)

    def put_together(self, cls: type, parts: list[Any]) -> Any:
        """A tuple, a list or a complex number from its parts."""
        if cls is tuple:
            return tuple(parts)
        if cls is Pair:
            return Pair(self.builder, *parts)
        made = List(parts)
        made.frozen = True
        return made

    def fitted(self, spec: Any, old: Any, new: Any) -> Any:
        """`spec` if `new` is carried so, or how it is carried."""
        if spec.__class__ is Number:
            if new.__class__ not in SCALARS:
                raise Mismatch("a variable that is a number in one iteration and something else in the next")
            kind = joined_kind([spec.kind, kind_of(new)])
            strong = spec.strong or is_strong(self.builder, new)
            doubtful = spec.doubtful or INT in (kind_of(old) if old is not UNSET else FLOAT, spec.kind)
            return spec if (kind, strong) == (spec.kind, spec.strong) else Number(kind, strong, doubtful)
        if spec.__class__ is Tensor:
            if new.__class__ is not Lazy or new.shape != spec.carried.shape:
                raise Mismatch("a tensor that becomes something else in a loop")
            kind = joined_kind([spec.carried.kind, new.kind])
            return spec if kind == spec.carried.kind else Tensor(self.builder.carried(old, kind))
        if spec.__class__ is Same:
            return spec if equal(spec.value, new) else self.specified(old, new)
        if spec.__class__ is Grown:
            if new.__class__ is not Rows or new.array is not spec.rows.carried:
                raise Mismatch("a list that grows and is replaced in a loop", peel=False)
            if spec.fixed is not None and new.length is not spec.fixed:
                return self.growing(old, new, None)
            return spec
        if spec.cls is Pair and new.__class__ is complex:
            new = pair_of(self.builder, new)
        if new.__class__ is not spec.cls or (spec.cls is List and new.items is None):
            raise Mismatch("a variable that is a list in one iteration and something else in the next")
        items = parts_of(self.builder, new)
        if len(items) != len(spec.parts):
            raise Mismatch("a list whose length changes from iteration to iteration", peel=False)
        before = (UNSET,) * len(items) if old is UNSET else parts_of(self.builder, old)
        parts = [self.fitted(part, a, b) for part, a, b in zip(spec.parts, before, items)]
        return spec if all(map(same, parts, spec.parts)) else Parts(spec.cls, parts)

    def handed_on(
        self, spec: Any, old: Any, new: Any, block: list[ir.Stmt], carried: Carried, arrays: list[tuple[Lazy, Lazy]],
        length: int | None,
    ) -> Any:  # fmt: skip
        """Note how `new` is handed to the next iteration; what is there after the loop."""
        builder = self.builder
        if spec.__class__ is Number:
            initial: Any = ZEROS[spec.kind] if old is UNSET else old
            if spec.kind == FLOAT:
                note_loop(builder, spec.phi, initial, new, bool(length))
                initial, new = builder.to_float(initial), self.within(block, new)
            carried.append((spec.phi, raw(initial), raw(new)))
            return Sym(builder, spec.phi)
        if spec.__class__ is Tensor:
            if new is not spec.carried:
                arrays.append((spec.carried, new))
            assert spec.carried.stored is not None
            return builder.stored(spec.carried.stored)
        if spec.__class__ is Same:
            return spec.value
        if spec.__class__ is Grown:
            first = len(old) if old.__class__ is tuple else old.length
            if spec.fixed is not None:
                assert spec.rows.carried.stored is not None
                return Rows(builder.stored(spec.rows.carried.stored), spec.fixed)
            carried.append((spec.length.phi, raw(first), raw(new.length)))
            last: Any = Sym(builder, spec.length.phi)
            steady = self.offsets.get(new.length.var) if new.length.__class__ is Sym else None
            if length is not None and steady is not None and steady[0] is spec.length.phi:
                last = self.longer(first, length * steady[1])
            array = spec.rows.carried
            assert array.stored is not None
            volatile = old.__class__ is Rows and old.array is array
            return Rows(array if volatile else builder.stored(array.stored), last)
        items = parts_of(self.builder, new)
        before = (UNSET,) * len(items) if old is UNSET else parts_of(self.builder, old)
        parts = [
            self.handed_on(part, a, b, block, carried, arrays, length) for part, a, b in zip(spec.parts, before, items)
        ]
        return self.put_together(spec.cls, parts)

    def moved(self, arrays: list[tuple[Lazy, Lazy]]) -> None:
        """Put new values into arrays that a loop carries: all are known before the first one changes."""
        ready = [(carried, self.builder.settle(new)) for carried, new in arrays]
        for carried, new in ready:
            self.replace(carried, new)

    def replace(self, old: Lazy, value: Any) -> None:
        """Assign an array that a loop carries: its elements change, and it stays where it is."""
        if value is old:
            return
        if value.__class__ is not Lazy or value.shape != old.shape or joined_kind([value.kind, old.kind]) != old.kind:
            raise Mismatch("a tensor that becomes something else in a loop")
        builder = self.builder
        value = builder.settle(value)
        assert old.stored is not None
        old.stored.mixed = True
        builder.renewed(old.stored)
        builder.each(
            old.shape, lambda index: builder.overwrite(old, builder.flat(index, old.shape), value.element(index))
        )

    def outliving(self, new: Any, block: list[ir.Stmt], carried: Carried) -> Any:
        """What the last iteration of a loop that runs assigns first, after the loop."""
        builder = self.builder
        if new.__class__ in COMPLEX:
            return Pair(builder, *(self.outliving(part, block, carried) for part in parts_of(builder, new)))
        if new.__class__ in SCALARS:
            phi = Var(kind_of(new), "l")
            carried.append((phi, ZEROS[phi.kind], raw(new)))
            if is_strong(builder, new):
                builder.strong.add(phi)
            if phi.kind == FLOAT and builder.may_be_whole(new):
                builder.doubtful.add(phi)
            return Sym(builder, phi)
        if new.__class__ is Lazy:
            array = Array(new.kind, new.shape, role="updated")
            builder.append(ir.Alloc(array, False))
            block.extend(builder.nested(lambda: builder.fill(array, new))[0])
            return builder.stored(array)
        if new.__class__ is tuple:
            parts = tuple(self.outliving(part, block, carried) for part in new)
            return UNSET if any(part.__class__ is Unset for part in parts) else parts
        if new.__class__ is List and new.items is not None:
            parts = tuple(self.outliving(part, block, carried) for part in new.items)
            if any(part.__class__ is Unset for part in parts):
                return UNSET
            made = List(list(parts))
            made.frozen = True
            return made
        return new if new.__class__ is str or new is None else UNSET

    # --- parts ------------------------------------------------------------------------------------------------------

    def counter_variable(self, counter: Range) -> Var:
        index = Var(INT, "i")
        (first, last), (low, high) = self.builder.interval(counter.start), self.builder.interval(counter.stop)
        bounds = (first, max(high - 1, first)) if counter.step > 0 else (min(low + 1, last), last)
        self.builder.ranges[index] = bounds
        return index

    def either(self, block: list[ir.Stmt], a: Any, b: Any) -> Any:
        """`a or b`, at the end of a block."""
        if a is True or b is True:
            return True
        var = Var(BOOL)
        block.append(ir.Set(var, "logical_or", (raw(a), raw(b)), STATE.site, None))
        return Sym(self.builder, var)

    def put(self, target: c.Target, value: Any, frame: Frame) -> None:
        raise NotImplementedError


def fresh_variables(spec: Any) -> None:
    """Variables of its own for another attempt."""
    if spec.__class__ is Number:
        spec.phi = Var(spec.kind, "l")
    elif spec.__class__ is Grown:
        spec.length.phi = Var(INT, "l")
    elif spec.__class__ is Parts:
        for part in spec.parts:
            fresh_variables(part)


def joined_kind(kinds: list[str]) -> str:
    kind = join(kinds)
    if BOOL in kinds and kind != BOOL:
        raise Mismatch("a variable that is a bool in one iteration and a number in the next")
    return kind


def assigned(body: list[c.Stmt]) -> set[int]:
    """The slots that statements assign, not looking into functions."""
    slots: set[int] = set()

    def target(t: Any) -> None:
        if t.__class__ is c.Store and t.depth == 0:
            slots.add(t.slot)
        elif t.__class__ is c.Unpack:
            for each in t.targets:
                target(each)
        elif t.__class__ is c.StoreItem and t.back is not None:
            target(t.back)

    pending = list(body)
    while pending:
        s = pending.pop()
        for t in getattr(s, "targets", ()):
            target(t)
        if hasattr(s, "target"):
            target(s.target)
        pending.extend(getattr(s, "body", ()))
        pending.extend(getattr(s, "orelse", ()))
    return slots


def endless(node: c.While) -> bool:
    """Whether the condition of a loop never ends it."""
    return node.test.__class__ is c.Literal and node.test.value in (True, 1)


def leaves(body: list[c.Stmt], for_good: bool = False) -> bool:
    """Whether statements leave the loop around them, or its iteration unless it is `for_good`."""
    return any(
        s.__class__ is c.Break
        or (s.__class__ is c.Continue and not for_good)
        or (isinstance(s, c.If) and (leaves(s.body, for_good) or leaves(s.orelse, for_good)))
        or (s.__class__ is c.With and leaves(s.body, for_good))
        or (isinstance(s, c.For | c.While) and leaves(s.orelse, for_good))
        for s in body
    )
