"""Cloning: statements again, with other variables, arrays and stacks in the place of some."""

from __future__ import annotations

from .. import ir
from ..ir import Array, Stack, Stmt, Var
from .statements import everything

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def defined_in(block: list[Stmt]) -> set[Any]:
    """The variables, arrays and heads that a block defines."""
    found: set[Any] = set()
    for s in everything(block):
        if isinstance(s, ir.Set | ir.Load | ir.Accumulate | ir.Mark):
            found.add(s.var)
        elif isinstance(s, ir.Alloc | ir.Constant):
            found.add(s.array)
        elif s.__class__ is ir.Loop:
            found.update([s.index, s.trips, *(phi for phi, _, _ in s.carried), *s.stacks.values()])
        elif s.__class__ is ir.ReverseLoop:
            found.update([s.index, s.position, *(phi for phi, _ in s.restore)])
        elif s.__class__ is ir.If:
            found.update(var for var, _, _ in s.merges)
    return found - {None}


def renewed(x: Any) -> Any:
    """Another variable, array or stack like one."""
    if x.__class__ is Var:
        return Var(x.kind)
    return Array(x.kind, x.shape, role=x.role) if x.__class__ is Array else Stack(x.kind, width=x.width)


def cloned(x: Any, names: dict[Any, Any]) -> Any:
    """A statement, or a part of one, with other names."""
    if x.__class__ in (Var, Array, Stack):
        return names.get(x, x)
    if x.__class__ in (list, tuple):
        return x.__class__(cloned(item, names) for item in x)
    if x.__class__ is dict:
        return {cloned(key, names): cloned(value, names) for key, value in x.items()}
    if not isinstance(x, Stmt):
        return x
    made = x.__class__.__new__(x.__class__)
    for name in x.__slots__:
        value = getattr(x, name)
        setattr(made, name, value if name in ("site", "attributes", "failure") else cloned(value, names))
    return made
