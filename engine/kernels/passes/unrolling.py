"""Full unrolling of short loops that pick elements of short lists, which are in memory for the sake of these loops only.

    for k in range(3):                      w[3*i] = x
        a[0], a[1], a[2] = x, y, z    =>    w[3*i + 1] = y
        w[3*i + k] = a[k]                   w[3*i + 2] = z

Where every place of such a list is known, none of its elements need be stored (common_subexpressions.py).
"""

from __future__ import annotations

from .. import ir
from ..ir import INT, Array, Stmt, Var
from .cloning import cloned, defined_in, renewed
from .statements import arrays_named, everything, operands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# So many iterations at most are written out, so long are lists, and so many statements come of a loop.
MOST_TRIPS, MOST_ELEMENTS, MOST_STATEMENTS = 16, 32, 256
# Arithmetic on places.
ON_PLACES: dict[str, Callable[..., int]] = {
    "copy": lambda x: x,
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
}


def unrolled(kernel: ir.Kernel) -> ir.Kernel:
    """The same kernel, with such loops written out; this very one where there are none."""
    lists = known_lists(kernel)
    if not lists:
        return kernel
    read = {x for s in everything(kernel.body) for x in operands(s)}
    body = rewritten(kernel.body, lists, read)
    return kernel if body is None else ir.Kernel(kernel.parameters, body, kernel.results)


def known_lists(kernel: ir.Kernel) -> set[Array]:
    """The short arrays of the kernel's own that are stored in at known places only, and read at others too."""
    made: set[Any] = set()
    elsewhere: set[Any] = {x for x in kernel.results if x.__class__ is Array}
    asked: set[Any] = set()
    for s in everything(kernel.body):
        if s.__class__ is ir.Alloc and s.array.size <= MOST_ELEMENTS and s.array.role in ("local", "list"):
            made.add(s.array)
        elif s.__class__ is ir.Load:
            if s.index.__class__ is Var:
                asked.add(s.array)
        elif s.__class__ is not ir.Store or s.index.__class__ is not int:
            elsewhere.update(arrays_named(s) if s.__class__ is not ir.Alloc else ())
    return (made & asked) - elsewhere


def rewritten(block: list[Stmt], lists: set[Array], read: set[Any]) -> list[Stmt] | None:
    """A block with the loops in it written out; None where none is."""
    found: list[Stmt] = []
    changed = False
    for s in block:
        if s.__class__ is ir.Loop and picks(s, lists) and s.trips not in read:
            found += iterations(s)
            changed = True
            continue
        if s.blocks:
            inner = {name: rewritten(b, lists, read) for name in s.blocks if (b := getattr(s, name))}
            blocks = {name: b for name, b in inner.items() if b is not None}
            if blocks:
                s = s.replace(**blocks)
                changed = True
        found.append(s)
    return found if changed else None


def picks(s: ir.Loop, lists: set[Array]) -> bool:
    """Whether a loop does little else than to pick elements of lists, at places that its counter decides."""
    if not all(x.__class__ is int for x in (s.start, s.stop, s.step)) or s.test is not None or s.stop_when is not None:
        return False
    trips = len(range(s.start, s.stop, s.step))
    if s.stacks or s.carried or not 1 <= trips <= MOST_TRIPS:
        return False
    if any(inner.__class__ not in (ir.Set, ir.Load, ir.Store, ir.Alloc) for inner in s.body):
        return False
    places = {s.index}
    left = 0
    chosen = False
    for inner in s.body:
        if inner.__class__ is ir.Set and inner.op in ON_PLACES and inner.var.kind == INT:
            if all(x.__class__ is int or x in places for x in inner.args):
                places.add(inner.var)
                continue
        if inner.__class__ is ir.Load and inner.array in lists:
            if inner.index in places:
                chosen = True
                continue
            if inner.index.__class__ is not int:
                return False
        elif inner.__class__ is not ir.Alloc and getattr(inner, "array", None) in lists:
            continue  # a store that nothing needs afterwards
        left += 1
    return chosen and left * trips <= MOST_STATEMENTS


def iterations(s: ir.Loop) -> list[Stmt]:
    """The iterations of a loop, one after the other."""
    found: list[Stmt] = []
    own = defined_in(s.body)
    for index in range(s.start, s.stop, s.step):
        names: dict[Any, Any] = {x: renewed(x) for x in own}
        names[s.index] = index
        for inner in s.body:
            made = cloned(inner, names)
            if inner.__class__ is ir.Set and inner.op in ON_PLACES and all(x.__class__ is int for x in made.args):
                names[inner.var] = ON_PLACES[inner.op](*made.args)
            elif inner.__class__ is ir.Set and inner.op == "add" and inner.var.kind == INT and made.args[1] == 0:
                names[inner.var] = made.args[0]
            else:
                found.append(made)
    return found


__all__ = ["unrolled"]
