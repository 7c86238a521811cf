"""Which expressions of the core program may change something while they are evaluated."""

from __future__ import annotations

from . import core as c
from .loops import nodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Functions of the language that look at their arguments alone, and call nothing.
LOOKING = frozenset(("len", "abs", "int", "float", "bool", "round", "range", "min", "max"))


def may_change(node: Any) -> bool:
    """Whether evaluating an expression may change a variable or a container: whether it calls what may do so."""
    return any(
        isinstance(item, c.Method | c.Watch) or (isinstance(item, c.Call) and not looks(item)) for item in nodes(node)
    )


def looks(call: c.Call) -> bool:
    return isinstance(call.function, c.Intrinsic) and call.function.name in LOOKING
