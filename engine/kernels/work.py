"""How much work a program is: the estimate behind `--engine auto`, and its calibration, in one place."""

from __future__ import annotations

from ..program import core as c
from . import ir
from .ir import Stmt, Var

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..program.core import CoreProgram
    from .built import Built

# Seconds, measured on one core: an operation of a scalar loop on the tape (recorded and swept); the import of what
# compiles, with the smallest kernel; and the compilation of one more statement, and of one in a loop, which LLVM unrolls
# and makes vectors of.
TAPE_SECONDS = 1.0e-6
START_SECONDS = 0.06
STATEMENT_SECONDS = 1.0e-4
LOOP_STATEMENT_SECONDS = 1.0e-3
# Loading a kernel that was kept: what reads machine code must be imported.
LOAD_SECONDS = 0.04

# Statements that a kernel is through with before anyone could want to stop it.
QUICK_STATEMENTS = 3.0e6

# What a statement in a GradientTape block costs, with the sweep back, in statements that are not recorded.
RECORDED = 100.0

# The share of the tape's time on whole columns that a compiled loop over the same rows takes.
LOOP_SHARE = 0.2

# How many times as much an operation costs the tape whose numbers are elements of tensors: small arrays, and no floats.
OF_ELEMENTS = 4.0

# An operation on tensors on the tape, recorded and swept.
ARRAY_SECONDS = 1.2e-5

# What a command costs the tape for each operation of the program, in those: passes forward and back, recorded or with
# tangents. A Hessian takes "hessian", and "direction" for each of its rows.
COMMAND_WORK = {"value": 0.25, "jvp": 12.0, "vjp": 1.5, "hvp": 40.0, "hessian": 15.0, "direction": 9.0}


# What the value alone costs a program that differentiates inside.
DERIVED_VALUE = 5.0


def derivative_work(order: int) -> float:
    """The same for the derivatives up to an order: tangents of tangents, and Taylor series from the third on."""
    return (4.5, 20.0)[order - 1] if order < 3 else 8.0 + 2.0 * order


# Operations that the write of an element costs on the tape, forward and back.
ELEMENT_WRITE = 8.0

# Integers that bound loops, followed as far as an estimate needs them.
ESTIMATES: dict[str, Any] = {
    "to_int": lambda a: a,
    "copy": lambda a: a,
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
}
ESTIMATES |= {"int_" + name: function for name, function in ESTIMATES.items()}


def parameter(k: int) -> str:
    return f"parameter {k}"


def outline(kernel: ir.Kernel, array: float | None = None) -> list[Any]:
    """What the tape's work for a kernel's program is estimated from, in plain types.

    A number is so many operations; ("set", variable, operation, operands) follows an integer; ("loop", index, start,
    stop, step, items) repeats items; ("unknown",) is a loop whose end data decides; ("if", items, items) is a branch.
    Variables are names; that of the parameter k is `parameter(k)`. Loops that array operations became count for so many
    operations each, or for `array` times what they compute of an element.
    """
    bounds: set[Any] = set()
    body = kernel.body

    def steering(block: list[Stmt]) -> None:
        for s in block[::-1]:
            for inner in blocks_inside(s):
                steering(inner)
            if s.__class__ is ir.Loop:
                bounds.update((s.start, s.stop, s.step))
            elif s.__class__ is ir.Set and s.var in bounds:
                bounds.update(s.args)

    names = {p: parameter(k) for k, p in enumerate(kernel.parameters)}

    def plain(x: Any) -> Any:
        return names.get(x, x.name) if x.__class__ is Var else x

    def items(block: list[Stmt]) -> list[Any]:
        found: list[Any] = []
        cost = 0.0
        each = OF_ELEMENTS if any(s.__class__ is ir.Load for s in block) else 1.0
        for s in block:
            if s.__class__ is ir.Loop and s.own:
                if s.test is not None:
                    found.append(("unknown",))
                else:
                    index = None if s.index is None else plain(s.index)
                    found.append(("loop", index, plain(s.start), plain(s.stop), plain(s.step), items(s.body)))
            elif s.__class__ is ir.Loop:
                # One array operation: a few microseconds whatever its size.
                cost += 5.0 if array is None else array * max(1, computations(s.body))
            elif s.__class__ is ir.Store:
                cost += ELEMENT_WRITE
            elif s.__class__ is ir.If:
                found.append(("if", items(s.then), items(s.orelse)))
            else:
                cost += each
                if s.__class__ is ir.Set and s.op in ESTIMATES and s.var in bounds:
                    found.append(("set", plain(s.var), s.op, [plain(a) for a in s.args]))
        return [cost, *found] if cost else found

    steering(body)
    return items(body)


def computations(block: list[Stmt]) -> int:
    """How many floats a block computes, each of its loops once."""
    own = sum(s.__class__ is ir.Set and s.var.kind == ir.FLOAT for s in block)
    return own + sum(computations(inner) for s in block for inner in blocks_inside(s))


def tape_operations(items: list[Any], values: dict[str, Any]) -> float | None:
    """Scalar operations that the tape tier would interpret one by one: those in the program's own loops.

    `items` is an outline. None where a trip count depends on data. `values` gives the numbers that are known.
    """

    def known(x: Any) -> int | None:
        if x.__class__ is str:
            x = values.get(x)
        return int(x) if x.__class__ in (int, float) and abs(x) < 1e15 else None

    total = 0.0
    for item in items:
        if item.__class__ is float:
            total += item
            continue
        match item:
            case ("set", variable, operation, operands):
                numbers = [known(x) for x in operands]
                if None not in numbers:
                    values[variable] = ESTIMATES[operation](*numbers)
            case ("loop", index, start, stop, step, body):
                first, last, stride = known(start), known(stop), known(step)
                if first is None or last is None or not stride:
                    return None
                if index is not None:
                    values[index] = (first + last) / 2  # what it is on average
                inner = tape_operations(body, values)
                if inner is None:
                    return None
                total += len(range(first, last, stride)) * (inner + 1.0)
            case ("if", then, orelse):
                sides = [tape_operations(then, values), tape_operations(orelse, values)]
                if None in sides:
                    return None
                total += max(side for side in sides if side is not None)
            case _:
                return None
    return total


def blocks_inside(s: Stmt) -> list[list[Stmt]]:
    return [getattr(s, name, None) or [] for name in ("test", "body", "then", "orelse")]


def compile_seconds(block: list[Stmt]) -> float:
    """How long a kernel takes to compile, beyond what every kernel takes."""
    total = 0.0
    for s in block:
        looped = isinstance(s, ir.Loop | ir.ReverseLoop)
        inside = sum(map(statements if looped else compile_seconds, blocks_inside(s)))
        total += STATEMENT_SECONDS + (LOOP_STATEMENT_SECONDS * inside if looped else inside)
    return total


def statements(block: list[Stmt]) -> int:
    """How many statements there are, in the blocks inside too."""
    return len(block) + sum(statements(inner) for s in block for inner in blocks_inside(s))


def surely_seconds(core: CoreProgram, point: dict[str, Any]) -> float | None:
    """The most that the tape takes, where the program itself says so before anything is loaded or compiled."""
    inputs = {slot: name for name, slot in core.inputs.items()}
    operations = written_operations(core.body, inputs, point)
    return None if operations is None else operations * TAPE_SECONDS


def array_seconds(core: CoreProgram) -> float:
    """What the tape takes for the gradient of a program of operations on tensors, without loops."""
    total = 0
    pending: list[Any] = [core.body]
    while pending:
        item = pending.pop()
        if item.__class__ is list or item.__class__ is tuple:
            pending.extend(item)
        elif isinstance(item, c.Node):
            total += isinstance(item, c.Operator | c.Apply | c.Call | c.Method | c.Item | c.Prefix)
            pending.extend(getattr(item, name) for name in item.__slots__ if name != "site")
    return total * ARRAY_SECONDS


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
        elif s.__class__ is c.With:
            inner = written_operations(s.body, inputs, point)
            if inner is None:
                return None
            total += RECORDED * (inner + 10.0)
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
            total += 10.0 * (OF_ELEMENTS if reads_elements(s) else 1.0)
    return total


def reads_elements(statement: Any) -> bool:
    """Whether a statement reads an element of something."""
    pending: list[Any] = [statement]
    while pending:
        item = pending.pop()
        if item.__class__ is list or item.__class__ is tuple:
            pending.extend(item)
        elif isinstance(item, c.Item):
            return True
        elif isinstance(item, c.Node):
            pending.extend(getattr(item, name) for name in item.__slots__ if name != "site")
    return False


def has_loop(body: list[c.Stmt]) -> bool:
    return any(
        isinstance(s, c.For | c.While)
        or has_loop(getattr(s, "body", []))
        or has_loop(getattr(s, "orelse", []))
        or (s.__class__ is c.Define and has_loop(s.function.code.body))
        for s in body
    )


def outlined(built: Built) -> list[Any]:
    """The outline of the program that a tape would run in the place of a kernel."""
    if built.outline is None:
        assert built.estimate is not None
        built.outline = outline(built.estimate)
    return built.outline


def surely_quick(built: Built, given: list[Any], heaviest: float) -> bool:
    """Whether a kernel that takes at most `heaviest` statements between two questions is done in milliseconds."""
    if heaviest == 0.0:
        return True
    operations = tape_operations(outlined(built), {parameter(k): x for k, x in enumerate(given)})
    return operations is not None and operations * built.passes * heaviest < QUICK_STATEMENTS


def loop_seconds(built: Built) -> float:
    """How long a loop over rows takes to compile."""
    assert built.kernel is not None
    return START_SECONDS + compile_seconds(built.kernel.body)


def loop_worthwhile(left: float, spent: float, ready: float) -> bool:
    """Whether a loop over rows, ready in so many seconds, is the sooner way for rows that take the tape `left` seconds.

    `spent` are the seconds that the tape has spent on the program's tables before: whoever has spent on it what a
    compilation takes will not wait much longer than need be if it is compiled now.
    """
    return left * (1.0 - LOOP_SHARE) > ready or (left > LOAD_SECONDS and left + spent > 2.0 * ready)


def surely_ends(built: Built, given: list[Any]) -> bool:
    """Whether the arguments' shapes and integers alone say how much there is to do."""
    return tape_operations(outlined(built), {parameter(k): x for k, x in enumerate(given)}) is not None


def tape_seconds(built: Built, given: list[Any]) -> float | None:
    """How long the tape would take for some arguments of a kernel, as far as it can be estimated."""
    operations = tape_operations(outlined(built), {parameter(k): x for k, x in enumerate(given)})
    return None if operations is None else operations * built.passes * TAPE_SECONDS


def worthwhile(built: Built, given: list[Any], ready: float | None) -> bool:
    """Whether a kernel gives the answer for some arguments sooner than the tape.

    `ready` is the seconds until a kernel that is compiled can run, None for one that is not.
    """
    seconds = tape_seconds(built, given)
    if seconds is None:
        return ready is not None
    if ready is None:
        assert built.kernel is not None
        ready = START_SECONDS + compile_seconds(built.kernel.body)
    return seconds > ready
