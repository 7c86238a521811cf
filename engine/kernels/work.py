"""How much work a program is: the estimate behind `--engine auto`, and its calibration, in one place."""

from __future__ import annotations

from . import ir
from .ir import Stmt, Var

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Seconds, measured on one core: an operation of a scalar loop on the tape (recorded and swept), Numba's import with the
# first compiled call, and the compilation of one statement of a kernel.
TAPE_SECONDS = 1.0e-6
START_SECONDS = 0.9
STATEMENT_SECONDS = 4.0e-3


def tape_operations(kernel: ir.Kernel, values: dict[Var, Any]) -> float | None:
    """Scalar operations that the tape tier would interpret one by one: those in the program's own loops.

    None where a trip count depends on data. `values` gives the integer parameters.
    """

    def known(x: Any) -> int | None:
        if x.__class__ is Var:
            return values.get(x)
        return int(x) if x.__class__ is int else None

    def count(block: list[Stmt]) -> float | None:
        total = 0.0
        for s in block:
            if s.__class__ is ir.Loop:
                if not s.own:
                    total += 5.0  # one array operation: a few microseconds whatever its size
                    continue
                inner = count(s.body)
                bounds = [known(x) for x in (s.start, s.stop, s.step)]
                if s.test is not None or inner is None or any(b is None for b in bounds):
                    return None
                start, stop, step = bounds
                total += len(range(start, stop, step)) * (inner + 1.0)  # type: ignore[arg-type]
            elif s.__class__ is ir.If:
                sides = [count(s.then), count(s.orelse)]
                if None in sides:
                    return None
                total += max(side for side in sides if side is not None)
            else:
                total += 1.0
        return total

    return count(kernel.body)


def statements(block: list[Stmt]) -> int:
    """The size of a kernel, which its compile time follows."""
    total = 0
    for s in block:
        total += 1
        for name in ("test", "body", "then", "orelse"):
            total += statements(getattr(s, name, None) or [])
    return total


def worthwhile(kernel: ir.Kernel, values: dict[Var, Any], compiled: bool) -> bool:
    """Whether a kernel, compiled or yet to be, gives the answer sooner than the tape."""
    operations = tape_operations(kernel, values)
    if operations is None:
        return compiled
    cost = 0.0 if compiled else START_SECONDS + STATEMENT_SECONDS * 4 * statements(kernel.body)
    return operations * TAPE_SECONDS > cost
