"""From a program and what it is specialised to, to the kernel that gives its value or its value and gradient."""

from __future__ import annotations

from ...core.state import STATE
from ...ops.registry import ROWS
from ...program.core import CoreProgram
from .. import ir
from ..budget import check_budget, part_of_budget
from ..built import ANY, UNEXPLAINED, Built, Noted
from ..differentiation.activity import bounded_by_parameters, dependencies, empty, may_reach, reach
from ..differentiation.adjoint import adjoint
from ..differentiation.closing import closed
from ..differentiation.must_reach import must_reach
from ..differentiation.slopes import Slopes
from ..differentiation.snapshots import snapshots
from ..inputs import CAREFUL, EVERY, IMAGINARY, MODE, REAL, SOME, Single, source_of
from ..ir import FLOAT, INT, Array, Unsupported, Var
from ..lowering.specialise import specialise
from ..lowering.structures import Packed, as_one, kind_apart
from ..machine.code import ROUTINE
from ..passes.alignment import aligned
from ..passes.check_fission import checked_first
from ..passes.common_subexpressions import computed_once
from ..passes.dead_code import without_dead_code
from ..passes.dead_fills import without_fills
from ..passes.failing import keep_failing
from ..passes.first_stores import stored_first
from ..passes.flag_sinking import flags_sunk
from ..passes.fuse import fuse
from ..passes.loop_reversal import loops_forwards
from ..passes.memory import settled
from ..passes.outer_vectorisation import outer_vectorised
from ..passes.peeled_fusion import fuse_peeled
from ..passes.redundant_arrays import without_redundant_arrays
from ..passes.scalar_promotion import sums_promoted
from ..passes.scalar_replacement import scalar_replaced
from ..passes.shifted_fusion import fuse_shifted
from ..passes.statements import everything, operands
from ..passes.stored_intermediates import keeping
from ..passes.sum_fission import sums_apart
from ..passes.sure_widths import of_one_width
from ..passes.tidy import summed, tidy
from ..passes.unrolling import unrolled
from ..passes.widths import Levels, Precision, checked
from ..symbols.build import Builder
from ..symbols.following import COMPARISONS, COUNTED
from ..symbols.pairs import Pair
from ..symbols.regions import dissolved
from ..symbols.strength import is_narrow
from ..symbols.symbol import NUMBERS, Lazy, Sym, kind_of, raw
from ..symbols.values import Grid, List, Selected
from ..symbols.whole import whole
from ..work import COMMAND_WORK, DERIVED_VALUE, LOWERING_SHARE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


class Lowered:
    """A program as a kernel of its value, before any derivative.

    `value` is the kernel's result and `element` gives its elements; `targets` are the sources as variables and arrays.
    """

    __slots__ = (
        "apart",
        "builder",
        "complex",
        "element",
        "hollow",
        "kernel",
        "meetings",
        "packed",
        "parted",
        "precision",
        "printed",
        "shape",
        "slopes",
        "spared",
        "targets",
        "value",
    )

    def __init__(
        self,
        program: CoreProgram,
        spec: dict[str, Any],
        sources: Sequence[str],
        structured: bool = False,
        last: bool = False,
        follow: bool = False,
        probe: bool = False,
        telling: bool = False,
    ) -> None:
        notices = len(STATE.notices)
        Builder.mode = spec.get(MODE, "")
        Builder.careful = CAREFUL in spec
        # What is not structured is differentiated in every way.
        with part_of_budget(LOWERING_SHARE):
            made = specialise(program, spec, last, not structured, bool(sources), follow, probe, structured, telling)
        if len(STATE.notices) > notices:
            raise Unsupported("a program of which a notice is known before it runs")
        builder, result = made.builder, made.result
        self.apart: str | None = None
        if not structured and result.__class__ in (List, tuple, dict):
            result, self.apart = as_one(builder, result)
        self.builder = builder
        self.slopes = Slopes(not Builder.careful)
        self.printed = made.printed
        self.parted = made.parted
        self.spared = made.spared
        if builder.mode == EVERY and builder.counted:
            raise Unsupported("a float32 that counts (`range(x)`)")
        if made.printed.prints and not structured:
            raise Unsupported("'print' in a program whose derivatives beyond the gradient are asked for")
        self.shape: tuple[int, ...] = ()
        self.packed: Packed | None = None
        # The shape of a complex result, whose parts `value` holds side by side.
        self.complex: tuple[int, ...] | None = None
        narrow = kind_of_result(result) == INT and is_narrow(builder, result)
        if narrow and not structured:
            raise Unsupported("a result of int32, which has no gradient")
        if narrow:
            self.packed = Packed(builder, result)
            self.value: Any = self.packed.stored()
            self.shape = self.value.shape
            self.element: Callable[[tuple[Any, ...]], Any] = builder.stored(self.value).element
        elif result.__class__ is Lazy:
            settled = builder.settle(result)
            if settled.stored is None or settled.stored.role in ("input", "carried", "constant"):
                settled = builder.materialised(result)
            self.shape = settled.shape
            self.value = settled.stored
            self.element = settled.element
        elif result.__class__ is Sym or result.__class__ in NUMBERS:
            self.value = raw(result)
            self.element = lambda index: result
        elif not structured and result.__class__ is Pair:
            self.complex = result.shape
            self.value = Packed(builder, result).stored()
            self.shape = self.value.shape
            self.element = builder.stored(self.value).element
        elif structured and (result.__class__ in (List, Grid, tuple, dict, Pair, Selected) or result is None):
            self.packed = Packed(builder, result, bool(sources))
            self.value = self.packed.stored()
            self.shape = self.value.shape
            self.element = builder.stored(self.value).element
        else:
            raise Unsupported("a result that is no number and no tensor")
        # The tensors of the result that have no elements, where it is followed what leads to it.
        self.hollow: list[Any] = []
        if follow:
            assert builder.follower is not None
            tensors = [result] if self.packed is None else self.packed.tensors()
            self.hollow = list(builder.follower.operands([x for x in tensors if x.__class__ is Lazy and 0 in x.shape]))
        builder.watch.begun(made.kernel.body)
        self.kernel = ir.Kernel(made.kernel.parameters, made.kernel.body, [self.value])
        keep_failing(self.kernel, self.printed.results, builder.strong)
        self.precision: Precision | None = None
        if builder.mode:
            bare = {p for p in self.kernel.parameters if spec[p.name].__class__ is not Single}
            alike = [self.value] if self.packed is not None else []
            self.precision = Precision(builder.mode, bare, self.printed.results[:1], alike)
            if builder.mode == SOME:
                # Before the passes that leave out what nobody reads.
                levels = Levels(self.kernel, self.precision).named(builder.casts)
                self.precision.known = levels.singles()
                self.kernel.body[:] = checked(self.kernel.body, levels)
                of_one_width(self.kernel, levels)
        self.meetings = meetings(builder, self.kernel, made.inputs)
        self.targets: dict[str, Any] = {}
        for name in sources:
            symbol = made.inputs[name]
            parts = (
                {name: symbol}
                if symbol.__class__ is not Pair
                else {name + REAL: symbol.re, name + IMAGINARY: symbol.im}
            )
            for part, x in parts.items():
                self.targets[part] = x.var if x.__class__ is Sym else x.stored

    def summed(self, weight: Callable[[tuple[Any, ...]], Any] | None = None) -> Var:
        """The variable that is differentiated: the (weighted) sum of the value's elements; 0 where they are no floats."""
        element = self.element
        if self.packed is None and kind_of_value(self.value) != FLOAT:
            return self.nothing()
        if weight is not None:
            element = lambda index: self.builder.scalar_or_static("multiply", self.element(index), weight(index))  # noqa: E731
        if self.packed is not None:
            total = self.packed.summed()
        else:
            total = self.builder.total(self.shape, element) if self.shape else element(())
        if total.__class__ is not Sym or total.kind != FLOAT:
            return self.nothing()
        found: Var = total.var
        return found

    def nothing(self) -> Var:
        """A variable that depends on no input."""
        found = Var(FLOAT)
        self.builder.append(ir.Set(found, "zero", (), None, None))
        return found

    def built(self, kernel: ir.Kernel, noted: list[Noted], result: Any = None) -> Built:
        """A finished kernel of this program, with what is known of the sources' connection to a result."""
        found = Built(finished(kernel), self.shape)
        found.precision = self.precision
        found.bare = self.builder.mode == SOME and not self.builder.singles
        if self.targets and self.packed is None and self.value.__class__ is Var and self.value.kind == FLOAT:
            found.mixed = self.builder.may_be_whole(Sym(self.builder, self.value))
        found.structure = None if self.packed is None else self.packed.structure
        found.apart = self.apart if self.packed is None else kind_apart(self.packed.structure)
        if self.complex is not None:
            found.structure = ("complex", 0, self.complex)
        found.noted = noted
        found.hasty = self.slopes.used or self.builder.hasty
        found.parted = self.parted
        found.spared = self.spared
        found.printed = self.printed.plain()
        found.printed_counts = self.printed.counts
        arrays = any(x.__class__ is Array and x.kind == FLOAT for x in found.kernel.results)  # type: ignore[union-attr]
        found.loads = libraries(found.kernel.body) or ("numpy" if arrays else "")  # type: ignore[union-attr]
        positions = {p: k for k, p in enumerate(self.kernel.parameters)}
        found.counted = [positions[var] for var in self.builder.counted]
        found.uncounted = [[positions[var] for var in group] for group in self.builder.uncounted]
        running = bounded_by_parameters(self.kernel)
        found.bounds = [(positions[loop.stop], loop.start + 1) for loop in running]
        found.meetings = self.meetings
        sources: dict[str, list[Any]] = {}
        for part, target in self.targets.items():
            sources.setdefault(source_of(part), []).append(target)
        for name, targets in sources.items():
            reaching = [target for target in targets if may_reach(self.kernel, target, result)]
            if empty(targets[0]):
                continue  # no elements, and no loop in which they were read: a run tells
            if not reaching:
                found.lost[name] = why_lost(self.builder, self.kernel, targets[0]) or UNEXPLAINED
            elif result in must_reach(self.kernel, reaching):
                found.sure.add(name)
            elif running and result in must_reach(self.kernel, reaching, running):
                found.sure_if_running.add(name)
        return found


def kind_of_result(result: Any) -> str | None:
    """The kind of a result that is a number or a tensor."""
    return result.kind if result.__class__ in (Lazy, Sym) else None


def libraries(body: list[ir.Stmt]) -> str:
    """The library that functions which a kernel calls are of; "" for none."""
    for s in everything(body):
        name = s.op if s.__class__ is ir.Set else s.name.removeprefix(ROUTINE) if s.__class__ is ir.Routine else ""
        row = ROWS.get(name)
        if row is not None and row.library and (s.__class__ is ir.Routine or f"{row.library}_" in str(row.kernel)):
            return row.library
    return ""


def kind_of_value(value: Any) -> str:
    """The kind of a kernel's result: an array, a variable or a number."""
    if value.__class__ in NUMBERS:
        return kind_of(value)
    found: str = value.kind
    return found


def finished(kernel: ir.Kernel) -> ir.Kernel:
    """A kernel as it is emitted: the passes on what a sweep has made, in an order that docs/architecture.md explains."""
    kernel = without_dead_code(kernel)
    if not Builder.mode:  # in float32, what goes through memory is rounded
        kernel = without_redundant_arrays(kernel)
    kernel = ir.Kernel(kernel.parameters, dissolved(kernel.body), kernel.results)
    for improved in (
        tidy, snapshots, loops_forwards, sums_promoted, stored_first, settled, without_fills, scalar_replaced, sums_apart,
        without_dead_code,
    ):  # fmt: skip
        check_budget()
        kernel = improved(kernel)
    if Builder.mode:
        return kernel
    for improved in (
        fuse_shifted, fuse_peeled, outer_vectorised, without_dead_code, computed_once, summed, without_dead_code,
    ):  # fmt: skip
        check_budget()
        kernel = improved(kernel)
    written = unrolled(kernel)
    if written is not kernel:
        kernel = without_dead_code(computed_once(written))
    return checked_first(flags_sunk(kernel))


def meetings(builder: Builder, kernel: ir.Kernel, inputs: dict[str, Any]) -> list[tuple[list[str], list[str]]]:
    """Where real and complex numbers meet: the inputs that either side comes from. Raises Unsupported where both sides
    may have dtypes of their own whatever the inputs are."""
    if not builder.meetings:
        return []
    edges = dependencies(kernel)
    # ANY stands for what the program itself makes of a dtype of its own.
    reached: dict[str, set[Any]] = {ANY: reach(edges, builder.origins)}
    for name, symbol in inputs.items():
        parts = (symbol.re, symbol.im) if symbol.__class__ is Pair else (symbol,)
        starts: list[Any] = [getattr(x, "var", None) or getattr(x, "stored", None) for x in parts]
        reached[name] = reach(edges, starts)
    found: list[tuple[list[str], list[str]]] = []
    for met in builder.meetings:
        sides = tuple(
            [name for name in reached if side & reached[name] or (name == ANY and ANY in builder.origins)]
            for side in met
        )
        if all(ANY in side for side in sides):
            raise Unsupported("complex numbers beside real ones that have a dtype of their own")
        if all(sides) and sides not in found:
            found.append(sides)  # type: ignore[arg-type]
    return found


def build(
    program: CoreProgram, spec: dict[str, Any], sources: Sequence[str] | None, typed: bool = False, last: bool = False,
    probe: bool = False, telling: bool = False,
) -> Built:  # fmt: skip
    """The kernel of the value (sources None; that of the `last` statement) or of value and gradient.

    Its results are the value, the gradients, what is printed, and the flags of what is noted. Where the value is asked
    for alone, and `typed`, a second result may say that it is an integer (`Built.whole`). With `probe` the value is the
    first size that is not known (lowering/sizes.py); with `telling` the message of an assertion that fails is printed too.
    """
    lowered = Lowered(program, spec, sources or (), True, last, probe=probe, telling=telling)
    watch, lines = lowered.builder.watch, lowered.printed.results
    if sources is None:
        flag = (
            whole(lowered.builder, lowered.element(()))
            if typed and lowered.packed is None and not lowered.shape
            else False
        )
        if flag.__class__ is Sym:
            lowered.kernel.results.append(raw(flag))
        lowered.kernel.results.extend(lines)
        fused = fuse(aligned(watch.given(lowered.kernel)))
        valued = lowered.built(fused, watch.noted)
        valued.estimate = without_dead_code(ir.Kernel(fused.parameters, fused.body, fused.results))
        valued.whole = flag.__class__ is Sym
        valued.doubtful = lowered.packed.doubtful if lowered.packed is not None else [0] if flag is None else []
        valued.passes = DERIVED_VALUE if lowered.builder.derives else COMMAND_WORK["value"]
        return valued
    result = lowered.summed()
    whole_kernel = ir.Kernel(
        lowered.kernel.parameters, lowered.kernel.body, [lowered.value, result, *lines, *watch.results]
    )
    short = fuse(aligned(whole_kernel))
    value, total = short.results[:2]
    lines = short.results[2 : 2 + len(lines)]
    # Where memory is bounded, everything is computed again.
    short, kept = keeping(short) if STATE.checkpoint is None else (short, {})
    targets = list(lowered.targets.values())
    differentiated, noted = adjoint(
        short, total, targets, watch=watch, kept=kept, slopes=lowered.slopes, last=True, precision=lowered.precision
    )
    differentiated.results[0] = value
    place = 1 + len(lowered.targets)
    differentiated.results[place:place] = lines
    unfinite = None
    if not Builder.mode:
        differentiated.body, unfinite = closed(differentiated.body, differentiated.results[1:place])
    if unfinite is not None:
        differentiated.results.append(unfinite)
    found = lowered.built(differentiated, noted, result)
    found.closed = unfinite is not None
    found.doubtful = lowered.packed.doubtful if lowered.packed is not None else []
    # The work is the program's, however its adjoint goes about it.
    found.estimate = without_dead_code(ir.Kernel(short.parameters, short.body, [value, total]))
    return found


def why_lost(builder: Builder, kernel: ir.Kernel, target: Any) -> tuple[str, Any] | None:
    """Why the gradient of a source is None, as the tape says it, and the place; None where a run must tell."""
    if target in builder.counted and counts_alone(builder, kernel, target):
        place = COUNTED
        site, block = builder.counted[target]
    elif target in builder.ends and target not in builder.counted and not mentioned(kernel.body, target):
        place, site, block = builder.ends[target]
    else:
        return None
    if not surely_run(kernel.body, block):
        return None
    return f"the path from the source ends at {place}, which carries no derivative", site


def surely_run(body: list[ir.Stmt], block: list[ir.Stmt]) -> bool:
    """Whether a block runs whenever `body` does: it is that, or the body of a loop in it that has iterations for certain."""
    if body is block:
        return True
    for s in body:
        if s.__class__ is ir.Loop and s.test is None and (s.start.__class__, s.stop.__class__) == (int, int):
            if (s.stop - s.start) * s.step > 0 and surely_run(s.body, block):
                return True
    return False


def mentioned(block: list[ir.Stmt], x: Any) -> bool:
    """Whether an input is read anywhere."""
    return any(
        getattr(s, "array", None) is x or any(operand is x for operand in operands(s)) for s in everything(block)
    )


def counts_alone(builder: Builder, kernel: ir.Kernel, x: Any) -> bool:
    """Whether an input, and what is counted from it, is compared and counted with, and read in no other way."""
    counting = {x}
    for s in everything(kernel.body):
        if not any(operand in counting for operand in operands(s)):
            continue
        if s.__class__ is not ir.Set:
            return False
        if s.var in builder.counting:
            counting.add(s.var)
        elif s.op != "to_int" and s.op not in COMPARISONS:
            return False
    return counting.isdisjoint(builder.ends)
