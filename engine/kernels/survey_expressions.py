"""What the expressions of a program will do: the part of a survey that walks them (survey.py)."""

from __future__ import annotations

from math import prod

from ..core.operation import Operation
from ..program import core as c
from . import work
from .survey_calls import Calls
from .survey_values import (
    COMPARISONS,
    COMPLEX,
    About,
    Closure,
    Listed,
    computed,
    decides,
    either,
    is_number,
    joined,
    known,
    varies,
)
from .work import Work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Expressions(Calls):
    """The part of a survey for expressions, and for the places that values are put into."""

    nodes: int

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
        if items.__class__ is Listed and items.length is not None and not items.growing:
            return items.length, items.item
        self.bounded = False
        return 1.0, items.item if items.__class__ is Listed else None

    def value(self, node: Any, frame: list[Any]) -> Any:
        self.nodes += 1
        found = EXPRESSIONS[node.__class__](self, node, frame)
        return known(found) if found.__class__ is float else found  # nan and infinity count nothing

    def literal(self, node: c.Literal, frame: list[Any]) -> Any:
        if node.value.__class__ is complex:
            return COMPLEX
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
        left, right = self.value(node.left, frame), self.value(node.right, frame)
        self.curve(node.symbol, varies(node.left, left), varies(node.right, right))
        return self.operated(node.symbol, node.op, left, right)

    def operated(self, symbol: str, op: Operation, left: Any, right: Any) -> Any:
        if left.__class__ is Listed or right.__class__ is Listed:
            return joined(symbol, left, right)
        if symbol == "@":
            return self.product(left, right)
        found = self.elementwise([left, right])
        return computed(symbol, left, right) if is_number(left) and is_number(right) else found

    def curve(self, symbol: str, left: bool, right: bool) -> None:
        """Count an operation on numbers, of which these vary, that is not linear."""
        if (symbol == "*" and left and right) or (symbol == "/" and right) or symbol == "**":
            self.work.curved += 1.0
            self.curves += 1

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


EXPRESSIONS: dict[type, Callable[[Expressions, Any, list[Any]], Any]] = {
    c.Literal: Expressions.literal,
    c.Intrinsic: Expressions.itself,
    c.Load: lambda self, node, frame: self.loaded(node, frame),
    c.Operator: Expressions.operator_,
    c.Prefix: Expressions.prefix,
    c.Comparison: Expressions.comparison,
    c.Logical: Expressions.logical,
    c.Not: Expressions.not_,
    c.Choose: Expressions.choose,
    c.Apply: Expressions.apply,
    c.Call: Expressions.call,
    c.Method: Expressions.method,
    c.Watch: Expressions.watch,
    c.Attribute: Expressions.attribute,
    c.Item: Expressions.item_,
    c.SliceOf: Expressions.slice_,
    c.Spread: Expressions.spread,
    c.MakeList: Expressions.listing,
    c.MakeTuple: Expressions.listing,
    c.MakeDict: Expressions.dictionary,
    c.Comprehension: Expressions.comprehension,
    c.FormatText: Expressions.text,
    c.MakeFunction: Expressions.function,
}
