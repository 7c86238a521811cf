"""Numbers that are integers on the tape on one way through a program, and floats in the kernel on all."""

from __future__ import annotations

from ...core.tensor import OPERATORS
from ...ops.registry import NAMES
from ..ir import FLOAT, Apply, If, Loop, Var, walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..builder import Builder
    from ..symbols import Sym


def check_kinds(builder: Builder, results: list[Sym]) -> None:
    """Let the kernel stop where a result that it has as a float may be an integer on the tape."""
    found = integer_or_float(builder) if builder.joined else ()
    for x in results:
        if x.var in found:
            broken = OPERATORS["not_equal"](x, NAMES["floor"](x))
            builder.check(OPERATORS["any"](broken) if x.shape else broken)


def integer_or_float(builder: Builder) -> set[Var]:
    """The variables that are integers on the tape where one of the joined ones is."""
    found = set(builder.joined)

    def integer(x: Any) -> bool:
        return x in found if x.__class__ is Var and x.kind == FLOAT else x.__class__ is not float

    for stmt in walk(builder.scopes[0].block):
        if stmt.__class__ is Apply:
            inputs = stmt.inputs[stmt.row.skip :]
            touched = any(x in found for x in inputs if x.__class__ is Var)
            if touched and stmt.row.dtype in ("promote", "arithmetic", "first") and all(map(integer, inputs)):
                found.update(stmt.outs)
        elif stmt.__class__ is If:
            found.update(out for out, a, b in stmt.outs if a in found or b in found)
        elif stmt.__class__ is Loop:
            found.update(out for _, a, b, out in stmt.carried if a in found or b in found)
    return found
