"""What a run chooses, and how near it comes to singular points: a kernel that notes that alone (engine/pieces.py).

Beside every statement that decides something by a number which a source leads to stands one that notes what was decided:
a truth, a whole number, a side of `abs` or `max`. Beside one that is not analytic somewhere, how far from there it is.
"""

from __future__ import annotations

from ...ops.registry import ROWS
from ...pieces import DISTANCES, INVERTING, MOST_STEPS, NOT_ANALYTIC, SIDES
from .. import ir
from ..built import Built
from ..differentiation.activity import dependencies, reach
from ..inputs import source_of
from ..ir import BOOL, FLOAT, INT, Array, Stmt, Unsupported, Var
from ..symbols.build import Builder
from ..symbols.regions import without
from ..symbols.symbol import Sym, raw
from .connection import link
from .construct import Lowered, finished

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ...program.core import CoreProgram

# Where `notes` counts the choices and the distances; after them, for each source, whether something by it is not analytic.
CHOSEN, DISTANT, ANALYTIC = range(3)
# Rows whose choices are those among their elements that their statements make.
AMONG = frozenset(name for name in SIDES if name.endswith("_along") or name.startswith("segments_")) | {"max", "min"}
# Beyond which edges rows are linear pieces.
EDGES: dict[str, tuple[float, ...]] = {"relu6": (0.0, 6.0), "hard_tanh": (-1.0, 1.0), "hard_sigmoid": (-3.0, 3.0)}
# Statements that are no rows, and pass on what they are given.
PASSING = frozenset(("copy", "weight", "zero", "sloped", "opaque", "to_float", "unsure", "inert"))


def build_choices(program: CoreProgram, spec: dict[str, Any], sources: Sequence[str]) -> Built:
    """The kernel that notes what a run chooses by any of the sources: the choices, the distances, and how many. Raises
    Unsupported."""
    lowered = Lowered(program, spec, sources, True)
    if lowered.precision is not None or lowered.complex is not None:
        raise Unsupported("the choices of numbers that are no float64")
    if lowered.printed.prints or lowered.builder.derives:
        raise Unsupported("the choices of a program that prints, or differentiates itself")
    body = without(lowered.kernel.body, opened)
    kernel = ir.Kernel(lowered.kernel.parameters, body, [])
    made = Choices(lowered.builder, kernel, lowered.targets)
    built = Built(finished(made.kernel(kernel)), ())
    built.estimate = built.kernel
    return built


def opened(s: ir.Region) -> bool:
    """Whether a row's choices are those of its statements."""
    return s.row in AMONG or (s.row in ROWS and ROWS[s.row].derivative in ("none", "zero"))


class Choices:
    """The transformation of one kernel."""

    def __init__(self, made: Builder, kernel: ir.Kernel, targets: dict[str, Any]) -> None:
        self.builder = Builder()
        self.builder.ranges = made.ranges
        edges = dependencies(kernel, steps=False)
        link(kernel.body, edges)
        by_source: dict[str, list[Any]] = {}
        for part, target in targets.items():
            by_source.setdefault(source_of(part), []).append(target)
        self.reached = [reach(edges, starts) for starts in by_source.values()]
        self.notes = Array(INT, (ANALYTIC + len(self.reached),), "notes", "printed")
        self.logs = [Array(FLOAT, (MOST_STEPS,), name, "printed") for name in ("chosen", "distant")]

    def kernel(self, kernel: ir.Kernel) -> ir.Kernel:
        body, _ = self.builder.nested(lambda: self.walk(kernel.body))
        start: list[Stmt] = [ir.Alloc(self.notes, True), *(ir.Alloc(log, False) for log in self.logs)]
        return ir.Kernel(kernel.parameters, [*start, *body], [*self.logs, self.notes])

    def followed(self, *operands: Any) -> bool:
        return any(x.__class__ in (Var, Array) and x in reached for x in operands for reached in self.reached)

    # --- notes ------------------------------------------------------------------------------------------------------

    def note(self, which: int, value: Any) -> None:
        """Add a number to a log, as far as it has room."""
        builder = self.builder
        count = Var(INT, "n")
        builder.ranges[count] = (0, ir.LIMIT)
        builder.append(ir.Load(count, self.notes, which))
        value = builder.to_float(value)
        room = builder.emit("less", (Sym(builder, count), MOST_STEPS), BOOL)
        store = ir.Store(self.logs[which], count, raw(value))
        builder.append(ir.If(room.var, [store], [], []))
        more = builder.integer("add", Sym(builder, count), 1)
        builder.append(ir.Store(self.notes, which, raw(more)))

    def chose(self, operands: tuple[Any, ...], *values: Any) -> None:
        for value in values:
            self.note(CHOSEN, value)
        self.not_analytic(operands)

    def not_analytic(self, operands: tuple[Any, ...]) -> None:
        for k, reached in enumerate(self.reached):
            if any(x.__class__ in (Var, Array) and x in reached for x in operands):
                self.builder.append(ir.Store(self.notes, ANALYTIC + k, 1))

    def float(self, op: str, *args: Any) -> Any:
        return self.builder.emit(op, args, FLOAT)

    def side(self, a: Any, b: Any = 0.0) -> Any:
        """Which of two numbers is larger."""
        return self.float("signum", a if b.__class__ is float and b == 0.0 else self.float("subtract", a, b))

    # --- statements -------------------------------------------------------------------------------------------------

    def walk(self, block: list[Stmt]) -> None:
        builder = self.builder
        for s in block:
            if s.__class__ is ir.Loop:
                test = None if s.test is None else builder.nested(lambda s=s: self.walk(s.test or []))[0]  # type: ignore[misc]
                body, _ = builder.nested(lambda s=s: self.walk(s.body))  # type: ignore[misc]
                builder.append(s.replace(test=test, body=body, stacks={}))
            elif s.__class__ is ir.If:
                then, _ = builder.nested(lambda s=s: self.walk(s.then))  # type: ignore[misc]
                orelse, _ = builder.nested(lambda s=s: self.walk(s.orelse))  # type: ignore[misc]
                builder.append(s.replace(then=then, orelse=orelse))
            elif s.__class__ is ir.Region:
                self.region(s)
            else:
                if s.__class__ is ir.Routine and self.followed(s.value):
                    raise Unsupported("the choices of a routine of a library")
                builder.append(s)
                if s.__class__ is ir.Set and self.followed(*s.args):
                    self.row(s.op, s.var, s.args)

    def region(self, s: ir.Region) -> None:
        """A row that computes in statements of its own, which choose nothing that the row does not say."""
        for inner in without([s], lambda _: True):
            self.builder.append(inner)
        if self.followed(*s.operands):
            if s.row in SIDES or s.row in INVERTING or (s.row in DISTANCES and s.row != "euclidean_norm"):
                raise Unsupported(f"the choices of {s.row}")
            if s.row in DISTANCES:
                for result in s.results:
                    if result.__class__ is Array:
                        raise Unsupported(f"the choices of {s.row}")
                    self.note(DISTANT, Sym(self.builder, result))
            if s.row in NOT_ANALYTIC:
                self.not_analytic(s.operands)

    def row(self, op: str, var: Var, args: tuple[Any, ...]) -> None:
        """A row on numbers, some of which a source leads to, and its result."""
        builder = self.builder
        values = [Sym(builder, x) if x.__class__ is Var else x for x in args]
        if op == "stop_gradient":
            raise Unsupported("the choices by what is held fixed")  # in the program, or in a row
        if var.kind in (BOOL, INT) or (op in ROWS and ROWS[op].derivative in ("none", "zero")):
            self.chose(args, Sym(builder, var))
        elif op in SIDES:
            self.chose(args, *self.sides(op, values))
        elif op in DISTANCES:
            self.distance(op, args, values)
        elif op not in ROWS and op not in PASSING:
            raise Unsupported(f"the choices of {op}")
        if op in NOT_ANALYTIC:
            self.not_analytic(args)

    def sides(self, op: str, x: list[Any]) -> list[Any]:
        if op in EDGES:
            return [self.builder.emit("greater", (x[0], edge), BOOL) for edge in EDGES[op]]
        found: dict[str, Callable[[], list[Any]]] = {
            **dict.fromkeys(("maximum", "minimum", "fmax", "fmin"), lambda: [self.side(x[0], x[1])]),
            **dict.fromkeys(("abs", "relu", "leaky_relu", "selu", "i0e", "heaviside"), lambda: [self.side(x[0])]),
            **dict.fromkeys(("mod", "fmod"), lambda: [self.float("floor_divide", x[0], x[1])]),
            "clip_between": lambda: [self.side(x[0], x[1]), self.side(x[0], x[2])],
            "copysign": lambda: [self.side(x[0]), self.side(x[1])],
        }
        if op not in found:
            raise Unsupported(f"the choices of {op}")
        return found[op]()

    def distance(self, op: str, args: tuple[Any, ...], x: list[Any]) -> None:
        """Note how far a row on numbers is from where it is not analytic, if that changes."""
        if op in ("divide", "power"):
            place = 1 if op == "divide" else 0
            if not self.followed(args[place]):
                return
            if op == "divide":
                self.note(DISTANT, x[1])
            elif x[1].__class__ is not Sym:
                if not (float(x[1]).is_integer() and x[1] >= 0):
                    self.note(DISTANT, x[0])
            else:
                exponent = self.builder.to_float(x[1])
                whole = self.builder.emit("equal", (self.float("floor", exponent), exponent), BOOL)
                positive = self.builder.emit("greater_equal", (exponent, 0.0), BOOL)
                regular = self.builder.emit("logical_and", (whole, positive), BOOL)
                self.note(DISTANT, self.float("where_select", regular, 1.0, self.builder.to_float(x[0])))
        elif op in ("hypot", "arctan2"):
            self.note(DISTANT, self.float("add", self.float("abs", x[0]), self.float("abs", x[1])))
        elif op == "log1p":
            self.note(DISTANT, self.float("add", x[0], 1.0))
        elif op == "tan":
            self.note(DISTANT, self.float("cos", x[0]))
        elif op in ("gamma", "lgamma", "digamma"):
            positive = self.builder.emit("greater", (x[0], 0.0), BOOL)
            nearest = self.float("floor", self.float("add", x[0], 0.5))
            apart = self.float("subtract", x[0], nearest)
            self.note(DISTANT, self.float("where_select", positive, x[0], apart))
        elif op in ("sqrt", "rsqrt", "cbrt", "log", "log2", "log10", "reciprocal"):
            self.note(DISTANT, x[0])
        else:
            raise Unsupported(f"the choices of {op}")


__all__ = ["ANALYTIC", "CHOSEN", "DISTANT", "build_choices"]
