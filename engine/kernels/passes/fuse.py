"""Neighbouring loops over one range as one loop, and arrays that then live for one iteration as scalars.

Array operations become loops of their own, each with its result in memory. Two such loops are one where the second
reads of the first one's results, in an iteration, only what that iteration has stored.
"""

from __future__ import annotations

from .. import ir
from ..ir import Array, Stmt, Var
from .simplify import simplify
from .statements import blocks_of, everything, operands, with_blocks, with_operands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    # A place as a sum: the constant (under None), and the factor of each variable.
    Affine = dict[Any, int]


def fuse(kernel: ir.Kernel) -> ir.Kernel:
    """The same kernel with fewer loops and arrays."""
    forwarding = Forwarding()
    kernel = simplify(kernel, logs=True)
    body = forwarding.block(fused(kernel.body, {}, {}, frozenset(swept(kernel.body))))
    return simplify(ir.Kernel(kernel.parameters, body, list(map(forwarding.new, kernel.results))), logs=True)


# --- places ---------------------------------------------------------------------------------------------------------


def affine(x: Any, known: dict[Var, Affine]) -> Affine:
    """An integer operand as a sum of variables and a constant."""
    if x.__class__ is int:
        return {None: x}
    return known.get(x) or {x: 1, None: 0}


def sum_of(s: ir.Set, known: dict[Var, Affine]) -> Affine | None:
    """What an integer statement computes as such a sum."""
    if s.var.kind != ir.INT:
        return None
    if s.op == "copy":
        return affine(s.args[0], known)
    if s.op in ("add", "subtract"):
        a, b = (affine(x, known) for x in s.args)
        sign = 1 if s.op == "add" else -1
        return {key: a.get(key, 0) + sign * b.get(key, 0) for key in {**a, **b}}
    if s.op == "multiply":
        for x, y in (s.args, s.args[::-1]):
            if x.__class__ is int:
                return {key: x * factor for key, factor in affine(y, known).items()}
    return None


def span(place: Affine, ranges: dict[Var, tuple[int, int]]) -> tuple[int, int] | None:
    """The least and the greatest value of a place; None if unknown."""
    low = high = 0
    for var, factor in place.items():
        if var is None:
            low, high = low + factor, high + factor
        elif factor:
            if var not in ranges:
                return None
            a, b = ranges[var]
            low, high = low + min(factor * a, factor * b), high + max(factor * a, factor * b)
    return low, high


def static_range(s: ir.Loop) -> tuple[int, int] | None:
    """The first and the last value of a loop's index, if it counts up by ones between known bounds."""
    if s.test is None and s.start.__class__ is int and s.stop.__class__ is int and s.step == 1 and s.start < s.stop:
        return s.start, s.stop - 1
    return None


class Touched:
    """The arrays that statements load from and store in, with the places; None for a place that is no such sum."""

    def __init__(self, block: list[Stmt], known: dict[Var, Affine], ranges: dict[Var, tuple[int, int]]) -> None:
        self.known = dict(known)
        self.ranges = dict(ranges)
        self.loads: dict[Array, list[Affine]] = {}
        self.stores: dict[Array, list[Affine]] = {}
        self.defined: set[Any] = set()
        self.read: set[Any] = set()
        # Logs, ends of loops and what is printed, which fusion leaves alone.
        self.special = False
        # Whether an index that is out of range is found here, and the kernel left.
        self.checks = False
        self.walk(block)

    def walk(self, block: list[Stmt]) -> None:
        for s in block:
            self.read.update(x for x in operands(s) if x.__class__ is Var)
            if s.__class__ is ir.Set:
                self.defined.add(s.var)
                place = sum_of(s, self.known)
                if place is not None:
                    self.known[s.var] = place
            elif s.__class__ is ir.Load:
                self.defined.add(s.var)
                self.loads.setdefault(s.array, []).append(affine(s.index, self.known))
            elif s.__class__ is ir.Store:
                self.special |= s.array.role == "printed"
                self.stores.setdefault(s.array, []).append(affine(s.index, self.known))
            elif s.__class__ is ir.Routine:
                self.stores.setdefault(s.array, []).append({})
                self.loads.setdefault(s.value, []).append({})
                self.special = True
            elif s.__class__ is ir.AddTo:
                for found in (self.loads, self.stores):
                    found.setdefault(s.array, []).append(affine(s.index, self.known))
            elif s.__class__ is ir.Alloc:
                self.defined.add(s.array)
            elif s.__class__ is ir.Loop:
                self.defined.update([s.trips, *(phi for phi, _, _ in s.carried)])
                bounds = static_range(s)
                if bounds is not None and s.index is not None:
                    self.ranges[s.index] = bounds
            elif s.__class__ is ir.If:
                self.defined.update(var for var, _, _ in s.merges)
            elif s.__class__ is ir.Accumulate:
                self.defined.add(s.var)
            elif s.__class__ is ir.Check:
                self.checks = True
            else:
                self.special = True
            for inner in blocks_of(s):
                self.walk(inner)

    def within_bounds(self) -> bool:
        """Whether every place is one of the array's, whatever a check would find."""
        for places in (self.loads, self.stores):
            for array, found in places.items():
                for place in found:
                    bounds = span(place, self.ranges)
                    if bounds is None or not 0 <= bounds[0] <= bounds[1] < array.size:
                        return False
        return True


# --- statements apart -----------------------------------------------------------------------------------------------


def movable(s: Any) -> bool:
    """Whether a statement is arithmetic, or loads or stores a certain element."""
    if s.__class__ is ir.Set:
        return bool(s.op != "zero")
    at_once = s.__class__ in (ir.Load, ir.Store, ir.AddTo) and s.index.__class__ is int
    return at_once and s.array.role != "printed"


def apart(ours: Touched, theirs: Touched) -> bool:
    """Whether two statements may change places."""
    if theirs.special or theirs.checks or theirs.defined & (ours.read | ours.defined) or ours.defined & theirs.read:
        return False
    if any(x in theirs.defined for x in (*ours.loads, *ours.stores)):
        return False
    for mine, others in ((ours.stores, (theirs.stores, theirs.loads)), (ours.loads, (theirs.stores,))):
        for array, places in mine.items():
            for other in others:
                if not all(elsewhere(a, b, theirs.ranges) for a in places for b in other.get(array, ())):
                    return False
    return True


def elsewhere(place: Affine, other: Affine, ranges: dict[Var, tuple[int, int]]) -> bool:
    """Whether a certain place is none of the others."""
    bounds = span(other, ranges) if other else None
    at = place.get(None, 0)
    return bounds is not None and not bounds[0] <= at <= bounds[1]


# --- loops ----------------------------------------------------------------------------------------------------------


def swept(block: list[Stmt]) -> set[Var]:
    """The trip counts that reverse loops of derivatives inside the program go by."""
    return {s.trips for s in everything(block) if s.__class__ is ir.ReverseLoop}


def fused(
    block: list[Stmt], known: dict[Var, Affine], ranges: dict[Var, tuple[int, int]], counted: frozenset[Var]
) -> list[Stmt]:
    """A block whose loops over one range are one loop, where that changes nothing; blocks inside likewise.

    Loops whose trips are `counted` for a reverse sweep stay on their own.
    """
    known = dict(known)
    kept: list[Stmt] = [s for s in block if s.__class__ is ir.Alloc]
    for s in block:
        if s.__class__ is ir.Alloc:
            continue
        if s.__class__ is ir.Set:
            place = sum_of(s, known)
            if place is not None:
                known[s.var] = place
        elif s.__class__ is ir.Loop and not s.own and static_range(s) is not None and s.trips not in counted:
            partner = place_for(s, kept, known, ranges)
            if partner is not None:
                kept[partner] = together(kept[partner], s)  # type: ignore[arg-type]
                continue
        kept.append(s)
    done: list[Stmt] = []
    for s in kept:
        inside = ranges
        if s.__class__ is ir.Loop and s.index is not None:
            bounds = static_range(s)
            inside = {**ranges, s.index: bounds} if bounds is not None else ranges
        done.append(with_blocks(s, lambda inner, inside=inside: fused(inner, known, inside, counted)))
    return done


def place_for(s: ir.Loop, kept: list[Stmt], known: dict[Var, Affine], ranges: dict[Var, tuple[int, int]]) -> int | None:
    """The position of an earlier loop that can take `s` in."""
    ours = Touched([s], known, ranges)
    if ours.special:
        return None
    for k in reversed(range(len(kept))):
        other = kept[k]
        if (
            other.__class__ is ir.Loop
            and not other.own
            and (other.start, other.stop, other.step) == (s.start, s.stop, s.step)
        ):
            if shared(other, ours) and one_loop(other, s, ours, known, ranges):
                return k
        between = Touched([other], known, ranges)
        if movable(other) and apart(between, ours):
            continue
        if (
            between.special
            or between.defined & ours.read
            or between.read & ours.defined
            or (between.checks and not ours.within_bounds())
            or any(x in ours.loads or x in ours.stores for x in between.stores)
            or any(x in ours.stores for x in between.loads)
            or any(x in between.defined for x in (*ours.loads, *ours.stores))
        ):
            return None
    return None


def shared(first: ir.Loop, second: Touched) -> bool:
    """Whether two loops go through one array: if not, one loop is no better than two, and in the way of a third."""
    arrays = {*second.loads, *second.stores}
    return not arrays or any(getattr(inner, "array", None) in arrays for inner in everything([first]))


def one_loop(
    first: ir.Loop, second: ir.Loop, ours: Touched, known: dict[Var, Affine], ranges: dict[Var, tuple[int, int]]
) -> bool:
    """Whether running each iteration of `second` right after that of `first` gives the same."""
    theirs = Touched([first], known, ranges)
    if theirs.special or theirs.defined & ours.read or theirs.read & ours.defined:
        return False
    if theirs.checks and not ours.within_bounds():
        return False
    shared = {x for x in theirs.stores if x in ours.loads or x in ours.stores} | {
        x for x in theirs.loads if x in ours.stores
    }
    return all(one_row_each(array, ((theirs, first.index), (ours, second.index)), ranges) for array in shared)


def one_row_each(array: Array, sides: Any, outer: dict[Var, tuple[int, int]]) -> bool:
    """Whether every iteration keeps to a part of the array of its own, the same part on both sides."""
    rows = set()
    base: int | None = None
    for touched, index in sides:
        inside = {var: bounds for var, bounds in touched.ranges.items() if var not in outer and var is not index}
        for place in [*touched.loads.get(array, ()), *touched.stores.get(array, ())]:
            stride = place.get(index, 0)
            fixed = {
                var: factor
                for var, factor in place.items()
                if factor and var is not None and var is not index and var not in inside
            }
            if base is None:
                base = place.get(None, 0)
            within = {var: factor for var, factor in place.items() if var in inside}
            within[None] = place.get(None, 0) - base
            bounds = span(within, inside)
            if bounds is None or any(var in touched.defined for var in fixed):
                return False
            if not 0 <= bounds[0] <= bounds[1] < stride:
                return False
            rows.add((stride, frozenset(fixed.items())))
    return len(rows) == 1


def together(first: ir.Loop, second: ir.Loop) -> ir.Loop:
    """Both bodies in one loop."""
    names = {second.index: first.index, second.trips: first.trips}
    body = first.body + renamed(second.body, names)
    carried = first.carried + [
        (phi, initial, names.get(f, f) if f.__class__ is Var else f) for phi, initial, f in second.carried
    ]
    return first.replace(body=body, carried=carried, stacks={**first.stacks, **second.stacks})


def renamed(block: list[Stmt], names: dict[Any, Any]) -> list[Stmt]:
    """A block that reads other variables in the place of some."""

    def new(x: Any) -> Any:
        return names.get(x, x) if x.__class__ is Var else x

    found: list[Stmt] = []
    for s in block:
        s = with_blocks(s, lambda inner: renamed(inner, names))
        if s.__class__ is ir.Set:
            s = ir.Set(s.var, s.op, tuple(map(new, s.args)), s.site, s.attributes)
        elif s.__class__ is ir.Loop:
            s = s.replace(
                start=new(s.start), stop=new(s.stop), step=new(s.step), condition=new(s.condition),
                stop_when=new(s.stop_when), carried=[(phi, new(a), new(b)) for phi, a, b in s.carried],
            )  # fmt: skip
        elif s.__class__ is ir.If:
            s = ir.If(new(s.condition), s.then, s.orelse, [(var, new(a), new(b)) for var, a, b in s.merges])
        elif s.__class__ is ir.Region:
            s = s.replace(results=list(map(new, s.results)), operands=tuple(map(new, s.operands)))
        else:
            s = with_operands(s, new)
        found.append(s)
    return found


# --- arrays ---------------------------------------------------------------------------------------------------------


class Forwarding:
    """Loads of what the block has just stored replaced by it; integers and loads computed once in a block."""

    def __init__(self) -> None:
        self.names: dict[Var, Any] = {}

    def new(self, x: Any) -> Any:
        return self.names.get(x, x) if x.__class__ is Var else x

    def block(self, block: list[Stmt], outer: dict[Any, Any] | None = None) -> list[Stmt]:
        """`outer` holds the integers computed around the block."""
        integers: dict[Any, Any] = dict(outer or {})
        elements: dict[tuple[Array, Any], Any] = {}
        kept: list[Stmt] = []
        for s in block:
            s = s if isinstance(s, ir.Loop | ir.If | ir.Region) else renamed([s], self.names)[0]
            if s.__class__ is ir.Set and s.var.kind == ir.INT and s.op in ("add", "subtract", "multiply"):
                key = (s.op, s.args)
                if key in integers:
                    self.names[s.var] = integers[key]
                    continue
                integers[key] = s.var
            elif s.__class__ is ir.Load:
                found = elements.get((s.array, s.index))
                if found is not None:
                    self.names[s.var] = found
                    continue
                elements[s.array, s.index] = s.var
            elif s.__class__ is ir.Store:
                forget(elements, {s.array})
                if s.array.kind != ir.FLOAT or s.value.__class__ in (Var, float):
                    elements[s.array, s.index] = s.value
            elif isinstance(s, ir.Loop | ir.If | ir.Region):
                s = self.nested(s, integers)
                forget(elements, set(Touched([s], {}, {}).stores))
            elif isinstance(s, ir.AddTo | ir.TakeBack | ir.Rewind | ir.Routine):
                forget(elements, {s.array})
            kept.append(s)
        return kept

    def nested(self, s: Any, integers: dict[Any, Any]) -> Stmt:
        if s.__class__ is ir.Region:
            operands = tuple(map(self.new, s.operands))
            body = self.block(s.body, integers)
            return s.replace(results=list(map(self.new, s.results)), operands=operands, body=body)
        if s.__class__ is ir.If:
            condition = self.new(s.condition)
            then, orelse = self.block(s.then, integers), self.block(s.orelse, integers)
            return ir.If(condition, then, orelse, [(var, self.new(a), self.new(b)) for var, a, b in s.merges])
        start, stop, step = self.new(s.start), self.new(s.stop), self.new(s.step)
        initials = [self.new(initial) for _, initial, _ in s.carried]
        test = None if s.test is None else self.block(s.test, integers)
        body = self.block(s.body, integers)
        carried = [(phi, initial, self.new(f)) for (phi, _, f), initial in zip(s.carried, initials)]
        found: ir.Loop = s.replace(
            start=start, stop=stop, step=step, test=test, body=body, carried=carried, condition=self.new(s.condition),
            stop_when=self.new(s.stop_when),
        )  # fmt: skip
        return found


def forget(elements: dict[tuple[Array, Any], Any], changed: set[Array]) -> None:
    for key in [key for key in elements if key[0] in changed]:
        del elements[key]
