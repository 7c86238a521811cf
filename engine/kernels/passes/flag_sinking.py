"""Store sinking: the flag that a loop raises at singular points, again and again in the same place, is raised once behind it.

    for i in range(n):                      met = 0
        met = 0                             for i in range(n):
        ... met += x == 0           =>          ... met += x == 0
        if met != 0:                        if met != 0:
            notes[3] = 1                        notes[3] = 1

What is asked of a number is counted likewise: `n += x == 0` for `if x == 0: notes[3] = 1`. A loop without branches and
stores of that kind may become one on vectors.
"""

from __future__ import annotations

from .. import ir
from ..ir import BOOL, INT, Array, Stmt, Var
from .statements import arrays_named, everything, read_counts, with_blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def flags_sunk(kernel: ir.Kernel) -> ir.Kernel:
    """The same kernel, with such notes behind the loops; this very one where there are none."""
    notes = marks(kernel)
    if not notes:
        return kernel
    return ir.Kernel(kernel.parameters, Moving(notes, read_counts(kernel.body)).block(kernel.body), kernel.results)


def marks(kernel: ir.Kernel) -> set[Array]:
    """The arrays that nothing reads, and in which no more than one number is stored, in known places."""
    stored: dict[Any, set[Any]] = {}
    other: set[Any] = set()
    for s in everything(kernel.body):
        if s.__class__ is ir.Store and s.index.__class__ is int and s.value.__class__ is int:
            stored.setdefault(s.array, set()).add(s.value)
        elif s.__class__ is not ir.Alloc:
            other.update(arrays_named(s))
    return {x for x, values in stored.items() if len(values) == 1 and x.role != "printed"} - other


class Moving:
    """Blocks whose loops note things behind them; `reads` says how often the kernel reads each variable."""

    def __init__(self, notes: set[Array], reads: dict[Any, int]) -> None:
        self.notes = notes
        self.reads = reads

    def block(self, block: list[Stmt]) -> list[Stmt]:
        """A block, and those inside it first."""
        found: list[Stmt] = []
        for s in block:
            s = with_blocks(s, self.block)
            found += self.parted(s) if s.__class__ is ir.Loop else [s]
        return found

    def parted(self, s: ir.Loop) -> list[Stmt]:
        """What goes before a loop, the loop, and what goes behind it."""
        sets = {x.var: x for x in s.body if x.__class__ is ir.Set}
        before: list[Stmt] = []
        behind: list[Stmt] = []
        counted: dict[int, Var] = {}
        dropped: set[int] = set()
        for x in s.body:
            if not isinstance(x, ir.If) or not self.notes_only(x) or x.condition not in sets:
                continue
            asked = sets[x.condition]
            counter = sets.get(asked.args[0]) if is_met(asked) else None
            if counter is not None and is_zero(counter) and self.counts_only(counter.var, x.condition, s.body):
                before.append(counter)
                behind += [asked, x]
                dropped.update((id(counter), id(asked), id(x)))
                continue
            times, met = Var(INT, "n"), Var(BOOL)
            self.reads[times], self.reads[met] = 2, 1
            before.append(ir.Set(times, "copy", (0,), None, None))
            counted[id(x)] = times
            behind += [ir.Set(met, "not_equal", (times, 0), None, None), x.replace(condition=met)]
        if not behind:
            return [s]
        body: list[Stmt] = []
        for x in s.body:
            if isinstance(x, ir.If) and id(x) in counted:
                body.append(ir.Accumulate(counted[id(x)], x.condition))
            elif id(x) not in dropped:
                body.append(x)
        return [*before, s.replace(body=body), *behind]

    def counts_only(self, counter: Var, asked: Var, body: list[Stmt]) -> bool:
        """Whether a counter is added to in the body, before the one branch that asks for it, and not read otherwise."""
        place = next(k for k, s in enumerate(body) if s.__class__ is ir.If and s.condition is asked)
        additions = sum(adds_to(inner, counter) for inner in everything(body[:place]))
        return self.reads[asked] == 1 and self.reads[counter] == 1 + additions

    def notes_only(self, s: ir.If) -> bool:
        """Whether a branch notes something, and no more."""
        return (
            s.condition.__class__ is Var and bool(s.then) and not s.orelse and not s.merges
            and all(x.__class__ is ir.Store and x.array in self.notes for x in s.then)
        )  # fmt: skip


def is_met(s: ir.Set) -> bool:
    """Whether this asks if a counter is not 0."""
    counter, least = (*s.args, None)[:2]
    return (
        s.op == "not_equal"
        and counter.__class__ is Var
        and counter.kind == INT
        and least.__class__ is int
        and not least
    )


def is_zero(s: ir.Set) -> bool:
    """Whether this sets a counter to 0."""
    return s.op == "zero" or (s.op == "copy" and s.args[0].__class__ is int and not s.args[0])


def adds_to(s: Any, counter: Var) -> bool:
    """Whether a statement adds to a counter."""
    return s.__class__ is ir.Accumulate and s.var is counter and s.value is not counter


__all__ = ["flags_sunk"]
