"""What calls are to a survey of a program (survey.py): of rows, of the language's functions, and of the program's own."""

from __future__ import annotations

from math import prod

from ..core.operation import Operation
from ..program import core as c
from . import work
from .survey_values import (
    COMPLEX,
    About,
    Closure,
    Derived,
    Listed,
    alike,
    broadcast,
    created,
    flat,
    gathered,
    is_number,
    reduced,
    shaped,
    stacked,
    whole,
    widened,
)
from .work import Work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Calls inside calls that are followed.
MOST_CALLS = 60
# From so many walks on of one function its arguments are told apart by integers alone: recursion that halves an interval
# ends by its depth, and each of its calls has numbers of its own.
MOST_WALKS = 40
# The families of rows that give a tensor of its arguments' common shape, element by element.
ELEMENTWISE = frozenset(
    "arithmetic exponential trigonometric rounding special activations complex losses stable".split()
)
# The dtypes of rows that give a complex number for one.
OF_COMPLEX = frozenset(("arithmetic", "complex", "float", "promote"))
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


CONVERSIONS: dict[str, Callable[[Any], Any]] = {"int": int, "float": float, "bool": bool, "abs": abs}


class Calls:
    """The part of a survey that counts operations, and follows calls."""

    work: Work
    bounded: bool
    compile: float
    curves: int
    tensors: bool
    constant: bool
    library: str
    calls: list[Any]
    found: dict[Any, tuple[Work, Any]]
    walked: dict[int, int]
    most_steps: int | None
    # The last list made before the innermost loop began.
    first_list: int

    def value(self, node: Any, frame: list[Any]) -> Any:
        raise NotImplementedError

    def block(self, body: list[c.Stmt], frame: list[Any]) -> bool:
        raise NotImplementedError

    def iterated(self, items: Any) -> tuple[float, Any]:
        raise NotImplementedError

    def listed(self, items: list[Any]) -> Listed:
        return Listed(len(items), items[len(items) // 2] if items else None, items)

    # --- what is counted --------------------------------------------------------------------------------------------

    def measured(self, run: Callable[[], Any]) -> tuple[Work, Any]:
        """What something takes, apart; and what it gives."""
        before, self.work = self.work, Work()
        found = run()
        taken, self.work = self.work, before
        return taken, found

    def repeated(self, each: Work, trips: float) -> None:
        """The work of so many trips, or of those that the limit of steps leaves."""
        if self.most_steps is not None and each.steps * trips > self.most_steps:
            trips = self.most_steps / each.steps
        self.work = self.work.plus(each, trips)

    def number(self, operations: float = 1.0) -> None:
        """An operation on bare numbers, which costs so many of the cheapest."""
        self.work.operations += operations
        self.compile += work.NODE_SECONDS

    def complex_number(self) -> complex:
        """An operation on complex numbers, which the tape has NumPy do."""
        self.array(0.0, work.OF_COMPLEX)
        return COMPLEX

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
        if COMPLEX in values and not shapes:
            return self.complex_number()
        if not shapes:
            self.number()
            return None
        shape = broadcast(shapes)
        if shape:
            self.array(prod(shape))
        else:
            self.element()
        return shape

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
                counted = value.growing or value.number > self.first_list
                value.length = value.length + 1 if counted and value.length is not None else None
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
        if not tensors and by_element and (COMPLEX in values or op.dtype == "complex"):
            self.work.curved += op.derivative == "partials" and op.family not in ("arithmetic", "rounding", "complex")
            number = self.complex_number()
            return number if op.dtype in OF_COMPLEX else None
        if not tensors and (by_element or op.scalar is not None):
            self.number(1.0 if op.family == "arithmetic" else work.FUNCTION)
            if op.derivative == "partials" and op.family not in ("arithmetic", "rounding"):
                self.work.curved += 1.0
                self.work.functions += 1.0
                self.curves += 1
            if op.scalar is None and op.derivative == "partials":
                self.work.arrays += 1.0  # by the library's function, on an array of one element
            return None
        self.tensors = True
        self.constant |= not tensors
        if by_element:
            return self.elementwise([x if x.__class__ is tuple else None for x in flat(values)]) or ()
        shape = tensors[0] if first.__class__ is not tuple and tensors else first if first.__class__ is tuple else ()
        size = prod(max(tensors, key=prod)) if tensors else 1
        if first.__class__ is Listed and not tensors:
            size = gathered(first)
            self.work.operations += work.GATHERED * size
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
        if min(len(left), len(right)) == 1:
            self.work.elements += work.VECTOR_PRODUCT * prod(max(left, right, key=prod))
        else:
            self.work.products += float(prod(left)) * right[-1]
        self.array(prod(found) if found else inner)
        self.work.arrays += 2.0
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
            first = values[0] if values else None
            gradients, written = function.gradients, function.gradients
            if function.name == "hessian":
                rows = prod(first) if first.__class__ is tuple else 1
                gradients = work.COMMAND_WORK["hessian"] + work.COMMAND_WORK["direction"] * rows
                written = max(written, work.WRITTEN_OUT * rows**2 if rows <= work.MOST_WRITTEN_OUT else written)
            self.work = self.work.plus(recorded(taken), gradients)
            self.compile += written * (self.compile - before)
            if first.__class__ is not tuple:
                return None
            return first + first if function.name == "hessian" else first
        self.work.operations += 10.0
        return None

    def inside(self, function: Closure, values: list[Any], named: dict[str, Any]) -> Any:
        """The result of a call of a function of the program's."""
        code = function.code
        if self.walked.get(id(code), 0) >= MOST_WALKS:
            values, named = list(map(widened, values)), {name: widened(x) for name, x in named.items()}
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
            before, again = (self.compile, self.curves), any(inner[0] == key[0] for inner in self.calls)
            self.walked[id(code)] = self.walked.get(id(code), 0) + 1
            self.calls.append(key)
            taken, _ = self.measured(lambda: self.block(code.body, frame))
            self.calls.pop()
            if again:
                self.compile, self.curves = before  # one function, however deeply it calls itself
            taken.operations += work.CALL
            taken.steps += 1.0
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
            if first.__class__ is Listed:
                return None if first.growing else first.length
            return first[0] if first.__class__ is tuple and first else None
        if name in ("enumerate", "zip", "reversed", "list", "tuple", "sorted"):
            return self.gone_through(name, values)
        if name in DERIVED:
            function = Derived(first, name, DERIVED[name])
            taken_at_once = name in ("jvp", "hvp", "vjp", "linearize") and len(values) > 1
            if not taken_at_once:
                return function
            at = values[1]
            self.called(function, at.items or [at.item] if at.__class__ is Listed else [at], {})
            return None
        if name in SAME:
            return first
        if name in CONVERSIONS and is_number(first):
            found: Any = CONVERSIONS[name](first)
            return About(found) if first.__class__ is About else found
        if first.__class__ is tuple and name in ("min", "max", "sum", "any", "all") and len(values) < 3:
            from ..ops.registry import NAMES

            return self.applied(NAMES[name], values, named)
        if name in ("min", "max", "pow", "divmod", "sum", "round", "abs"):
            if name in ("min", "max") and len(values) > 1 and all(map(is_number, values)):
                self.number(work.CHOICE)
                return (min if name == "min" else max)(values)
            trips, each = 1.0, work.CHOICE
            if first.__class__ is Listed:
                trips, first, each = first.length or 1.0, first.item, work.ITEM
            taken, found = self.measured(lambda: self.elementwise([first, *values[1:]]))
            if found is None and name in ("min", "max", "sum"):
                taken.operations = each
            self.work = self.work.plus(taken, trips)
            return None if is_number(found) or (name == "abs" and found is COMPLEX) else found
        functions = [x for x in (*values, *named.values()) if x.__class__ in (Closure, Derived, Operation)]
        if functions:
            return self.higher(name, values, functions)
        self.number()
        return None

    def gone_through(self, name: str, values: list[Any]) -> Any:
        """What enumerate, zip and the like go through."""
        parts = []
        for x in values:
            before = self.bounded
            taken, part = self.measured(lambda x=x: self.iterated(x))  # type: ignore[misc]
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
            lengths += [len(x) for x in values if x.__class__ is range]
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
            taken, _ = self.measured(lambda f=function, given=given: self.called(f, given, {}))  # type: ignore[misc]
            self.repeated(taken.plus(Work(2.0)), trips)
        return None


def recorded(inner: Work) -> Work:
    """The work of what a tape inside the program records, and sweeps."""
    return Work(work.RECORDED * (inner.operations + work.TAPE_OPERATIONS), steps=inner.steps).plus(
        Work(0.0, inner.arrays, inner.elements, inner.products, inner.loops, inner.items), work.RECORDED_TENSORS
    )
