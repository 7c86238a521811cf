"""The body of a loop as a block of the IR, and what its iterations hand on.

What a loop changes are cells (containers.py). A cell whose value is made of numbers and arrays is carried by phis. The body is
traced again with more cells carried, or with phis of a wider kind, until what an iteration leaves is what the next one
begins with.
"""

from __future__ import annotations

from ...core.dtypes import BOOL as BOOL_DTYPE
from ...core.dtypes import WEAK_INT
from ...core.operands import operand_dtype
from ...core.state import STATE
from ...core.tensor import OPERATORS, shape_of
from ...program.core import UNSET
from ..ir import INT, Loop, Unsupported, Var, kind_of
from ..symbols import Sym
from .containers import Heap, assigned_in, differing, holds_container, leaves_of, of_leaves
from .values import BREAK, CONTINUE, RETURN, VALUE, Clash, Conflict, Frame, Maybe, common_dtype, same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..ir import Block
    from .sequences import Sequence
    from .tracer import Tracer

# A body is traced so often at most.
MOST_ROUNDS = 12
# Why a variable must not be read at the head of an iteration: the first one finds it without a value, or in another form.
LEFT = "what an iteration before this one has left"


class Again(Exception):
    """The body is to be traced again: its plan has changed."""


class Cell:
    """A cell that a loop changes: by phis of these dtypes, or (None) by what is never read at the head of an iteration.

    A `flag` is a cell of the frame that says how the loop is left: at the head of an iteration it is what it was before.
    """

    def __init__(self, container: Any, key: Any, dtypes: list[Any] | None, flag: bool = False) -> None:
        self.container = container
        self.key = key
        self.dtypes = dtypes
        self.flag = flag
        self.initial = self.head = container[key]
        self.form: Any = None
        self.leaves: list[Any] = []
        self.phis: list[Var] = []

    def begin(self, t: Tracer, heap: Heap) -> None:
        """Put into the cell what it holds at the head of an iteration."""
        if self.flag:
            return
        initial = self.initial
        self.form = leaves_of(initial, self.leaves)
        if initial is UNSET or initial.__class__ is Conflict or heap.shared(initial):
            self.dtypes = None
        if self.dtypes is None:
            self.head = Conflict(LEFT)
        else:
            if len(self.dtypes) != len(self.leaves):
                self.dtypes = [operand_dtype(x) for x in self.leaves]
            self.phis = [Var(kind_of(d), shape_of(x), "v") for d, x in zip(self.dtypes, self.leaves)]
            self.head = of_leaves(self.form, iter([Sym(t.builder, *pair) for pair in zip(self.phis, self.dtypes)]))
        self.container[self.key] = self.head


class Carrying:
    """One loop of the program as it is met. `body` takes the item of an iteration, `test` is the condition of a `while`.

    `code` is what the program's text has of it, `places` are cells that it changes beside.
    """

    def __init__(
        self, t: Tracer, f: Any, node: Any, code: Any, body: Callable[[Any], None], test: Callable[[], Any] | None = None,
        places: tuple[tuple[Any, Any], ...] = (),
    ) -> None:  # fmt: skip
        self.t = t
        self.f = f
        self.node = node
        self.code = code
        self.body = body
        self.test = test
        self.places = places
        self.site = STATE.site
        # Of a round: what the loop carries (phi, value before, operand after an iteration, out), and its number of iterations.
        self.carried: list[tuple[Var, Any, Any, Var]] = []
        self.trips = Var(INT)
        # Whether the first iteration surely runs.
        self.runs = False

    def iteration(self, item: Any) -> None:
        self.f[CONTINUE] = False
        self.t.statements += 1
        self.body(item)
        self.f[CONTINUE] = False

    def left(self) -> Any:
        """Whether the iteration was the last, by `break` or `return`."""
        return self.t.left(self.f, (BREAK, RETURN))

    def loop(self, items: Sequence | None, peeled: bool, heap: Heap) -> None:
        """Append the loop, over items or while the test holds."""
        key = (id(self.node), peeled, *[x.place for x in self.t.roots if x.__class__ is Frame])
        plan = self.t.plans.get(key)
        if plan is None or not all(heap.has_cell(*place) for place in plan):
            plan = self.t.plans[key] = self.first_plan(heap)
        for _ in range(MOST_ROUNDS):
            depth = len(self.t.roots)
            try:
                self.round(items, heap, plan)
                return
            except Again:
                del self.t.roots[depth:]
                heap.restore()
                STATE.site = self.site
        raise Unsupported("a loop whose variables take form after form", self.site)

    def first_plan(self, heap: Heap) -> dict[tuple[int, Any], list[Any] | None]:
        """The cells that the loop assigns to, as far as the program's text says, and their dtypes."""
        found = list(self.places)
        for depth, slot in assigned_in(self.code):
            frame = self.f
            for _ in range(depth):
                frame = frame[0]
            found.append((frame, slot))
        numbers = [(heap.numbers[id(x)], key) for x, key in found if id(x) in heap.numbers]
        return {(number, key): dtypes_of(heap.saved[number][key]) for number, key in numbers}

    def round(self, items: Sequence | None, heap: Heap, plan: dict[Any, Any]) -> None:
        """Trace the body once. Raises Again if the plan was found wanting, and has been changed."""
        builder, f = self.t.builder, self.f
        cells = {place: Cell(heap.containers[place[0]], place[1], dtypes) for place, dtypes in plan.items()}
        for flag in (BREAK, RETURN, VALUE):
            cells[heap.numbers[id(f)], len(f) + flag] = Cell(f, flag, None, flag=True)
        for cell in cells.values():
            cell.begin(self.t, heap)
        heads = heap.contents()
        self.carried, self.trips = [], Var(INT, (), "trips")
        test: Block = []
        index: Any = None
        first: Any = 0
        last: Any = None
        step, holds = 1, True
        if items is None:
            assert self.test is not None
            with builder.inside(test):
                holds = self.test()
            self.runs = holds is True
            if list(differing(heads, heap.contents())):
                raise Unsupported("a condition of a loop that changes something", self.site)
        else:
            index = Var(INT, (), "i")
            builder.bounds[index] = items.bounds(builder.bounds)
            first, last, step = items.start, items.stop, items.step
            self.runs = items.count.__class__ is int and items.count > 0
        with builder.inside([]) as body:
            self.iteration(None if items is None else items.at(Sym(builder, index, WEAK_INT)))
            left = self.left()
            STATE.site = self.site
            found = [place for place in differing(heads, heap.contents()) if place not in cells]
            if found:
                plan.update({place: dtypes_of(heap.saved[place[0]][place[1]]) for place in found})
                raise Again
            now = Heap(self.t.roots)
            after = [(cell, self.carry(cell, place, plan, heap, now)) for place, cell in cells.items()]
        carried = [(phi, self.operand(x, phi.kind), end, out) for phi, x, end, out in self.carried]
        first, last, condition, stop = [x.var if x.__class__ is Sym else x for x in (first, last, holds, left)]
        ends: Any = (carried, body, None if stop is False else stop, Var(INT, (), "count"), self.trips, [], self.site)
        builder.block.append(Loop(index, first, last, step, test, condition, *ends))
        for cell, value in after:
            cell.container[cell.key] = self.after(cell, value)

    def operand(self, x: Any, kind: str) -> Any:
        return x if x.__class__ is Var else self.t.builder.operand(x, kind)

    def ran(self) -> Any:
        """Whether there was an iteration."""
        return OPERATORS.greater(Sym(self.t.builder, self.trips, WEAK_INT), 0)

    # --- cells after an iteration ---------------------------------------------------------------------------------------

    def carry(self, cell: Cell, place: Any, plan: dict[Any, Any], heap: Heap, now: Heap) -> Any:
        """What the cell holds after the loop, by outs. Raises Again."""
        value = cell.container[cell.key]
        if value is cell.head and not holds_container(value):
            self.carried += [(phi, x, phi, Var(phi.kind, phi.shape)) for phi, x in zip(cell.phis, cell.leaves)]
            return cell.initial  # which no iteration changes
        if now.shared(value):
            raise Unsupported("a list or dict with two names that a loop changes", self.site)
        if cell.dtypes is None:
            return self.carry_unread(cell, value, heap)
        if cell.initial.__class__ is Maybe and value.__class__ is not Maybe:
            value = Maybe(value, True)
        leaves: list[Any] = []
        form = leaves_of(value, leaves)
        if form != cell.form or any(shape_of(x) != phi.shape for x, phi in zip(leaves, cell.phis)):
            plan[place] = None  # right if it is assigned before it is read
            raise Again
        dtypes = [common_dtype(d, operand_dtype(x)) for d, x in zip(cell.dtypes, leaves)]
        if any(a is not b and (kind_of(a) != kind_of(b) or a.weak) for a, b in zip(dtypes, cell.dtypes)):
            plan[place] = dtypes
            raise Again
        outs = []
        for phi, initial, x, dtype in zip(cell.phis, cell.leaves, leaves, dtypes):
            out = Var(phi.kind, phi.shape)
            self.carried.append((phi, initial, self.operand(x, phi.kind), out))
            outs.append(Sym(self.t.builder, out, dtype))
        return of_leaves(form, iter(outs))

    def carry_unread(self, cell: Cell, value: Any, heap: Heap) -> Any:
        """What a cell without phis holds after the loop: what the last iteration has assigned."""
        if value is UNSET or value.__class__ is Conflict:
            return value if value is not UNSET else Conflict("a variable that is deleted in a loop")
        leaves: list[Any] = []
        try:
            form = leaves_of(value, leaves, heap.outlives)
        except Clash as clash:
            return Conflict(str(clash))
        outs = []
        for x in leaves:
            if x.__class__ is Sym or (x is True and cell.flag and not self.runs):
                dtype = x.dtype if x.__class__ is Sym else BOOL_DTYPE
                kind, shape = kind_of(dtype), shape_of(x)
                phi, out = Var(kind, shape), Var(kind, shape)
                self.carried.append((phi, self.t.builder.zero(kind, shape), self.operand(x, kind), out))
                x = Sym(self.t.builder, out, dtype)
            outs.append(x)  # a number is the same in every iteration
        return of_leaves(form, iter(outs))

    def after(self, cell: Cell, value: Any) -> Any:
        """What a cell holds after the loop, which may not have run."""
        if cell.dtypes is not None or cell.flag or self.runs or value is cell.initial or value.__class__ is Conflict:
            return value
        if cell.initial is UNSET:
            if value.__class__ is Maybe:
                return Maybe(value.value, OPERATORS.logical_and(self.ran(), value.assigned))
            return Maybe(value, self.ran())
        if same(value, cell.initial):
            return value
        if cell.container.__class__ is not Frame:
            raise Unsupported("a list whose items a loop may change in form", self.site)
        return Conflict("a variable that a loop, if it runs, gives another form")


def dtypes_of(x: Any) -> list[Any]:
    """The dtypes of the numbers and arrays of which a value is made."""
    found: list[Any] = []
    leaves_of(x, found)
    return [operand_dtype(leaf) for leaf in found]
