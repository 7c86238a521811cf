"""Cotangents: which variables and arrays have one, and what each row gives to those of its operands.

Partials come from the rows' own formulas, and rules are the rows' own too, applied to symbols; where a singular point is
met by a cotangent that is not zero, a flag says so.
"""

from __future__ import annotations

from ...autodiff.pullback import given, singular_notice
from ...core.state import STATE
from ...ops.registry import ROWS
from .. import ir
from ..built import Noted
from ..ir import BOOL, FLOAT, Array, Stmt, Unsupported, Var
from ..symbols.arrays import view
from ..symbols.build import Builder
from ..symbols.pairs import Pair, of_operand, pair_of, paired
from ..symbols.regions import chooses, moved_by_rule
from ..symbols.symbol import Lazy, Sym, pick, raw
from .bare import AsTheyCome
from .products import CONVERSE, chosen, fresh, product, symbol_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ...core.operation import Operation, Singular
    from ...core.state import Site


def real_if_known(x: Any) -> Any:
    """A pair that stands for a real number of the program as that number."""
    if x.__class__ is not Pair or x.im.__class__ is not float or x.im != 0.0:
        return x
    return x.re if x.re.__class__ in (int, float) else x


def differentiable(s: ir.Set) -> Operation:
    """The row of a statement. Raises Unsupported for what is no row of the table."""
    row = ROWS.get(s.op)
    if row is None:
        what = "a custom_gradient that is differentiated again" if s.op == "opaque" else f"the derivative of '{s.op}'"
        raise Unsupported(what, s.site)
    return row


class Cotangents:
    """The cotangents of one sweep, and the code that adds to them."""

    def __init__(
        self,
        active: set[Any],
        followed: tuple[set[Any], dict[Any, set[Var]]],
        again: bool = False,
        several: bool = False,
    ) -> None:
        self.active = active
        # What a tape follows for certain, and what it does but for the first iteration of any one of some loops.
        self.certain, self.certain_later = followed
        # Of the loops around the code at hand, by what counts their trips: the index of the iteration, and the first one.
        self.iterations: dict[Var, tuple[Var, Any]] = {}
        self.again = again
        # Whether the cotangents stand for derivatives along several directions, or for second ones (STATE.several).
        self.several = several
        self.builder = Builder()
        self.builder.meets = self.met
        self.region: ir.Region | None = None  # whose rule is being applied
        self.every = False  # whether singular points count that a cotangent of zero meets
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
        # Whether nothing in the iteration makes a cotangent of zero but the numbers that it meets.
        self.plain = False
        # Variables and what they hand on by a derivative of exactly 1, which is added to the whole and not to the slope.
        self.handed_on: set[tuple[Any, Any]] = set()
        # How wide what each variable is given is.
        self.widths = AsTheyCome()
        # Heads of the loops being streamed: their cotangents are what the loop's results have.
        self.unchanged: set[Any] = set()

    def is_active(self, x: Any) -> bool:
        return x.__class__ in (Var, Array) and self.origin.get(x, x) in self.active

    def clear_scalars(self, variables: list[Var]) -> None:
        """Cotangents of zero for variables."""
        for v in variables:
            bar = Var(FLOAT, "b")
            self.bars[v] = bar
            self.builder.append(ir.Set(bar, "zero", (), None, None))

    def array_of(self, array: Array) -> Array:
        """The array of cotangents of an array, zero at first."""
        bar = Array(FLOAT, array.shape, "ab")
        bar.grown = array.grown
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
                raise Unsupported("a gradient through values that loops and branches hand on in this way")
            if x in self.unchanged:
                return
            if c.__class__ in (int, float) and c == 0:
                return
            c = self.widths.given(self.builder, self.origin, c if x in self.inside else self.scaled(c), x)
            self.builder.append(ir.Accumulate(self.bars[x], raw(c)))

    def scaled(self, c: Any) -> Any:
        """What an iteration gives to the variables and arrays outside it; what it is multiplied by is not zero."""
        if self.scale is None:
            return c
        if c.__class__ in (int, float):
            return product(self.builder, self.scale, c)
        return fresh(self.builder, "multiply", (self.scale, c), FLOAT)

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
                place = builder.flat(index, shape)
                value = self.widths.given(builder, self.origin, value, x, place)
                builder.append(ir.AddTo(self.arrays[x], raw(place), raw(value)))

        builder.each(shape, add)

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

    # --- rows ---------------------------------------------------------------------------------------------------------

    def reverse_set(self, s: ir.Set) -> None:
        builder = self.builder
        g = Sym(builder, self.bars[s.var])
        STATE.site = s.site if s.site is not None else STATE.site
        if s.op in ("copy", "to_float", "to_single", "strong", "as_wide", "unsure"):
            if (s.var, s.args[0]) not in self.handed_on:
                self.give(s.args[0], g)
            return
        if s.op == "inert":
            return
        if s.op in CONVERSE:
            self.give(s.args[0], fresh(builder, CONVERSE[s.op], (g,), FLOAT))
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
        row = differentiable(s)
        symbols = tuple(Sym(builder, a) if a.__class__ is Var else a for a in s.args)
        self.told.clear()
        if row.derivative == "zero":
            for spot in row.singular:
                self.note(spot, spot.where(*symbols), g, s, [a for a in s.args if self.is_active(a)])
            return
        if row.derivative != "partials":
            raise Unsupported(f"the derivative of {row.name}", s.site)
        y = Sym(builder, s.var)
        attributes = s.attributes or {}
        builder.memos.append({})
        try:
            for k, x in enumerate(s.args):
                formula = row.partials[k]
                if formula is None or not self.is_active(x) or (s.var, x) in self.handed_on:
                    continue
                p = formula(y, *symbols, **attributes) if callable(formula) else formula
                if s.op == "divide":
                    p = self.slope_of_quotient(y, s.args, k, p)
                if s.op == "strong_multiply" and k == 1:
                    # The zero that is strong stays the first factor.
                    self.give(x, fresh(builder, "strong_multiply", (s.args[0], g), FLOAT))
                    continue
                for spot in row.singular:
                    if spot.input == k:
                        p = self.resolved(spot, p, symbols, g, s, x)
                self.give(x, self.times(g, p))
        finally:
            builder.memos.pop()

    def times(self, g: Sym, p: Any) -> Any:
        """A cotangent times a partial: the plain product where a result that is not finite is found anew (slopes.py)."""
        if self.plain and p.__class__ not in (int, float):
            return fresh(self.builder, "multiply", (g, self.builder.to_float(p)), FLOAT)
        return product(self.builder, g, p)

    def slope_of_quotient(self, y: Sym, args: tuple[Any, ...], k: int, p: Any) -> Any:
        """The derivative of y = a / b by a or b, where the row's formula is `p`: one division serves both, r = 1 / b.

        Where 1 / b would overflow, though y / b need not, r is 1 / (b * unit), with a power of two that is 1 elsewhere. Where an
        iteration's slope is found first there is no such unit: results that are not finite are computed anew without slopes.
        """
        a, b = args
        multiply, negative = ROWS["multiply"], ROWS["negative"]
        if a.__class__ in (int, float) and a == 1:
            return negative(multiply(y, y))
        if not (self.is_active(a) and self.is_active(b)):
            return p
        divisor = Sym(self.builder, b)
        if self.scale is not None:
            r = ROWS["divide"](1.0, divisor)
            return r if k == 0 else negative(multiply(y, r))
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
        several, STATE.several = STATE.several, self.several
        transposing, STATE.transposing = STATE.transposing, self.several and chooses(s) and not moved_by_rule(s)
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
                raise Unsupported(f"the derivative of {row.name}", s.site)
            first = (g, y) if len(g) > 1 else (g[0], y[0])
            found = rule(*first, *inputs, **s.attributes)
            for x, c in zip(s.operands, found if found.__class__ is tuple else (found,)):
                if c is not None and self.is_active(x):
                    self.give_all(x, given(c))
        finally:
            builder.memos.pop()
            self.region = outer
            STATE.transposing, STATE.several = transposing, several

    def reverse_complex(self, s: ir.Region, g: tuple[Any, ...], y: tuple[Any, ...], inputs: tuple[Any, ...]) -> None:
        """The row's own rule on complex numbers, given back part by part."""
        from ..operations.complex_rows import pulled_back

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
                parts = of_operand(s.operands, s.pairs[1], k)
                if formula is None or not any(map(self.is_active, parts)):
                    cotangents.append(None)
                    continue
                p = formula(result, *operands, **s.attributes) if callable(formula) else formula
                for spot in row.singular:
                    if spot.input == k:
                        mask = spot.where(*map(real_if_known, operands))
                        self.note(spot, mask, cotangent, s, list(parts), operands)
                        p = chosen(builder, spot, mask, p, operands, self.again)
                cotangents.append(pulled_back(builder, cotangent, p))
        targets = list(s.operands)
        for pair, c in zip(s.pairs[1], cotangents):
            halves = (
                None if c is None or not any(map(self.is_active, targets[: 1 + pair])) else pair_of(builder, given(c))
            )
            for name in ("re", "im")[: 2 if pair else 1]:
                x = targets.pop(0)
                if halves is not None and self.is_active(x):
                    self.give_all(x, getattr(halves, name))

    # --- singular points ----------------------------------------------------------------------------------------------

    def met(self, spot: Singular, at: Any, matters: Any) -> None:
        """Watch a singular point that a region's rule finds, where it is and where it matters to these cotangents."""
        s = self.region
        assert s is not None
        told = spot.subgradients and STATE.kinks != "error"
        text = f"{spot.message}: {spot.subgradients}" if told else spot.message
        flags = self.flags_of(text, s.site, s.operands)
        mask = at if STATE.transposing or matters is True else ROWS["logical_and"](at, matters)
        builder = self.builder

        def mark(hit: Any) -> None:
            if hit.__class__ is Sym or hit:
                self.raised(flags, hit if hit.__class__ is Sym else True)

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
        text = singular_notice(spot, spot.choice(STATE.kinks), operands) if STATE.kinks != "error" else spot.message
        flags = self.flags_of(text, s.site, inputs)
        told = (flags[0][0], mask if mask is True else mask.var)
        if told in self.told:
            return
        self.told.add(told)
        if self.every:
            self.raised(flags, mask)
            return
        hit = fresh(builder, "not_equal", (g, 0.0), BOOL) if g.__class__ is Sym else ROWS["not_equal"](g, 0.0)
        if mask is not True:
            hit = fresh(builder, "logical_and", (mask, hit), BOOL)
        self.raised(flags, hit)

    def raised(self, flags: list[tuple[Var, Sym | None]], hit: Any) -> None:
        """Raise flags where something is so, each on its condition."""
        for flag, when in flags:
            met = hit
            if when is not None:
                met = when if hit is True else fresh(self.builder, "logical_and", (hit, when), BOOL)
            self.builder.append(ir.Accumulate(flag, 1 if met is True else met.var))

    def flags_of(self, text: str, site: Site | None, inputs: Iterable[Any]) -> list[tuple[Var, Sym | None]]:
        """The flags of a singular point, each with the condition on which it counts.

        There are two where it is certain that a tape follows an operand but for the first iteration of all of some loops.
        """
        found = [self.origin.get(x, x) for x in inputs]
        if any(x in self.certain for x in found):
            return [(self.flag_of(text, site, True), None)]
        loops = set().union(*(self.certain_later.get(x, ()) for x in found))
        later: Sym | None = None
        for trips, (index, first) in self.iterations.items():
            if trips in loops:
                beyond = fresh(self.builder, "not_equal", (Sym(self.builder, index), first), BOOL)
                later = beyond if later is None else fresh(self.builder, "logical_or", (later, beyond), BOOL)
        if later is None:
            return [(self.flag_of(text, site, False), None)]
        early = fresh(self.builder, "logical_not", (later,), BOOL)
        return [(self.flag_of(text, site, True), later), (self.flag_of(text, site, False), early)]

    def flag_of(self, text: str, site: Site | None, certain: bool) -> Var:
        """The flag of a singular point: those of which the same is said at the same place share one."""
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
