"""What a function finds when it is called, kept so that it can be called again and find the same: `checkpoint(f)`.

That is what the variables hold that its code names, and what is in the lists, dicts and Variables that can be reached
from there and from its arguments.
"""

from __future__ import annotations

from functools import lru_cache

from ..kinds.variable import Variable
from ..program import core as c
from .classes import Class, Instance, Method, Property, Super, Unbound
from .derived import Derived
from .values import Function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any


@lru_cache(maxsize=64)  # a loop may checkpoint its function anew in each iteration
def named_outside(code: c.FunctionCode) -> frozenset[tuple[int, int]]:
    """The variables of outer frames that a function's code names, that of functions inside it included: how many frames
    outwards, and which slot."""
    found: set[tuple[int, int]] = set()
    pending: list[tuple[Any, int]] = [(code.body, 0)]
    while pending:
        x, inside = pending.pop()
        if x.__class__ is list or x.__class__ is tuple:
            pending += [(item, inside) for item in x]
        elif isinstance(x, c.Load | c.Store):
            if x.depth > inside:
                found.add((x.depth - inside, x.slot))
        elif isinstance(x, c.FunctionCode):
            pending += [(x.defaults, inside), (x.body, inside + 1)]
        elif isinstance(x, c.Node):
            pending += [(getattr(x, name), inside) for name in x.__slots__ if name != "site"]
    return frozenset(found)


def contents(x: Any) -> Any:
    if x.__class__ is Instance:
        return x.fields.copy()
    return x.snapshot if x.__class__ is Variable else x.copy()


def refill(x: Any, held: Any) -> None:
    if x.__class__ is list:
        x[:] = held
    elif x.__class__ is dict or x.__class__ is Instance:
        fields: Any = x.fields if x.__class__ is Instance else x
        fields.clear()
        fields.update(held)
    else:
        x.snapshot = held


class Situation:
    """What can be reached from some values, as it is now."""

    def __init__(self, values: Iterable[Any]) -> None:
        # Variables, as a frame and a slot of it, and lists, dicts and tf.Variables; with what they hold.
        self.variables: dict[tuple[int, int], tuple[list[Any], int, Any]] = {}
        self.objects: dict[int, tuple[Any, Any]] = {}
        seen: set[int] = set()
        pending = list(values)
        while pending:
            x = pending.pop()
            cls = x.__class__
            if cls is tuple:
                pending += x
            elif id(x) in seen:
                continue
            elif cls is list or cls is dict or cls is Variable or cls is Instance:
                seen.add(id(x))
                self.objects[id(x)] = x, contents(x)
                pending += x if cls is list else x.values() if cls is dict else ()
                if cls is Instance:
                    pending += [*x.fields.values(), x.cls]
            elif cls is Class:
                seen.add(id(x))
                self.objects[id(x.members)] = x.members, contents(x.members)
                pending += [*x.members.values(), x.base]
            elif cls in (Property, Unbound, Method, Super):
                seen.add(id(x))
                pending += [getattr(x, name) for name in cls.__slots__]
            elif cls is Function:
                seen.add(id(x))
                pending += self.of_frames(x)
                pending += x.defaults
            elif cls is Derived:  # made of other functions, as `grad(f)` is
                seen.add(id(x))
                pending += [cell.cell_contents for cell in getattr(x.run, "__closure__", None) or ()]

    def of_frames(self, function: Function) -> list[Any]:
        """What the variables hold that a function's code names."""
        found = []
        for depth, slot in named_outside(function.code):
            frame = function.frame
            for _ in range(depth - 1):
                frame = frame[0]
            self.variables[id(frame), slot] = frame, slot, frame[slot]
            found.append(frame[slot])
        return found

    def put_back(self) -> None:
        for frame, slot, value in self.variables.values():
            frame[slot] = value
        for x, held in self.objects.values():
            refill(x, held)

    def again(self, run: Callable[[], None]) -> None:
        """Run where all is as it was; afterwards it is as it is."""
        now = [(frame, slot, frame[slot]) for frame, slot, _ in self.variables.values()]
        present = [(x, contents(x)) for x, _ in self.objects.values()]
        self.put_back()
        try:
            run()
        finally:
            for frame, slot, value in now:
                frame[slot] = value
            for x, held in present:
                refill(x, held)


__all__ = ["Situation"]
