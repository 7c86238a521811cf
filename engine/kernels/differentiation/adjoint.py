"""Reverse mode: the adjoint of a kernel, by source transformation (Griewank and Walther, Evaluating derivatives, chapter 6).

The forward code runs first; loops keep the values they carry at the head of each iteration. The reverse code walks the
statements backwards; for a loop it takes the iterations in reverse, loads the heads, runs the body again (keeping the
heads of loops inside it) and then the body's adjoint. Every cotangent is one scalar accumulator, every array has one
array of cotangents; partials come from the rows' own formulas, applied to symbols.

A loop that only sums what its iterations give needs no reverse sweep: the cotangent of each of its terms is known
before it starts, and an iteration's adjoint follows the iteration itself (`streamed`).
"""

from __future__ import annotations

from ...core.state import STATE
from .. import ir
from ..built import Noted
from ..inputs import SOME
from ..ir import BOOL, FLOAT, Array, Stack, Stmt, Unsupported, Var
from ..passes.statements import changes, everything, operands
from ..passes.stored_intermediates import from_memory
from ..passes.widths import Levels
from ..symbols.regions import for_tangents
from ..symbols.symbol import Sym, raw
from ..symbols.watch import Watch
from .activity import active_set
from .bare import Known
from .bodies import (
    arrays_made,
    marks,
    read_from_outside,
    stored_arrays,
    touched_arrays,
    without_stores,
)
from .checkpoint import Checkpointed
from .cotangents import Cotangents
from .must_reach import surely_reached_inside
from .products import fresh
from .renaming import renamed
from .slopes import SMOOTH, STEEPER, Slopes, handed_on, smooth, worth_a_slope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from ..passes.stored_intermediates import Kept
    from ..passes.widths import Precision


def adjoint(
    kernel: ir.Kernel,
    result: Var,
    sources: list[Any],
    again: bool = False,
    watch: Watch | None = None,
    kept: Kept | None = None,
    every: bool = False,
    several: bool = False,
    slopes: Slopes | None = None,
    last: bool = False,
    precision: Precision | None = None,
) -> tuple[ir.Kernel, list[Noted]]:
    """A kernel that gives `result` and the cotangents of `sources` (scalar variables or input arrays), seeded with 1.

    With it come the singular points it watches; their flags are the kernel's last result, an array that is there only
    if there are any. `again` says that the kernel is to be differentiated in its turn; `watch` holds what the program
    itself watches, and `kept` the values that its loops have stored. With `every` a singular point counts whatever
    cotangent meets it. `several` says that the cotangents stand for derivatives along several directions. `slopes` says
    whether loops may find the slope of an iteration first, and is told whether one does. `last` says that nothing is
    differentiated any more: rows stay what they are. `precision` says what of the kernel is float32.
    """
    watch = watch or Watch()
    transform = Adjoint(
        active_set(kernel, result, sources), surely_reached_inside(kernel, sources), again, several or every or again
    )
    transform.kept = dict(kept or {})
    transform.every = every
    transform.slopes = slopes or Slopes()
    known = Known(Levels(kernel, precision).singles()) if precision is not None and precision.mode == SOME else None
    transform.widths = known or transform.widths
    body = transform.sweep(kernel.body, result, sources, last)
    transform.slopes.used |= transform.builder.hasty
    results: list[Any] = [result]
    for s in sources:
        results.append(transform.bars[s] if s.__class__ is Var else transform.arrays[s])
    whole = watch.given(ir.Kernel(kernel.parameters, body, results), transform.noted, transform.flags)
    if known is not None and precision is not None:
        known.settle(whole, precision)
    return whole, watch.noted


class Adjoint(Cotangents):
    """The reverse sweep through blocks, branches and loops."""

    def __init__(
        self,
        active: set[Any],
        followed: tuple[set[Any], dict[Any, set[Var]]],
        again: bool = False,
        several: bool = False,
    ) -> None:
        super().__init__(active, followed, again, several)
        # Values that need not be computed again, here and in repeated bodies.
        self.kept: Kept = {}
        self.slopes = Slopes()
        # How deep in loops and branches, and what the heads of the loops outside of any may take, in bytes.
        self.depth = 0
        self.budget = STATE.checkpoint

    def sweep(self, block: list[Stmt], result: Var, sources: list[Any], inside: bool = False) -> list[Stmt]:
        """A block and the sweep back from `result`, which leaves the cotangents of sources in `bars` and `arrays`.

        `inside` a program that is differentiated in its turn, rows keep the rules that they have.
        """
        self.refuse_overwritten(block)
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

        body = self.there_and_back(forward, clear, seed)
        if not inside:
            body = for_tangents(body)
        return [*self.builder.root, *body]  # at the root are the arrays that are constants

    def refuse_overwritten(self, block: Iterable[Stmt]) -> None:
        """Refuse statements that store over what they have read, where no row's rule stands for them any more: nothing keeps
        what stood there, and the sweep would read what stands there in the end."""
        for s in block:
            if s.__class__ is ir.Store and s.array.role == "overwritten" and self.is_active(s.array):
                raise Unsupported("the gradient of tangents of a row that computes in place", STATE.site)
            if s.__class__ is not ir.Region:
                for name in s.blocks:
                    self.refuse_overwritten(getattr(s, name) or ())

    # --- forward ------------------------------------------------------------------------------------------------------

    def keep_heads(self, block: list[Stmt], keep: bool) -> list[Stmt]:
        """A copy of the code whose outermost loops keep their heads, and all of them those that a derivative in it restores."""
        copied: list[Stmt] = []
        for s in block:
            if s.__class__ is ir.Loop:
                stacks = dict(s.stacks)
                if keep:
                    stacks.update((phi, Stack(phi.kind)) for phi, _, _ in s.carried if phi not in stacks)
                copied.append(s.replace(body=self.keep_heads(s.body, False), stacks=stacks))
            elif s.__class__ is ir.If:
                copied.append(
                    ir.If(s.condition, self.keep_heads(s.then, keep), self.keep_heads(s.orelse, keep), s.merges)
                )
            else:
                copied.append(s)
        return copied

    def renamed(self, block: list[Stmt], names: dict[Any, Any]) -> list[Stmt]:
        """A copy of a body for the reverse sweep."""
        return renamed(block, names, self.origin, self.kept)

    # --- reverse ------------------------------------------------------------------------------------------------------

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
                    raise Unsupported(f"the derivative of {s.name}", STATE.site)
            elif isinstance(s, ir.Accumulate | ir.ReverseLoop | ir.TakeBack | ir.Rewind):
                raise Unsupported("the gradient of a gradient that is taken in reverse")
        return there

    # --- loops that only sum ------------------------------------------------------------------------------------------

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
        counter = self.origin.get(s.trips, s.trips)
        if s.index is not None:
            self.iterations[counter] = (s.index, s.start)
        body = self.there_and_back(inner, lambda: self.clear_block(inner), seed)
        self.iterations.pop(counter, None)
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

    # --- statements ---------------------------------------------------------------------------------------------------

    def reverse_store(self, s: ir.Store) -> None:
        bar = self.arrays[s.array]
        if self.is_active(s.value):
            c = Var(FLOAT, "c")
            self.builder.append(ir.Load(c, bar, s.index))
            self.give(s.value, c)
        if s.array.role in ("updated", "carried"):
            # What was overwritten here has no cotangent from later on.
            self.builder.append(ir.Store(bar, s.index, 0.0))

    def reverse_if(self, s: ir.If) -> None:
        builder = self.builder
        self.depth += 1

        def side(block: list[Stmt], values: list[tuple[Var, Any]]) -> list[Stmt]:
            def fill() -> None:
                self.clear_block(block)
                for var, value in values:
                    if self.is_active(var) and (var, value) not in self.handed_on:
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
        idle = not moving and not touched and not any(self.is_active(x) for x in read_from_outside(s.body))
        if idle and not any(x.__class__ is ir.Keep for x in everything(s.body)):
            return None  # nothing was overwritten either that what comes before has read
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

        checkpointed = self.budget is not None and self.depth == 1 and s.own
        counter = self.origin.get(s.trips, s.trips)
        if s.index is not None:
            self.iterations[counter] = (names[s.index], s.start)
        elif not checkpointed:  # otherwise iterations are counted from the last checkpoint
            self.iterations[counter] = (position, 0)
        handed: list[tuple[Any, Sym]] = []
        following = {phi: f for phi, _, f in carried}
        alone = len(moving) == 1 and moving[0].kind == FLOAT and worth_a_slope(s, moving[0])
        alone = alone and not self.again  # a cotangent of zero may have a tangent
        # In float32 the products of slopes lose digits that those with the cotangent have.
        alone = alone and self.slopes.allowed and not self.builder.mode
        plain = self.slopes.allowed and not (self.again or self.several or self.builder.mode)
        plain = plain and smooth(s.body, SMOOTH, self.is_active)
        self.slopes.used |= alone or plain

        def fill_alone() -> None:
            (phi,) = moving
            g, slope = self.bars[phi], Var(FLOAT, "b")

            def multiplied() -> None:
                body = self.renamed(s.body, names)
                builder.append(ir.Set(slope, "zero", (), None, None))
                self.bars[names[phi]] = slope
                outer = self.scale, self.inside, self.plain
                self.scale, self.inside = Sym(builder, g), set(names.values())
                self.plain = smooth(s.body, STEEPER, self.is_active)
                f = following[phi]
                last = names.get(f, f) if f.__class__ is Var else f
                self.handed_on = {(x, names[phi]) for x in handed_on(body, names[phi], last)}

                builder.block.extend(
                    self.there_and_back(body, lambda: self.clear_block(body), lambda: self.give(last, 1.0))
                )
                after = self.scaled(Sym(builder, slope))
                if self.handed_on:
                    after = fresh(builder, "add", (Sym(builder, g), after), FLOAT)
                self.scale, self.inside, self.plain, self.handed_on = *outer, set()
                builder.append(ir.Set(g, "copy", (raw(after),), None, None))

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
            self.plain = plain
            builder.block.extend(self.there_and_back(body, lambda: self.clear_block(body), seed, foreign))
            self.plain = False

        block, _ = builder.nested(fill_alone if alone else fill)
        self.iterations.pop(counter, None)
        reverse = ir.ReverseLoop(s.trips, position, index, s.start, s.step, restored, block)
        forward = None
        if checkpointed and self.budget is not None:
            blocks = Checkpointed(s, self.budget, marks(s), self.renamed)
            builder.block.extend(blocks.backward(reverse))
            forward = blocks.forward()
        else:
            builder.append(reverse)
        for phi, initial, _ in carried:
            if phi in moving:
                self.give(initial, Sym(builder, self.bars[phi]))
        return forward
