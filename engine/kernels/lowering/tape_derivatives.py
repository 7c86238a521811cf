"""What a GradientTape is asked for, one derivative at a time: the statements that it recorded, differentiated."""

from __future__ import annotations

from ...core.state import STATE
from ...core.tensor import OPERATORS
from .. import ir
from ..differentiation.activity import dependencies
from ..differentiation.bodies import changed_in_place
from ..differentiation.must_reach import must_reach
from ..differentiation.renaming import renamed
from ..ir import FLOAT, Array, Followed, Unsupported, Var
from ..passes.statements import everything
from ..symbols.regions import ruled
from ..symbols.symbol import Lazy, Sym, raw
from ..symbols.values import List, Variable, flatten, rebuild
from .differentiated import (
    Differentiated,
    Leaves,
    can_write_out,
    few,
    handed_back,
    rounds,
    stands_alone,
    surrounded,
    width_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ..symbols.build import Builder
    from .tapes import Tape

# Directions that are followed together where a reverse sweep cannot be taken.
MANY = 16
# Rows of a Jacobian that are swept for one after the other.
MANY_ROWS = 8


def operand(x: Any) -> Any:
    """The variable or array of a symbol; None for anything else."""
    found = x.var if x.__class__ is Sym else x.stored if x.__class__ is Lazy else None
    return found if found is not None and found.kind == FLOAT else None


def loaded(builder: Builder, array: Array, k: int) -> Var:
    var = Var(FLOAT, "x")
    builder.append(ir.Load(var, array, k))
    return var


def place_of(block: list[ir.Stmt], mark: ir.Stmt | None) -> int:
    for k, s in enumerate(block):
        if s is mark:
            return k
    raise Unsupported("a GradientTape whose block another derivative has used")


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


def read_after(block: list[ir.Stmt], made: Any, x: Any) -> bool:
    """Whether a block reads a variable or an array after it has made another one."""
    last = max((k for k, s in enumerate(block) if defines(s, [made])), default=len(block))
    rest = ir.Kernel([], block[last + 1 :], [])
    return x in dependencies(rest)


def defines(s: ir.Stmt, sources: list[Any]) -> bool:
    """Whether a statement, or one in it, sets one of some variables and arrays."""
    return any(
        (inner.__class__ in (ir.Set, ir.Load) and inner.var in sources)
        or (isinstance(inner, ir.Alloc | ir.Store | ir.AddTo) and inner.array in sources)
        for inner in everything([s])
    )


class Asked(Differentiated):
    """One derivative that a tape is asked for."""

    def __init__(self, tape: Tape, sources: Any, to_the_end: bool) -> None:
        self.tape = tape
        self.machine = tape.machine
        self.builder = tape.builder
        self.sources = sources
        block = tape.block
        assert block is not None
        first = place_of(block, tape.begin) + 1
        stop = place_of(block, tape.end) if tape.end is not None and not to_the_end else len(block)
        self.first, self.stop = first, stop
        self.constants = len(self.builder.constants)
        # A copy is taken where the statements must stay: where more may come, or where they were taken before.
        self.copied = tape.record is not None or tape.end is None
        if tape.record is None:
            self.record = block[first:stop]
            if not self.copied:
                tape.record = list(self.record)
        else:
            self.record = list(tape.record)
            if to_the_end:
                raise Unsupported("output_gradients of a GradientTape that was asked before")
        if changed_in_place(self.record) or overwrites(block[stop:]):
            raise Unsupported("a GradientTape's block that changes a tensor from outside element by element")
        self.leaves_found = [self.leaf(x) for x in flatten(sources)]
        operands = [x for each in self.leaves_found for x in each]
        if len(set(operands)) < len(operands):
            raise Unsupported("a derivative by the same value twice")
        self.leaves = Leaves(operands)

    def leaf(self, x: Any) -> list[Any]:
        """The variables or arrays that a source stands for."""
        tape = self.tape
        if x.__class__ is Variable:
            found = [operand(copy) for _, copy in tape.variables.get(x, ())]
            if not found:
                raise Unsupported("a Variable that the GradientTape did not watch")
            return found
        if x.__class__ is Lazy and not x.shape:
            x = x.element(())
        known = operand(x)
        if known is None:
            raise Unsupported("a derivative by a value that the GradientTape does not follow")
        if known in tape.watched:
            return [known]
        watched = [*tape.watched, *(operand(copy) for each in tape.variables.values() for _, copy in each)]
        own = any(
            (s.__class__ in (ir.Set, ir.Load) and s.var is known)
            or (s.__class__ is ir.Alloc and s.array is known and known.role == "local")
            for s in self.record
        )
        if not own or known not in must_reach(ir.Kernel([], self.record, []), watched):
            raise Unsupported("a derivative by a value that the GradientTape may not have watched")
        return [known]

    def moved(self, place: int) -> int:
        """Where a statement of the tape's block is now: arrays that are constants come before all else at the root."""
        builder = self.builder
        return place + (len(builder.constants) - self.constants if self.tape.block is builder.root else 0)

    def placed(self, derive: Callable[[], list[Any]]) -> list[Any]:
        """What `derive` finds, its statements at the end of the recording."""
        block, builder, site = self.tape.block, self.builder, STATE.site
        assert block is not None
        tail = block[self.moved(self.stop) :]
        del block[self.moved(self.stop) :]
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
        """Make sure that every source leads to a result whatever the data, and by no other name."""
        for x in self.leaves.sources:
            if y not in must_reach(ir.Kernel([], [*self.record, *extra], []), [x]):
                raise Followed("a derivative by a value on which the target may not depend")
        if any(read_after(self.record, copy, original) for original, copy in self.tape.originals):
            raise Unsupported("a value that a GradientTape watches by one name, and its block reads by another")

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
            self.block = renamed([*self.record[start:], *extra], names)
            return names.get(y, y)
        part = slice(self.moved(self.first + start), self.moved(self.stop))
        self.block = [*block[part], *extra]
        del block[part]
        return y

    def handed_back(self, extra: list[ir.Stmt], y: Any) -> list[Any]:
        """The gradient of a number by each operand, as the program gets it."""
        sources, builder = self.leaves.sources, self.builder
        return [handed_back(builder, g, y.var, width_of(builder, x)) for g, x in zip(self.gradients(extra, y), sources)]

    def gradients(self, extra: list[ir.Stmt], y: Any) -> list[Any]:
        """The same as it was found."""
        if y.__class__ is not Sym or y.kind != FLOAT:
            raise Unsupported("the gradient of a value that the GradientTape does not follow")
        self.surely(extra, y.var)
        body = [*self.record, *extra]
        start = self.forward_part()
        most = MANY if has_reverse(body) else few(self.machine)
        if start is None and self.leaves.total <= most and not ruled(body):
            return self.one_by_one(extra, y)
        if start is not None and self.leaves.total <= most and not ruled(body) and not rounds(self.machine, body):
            y = Sym(self.builder, self.take(start, extra, y.var))
            tangent = self.pushed(y.var, self.basis(), self.along())
            return self.slopes(y, tangent.of(y.var))
        if surrounded(self.machine) and stands_alone(body if start is None else body[start:]):
            # What is differentiated around this must find its way through the sweep.
            if start is not None:
                return self.swept_apart(Sym(self.builder, self.take(start, extra, y.var)))
            if self.leaves.total > max(self.leaves.sizes):
                return self.one_by_one(extra, y)
        # A sweep takes back what loops have changed in place.
        self.copied |= overwrites(body)
        sources = self.leaves.sources
        if self.copied and any(defines(s, sources) for s in self.record):
            start = self.forward_part()
            if start is None:
                raise Unsupported("derivatives of a GradientTape by values that depend on each other")
        y = Sym(self.builder, self.take(start if self.copied and start is not None else 0, extra, y.var))
        return self.swept(y)

    def one_by_one(self, extra: list[ir.Stmt], y: Any) -> list[Any]:
        """The gradient by each operand apart: they come one after the other."""
        found: list[Any] = []
        self.copied = True
        for x in self.leaves.sources:
            self.leaves = Leaves([x])
            found += self.gradients(extra, y)
        return found

    def jacobian(self, y: Lazy) -> list[Any]:
        """d y / d operand, for each operand."""
        builder, lanes = self.builder, self.leaves.total
        assert y.stored is not None
        self.surely([], y.stored)
        start = self.forward_part()
        many = y.stored.size > MANY_ROWS
        together = lanes <= MANY or (many and can_write_out(self.record[start:], lanes))
        if start is not None and together and not ruled(self.record):
            stored = self.take(start, [], y.stored)
            tangent = self.pushed(stored, self.basis(), self.along())
            return self.columns(stored, tangent)
        if many:
            raise Unsupported("a Jacobian by this many numbers inside the program")
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
                    builder.append(ir.Store(block, k, raw(handed_back(builder, g, row.var))))
                    continue

                def copy(i: Sym, block: Array = block, g: Lazy = g, start: int = k * size, y: Var = row.var) -> None:
                    assert g.stored is not None
                    value = handed_back(builder, builder.load(g.stored, raw(i)), y)
                    builder.append(ir.Store(block, raw(builder.integer("add", i, start)), value.var))

                builder.count(size, copy)
        return [builder.stored(block) for block in blocks]
