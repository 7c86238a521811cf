"""What a program itself says of the tape's time and a kernel's, before anything is loaded or compiled."""

from __future__ import annotations

from ..core.state import STATE
from ..core.tensor import Tensor
from ..program import core as c
from . import work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..program.core import CoreProgram

# The nodes that compute.
OPERATIONS = (c.Operator, c.Apply, c.Call, c.Method, c.Item, c.Prefix, c.Comparison)


# The language's functions that are one operation on numbers, however large these are.
OF_NUMBERS = frozenset("abs min max pow divmod round int float bool".split())

# So many records of a tape tell what it takes to be swept.
SAMPLED = 1_000


class Outlook:
    """The seconds that a program will take, as far as its text and its inputs tell.

    `work` is what the tape has to do, and `bounded` says that it is all; `loads` names the library that the tape imports
    for it first, and a kernel perhaps not; `ready` are the seconds that a kernel takes to compile, about: one of
    a gradient, or of the derivatives up to an `order`.
    """

    __slots__ = ("bounded", "core", "loads", "of_numbers", "order", "ready", "work")

    def __init__(self, core: CoreProgram, point: dict[str, Any], looped: bool, order: int | None = None) -> None:
        self.core = core
        self.order = order
        self.loads = ""
        # What an operation on numbers costs, in those on bare ones.
        self.of_numbers = 1.0
        nodes = None if looped or any(x.__class__ not in (float, int) for x in point.values()) else numbers(core.body)
        constant = False
        if nodes is not None:
            self.bounded = True
            self.work = work.Work(float(nodes))
            to_compile, curves = nodes * work.NODE_SECONDS, nodes
        else:
            from .survey import Survey

            survey = Survey(core, point)
            self.bounded, self.work = survey.bounded, survey.work
            to_compile, curves = survey.compile, survey.curves
            self.loads = survey.loads
            constant = survey.constant
        if order is not None:
            to_compile = work.derivative_compile(to_compile, curves, order)
        self.ready = work.LOOK_SECONDS + work.START_SECONDS + to_compile
        if constant:
            self.ready += work.import_seconds("numpy")
        if STATE.weak_float.bits == 32 or any(map(is_float32, point.values())):
            self.of_numbers = work.OF_FLOAT32

    def seconds(self, passes: float, second: bool = False) -> float:
        """What the tape takes for so many gradients, or for as much of `second` derivatives; rather less where `bounded` is
        false."""
        found = work.Work(*self.work.parts())
        found.operations *= self.of_numbers
        if self.order is not None:
            from ..autodiff.taylor import covers

            return work.derivative_seconds(found, self.order, self.of_numbers == 1.0 and covers(self.core))
        return estimated(found, passes, second)

    def kernel_seconds(self, passes: float) -> float:
        """What a kernel that is ready takes at least."""
        return self.work.kernel_seconds(passes)


class Forecast:
    """The seconds that the tape and a kernel take for a command, as far as a program and its inputs tell.

    `repeats` is the tape's work, in gradients; None is the value alone; `second` says that there are second derivatives;
    `order` that of the derivatives of one input that are wanted. `bounded` says that the tape takes no more than `seconds`,
    and those that it imports a library for, which `loads` names; `patience` are those after which it is left for a kernel,
    which is `ready` then after so many. Those that the tape has `spent` on the same command before count as if they were to
    come: whoever has waited as long as a kernel takes to be ready will not wait much longer than need be.
    """

    __slots__ = ("bounded", "imports", "loads", "passes", "patience", "ready", "running", "second", "seconds", "spent")

    def __init__(
        self,
        core: CoreProgram,
        point: dict[str, Any],
        looped: bool,
        repeats: float | None,
        second: bool,
        order: int | None,
        spent: float = 0.0,
    ) -> None:
        outlook = Outlook(core, point, looped, order)
        self.second = second
        self.spent = spent
        self.passes = work.COMMAND_WORK["value"] if repeats is None else repeats
        self.seconds = outlook.seconds(self.passes, second)
        self.running = outlook.kernel_seconds(self.passes)
        self.loads = outlook.loads
        self.imports = work.import_seconds(outlook.loads)
        self.bounded = outlook.bounded
        self.ready = outlook.ready
        patience = outlook.ready + work.OVER * self.seconds if self.bounded else work.patience_seconds(outlook.ready)
        self.patience = max(0.0, patience - spent)

    def tape_is_sooner(self) -> bool:
        """Whether the tape is surely done before a kernel could be loaded."""
        return self.bounded and self.seconds + self.spent + self.imports < work.load_seconds() + self.running

    @property
    def may_compile(self) -> bool:
        """Whether a kernel may repay its compilation."""
        return self.seconds + self.spent + self.imports >= work.PROMISE * self.ready + self.running

    @property
    def least_seconds(self) -> float:
        """The seconds that the tape takes at least: of calls and of derivatives inside it, a kernel's statements say less
        than a program's text."""
        return self.seconds if self.bounded else 0.0

    @property
    def budget(self) -> float:
        """How long a kernel may be in the making."""
        return work.budget_seconds(self.seconds + self.spent + self.imports)

    def wait_for(self, ready: float, patience: float) -> None:
        """Expect a kernel that was kept: ready in so many seconds, for which the tape is left after so many."""
        self.ready = ready
        self.patience = max(0.0, patience - self.spent)

    def kernel_is_sooner(self, log: list[Any], passes: float | None) -> bool:
        """Whether so much work on what a tape has recorded, or that of the command, takes longer than a kernel takes to be
        ready."""
        return seconds_left(log, passes or self.passes, self.second) > self.ready


def estimated(found: work.Work, passes: float, second: bool) -> float:
    """What the tape takes for so many gradients of some work, or for as much of `second` derivatives."""
    seconds = found.tape_seconds(passes)
    if second and found.curved:
        swept = found.operations * passes * work.CURVED_SWEEP * work.TAPE_SECONDS
        seconds += found.curved * work.CURVED_SECONDS + swept
    return seconds


def seconds_left(log: list[Any], passes: float, second: bool) -> float:
    """What the tape still takes, of the work of so many gradients, for what it has recorded: estimated from some of the
    records."""
    from ..autodiff.curvature import curvature

    apart = max(1, len(log) // (4 * SAMPLED))
    found = work.Work()
    for place in range(0, len(log), 4 * apart):
        site, first, other, out = log[place : place + 4]
        value = getattr(out, "value", None)
        if value.__class__ is float:
            found.operations += 1.0
            if second and site.__class__ is not str and site.op.derivative == "partials":
                inputs = first if first.__class__ is tuple else (first, other)
                varying = {k for k, x in enumerate(inputs) if x.__class__ is Tensor}
                found.curved += any(
                    varying.issuperset(pair) for pair in curvature(site.op, None, len(site.op.partials))
                )
        else:
            found.arrays += 1.0
            found.elements += getattr(value, "size", 1)
    return apart * estimated(found, work.AFTERWARDS * passes, second)


def is_float32(x: Any) -> bool:
    """Whether an input is a float32, which the tape computes with as with a tensor."""
    return getattr(getattr(x, "dtype", None), "name", "") == "float32"


def numbers(body: list[c.Stmt]) -> int | None:
    """How many operations a program of numbers has that calls no function of its own; None for any other."""
    nodes = 0
    pending: list[Any] = [body]
    while pending:
        item = pending.pop()
        cls = item.__class__
        if cls is list or cls is tuple:
            pending.extend(item)
        elif isinstance(item, c.Node):
            if (
                cls in (c.MakeFunction, c.Method, c.Comprehension)
                or (isinstance(item, c.Intrinsic) and item.name not in OF_NUMBERS)
                or (isinstance(item, c.Apply) and (item.op.scalar is None or item.op.library))
            ):
                return None
            nodes += cls in OPERATIONS
            pending.extend(getattr(item, name) for name in item.__slots__ if name != "site")
    return nodes
