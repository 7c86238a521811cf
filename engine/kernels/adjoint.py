"""The adjoint of a kernel, by source transformation.

The forward code runs first; loops keep the values they carry at the head of each iteration. The reverse code walks the
statements backwards; for a loop it takes the iterations in reverse, loads the heads, runs the body again (keeping the
heads of loops inside it) and then the body's adjoint. Every cotangent is one scalar accumulator, every array has one
array of cotangents; partials come from the rows' own formulas, applied to symbols.

A loop that only sums what its iterations give needs no reverse sweep: the cotangent of each of its terms is known
before it starts, and an iteration's adjoint follows the iteration itself (`streamed`).
"""

from __future__ import annotations

from ..autodiff.pullback import given, singular_notice
from ..core.state import STATE
from ..ops.registry import ROWS
from . import ir
from .activity import active_set, surely_reached
from .arrays import view
from .bodies import (
    arrays_made,
    marks,
    read_from_outside,
    stored_arrays,
    touched_arrays,
    without_stores,
    worth_a_slope,
)
from .build import Builder, Lazy, Sym, pick, raw
from .built import Noted
from .checkpoint import Checkpointed
from .dear import from_memory
from .ir import BOOL, FLOAT, Array, Stack, Stmt, Unsupported, Var
from .products import chosen, fresh, product, symbol_of
from .regions import dissolved
from .statements import changes, operands
from .watch import Watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from ..core.operation import Singular
    from ..core.state import Site
    from .dear import Kept


def adjoint(
    kernel: ir.Kernel,
    result: Var,
    sources: list[Any],
    again: bool = False,
    watch: Watch | None = None,
    kept: Kept | None = None,
) -> tuple[ir.Kernel, list[Noted]]:
    """A kernel that gives `result` and the cotangents of `sources` (scalar variables or input arrays), seeded with 1.

    With it come the singular points it watches; their flags are the kernel's last result, an array that is there only
    if there are any. `again` says that the kernel is to be differentiated in its turn; `watch` holds what the program
    itself watches, and `kept` the values that its loops have stored.
    """
    watch = watch or Watch()
    transform = Adjoint(active_set(kernel, result, sources), surely_reached(kernel, sources)[1], again)
    transform.kept = dict(kept or {})
    body = transform.sweep(kernel.body, result, sources)
    results: list[Any] = [result]
    for s in sources:
        results.append(transform.bars[s] if s.__class__ is Var else transform.arrays[s])
    whole = watch.given(ir.Kernel(kernel.parameters, body, results), transform.noted, transform.flags)
    return whole, watch.noted


class Adjoint:
    def __init__(self, active: set[Any], certain: set[Any], again: bool = False) -> None:
        self.active = active
        self.certain = certain
        self.again = again
        self.builder = Builder()
        self.builder.meets = self.met
        self.region: ir.Region | None = None  # whose rule is being applied
        self.bars: dict[Var, Var] = {}
        self.arrays: dict[Array, Array] = {}
        # Where a renamed variable of a repeated body comes from, so that its activity is known.
        self.origin: dict[Any, Any] = {}
        # One flag per singular point of the program: how often it is hit by a cotangent that is not zero. A sum is
        # what a loop can collect in without a branch.
        self.flags: list[Var] = []
        self.noted: list[Noted] = []
        # Of the statement at hand: flags, with the masks by which they have been raised.
        self.told: set[tuple[Var, Any]] = set()
        # Where an iteration's derivative is found for a cotangent of 1: the cotangent that it is to be multiplied by,
        # and what belongs to the iteration alone.
        self.scale: Sym | None = None
        self.inside: set[Any] = set()
        # Values that need not be computed again, here and in repeated bodies.
        self.kept: Kept = {}
        # Heads of the loops being streamed: their cotangents are what the loop's results have.
        self.unchanged: set[Any] = set()
        # How deep in loops and branches, and what the heads of the loops outside of any may take, in bytes.
        self.depth = 0
        self.budget = STATE.checkpoint

    def sweep(self, block: list[Stmt], result: Var, sources: list[Any]) -> list[Stmt]:
        """A block and the sweep back from `result`, which leaves the cotangents of sources in `bars` and `arrays`."""
        forward = self.keep_heads(block, True)

        def clear() -> None:
            self.clear_scalars([s for s in sources if s.__class__ is Var])
            for s in sources:
                if s.__class__ is Array:
                    self.array_of(s)
            self.clear_block(forward)

        def seed() -> None:
            if result in self.active:
                self.builder.append(ir.Accumulate(self.bars[result], 1.0))

        body = dissolved(self.there_and_back(forward, clear, seed))
        return [*self.builder.root, *body]  # at the root are the arrays that are constants

    def is_active(self, x: Any) -> bool:
        return x.__class__ in (Var, Array) and self.origin.get(x, x) in self.active

    # --- forward ----------------------------------------------------------------------------------------------------

    def keep_heads(self, block: list[Stmt], keep: bool) -> list[Stmt]:
        """A copy of the code whose outermost loops keep their heads."""
        copied: list[Stmt] = []
        for s in block:
            if s.__class__ is ir.Loop:
                stacks = {phi: Stack(phi.kind) for phi, _, _ in s.carried} if keep else {}
                copied.append(s.replace(body=self.keep_heads(s.body, False), stacks=stacks))
            elif s.__class__ is ir.If:
                copied.append(
                    ir.If(s.condition, self.keep_heads(s.then, keep), self.keep_heads(s.orelse, keep), s.merges)
                )
            else:
                copied.append(s)
        return copied

    def renamed(self, block: list[Stmt], names: dict[Any, Any]) -> list[Stmt]:
        """A copy of a body for the reverse sweep, with variables of its own; index checks are not repeated."""

        def new(x: Any) -> Any:
            if x.__class__ in (Var, Array):
                return names.get(x, x)
            return x

        def define(x: Any) -> Any:
            made = Var(x.kind, "r") if x.__class__ is Var else Array(x.kind, x.shape, "ra", x.role)
            names[x] = made
            self.origin[made] = self.origin.get(x, x)
            return made

        copied: list[Stmt] = []
        for s in block:
            if s.__class__ is ir.Set:
                args = tuple(new(a) for a in s.args)
                copied.append(ir.Set(define(s.var), s.op, args, s.site, s.attributes))
                if s.var in self.kept:
                    array, place = self.kept[s.var]
                    self.kept[names[s.var]] = (array, new(place))
            elif s.__class__ is ir.Load:
                array, index = new(s.array), new(s.index)
                copied.append(ir.Load(define(s.var), array, index))
            elif s.__class__ is ir.Check:
                continue
            elif s.__class__ is ir.OpenLog:
                copied.append(ir.OpenLog(new(s.array)))
            elif s.__class__ is ir.Keep:
                copied.append(ir.Keep(new(s.array), new(s.index)))
            elif s.__class__ is ir.Mark:
                array = new(s.array)
                copied.append(ir.Mark(define(s.var), array))
            elif s.__class__ is ir.Alloc:
                copied.append(ir.Alloc(define(s.array), s.zero))
            elif s.__class__ is ir.Routine:
                copied.append(ir.Routine(new(s.array), 0, new(s.value), s.name, s.rows, s.columns))
            elif isinstance(s, ir.Store | ir.AddTo):
                copied.append(s.__class__(new(s.array), new(s.index), new(s.value)))
            elif s.__class__ is ir.Region:
                operands = tuple(map(new, s.operands))
                body = self.renamed(s.body, names)
                copied.append(s.replace(results=list(map(new, s.results)), operands=operands, body=body))
            elif s.__class__ is ir.Loop:
                start, stop, step = new(s.start), new(s.stop), new(s.step)
                initials = [new(initial) for _, initial, _ in s.carried]
                phis = [define(phi) for phi, _, _ in s.carried]
                index = None if s.index is None else define(s.index)
                test = None if s.test is None else self.renamed(s.test, names)
                condition = new(s.condition)
                body = self.renamed(s.body, names)
                carried = [(p, i, new(f)) for p, i, (_, _, f) in zip(phis, initials, s.carried)]
                stacks = {names[phi]: Stack(phi.kind) for phi in s.stacks}
                copied.append(
                    s.replace(
                        index=index, start=start, stop=stop, step=step, test=test, condition=condition, carried=carried,
                        body=body, stop_when=new(s.stop_when), stacks=stacks, trips=define(s.trips),
                    )
                )  # fmt: skip
            elif s.__class__ is ir.If:
                condition = new(s.condition)
                then, orelse = self.renamed(s.then, names), self.renamed(s.orelse, names)
                sides = [(new(a), new(b)) for _, a, b in s.merges]
                copied.append(
                    ir.If(condition, then, orelse, [(define(v), a, b) for (v, _, _), (a, b) in zip(s.merges, sides)])
                )
            else:
                raise Unsupported("differentiating a kernel of this kind")
        return copied

    # --- cotangents -------------------------------------------------------------------------------------------------

    def clear_scalars(self, variables: list[Var]) -> None:
        """Cotangents of zero for variables."""
        for v in variables:
            bar = Var(FLOAT, "b")
            self.bars[v] = bar
            self.builder.append(ir.Set(bar, "zero", (), None, None))

    def array_of(self, array: Array) -> Array:
        """The array of cotangents of an array, zero at first."""
        bar = Array(FLOAT, array.shape, "ab")
        self.arrays[array] = bar
        self.builder.append(ir.Alloc(bar, True))
        return bar

    def clear_block(self, block: list[Stmt]) -> None:
        """Cotangents for everything that a block itself defines (nested blocks clear their own)."""
        scalars: list[Var] = []
        for s in block:
            if isinstance(s, ir.Set | ir.Load) and self.is_active(s.var):
                scalars.append(s.var)
            elif s.__class__ is ir.Alloc and self.is_active(s.array):
                self.array_of(s.array)
            elif s.__class__ is ir.Region:
                scalars.extend(x for x in s.results if x.__class__ is Var and self.is_active(x))
            elif s.__class__ is ir.Loop:
                scalars.extend(phi for phi, _, _ in s.carried if self.is_active(phi))
            elif s.__class__ is ir.If:
                scalars.extend(v for v, _, _ in s.merges if self.is_active(v))
        self.clear_scalars(scalars)

    def give(self, x: Any, c: Any) -> None:
        """Add a cotangent to a variable's."""
        if self.is_active(x):
            if x not in self.bars:
                raise Unsupported("a cotangent out of the reach of its variable")
            if x in self.unchanged:
                return
            if c.__class__ in (int, float) and c == 0:
                return
            self.builder.append(ir.Accumulate(self.bars[x], raw(c if x in self.inside else self.scaled(c))))

    def scaled(self, c: Any) -> Any:
        """What an iteration gives to the variables and arrays outside it; what it is multiplied by is not zero."""
        if self.scale is None:
            return c
        if c.__class__ in (int, float):
            return product(self.builder, self.scale, c)
        return fresh(self.builder, "multiply", (self.scale, c), FLOAT)

    # --- reverse ----------------------------------------------------------------------------------------------------

    def there_and_back(
        self, forward: list[Stmt], clear: Callable[[], None], seed: Callable[[], None], foreign: Iterable[Any] = ()
    ) -> list[Stmt]:
        """A block followed by its adjoint. `clear` starts the cotangents, and `seed` gives those of the block's results.

        The block itself leaves the arrays in `foreign` alone.
        """
        builder = self.builder
        cleared, _ = builder.nested(clear)

        def back() -> list[Stmt]:
            seed()
            return self.reverse(forward, True)

        backward, streamed = builder.nested(back)
        changed = any(a is not b for a, b in zip(forward, streamed))
        there = without_stores(from_memory(streamed, self.kept, set(foreign)), set(foreign))
        # An adjoint that follows its iteration needs the cotangents before the reverse sweep begins.
        return cleared + there + backward if changed else there + cleared + backward

    def reverse(self, block: list[Stmt], stream: bool = False) -> list[Stmt]:
        """Emit the adjoint of a block; the block itself, in which streamed loops have their adjoints (if allowed)."""
        there = list(block)
        for k in reversed(range(len(block))):
            s = block[k]
            if s.__class__ is ir.Set:
                if self.is_active(s.var):
                    self.reverse_set(s)
            elif s.__class__ is ir.Load:
                if self.is_active(s.var) and self.is_active(s.array):
                    c = raw(self.scaled(Sym(self.builder, self.bars[s.var])))
                    self.builder.append(ir.AddTo(self.arrays[s.array], s.index, c))
            elif s.__class__ is ir.Store:
                if self.is_active(s.array):
                    self.reverse_store(s)
            elif s.__class__ is ir.AddTo:
                if self.is_active(s.array) and self.is_active(s.value):
                    c = Var(FLOAT, "c")
                    self.builder.append(ir.Load(c, self.arrays[s.array], s.index))
                    self.give(s.value, c)
            elif s.__class__ is ir.Region:
                if any(map(self.is_active, s.results)):
                    self.reverse_region(s)
            elif s.__class__ is ir.Keep:
                self.builder.append(ir.TakeBack(s.array))
            elif s.__class__ is ir.If:
                self.reverse_if(s)
            elif s.__class__ is ir.Loop:
                self.depth += 1
                fused = self.streamed(s, there[k + 1 :]) if stream else None
                if fused is None:
                    fused = self.reverse_loop(s)
                if fused is not None:
                    there[k : k + 1] = fused
                self.depth -= 1
            elif s.__class__ is ir.Routine:
                if self.is_active(s.array):
                    raise Unsupported(f"the derivative of {s.name}")
            elif isinstance(s, ir.Accumulate | ir.ReverseLoop | ir.TakeBack | ir.Rewind):
                raise Unsupported("the reverse sweep of a reverse sweep")
        return there

    # --- loops that only sum ----------------------------------------------------------------------------------------

    def streamed(self, s: ir.Loop, later: list[Stmt]) -> list[Stmt] | None:
        """The loop with each iteration followed by its adjoint, after what computes the cotangents of its results.

        None where that cannot be: a head's cotangent differs from iteration to iteration, or something that comes
        `later` decides about the cotangents.
        """
        moving = [phi for phi, _, _ in s.carried if self.is_active(phi)]
        made = arrays_made(s.body)
        # What is kept for the reverse sweep is written once, whoever reads it.
        kept = {array for array, _ in self.kept.values()}
        outside = [x for x in touched_arrays(s.body) if x not in made and x not in kept]
        if not moving or any(x in stored_arrays(s.body) for x in outside):
            return None
        changed_later = stored_arrays(later)
        if any(x in changed_later and self.is_active(x) for x in outside):
            return None
        following = {phi: f for phi, _, f in s.carried}
        for phi in moving:
            ones = self.carried_over(s.body, {phi})
            if ones is None or [p for p in moving if following[p] in ones] != [phi]:
                return None
        start = self.taken_forward([self.bars[phi] for phi in moving], [s, *later])
        if start is None:
            return None
        inner = self.keep_heads(s.body, True)

        def seed() -> None:
            for phi in moving:
                self.give(following[phi], Sym(self.builder, self.bars[phi]))

        self.unchanged.update(moving)
        body = self.there_and_back(inner, lambda: self.clear_block(inner), seed)
        self.unchanged.difference_update(moving)
        for phi, initial, _ in s.carried:
            if phi in moving:
                self.give(initial, Sym(self.builder, self.bars[phi]))
        return [*start, s.replace(body=body, stacks={})]

    def carried_over(self, block: list[Stmt], ones: set[Any]) -> set[Any] | None:
        """`ones` with all that depends on it by a derivative of exactly 1; None if something does otherwise."""
        for s in block:
            if s.__class__ is ir.Set and self.is_active(s.var):
                places = [k for k, a in enumerate(s.args) if a.__class__ is Var and a in ones]
                if places:
                    if len(places) > 1 or not (s.op in ("add", "copy") or (s.op == "subtract" and places == [0])):
                        return None
                    ones.add(s.var)
            elif isinstance(s, ir.Store | ir.AddTo):
                if s.value.__class__ is Var and s.value in ones and self.is_active(s.array):
                    return None
            elif s.__class__ is ir.Region:
                if any(x in ones for x in s.operands if x.__class__ is Var):
                    return None
            elif s.__class__ is ir.Loop:
                ones.update(
                    phi
                    for phi, initial, _ in s.carried
                    if initial.__class__ is Var and initial in ones and self.is_active(phi)
                )
                if self.carried_over(s.body, ones) is None:
                    return None
                if any((phi in ones) != (f in ones) for phi, _, f in s.carried if self.is_active(phi)):
                    return None
            elif s.__class__ is ir.If:
                if self.carried_over(s.then, ones) is None or self.carried_over(s.orelse, ones) is None:
                    return None
                for var, a, b in s.merges:
                    if self.is_active(var) and (a in ones) != (b in ones):
                        return None
                    if self.is_active(var) and a in ones:
                        ones.add(var)
        return ones

    def taken_forward(self, bars: list[Var], later: list[Stmt]) -> list[Stmt] | None:
        """Take out of the adjoint so far what computes `bars`, if it needs nothing that comes `later`."""
        needed = set(bars)
        taken: list[Stmt] = []
        for s in reversed(self.builder.block):
            if isinstance(s, ir.Set | ir.Accumulate):
                if s.var in needed:
                    taken.append(s)
                    needed.update(x for x in operands(s) if x.__class__ is Var)
            elif changes(s) & needed:
                return None
        for s in later:
            if changes(s) & needed or (s.__class__ is ir.Loop and (s.trips in needed or s.index in needed)):
                return None
        chosen = set(map(id, taken))
        self.builder.block[:] = [s for s in self.builder.block if id(s) not in chosen]
        return taken[::-1]

    # --- statements -------------------------------------------------------------------------------------------------

    def reverse_store(self, s: ir.Store) -> None:
        bar = self.arrays[s.array]
        if self.is_active(s.value):
            c = Var(FLOAT, "c")
            self.builder.append(ir.Load(c, bar, s.index))
            self.give(s.value, c)
        if s.array.role in ("updated", "carried"):
            # What was overwritten here has no cotangent from later on.
            self.builder.append(ir.Store(bar, s.index, 0.0))

    def reverse_set(self, s: ir.Set) -> None:
        builder = self.builder
        g = Sym(builder, self.bars[s.var])
        STATE.site = s.site if s.site is not None else STATE.site
        if s.op in ("copy", "to_float"):
            self.give(s.args[0], g)
            return
        if s.op == "where_select":
            condition = Sym(builder, s.args[0])
            for k in (1, 2):
                if self.is_active(s.args[k]):
                    sides = (g, 0.0) if k == 1 else (0.0, g)
                    self.give(s.args[k], fresh(builder, "where_select", (condition, *sides), FLOAT))
            return
        if s.op == "sloped":
            value, x, slope = s.args
            self.give(value, g)
            if self.is_active(x):
                self.give(x, fresh(builder, "multiply", (g, slope), FLOAT))
            return
        row = ROWS[s.op]
        symbols = tuple(Sym(builder, a) if a.__class__ is Var else a for a in s.args)
        self.told.clear()
        if row.derivative == "zero":
            for spot in row.singular:
                self.note(spot, spot.where(*symbols), g, s, [a for a in s.args if self.is_active(a)])
            return
        if row.derivative != "partials":
            raise Unsupported(f"the derivative of {row.name}")
        y = Sym(builder, s.var)
        attributes = s.attributes or {}
        builder.memos.append({})
        try:
            for k, x in enumerate(s.args):
                formula = row.partials[k]
                if formula is None or not self.is_active(x):
                    continue
                p = formula(y, *symbols, **attributes) if callable(formula) else formula
                if s.op == "divide":
                    p = self.slope_of_quotient(y, s.args, k, p)
                for spot in row.singular:
                    if spot.input == k:
                        p = self.resolved(spot, p, symbols, g, s, x)
                self.give(x, product(builder, g, p))
        finally:
            builder.memos.pop()

    def slope_of_quotient(self, y: Sym, args: tuple[Any, ...], k: int, p: Any) -> Any:
        """The derivative of y = a / b by a or b, where the row's formula is `p`: one division serves both, r = 1 / b.

        Where 1 / b would overflow, though y / b need not, r is 1 / (b * unit), with a power of two that is 1 elsewhere.
        """
        a, b = args
        multiply, negative = ROWS["multiply"], ROWS["negative"]
        if a.__class__ in (int, float) and a == 1:
            return negative(multiply(y, y))
        if not (self.is_active(a) and self.is_active(b)):
            return p
        divisor = Sym(self.builder, b)
        unit = self.builder.emit("divisor_unit", (divisor,), FLOAT)
        r = ROWS["divide"](1.0, multiply(divisor, unit))
        return multiply(r, unit) if k == 0 else negative(multiply(multiply(y, r), unit))

    def reverse_region(self, s: ir.Region) -> None:
        """The row's own rule, applied to the symbols of its operands and results."""
        if s.row not in ROWS:
            for x, c in zip(s.operands, s.attributes["rule"].apply(self, s)):
                if self.is_active(x):
                    self.give_all(x, c)
            return
        builder, row = self.builder, ROWS[s.row]
        STATE.site = s.site if s.site is not None else STATE.site
        outer, self.region = self.region, s
        self.told.clear()
        builder.memos.append({})
        try:
            g = tuple(self.collected(x) for x in s.results)
            y = tuple(symbol_of(builder, x) for x in s.results)
            inputs = tuple(symbol_of(builder, x) for x in s.operands)
            if s.pairs is not None:
                self.reverse_complex(s, g, y, inputs)
                return
            rule = row.vjp if row.derivative == "rule" else row.transpose
            if row.derivative == "zero":
                return
            if rule is None:
                raise Unsupported(f"the derivative of {row.name}")
            first = (g, y) if len(g) > 1 else (g[0], y[0])
            found = rule(*first, *inputs, **s.attributes)
            for x, c in zip(s.operands, found if found.__class__ is tuple else (found,)):
                if c is not None and self.is_active(x):
                    self.give_all(x, given(c))
        finally:
            builder.memos.pop()
            self.region = outer

    def reverse_complex(self, s: ir.Region, g: tuple[Any, ...], y: tuple[Any, ...], inputs: tuple[Any, ...]) -> None:
        """The row's own rule on complex numbers, given back part by part."""
        from .complex_rows import pulled_back
        from .pairs import pair_of, paired

        assert s.pairs is not None
        builder, row = self.builder, ROWS[s.row]
        cotangent, result = (tuple(paired(parts, s.pairs[0], builder)) for parts in (g, y))
        operands = tuple(paired(inputs, s.pairs[1], builder))
        if len(result) == 1:
            (cotangent,), (result,) = cotangent, result
        if row.derivative == "rule":
            assert row.vjp is not None
            found = row.vjp(cotangent, result, *operands, **s.attributes)
            cotangents = list(found) if found.__class__ is tuple else [found]
        else:
            cotangents = []
            for k, formula in enumerate(row.partials):
                if formula is None or not any(map(self.is_active, s.operands[2 * k : 2 * k + 2])):
                    cotangents.append(None)
                    continue
                p = formula(result, *operands, **s.attributes) if callable(formula) else formula
                for spot in row.singular:
                    if spot.input == k:
                        mask = spot.where(*operands)
                        self.note(spot, mask, cotangent, s, list(s.operands[2 * k : 2 * k + 2]), operands)
                        p = chosen(builder, spot, mask, p, operands, self.again)
                cotangents.append(pulled_back(builder, cotangent, p))
        targets = list(s.operands)
        for pair, c in zip(s.pairs[1], cotangents):
            parts = None if c is None else pair_of(builder, c)
            for name in ("re", "im")[: 2 if pair else 1]:
                x = targets.pop(0)
                if parts is not None and self.is_active(x):
                    self.give_all(x, getattr(parts, name))

    def symbol(self, x: Any) -> Any:
        """An operand as the rules take it."""
        return x if x.__class__ in (int, float) else symbol_of(self.builder, x)

    def collected(self, x: Any) -> Any:
        """The cotangent of a region's result, which nothing adds to any more."""
        builder = self.builder
        if not self.is_active(x):
            return 0.0 if x.__class__ is Var else view(builder, FLOAT, x.shape, lambda index: 0.0)
        if x.__class__ is Array:
            return builder.stored(self.arrays[x])
        return fresh(builder, "copy", (self.bars[x],), FLOAT)

    def give_all(self, x: Any, c: Any) -> None:
        """Add what a rule gave to an operand's cotangent; where broadcasting repeated elements, their sum."""
        builder = self.builder
        shape = x.shape if x.__class__ is Array else ()
        if c.__class__ is Lazy and c.shape != shape and len(c.shape) >= len(shape):
            c = builder.apply(ROWS["sum_to"], (c,), {"shape": shape})
        if x.__class__ is Var:
            self.give(x, builder.to_float(c.element(()) if c.__class__ is Lazy else c))
            return

        def add(index: tuple[Any, ...]) -> None:
            value = builder.to_float(pick(c, index, shape) if c.__class__ is Lazy else c)
            if value.__class__ is Sym or value != 0.0:
                builder.append(ir.AddTo(self.arrays[x], raw(builder.flat(index, shape)), raw(value)))

        builder.each(shape, add)

    def met(self, spot: Singular, mask: Any) -> None:
        """Watch a singular point that a region's rule finds: the mask says where it matters."""
        builder, s = self.builder, self.region
        assert s is not None
        text = f"{spot.message}: {spot.subgradients}" if spot.subgradients else spot.message
        flag = self.flag_of(text, s.site, s.operands)

        def mark(hit: Any) -> None:
            if hit.__class__ is Sym or hit:
                builder.append(ir.Accumulate(flag, hit.var if hit.__class__ is Sym else 1))

        if mask.__class__ is Lazy:
            builder.each(mask.shape, lambda index: mark(mask.element(index)))
        else:
            mark(mask)

    def note(
        self, spot: Singular, mask: Any, g: Any, s: Any, inputs: list[Any], operands: tuple[Any, ...] = ()
    ) -> None:
        """A flag that is set where a singular point is met by a cotangent that is not zero."""
        builder = self.builder
        if mask is False or mask is NotImplemented:
            return
        flag = self.flag_of(singular_notice(spot, spot.choice(STATE.kinks), operands), s.site, inputs)
        told = (flag, mask if mask is True else mask.var)
        if told in self.told:
            return
        self.told.add(told)
        hit = fresh(builder, "not_equal", (g, 0.0), BOOL) if g.__class__ is Sym else ROWS["not_equal"](g, 0.0)
        if mask is not True:
            hit = fresh(builder, "logical_and", (mask, hit), BOOL)
        builder.append(ir.Accumulate(flag, hit.var))

    def flag_of(self, text: str, site: Site | None, inputs: Iterable[Any]) -> Var:
        """The flag of a singular point: those of which the same is said at the same place share one."""
        certain = any(self.origin.get(x, x) in self.certain for x in inputs)
        for noted, flag in zip(self.noted, self.flags):
            if noted.message == text and noted.site is site and noted.certain == certain:
                return flag
        self.noted.append(Noted(text, site, certain))
        self.flags.append(Var(ir.INT, "n"))
        return self.flags[-1]

    def resolved(self, spot: Singular, p: Any, symbols: tuple[Any, ...], g: Sym, s: ir.Set, x: Any) -> Any:
        """A partial with the policy's choice at a singular point, and a flag that says whether it was met."""
        mask = spot.where(*symbols)
        self.note(spot, mask, g, s, [x])
        return chosen(self.builder, spot, mask, p, symbols, self.again)

    def reverse_if(self, s: ir.If) -> None:
        builder = self.builder
        self.depth += 1

        def side(block: list[Stmt], values: list[tuple[Var, Any]]) -> list[Stmt]:
            def fill() -> None:
                self.clear_block(block)
                for var, value in values:
                    if self.is_active(var):
                        self.give(value, Sym(builder, self.bars[var]))
                self.reverse(block)

            return builder.nested(fill)[0]

        then = side(s.then, [(v, a) for v, a, _ in s.merges])
        orelse = side(s.orelse, [(v, b) for v, _, b in s.merges])
        if then or orelse:
            builder.append(ir.If(s.condition, then, orelse, []))
        self.depth -= 1

    def reverse_loop(self, s: ir.Loop) -> list[Stmt] | None:
        """Emit the adjoint of a loop; what stands for the loop in the forward sweep, if not the loop itself."""
        builder = self.builder
        carried = s.carried
        moving = [phi for phi, _, _ in carried if self.is_active(phi)]
        touched = [x for x in touched_arrays(s.body) if self.is_active(x)]
        if not moving and not touched and not any(self.is_active(x) for x in read_from_outside(s.body)):
            return None
        names: dict[Any, Any] = {}
        restored: list[tuple[Var, Stack]] = []
        for phi, _, _ in carried:
            again = Var(phi.kind, "r")
            names[phi] = again
            self.origin[again] = self.origin.get(phi, phi)
            restored.append((again, s.stacks[phi]))
        index = None
        if s.index is not None:
            index = names[s.index] = Var(s.index.kind, "i")
        position = Var(ir.INT, "k")
        if index is not None and s.start == 0 and s.step == 1 and s.start.__class__ is int and s.step.__class__ is int:
            position, index = index, None  # the iteration's number is the index

        handed: list[tuple[Any, Sym]] = []
        following = {phi: f for phi, _, f in carried}
        alone = len(moving) == 1 and moving[0].kind == FLOAT and worth_a_slope(s, moving[0])

        def fill_alone() -> None:
            (phi,) = moving
            g, slope = self.bars[phi], Var(FLOAT, "b")

            def multiplied() -> None:
                body = self.renamed(s.body, names)
                builder.append(ir.Set(slope, "zero", (), None, None))
                self.bars[names[phi]] = slope
                outer = self.scale, self.inside
                self.scale, self.inside = Sym(builder, g), set(names.values())

                def seed() -> None:
                    f = following[phi]
                    self.give(names.get(f, f) if f.__class__ is Var else f, 1.0)

                builder.block.extend(self.there_and_back(body, lambda: self.clear_block(body), seed))
                after = raw(self.scaled(Sym(builder, slope)))
                self.scale, self.inside = outer
                builder.append(ir.Set(g, "copy", (after,), None, None))

            # A cotangent of zero stays zero, whatever the slopes are.
            counts = fresh(builder, "not_equal", (Sym(builder, g), 0.0), BOOL)
            builder.append(ir.If(counts.var, builder.nested(multiplied)[0], [], []))

        def fill() -> None:
            # What the loop's results received becomes the cotangent of the values that the body hands on.
            for phi in moving:
                c = Var(FLOAT, "c")
                builder.append(ir.Set(c, "copy", (self.bars[phi],), None, None))
                builder.append(ir.Set(self.bars[phi], "zero", (), None, None))
                handed.append((phi, Sym(builder, c)))
            body = self.keep_heads(self.renamed(s.body, names), True)
            for phi, array in marks(s):
                builder.append(ir.Rewind(array, names[phi]))
            # The head's variable collects into the same accumulator as the loop's result, one iteration earlier.
            for phi in moving:
                self.bars[names[phi]] = self.bars[phi]

            def seed() -> None:
                for phi, symbol in handed:
                    f = following[phi]
                    self.give(names.get(f, f) if f.__class__ is Var else f, symbol)

            # Arrays from outside hold what they held: nothing is stored in them again, unless they were rewound.
            made = arrays_made(body)
            foreign = [x for x in stored_arrays(body) if x not in made and not (s.own and x.role == "carried")]
            builder.block.extend(self.there_and_back(body, lambda: self.clear_block(body), seed, foreign))

        block, _ = builder.nested(fill_alone if alone else fill)
        reverse = ir.ReverseLoop(s.trips, position, index, s.start, s.step, restored, block)
        forward = None
        if self.budget is not None and self.depth == 1 and s.own:
            checkpointed = Checkpointed(s, self.budget, marks(s), self.renamed)
            builder.block.extend(checkpointed.backward(reverse))
            forward = checkpointed.forward()
        else:
            builder.append(reverse)
        for phi, initial, _ in carried:
            if phi in moving:
                self.give(initial, Sym(builder, self.bars[phi]))
        return forward
