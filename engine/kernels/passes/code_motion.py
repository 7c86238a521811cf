"""Code motion: statements between loops go before the loops where they need nothing of them, and the loops are neighbours.

What is computed once, or loaded from or stored in a certain element, changes places with a loop that touches none of it.
"""

from __future__ import annotations

from .. import ir
from ..ir import Stmt, Var
from .dependence import Touched, apart, follow, movable, static_range
from .statements import with_blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .dependence import Affine

# So far back a statement is moved at most.
FARTHEST = 40


def hoisted(block: list[Stmt], known: dict[Var, Affine], ranges: dict[Var, tuple[int, int]]) -> list[Stmt]:
    """A block, and those inside it, in which what needs nothing of the loops before it stands before them."""
    known = dict(known)
    found: list[Stmt] = []
    for s in lifted(block, known, ranges):
        inside = ranges
        if s.__class__ is ir.Set:
            follow(s, known)
        elif s.__class__ is ir.Loop and s.index is not None:
            bounds = static_range(s)
            inside = {**ranges, s.index: bounds} if bounds is not None else ranges
        found.append(with_blocks(s, lambda inner, inside=inside: hoisted(inner, known, inside)))
    return found


def lifted(block: list[Stmt], known: dict[Var, Affine], ranges: dict[Var, tuple[int, int]]) -> list[Stmt]:
    """The block itself."""
    if not any(s.__class__ is ir.Loop and static_range(s) is not None for s in block):
        return block
    found: list[Stmt] = [s for s in block if s.__class__ is ir.Alloc]
    touched: dict[int, Touched] = {}
    for s in block:
        if s.__class__ is ir.Alloc:
            continue
        place = len(found)
        if movable(s):
            ours = Touched([s], known, ranges)
            for k in range(len(found) - 1, max(-1, len(found) - FARTHEST), -1):
                other = found[k]
                theirs = touched.get(id(other))
                if theirs is None:
                    theirs = touched[id(other)] = Touched([other], known, ranges)
                if not apart(ours, theirs):
                    break
                if other.__class__ is ir.Loop and static_range(other) is not None:
                    place = k
        found.insert(place, s)
    return found
