"""Loops that stay loops: what an iteration hands on to the next is found by running the body on symbols.

Numbers are carried by the loop, arrays change in place; tuples, lists and dicts are carried by their parts. Where what
is carried is of another kind after the first iteration (a number that becomes an array), that iteration is written out.
"""

from __future__ import annotations

from ...core.state import STATE
from ...program import core as c
from .. import ir
from ..differentiation.bodies import changed_in_place
from ..ir import BOOL, INT, LIMIT, Needed, Unsupported, Var
from ..symbols.foreseen import COUNTABLE
from ..symbols.strength import is_strong
from ..symbols.symbol import Lazy, Sym, kind_of, raw
from ..symbols.values import (
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
)
from . import records
from .carried import SCALARS, Grown, Listed, Number, Parts, Roomless, Tensor, fresh_variables
from .heap import ITEMS, Heap, Rows, changed_within, same, sole
from .steps import count_step
from .unrolling import FEW_WRITTEN, MANY_WRITTEN, Lengthy, WrittenOut

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ...core.state import Site
    from .carried import Carried

    Place = tuple[int, Any]

MAX_ATTEMPTS = 12
# Lists that grow in a loop of unknown length have room for so many iterations, where these are known to be enough.
MAX_ROOM = 4096


class Changing(Mismatch):
    """The condition of a loop changes something."""


class Header:
    """What drives a loop, a range and what is done with its counter, or a test; and its place in the program.

    In a `roomy` one lists grow as long as they have room, where nobody knows how often it runs.
    """

    __slots__ = ("counter", "head", "roomy", "site", "test")

    def __init__(
        self, counter: Range | None, head: Callable[[Any], None] | None, test: Callable[[], Any] | None, site: Site,
        roomy: bool = False,
    ) -> None:  # fmt: skip
        self.roomy = roomy
        self.counter = counter
        self.head = head
        self.test = test
        self.site = site


class Loops(WrittenOut):
    """The part of the specialiser that runs loops."""

    # The variables that loops assign first, of which it is not known whether they run, by frame: where these are in the
    # program; and those of them that are read after the loop.
    outlived: dict[tuple[int, Any], tuple[int, int]]
    read_after: set[tuple[int, int]]
    gone_through: list[Each]

    def each_of(self, value: Any) -> Each:
        raise NotImplementedError

    def needed(self, x: Any, why: str) -> Unsupported:
        raise NotImplementedError

    def stepped(self, site: Site, run: Callable[[], None]) -> None:
        """Run an iteration that is counted at a place."""
        count_step(self, site)  # type: ignore[arg-type]
        run()

    # --- statements -------------------------------------------------------------------------------------------------

    def for_(self, node: c.For, frame: Frame) -> None:
        items = self.expression(node.iterable, frame)
        self.go_through(
            items,
            frame,
            lambda item: self.stepped(node.site, lambda: self.put(node.target, item, frame)),
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
            self.gone_through.append(each)
            try:
                self.through(each, items, frame, receive, run, changing)
            finally:
                self.gone_through.pop()
        self.leave(frame, orelse)

    def through(
        self, each: Each, items: Any, frame: Frame, receive: Callable[[Any], None], run: Callable[[], None],
        changing: set[Any],
    ) -> None:  # fmt: skip
        """Run a body for every one of `items`."""
        if each.length.__class__ is int and (not each.loopable or each.length <= 1):
            if each.length > MAX_UNROLL:
                raise Unsupported("a long loop over a list whose items are of several kinds")
            loop = None
            if each.length > 2 and records.alike(items):
                loop = self.as_loop(items, each.length, frame, receive, run, changing)
            self.one_by_one(each, 0, frame, receive, run, loop)
        else:
            self.counted(Range(0, each.length, 1), frame, lambda i: receive(each.item(i)), run, changing)
            each.unchanged()

    def as_loop(
        self, items: Any, length: int, frame: Frame, receive: Callable[[Any], None], run: Callable[[], None],
        changing: set[Any],
    ) -> Callable[[int], bool]:  # fmt: skip
        """What goes through known items from a place on, 0 or 1, as a loop, if they are numbers, or tuples of as many numbers
        each, and an iteration takes many statements; it says whether it did. From 0 on it leaves the first iteration done
        where it did not."""
        builder, site = self.builder, STATE.site
        known: list[Any] = list((items.items or ()) if items.__class__ is List else items)
        many: list[Each] = []

        def first() -> None:
            begin = builder.size
            receive(known[0])
            run()
            if not many and (length - 1) * (builder.size - begin) > MANY_WRITTEN:
                raise Lengthy("a loop that is written out at length")

        def loop(k: int) -> None:
            self.loop(Header(Range(k, length, 1), lambda i: receive(many[0].item(i)), None, site), frame, run, changing)
            many[0].unchanged()

        def from_place(k: int) -> bool:
            if k:
                return bool(many) and self.tried(lambda: loop(1)) is None
            why = self.tried(first)
            if isinstance(why, Lengthy):
                many.append(self.each_alike(items))
                if self.tried(lambda: loop(0)) is None:
                    return True
                first()
            elif why is not None:
                raise why
            return False

        return from_place

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

    def counted(
        self, counter: Range, frame: Frame, receive: Callable[[Any], None], run: Callable[[], None], changing: set[Any],
        peeled: bool = False, site: Site | None = None, roomy: bool = False,
    ) -> None:  # fmt: skip
        """Run a body for each place of a range; `site` is that of the loop, if it is not where the program is."""
        site = site or STATE.site
        if self.written and not peeled and self.surely_short(counter, frame, receive, run):
            return
        why = self.tried(lambda: self.loop(Header(counter, receive, None, site, roomy), frame, run, changing))
        if why is None:
            return
        if isinstance(why, Roomless) and not roomy:
            known = lambda: self.known_times(counter, why, frame, receive, run, changing, peeled, site)  # noqa: E731
            if self.tried(known) is not None:
                self.counted(counter, frame, receive, run, changing, peeled, site, True)
            return
        if isinstance(why, records.Alike) and not why.short and records.kept(self, why):  # type: ignore[arg-type]
            self.counted(counter, frame, receive, run, changing, peeled, site, roomy)
            return
        if not counter.known:
            self.known_times(counter, why, frame, receive, run, changing, peeled, site)
            return
        positions = counter.range()
        if not positions:
            return
        if peeled or not isinstance(why, Mismatch) or not why.peel:
            self.short(positions, why, frame, receive, run)
            return
        others = Range(counter.start + counter.step, counter.stop, counter.step)
        self.unrolled(
            [positions[0]], frame, receive, run, lambda: self.counted(others, frame, receive, run, changing, True, site)
        )

    def known_times(
        self, counter: Range, why: Unsupported, frame: Frame, receive: Callable[[Any], None], run: Callable[[], None],
        changing: set[Any], peeled: bool, site: Site,
    ) -> None:  # fmt: skip
        """Run a body for each place of a range whose bounds must be known. Raises Needed, or `why`."""
        start, stop = self.bounds(counter, why)
        self.counted(Range(start, stop, counter.step), frame, receive, run, changing, peeled, site)

    def surely_short(
        self, counter: Range, frame: Frame, receive: Callable[[Any], None], run: Callable[[], None]
    ) -> bool:
        """Write a short loop out, if it can be. Raises Needed where inputs decide how long it is."""
        if not counter.known:
            start, stop = self.value_of(counter.start), self.value_of(counter.stop)
            if start is None or stop is None:
                why = self.needed([counter.start, counter.stop], "a loop of unknown length")
                if why.__class__ is Needed:
                    raise why
                return False
            counter = Range(start, stop, counter.step)
        if len(counter.range()) > MAX_UNROLL:
            return False
        positions = list(counter.range())
        return self.tried(lambda: self.unrolled(positions, frame, receive, run)) is None

    def value_of(self, x: Any) -> int | None:
        raise NotImplementedError

    def each_alike(self, value: Any) -> Each:
        raise NotImplementedError

    def bounds(self, counter: Range, why: Unsupported) -> tuple[int, int]:
        """Those of a range, which must be known for the reason `why`. Raises Needed where inputs decide them, or `why`."""
        try:
            found: tuple[int, int] = self.whole((counter.start, counter.stop), str(why))
        except Needed:
            raise
        except Unsupported:
            raise why from None
        return found

    def while_(self, node: c.While, frame: Frame) -> None:
        STATE.site = node.site
        rotated = self.repeat(
            lambda: self.condition(node.test, frame, node.site),
            frame,
            lambda: self.stepped(node.site, lambda: self.block(node.body, frame)),
            assigned(node.body),
        )
        if rotated:
            if node.orelse and leaves(node.body, True):
                raise Unsupported("a 'while' with 'break' and 'else' whose condition changes something")
            frame[BREAK] = False  # which the condition has set
        if frame[RETURN] is not False and frame[SUSPEND] is False and endless(node) and not leaves(node.body, True):
            frame[RETURN] = True  # there is no other way out
        self.leave(frame, node.orelse)

    def repeat(
        self, test: Callable[[], Any], frame: Frame, run: Callable[[], None], changing: set[Any], peeled: bool = False,
        site: Site | None = None, roomy: bool = False,
    ) -> bool:  # fmt: skip
        """Run a body while a condition holds; `site` is that of the loop, if it is not where the program is.

        Whether the condition has become a part of the body, which it leaves as `break` does.
        """
        site = site or STATE.site
        why = self.tried(lambda: self.loop(Header(None, None, test, site, roomy), frame, run, changing))
        if why is None:
            return False
        if isinstance(why, Changing):
            self.repeat(lambda: True, frame, lambda: self.tested(test, frame, run), changing, peeled, site, roomy)
            return True
        if isinstance(why, records.Alike) or (isinstance(why, Roomless) and not roomy):
            if self.tried(lambda: self.known_while(test, frame, run, why)) is None:
                return False
            if not isinstance(why, records.Alike) or records.kept(self, why):  # type: ignore[arg-type]
                return self.repeat(test, frame, run, changing, peeled, site, True)
        condition = test()
        if condition is False:
            return False
        if condition is not True:
            raise why
        if peeled or not isinstance(why, Mismatch) or not why.peel:
            self.short_while(test, frame, run, why)
            return False
        rotated: list[bool] = []
        again = lambda: rotated.append(self.repeat(test, frame, run, changing, True, site, roomy))  # noqa: E731
        self.unrolled([None], frame, lambda item: None, run, again)
        return any(rotated)

    def known_while(self, test: Callable[[], Any], frame: Frame, run: Callable[[], None], why: Unsupported) -> None:
        """Write a loop out whose condition is known before every iteration. Raises `why`."""
        condition = test()
        if condition is not False:
            if condition is not True:
                raise why
            self.short_while(test, frame, run, why)

    def tested(self, test: Callable[[], Any], frame: Frame, run: Callable[[], None]) -> None:
        """An iteration of a loop whose condition changes something, also when it ends the loop."""
        condition = test()

        def leave() -> None:
            frame[BREAK] = True

        if condition.__class__ is bool:
            run() if condition else leave()
        else:
            self.branch(condition, frame, run, leave)

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
        self.around.append(heap)
        outer = self.pops
        try:
            for _ in range(MAX_ATTEMPTS):
                self.pops = {}
                found = self.attempt(header, frame, run, heap, plan, dropped)
                heap.restore()
                if found is not None:
                    break
            else:
                raise Unsupported("a loop whose variables change their kind or shape")
        finally:
            self.around.pop()
            self.pops = {key: outer.get(key, 0) + self.pops.get(key, 0) for key in {**outer, **self.pops}}
        statement, after, must_run = found
        builder.append(statement)
        if must_run:
            builder.append(ir.Check(statement.trips, 1, LIMIT, header.site))
        for place, value in after.items():
            heap.put(place, value)

    def attempt(
        self, header: Header, frame: Frame, run: Callable[[], None], heap: Heap, plan: dict[Place, Any],
        dropped: set[Place],
    ) -> tuple[ir.Loop, dict[Place, Any], bool] | None:  # fmt: skip
        """Run the body once on symbols: the loop, what it leaves, and whether that is so only where it runs; or None if the
        plan had to be changed."""
        builder = self.builder
        counter = header.counter
        site = STATE.site = header.site
        for place, spec in plan.items():
            fresh_variables(spec)
            value = self.at_head(spec)
            heap.put(place, value)
            if spec.__class__ is Parts and spec.own:
                outside = heap.before[place[0]]
                if outside.get(RESULT) is outside[place[1]]:
                    heap.put((place[0], RESULT), value)
        some_whole, shrinking = set(builder.some_whole), set(self.shrinking)
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
            if at_head.changes() or changed_in_place(test_block):
                # After the loop there is what its head was given: what the last test did would be lost.
                raise Changing("a condition that changes something")

        def iteration() -> None:
            if header.head is not None:
                header.head(Sym(builder, index))  # type: ignore[arg-type]
            self.side(frame, run)

        size = builder.size
        block, _ = builder.nested(iteration)
        written = builder.size - size
        self.dynamic -= 1
        stop_when: Any = None
        for flag in (BREAK, RETURN, SUSPEND):
            value = frame[flag]
            if value is not False and value is not heap.before[id(frame)][flag]:
                stop_when = value if stop_when is None else self.either(block, stop_when, value)
        runs = counter is not None and counter.nonempty
        length = len(counter.range()) if counter is not None and counter.known else None
        room = self.most(counter) if length is None else length
        carried: Carried = []
        after: dict[Place, Any] = {}
        settled = True
        late: list[tuple[Place, Any]] = []
        must_run = False
        # Whether a list or a dict that the loop replaces is changed in it, under another name.
        shared = False
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
                first, new = before.get(slot, UNSET), now.get(slot, UNSET)
                old = heap.at_first(first)
                if place in plan:
                    spec = plan[place]
                    try:
                        other = self.named(self.fitted(spec, old, new), place, first, new, heap, at_head, changes)
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
                        shared |= spec.__class__ in (Parts, Listed) and changed_within(first, changes)
                elif same(new, held.get(slot, UNSET)):
                    continue
                elif slot == VALUE or (old is not UNSET and slot != RESULT):
                    if heap.objects[key].__class__ is dict and old is UNSET:
                        raise Mismatch("a dict that grows in a loop")
                    if slot == ITEMS:
                        form = records.form_of_all(new)
                        if form is not None and len(new) > len(old):
                            raise records.Alike(heap.objects[key], form, short=self.is_short(length, written))
                    grows = slot == ITEMS and (Rows in (old.__class__, new.__class__) or len(old) != len(new))
                    plan[place] = (
                        self.growing(
                            old,
                            new,
                            room,
                            self.is_short(length, written),
                            header.site,
                            header.roomy,
                            self.pops.get(key, 0),
                        )
                        if grows
                        else self.specified(old, new, slot == VALUE)
                    )
                    plan[place] = self.named(plan[place], place, first, new, heap, at_head, changes)
                    settled = False
                elif (runs or (header.site.start, slot) in self.read_after) and place not in dropped:
                    late.append((place, new))
                    must_run |= not runs
                else:
                    after[place] = UNSET
                    self.outlived[place] = (header.site.start, slot)
        # A list that is given an integer in the body was read, at its head, as if it had none; and one of which an item is
        # taken was given others as if none were ever replaced.
        lists = {spec.rows.carried.stored for _, spec, _, _ in fitting if spec.__class__ is Grown}
        if not settled or lists & ((builder.some_whole - some_whole) | (self.shrinking - shrinking)):
            return None
        if shared:
            raise Mismatch("a list or a dict that is changed under another name in the loop that replaces it")
        for place, new in late:
            # First assigned in the body, which runs: carried from a dummy, so that the last one outlives the loop.
            if not any(new is other and new.__class__ is List for _, _, _, other in fitting):
                after[place] = self.outliving(new, block, carried)
        arrays: list[tuple[Lazy, Lazy]] = []
        for place, spec, old, new in fitting:
            after[place] = self.handed_on(spec, old, new, block, carried, arrays, length if stop_when is None else None)
        for place, new in late:
            if place not in after:
                after[place] = next(after[there] for there, _, _, other in fitting if other is new)
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
        return statement, after, must_run

    # --- parts ------------------------------------------------------------------------------------------------------

    def named(
        self, spec: Any, place: Place, old: Any, new: Any, heap: Heap, at_head: Heap, changes: dict[int, Any]
    ) -> Any:
        """`spec`, or one that says whether a list or dict that is carried has another name: `own` only as long as it has
        none."""
        if spec.__class__ is not Parts or spec.cls not in (List, dict) or spec.own is False:
            return spec
        own = place[0] == id(self.frames[-1]) and new.__class__ is spec.cls and not self.is_frozen(new)
        # What would be the result stays the same list as the variable, after the loop too.
        places = {place, (place[0], RESULT)}
        own = own and (old.__class__ is not spec.cls or (not self.is_frozen(old) and sole(places, old, [heap.before])))
        own = own and sole(places, new, [{**at_head.before, **changes}])
        if own == spec.own:
            return spec
        found = Parts(spec.cls, spec.parts, spec.keys)
        found.own = own
        return found

    def is_short(self, length: int | None, written: int) -> bool:
        """Whether a loop of so many iterations, if that is known, with so many statements each, in which a list grows is
        written out: the list's items are numbers and tensors of their own then."""
        if length is None or length > MAX_UNROLL:
            return False
        if self.spared is None or length * written <= FEW_WRITTEN:
            return True
        self.spared.append(Mismatch("a list that grows in a loop"))
        return False

    def most(self, counter: Range | None) -> int | None:
        """How many iterations a loop has at most, where that is known and not many."""
        if counter is None:
            return None
        (first, last), (low, high) = self.builder.interval(counter.start), self.builder.interval(counter.stop)
        span = high - first if counter.step > 0 else last - low
        found = max(-(-span // abs(counter.step)), 0)
        return found if found <= MAX_ROOM else None

    def counter_variable(self, counter: Range) -> Var:
        """What counts in a loop. Raises Unsupported for a range whose bounds a step further no integer holds."""
        if any(x.__class__ is int and abs(x) > LIMIT for x in (counter.start, counter.stop)):
            raise Unsupported("a range beyond 2**53", STATE.site)
        index = Var(INT, "i")
        (first, last), (low, high) = self.builder.interval(counter.start), self.builder.interval(counter.stop)
        bounds = (first, max(high - 1, first)) if counter.step > 0 else (min(low + 1, last), last)
        self.builder.ranges[index] = (max(bounds[0], COUNTABLE[0]), min(bounds[1], COUNTABLE[1]))
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
