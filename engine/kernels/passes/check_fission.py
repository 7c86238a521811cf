"""Loop fission of checks: indices are checked in a loop before, for iterations that cannot fail may run on vectors and cores.

    for i in range(n):                  for i in range(n):
        if not 0 <= at[i] < m:              if not 0 <= at[i] < m:
            fail(...)             =>            fail(...)
        ...                             for i in range(n):
                                            ...

Both loops fail at the same iteration, for the same reason: nothing else in the body fails, and what an iteration has done
before it is lost with the kernel.
"""

from __future__ import annotations

from .. import ir
from ..ir import FLOAT, INT, Stmt, Var
from .cloning import cloned, defined_in, renewed
from .polls import weight
from .statements import LEAVING, operands, with_blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What a body computes at least, in statements like an addition, for each index that is looked at once more.
LEAST_WORK = 32.0


def checked_first(kernel: ir.Kernel) -> ir.Kernel:
    """The same kernel, with such loops parted."""
    return ir.Kernel(kernel.parameters, rewritten(kernel.body), kernel.results)


def rewritten(block: list[Stmt]) -> list[Stmt]:
    found: list[Stmt] = []
    for s in block:
        s = with_blocks(s, rewritten)
        if isinstance(s, ir.Loop) and (before := checks_of(s)):
            found.append(alone(s, before))
            s = s.replace(body=[x for x in s.body if x.__class__ is not ir.Check])
        found.append(s)
    return found


def checks_of(s: ir.Loop) -> list[Stmt]:
    """The checks of a loop that can do without them, after what computes what they look at."""
    checks = [x for x in s.body if x.__class__ is ir.Check]
    if not checks or s.index is None or s.test is not None or s.stop_when is not None or s.stacks:
        return []
    if any(x.__class__ not in (ir.Set, ir.Load, ir.Store, ir.Check) and not is_count(x) for x in s.body):
        return []
    if any(x.__class__ is ir.Set and x.op in LEAVING for x in s.body):
        return []  # which of two errors is the first would not be known
    if sum(weight(x) for x in s.body if x.__class__ is ir.Set and x.var.kind == FLOAT) < LEAST_WORK * len(checks):
        return []
    stored = {x.array for x in s.body if x.__class__ is ir.Store}
    if any(x.role == "printed" for x in stored):
        return []  # what is printed before a failure is shown
    makers: dict[Any, Any] = {x.var: x for x in s.body if isinstance(x, ir.Set | ir.Load)}
    changing = {phi for phi, _, _ in s.carried} | {x.var for x in s.body if x.__class__ is ir.Accumulate}
    wanted: set[int] = set(map(id, checks))
    pending: list[Any] = [x for check in checks for x in operands(check)]
    while pending:
        x = pending.pop()
        maker = makers.get(x) if x.__class__ is Var else None
        if x in changing or (maker.__class__ is ir.Load and maker.array in stored):
            return []
        if maker is not None and id(maker) not in wanted:
            wanted.add(id(maker))
            pending += operands(maker)
    found = [x for x in s.body if id(x) in wanted]
    return found if len(found) <= len(s.body) // 2 else []


def is_count(s: Any) -> bool:
    """Whether a statement adds to a counter."""
    return s.__class__ is ir.Accumulate and s.var.kind == INT


def alone(s: ir.Loop, body: list[Stmt]) -> ir.Loop:
    """A loop over the same range, with statements of another."""
    index = Var(INT, "i")
    names: dict[Any, Any] = {**{x: renewed(x) for x in defined_in(body)}, s.index: index}
    body = [cloned(x, names) for x in body]
    return ir.Loop(index, s.start, s.stop, s.step, None, None, [], body, None, {}, Var(INT, "t"), s.site)


__all__ = ["checked_first"]
