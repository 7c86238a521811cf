"""What a program will do, read off its text and its inputs: one walk over its core program on shapes and known numbers.

Values are the numbers that are known, None for any other number, tuples (the shapes of tensors; () is an element of
one), lists by `Listed`, functions by `Closure` and `Derived`. A loop's body is walked once, and what it takes counts as
often as the loop runs; a function's once for arguments that look alike.
"""

from __future__ import annotations

from ..core.limits import step_limit
from ..program import core as c
from .survey_calls import recorded
from .survey_expressions import Expressions
from .survey_values import (
    COMPLEX,
    LARGEST,
    About,
    Closure,
    Listed,
    appended_to,
    count_stores,
    decides,
    either,
    forget,
    in_variable,
    is_number,
    known,
    step_of,
    stored,
    varies,
)
from .work import Work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..program.core import CoreProgram

# Nodes that are looked at: what a long program takes beyond them is left out.
MOST_NODES = 4_000


class Survey(Expressions):
    """The work of a program at a point.

    `work` is what its text tells of, in each loop no more than a limit of steps leaves; `bounded` says that this is all, or
    rather more: it is less where data decide how often a loop runs or a function calls itself. `breaks` says that a loop may
    be left before its end. `compile` are the seconds that the program's operations take to compile, `curves` how many of
    them are not linear, `tensors` says whether there are any on tensors, `constant` whether tensors are made of numbers that
    are known, which a compiler needs NumPy for.
    """

    def __init__(self, core: CoreProgram, point: dict[str, Any]) -> None:
        self.work = Work()
        self.bounded = True
        self.breaks = False
        self.compile = 0.0
        self.curves = 0
        self.tensors = False
        self.library = ""
        self.constant = False
        self.most_steps = step_limit()
        self.first_list = 0
        self.nodes = 0
        self.calls: list[Any] = []
        self.walked: dict[int, int] = {}
        self.found: dict[Any, tuple[Work, Any]] = {}
        frame: list[Any] = [None] * core.size
        for name, slot in core.inputs.items():
            frame[slot] = self.given(point.get(name))
        for name, (slot, node) in core.optional.items():
            frame[slot] = self.given(point[name]) if name in point else getattr(node, "value", node)
        self.block(core.body, frame)

    @property
    def loads(self) -> str:
        """The library that the tape imports for the program; "" for none."""
        return self.library or ("numpy" if self.tensors else "")

    def given(self, x: Any) -> Any:
        """An input."""
        if is_number(x):
            return known(x)
        if x.__class__ is complex or (getattr(x, "shape", None) == () and x.dtype.kind == "c"):
            return COMPLEX
        shape = getattr(x, "shape", None)
        if shape is not None:
            if shape:
                self.tensors = True
                return tuple(shape)
            return known(int(x.value)) if x.dtype.kind == "i" else ()
        if x.__class__ in (list, tuple):
            return self.listed([self.given(item) for item in x])
        return None

    # --- statements -------------------------------------------------------------------------------------------------

    def block(self, body: list[c.Stmt], frame: list[Any]) -> bool:
        """Walk statements; whether they surely return."""
        for s in body:
            self.nodes += 1
            if self.nodes > MOST_NODES:
                self.bounded = False
                return True
            if STATEMENTS[s.__class__](self, s, frame):
                return True
        return False

    def evaluate(self, s: c.Evaluate, frame: list[Any]) -> None:
        frame[c.RESULT] = self.value(s.value, frame)

    def assign(self, s: c.Assign, frame: list[Any]) -> None:
        value = self.value(s.value, frame)
        for target in s.targets:
            self.put(target, value, frame)
        if s.result:
            frame[c.RESULT] = value

    def augment(self, s: c.Augment, frame: list[Any]) -> None:
        target = s.target
        if target.__class__ is c.StoreItem:
            before = self.item(self.value(target.container, frame), target.index, frame)
        else:
            before = self.loaded(target, frame)
        operand = self.value(s.value, frame)
        self.curve(s.symbol, varies(target, before), varies(s.value, operand))
        value = self.operated(s.symbol, s.op, before, operand)
        self.put(target, value, frame)
        if s.result:
            frame[c.RESULT] = value

    def branch(self, s: c.If, frame: list[Any]) -> bool:
        test = self.value(s.test, frame)
        if decides(test):
            return self.block(s.body if test else s.orelse, frame)
        before = list(frame)
        one, ends = self.measured(lambda: self.block(s.body, frame))
        after = list(frame)
        frame[:] = before
        other, ends_too = self.measured(lambda: self.block(s.orelse, frame))
        self.work = self.work.plus(Work(*map(max, zip(one.parts(), other.parts()))))
        if ends_too:
            frame[:] = after
        elif not ends:
            frame[:] = map(either, after, frame)
        return bool(ends and ends_too)

    def loop(self, trips: float | None, body: list[c.Stmt], frame: list[Any], receive: Callable[[], None]) -> None:
        """A body that runs so often (None: nobody knows); what it carries on is not known before it, nor after it, but how
        long it makes lists."""
        carried = stored(body)
        forget(carried, frame)
        lists = [x for x in (in_variable(place, frame) for place in appended_to(body)) if x.__class__ is Listed]
        before = [x.length for x in lists]
        outer, self.first_list = self.first_list, Listed.count
        for x in lists:
            x.growing += 1

        def once() -> None:
            receive()
            self.block(body, frame)

        if trips is None or trips >= 1.0:
            inner, _ = self.measured(once)
            self.repeated(inner.plus(Work(1.0, steps=1.0)), 1.0 if trips is None else trips)
        for x, length in zip(lists, before):
            x.growing -= 1
            if length is None or x.length is None or trips is None:
                x.length = None
            else:
                x.length = length + (x.length - length) * trips
        self.first_list = outer
        forget(carried, frame)

    def for_(self, s: c.For, frame: list[Any]) -> None:
        items = self.value(s.iterable, frame)
        trips, item = self.iterated(items)
        self.loop(trips, s.body, frame, lambda: self.put(s.target, item, frame))
        self.block(s.orelse, frame)

    def while_(self, s: c.While, frame: list[Any]) -> None:
        counter, trips, middle = self.counted(s, frame) or (None, None, None)
        if counter is None:
            self.bounded = False

        def receive() -> None:
            if counter is not None:
                self.frame_of(counter, frame)[counter.slot] = middle
            self.value(s.test, frame)

        self.loop(trips, s.body, frame, receive)
        self.block(s.orelse, frame)

    def counted(self, s: c.While, frame: list[Any]) -> tuple[c.Load, float, About] | None:
        """The variable of its own by which a loop ends when that has come to a bound by equal steps, how often the loop
        runs, and what stands for the variable's values; None for any other loop."""
        test = s.test
        if test.__class__ is not c.Comparison or len(test.rights) != 1 or test.symbols[0] not in ("<", "<=", ">", ">="):
            return None
        carried = stored(s.body)
        for one, other in ((test.left, test.rights[0]), (test.rights[0], test.left)):
            if one.__class__ is not c.Load or (one.depth, one.slot) not in carried:
                continue
            steps = [found for found in (step_of(x, one) for x in s.body) if found is not None]
            if len(steps) != 1 or count_stores(s.body, one) != 1:
                return None
            symbol, each = steps[0]
            start, inside = self.loaded(one, frame), list(frame)
            forget(carried, inside)
            before = Work(*self.work.parts())
            bound, step = self.value(other, inside), self.value(each, inside)
            self.work = before
            if not (is_number(start) and is_number(bound) and is_number(step) and step):
                return None
            step = step if symbol == "+" else -step
            trips = (bound - start) / step
            if About in (start.__class__, bound.__class__, step.__class__):
                trips = max(trips, 0.0)
            return (one, trips, About(start + trips // 2 * step)) if 0.0 <= trips < LARGEST else None
        return None

    def return_(self, s: c.Return, frame: list[Any]) -> bool:
        frame[c.RESULT] = None if s.value is None else self.value(s.value, frame)
        return True

    def leave(self, s: c.Stmt, frame: list[Any]) -> bool:
        self.breaks |= s.__class__ is c.Break
        return True

    def define(self, s: c.Define, frame: list[Any]) -> None:
        self.put(s.target, Closure(s.function.code, frame), frame)

    def with_(self, s: c.With, frame: list[Any]) -> bool | None:
        for item, target, _ in s.items:
            self.value(item, frame)
            if target is not None:
                self.put(target, None, frame)
        inner, ends = self.measured(lambda: self.block(s.body, frame))
        self.work = self.work.plus(recorded(inner))
        return bool(ends)

    def assert_(self, s: c.Assert, frame: list[Any]) -> None:
        self.value(s.test, frame)

    def nothing(self, s: c.Stmt, frame: list[Any]) -> None:
        pass


STATEMENTS: dict[type, Callable[[Survey, Any, list[Any]], Any]] = {
    c.Evaluate: Survey.evaluate, c.Assign: Survey.assign, c.Augment: Survey.augment, c.If: Survey.branch,
    c.For: Survey.for_, c.While: Survey.while_, c.Break: Survey.leave, c.Continue: Survey.leave,
    c.Return: Survey.return_, c.Define: Survey.define, c.With: Survey.with_, c.Assert: Survey.assert_,
    c.Delete: Survey.nothing,
}  # fmt: skip
