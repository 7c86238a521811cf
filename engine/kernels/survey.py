"""What a program will do, read off its text and its inputs: one walk over its core program on shapes and known numbers.

Values are the numbers that are known, None for any other number, tuples (the shapes of tensors; () is an element of
one), lists by `Listed`, functions by `Closure` and `Derived`. A loop's body is walked once, and what it takes counts as
often as the loop runs; a function's once for arguments that look alike.
"""

from __future__ import annotations

import operator
from math import prod

from ..core.operation import Operation
from ..program import core as c
from . import work
from .work import Work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..program.core import CoreProgram

# Nodes that are looked at: what a long program takes beyond them is left out.
MOST_NODES = 4_000
# Calls inside calls that are followed.
MOST_CALLS = 60
# Known integers are no larger.
LARGEST = 1e15

ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod,
}  # fmt: skip
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
NUMBERS = (int, float, bool)
# The families of rows that give a tensor of its arguments' common shape, element by element.
ELEMENTWISE = frozenset(
    "arithmetic exponential trigonometric rounding special activations complex losses stable".split()
)
# Rows that sum or pick along an axis.
REDUCING = frozenset(
    """sum mean reduce_mean prod max min ptp var std average any all logsumexp norm euclidean_norm power_norm argmax argmin
    median quantile percentile count_nonzero nansum nanmean trace det logdet""".split()
)
FILLED = frozenset("zeros ones empty full standard_normal standard_uniform random.normal random.uniform".split())
PRODUCTS = frozenset("matmul tf.matmul matvec dot inner vdot vecdot tensordot einsum contract multi_dot".split())
# Steps of NumPy's on the tape that rows of these families take for each element of a matrix's side.
MATRICES = frozenset(("linalg", "decompositions"))
# The transforms of functions, and how many gradients of theirs one call of what they give takes at most.
DERIVED = {
    "grad": 1.0, "value_and_grad": 1.0, "vjp": 1.0, "jvp": 1.0, "linearize": 1.0, "jacobian": 3.0, "jacfwd": 3.0,
    "jacrev": 3.0, "hessian": 10.0, "hvp": 3.0,
}  # fmt: skip
SAME = frozenset(("function", "checkpoint", "custom_gradient", "partial"))
MAPPED = frozenset(("map_fn", "vectorized_map", "scan", "foldl", "foldr", "map"))


class Listed:
    """A list of so many items (None: nobody knows), one of which is `item`; all of them, of a short one that does not
    change."""

    __slots__ = ("item", "items", "length")

    def __init__(self, length: float | None, item: Any, items: list[Any] | None = None) -> None:
        self.length = length
        self.item = item
        self.items = items


class Closure:
    """A function of the program's, and the frame around it."""

    __slots__ = ("code", "frame")

    def __init__(self, code: c.FunctionCode, frame: list[Any]) -> None:
        self.code = code
        self.frame = frame


class Derived:
    """A derivative of a function, of so many gradients."""

    __slots__ = ("function", "gradients")

    def __init__(self, function: Any, gradients: float) -> None:
        self.function = function
        self.gradients = gradients


def is_number(x: Any) -> bool:
    return x.__class__ in NUMBERS


def known(x: Any) -> Any:
    """A number, if it is one that may be counted with."""
    return x if x.__class__ in NUMBERS and abs(x) < LARGEST else None


def either(x: Any, y: Any) -> Any:
    """What is known of a value that is one of two."""
    if x is y or y is None:
        return None if x is not y and is_number(x) else x
    if is_number(x) and is_number(y):
        return x if x == y else None
    return (None if is_number(y) else y) if x is None or is_number(x) else x


def broadcast(shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
    """The common shape of tensors; where they have none, that of the largest."""
    rank = max(map(len, shapes))
    sides = []
    for axis in range(-rank, 0):
        found = {shape[axis] for shape in shapes if len(shape) >= -axis} - {1}
        if len(found) > 1:
            return max(shapes, key=prod)
        sides.append(found.pop() if found else 1)
    return tuple(sides)


class Survey:
    """The work of a program at a point.

    `work` is what its text tells of; `bounded` says that this is all, or rather more: it is less where data decide how
    often a loop runs or a function calls itself. `compile` are the seconds that the program's operations take to compile,
    `tensors` says whether there are any on tensors.
    """

    def __init__(self, core: CoreProgram, point: dict[str, Any]) -> None:
        self.work = Work()
        self.bounded = True
        self.compile = 0.0
        self.tensors = False
        self.library = ""
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

    def listed(self, items: list[Any]) -> Listed:
        return Listed(len(items), items[len(items) // 2] if items else None, items)

    # --- what is counted --------------------------------------------------------------------------------------------

    def measured(self, run: Callable[[], Any]) -> tuple[Work, Any]:
        """What something takes, apart; and what it gives."""
        before, self.work = self.work, Work()
        found = run()
        taken, self.work = self.work, before
        return taken, found

    def number(self) -> None:
        """An operation on bare numbers."""
        self.work.operations += 1.0
        self.compile += work.NODE_SECONDS

    def element(self) -> None:
        self.work.items += 1.0
        self.compile += work.NODE_SECONDS

    def array(self, elements: float, arrays: float = 1.0) -> None:
        self.tensors = True
        self.work.arrays += arrays
        self.work.elements += arrays * elements
        self.compile += work.TENSOR_NODE_SECONDS * arrays

    def elementwise(self, values: list[Any]) -> Any:
        """An operation on numbers or tensors, element by element."""
        shapes = [x for x in values if x.__class__ is tuple]
        if not shapes:
            self.number()
            return None
        shape = broadcast(shapes)
        if shape:
            self.array(prod(shape))
        else:
            self.element()
        return shape

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
        if is_number(test):
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
            self.work = self.work.plus(inner.plus(Work(1.0)), trips)
        forget(carried, frame)

    def for_(self, s: c.For, frame: list[Any]) -> None:
        items = self.value(s.iterable, frame)
        trips, item = self.iterated(items)
        self.loop(trips, s.body, frame, lambda: self.put(s.target, item, frame))
        self.block(s.orelse, frame)

    def iterated(self, items: Any) -> tuple[float, Any]:
        """How often a loop over something runs, and what it is given on average."""
        if items.__class__ is range:
            return len(items), items[len(items) // 2] if items else 0
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
            _, (bound, step) = self.measured(
                lambda other=other, step=steps[0].value, inside=inside: [self.value(x, inside) for x in (other, step)]
            )
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
        return EXPRESSIONS[node.__class__](self, node, frame)

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
            return -value if node.symbol == "-" else value if node.symbol == "+" else None
        return found

    def comparison(self, node: c.Comparison, frame: list[Any]) -> Any:
        values = [self.value(x, frame) for x in (node.left, *node.rights)]
        found = self.elementwise(values) if all(x.__class__ is not Listed for x in values) else None
        if all(map(is_number, values)) and all(symbol in COMPARISONS for symbol in node.symbols):
            return all(COMPARISONS[symbol](a, b) for symbol, a, b in zip(node.symbols, values, values[1:]))
        return found

    def logical(self, node: c.Logical, frame: list[Any]) -> Any:
        found: Any = None
        for k, x in enumerate(node.values):
            found = self.value(x, frame)
            if not is_number(found):
                for rest in node.values[k + 1 :]:
                    self.value(rest, frame)
                return None
            if bool(found) == (node.symbol == "or"):
                break
        return found

    def not_(self, node: c.Not, frame: list[Any]) -> Any:
        value = self.value(node.operand, frame)
        return not value if is_number(value) else None

    def choose(self, node: c.Choose, frame: list[Any]) -> Any:
        test = self.value(node.test, frame)
        if is_number(test):
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
            self.work = self.work.plus(taken.plus(Work(1.0)), trips)
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

    def apply(self, node: c.Apply, frame: list[Any]) -> Any:
        values = [self.value(x, frame) for x in node.args]
        named = {name: self.value(x, frame) for name, x in node.keywords}
        return self.applied(node.op, values, named)

    def method(self, node: c.Method, frame: list[Any]) -> Any:
        value = self.value(node.value, frame)
        values = [value, *(self.value(x, frame) for x in node.args)]
        named = {name: self.value(x, frame) for name, x in node.keywords}
        if value.__class__ is Listed:
            if node.name == "append":
                value.items, value.item = None, values[-1]
                value.length = None
            return None
        from ..ops.registry import METHODS, NAMES

        op = METHODS.get(node.name) or NAMES.get(node.name)
        if op.__class__ is not Operation or value.__class__ is not tuple:
            # What a tape or a Variable does.
            self.work.operations += 10.0
            self.compile += work.NODE_SECONDS
            return None
        return self.applied(op, values, named)

    def applied(self, op: Operation, values: list[Any], named: dict[str, Any]) -> Any:
        """The shape of what a row gives."""
        tensors = [x for x in flat([*values, *named.values()]) if x.__class__ is tuple]
        if op.library and (tensors or op.scalar is None):
            self.library = op.library
        name, first = op.name, values[0] if values else None
        by_element = op.family in ELEMENTWISE and name not in REDUCING and name != "reshape"
        if not tensors and (by_element or op.scalar is not None):
            self.number()
            return None
        self.tensors = True
        if by_element:
            return self.elementwise([x if x.__class__ is tuple else None for x in flat(values)]) or ()
        shape = tensors[0] if first.__class__ is not tuple and tensors else first if first.__class__ is tuple else ()
        size = prod(max(tensors, key=prod)) if tensors else 1
        if name in PRODUCTS and len(tensors) > 1:
            return self.product(tensors[0], tensors[1])
        if op.family == "creation" or name in FILLED:
            found = created(name, [*values, *named.values()])
        elif name in REDUCING:
            found = reduced(shape, named.get("axis", values[1] if len(values) > 1 else None), "axis" in named)
        elif op.family in MATRICES:
            side = max(shape[-1:], default=1)
            self.work.products += float(size) * side
            found = shape
            self.array(size, 3.0)
        elif name in ("reshape", "broadcast_to", "tile"):
            found = shaped(values[1:] or list(named.values()), size)
        elif name in ("stack", "concat", "hstack", "vstack", "constant") and first.__class__ is Listed:
            found = stacked(first) if name in ("stack", "constant") else (gathered(first),)
        elif name == "transpose":
            found = shape[::-1]
        else:
            found = max(tensors, key=prod) if tensors else ()
        self.array(max(size, prod(found)))
        return found

    def product(self, left: Any, right: Any) -> Any:
        if left.__class__ is not tuple or right.__class__ is not tuple or not left or not right:
            return self.elementwise([left, right])
        inner = left[-1]
        found = (*left[:-1], *(right[:-2] + right[-1:] if len(right) > 1 else ()))
        self.work.products += float(prod(left)) * (right[-1] if len(right) > 1 else 1)
        self.array(prod(found) if found else inner)
        return found

    def call(self, node: c.Call, frame: list[Any]) -> Any:
        function = node.function
        values = [self.value(x, frame) for x in node.args]
        named = {name: self.value(x, frame) for name, x in node.keywords}
        if function.__class__ is c.Intrinsic:
            return self.intrinsic(function.name, values, named)
        return self.called(self.value(function, frame), values, named)

    def called(self, function: Any, values: list[Any], named: dict[str, Any]) -> Any:
        cls = function.__class__
        if cls is Closure:
            return self.inside(function, values, named)
        if cls is Operation:
            return self.applied(function, values, named)
        if cls is c.Intrinsic:
            return self.intrinsic(function.name, values, named)
        if cls is Derived:
            before = self.compile
            taken, _ = self.measured(lambda: self.called(function.function, values, named))
            self.work = self.work.plus(recorded(taken), function.gradients)
            self.compile += function.gradients * (self.compile - before)
            first = values[0] if values else None
            return first if first.__class__ is tuple else None
        self.work.operations += 10.0
        return None

    def inside(self, function: Closure, values: list[Any], named: dict[str, Any]) -> Any:
        """The result of a call of a function of the program's."""
        code = function.code
        key = (id(code), id(function.frame), *map(alike, values), *((name, alike(x)) for name, x in named.items()))
        if key not in self.found:
            if key in self.calls or len(self.calls) > MOST_CALLS:
                self.bounded = False  # data decide when it ends
                self.work.operations += 10.0
                return None
            frame: list[Any] = [None] * code.size
            frame[c.PARENT] = function.frame
            for k, name in enumerate(code.parameters):
                default = code.defaults[k] if k < len(code.defaults) else None
                if k < len(values):
                    frame[2 + k] = values[k]
                elif name in named:
                    frame[2 + k] = named[name]
                elif default is not None:
                    frame[2 + k] = self.value(default, function.frame)
            before, again = self.compile, any(inner[0] == key[0] for inner in self.calls)
            self.calls.append(key)
            taken, _ = self.measured(lambda: self.block(code.body, frame))
            self.calls.pop()
            if again:
                self.compile = before  # one function, however deeply it calls itself
            taken.operations += 2.0
            self.found[key] = taken, frame[c.RESULT]
        taken, found = self.found[key]
        self.work = self.work.plus(taken)
        return found

    def intrinsic(self, name: str, values: list[Any], named: dict[str, Any]) -> Any:
        first = values[0] if values else None
        if name == "range":
            try:
                return range(*map(whole, values))
            except (TypeError, ValueError):
                return None
        if name == "len":
            if first.__class__ is range:
                return len(first)
            return first[0] if first.__class__ is tuple and first else getattr(first, "length", None)
        if name in ("enumerate", "zip", "reversed", "list", "tuple", "sorted"):
            return self.gone_through(name, values)
        if name in DERIVED:
            function = Derived(first, DERIVED[name])
            taken_at_once = name in ("jvp", "hvp", "vjp", "linearize") and len(values) > 1
            if not taken_at_once:
                return function
            at = values[1]
            self.called(function, at.items or [at.item] if at.__class__ is Listed else [at], {})
            return None
        if name in SAME:
            return first
        if name in ("int", "float", "bool", "abs") and is_number(first):
            return {"int": int, "float": float, "bool": bool, "abs": abs}[name](first)
        if name in ("min", "max", "pow", "divmod", "sum", "round", "abs"):
            if name in ("min", "max") and len(values) > 1 and all(map(is_number, values)):
                return (min if name == "min" else max)(values)
            trips = 1.0
            if first.__class__ is Listed:
                trips, first = first.length or 1.0, first.item
            taken, found = self.measured(lambda: self.elementwise([first, *values[1:]]))
            self.work = self.work.plus(taken, trips)
            return None if is_number(found) else found
        functions = [x for x in (*values, *named.values()) if x.__class__ in (Closure, Derived)]
        if functions:
            return self.higher(name, values, functions)
        self.number()
        return None

    def gone_through(self, name: str, values: list[Any]) -> Any:
        """What enumerate, zip and the like go through."""
        parts = []
        for x in values:
            before = self.bounded
            taken, part = self.measured(lambda x=x: self.iterated(x))
            if name in ("list", "tuple", "sorted") and x.__class__ is Listed:
                self.bounded = before
                return Listed(x.length, x.item, None if x.items is None else list(x.items))
            self.work = self.work.plus(taken)
            parts.append(part)
        if not parts:
            return Listed(0, None, [])
        length = min(trips for trips, _ in parts)
        items = [item for _, item in parts]
        if name == "enumerate":
            return Listed(length, self.listed([int(length) // 2, items[0]]))
        return Listed(length, self.listed(items) if name == "zip" else items[0])

    def higher(self, name: str, values: list[Any], functions: list[Any]) -> Any:
        """A function that calls functions of the program's: once for each item, or nobody knows how often."""
        trips = 1.0
        if name == "fori_loop" and len(values) > 1 and is_number(values[0]) and is_number(values[1]):
            trips = max(values[1] - values[0], 0)
        elif name in MAPPED:
            lengths = [x[0] for x in flat(values) if x.__class__ is tuple and x]
            lengths += [x.length for x in values if x.__class__ is Listed and x.length is not None]
            if lengths:
                trips = max(lengths)
            else:
                self.bounded = False
        elif name in ("while_loop", "fori_loop"):
            self.bounded = False
        items = [x[1:] if x.__class__ is tuple and x and name in MAPPED else x for x in values if x not in functions]
        for function in functions:
            count = len(function.code.parameters) if function.__class__ is Closure else len(items)
            given = [None if is_number(x) else x for x in items[:count]]
            taken, _ = self.measured(lambda f=function, given=given: self.called(f, given, {}))
            self.work = self.work.plus(taken.plus(Work(2.0)), trips)
        return None


def recorded(inner: Work) -> Work:
    """The work of what a tape inside the program records, and sweeps."""
    return Work(work.RECORDED * (inner.operations + 10.0)).plus(
        Work(0.0, inner.arrays, inner.elements, inner.products, inner.loops, inner.items), work.RECORDED_TENSORS
    )


def computed(symbol: str, left: Any, right: Any) -> Any:
    """An operator on known numbers; None where its result is not to be counted with."""
    try:
        if symbol in ARITHMETIC:
            return known(ARITHMETIC[symbol](left, right))
        if symbol == "**" and abs(left) < 1e6 and abs(right) < 64:
            return known(left**right)
    except ArithmeticError:
        pass
    return None


def whole(x: Any) -> Any:
    """A number as an integer, where it is one."""
    return int(x) if is_number(x) and x == int(x) else None


def alike(x: Any) -> Any:
    """What tells arguments apart that make a function take other ways."""
    if x.__class__ is Listed:
        return "list", x.length, alike(x.item)
    return x if x.__class__ in (int, float, bool, tuple) else id(x) if x.__class__ in (Closure, Derived) else None


def flat(values: list[Any]) -> list[Any]:
    """Values, and those in lists of theirs."""
    found: list[Any] = []
    for x in values:
        if x.__class__ is Listed:
            found += flat(x.items if x.items is not None else [x.item])
        else:
            found.append(x)
    return found


def joined(symbol: str, left: Any, right: Any) -> Any:
    """Python's operators on lists."""
    if left.__class__ is Listed and right.__class__ is Listed:
        known = left.length is not None and right.length is not None
        items = left.items + right.items if left.items is not None and right.items is not None else None
        return Listed(
            left.length + right.length if known else None, right.item if left.item is None else left.item, items
        )
    one, times = (left, right) if left.__class__ is Listed else (right, left)
    if symbol == "*" and is_number(times):
        return Listed(None if one.length is None else one.length * max(times, 0), one.item)
    return one


def stacked(x: Any) -> tuple[int, ...]:
    """The shape of a list as a tensor."""
    if x.__class__ is Listed:
        return (int(x.length or 1), *stacked(x.item))
    return x if x.__class__ is tuple else ()


def gathered(x: Listed) -> int:
    """How many elements a list of tensors has."""
    if x.items is not None:
        return sum(prod(item) if item.__class__ is tuple else prod(stacked(item)) for item in x.items)
    return int(x.length or 1) * prod(stacked(x.item))


def shaped(values: list[Any], size: int) -> tuple[int, ...]:
    """The shape that arguments say."""
    sides = [x for x in flat(values) if x is None or is_number(x)]
    known = [int(x) for x in sides if x is not None and x > 0]
    if len(known) == len(sides):
        return tuple(known)
    return (*known, max(1, size // max(1, prod(known))))


def created(name: str, values: list[Any]) -> tuple[int, ...]:
    """The shape of a tensor that is made of numbers."""
    numbers = [x for x in flat(values) if is_number(x)]
    if name in ("arange", "ramp"):
        start, stop, step = (0, *numbers, 1) if len(numbers) == 1 else (*numbers, 0, 1, 1)[:3]
        return (max(1, int((stop - start) / (step or 1))),)
    if name in ("linspace", "logspace", "geomspace", "linspace_points"):
        return (max(1, int(values[2])) if len(values) > 2 and is_number(values[2]) else 50,)
    if name in ("eye", "tri"):
        return (int(values[0]),) * 2 if values and is_number(values[0]) else (1, 1)
    first = values[0] if values else None
    if first.__class__ is tuple:
        return first
    return tuple(max(1, int(x)) for x in flat([first]) if is_number(x)) or (1,)


def reduced(shape: tuple[int, ...], axis: Any, named: bool) -> tuple[int, ...]:
    """A shape less an axis; () without one."""
    axes = [x for x in flat([axis]) if x.__class__ is int]
    kept = [side for k, side in enumerate(shape) if k not in axes and k - len(shape) not in axes]
    return tuple(kept) if axes else ()


def stored(body: list[c.Stmt]) -> set[tuple[int, int]]:
    """The variables that statements assign, by depth and slot."""
    found: set[tuple[int, int]] = set()

    def target(x: Any) -> None:
        if x.__class__ is c.Store:
            found.add((x.depth, x.slot))
        elif x.__class__ is c.Unpack:
            for inner in x.targets:
                target(inner)

    for s in body:
        cls = s.__class__
        if cls is c.Assign:
            for x in s.targets:
                target(x)
        elif cls in (c.Augment, c.For, c.Define):
            target(s.target)
        for part in ("body", "orelse"):
            found |= stored(getattr(s, part, []))
    return found


def forget(places: set[tuple[int, int]], frame: list[Any]) -> None:
    """The numbers in variables are not known any more."""
    for depth, slot in places:
        inner = frame
        for _ in range(depth):
            inner = inner[c.PARENT]
        if is_number(inner[slot]):
            inner[slot] = None


def same_place(target: Any, load: c.Load) -> bool:
    return target.__class__ is c.Store and (target.depth, target.slot) == (load.depth, load.slot)


def count_stores(body: list[c.Stmt], load: c.Load) -> int:
    """How many statements assign a variable."""
    found = 0
    for s in body:
        targets = s.targets if s.__class__ is c.Assign else [getattr(s, "target", None)]
        found += sum(1 for x in targets if same_place(x, load))
        found += 2 * sum(1 for x in targets if x.__class__ is c.Unpack and any(same_place(y, load) for y in x.targets))
        for part in ("body", "orelse"):
            found += 2 * count_stores(getattr(s, part, []), load)
    return found


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
