"""Loop-invariant code motion out of the loop over directions: arrays that are complete before anything reads them.

A tangent stands beside what it is the tangent of, in the same loops, so that whole loops depend on the direction where
only half of what they compute does. An array that later statements alone read, when it is complete, is computed before
the directions instead, by a copy of the code that makes it, and the loops around the tangents read it.
"""

from __future__ import annotations

from .. import ir
from ..ir import FLOAT, INT, Array, Stmt, Var
from .cloning import cloned, defined_in, renewed
from .dead_code import without_dead_code
from .statements import everything, with_blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What is computed as quickly as it is loaded.
QUICK = frozenset(("copy", "zero", "add", "subtract", "multiply", "negative"))
# Elements that are kept so at most: 32 MiB.
MOST = 1 << 22


def invariant_arrays(
    parameters: list[Any], primal: list[Stmt], body: list[Stmt], kept: list[Any], flags: list[Any], tangents: list[Any]
) -> tuple[list[Stmt], list[Stmt], dict[Any, Any]]:
    """Statements to go before the directions, and the rest of `body`, which computes `tangents` for each of them; and
    which numbers that are kept the first part computes, by the variables of the rest that it need not have.

    `body` has the statements of `primal` among its own, of which what is `kept` and the flags are the results. Indices
    are checked in the first part, for both.
    """
    primal = without_dead_code(ir.Kernel(parameters, primal, [*kept, *flags])).body
    body = without_dead_code(ir.Kernel(parameters, body, [*kept, *tangents, *flags])).body
    # A tangent may ask for what an array was before it was complete, where nothing else does.
    complete = (complete_arrays(primal) & complete_arrays(body)) - set(flags)
    names = {x: renewed(x) for x in defined_in(primal) if x not in complete}
    numbers = [x for x in kept if x.__class__ is Var and x in names]
    needed = [x for x in kept if x not in numbers]
    rest = without_dead_code(ir.Kernel(parameters, without_writing(body, complete), [*needed, *tangents, *flags])).body
    wanted = [
        x
        for x in complete
        if x in kept or x in tangents or any(getattr(s, "array", None) is x for s in everything(rest))
    ]
    wanted += [s.value for s in everything(rest) if s.__class__ is ir.Routine and s.value in complete]
    if not wanted or sum(x.size for x in wanted) > MOST:
        return [], body, {}
    results = [*wanted, *(names[x] for x in numbers)]
    before = without_dead_code(ir.Kernel(parameters, [cloned(s, names) for s in primal], results))
    return before.body, rest, dict(zip(numbers, before.results[len(wanted) :]))


def complete_arrays(block: list[Stmt]) -> set[Array]:
    """The arrays of a block that no statement reads before the last one that writes in them is through."""
    made: set[Array] = set()
    written: dict[Any, int] = {}
    read: dict[Any, int] = {}
    for k, s in enumerate(block):
        if s.__class__ is ir.Alloc:
            made.add(s.array)
        for inner in everything([s]):
            if isinstance(inner, ir.Store | ir.AddTo):
                written[inner.array] = k
                if inner.__class__ is ir.Routine:
                    read.setdefault(inner.value, k)
            elif inner.__class__ is ir.Load:
                read.setdefault(inner.array, k)
            elif inner.__class__ is ir.Region:
                return set()
            elif isinstance(inner, ir.TakeBack | ir.Rewind):
                made.discard(inner.array)
            elif isinstance(inner, ir.Loop | ir.ReverseLoop):
                made.difference_update([*getattr(inner, "stacks", ()), *(x for x, _ in getattr(inner, "restore", ()))])
    return {x for x in made if x in written and written[x] < read.get(x, len(block))}


def without_writing(block: list[Stmt], arrays: set[Array]) -> list[Stmt]:
    """A block that leaves some arrays, which are complete, as they are, and checks no index."""
    return [
        with_blocks(s, lambda inner: without_writing(inner, arrays))
        for s in looked_up(block, arrays)
        if s.__class__ is not ir.Check
        and not (isinstance(s, ir.Alloc | ir.Store | ir.AddTo | ir.OpenLog | ir.Keep) and s.array in arrays)
    ]


def looked_up(block: list[Stmt], arrays: set[Array]) -> list[Stmt]:
    """A block that loads what it would compute, where that is in one of the arrays, and stays there: elements of those that
    are updated may have been overwritten when these are complete."""
    lasting = {x for x in arrays if x.kind == FLOAT and x.role == "local"}
    stored = {s.value: s for s in block if s.__class__ is ir.Store and s.array in lasting}
    sets = {s.var: s for s in block if s.__class__ is ir.Set}
    others = defined_in([s for s in block if s.__class__ is not ir.Set])
    moved: set[Var] = set()
    found: list[Stmt] = []

    def place(index: Any) -> None:
        """What computes an index, before it is asked for."""
        if index in sets and index not in moved:
            moved.add(index)
            for x in sets[index].args:
                place(x)
            found.append(sets[index])

    for s in block:
        if s.__class__ is ir.Set:
            if s.var in moved:
                continue
            store = stored.get(s.var)
            if store is not None and s.op not in QUICK and whole(store.index, sets, others):
                place(store.index)
                s = ir.Load(s.var, store.array, store.index)
            elif s.var.kind == INT:
                moved.add(s.var)
        found.append(s)
    return found


def whole(index: Any, sets: dict[Var, ir.Set], others: set[Any]) -> bool:
    """Whether an index is a sum of what is known before the block: it can be computed at the beginning."""
    s = sets.get(index)
    if s is None:
        return index not in others
    return s.op in ("add", "subtract", "multiply", "copy") and all(whole(x, sets, others) for x in s.args)
