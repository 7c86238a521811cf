"""Store or recompute: values that are dear to compute are kept for the reverse sweep by the loops that find them.

The reverse sweep runs the body of a loop again, which costs less than keeping what it computes, but for exponentials,
logarithms and the like: these are stored as they are found, each at its place in the nest of loops around it.
"""

from __future__ import annotations

from .. import ir
from ..ir import FLOAT, INT, Array, Stmt, Var

TYPE_CHECKING = False
if TYPE_CHECKING:
    # By variable: the array that holds it, and the variable of its place there.
    Kept = dict[Var, tuple[Array, Var]]

# Rows whose derivative reads their value, and that cost many times what a store and a load do.
DEAR = frozenset(("exp", "expm1", "power", "tanh", "sigmoid", "softplus", "sinh", "cosh", "tan", "cbrt"))
# Elements that a kernel keeps so at most: 32 MiB.
MOST = 1 << 22


def keeping(kernel: ir.Kernel) -> tuple[ir.Kernel, Kept]:
    """The same kernel, with what is dear stored by those loops of which it is known how often they run."""
    kept: Kept = {}
    total = 0

    def walk(block: list[Stmt], nest: list[tuple[Var, int]], arrays: list[Stmt]) -> list[Stmt]:
        nonlocal total
        found: list[Stmt] = []
        for s in block:
            before: list[Stmt] = []
            if s.__class__ is ir.Loop and s.test is None and counts_from_zero(s):
                assert s.index is not None
                s = s.replace(body=walk(s.body, [*nest, (s.index, s.stop)], arrays if nest else before))
            elif s.__class__ is ir.If:
                then, orelse = (walk(side, nest, arrays if nest else before) for side in (s.then, s.orelse))
                s = ir.If(s.condition, then, orelse, s.merges)
            found.extend(before)
            if s.__class__ is ir.Set and nest and is_dear(s):
                size = 1
                for _, trips in nest:
                    size *= trips
                if 1 < size <= MOST - total:
                    total += size
                    array = Array(FLOAT, (size,))
                    arrays.append(ir.Alloc(array, False))
                    place = place_in(nest, found)
                    kept[s.var] = (array, place)
                    found.extend((s, ir.Store(array, place, s.var)))
                    continue
            found.append(s)
        return found

    return ir.Kernel(kernel.parameters, walk(kernel.body, [], []), kernel.results), kept


def is_dear(s: ir.Set) -> bool:
    """Whether a statement computes a value that is dear: a whole power is but a few products."""
    return s.var.kind == FLOAT and s.op in DEAR and not (s.op == "power" and s.args[1].__class__ is int)


def counts_from_zero(s: ir.Loop) -> bool:
    """Whether the index of a loop counts its iterations, whose number is known."""
    return (
        s.index is not None and s.start.__class__ is int and s.start == 0 and s.step.__class__ is int and s.step == 1
        and s.stop.__class__ is int
    )  # fmt: skip


def place_in(nest: list[tuple[Var, int]], found: list[Stmt]) -> Var:
    """The number of the iteration of a whole nest, computed by statements appended to `found`."""
    place = nest[0][0]
    for index, trips in nest[1:]:
        scaled, place_there = Var(INT), Var(INT)
        found.append(ir.Set(scaled, "multiply", (place, trips), None, None))
        found.append(ir.Set(place_there, "add", (scaled, index), None, None))
        place = place_there
    return place


def from_memory(block: list[Stmt], kept: Kept, arrays: set[Array]) -> list[Stmt]:
    """A block that runs again, with what is in `arrays` loaded and not computed."""
    found: list[Stmt] = []
    for s in block:
        if s.__class__ is ir.Set and s.var in kept and kept[s.var][0] in arrays:
            s = ir.Load(s.var, *kept[s.var])
        elif s.__class__ is ir.Loop:
            s = s.replace(body=from_memory(s.body, kept, arrays))
        elif s.__class__ is ir.If:
            s = ir.If(s.condition, from_memory(s.then, kept, arrays), from_memory(s.orelse, kept, arrays), s.merges)
        found.append(s)
    return found
