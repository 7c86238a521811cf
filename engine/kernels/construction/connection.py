"""Which inputs the result depends on in one run, and where the paths of the others end: a kernel that finds that alone.

Beside every float stands, for each source, whether a tape would follow it: a bool, or one for each array, which a tensor
has as a whole and a list element by element. The kernel is made only where a gradient is zero, or no path through the
program leads to the result, and it runs after the one that gave the gradient; what that one checked is not checked again.
"""

from __future__ import annotations

from ...autodiff.tape import ASIDE, MAX_BREAKS
from .. import ir
from ..built import Built
from ..differentiation.activity import carries, dependencies, reach
from ..inputs import source_of
from ..ir import BOOL, FLOAT, INT, Array, Stmt, Unsupported, Var
from ..symbols.build import Builder
from ..symbols.following import Ended, Linked, Renewed
from ..symbols.regions import dissolved
from ..symbols.symbol import Sym, raw
from .construct import Lowered, finished

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from ...program.core import CoreProgram

    # For each source whether it is followed: False, True, or a symbol.
    Taint = list[Any]

MAX_SOURCES = 16
# What the result says of each source, after the numbers of paths that ended, comparisons and the like apart: whether the
# result depends on it, whether a row took it, and the numbers of the places where its paths ended first, comparisons apart;
# -1 for a place that a tape may have no room for.
CONNECTED, USED, END, COMPARED = range(4)
LATE = -1


def build_connection(program: CoreProgram, spec: dict[str, Any], sources: Sequence[str]) -> Built:
    """The kernel that says which sources the result depends on. Raises Unsupported."""
    if len(sources) > MAX_SOURCES:
        raise Unsupported("so many inputs that reach the result on some paths of the program only")
    lowered = Lowered(program, spec, sources, True, follow=True)
    result = lowered.summed()
    if lowered.hollow:
        # No statement of the sum reads them, and a tape follows them like other parts of the result.
        total, result = result, Var(FLOAT)
        lowered.builder.append(Linked([result], [total, *lowered.hollow], True))
    targets: dict[str, list[Any]] = {}
    for part, target in lowered.targets.items():
        targets.setdefault(source_of(part), []).append(target)
    kernel = ir.Kernel(lowered.kernel.parameters, dissolved(lowered.kernel.body), [result])
    made = Connection(lowered.builder, kernel, list(targets.values()))
    built = Built(finished(made.kernel(kernel, result)), ())
    built.estimate = built.kernel
    built.places = made.places
    built.precision = lowered.precision
    return built


def place_of(k: int) -> int:
    """Where the result speaks of the k-th source."""
    return 2 + 4 * k


class Connection:
    """The transformation of one kernel."""

    def __init__(self, made: Builder, kernel: ir.Kernel, sources: list[list[Any]]) -> None:
        assert made.follower is not None
        self.listed = made.follower.listed
        self.builder = Builder()
        self.builder.ranges = made.ranges
        self.count = len(sources)
        self.places: list[tuple[str, Any]] = []
        self.state = Array(INT, (place_of(self.count),), "notes", "carried")
        edges = dependencies(kernel)
        link(kernel.body, edges)
        self.reached = [reach(edges, targets) for targets in sources]
        self.known: dict[Any, Taint] = {}
        for k, targets in enumerate(sources):
            for target in targets:
                self.known.setdefault(target, [False] * self.count)[k] = True
        # The flags of arrays.
        self.flags: dict[Array, Array] = {}

    def kernel(self, kernel: ir.Kernel, result: Any) -> ir.Kernel:
        def everything() -> None:
            self.walk(kernel.body)
            for k, followed in enumerate(self.of(result)):
                self.when(followed, lambda k=k: self.note(k, CONNECTED, 1))  # type: ignore[misc]

        body, _ = self.builder.nested(everything)
        return ir.Kernel(kernel.parameters, [ir.Alloc(self.state, True), *body], [self.state])

    # --- what is followed -------------------------------------------------------------------------------------------

    def of(self, x: Any) -> Taint:
        """Whether each source leads to a variable, or to an array as a whole."""
        if x.__class__ is Array:
            return self.whole(x)
        return self.known.get(x) or [False] * self.count

    def possible(self, x: Any) -> list[bool]:
        return [x in reached for reached in self.reached]

    def whole(self, array: Array) -> Taint:
        if array in self.known:
            return self.known[array]
        flags = self.flags.get(array)
        if flags is None:
            return [False] * self.count
        found: Taint = []
        for k, possible in enumerate(self.possible(array)):
            if not possible:
                found.append(False)
            elif self.is_listed(array):
                found.append(self.any_of(flags, array.size, k))
            else:
                found.append(self.load(flags, k))
        return found

    def is_listed(self, array: Array) -> bool:
        return array in self.listed or array.role == "list"

    def any_of(self, flags: Array, size: int, k: int) -> Any:
        """Whether any element of a list's array is followed."""
        builder = self.builder
        index, phi = builder.counter(size), Var(BOOL, "s")

        def step() -> Any:
            return builder.emit("logical_or", (Sym(builder, phi), self.element(flags, Sym(builder, index), k)), BOOL)

        body, following = builder.nested(step)
        carried = [(phi, False, raw(following))]
        builder.append(ir.Loop(index, 0, size, 1, None, None, carried, body, None, {}, Var(INT, "t"), None))
        return Sym(builder, phi)

    def element(self, flags: Array, index: Any, k: int) -> Any:
        builder = self.builder
        place = builder.integer("add", builder.integer("multiply", index, self.count), k)
        return self.load(flags, raw(place))

    def load(self, array: Array, place: Any) -> Sym:
        var = Var(array.kind, "x")
        self.builder.append(ir.Load(var, array, place))
        return Sym(self.builder, var)

    def either(self, taints: Iterable[Taint]) -> Taint:
        found: Taint = [False] * self.count
        for taint in taints:
            found = [self.one_of(a, b) for a, b in zip(found, taint)]
        return found

    def one_of(self, a: Any, b: Any) -> Any:
        if a is True or b is True:
            return True
        if a is False or b is False:
            return b if a is False else a
        return a if a.var is b.var else self.builder.emit("logical_or", (a, b), BOOL)

    def when(self, condition: Any, run: Callable[[], Any]) -> None:
        if condition is True:
            run()
        elif condition is not False:
            self.builder.append(ir.If(condition.var, self.builder.nested(run)[0], [], []))

    def note(self, k: int, what: int, value: int) -> None:
        self.builder.append(ir.Store(self.state, place_of(k) + what, value))

    # --- statements -------------------------------------------------------------------------------------------------

    def walk(self, block: list[Stmt]) -> None:
        builder = self.builder
        for s in block:
            if s.__class__ is Linked:
                self.linked(s)
            elif s.__class__ is Ended:
                self.ended(s)
            elif s.__class__ is Renewed:
                self.mark(s.array, [False] * self.count)
            elif s.__class__ is ir.Loop:
                self.loop(s)
            elif s.__class__ is ir.If:
                self.branch(s)
            elif s.__class__ is not ir.Check:
                builder.append(s)
                self.simple(s)

    def simple(self, s: Stmt) -> None:
        if s.__class__ is ir.Set:
            if s.var.kind == FLOAT and carries(s):
                self.known[s.var] = self.either(self.of(x) for x in s.args if x.__class__ is Var)
        elif s.__class__ is ir.Load:
            if s.var.kind == FLOAT:
                self.known[s.var] = self.loaded(s)
        elif s.__class__ is ir.Alloc:
            if s.array.kind == FLOAT and any(self.possible(s.array)):
                size = s.array.size if self.is_listed(s.array) else 1
                flags = self.flags[s.array] = Array(BOOL, (size * self.count,), "f", "carried")
                self.builder.append(ir.Alloc(flags, True))
        elif s.__class__ in (ir.Routine, ir.AddTo):
            self.add(s.array, self.of(s.value))  # no list is added to
        elif s.__class__ is ir.Store:
            self.stored(s)
        elif s.__class__ not in (ir.Constant, ir.Keep, ir.OpenLog, ir.Mark):
            raise Unsupported("an input that may not reach the result, on its way through this")

    def loaded(self, s: ir.Load) -> Taint:
        flags = self.flags.get(s.array)
        if flags is None or not self.is_listed(s.array):
            return self.whole(s.array)
        index = Sym(self.builder, s.index) if s.index.__class__ is Var else s.index
        return [
            self.element(flags, index, k) if possible else False for k, possible in enumerate(self.possible(s.array))
        ]

    def stored(self, s: ir.Store) -> None:
        flags = self.flags.get(s.array)
        if flags is None:
            return
        taint = self.of(s.value)
        if not self.is_listed(s.array):
            self.add(s.array, taint)
            return
        builder = self.builder
        index = Sym(builder, s.index) if s.index.__class__ is Var else s.index
        for k, possible in enumerate(self.possible(s.array)):
            if possible:
                place = builder.integer("add", builder.integer("multiply", index, self.count), k)
                builder.append(ir.Store(flags, raw(place), raw(taint[k])))

    def add(self, array: Array, taint: Taint) -> None:
        """An array that is given elements."""
        flags = self.flags.get(array)
        if flags is not None:
            for k, followed in enumerate(taint):
                self.when(followed, lambda k=k: self.builder.append(ir.Store(flags, k, True)))  # type: ignore[misc]

    def mark(self, array: Array, taint: Taint) -> None:
        """An array that is new as a whole."""
        flags = self.flags.get(array)
        if flags is None:
            return
        possible = self.possible(array)
        for k, followed in enumerate(taint):
            if not possible[k]:
                continue
            if not self.is_listed(array):
                self.builder.append(ir.Store(flags, k, raw(followed)))
            elif followed is not False:
                raise Unsupported(
                    "an input that may not reach the result, on its way through an operation with several results"
                )

    def linked(self, s: Linked) -> None:
        taint = self.either(map(self.of, s.operands)) if s.carries else [False] * self.count
        if s.carries:
            for k, followed in enumerate(taint):
                self.when(followed, lambda k=k: self.note(k, USED, 1))  # type: ignore[misc]
        for x in s.results:
            if x.__class__ is Array:
                self.mark(x, taint)
            else:
                self.known[x] = taint

    def ended(self, s: Ended) -> None:
        builder = self.builder
        taint = self.either(map(self.of, s.operands))
        followed: Any = False
        for each in taint:
            followed = self.one_of(followed, each)
        if followed is False:
            return
        self.places.append((s.reason, s.site))
        number = len(self.places)
        kind = int(s.reason in ASIDE)
        what = COMPARED if kind else END

        def tell() -> None:
            before = self.load(self.state, kind)
            room = builder.emit("less", (before, MAX_BREAKS), BOOL)
            for k, each in enumerate(taint):
                self.when(each, lambda k=k: first(k, room))  # type: ignore[misc]
            self.when(room, lambda: builder.append(ir.Store(self.state, kind, raw(builder.integer("add", before, 1)))))

        def first(k: int, room: Sym) -> None:
            before = self.load(self.state, place_of(k) + what)
            new = builder.emit("equal", (before, 0), BOOL)
            value = builder.emit("where_select", (room, number, LATE), INT)
            self.when(new, lambda: builder.append(ir.Store(self.state, place_of(k) + what, value.var)))

        self.when(followed, tell)

    def branch(self, s: ir.If) -> None:
        then, _ = self.builder.nested(lambda: self.walk(s.then))
        orelse, _ = self.builder.nested(lambda: self.walk(s.orelse))
        merges = list(s.merges)
        for var, a, b in s.merges:
            if var.kind != FLOAT:
                continue
            taint: Taint = []
            for x, y, possible in zip(self.of(a), self.of(b), self.possible(var)):
                if not possible or (x.__class__ is bool and x is y):
                    taint.append(x if possible else False)
                    continue
                flag = Var(BOOL, "m")
                merges.append((flag, raw(x), raw(y)))
                taint.append(Sym(self.builder, flag))
            self.known[var] = taint
        self.builder.append(ir.If(s.condition, then, orelse, merges))

    def loop(self, s: ir.Loop) -> None:
        builder = self.builder
        starts: dict[Var, Taint] = {}
        for phi, initial, _ in s.carried:
            if phi.kind == FLOAT:
                starts[phi] = self.of(initial)
        for phi in starts:
            self.known[phi] = [Sym(builder, Var(BOOL, "l")) if possible else False for possible in self.possible(phi)]
        test = None if s.test is None else builder.nested(lambda: self.walk(s.test or []))[0]
        body, _ = builder.nested(lambda: self.walk(s.body))
        carried = list(s.carried)
        for phi, _, following in s.carried:
            if phi.kind == FLOAT:
                for head, start, end in zip(self.known[phi], starts[phi], self.of(following)):
                    if head is not False:
                        carried.append((head.var, raw(start), raw(end)))
        builder.append(s.replace(test=test, body=body, carried=carried, stacks={}))


def link(block: list[Stmt], edges: dict[Any, set[Any]]) -> None:
    """Add what rows are given, and what conditions of loops are computed from, to which floats lead to which."""
    for s in block:
        if s.__class__ is ir.Loop and s.test is not None:
            for source, targets in dependencies(ir.Kernel([], s.test, [])).items():
                edges.setdefault(source, set()).update(targets)
        if s.__class__ is Linked and s.carries:
            for x in s.operands:
                edges.setdefault(x, set()).update(s.results)
        for name in ("test", "body", "then", "orelse"):
            link(getattr(s, name, None) or [], edges)
