"""A block of a kernel differentiated where it stands: its statements replaced by themselves and their derivatives."""

from __future__ import annotations

from functools import reduce

from ...core.state import STATE
from ...ops.registry import NAMES
from .. import ir
from ..built import UNFINITE, Noted
from ..differentiation.activity import active_set
from ..differentiation.adjoint import Adjoint
from ..differentiation.bare import Asked
from ..differentiation.must_reach import surely_reached_inside
from ..differentiation.products import CONVERSE, fresh
from ..differentiation.renaming import renamed
from ..differentiation.tangent import Tangent, unsure
from ..inputs import SOME
from ..ir import BOOL, FLOAT, INT, Array, Unsupported, Var
from ..passes.statements import everything
from ..passes.widths import NAMED, Levels, Precision, name_casts
from ..symbols.build import Builder
from ..symbols.regions import dissolved, ruled
from ..symbols.symbol import NUMBERS, Lazy, Sym, raw
from .custom_rules import defined
from .statements import Specialiser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Inputs that are followed in forward mode, where the code may be differentiated in its turn and where it is not.
FEW = 8
LEAST = 2
# Statements of tangents, each direction's written out, that a Jacobian may cost: a second or two of the compiler's time.
MOST_WRITTEN = 6_000
# Statements that one direction takes beside the tangents of the block: its seed, and its column.
BESIDE = 10


def few(machine: Specialiser) -> int:
    """How many inputs are followed in forward mode rather than swept for."""
    if machine.careful:
        return 0
    if machine.pattern:
        return 1
    return FEW if surrounded(machine) else LEAST


def can_write_out(block: list[ir.Stmt], lanes: int) -> bool:
    """Whether the tangents of a block in so many directions are few enough statements for a compiler."""
    return lanes <= FEW or lanes * (BESIDE + sum(1 for _ in everything(block))) <= MOST_WRITTEN


def surrounded(machine: Specialiser) -> bool:
    """Whether what is differentiated here may be differentiated in its turn."""
    return bool(machine.builder.outer or machine.derived or machine.tapes)


def stands_alone(block: list[ir.Stmt]) -> bool:
    """Whether a block may be run again beside itself, and has the derivatives of its statements."""
    changed = {s.array for s in everything(block) if isinstance(s, ir.Store | ir.AddTo | ir.Keep)}
    return not ruled(block) and changed <= defined(block)


def symbol(builder: Builder, x: Any) -> Any:
    return Sym(builder, x) if x.__class__ is Var else x


def handed_back(builder: Builder, g: Any, *like: Any) -> Any:
    """A derivative as the program gets it: its zeros have no sign; beside float32 it is one where one of others is, the value
    and the source."""
    g = as_wide(builder, g, *like)
    return g + 0.0 if g.__class__ in NUMBERS else builder.apply(NAMES["unsigned"], (g,), None)


def note_unfinite(builder: Builder, found: Any) -> None:
    """Note that one of these derivatives, an array or a list, is not finite: so is the sum of a list then."""
    noted = builder.watch.flag(Noted("", STATE.site, False, UNFINITE))

    def note(x: Any) -> None:
        difference = raw(fresh(builder, "subtract", (x, x), FLOAT))
        hit = fresh(builder, "not_equal", (difference, 0.0), BOOL)
        builder.append(ir.If(hit.var, [noted], [], []))

    if found.__class__ is Array:
        builder.count(found.size, lambda k: note(raw(builder.load(found, k))))
    else:
        note(reduce(lambda a, b: raw(fresh(builder, "add", (a, b), FLOAT)), found))


def as_wide(builder: Builder, g: Any, *like: Any) -> Any:
    """A number or an array, each element a float32 where one of some variables is, and else bare (passes/widths.py)."""
    known = [Sym(builder, x) for x in like if x.__class__ is Var and x.kind == FLOAT]
    if builder.mode != SOME or not known:
        return g
    if g.__class__ is Lazy:
        return Lazy(builder, FLOAT, g.shape, lambda index: as_wide(builder, g.element(index), *like))
    return builder.emit("as_wide", (g, *known), FLOAT)


def width_of(builder: Builder, x: Any) -> Any:
    """A variable that is a float32 where a variable, or what an array holds, is one; None for no elements."""
    if x.__class__ is not Array or builder.mode != SOME:
        return x
    return builder.load(x, 0).var if x.size else None


def copy_lane(
    builder: Builder,
    block: Array,
    tangents: Array | None,
    rows: int,
    width: int,
    column: int,
    lanes: int,
    lane: int,
    like: tuple[Any, ...],
    doubted: bool,
) -> None:
    """One lane of an array of tangents as a column of a block, as wide as others; of no array it is zeros."""

    def one(k: Sym) -> None:
        t: Any = 0.0
        if tangents is not None:
            t = builder.load(tangents, builder.integer("add", builder.integer("multiply", k, lanes), lane))
            t = unsure(builder, t) if doubted else t
        place = builder.integer("add", builder.integer("multiply", k, width), column)
        builder.append(ir.Store(block, raw(place), raw(handed_back(builder, t, *like))))

    builder.count(rows, one)


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
        raise Unsupported("a derivative by a value of this kind")
    var = Var(FLOAT, "p")
    builder.append(ir.Set(var, "copy", (raw(builder.to_float(x)),), None, None))
    return Sym(builder, var)


def seed_number(builder: Builder, t: Any, x: Any) -> Any:
    """A tangent or cotangent of a number, as wide as that is."""
    if t.__class__ is Lazy and not t.shape:
        t = t.element(())
    if t.__class__ is bool or t.__class__ not in (*NUMBERS, Sym):
        raise Unsupported("a tangent of another shape")
    return raw(as_wide(builder, builder.to_float(t), x))


def seed_array(builder: Builder, x: Array, t: Any) -> Array:
    """The same of an array."""
    if t.__class__ is Lazy and t.shape and t.shape != x.shape:
        raise Unsupported("a tangent of another shape")
    number = None if t.__class__ is Lazy and t.shape else seed_number(builder, t, None)
    array = Array(FLOAT, x.shape, "da")
    builder.append(ir.Alloc(array, False))
    seed = t if number is None else Lazy(builder, FLOAT, x.shape, lambda index: symbol(builder, number))
    builder.fill(array, as_wide(builder, seed, width_of(builder, x)))
    return array


def rounds(machine: Specialiser, block: list[ir.Stmt]) -> bool:
    """Whether a block has casts that round cotangents on their way back, where tangents would not be rounded; inside other
    derivatives tangents are better than nothing."""
    return not (machine.derived or machine.tapes) and any(
        s.__class__ is ir.Set and (s.op in NAMED or s.op in CONVERSE) for s in everything(block)
    )


def casts_named(machine: Specialiser, block: list[ir.Stmt]) -> None:
    """Call the casts in a block by what they do, as far as what stands before it tells (passes/widths.py)."""
    builder = machine.builder
    if builder.mode == SOME and any(s.__class__ is ir.Set and s.op in NAMED for s in everything(block)):
        if machine.derived or machine.tapes:
            raise Unsupported("a cast in a derivative inside another")  # what it rounds there is the outer one's to say
        whole = [s for part in (*builder.around, builder.block, block) for s in part]
        bare = {x for x in builder.parameters if x not in builder.singles}
        builder.casts |= name_casts(
            block, Levels(ir.Kernel(builder.parameters, whole, []), Precision(SOME, bare, [], []))
        )


class Leaves:
    """The variables and arrays that a block is differentiated by."""

    def __init__(self, sources: list[Any]) -> None:
        self.sources = sources
        self.sizes = [x.size if x.__class__ is Array else 1 for x in sources]
        self.total = sum(self.sizes)


class Differentiated:
    """A block with the leaves that it is differentiated by; the code comes where the builder stands."""

    machine: Specialiser
    builder: Builder
    leaves: Leaves
    block: list[ir.Stmt]
    # Whether the sweep begins with another cotangent than 1, which may be zero: then no singular point takes part.
    scaled: bool = False

    def splice(self, block: list[ir.Stmt]) -> None:
        """Put statements where the builder stands."""
        for s in block:
            self.builder.append(s)

    # --- forward ------------------------------------------------------------------------------------------------------

    def basis(self) -> dict[Any, Any]:
        """Every direction of the sources, one a lane."""
        builder, lanes = self.builder, self.leaves.total
        seeds: dict[Any, Any] = {}
        first = 0
        for x, size in zip(self.leaves.sources, self.leaves.sizes):
            if x.__class__ is Var:
                seeds[x] = [1.0 if lane == first else 0.0 for lane in range(lanes)]
            else:
                seeds[x] = array = Array(FLOAT, x.shape if lanes == 1 else (*x.shape, lanes), "da")
                builder.append(ir.Alloc(array, True))
                for i in range(size):
                    builder.append(ir.Store(array, i * lanes + first + i, 1.0))
            first += size
        return seeds

    def along(self) -> list[tuple[Any, ...]]:
        """The source that each direction of the basis goes along."""
        return [(x,) for x, size in zip(self.leaves.sources, self.leaves.sizes) for _ in range(size)]

    def pushed(self, result: Any, seeds: dict[Any, Any], along: list[tuple[Any, ...]]) -> Tangent:
        """The block with tangents, put in its place; `along` says which sources each lane goes along.

        Those of the result are to be finite: where zero meets infinity a reverse sweep may decide otherwise, as the tape
        does. Raises Unsupported where one has been."""
        if self.machine.careful:
            raise Unsupported("a tangent that is nan or infinite")
        casts_named(self.machine, self.block)
        kernel = ir.Kernel(list(self.leaves.sources), dissolved(self.block), [result])
        tangent = Tangent(kernel, seeds, len(along), True, self.builder.watch, along)
        # What is differentiated around this multiplies tangents that are zero by infinite cotangents.
        self.builder.hasty = True
        self.splice(tangent.run(self.block))
        if tangent.has(result):
            note_unfinite(self.builder, tangent.of(result) if result.__class__ is Var else tangent.dots[result])
        return tangent

    def slopes(self, y: Any, tangents: list[Any]) -> list[Any]:
        """One tangent of `y` for each direction, as one derivative for each leaf."""
        builder = self.builder
        found: list[Any] = []
        first = 0
        for x, size in zip(self.leaves.sources, self.leaves.sizes):
            part = tangents[first : first + size]
            first += size
            if x.__class__ is Var:
                found.append(symbol(builder, part[0]))
                continue
            array = Array(FLOAT, x.shape)
            builder.append(ir.Alloc(array, False))
            for i, t in enumerate(part):
                builder.append(ir.Store(array, i, t))
            found.append(builder.stored(array))
        return found

    def columns(self, stored: Array, tangent: Any) -> list[Any]:
        """The lanes of an array's tangents as blocks of a Jacobian."""
        builder, lanes = self.builder, self.leaves.total
        blocks: list[Any] = []
        first = 0
        for x, size in zip(self.leaves.sources, self.leaves.sizes):
            block = Array(FLOAT, (*stored.shape, *(x.shape if x.__class__ is Array else ())))
            builder.append(ir.Alloc(block, True))
            if tangent.has(stored) or builder.mode == SOME:
                tangents = tangent.dots[stored] if tangent.has(stored) else None
                like = width_of(builder, stored), width_of(builder, x)
                for i in range(size):
                    lane = first + i
                    doubted = tangents is not None and tangent.doubted(stored, lane)
                    copy_lane(builder, block, tangents, stored.size, size, i, lanes, lane, like, doubted)
            blocks.append(builder.stored(block))
            first += size
        return blocks

    def swept_apart(self, y: Sym) -> list[Any]:
        """The gradient by a reverse sweep, in a region that knows the derivative of the gradient.

        The block itself is put before it: what it computes besides has the derivatives of its statements.
        """
        from .second_order import GradientRule

        builder, block = self.builder, self.block
        casts_named(self.machine, block)
        self.splice(block)
        rule = GradientRule(block, y.var, self.leaves.sources)
        names: dict[Any, Any] = {}
        self.block = renamed(block, names)
        body, made = builder.nested(lambda: self.swept(Sym(builder, names.get(y.var, y.var))))
        found: list[Any] = made
        results = [x.stored if x.__class__ is Lazy else x.var for x in found]
        for s in [s for s in body if s.__class__ is ir.Alloc and s.array in results]:
            body.remove(s)
            builder.append(s)
        builder.append(ir.Region("gradient", results, rule.operands, {"rule": rule}, body, STATE.site))
        return found

    def swept(self, y: Sym) -> list[Any]:
        """The gradient by a reverse sweep."""
        builder, sources = self.builder, self.leaves.sources
        casts_named(self.machine, self.block)
        kernel = ir.Kernel(list(sources), self.block, [y.var])
        # What is found here may be differentiated in its turn: by statements, which do not share what is tied.
        again = surrounded(self.machine)
        transform = Adjoint(active_set(kernel, y.var, sources), surely_reached_inside(kernel, sources), True, again)
        if builder.mode == SOME:
            transform.widths = Asked()
        doubtful = again and ruled(self.block, True)
        body = transform.sweep(self.block, y.var, sources, True)
        self.splice([ir.Set(flag, "copy", (0,), None, None) for flag in transform.flags])
        self.splice(body)
        for noted, flag in zip(transform.noted, transform.flags):
            hit = fresh(builder, "not_equal", (flag, 0), BOOL)
            told = Noted(noted.message, noted.site, noted.certain and not (doubtful or self.scaled), noted.code)
            builder.append(ir.If(hit.var, [builder.watch.flag(told)], [], []))
        found: list[Any] = []
        for x in sources:
            if x.__class__ is Array:
                found.append(builder.stored(transform.arrays[x]))
                continue
            var = Var(FLOAT, "c")
            builder.append(ir.Set(var, "copy", (transform.bars[x],), None, None))
            found.append(Sym(builder, var))
        return found

    def zeros(self, x: Any) -> Any:
        if x.__class__ is Var:
            return 0.0
        array = Array(FLOAT, x.shape)
        self.builder.append(ir.Alloc(array, True))
        return self.builder.stored(array)
