"""What a program will do, read off its text and its inputs: one walk over its core program on shapes and known numbers.

Values are the numbers that are known, None for any other number, tuples (the shapes of tensors; () is an element of
one), lists by `Listed`, functions by `Closure` and `Derived`. A loop's body is walked once, and what it takes counts as
often as the loop runs; a function's once for arguments that look alike.
"""

from __future__ import annotations

from math import prod

from ..core.limits import step_limit
from ..core.operation import Operation
from ..program import core as c
from . import work
from .survey_calls import Calls, recorded
from .survey_values import (
    COMPARISONS,
    LARGEST,
    About,
    Closure,
    Listed,
    computed,
    count_stores,
    decides,
    either,
    forget,
    is_number,
    joined,
    known,
    same_place,
    stored,
)
from .work import Work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..program.core import CoreProgram

# Nodes that are looked at: what a long program takes beyond them is left out.
MOST_NODES = 4_000


class Survey(Calls):
    """The work of a program at a point.

    `work` is what its text tells of, in each loop no more than a limit of steps leaves; `bounded` says that this is all, or
    rather more: it is less where data decide how often a loop runs or a function calls itself. `compile` are the seconds
    that the program's operations take to compile, `tensors` says whether there are any on tensors, `constant` whether
    tensors are made of numbers that are known, which a compiler needs NumPy for.
    """

    def __init__(self, core: CoreProgram, point: dict[str, Any]) -> None:
        self.work = Work()
        self.bounded = True
        self.compile = 0.0
        self.tensors = False
        self.library = ""
        self.constant = False
        self.most_steps = step_limit()
        self.nodes = 0
        self.calls: list[Any] = []
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
        value = self.operated(s.symbol, s.op, before, self.value(s.value, frame))
        self.put(target, value, frame)
        if s.result:
            frame[c.RESULT] = value

    def put(self, target: Any, value: Any, frame: list[Any]) -> None:
        cls = target.__class__
        if cls is c.Store:
            self.frame_of(target, frame)[target.slot] = value
        elif cls is c.Unpack:
            items = value.items if value.__class__ is Listed else None
            for k, inner in enumerate(target.targets):
                if items is not None and target.star is None and len(items) == len(target.targets):
                    self.put(inner, items[k], frame)
                elif value.__class__ is Listed:
                    self.put(inner, value.item, frame)
                else:
                    self.put(inner, value[1:] if value.__class__ is tuple and value else None, frame)
        elif cls is c.StoreItem:
            container = self.value(target.container, frame)
            if container.__class__ is Listed:
                if container.item is None or container.items is None or container.items != []:
                    container.items = None
                container.item = value
            elif container.__class__ is tuple:
                part = self.part(container, target.index, frame)
                self.compile += work.NODE_SECONDS
                if part == ():
                    self.work.operations += work.ELEMENT_WRITE
                else:
                    self.array(prod(part), 2.0)
            else:
                self.value(target.index, frame)

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

    def loop(self, trips: float, body: list[c.Stmt], frame: list[Any], receive: Callable[[], None]) -> None:
        """A body that runs so often; what it carries on is not known before it, nor after it."""
        carried = stored(body)
        forget(carried, frame)

        def once() -> None:
            receive()
            self.block(body, frame)

        if trips >= 1.0:
            inner, _ = self.measured(once)
            self.repeated(inner.plus(Work(1.0, steps=1.0)), trips)
        forget(carried, frame)

    def for_(self, s: c.For, frame: list[Any]) -> None:
        items = self.value(s.iterable, frame)
        trips, item = self.iterated(items)
        self.loop(trips, s.body, frame, lambda: self.put(s.target, item, frame))
        self.block(s.orelse, frame)

    def iterated(self, items: Any) -> tuple[float, Any]:
        """How often a loop over something runs, and what it is given on average."""
        if items.__class__ is range:
            return len(items), About(items[len(items) // 2]) if items else None
        if items.__class__ is tuple and items:
            self.array(0.0)
            inner = items[1:]
            self.work.arrays += items[0]
            self.work.elements += prod(items)
            return items[0], inner
        if items.__class__ is Listed and items.length is not None:
            return items.length, items.item
        self.bounded = False
        return 1.0, items.item if items.__class__ is Listed else None

    def while_(self, s: c.While, frame: list[Any]) -> None:
        trips = self.counted(s, frame)
        if trips is None:
            self.bounded = False
        self.loop(1.0 if trips is None else trips, s.body, frame, lambda: self.value(s.test, frame) and None)
        self.block(s.orelse, frame)

    def counted(self, s: c.While, frame: list[Any]) -> float | None:
        """How often a loop runs that ends when a variable of its own has come to a bound by equal steps."""
        test = s.test
        if test.__class__ is not c.Comparison or len(test.rights) != 1 or test.symbols[0] not in ("<", "<=", ">", ">="):
            return None
        carried = stored(s.body)
        for one, other in ((test.left, test.rights[0]), (test.rights[0], test.left)):
            if one.__class__ is not c.Load or (one.depth, one.slot) not in carried:
                continue
            steps = [x for x in s.body if x.__class__ is c.Augment and same_place(x.target, one)]
            if len(steps) != 1 or steps[0].symbol not in ("+", "-") or count_stores(s.body, one) != 1:
                return None
            start, inside = self.loaded(one, frame), list(frame)
            forget(carried, inside)
            before = Work(*self.work.parts())
            bound, step = self.value(other, inside), self.value(steps[0].value, inside)
            self.work = before
            if not (is_number(start) and is_number(bound) and is_number(step) and step):
                return None
            trips = (bound - start) / (step if steps[0].symbol == "+" else -step)
            return trips if 0.0 <= trips < LARGEST else None
        return None

    def return_(self, s: c.Return, frame: list[Any]) -> bool:
        frame[c.RESULT] = None if s.value is None else self.value(s.value, frame)
        return True

    def leave(self, s: c.Stmt, frame: list[Any]) -> bool:
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

    # --- expressions ------------------------------------------------------------------------------------------------

    def value(self, node: Any, frame: list[Any]) -> Any:
        self.nodes += 1
        found = EXPRESSIONS[node.__class__](self, node, frame)
        return known(found) if found.__class__ is float else found  # nan and infinity count nothing

    def literal(self, node: c.Literal, frame: list[Any]) -> Any:
        return node.value if node.value.__class__ is Operation else known(node.value)

    def itself(self, node: Any, frame: list[Any]) -> Any:
        return node

    def frame_of(self, place: Any, frame: list[Any]) -> list[Any]:
        for _ in range(place.depth):
            frame = frame[c.PARENT]
        return frame

    def loaded(self, place: Any, frame: list[Any]) -> Any:
        return self.frame_of(place, frame)[place.slot]

    def operator_(self, node: c.Operator, frame: list[Any]) -> Any:
        return self.operated(node.symbol, node.op, self.value(node.left, frame), self.value(node.right, frame))

    def operated(self, symbol: str, op: Operation, left: Any, right: Any) -> Any:
        if left.__class__ is Listed or right.__class__ is Listed:
            return joined(symbol, left, right)
        if symbol == "@":
            return self.product(left, right)
        found = self.elementwise([left, right])
        return computed(symbol, left, right) if is_number(left) and is_number(right) else found

    def prefix(self, node: c.Prefix, frame: list[Any]) -> Any:
        value = self.value(node.operand, frame)
        found = self.elementwise([value])
        if is_number(value):
            return computed("*", value, -1 if node.symbol == "-" else 1) if node.symbol in "+-" else None
        return found

    def comparison(self, node: c.Comparison, frame: list[Any]) -> Any:
        values = [self.value(x, frame) for x in (node.left, *node.rights)]
        found = self.elementwise(values) if all(x.__class__ is not Listed for x in values) else None
        if all(map(decides, values)) and all(symbol in COMPARISONS for symbol in node.symbols):
            return all(COMPARISONS[symbol](a, b) for symbol, a, b in zip(node.symbols, values, values[1:]))
        return found

    def logical(self, node: c.Logical, frame: list[Any]) -> Any:
        found: Any = None
        for k, x in enumerate(node.values):
            found = self.value(x, frame)
            if not decides(found):
                for rest in node.values[k + 1 :]:
                    self.value(rest, frame)
                return None
            if bool(found) == (node.symbol == "or"):
                break
        return found

    def not_(self, node: c.Not, frame: list[Any]) -> Any:
        value = self.value(node.operand, frame)
        return not value if decides(value) else None

    def choose(self, node: c.Choose, frame: list[Any]) -> Any:
        test = self.value(node.test, frame)
        if decides(test):
            return self.value(node.then if test else node.otherwise, frame)
        one, found = self.measured(lambda: self.value(node.then, frame))
        other, found_too = self.measured(lambda: self.value(node.otherwise, frame))
        self.work = self.work.plus(Work(*map(max, zip(one.parts(), other.parts()))))
        return either(found, found_too)

    def listing(self, node: Any, frame: list[Any]) -> Any:
        return self.listed([self.value(x, frame) for x in node.items])

    def dictionary(self, node: c.MakeDict, frame: list[Any]) -> Any:
        for x in node.values:
            self.value(x, frame)

    def comprehension(self, node: c.Comprehension, frame: list[Any]) -> Any:
        def of(clauses: list[c.Clause]) -> tuple[float, Any]:
            if not clauses:
                return 1.0, self.value(node.element, frame)
            trips, item = self.iterated(self.value(clauses[0].iterable, frame))

            def once() -> tuple[float, Any]:
                self.put(clauses[0].target, item, frame)
                for test in clauses[0].tests:
                    self.value(test, frame)
                return of(clauses[1:])

            taken, (inner, found) = self.measured(once)
            self.repeated(taken.plus(Work(1.0, steps=1.0)), trips)
            return trips * inner, found

        length, found = of(node.clauses)
        return Listed(int(length), found) if node.kind == "list" else None

    def text(self, node: c.FormatText, frame: list[Any]) -> Any:
        for part in node.parts:
            if part.__class__ is tuple:
                self.value(part[0], frame)

    def function(self, node: c.MakeFunction, frame: list[Any]) -> Closure:
        return Closure(node.code, frame)

    def watch(self, node: c.Watch, frame: list[Any]) -> Any:
        return self.value(node.value, frame)

    def spread(self, node: c.Spread, frame: list[Any]) -> Any:
        value = self.value(node.value, frame)
        return value.item if value.__class__ is Listed else value

    def slice_(self, node: c.SliceOf, frame: list[Any]) -> Any:
        for x in (node.lower, node.upper, node.step):
            if x is not None:
                self.value(x, frame)

    def attribute(self, node: c.Attribute, frame: list[Any]) -> Any:
        value = self.value(node.value, frame)
        if value.__class__ is tuple:
            if node.name == "shape":
                return self.listed(list(value))
            if node.name in ("size", "ndim"):
                return prod(value) if node.name == "size" else len(value)
            if node.name in ("T", "mT"):
                self.array(prod(value))
                return value[::-1]
        return None

    # --- items ------------------------------------------------------------------------------------------------------

    def item_(self, node: c.Item, frame: list[Any]) -> Any:
        return self.item(self.value(node.value, frame), node.index, frame)

    def item(self, value: Any, index: Any, frame: list[Any]) -> Any:
        if value.__class__ is tuple:
            part = self.part(value, index, frame)
            if part == ():
                self.element()
            else:
                self.array(prod(part))
            return part
        if value.__class__ is Listed:
            self.work.operations += 0.3  # Python's
            if index.__class__ is c.SliceOf:
                self.value(index, frame)
                return Listed(value.length, value.item)
            place = self.value(index, frame)
            if value.items is not None and place.__class__ is int and -len(value.items) <= place < len(value.items):
                return value.items[place]
            return value.item
        self.value(index, frame)
        return None

    def part(self, shape: tuple[int, ...], index: Any, frame: list[Any]) -> tuple[int, ...]:
        """The shape of a part of a tensor."""
        sides = list(shape)
        found: list[int] = []
        for x in index.items if index.__class__ is c.MakeTuple else [index]:
            if x.__class__ is c.SliceOf:
                if sides:
                    found.append(self.extent(sides.pop(0), x, frame))
            elif x.__class__ is c.Literal and x.value is None:
                found.append(1)
            elif x.__class__ is c.Literal and x.value is ...:
                keep = max(0, len(sides) - (len(index.items) - 1 if index.__class__ is c.MakeTuple else 0))
                found += sides[:keep]
                sides = sides[keep:]
            else:
                place = self.value(x, frame)
                if sides:
                    sides.pop(0)
                found += place if place.__class__ is tuple else ()
        return (*found, *sides)

    def extent(self, side: int, index: c.SliceOf, frame: list[Any]) -> int:
        """How many places of a side a slice takes; all, where that is not known."""
        bounds = [None if x is None else self.value(x, frame) for x in (index.lower, index.upper, index.step)]
        try:
            return len(range(side)[slice(*bounds)])
        except (TypeError, ValueError):
            return side

    # --- calls ------------------------------------------------------------------------------------------------------


STATEMENTS: dict[type, Callable[[Survey, Any, list[Any]], Any]] = {
    c.Evaluate: Survey.evaluate, c.Assign: Survey.assign, c.Augment: Survey.augment, c.If: Survey.branch,
    c.For: Survey.for_, c.While: Survey.while_, c.Break: Survey.leave, c.Continue: Survey.leave,
    c.Return: Survey.return_, c.Define: Survey.define, c.With: Survey.with_, c.Assert: Survey.assert_,
    c.Delete: Survey.nothing,
}  # fmt: skip
EXPRESSIONS: dict[type, Callable[[Survey, Any, list[Any]], Any]] = {
    c.Literal: Survey.literal, c.Intrinsic: Survey.itself, c.Load: lambda self, node, frame: self.loaded(node, frame),
    c.Operator: Survey.operator_, c.Prefix: Survey.prefix, c.Comparison: Survey.comparison, c.Logical: Survey.logical,
    c.Not: Survey.not_, c.Choose: Survey.choose, c.Apply: Survey.apply, c.Call: Survey.call, c.Method: Survey.method,
    c.Watch: Survey.watch, c.Attribute: Survey.attribute, c.Item: Survey.item_, c.SliceOf: Survey.slice_,
    c.Spread: Survey.spread, c.MakeList: Survey.listing, c.MakeTuple: Survey.listing, c.MakeDict: Survey.dictionary,
    c.Comprehension: Survey.comprehension, c.FormatText: Survey.text, c.MakeFunction: Survey.function,
}  # fmt: skip
