"""How much work a program is: the estimate behind `--engine auto`, and its calibration, in one place."""

from __future__ import annotations

import math
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .built import Built

# Seconds, measured on one core: an operation of a scalar loop on the tape (recorded and swept); the import of what looks
# into a program, with the smallest one; the import of what compiles, with the smallest kernel; and the compilation of one
# more statement, and of one in a loop, which LLVM unrolls and makes vectors of.
TAPE_SECONDS = 0.65e-6
LOOK_SECONDS = 0.03
START_SECONDS = 0.06
STATEMENT_SECONDS = 1.0e-4
LOOP_STATEMENT_SECONDS = 0.5e-3
# Loading a kernel that was kept: what reads machine code must be imported, but for a process that has done so.
LOAD_SECONDS, LOADED_SECONDS = 0.045, 0.004

# How long the tape goes on before a kernel is tried: of a program that is known, as long as the kernel takes to be ready
# and so many times what it was thought to take beyond that; with one of which nobody knows how long it takes, a share of
# what the kernel takes to be ready and no longer than so many seconds. Then a run that is long, by either tier's measure,
# takes hardly more than with the kernel alone, and a short one what the tape takes; between, as long as both.
OVER = 2.0
SHARE, PATIENCE_SECONDS = 0.2, 0.2
# A kernel that was kept is ready soon, and runs are many of which the tape would just be done: it goes on for the first
# share of what the kernel takes to be ready, and where it is known to have been left after that, for the second one. What is
# known is of other data, where these take the kernel less than a part in so many of its time.
KEPT_SHARE, LEFT_SHARE = 0.65, 0.1
OTHER_DATA = 3.0

# The share of the tape's seconds that may go by before a kernel is handed to LLVM, which takes longer than that: after it
# the kernel would not be ready before the tape is done. What is imported for it has seconds of its own; and a share of both
# is for the lowering, which is never the half of it.
BUDGET_SHARE, BUDGET_SECONDS, LOWERING_SHARE = 0.25, 0.25, 0.4

# The share of a gradient's time on the tape that comes after the program has run.
AFTERWARDS = 0.6

# Statements that a kernel is through with before anyone could want to stop it.
QUICK_STATEMENTS = 3.0e6

# The import of NumPy: the tape's, as soon as a program has tensors; a kernel's, as soon as its results are arrays.
NUMPY_SECONDS = 0.075
# That of SciPy, beyond NumPy's: the tape's, for rows that it evaluates; a kernel's, for the functions of SciPy's in it.
SCIPY_SECONDS = 0.2
# How many times the seconds until a kernel is ready a program's text must promise before it is looked into: what the text
# says is rather too much.
PROMISE = 1.1
# What a node of the program takes to compile at least, and one on tensors, each of whose operations becomes a loop.
NODE_SECONDS = 2.0e-3
TENSOR_NODE_SECONDS = 4.0e-3

# What a derivative inside the program costs, with its tape and the sweep back, in operations: for each operation that is
# recorded, and so many beside them.
RECORDED, TAPE_OPERATIONS = 15.0, 10.0

# And an operation on tensors there, in those that are not.
RECORDED_TENSORS = 3.0
# What a Hessian inside the program takes to compile for the square of its rows, in the function alone, where its directions
# are written out beside one another.
WRITTEN_OUT, MOST_WRITTEN_OUT = 0.55, 8

# What a call of a function of the program's costs the tape, in operations.
CALL = 6.0

# The share of the time of a gradient on whole columns that the value takes.
COLUMN_VALUE = 0.4
# How many times what a compiled loop takes to be ready a program's text must promise where a loop may be left early.
LEFT_EARLY = 4.0
# The share of the tape's time on whole columns that a compiled loop over the same rows takes.
LOOP_SHARE = 0.2

# And one of float32: NumPy's arrays without axes, and no floats of Python's.
OF_FLOAT32 = 20.0
# One on complex numbers, in operations on tensors.
OF_COMPLEX = 0.65
# How many times as much an operation costs the tape whose numbers are elements of tensors: small arrays, and no floats.
OF_ELEMENTS = 7.0

# An operation on tensors on the tape, recorded and swept; what it takes of that for each element; and for each product
# of two elements that libraries of matrices sum.
ARRAY_SECONDS = 3.0e-5
ELEMENT_SECONDS = 8.0e-9
PRODUCT_SECONDS = 1.4e-10
# A matrix times a vector takes each element of the matrix once, so memory and not arithmetic says how long: in elements.
VECTOR_PRODUCT = 0.15
# The same in a kernel, whose loops over elements have no other cost.
KERNEL_ELEMENT_SECONDS = 1.3e-9
KERNEL_PRODUCT_SECONDS = 9.5e-10
# Trips of a loop inside an operation on tensors, where shapes do not tell.
SOME_TRIPS = 16

# What a command costs the tape for each operation of the program, in those: passes forward and back, recorded or with
# tangents. A Hessian takes "hessian", and "direction" for each of its rows;
# a sparse one follows the inputs of every operation.
COMMAND_WORK = {
    "value": 0.2, "jvp": 6.0, "vjp": 1.0, "hvp": 10.5, "hessian": 4.0, "direction": 2.0, "sparse hessian": 20.0,
}  # fmt: skip
# What the tape's Taylor series of `derivative` cost, in gradients, and for each order; an operation on numbers that is not
# linear, for each order, and a function with its partials, also for each order, in operations. The first derivative needs
# none. What they do not cover is found by tangents of tangents, which cost so much at the second order, and so many times
# as much at the next.
FIRST = 2.2
SERIES, SERIES_ORDER = 2.3, 0.1
SERIES_CURVED = 0.6
SERIES_FUNCTION, SERIES_FUNCTION_ORDER = 5.0, 1.6
NESTED, NESTED_GROWTH, NESTED_MOST = 10.0, 3.2, 200
# How much more a kernel of a derivative has to compile for each order, and the seconds of each operation that is not linear
# for the square of the order.
WRITTEN_ORDER, WRITTEN_CURVED_SECONDS = 0.1, 0.8e-3
# The share of that, beyond one gradient, which operations on tensors cost, and on their elements: their tangents are
# tensors too, where those of floats are objects beside them.
OF_TENSORS, OF_ITEMS = 0.35, 0.65
# What an operation on numbers that is not linear costs the tape in second derivatives, beside that.
CURVED_SECONDS = 3.5e-5
# And how many times more all operations cost there: of a program without such an operation the cotangents have no tangents.
CURVED_SWEEP = 0.8
# The rows of a Hessian from which on its pattern is looked for, and the share of the sweeps that is taken for left then.
SOME_ROWS, SWEPT = 8, 0.25
# What the value alone costs a program that differentiates inside.
DERIVED_VALUE = 5.0

# Operations that a function of numbers costs on the tape, such as sin; and of Python's own functions, which ask more of
# what they are given: `min` and `max` of several; and `sum`, `min` and `max` for each item of a list.
FUNCTION = 3.0
CHOICE, ITEM = 8.0, 2.5

# Operations that the write of an element costs on the tape, forward and back; and that a number costs of a list which a
# row takes as a tensor.
ELEMENT_WRITE = 7.5
GATHERED = 1.5
# What one of the loops that an operation on tensors became counts for, in operations, where it is asked whether a
# kernel is done at once.
LOOP_OPERATIONS = 5.0

# Integers that bound loops, followed as far as an estimate needs them.
ESTIMATES: dict[str, Any] = {
    "to_int": lambda a: a,
    "copy": lambda a: a,
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
}
ESTIMATES |= {"int_" + name: function for name, function in ESTIMATES.items()}


def derivative_work(order: int, nested: bool = False) -> float:
    """`COMMAND_WORK` of the derivatives up to an order: by Taylor series from the second on, or by `nested` tangents."""
    if order < 2:
        return FIRST
    if nested:
        return NESTED * math.pow(NESTED_GROWTH, min(order, NESTED_MOST) - 2)
    return SERIES + SERIES_ORDER * order


def derivative_seconds(work: Work, order: int, covered: bool) -> float:
    """The tape's seconds for the derivatives up to an order; `covered` says that Taylor series may do."""
    nested = not covered or work.arrays > 0.0 or work.items > 0.0
    seconds = work.tape_seconds(derivative_work(order, nested))
    if order < 2 or nested:
        return seconds
    functions = work.functions * (SERIES_FUNCTION + SERIES_FUNCTION_ORDER * order)
    return seconds + (work.curved * SERIES_CURVED * order + functions) * TAPE_SECONDS


def derivative_compile(seconds: float, curves: int, order: int) -> float:
    """How long a kernel of the derivatives up to an order takes to compile, where one of a gradient takes so many seconds
    and so many of the operations in its text are not linear."""
    return seconds * (1.0 + WRITTEN_ORDER * (order - 1)) + curves * WRITTEN_CURVED_SECONDS * (order * order - 1)


def parameter(k: int) -> str:
    return f"parameter {k}"


class Work:
    """Work of a program: what the tape's seconds, and in part a kernel's, are estimated from.

    `operations` on numbers, one by one; `items`, operations on elements of tensors, one by one; `arrays`, operations on
    tensors; `elements` that these compute; `products` that libraries of matrices sum; `loops` that a kernel has for the
    operations on tensors; `steps`, which a limit counts (core/limits.py), and `curved`, the operations on numbers that are
    not linear, with the `functions` among them, where a survey has counted them.
    """

    __slots__ = ("arrays", "curved", "elements", "functions", "items", "loops", "operations", "products", "steps")

    def __init__(
        self,
        operations: float = 0.0,
        arrays: float = 0.0,
        elements: float = 0.0,
        products: float = 0.0,
        loops: float = 0.0,
        items: float = 0.0,
        steps: float = 0.0,
        curved: float = 0.0,
        functions: float = 0.0,
    ) -> None:
        self.operations = operations
        self.arrays = arrays
        self.elements = elements
        self.products = products
        self.loops = loops
        self.items = items
        self.steps = steps
        self.curved = curved
        self.functions = functions

    def parts(self) -> tuple[float, ...]:
        return (
            self.operations,
            self.arrays,
            self.elements,
            self.products,
            self.loops,
            self.items,
            self.steps,
            self.curved,
            self.functions,
        )

    def plus(self, other: Work, times: float = 1.0) -> Work:
        return Work(*(a + times * b for a, b in zip(self.parts(), other.parts())))

    def tape_seconds(self, passes: float) -> float:
        """The tape's seconds for the work of so many gradients."""
        of_tensors = self.arrays * ARRAY_SECONDS + self.elements * ELEMENT_SECONDS + self.products * PRODUCT_SECONDS
        of_items = self.items * OF_ELEMENTS * TAPE_SECONDS
        return (
            self.operations * TAPE_SECONDS * passes
            + of_items * passes_of_tensors(passes, OF_ITEMS)
            + of_tensors * passes_of_tensors(passes)
        )

    def kernel_seconds(self, passes: float) -> float:
        seconds = self.elements * KERNEL_ELEMENT_SECONDS + self.products * KERNEL_PRODUCT_SECONDS
        return seconds * passes_of_tensors(passes)


def passes_of_tensors(passes: float, share: float = OF_TENSORS) -> float:
    """The work of so many gradients of numbers, in gradients of tensors."""
    return passes if passes <= 1.0 else max(1.0, share * passes)


def hessian_work(rows: int) -> float:
    """The work of a Hessian with so many rows, in gradients."""
    return COMMAND_WORK["hessian"] + COMMAND_WORK["direction"] * rows * (SWEPT if rows >= SOME_ROWS else 1.0)


def tape_work(items: list[Any], values: dict[str, Any]) -> Work | None:
    """The work of a program of which `items` is the outline; None where a trip count depends on data.

    `values` gives the numbers that are known.
    """

    def known(x: Any) -> int | None:
        if x.__class__ is str:
            x = values.get(x)
        return int(x) if (x.__class__ is int or isinstance(x, float)) and abs(x) < 1e15 else None

    total = Work()
    for item in items:
        if item.__class__ is float:
            total.operations += item
            continue
        match item:
            case ("work", parts):
                total = total.plus(Work(*parts))
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
                inner = tape_work(body, values)
                if inner is None:
                    return None
                total = total.plus(inner.plus(Work(1.0)), len(range(first, last, stride)))
            case ("if", then, orelse):
                one, other = tape_work(then, values), tape_work(orelse, values)
                if one is None or other is None:
                    return None
                total = total.plus(Work(*map(max, zip(one.parts(), other.parts()))))
            case _:
                return None
    return total


def outlined(built: Built) -> list[Any]:
    """The outline of the program that a tape would run in the place of a kernel."""
    if built.outline is None:
        from .outline import outline

        assert built.estimate is not None
        built.outline = outline(built.estimate, 1.0 if built.precision is None else OF_FLOAT32)
    return built.outline


def surely_quick(built: Built, given: list[Any], heaviest: float) -> bool:
    """Whether a kernel that takes at most `heaviest` statements between two questions is done in milliseconds."""
    if heaviest == 0.0:
        return True
    work = work_of(built, given)
    if work is None:
        return False
    operations = work.operations + work.items + work.loops * LOOP_OPERATIONS
    return operations * built.passes * heaviest < QUICK_STATEMENTS


def ready_seconds(built: Built) -> float:
    """How long a kernel, or a loop over rows, takes to compile."""
    from .outline import compile_seconds

    assert built.kernel is not None
    return START_SECONDS + compile_seconds(built.kernel.body)


def loop_worthwhile(left: float, spent: float, ready: float) -> bool:
    """Whether a loop over rows, ready in so many seconds, is the sooner way for rows that take the tape `left` seconds.

    `spent` are the seconds that the tape has spent on the program's tables before: whoever has spent on it what a
    compilation takes will not wait much longer than need be if it is compiled now.
    """
    return left * (1.0 - LOOP_SHARE) > ready or (left > LOAD_SECONDS and left + spent > 2.0 * ready)


def columns_seconds(found: Work, order: int, numbers: int) -> float:
    """How long the tape takes at least for whole columns of rows with this work each, for derivatives of this order by so
    many numbers: each operation is one on arrays, however few rows there are."""
    passes = (COLUMN_VALUE, 1.0, passes_of_tensors(hessian_work(numbers)))[order]
    return (found.operations + found.items + found.arrays) * ARRAY_SECONDS * passes


def import_seconds(library: str) -> float:
    """How long it takes to import NumPy, or SciPy with it; nothing where that has been done."""
    seconds = 0.0
    if library and "numpy" not in sys.modules:
        seconds += NUMPY_SECONDS
    if library == "scipy" and "scipy" not in sys.modules:
        seconds += SCIPY_SECONDS
    return seconds


def load_seconds() -> float:
    """How long it takes to load a kernel that was kept."""
    return LOADED_SECONDS if "llvmlite.binding" in sys.modules else LOAD_SECONDS


def surely_ends(built: Built, given: list[Any]) -> bool:
    """Whether the arguments' shapes and integers alone say how much there is to do."""
    return work_of(built, given) is not None


def work_of(built: Built, given: list[Any]) -> Work | None:
    """The work of a kernel's program for some arguments of the kernel."""
    return tape_work(outlined(built), {parameter(k): x for k, x in enumerate(given)})


def tape_seconds(built: Built, given: list[Any]) -> float | None:
    """How long the tape would take for some arguments of a kernel, as far as it can be estimated."""
    work = work_of(built, given)
    return None if work is None else work.tape_seconds(built.passes)


def patience_seconds(ready: float) -> float:
    """How long the tape goes on, of a program of which nobody knows how long it takes, where a kernel is ready in so long."""
    return min(SHARE * ready, PATIENCE_SECONDS)


def kept_patience_seconds(ready: float, left: float) -> float:
    """The same where a kernel was kept, of a program with which the tape was left after so many seconds before, or 0."""
    long = KEPT_SHARE * ready
    return LEFT_SHARE * ready if left >= long else long


def budget_seconds(by_tape: float) -> float:
    """How long a kernel may be in the making, before it is handed to LLVM, of a program that takes the tape so long."""
    return BUDGET_SECONDS + BUDGET_SHARE * by_tape


def worthwhile(
    built: Built, given: list[Any], ready: float | None, least: float = 0.0, loads: str = "", waits: bool = False,
    spent: float = 0.0,
) -> bool:  # fmt: skip
    """Whether a kernel gives the answer for some arguments sooner than the tape.

    `ready` is the seconds until a kernel that is compiled can run, None for one that is not; `least` those that the tape
    takes at least, and `loads` names the library that it imports first. `waits` says that the tape can be left for the
    kernel after a moment: where nobody knows what there is to do, a kernel that is to be loaded comes second. What the tape
    has `spent` on the same command before counts as if it were to come.
    """
    work = work_of(built, given)
    if work is None:
        if not least:
            return ready is not None and (ready <= spent or not waits)
        work = Work()
    if ready is None:
        ready = ready_seconds(built)
    by_tape = max(work.tape_seconds(built.passes), least) + spent + import_seconds(loads)
    return by_tape > ready + import_seconds(built.loads) + work.kernel_seconds(built.passes)
