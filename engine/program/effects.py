"""Which expressions of the core program may change something while they are evaluated."""

from __future__ import annotations

from . import core as c

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Functions of the language that look at their arguments alone, and call nothing.
LOOKING = frozenset(("len", "abs", "int", "float", "bool", "round", "range", "min", "max"))


def may_change(node: Any) -> bool:
    """Whether evaluating an expression may change a variable or a container: whether it calls what may do so."""
    pending = [node]
    while pending:
        item = pending.pop()
        cls = item.__class__
        if cls is c.Method or cls is c.Watch:
            return True
        if cls is c.Call and (item.function.__class__ is not c.Intrinsic or item.function.name not in LOOKING):
            return True
        if cls is list or cls is tuple:
            pending.extend(item)
        elif isinstance(item, c.Node):
            pending.extend(getattr(item, name) for name in item.__slots__ if name != "site")
    return False
