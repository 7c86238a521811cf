"""What a kernel reads, and where: the variables that are read once, the arrays that need not be brought back."""

from __future__ import annotations

from .. import ir
from ..ir import Array, Stmt, Var
from ..passes.statements import blocks_of, changes, everything, inside, operands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# A shorter array is in registers when it has been brought back.
LEAST_UNMOVED = 64


def used_positions(kernel: ir.Kernel) -> set[Any]:
    """Everything that is read anywhere, the loops' counters among it."""
    found: set[Any] = set()

    for s in everything(kernel.body):
        found.update(operands(s))
    return found


def read_once(kernel: ir.Kernel) -> set[Var]:
    """The variables that are set in one place and read in one."""
    reads: dict[Any, int] = {}
    sets: dict[Var, int] = {}

    for s in everything(kernel.body):
        for x in operands(s):
            reads[x] = reads.get(x, 0) + 1
        if isinstance(s, ir.Set | ir.Accumulate | ir.Load):
            sets[s.var] = sets.get(s.var, 0) + 1
    for r in kernel.results:
        reads[r] = reads.get(r, 0) + 1
    return {var for var, times in sets.items() if times == 1 and reads.get(var) == 1}


def arrays_changed(s: Stmt) -> set[Array]:
    """The arrays that a statement stores in anywhere inside it."""
    found: set[Any] = set()
    for inner in inside(s):
        if isinstance(inner, ir.Store | ir.AddTo | ir.TakeBack | ir.Rewind):
            found.add(inner.array)
        elif inner.__class__ is ir.ReverseLoop:
            found.update(x for x, _ in inner.restore if x.__class__ is Array)
    return found


def read_where_kept(kernel: ir.Kernel) -> set[tuple[ir.ReverseLoop, Any]]:
    """The arrays that a reverse loop need not bring back, with the loop: it reads them only, and nothing does after it."""
    found: set[tuple[ir.ReverseLoop, Any]] = set()
    needed = set(kernel.results)
    for s in reversed(kernel.body):
        within = inside(s)
        if s.__class__ is ir.ReverseLoop:
            changed = {x for inner in within if inner.__class__ is not ir.Load for x in arrays_named(inner, s)}
            whole = {x for x, _ in s.restore if x.__class__ is Array and x.size >= LEAST_UNMOVED}
            found.update((s, x) for x in whole - changed - needed)
        needed.update(x for inner in within for x in arrays_named(inner, None))
    return found


def arrays_named(s: Any, but: Stmt | None) -> list[Any]:
    """The arrays that a statement itself names; of one statement, what it brings back aside."""
    held = [] if s is but else [*getattr(s, "stacks", ()), *(x for x, _ in getattr(s, "restore", ()))]
    return [x for x in (getattr(s, "array", None), getattr(s, "value", None), *held) if x.__class__ is Array]


class Replaced:
    """What loops hand on that may have the name of what it replaces."""

    def __init__(self, kernel: ir.Kernel) -> None:
        # What the sweep back writes again is not what the sweep forward has left.
        self.restored = {x for s in everything(kernel.body) for x, _ in getattr(s, "restore", ())}
        # By loop: the places in its body where variables are set, and the last ones where they are read.
        self.places: dict[ir.Loop, tuple[dict[Var, list[int]], dict[Any, int]]] = {}

    def places_in(self, s: ir.Loop) -> tuple[dict[Var, list[int]], dict[Any, int]]:
        if s not in self.places:
            setting: dict[Var, list[int]] = {}
            reading: dict[Any, int] = {}
            for k, inner in enumerate(s.body):
                for var in changes(inner):
                    setting.setdefault(var, []).append(k)
                for deeper in everything([inner]):
                    reading.update(dict.fromkeys(operands(deeper), k))
            self.places[s] = setting, reading
        return self.places[s]

    def by(self, s: ir.Loop, phi: Var, following: Any) -> bool:
        """Whether one statement of the loop's body sets `following`, and from there on nothing reads `phi`."""
        handed = [x for _, _, x in s.carried]
        if following.__class__ is not Var or following.kind != phi.kind or phi in (s.stop_when, *handed):
            return False
        setting, reading = self.places_in(s)
        places = setting.get(following, ())
        if len(places) != 1 or handed.count(following) != 1 or not self.restored.isdisjoint((phi, following)):
            return False
        return sets_last(s.body[places[0]], phi, following) and reading.get(phi, 0) <= places[0]


def sets_last(s: Stmt, phi: Var, following: Var) -> bool:
    """Whether a statement sets `following` when it reads `phi` no more."""
    if isinstance(s, ir.Set | ir.Load | ir.Mark):
        return True
    if s.__class__ is ir.If:
        return [var for var, _, _ in s.merges] == [following] and not sets_inside(s, following)
    if s.__class__ is ir.Loop:
        initial = [initial for var, initial, _ in s.carried if var is following]
        return len(initial) == 1 and reads([s], phi) == (initial[0] is phi) and not sets_inside(s, following)
    return False


def sets_inside(s: Stmt, var: Var) -> bool:
    return any(var in changes(inner) for block in blocks_of(s) for inner in block)


def reads(block: list[Stmt], var: Var) -> int:
    """How often statements read a variable."""
    return sum(x is var for s in everything(block) for x in operands(s))
