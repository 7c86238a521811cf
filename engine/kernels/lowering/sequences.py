"""Lists, dicts and what can be gone through: items at positions, comprehensions, folds, and the methods of containers."""

from __future__ import annotations

import math

from ...ops.registry import NAMES
from ...program import core as c
from ..ir import FLOAT, INT, Needed, Unsupported, Var
from ..symbols.arrays import get, rows_of_list
from ..symbols.pairs import Pair, by_parts
from ..symbols.scalars import MOST_BITS
from ..symbols.symbol import NUMBERS, Lazy, Sym
from ..symbols.values import (
    MAX_UNROLL,
    Each,
    Frame,
    Grid,
    Letter,
    List,
    Range,
    Records,
    Selected,
    new_frame,
    plain,
    read,
    static_index,
    symbolic,
)
from .heap import same
from .items import MAX_ITEMS
from .loops import Loops
from .printing import Text
from .steps import count_step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

MAX_REPEATED = 4096
WHOLE_OPERATIONS: dict[str, Callable[..., Any]] = {
    "to_int": lambda a: a, "copy": lambda a: a, "add": lambda a, b: a + b, "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b, "floor_divide": lambda a, b: a // b, "mod": lambda a, b: a % b,
    "minimum": min, "maximum": max, "fmin": min, "fmax": max, "abs": abs, "negative": lambda a: -a, "square": lambda a: a * a,
    "squared_difference": lambda a, b: (a - b) ** 2, "multiply_no_nan": lambda a, b: a * b, "power": lambda a, b: power(a, b),
    "relu": lambda a: max(a, 0), "signum": lambda a: (a > 0) - (a < 0), "round": lambda a: a, "nan_to_num": lambda a: a,
    "fmod": math.fmod, "clip_between": lambda a, low, high: min(max(a, low), high),
}  # fmt: skip
WHOLE_OPERATIONS |= {"int_" + name: function for name, function in WHOLE_OPERATIONS.items()}


def power(a: int, b: int) -> int:
    """A power that is an integer, and no long one."""
    if not 0 <= b < MOST_BITS:
        raise ValueError
    found: int = a**b
    return found


class Sequences(Loops):
    """The part of the specialiser that goes through lists, ranges and arrays."""

    def grow(self, container: List, value: Any) -> None:
        raise NotImplementedError

    def needed(self, values: list[Any], why: str) -> Unsupported:
        """What is raised where values must be known: the inputs that decide them, if it is inputs alone."""
        builder = self.builder
        names: set[str] = set()
        pending = list(values)
        while pending:
            x = pending.pop()
            if x.__class__ is Sym:
                x = x.var
            if x.__class__ is Var:
                if x in builder.values:
                    continue
                if x in builder.inputs:
                    names.add(x.name)
                elif x in builder.made:
                    pending.extend(builder.made[x][1])
                else:
                    return Unsupported(why)
            elif x.__class__ in (list, tuple):
                pending.extend(x)
            elif x.__class__ is List and x.items is not None:
                pending.extend(x.items)
            elif x.__class__ is Lazy and x.stored is not None and x.stored.role == "input" and x.kind == INT:
                names.add(x.stored.name)
            elif x.__class__ is slice:
                pending.extend((x.start, x.stop, x.step))
            elif symbolic(x):
                return Unsupported(why)
        return Needed(why, frozenset(names)) if names else Unsupported(why)

    def whole(self, x: Any, why: str) -> Any:
        """`x` with the integers in it known. Raises Needed, or Unsupported, where they are not."""
        cls = x.__class__
        if cls is tuple or cls is list:
            return cls(self.whole(part, why) for part in x)
        if cls is slice:
            return slice(self.whole(x.start, why), self.whole(x.stop, why), self.whole(x.step, why))
        if cls is Sym:
            value = self.value_of(x.var)
            if value is None:
                value = self.sizes.number(x, why)
            if value is None:
                raise self.needed([x], why)
            if x.kind == FLOAT and self.builder.follower is not None:
                self.builder.follower.counted(x.var)
            return value
        if cls is Lazy and x.known is not None:
            return x.known.value.tolist()
        known = self.sizes.integers(x, why)
        if known is not None and known.known is not None:
            return known.known.value.tolist()
        if symbolic(x):
            raise self.needed([x], why)
        return x

    def value_of(self, x: Any) -> int | None:
        """The value of an integer that is computed from inputs that are known."""
        builder = self.builder
        if x.__class__ is Sym:
            x = x.var
        if x.__class__ in (int, bool):
            return int(x)
        if x in builder.values:
            builder.note_counted(x)
            return builder.values[x]
        if x.__class__ is not Var or x not in builder.made or (x.kind == FLOAT and x not in builder.whole):
            return None
        op, args = builder.made[x]
        if op not in WHOLE_OPERATIONS:
            return None
        values = [self.value_of(a) for a in args]
        if any(value is None for value in values):
            return None
        try:
            return int(WHOLE_OPERATIONS[op](*values))
        except (ZeroDivisionError, ValueError):
            return None

    def each_of(self, value: Any) -> Each:
        value = read(value)
        cls = value.__class__
        if cls is Each:
            if value.once and (value.taken or value.depth != self.dynamic):
                raise Unsupported("an iterator that is used twice")
            value.taken = True
            return (
                Each(value.length, value.item, value.loopable, value.sources, along=value.along)
                if value.once
                else value
            )
        if cls is Range:
            return Each(self.range_length(value), lambda i: self.range_item(value, i), True)
        if cls is Lazy:
            if not value.shape:
                raise Unsupported("a loop over a number")
            rows = self.builder.settle(value)
            return Each(rows.shape[0], lambda i: self.builder.indexed(rows, lambda: get(self.builder, rows, i)), True)
        if cls is Pair and value.shape:
            both = value.settled()

            def row(i: Any) -> Any:
                return self.builder.indexed(both, lambda: by_parts(both, lambda part: get(self.builder, part, i)))

            return Each(value.shape[0], row, True)
        if cls is Selected:
            from .selected import compacted

            rows, count = compacted(self.builder, value)
            return Each(count, lambda i: get(self.builder, rows, i), True)
        if cls is List:
            if value.items is not None and len(value.items) > MAX_UNROLL:
                from . import records

                return records.each_of_many(self, value) or self.items_of(value)
            return self.items_of(value)
        if cls is Records:
            from . import records

            return records.each_of(self, value)
        if cls is Grid:
            from . import grids

            return grids.each_of(self, value)  # type: ignore[arg-type]
        if cls is tuple:
            if len(value) > MAX_UNROLL and all(x.__class__ in (*NUMBERS, Sym, Lazy) for x in value):
                array = rows_of_list(self.builder, plain(List(list(value))))
                return Each(len(value), lambda i: get(self.builder, array, i), True)
            return Each(len(value), lambda i: value[i], False)
        if cls is dict or cls is str:
            keys = list(value)
            if cls is str and len(keys) > MAX_UNROLL:
                from .choosing import letter_of

                return Each(len(keys), lambda i: keys[i] if i.__class__ is int else letter_of(self, value, i), True)
            return Each(len(keys), lambda i: keys[i], False)
        raise Unsupported("a loop over what is no list, tuple, dict or tensor")

    def each_alike(self, value: Any) -> Each:
        """The items of what is `alike`, as loops go through them."""
        from . import records

        items = list((value.items or ()) if value.__class__ is List else value)
        if items[0].__class__ is not tuple:
            return self.each_of(rows_of_list(self.builder, items))
        found = records.each_of_many(self, List(items))
        assert found is not None
        return found

    def items_of(self, x: List) -> Each:
        """The items of a list, each as it is when it is asked for: what goes through them may change them."""
        builder = self.builder
        start = None if x.items is None else tuple(x.items)
        loopable = start is None or (
            len(start) > MAX_UNROLL and all(item.__class__ in (*NUMBERS, Sym, Lazy) for item in start)
        )
        rows = rows_of_list(builder, plain(x)) if loopable and start is not None else None

        def item(i: Any) -> Any:
            if x.items is None:
                return builder.settle(get(builder, x.array, i))
            if i.__class__ is int:
                return builder.settle(x.items[i])
            if rows is not None and start is not None and same(tuple(x.items), start):
                return get(builder, rows, i)
            return get(builder, rows_of_list(builder, plain(x)), i)

        return Each(x.length, item, loopable, (x,), along=x)

    def range_length(self, value: Range) -> Any:
        if value.known:
            return len(value.range())
        builder = self.builder
        span = builder.integer("subtract", value.stop, value.start)
        if value.step != 1:
            span = builder.integer("add", span, value.step - (1 if value.step > 0 else -1))
            span = builder.apply(NAMES["floor_divide"], (span, value.step), None)
        return builder.apply(NAMES["maximum"], (span, 0), None)

    def range_item(self, value: Range, i: Any) -> Any:
        builder = self.builder
        if value.known and i.__class__ is int:
            return value.range()[i]
        return builder.integer("add", builder.integer("multiply", i, value.step), value.start)

    def shortest(self, lengths: list[Any]) -> Any:
        known = [n for n in lengths if n.__class__ is int]
        found: Any = min(known) if known else None
        for n in lengths:
            if n.__class__ is Sym:
                if found is not None:
                    low, high = self.builder.interval(n)
                    most = found if found.__class__ is int else self.builder.interval(found)[1]
                    found = self.builder.apply(NAMES["minimum"], (found, n), None)
                    if found.__class__ is Sym:
                        self.builder.ranges[found.var] = (max(min(low, most), 0), min(high, most))
                else:
                    found = n
        return found

    def repeated(self, value: Any, times: int) -> Any:
        """`list * n`."""
        if value.__class__ is tuple:
            if len(value) * times > MAX_REPEATED:
                raise Unsupported("a tuple of this length")
            return value * times
        items = self.items(value)
        if len(items) == 1 and items[0].__class__ in (*NUMBERS, Sym) and times > MAX_ITEMS:
            from .grids import filled

            return filled(self.builder, items[0], times)
        if len(items) * times > MAX_REPEATED:
            raise Unsupported("a list of this length")
        return List(items * times)

    # --- collecting -------------------------------------------------------------------------------------------------

    def with_frame(self, values: dict[Any, Any], run: Callable[[Frame], None]) -> Frame:
        """Run something on variables of its own that loops and branches may change."""
        frame = new_frame(None)
        frame.update(values)
        self.frames.append(frame)
        try:
            run(frame)
        finally:
            self.frames.pop()
        return frame

    def walk(self, items: Any, frame: Frame, visit: Callable[[Any], None]) -> None:
        """Visit every item; short ones one by one."""
        each = self.each_of(items)
        received: list[Any] = []

        def receive(item: Any) -> None:
            received[:] = [item]

        if each.length.__class__ is int and each.length <= MAX_UNROLL:
            i = 0
            while i < each.present():
                visit(each.item(i))
                i += 1
        else:
            self.go_through(each, frame, receive, lambda: visit(received[0]), set())

    def fold(self, items: Any, first: Any, step: Callable[[Any, Any], Any]) -> Any:
        """The last of `step(step(first, item), item)...`."""

        def run(frame: Frame) -> None:
            def visit(item: Any) -> None:
                frame["value"] = self.builder.settle(step(frame["value"], item))

            self.walk(items, frame, visit)

        return self.with_frame({"value": first}, run)["value"]

    def collected(self, items: Any, make: Callable[[Any, Callable[[Any], None]], None]) -> List:
        """A list of what `make(item, add)` adds for every item."""

        def run(frame: Frame) -> None:
            self.walk(items, frame, lambda item: make(item, lambda value: self.grow(frame["list"], value)))

        return self.with_frame({"list": List([])}, run)["list"]  # type: ignore[no-any-return]

    def where_it_holds(self, condition: Any, frame: Frame, run: Callable[[], None]) -> None:
        if condition is True:
            run()
        elif condition is not False:
            self.branch(condition, frame, run, lambda: None)

    def comprehension(self, node: c.Comprehension, frame: Frame) -> Any:
        from . import grids

        found = grids.comprehended(self, node, frame)  # type: ignore[arg-type]
        return self.listed(node, frame) if found is None else found

    def listed(self, node: c.Comprehension, frame: Frame, first: Each | None = None) -> Any:
        """The list or dict of a comprehension; `first` is what its first clause goes through, if that is there."""
        found: Any = List([]) if node.kind == "list" else {}

        def add(item: Any) -> None:
            self.grow(found, item)

        return self.comprehended(node, frame, found, add, first)

    def folded_comprehension(
        self, node: c.Comprehension, frame: Frame, first: Any, step: Callable[[Any, Any], Any]
    ) -> Any:
        """The last of `step(step(first, item), item)...` for the items of a list that need not be there."""
        made: list[Frame] = []

        def add(item: Any) -> None:
            made[0]["value"] = self.builder.settle(step(made[0]["value"], item))

        def run(inner: Frame) -> None:
            made.append(inner)
            self.comprehended(node, frame, None, add)

        return self.with_frame({"value": first}, run)["value"]

    def comprehended(
        self, node: c.Comprehension, frame: Frame, found: Any, add: Callable[[Any], None], first: Each | None = None
    ) -> Any:
        """Go through a comprehension; `add` takes the items of a list, `found` the pairs of a dict."""

        def level(k: int) -> None:
            if k < len(node.clauses):
                clause = node.clauses[k]

                def visit(item: Any) -> None:
                    count_step(self, clause.site)  # type: ignore[arg-type]
                    self.put(clause.target, item, frame)
                    tests(clause.tests, lambda: level(k + 1))

                self.walk(self.expression(clause.iterable, frame) if k or first is None else first, frame, visit)
            elif node.kind == "list":
                add(self.expression(node.element, frame))
            else:
                assert node.key is not None
                key = static_index(self.expression(node.key, frame))
                found[key] = self.builder.settle(self.expression(node.element, frame))

        def tests(conditions: list[c.Expr], run: Callable[[], None]) -> None:
            if not conditions:
                run()
                return
            self.where_it_holds(self.condition(conditions[0], frame), frame, lambda: tests(conditions[1:], run))

        self.with_frame({"found": found}, lambda inner: level(0))
        return found


# --- methods --------------------------------------------------------------------------------------------------------


def own_items(x: List) -> list[Any]:
    """The items of a list that may be moved about."""
    if x.frozen:
        raise Unsupported("a change of a list that is one or another, depending on data")
    if x.items is None:
        raise Unsupported("a change of the order of a list that data indexes")
    return x.items


def append(machine: Sequences, x: List, value: Any) -> None:
    if x.__class__ is Records:
        from . import records

        records.append(machine, x, value)
    else:
        machine.grow(x, value)


def extend(machine: Sequences, x: List, values: Any) -> None:
    for value in machine.items(values):
        append(machine, x, value)


def pop(machine: Sequences, x: List, index: Any = -1) -> Any:
    key = static_index(index)
    if x.__class__ is Records:
        from . import records

        return records.pop(machine, x, key)
    machine.pops[id(x)] = machine.pops.get(id(x), 0) + 1
    if x.items is None and not x.frozen and key == -1:
        value = machine.item_of(x, key)
        if x.array.volatile:
            machine.shrinking.add(x.array.stored)
        x.length = machine.longer(x.length, -1)
        return value
    items = own_items(x)
    if key.__class__ is not int or not -len(items) <= key < len(items):
        raise Unsupported("an index that is out of range, or no key")
    value = items.pop(key)
    x.length = len(items)
    return machine.builder.settle(value)


def insert(machine: Sequences, x: List, index: Any, value: Any) -> None:
    items = own_items(x)
    items.insert(static_index(index), machine.builder.settle(value))
    x.length = len(items)


def reverse(machine: Sequences, x: List) -> None:
    own_items(x).reverse()


def clear(machine: Sequences, x: List) -> None:
    own_items(x).clear()
    x.length = 0


def copy(machine: Sequences, x: List) -> List:
    return List([machine.builder.settle(item) for item in machine.items(x)])


def index(machine: Sequences, x: List, value: Any) -> Any:
    from .choosing import index_of

    return index_of(machine, x, value)


def count(machine: Sequences, x: List, value: Any) -> Any:
    from .choosing import count_of

    return count_of(machine, x, value)


def keys(machine: Sequences, x: dict[Any, Any]) -> List:
    return List(list(x))


def values(machine: Sequences, x: dict[Any, Any]) -> List:
    return List([machine.builder.settle(value) for value in x.values()])


def pairs(machine: Sequences, x: dict[Any, Any]) -> List:
    return List([(key, machine.builder.settle(value)) for key, value in x.items()])


def get_key(machine: Sequences, x: dict[Any, Any], key: Any, default: Any = None) -> Any:
    if key.__class__ in (Sym, Letter, Text):
        from .choosing import contains, value_at

        there = contains(machine, x, key)
        if there.__class__ is bool:
            return value_at(machine, x, key) if there else default
        return machine.choice(there, lambda: value_at(machine, x, key), lambda: default)
    return x.get(static_index(key), default)


def update(machine: Sequences, x: dict[Any, Any], other: Any) -> None:
    if other.__class__ is not dict:
        raise Unsupported("'update' of a dict by what is no dict")
    for key, value in other.items():
        machine.put_item(x, key, value, None, None)  # type: ignore[attr-defined]


METHODS: dict[type, dict[str, Callable[..., Any]]] = {
    List: {
        "append": append, "extend": extend, "pop": pop, "insert": insert, "reverse": reverse, "clear": clear,
        "copy": copy, "as_list": copy, "index": index, "count": count,
    },
    Records: {"append": append, "extend": extend, "pop": pop},
    dict: {"keys": keys, "values": values, "items": pairs, "get": get_key, "update": update},
}  # fmt: skip
