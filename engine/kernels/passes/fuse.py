"""Loop fusion and array contraction: neighbouring loops over one range as one, arrays that live for one iteration as scalars.

Array operations become loops of their own, each with its result in memory. Two such loops are one where the second reads of
the first one's results, in an iteration, only what that iteration has stored (Gao, Olsen, Sarkar and Thekkath, Collective
loop fusion for array contraction, 1992).
"""

from __future__ import annotations

from .. import ir
from ..ir import Array, Stmt, Var
from .dead_code import without_dead_code
from .dependence import Touched, apart, follow, movable, one_row_each, static_range
from .statements import everything, with_blocks, with_operands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .dependence import Affine


def fuse(kernel: ir.Kernel) -> ir.Kernel:
    """The same kernel with fewer loops and arrays."""
    forwarding = Forwarding(kernel.body)
    kernel = without_dead_code(kernel, logs=True)
    body = forwarding.block(fused(kernel.body, {}, {}, frozenset(swept(kernel.body))))
    return without_dead_code(ir.Kernel(kernel.parameters, body, list(map(forwarding.new, kernel.results))), logs=True)


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
            follow(s, known)
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

    def __init__(self, block: list[Stmt]) -> None:
        self.names: dict[Var, Any] = {}
        # Arrays that a tape may follow as wholes, their numbers that are known among the others.
        self.followed = {
            s.array for s in everything(block)
            if s.__class__ is ir.Store and s.value.__class__ is Var and s.array.kind == ir.FLOAT and not s.array.mixed
        }  # fmt: skip

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
                if found.__class__ is float and s.array in self.followed:
                    s = ir.Set(s.var, "inert", (found,), None, None)
                elif found is not None:
                    self.names[s.var] = found
                    continue
                else:
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
