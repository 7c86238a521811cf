"""How much work a program is: the estimate behind `--engine auto`, and its calibration, in one place."""

from __future__ import annotations

from ..program import core as c
from . import ir
from .ir import Stmt, Var

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..program.core import CoreProgram

# Seconds, measured on one core: an operation of a scalar loop on the tape (recorded and swept), Numba's import with the
# first compiled call, and the compilation of one statement of a kernel.
TAPE_SECONDS = 1.0e-6
START_SECONDS = 0.9
STATEMENT_SECONDS = 4.0e-3

# What a command costs the tape, in gradients: passes forward and back, recorded or with tangents.
COMMAND_WORK = {"jvp": 2.0, "vjp": 1.0, "hvp": 3.0}

# Operations that an element of a tensor costs which an element write on the tape copies, forward and back.
COPIED_ELEMENT = 3.0e-3

# Integers that bound loops, followed as far as an estimate needs them.
ESTIMATES: dict[str, Any] = {
    "to_int": lambda a: a,
    "copy": lambda a: a,
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
}
ESTIMATES |= {"int_" + name: function for name, function in ESTIMATES.items()}


def tape_operations(kernel: ir.Kernel, values: dict[Var, Any]) -> float | None:
    """Scalar operations that the tape tier would interpret one by one: those in the program's own loops.

    None where a trip count depends on data. `values` gives the scalar parameters.
    """

    def known(x: Any) -> int | None:
        if x.__class__ is Var:
            value = values.get(x)
            return None if value is None or value != value or abs(value) > 1e15 else int(value)
        return int(x) if x.__class__ is int else None

    def count(block: list[Stmt]) -> float | None:
        total = 0.0
        for s in block:
            if s.__class__ is ir.Loop:
                if not s.own:
                    total += 5.0  # one array operation: a few microseconds whatever its size
                    continue
                start, stop, step = (known(x) for x in (s.start, s.stop, s.step))
                if s.test is not None or start is None or stop is None or step is None:
                    return None
                if s.index is not None:
                    values[s.index] = (start + stop) / 2  # what it is on average
                inner = count(s.body)
                if inner is None:
                    return None
                total += len(range(start, stop, step)) * (inner + 1.0)
            elif s.__class__ is ir.Set and s.op in ESTIMATES:
                total += 1.0
                operands = [known(a) for a in s.args]
                if None not in operands:
                    values[s.var] = ESTIMATES[s.op](*operands)
            elif s.__class__ is ir.Store:
                total += 1.0 + s.array.size * COPIED_ELEMENT  # on a tape an element write copies its tensor
            elif s.__class__ is ir.If:
                sides = [count(s.then), count(s.orelse)]
                if None in sides:
                    return None
                total += max(side for side in sides if side is not None)
            else:
                total += 1.0
        return total

    return count(kernel.body)


def statements(block: list[Stmt]) -> int:
    """The size of a kernel, which its compile time follows."""
    total = 0
    for s in block:
        total += 1
        for name in ("test", "body", "then", "orelse"):
            total += statements(getattr(s, name, None) or [])
    return total


def surely_small(core: CoreProgram, point: dict[str, Any], repeats: int = 1) -> bool:
    """Whether the program itself says, before anything is loaded or compiled, that the tape is done sooner.

    The tape would run it so many times.
    """
    inputs = {slot: name for name, slot in core.inputs.items()}
    operations = written_operations(core.body, inputs, point)
    return operations is not None and operations * repeats * TAPE_SECONDS < START_SECONDS


def written_operations(body: list[c.Stmt], inputs: dict[int, str], point: dict[str, Any]) -> float | None:
    """An upper estimate of the scalar operations of statements; None where their number cannot be read off.

    A loop that data ends counts as nothing, since no kernel is compiled for it unasked.
    """

    def bound(node: Any) -> int | None:
        if node.__class__ is c.Load and node.depth == 0 and node.slot in inputs:
            node = point.get(inputs[node.slot])
        elif node.__class__ is c.Literal:
            node = node.value
        return int(node) if node.__class__ in (int, float) and node == node and abs(node) < 1e15 else None

    total = 0.0
    for s in body:
        if s.__class__ is c.While:
            return 0.0
        if any(t.__class__ is c.StoreItem for t in (*getattr(s, "targets", ()), getattr(s, "target", None))):
            return None  # an element write costs what its tensor is long
        if s.__class__ is c.Define:
            if has_loop(s.function.code.body):
                return None  # it may run any number of times
            total += 10.0
        elif s.__class__ is c.If:
            for side in (s.body, s.orelse):
                inner = written_operations(side, inputs, point)
                if inner is None:
                    return None
                total += inner
        elif s.__class__ is c.For:
            call = s.iterable
            if (
                call.__class__ is not c.Call
                or call.function.__class__ is not c.Intrinsic
                or call.function.name != "range"
            ):
                return None
            bounds = [bound(a) for a in call.args]
            inner = written_operations(s.body, inputs, point)
            if inner is None or None in bounds or not 1 <= len(bounds) <= 3 or (len(bounds) == 3 and not bounds[2]):
                return None
            total += len(range(*bounds)) * (inner + 1.0)  # type: ignore[arg-type]
        else:
            total += 10.0
    return total


def has_loop(body: list[c.Stmt]) -> bool:
    return any(
        isinstance(s, c.For | c.While)
        or has_loop(getattr(s, "body", []))
        or has_loop(getattr(s, "orelse", []))
        or (s.__class__ is c.Define and has_loop(s.function.code.body))
        for s in body
    )


def worthwhile(
    kernel: ir.Kernel, values: dict[Var, Any], compiled: bool, program: ir.Kernel | None = None, passes: float = 1.0
) -> bool:
    """Whether a kernel, compiled or yet to be, gives the answer sooner than the tape.

    The tape would run `program` (the kernel itself, if not given), with the work of so many gradients.
    """
    operations = tape_operations(program or kernel, values)
    if operations is None:
        return compiled
    cost = 0.0 if compiled else START_SECONDS + STATEMENT_SECONDS * 4 * statements(kernel.body)
    return operations * passes * TAPE_SECONDS > cost
