"""Uses and definitions: what statements read and set, the blocks inside them, and statements with either replaced."""

from __future__ import annotations

from .. import ir
from ..ir import Stmt, Var

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


# Statements that set, or add to, the variable `var`.
VALUED: frozenset[Any] = frozenset((ir.Set, ir.Accumulate, ir.Load, ir.Mark))
# Operations that leave the kernel where the tape has an error: what does not fit into 64 bits, a division by zero.
LEAVING = frozenset(
    "int_add int_subtract int_multiply int_floor_divide int_mod int_power int_fmod int_factorial int_comb to_int".split()
)


def blocks_of(s: Stmt) -> list[list[Stmt]]:
    """The blocks inside a statement."""
    return [block for name in s.blocks if (block := getattr(s, name))] if s.blocks else []


def operands(s: Stmt) -> Sequence[Any]:
    """What a statement itself reads (the blocks inside it apart)."""
    kind: Any = s.__class__
    if kind is ir.Set:
        return s.args  # type: ignore[attr-defined,no-any-return]
    single: Any = s
    if kind is ir.Accumulate:
        return single.var, single.value
    if kind is ir.Loop:
        found = [single.start, single.stop, single.step, single.condition, single.stop_when]
        for _, initial, following in single.carried:
            found += (initial, following)
        return found
    if kind is ir.ReverseLoop:
        return single.trips, single.start, single.step
    if kind is ir.Region:
        return single.operands  # type: ignore[no-any-return]
    if kind is ir.If:
        found = [single.condition]
        for _, one, other in single.merges:
            found += (one, other)
        return found
    return getattr(s, "index", None), getattr(s, "value", None)


def read_counts(block: list[Stmt]) -> dict[Any, int]:
    """How often each variable is read; what is added to is read too."""
    found: dict[Any, int] = {}
    for s in everything(block):
        for x in operands(s):
            found[x] = found.get(x, 0) + 1
    return found


def mentions(s: Stmt, var: Var) -> bool:
    """Whether a statement reads or changes a variable anywhere inside it."""
    return any(
        getattr(inner, "var", None) is var or any(x is var for x in operands(inner)) for inner in everything([s])
    )


def touched(s: Stmt) -> dict[Any, None]:
    """What a statement reads or changes anywhere inside it, in its order."""
    found: dict[Any, None] = {}
    for inner in everything([s]):
        found.update(dict.fromkeys(operands(inner)))
        found[getattr(inner, "var", None)] = None
    return found


def changes(s: Stmt) -> set[Var]:
    """The variables that a statement sets or adds to anywhere inside it."""
    if not s.blocks:
        return {s.var} if s.__class__ in VALUED else set()  # type: ignore[attr-defined]
    found: set[Var] = set()
    for inner in everything([s]):
        if inner.__class__ in VALUED:
            found.add(inner.var)
        elif inner.__class__ is ir.Loop:
            found.update(phi for phi, _, _ in inner.carried)
        elif inner.__class__ is ir.ReverseLoop:
            found.update(phi for phi, _ in inner.restore)
        elif inner.__class__ is ir.If:
            found.update(var for var, _, _ in inner.merges)
    return found


def with_blocks(s: Stmt, change: Any) -> Stmt:
    """A statement with its blocks changed."""
    if not s.blocks:
        return s
    changed = {name: change(block) for name in s.blocks if (block := getattr(s, name))}
    return s.replace(**changed) if changed else s


def with_operands(s: Stmt, new: Callable[[Any], Any]) -> Stmt:
    """A statement on its own, neither `Set` nor one with blocks, that reads `new` of what it read."""
    changed = {}
    for name in ("index", "value"):
        x = getattr(s, name, None)
        y = new(x)
        if y is not x:
            changed[name] = y
    return s.replace(**changed) if changed else s


def with_arguments(s: ir.Set, args: tuple[Any, ...]) -> ir.Set:
    """The operation on `args`, those that it has or others."""
    for x, y in zip(args, s.args, strict=True):
        if x is not y:
            return ir.Set(s.var, s.op, args, s.site, s.attributes)
    return s


def inside(s: Stmt) -> list[Any]:
    """A statement, and all that are in it at any depth."""
    return everything([s]) if s.blocks else [s]


def everything(block: list[Stmt]) -> list[Any]:
    """All statements, at any depth."""
    found: list[Any] = []
    collect(block, found)
    return found


def collect(block: list[Stmt], found: list[Any]) -> None:
    """Put all statements of a block, at any depth, at the end of a list: every pass asks, and a list is quickest."""
    for s in block:
        found.append(s)
        for name in s.blocks:
            if inner := getattr(s, name):
                collect(inner, found)


def outliving(block: list[Stmt]) -> set[Any]:
    """The arrays that are touched outside the block that makes them.

    What a side of a branch makes is known again in later branches on the same condition: the reverse sweep takes the sides
    that were taken. So the end of a side, other than that of a loop's body, is not the end of its arrays.
    """
    found: set[Any] = set()
    made: set[Any] = set()

    def walk(inner: list[Stmt]) -> None:
        here: set[Any] = set()
        for s in inner:
            if s.__class__ is ir.Alloc:
                here.add(s.array)
                made.add(s.array)
            else:
                found.update(x for x in arrays_named(s) if x not in made)
            for deeper in blocks_of(s):
                walk(deeper)
        made.difference_update(here)

    walk(block)
    return found


def arrays_named(s: Any) -> list[Any]:
    """The arrays that a statement itself names (the blocks inside it apart)."""
    named = [getattr(s, "array", None), *getattr(s, "stacks", ()), *(x for x, _ in getattr(s, "restore", ()))]
    named += [*getattr(s, "operands", ()), *getattr(s, "results", ()), getattr(s, "value", None)]
    return [x for x in named if x.__class__ is ir.Array]


def arrays_of(block: list[Stmt]) -> set[Any]:
    """The arrays that a block touches."""
    found: set[Any] = set()
    for s in everything(block):
        if getattr(s, "array", None) is not None:
            found.add(s.array)
        if s.__class__ is ir.Routine:
            found.add(s.value)
    return found


def otherwise_touched(block: list[Stmt]) -> set[Any]:
    """The arrays that a block reads, or writes otherwise than by adding."""
    found: set[Any] = set()
    for s in everything(block):
        if s.__class__ is not ir.AddTo and getattr(s, "array", None) is not None:
            found.add(s.array)
        if s.__class__ is ir.ReverseLoop:
            found.update(x for x, _ in s.restore)
    return found


def constant_variables(block: list[Stmt]) -> set[Var]:
    """The variables that one statement sets, and none changes."""
    times: dict[Var, int] = {}
    for s in everything(block):
        if isinstance(s, ir.Set | ir.Load):
            times[s.var] = times.get(s.var, 0) + 1
        elif s.__class__ is ir.Accumulate:
            times[s.var] = 2
        elif isinstance(s, ir.Loop | ir.ReverseLoop):
            for index in (s.index, getattr(s, "position", None)):
                if index is not None:
                    times[index] = times.get(index, 0) + 1
    return {var for var, n in times.items() if n == 1}
