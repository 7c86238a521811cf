"""`a = a + items` and `a = [*a, item]`, where nothing else refers to the list: it grows itself, as by `a += items`.

In a loop a list that grows is an array with room for its items, and one that is another in every iteration is not.
"""

from __future__ import annotations

from ...core.state import STATE
from ...program import core as c
from ...program.loops import nodes
from ..symbols.values import RESULT, UNSET, Frame, List
from .grids import anew
from .heap import Heap, sole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .statements import Specialiser


def put_behind(node: c.Assign) -> list[c.Expr]:
    """The lists that an assignment puts behind the items of the variable that it assigns; none for any other assignment.

    `*a` is copied, and `a + [x]` made, before what stands behind them is evaluated: that must not change a list then.
    """
    target, value = node.targets[0], node.value
    if len(node.targets) > 1 or target.__class__ is not c.Store or target.depth or node.dtype is not None:
        return []
    first: c.Expr = value
    found: list[c.Expr] = []
    if value.__class__ is c.MakeList:
        if len(value.items) > 1 and value.items[0].__class__ is c.Spread:
            first = value.items[0].value
            found.append(c.MakeList(value.items[1:]))
    else:
        while first.__class__ is c.Operator and first.symbol == "+":
            found.append(first.right)
            first = first.left
    own = first.__class__ is c.Load and not first.depth and first.slot == target.slot
    read_early = len(found) > 1 or value.__class__ is c.MakeList
    return found[::-1] if own and not (read_early and any(map(may_change, nodes(found)))) else []


def may_change(node: Any) -> bool:
    """Whether an expression may change a list, in a function of the program or by a method."""
    return node.__class__ is c.Method or (node.__class__ is c.Call and node.function.__class__ is not c.Intrinsic)


def lengthened(machine: Specialiser, node: c.Assign, frame: Frame) -> Any:
    """The value of an assignment that makes a list longer, by the same list with more items where nobody can tell; UNSET
    of any other assignment."""
    behind = put_behind(node)
    slot = node.targets[0].slot if behind else None  # type: ignore[attr-defined]
    old: Any = frame.get(slot)
    if not isinstance(old, List) or old.frozen or old.home is not frame:
        return UNSET
    if machine.recursion is not None or machine.tables or (len(behind) > 1 and not all(map(anew, behind))):
        return UNSET
    if any(x is old for each in machine.gone_through for x in each.sources):
        return UNSET
    values = [machine.expression(each, frame) for each in behind]
    places = {(id(frame), slot), *([(id(frame), RESULT)] if node.result else [])}
    STATE.site = node.site
    if values[0].__class__ is not List:
        return machine.combine(node.value.op, "+", old, values[0], node.value.site)  # type: ignore[attr-defined]
    more = [item for value in values for item in machine.items(value)]
    replaced = frame.get(slot) is not old
    if replaced or old.frozen or not sole(places, old, [Heap(machine.frames).before]):
        return List(machine.items(old) + more)
    for item in more:
        machine.grow(old, item)
    return old


__all__ = ["lengthened"]
