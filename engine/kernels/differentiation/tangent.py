"""Forward mode: tangents of a kernel, by source transformation of every statement of the IR.

Beside each float that depends on a seed stand its tangents, one for each of `lanes` directions that are followed
together; an array's are kept side by side, element by element. Partials come from the rows' own formulas, applied to
symbols. The transformation takes what the adjoint makes as well (accumulators, heads, logs, reverse loops), so the
tangent of an adjoint is the kernel of Hessian-vector products.

A product with a partial is an ordinary one, so that a zero tangent beside an infinite partial is nan and not a guess:
whoever runs the kernel leaves such results to the tape, which decides them by a reverse sweep. Products of the reverse
sweep stay strong in both factors: what a branch that was not taken would contribute stays zero.
"""

from __future__ import annotations

from ...core.state import STATE
from ...ops.registry import ROWS
from .. import ir
from ..built import Noted
from ..ir import FLOAT, INT, Array, Stack, Stmt, Unsupported, Var
from ..passes.statements import everything
from ..symbols.build import Builder
from ..symbols.regions import COMPARING, dissolved, moved_by_rule, without
from ..symbols.symbol import Lazy, Sym, raw
from ..symbols.watch import Watch
from .activity import dependencies, inert, reach
from .adjoint import Adjoint
from .cotangents import differentiable
from .must_reach import surely_reached_inside
from .products import CONVERSE, chosen, fresh, symbol_of
from .transposed import tangents_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from ...core.operation import Singular


def varied_set(kernel: ir.Kernel, seeds: Iterable[Any]) -> set[Any]:
    """What has a tangent that may differ from zero: rows that are constant piece by piece end the way."""
    return reach(dependencies(kernel, steps=False), seeds)


def unsure(builder: Builder, x: Any) -> Sym:
    """A value of which nobody is certain that it is connected to anything."""
    return fresh(builder, "unsure", (x,), FLOAT)


def changing(block: list[Stmt]) -> set[Var]:
    """The variables that are added to or set more than once: what reads them is never shared."""
    sets: dict[Var, int] = {}
    found: set[Var] = set()

    for s in everything(block):
        if s.__class__ is ir.Set:
            sets[s.var] = sets.get(s.var, 0) + 1
        elif s.__class__ is ir.Accumulate:
            found.add(s.var)
    return found | {var for var, times in sets.items() if times > 1}


class Tangent:
    """The transformation of one kernel.

    `seeds` gives the tangents of sources: `lanes` operands for a scalar, one array of shape (*shape, lanes) for an
    array (of the array's own shape for one lane). `again` says that the result is to be differentiated once more, which
    a value chosen at a singular point must allow for. With `watch`, the singular points that are met are noted, as ones
    that only the tape can tell about: it is the sweep back that knows which of them take part.

    `along` says, where the tangents become a part of a program, which sources each lane goes along. A tape would multiply
    nothing by the tangent of what does not depend on these, so there is no such product here either (`lacks`), and none
    that is certain where it is not certain that there is one on the tape (`doubted`).
    """

    def __init__(
        self,
        kernel: ir.Kernel,
        seeds: dict[Any, Any],
        lanes: int = 1,
        again: bool = False,
        watch: Watch | None = None,
        along: Sequence[tuple[Any, ...]] | None = None,
    ) -> None:
        self.lanes = lanes
        # By lane: what has a tangent there, and what has one on every path through the program.
        self.moved: list[set[Any]] | None = None
        self.surely: list[set[Any]] = []
        # Whether an array of tangents holds those along several sources, of which a tape has a tensor each.
        self.several = False
        if along is not None:
            ways = set(along)
            moved = {sources: varied_set(kernel, sources) for sources in ways}
            surely = {sources: surely_reached_inside(kernel, sources)[0] for sources in ways}
            self.several = len(ways) > 1
            self.moved = [moved[sources] for sources in along]
            self.surely = [surely[sources] for sources in along]
        self.again = again
        self.watch = watch
        self.followed = reach(dependencies(kernel), {*seeds, *inert(kernel)}) if watch is not None else set()
        self.varied = self.varying(kernel, seeds)
        self.changing = changing(kernel.body)
        self.builder = Builder()
        self.dots: dict[Any, Any] = dict(seeds)
        # The lengths of the tangents' logs, beside those of the arrays' logs, and the heads of these: a log that nothing
        # takes back any more goes, whatever becomes of the other.
        self.marks: dict[Any, Any] = {}
        # Rows that stay what they are, inside a program that is differentiated in its turn.
        self.untouched: set[ir.Region] = set()
        # Variables, arrays and logs beside which their tangents stand already (taylor.py).
        self.settled: set[Any] = set()

    def varying(self, kernel: ir.Kernel, seeds: Iterable[Any]) -> set[Any]:
        """What has tangents."""
        return varied_set(kernel, seeds)

    def run(self, block: list[Stmt]) -> list[Stmt]:
        """The statements with their tangents."""
        found = without(self.builder.nested(lambda: self.block(block))[0], lambda s: s not in self.untouched)
        return [*self.builder.root, *found]  # at the root are the arrays that are constants

    def block(self, block: list[Stmt]) -> None:
        site = STATE.site
        for s in block:
            STATEMENTS[s.__class__](self, s)
        STATE.site = site

    def nested(self, block: list[Stmt]) -> list[Stmt]:
        return self.builder.nested(lambda: self.block(block))[0]

    # --- tangents of operands -----------------------------------------------------------------------------------------

    def has(self, x: Any) -> bool:
        return x.__class__ in (Var, Array, Stack) and x in self.varied

    def of(self, x: Any) -> list[Any]:
        """The tangents of an operand, one for each lane."""
        found: list[Any] = self.dots[x] if self.has(x) else [0.0] * self.lanes
        if self.moved is not None and self.has(x):
            found = [0.0 if self.lacks(x, lane) else t for lane, t in enumerate(found)]
        return found

    def lacks(self, x: Any, lane: int) -> bool:
        """Whether an operand has no tangent in a lane, whatever path the program takes."""
        return self.moved is not None and x not in self.moved[lane]

    def doubted(self, x: Any, lane: int) -> bool:
        """Whether it depends on the path that the program takes whether an operand has a tangent in a lane."""
        return self.moved is not None and (x not in self.surely[lane] or (self.several and x.__class__ is Array))

    def factor(self, p: Any, x: Any, lane: int) -> Any:
        """What the tangent of `x` in a lane is multiplied by."""
        if raw(p).__class__ is not Var or raw(p).kind != FLOAT or not self.doubted(x, lane):
            return p
        return unsure(self.builder, p)

    def define(self, x: Any) -> Any:
        """The tangents of a variable or array that is about to be set: new ones, or those that it has."""
        if x not in self.dots:
            if x.__class__ is Array:
                shape = x.shape if self.lanes == 1 else (*x.shape, self.lanes)
                self.dots[x] = Array(FLOAT, shape, "da", x.role)
                self.dots[x].grown = x.grown
                if self.moved is not None:
                    self.dots[x].mixed = x.mixed  # of a list each element has a tangent of its own, or none
            elif x.__class__ is Stack:
                self.dots[x] = [Stack(FLOAT) for _ in range(self.lanes)]
            else:
                self.dots[x] = [Var(FLOAT, "d") for _ in range(self.lanes)]
        return self.dots[x]

    def place(self, index: Any, lane: int) -> Any:
        """Where the tangent of an element is."""
        return self.place_in(self.builder, index, lane)

    def place_in(self, builder: Builder, index: Any, lane: int) -> Any:
        """The same in code of another builder."""
        index = raw(index)
        if self.lanes == 1:
            return index
        if index.__class__ is int:
            return index * self.lanes + lane
        first = builder.emit("multiply", (Sym(builder, index), self.lanes), INT)
        return raw(first if lane == 0 else builder.emit("add", (first, lane), INT))

    # --- statements ---------------------------------------------------------------------------------------------------

    def set(self, s: ir.Set) -> None:
        self.computed(s)
        if self.watch is not None:
            self.doubt(s, self.watch)
        self.differentiated(s)

    def stays(self, s: ir.Set) -> bool:
        """Whether what a statement says holds as long as its variable is there."""
        return s.var not in self.changing and not any(a in self.changing for a in s.args if a.__class__ is Var)

    def computed(self, s: ir.Set) -> None:
        """The statement itself: the formulas of the partials find what the program computes anyway."""
        builder = self.builder
        STATE.site = s.site if s.site is not None else STATE.site
        builder.append(s)
        if self.stays(s):
            symbols = tuple(Sym(builder, a) if a.__class__ is Var else a for a in s.args)
            builder.remember((builder.key(s.op, symbols, s.attributes), None), Sym(builder, s.var))

    def differentiated(self, s: ir.Set) -> None:
        if s.op == "opaque":
            raise Unsupported("a tangent through a custom_gradient whose rule is not linear, or for tensors")
        builder, shared = self.builder, self.stays(s)
        STATE.site = s.site if s.site is not None else STATE.site
        if self.has(s.var):
            if not shared:
                builder.memos.append({})
            try:
                self.give(s.var, shared, lambda: self.tangents(s))
            finally:
                if not shared:
                    builder.memos.pop()

    def give(self, x: Var, shared: bool, tangents: Callable[[], list[Any]]) -> None:
        """Let a variable have tangents; `shared` says that it is set once, of operands that are."""
        for var, value in zip(self.define(x), tangents()):
            zero = value.__class__ is float and value == 0.0
            made = ir.Set(var, "zero", (), None, None) if zero else ir.Set(var, "copy", (raw(value),), None, None)
            self.builder.append(made)

    def doubt(self, s: ir.Set, watch: Watch) -> None:
        """Note the singular points of a row whose inputs are followed."""
        row = ROWS.get(s.op)
        if row is None or not row.singular or row.derivative not in ("partials", "zero"):
            return
        builder = self.builder
        symbols = tuple(Sym(builder, a) if a.__class__ is Var else a for a in s.args)
        builder.memos.append({})
        for spot in row.singular:
            # What is constant piece by piece jumps whichever operand moves.
            moving = s.args if row.derivative == "zero" else (s.args[spot.input],)
            if any(x in self.followed for x in moving):
                mask = spot.where(*symbols)
                if mask is True:
                    builder.append(watch.flag(Noted(spot.message, s.site, False)))
                elif mask.__class__ is Sym:
                    builder.append(ir.If(mask.var, [watch.flag(Noted(spot.message, s.site, False))], [], []))
        builder.memos.pop()

    def tangents(self, s: ir.Set) -> list[Any]:
        """The tangents of a row's result."""
        builder = self.builder
        if s.op == "inert":
            return [0.0] * self.lanes
        if s.op in ("zero", "copy", "to_float", "to_single", "strong"):
            return self.of(s.args[0]) if s.args else [0.0] * self.lanes
        if s.op == "unsure":
            return [t if t.__class__ is float else unsure(builder, t) for t in self.of(s.args[0])]
        if s.op in CONVERSE or s.op == "as_wide":
            return [fresh(builder, s.op, (t, *s.args[1:]), FLOAT) for t in self.of(s.args[0])]
        if s.op == "where_select":
            sides = zip(self.of(s.args[1]), self.of(s.args[2]))
            return [fresh(builder, "where_select", (s.args[0], a, b), FLOAT) for a, b in sides]
        if s.op == "strong_multiply":
            g, p = s.args
            totals: list[Any] = [None] * self.lanes
            for lane in range(self.lanes):
                if self.has(g) and not self.lacks(g, lane):
                    by = self.factor(p, g, lane)
                    totals[lane] = fresh(builder, "strong_multiply", (self.of(g)[lane], by), FLOAT)
                if self.has(p) and not self.lacks(p, lane):
                    by = self.factor(g, p, lane)
                    term = fresh(builder, "strong_multiply", (by, self.of(p)[lane]), FLOAT)
                    totals[lane] = self.sum(totals[lane], term)
            return [0.0 if total is None else total for total in totals]
        if s.op == "sloped":
            value, x, slope = s.args
            factor = Sym(builder, slope) if slope.__class__ is Var else slope
            return [t if self.lacks(x, lane) else self.sum(t, self.product(d, self.factor(factor, x, lane)))
                    for lane, (t, d) in enumerate(zip(self.of(value), self.of(x)))]  # fmt: skip
        row = differentiable(s)
        if row.derivative != "partials":
            raise Unsupported(f"the derivative of {row.name}", s.site)
        symbols = tuple(Sym(builder, a) if a.__class__ is Var else a for a in s.args)
        y = Sym(builder, s.var)
        totals = [None] * self.lanes
        for k, x in enumerate(s.args):
            formula = row.partials[k]
            if formula is None or not self.has(x):
                continue
            p = formula(y, *symbols, **(s.attributes or {})) if callable(formula) else formula
            for spot in row.singular:
                if spot.input == k:
                    p = chosen(builder, spot, spot.where(*symbols), p, symbols, self.again)
            totals = [
                total if self.lacks(x, lane) else self.sum(total, self.product(t, self.factor(p, x, lane)))
                for lane, (total, t) in enumerate(zip(totals, self.of(x)))
            ]
        return [0.0 if total is None else total for total in totals]

    def sum(self, a: Any, b: Any) -> Any:
        return b if a is None else self.made("add", (a, b))

    def product(self, t: Any, p: Any) -> Any:
        if p.__class__ in (int, float):
            if p == 1:
                return t
            if p == -1:
                return self.made("negative", (t,))
        return self.made("multiply", (t, self.builder.to_float(p)))

    def made(self, op: str, args: tuple[Any, ...]) -> Any:
        """A part of a tangent."""
        return fresh(self.builder, op, args, FLOAT)

    def load(self, s: ir.Load) -> None:
        self.builder.append(s)
        if self.has(s.array):
            for lane, var in enumerate(self.define(s.var)):
                if self.lacks(s.array, lane):
                    self.builder.append(ir.Set(var, "zero", (), None, None))
                else:
                    # The elements of a list may have tangents or not, each of its own.
                    read = Var(FLOAT) if self.doubted(s.array, lane) or self.doubted(s.var, lane) else var
                    self.builder.append(ir.Load(read, self.dots[s.array], self.place(s.index, lane)))
                    if read is not var:
                        self.builder.append(ir.Set(var, "unsure", (read,), None, None))

    def alloc(self, s: ir.Alloc) -> None:
        self.builder.append(s)
        if self.has(s.array):
            self.builder.append(ir.Alloc(self.define(s.array), s.zero))

    def store(self, s: ir.Store) -> None:
        self.builder.append(s)
        if self.has(s.array):
            for lane, t in enumerate(self.of(s.value)):
                self.builder.append(ir.Store(self.dots[s.array], self.place(s.index, lane), t))

    def routine(self, s: ir.Routine) -> None:
        self.builder.append(s)
        if self.has(s.array):
            from ..operations.routines import follow

            rules, _ = self.builder.nested(lambda: follow(self, s))
            self.builder.block.extend(dissolved(rules))

    def add_to(self, s: ir.AddTo) -> None:
        self.builder.append(s)
        if self.has(s.value) and self.has(s.array):
            for lane, t in enumerate(self.of(s.value)):
                self.builder.append(ir.AddTo(self.dots[s.array], self.place(s.index, lane), t))

    def accumulate(self, s: ir.Accumulate) -> None:
        self.builder.append(s)
        if self.has(s.value) and self.has(s.var):
            for var, t in zip(self.dots[s.var], self.of(s.value)):
                self.builder.append(ir.Accumulate(var, t))

    def open_log(self, s: ir.OpenLog) -> None:
        self.builder.append(s)
        if self.has(s.array):
            self.builder.append(ir.OpenLog(self.dots[s.array]))

    def keep(self, s: ir.Keep) -> None:
        self.builder.append(s)
        if self.has(s.array):
            for lane in range(self.lanes):
                self.builder.append(ir.Keep(self.dots[s.array], self.place(s.index, lane)))

    def take_back(self, s: ir.TakeBack) -> None:
        self.builder.append(s)
        if self.has(s.array):
            self.builder.block.extend(ir.TakeBack(self.dots[s.array]) for _ in range(self.lanes))

    def rewind(self, s: ir.Rewind) -> None:
        self.builder.append(s)
        if self.has(s.array):
            self.builder.append(ir.Rewind(self.dots[s.array], self.marks[s.value]))

    def mark(self, s: ir.Mark) -> None:
        self.builder.append(s)
        if self.has(s.array):
            self.marks[s.var] = Var(INT)
            self.builder.append(ir.Mark(self.marks[s.var], self.dots[s.array]))

    def region(self, s: ir.Region) -> None:
        """The statements of a row; the singular points of one with a rule are those that the rule knows of, if any."""
        if s.pairs is not None and s.row in ROWS and ROWS[s.row].derivative == "partials":
            self.region_of_pairs(s)
            return
        if self.watch is None and moved_by_rule(s):
            self.region_by_rule(s)
            return
        if self.watch is None or s.row not in ROWS or ROWS[s.row].derivative != "rule":
            self.block(dissolved(s.body))
            return
        if self.followed.isdisjoint(s.operands):
            # What is differentiated around this goes by the row's rule.
            self.builder.append(s)
            self.untouched.add(s)
            return
        if s.row in COMPARING:
            self.region_by_rule(s)
        else:
            watch, self.watch = self.watch, None
            self.block(dissolved(s.body))
            self.watch = watch
        self.builder.block.extend(Asked(s, self.followed, self.watch).statements)

    def region_by_rule(self, s: ir.Region) -> None:
        """A row whose tangents are what its rule says, whatever its statements choose; and what is differentiated around
        it in its turn goes by the rule, too."""
        builder = self.builder
        if self.watch is None:
            builder.block.extend(dissolved(s.body))
        else:
            builder.append(s)
            self.untouched.add(s)
        moved = [x for x in dict.fromkeys(s.operands) if self.has(x)]
        dots = [self.define(x) for x in s.results if self.has(x)]
        if not moved or not dots:
            return
        builder.memos.append({})
        for lane in range(self.lanes):
            part = [x for x in moved if not self.lacks(x, lane)]

            def element(x: Any, lane: int = lane) -> Callable[[Builder, Any], Any]:
                if x.__class__ is Var:
                    t = self.of(x)[lane]
                    return lambda inner, place: Sym(inner, t) if t.__class__ is Var else t
                return lambda inner, place: inner.load(self.dots[x], self.place_in(inner, place, lane))

            found = tangents_of(builder, s, {x: element(x) for x in part}, self.again)
            op = "unsure" if any(self.doubted(x, lane) for x in part) else "copy"
            for x, t in zip(s.results, found):
                if x.__class__ is Var:
                    builder.append(ir.Set(self.dots[x][lane], op, (t,), None, None))
                    continue

                def keep(i: Sym, x: Array = x, t: Array = t, lane: int = lane, op: str = op) -> None:
                    value = fresh(builder, op, (builder.load(t, raw(i)),), FLOAT)
                    builder.append(ir.Store(self.dots[x], self.place(raw(i), lane), value.var))

                builder.count(x.size, keep)
        builder.memos.pop()

    def region_of_pairs(self, s: ir.Region) -> None:
        """A row on complex numbers: its tangents by its own partials, which hold where the formula of its value parts."""
        from ..symbols.pairs import Pair, of_operand, pair_of, paired

        assert s.pairs is not None
        builder, row = self.builder, ROWS[s.row]
        STATE.site = s.site if s.site is not None else STATE.site
        builder.block.extend(dissolved(s.body))
        if not any(map(self.has, s.results)):
            return
        for x in s.results:
            self.define(x)
        builder.memos.append({})
        (y,) = paired(tuple(symbol_of(builder, x) for x in s.results), s.pairs[0], builder)
        flat = tuple(symbol_of(builder, x) if x.__class__ is Var else x for x in s.operands)
        operands = tuple(paired(flat, s.pairs[1], builder))
        totals: list[Any] = [None] * self.lanes
        doubtful: set[int] = set()
        for k, formula in enumerate(row.partials):
            parts = of_operand(s.operands, s.pairs[1], k)
            if formula is None or not any(map(self.has, parts)):
                continue
            p = formula(y, *operands, **(s.attributes or {})) if callable(formula) else formula
            for spot in row.singular:
                if spot.input == k:
                    p = chosen(builder, spot, spot.where(*operands), p, operands, self.again)
            p = pair_of(builder, p)
            for lane, dots in enumerate(zip(*map(self.of, parts))):
                if all(self.lacks(x, lane) for x in parts):
                    continue
                if any(self.doubted(x, lane) for x in parts):
                    doubtful.add(lane)
                known = [symbol_of(builder, x) if x.__class__ is Var else x for x in dots]
                t = Pair(builder, *known) if len(known) == 2 else known[0]
                term = builder.apply(ROWS["multiply"], (p, t), None)
                totals[lane] = term if totals[lane] is None else totals[lane] + term
        for lane, total in enumerate(totals):
            total = 0.0 if total is None else total
            for x, part in zip(s.results, ("re", "im")):
                value = getattr(pair_of(builder, total), part)
                op = "unsure" if lane in doubtful else "copy"
                builder.append(ir.Set(self.dots[x][lane], op, (raw(builder.to_float(value)),), None, None))
        builder.memos.pop()

    def as_it_is(self, s: Stmt) -> None:
        self.builder.append(s)

    def loop(self, s: ir.Loop) -> None:
        for phi, _, _ in s.carried:
            if self.has(phi):
                self.define(phi)
        stacks: dict[Var, Stack] = {}
        for phi, stack in s.stacks.items():
            stacks[phi] = stack
            if self.has(stack) and stack not in self.settled:
                stacks.update(zip(self.dots[phi], self.define(stack)))
        body = self.nested(s.body)
        carried: list[tuple[Var, Any, Any]] = []
        for phi, initial, following in s.carried:
            carried.append((phi, initial, following))
            if phi in self.settled:
                continue
            if self.has(phi):
                carried.extend(zip(self.dots[phi], self.of(initial), self.of(following)))
            elif following in self.marks:
                own = self.marks[phi] = Var(INT, "l")
                carried.append((own, self.marks[initial], self.marks[following]))
                if phi in s.stacks:
                    stacks[own] = self.marks[s.stacks[phi]] = Stack(INT)
        self.builder.append(s.replace(body=body, carried=carried, stacks=stacks))

    def reverse_loop(self, s: ir.ReverseLoop) -> None:
        restore: list[tuple[Var, Stack]] = []
        for phi, stack in s.restore:
            restore.append((phi, stack))
            if phi in self.settled:
                continue
            if self.has(stack):
                restore.extend(zip(self.define(phi), self.dots[stack]))
            elif stack in self.marks:
                self.marks[phi] = Var(INT, "r")
                restore.append((self.marks[phi], self.marks[stack]))
        body = self.nested(s.body)
        self.builder.append(s.replace(restore=restore, body=body))

    def if_(self, s: ir.If) -> None:
        then, orelse = self.nested(s.then), self.nested(s.orelse)
        merges: list[tuple[Var, Any, Any]] = []
        for var, a, b in s.merges:
            merges.append((var, a, b))
            if self.has(var) and var not in self.settled:
                merges.extend(zip(self.define(var), self.of(a), self.of(b)))
        self.builder.append(ir.If(s.condition, then, orelse, merges))


class Asked(Adjoint):
    """A row's rule asked, with cotangents of one, for the singular points where it stands: no derivative is taken.

    `statements` find them, and note them as ones that only the tape can tell about.
    """

    def __init__(self, s: ir.Region, followed: set[Any], watch: Watch) -> None:
        active = {*s.results, *(x for x in s.operands if x.__class__ in (Var, Array) and x in followed)}
        super().__init__(active, (set(), {}), several=True)
        self.watch = watch
        found, _ = self.builder.nested(lambda: self.ask(s))
        self.statements = [*self.builder.root, *found]

    def ask(self, s: ir.Region) -> None:
        for x in s.results:
            if x.__class__ is Array:
                ones = self.array_of(x)
                self.builder.fill(ones, Lazy(self.builder, FLOAT, x.shape, lambda index: 1.0))
            else:
                self.bars[x] = Var(FLOAT, "b")
                self.builder.append(ir.Set(self.bars[x], "copy", (1.0,), None, None))
        self.reverse_region(s)

    def met(self, spot: Singular, mask: Any, matters: Any) -> None:
        """Note a singular point where it is: tangents pass."""
        assert self.region is not None
        flag = self.watch.flag(Noted(spot.message, self.region.site, False))

        def mark(hit: Any) -> None:
            if hit.__class__ is Sym:
                self.builder.append(ir.If(hit.var, [flag], [], []))
            elif hit:
                self.builder.append(flag)

        if mask.__class__ is Lazy:
            self.builder.each(mask.shape, lambda index: mark(mask.element(index)))
        else:
            mark(mask)

    def give_all(self, x: Any, c: Any) -> None:
        """Nothing: the cotangents are not wanted."""


STATEMENTS: dict[type, Any] = {
    ir.Region: Tangent.region,
    ir.Set: Tangent.set,
    ir.Load: Tangent.load,
    ir.Check: Tangent.as_it_is,
    ir.Alloc: Tangent.alloc,
    ir.Constant: Tangent.as_it_is,
    ir.Store: Tangent.store,
    ir.OpenLog: Tangent.open_log,
    ir.Keep: Tangent.keep,
    ir.Mark: Tangent.mark,
    ir.TakeBack: Tangent.take_back,
    ir.Rewind: Tangent.rewind,
    ir.Routine: Tangent.routine,
    ir.AddTo: Tangent.add_to,
    ir.Accumulate: Tangent.accumulate,
    ir.Loop: Tangent.loop,
    ir.ReverseLoop: Tangent.reverse_loop,
    ir.If: Tangent.if_,
}
