"""GradientTape blocks: what the statements of a block computed, differentiated by source transformation.

A tape remembers where in the kernel its recording began and ended, and what it watches: a copy of each watched value,
with a variable or an array of its own. Asked for a derivative, it takes the statements between, as a call of `grad`
takes those of its function. The first derivative replaces the statements by themselves and their adjoint or tangents;
others, and those of a block that goes on, take a copy of the statements. Where a tape would answer None, or with a
notice that gives a reason, the tape tier answers.
"""

from __future__ import annotations

from ..core.dispatch import shape_text
from ..core.state import STATE
from ..core.tensor import OPERATORS
from . import ir
from .activity import dependencies, surely_reached
from .adjoint import Adjoint
from .bodies import changed_in_place
from .build import NUMBERS, Lazy, Sym, raw
from .built import Noted
from .ir import FLOAT, INT, Array, Unsupported, Var
from .nested import Call, Leaves, copy_lane, few, flatten, rebuild, seed_array, seed_number
from .regions import ruled
from .statements import everything
from .values import List, Recorder, Variable, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .build import Builder
    from .specialise import Specialiser

# Directions that are followed together where a reverse sweep cannot be taken.
MANY = 16
# Rows of a Jacobian that are swept for one after the other.
MANY_ROWS = 8


def gradient_tape(machine: Specialiser, persistent: Any = False, watch_accessed_variables: Any = True) -> Tape:
    if persistent.__class__ is not bool or watch_accessed_variables.__class__ is not bool:
        raise Unsupported("a GradientTape with options that depend on data")
    return Tape(machine, persistent, watch_accessed_variables)


def source_of(builder: Builder, x: Any) -> Any:
    """A value in a variable or an array of its own, as a symbol. Raises Unsupported for what has no derivative."""
    if x.__class__ is Lazy and not x.shape:
        x = x.element(())
    if x.__class__ is Lazy and x.kind == FLOAT:
        array = Array(FLOAT, x.shape)
        builder.append(ir.Alloc(array, False))
        builder.fill(array, x)
        return builder.stored(array)
    if x.__class__ not in (*NUMBERS, Sym) or x.__class__ is bool or (x.__class__ is Sym and x.kind not in (FLOAT, INT)):
        raise Unsupported("a tape that watches a value of this kind")
    var = Var(FLOAT, "p")
    builder.append(ir.Set(var, "copy", (raw(builder.to_float(x)),), None, None))
    return Sym(builder, var)


def operand(x: Any) -> Any:
    """The variable or array of a symbol; None for anything else."""
    found = x.var if x.__class__ is Sym else x.stored if x.__class__ is Lazy else None
    return found if found is not None and found.kind == FLOAT else None


class Tape(Recorder):
    """A GradientTape of the program."""

    def __init__(self, machine: Specialiser, persistent: bool, automatic: bool) -> None:
        self.machine = machine
        self.builder = machine.builder
        self.persistent = persistent
        self.automatic = automatic
        self.used = False
        # The block it records in; statements that mark where recording began and ended.
        self.block: list[ir.Stmt] | None = None
        self.begin: ir.Stmt | None = None
        self.end: ir.Stmt | None = None
        # What was recorded, where a derivative has taken the place of it.
        self.record: list[ir.Stmt] | None = None
        self.watched: list[Any] = []
        # For each Variable what it held, and the copies of that.
        self.variables: dict[Variable, list[tuple[Any, Any]]] = {}

    # --- recording ----------------------------------------------------------------------------------------------------

    def mark(self) -> ir.Stmt:
        """A statement that says where. What is computed after it is not shared with what came before."""
        found = ir.Set(Var(INT, "mark"), "copy", (0,), None, None)
        self.builder.append(found)
        self.forget()
        return found

    def forget(self) -> None:
        for memo in self.builder.memos:
            memo.clear()

    def enter(self) -> None:
        if self.block is not None:
            raise Unsupported("a tape that records twice")
        self.block = self.builder.block
        self.begin = self.mark()
        active = self.machine.tapes
        for variable in self.machine.variables:
            if self.automatic and variable.trainable:
                self.follow(variable)
        active.append(self)

    def leave(self) -> None:
        if self in self.machine.tapes:
            self.machine.tapes.remove(self)
            if self.builder.block is self.block:
                self.end = self.mark()

    def follow(self, variable: Variable) -> Any:
        """The copy of what a Variable holds that this tape follows."""
        held = variable.value
        for tape in self.machine.tapes:
            for before, copy in tape.variables.get(variable, ()):
                if before is held:
                    self.variables.setdefault(variable, []).append((held, copy))
                    return copy
        if self.builder.block is not self.block:
            raise Unsupported("a Variable that a tape meets first in a loop or branch of its block")
        copy = source_of(self.builder, held)
        self.variables.setdefault(variable, []).append((held, copy))
        return copy

    def accessed(self, variable: Variable, value: Any) -> Any:
        """What a read of a Variable gives while the tape records; `value` is what an outer tape has made of it."""
        known = self.variables.get(variable)
        if known is None and not (self.automatic and variable.trainable):
            return value
        for before, copy in known or ():
            if before is variable.value:
                return copy
        return self.follow(variable)

    def watch(self, x: Any) -> Any:
        """Follow a value or a structure of values: the structure with what stands for them from now on."""
        if self.block is None or self.builder.block is not self.block:
            raise Unsupported("a tape that watches in a loop or branch of its block, or outside of it")
        if x.__class__ is List and x.items is not None:
            x.items[:] = [self.watch(item) for item in x.items]
            return x
        if x.__class__ is tuple:
            return tuple(self.watch(item) for item in x)
        if x.__class__ is dict:
            for key in x:
                x[key] = self.watch(x[key])
            return x
        if x.__class__ is Variable:
            if x not in self.variables:
                self.follow(x)
            return x
        known = operand(x)
        self.forget()
        if known is None or not any(known in tape.watched for tape in self.machine.tapes):
            x = source_of(self.builder, x)
            known = operand(x)
        self.watched.append(known)
        return x

    # --- derivatives --------------------------------------------------------------------------------------------------

    def claim(self) -> None:
        if self.used and not self.persistent:
            raise Unsupported("a tape that is asked twice")
        self.used = True
        if not self.persistent:
            self.leave()
        if self.block is None or self.builder.block is not self.block:
            raise Unsupported(
                "a derivative that is asked for in another loop, branch or function than the tape's block"
            )

    def gradient(
        self, target: Any, sources: Any, output_gradients: Any = None, unconnected_gradients: Any = "none"
    ) -> Any:
        self.claim()
        targets = [self.target(t) for t in flatten(target)]
        weights = [None] * len(targets)
        if output_gradients is not None:
            # One tensor and a plain list: the list is the tensor's cotangent.
            several = target.__class__ in (List, tuple, dict)
            weights = flatten(output_gradients) if several else [plain(output_gradients)]
        if len(weights) != len(targets):
            raise Unsupported("output_gradients of another structure than the targets")
        builder = self.builder
        asked = Asked(self, sources, output_gradients is not None)

        def total() -> Any:
            found: Any = 0.0
            for t, weight in zip(targets, weights):
                found = builder.scalar_or_static("add", found, self.summed(t, weight))
            return found

        def summed() -> list[Any]:
            extra, y = builder.nested(total)
            return asked.gradients(extra, y)

        found = asked.placed(summed)
        if output_gradients is None:
            for t in targets:
                if t.__class__ is Lazy:
                    message = f"the target has shape {shape_text(t.shape)}: its elements are summed"
                    builder.append(builder.watch.flag(Noted(message, STATE.site, True, "N0503")))
        return asked.structured(found)

    def target(self, x: Any) -> Any:
        x = x.read() if x.__class__ is Variable else x
        if x.__class__ is Lazy and not x.shape:
            x = x.element(())
        if operand(x) is None:
            raise Unsupported("the derivative of a target that a tape does not follow")
        return x

    def summed(self, y: Any, weight: Any) -> Any:
        """The sum of a target's elements, each with its weight."""
        builder = self.builder

        def weighed(x: Any) -> Any:
            """A weight as a constant of this derivative."""
            var = Var(FLOAT)
            builder.append(ir.Set(var, "weight", (raw(x),), None, None))
            return Sym(builder, var)

        if y.__class__ is Sym:
            return (
                y if weight is None else builder.scalar_or_static("multiply", y, weighed(seed_number(builder, weight)))
            )
        if weight is None:
            return builder.total(y.shape, y.element)
        if weight.__class__ is not Lazy and weight.__class__ not in NUMBERS and weight.__class__ is not Sym:
            weight = builder.operand(plain(weight))
        weights = builder.stored(seed_array(builder, y.stored, weight))
        return builder.total(
            y.shape,
            lambda index: builder.scalar_or_static("multiply", y.element(index), weighed(weights.element(index))),
        )

    def jacobian(self, target: Any, sources: Any, unconnected_gradients: Any = "none", **options: Any) -> Any:
        self.claim()
        parts = flatten(target)
        found = []
        for t in parts:
            y = self.target(t)
            asked = Asked(self, sources, False)
            if y.__class__ is Sym:
                blocks = asked.placed(lambda asked=asked, y=y: asked.gradients([], y))  # type: ignore[misc]
            else:
                blocks = asked.placed(lambda asked=asked, y=y: asked.jacobian(y))  # type: ignore[misc]
            found.append(asked.structured(blocks))
        return rebuild(target, found) if target.__class__ in (List, tuple, dict) else found[0]


class Operands(Leaves):
    """What a derivative is taken by: variables and arrays."""

    def __init__(self, sources: list[Any]) -> None:
        if len(set(sources)) < len(sources):
            raise Unsupported("a derivative by one value twice")
        self.sources = sources
        self.sizes = [x.size if x.__class__ is Array else 1 for x in sources]
        self.total = sum(self.sizes)


class Asked(Call):
    """One derivative that a tape is asked for."""

    def __init__(self, tape: Tape, sources: Any, to_the_end: bool) -> None:
        self.tape = tape
        tape.builder.derives = True
        self.machine = tape.machine
        self.builder = tape.builder
        self.sources = sources
        block = tape.block
        assert block is not None
        first = place_of(block, tape.begin) + 1
        stop = place_of(block, tape.end) if tape.end is not None and not to_the_end else len(block)
        self.first, self.stop = first, stop
        # A copy is taken where the statements must stay: where more may come, or where they were taken before.
        self.copied = tape.record is not None or tape.end is None
        if tape.record is None:
            self.record = block[first:stop]
            if not self.copied:
                tape.record = list(self.record)
        else:
            self.record = list(tape.record)
            if to_the_end:
                raise Unsupported("output_gradients of a tape that was asked before")
        if changed_in_place(self.record) or overwrites(block[stop:]):
            raise Unsupported("a tape's block that changes tensors from outside element by element")
        self.leaves_found = [self.leaf(x) for x in flatten(sources)]
        self.leaves = Operands([x for each in self.leaves_found for x in each])

    def leaf(self, x: Any) -> list[Any]:
        """The variables or arrays that a source stands for."""
        tape = self.tape
        if x.__class__ is Variable:
            found = [operand(copy) for _, copy in tape.variables.get(x, ())]
            if not found:
                raise Unsupported("a Variable that the tape did not watch")
            return found
        if x.__class__ is Lazy and not x.shape:
            x = x.element(())
        known = operand(x)
        if known is None:
            raise Unsupported("a source that no tape follows")
        if known in tape.watched:
            return [known]
        watched = [*tape.watched, *(operand(copy) for each in tape.variables.values() for _, copy in each)]
        own = any(
            (s.__class__ in (ir.Set, ir.Load) and s.var is known)
            or (s.__class__ is ir.Alloc and s.array is known and known.role == "local")
            for s in self.record
        )
        if not own or known not in surely_reached(ir.Kernel([], self.record, []), watched)[0]:
            raise Unsupported("a source that the tape may not have watched")
        return [known]

    def placed(self, derive: Callable[[], list[Any]]) -> list[Any]:
        """What `derive` finds, its statements at the end of the recording."""
        block, builder, site = self.tape.block, self.builder, STATE.site
        assert block is not None
        tail = block[self.stop :]
        del block[self.stop :]
        builder.memos[-1].clear()
        try:
            found = derive()
            release(block)
        finally:
            block.extend(tail)
            self.tape.forget()
            STATE.site = site
        return found

    def structured(self, found: Sequence[Any]) -> Any:
        """Derivatives by operand, in the structure of the sources."""
        builder, rest = self.builder, list(found)
        parts: list[Any] = []
        for each in self.leaves_found:
            total = rest.pop(0)
            for _ in each[1:]:
                total = builder.settle(self.machine.combine(OPERATORS["add"], "+", total, rest.pop(0), STATE.site))
            parts.append(total)
        sources = self.sources
        return rebuild(sources, parts) if sources.__class__ in (List, tuple, dict) else parts[0]

    def surely(self, extra: list[ir.Stmt], y: Any) -> None:
        """Make sure that every source leads to a result whatever the data."""
        for x in self.leaves.sources:
            if y not in surely_reached(ir.Kernel([], [*self.record, *extra], []), [x])[0]:
                raise Unsupported("a source on which the target may not depend")

    # --- the statements that are differentiated -------------------------------------------------------------------------

    def forward_part(self) -> int | None:
        """Where forward mode can begin: after the sources, if nothing reads one before that."""
        sources = self.leaves.sources
        last = 0
        for k, s in enumerate(self.record):
            if defines(s, sources):
                last = k + 1
        edges = dependencies(ir.Kernel([], self.record[:last], []))
        return None if any(edges.get(x) for x in sources) else last

    def take(self, start: int, extra: list[ir.Stmt], y: Any) -> Any:
        """Make `block` the statements to be differentiated, from one on: these themselves, or a copy."""
        block = self.tape.block
        assert block is not None
        if self.copied:
            names: dict[Any, Any] = {}
            self.block = Adjoint(set(), set()).renamed([*self.record[start:], *extra], names)
            return names.get(y, y)
        self.block = [*block[self.first + start : self.stop], *extra]
        del block[self.first + start : self.stop]
        return y

    def gradients(self, extra: list[ir.Stmt], y: Any) -> list[Any]:  # type: ignore[override]
        """The gradient of a number by each operand."""
        if y.__class__ is not Sym or y.kind != FLOAT:
            raise Unsupported("the gradient of what a tape does not follow")
        self.surely(extra, y.var)
        body = [*self.record, *extra]
        start = self.forward_part()
        most = MANY if has_reverse(body) else few(self.machine)
        if start is None and self.leaves.total <= most and not ruled(body):
            # Sources that come one after the other are followed one by one.
            found: list[Any] = []
            self.copied = True
            for x in self.leaves.sources:
                self.leaves = Operands([x])
                found += self.gradients(extra, y)
            return found
        if start is not None and self.leaves.total <= most and not ruled(body):
            y = Sym(self.builder, self.take(start, extra, y.var))
            tangent = self.pushed(y.var, self.basis(), self.leaves.total)
            return self.slopes(y, tangent.of(y.var))
        # A sweep takes back what loops have changed in place.
        self.copied |= overwrites(body)
        sources = self.leaves.sources
        if self.copied and any(defines(s, sources) for s in self.record):
            start = self.forward_part()
            if start is None:
                raise Unsupported("derivatives of a tape by values that depend on each other")
        y = Sym(self.builder, self.take(start if self.copied and start is not None else 0, extra, y.var))
        return self.swept(y)

    def jacobian(self, y: Lazy) -> list[Any]:
        """d y / d operand, for each operand."""
        builder, lanes = self.builder, self.leaves.total
        assert y.stored is not None
        self.surely([], y.stored)
        start = self.forward_part()
        if start is not None and lanes <= MANY and not ruled(self.record):
            stored = self.take(start, [], y.stored)
            tangent = self.pushed(stored, self.basis(), lanes)
            return self.columns(stored, tangent)
        if y.stored.size > MANY_ROWS:
            raise Unsupported("a Jacobian by more inputs than are followed together")
        blocks = [
            Array(FLOAT, (*y.shape, *x.shape)) if x.__class__ is Array else Array(FLOAT, y.shape)
            for x in self.leaves.sources
        ]
        self.copied = True
        for block in blocks:
            builder.append(ir.Alloc(block, False))
        for k in range(y.stored.size):
            extra, row = builder.nested(lambda k=k: Sym(builder, loaded(builder, y.stored, k)))  # type: ignore[misc]
            for block, size, g in zip(blocks, self.leaves.sizes, self.gradients(extra, row)):
                if g.__class__ is not Lazy:
                    builder.append(ir.Store(block, k, raw(g)))
                    continue

                def copy(i: Sym, block: Array = block, g: Lazy = g, start: int = k * size) -> None:
                    assert g.stored is not None
                    value = builder.load(g.stored, raw(i))
                    builder.append(ir.Store(block, raw(builder.integer("add", i, start)), value.var))

                builder.count(size, copy)
        return [builder.stored(block) for block in blocks]

    def columns(self, stored: Array, tangent: Any) -> list[Any]:
        """The lanes of an array's tangents as blocks of a Jacobian."""
        builder, lanes = self.builder, self.leaves.total
        blocks: list[Any] = []
        first = 0
        for x, size in zip(self.leaves.sources, self.leaves.sizes):
            block = Array(FLOAT, (*stored.shape, *(x.shape if x.__class__ is Array else ())))
            builder.append(ir.Alloc(block, True))
            if tangent.has(stored):
                for i in range(size):
                    copy_lane(builder, block, tangent.dots[stored], stored.size, size, i, lanes, first + i)
            blocks.append(builder.stored(block))
            first += size
        return blocks


def loaded(builder: Builder, array: Array, k: int) -> Var:
    var = Var(FLOAT, "x")
    builder.append(ir.Load(var, array, k))
    return var


def place_of(block: list[ir.Stmt], mark: ir.Stmt | None) -> int:
    for k, s in enumerate(block):
        if s is mark:
            return k
    raise Unsupported("a tape whose block was taken by another derivative")


def release(block: list[ir.Stmt]) -> None:
    """Make the weights of a derivative values like others, which other derivatives follow."""
    for s in everything(block):
        if s.__class__ is ir.Set and s.op == "weight":
            s.op = "copy"


def overwrites(block: list[ir.Stmt]) -> bool:
    """Whether a block changes elements of an array in place."""
    return any(s.__class__ is ir.Keep for s in everything(block))


def has_reverse(block: list[ir.Stmt]) -> bool:
    """Whether a block holds a reverse sweep, which cannot be swept back through."""
    return any(isinstance(s, ir.Accumulate | ir.ReverseLoop | ir.TakeBack | ir.Rewind) for s in everything(block))


def defines(s: ir.Stmt, sources: list[Any]) -> bool:
    """Whether a statement, or one in it, sets one of some variables and arrays."""
    return any(
        (inner.__class__ in (ir.Set, ir.Load) and inner.var in sources)
        or (isinstance(inner, ir.Alloc | ir.Store | ir.AddTo) and inner.array in sources)
        for inner in everything([s])
    )
