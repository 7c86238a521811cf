"""What a program's variables and containers hold at one point of its trace: remembered, put back and compared.

Frames, lists and dicts are the containers; a cell is an entry of one.
"""

from __future__ import annotations

from ...core.state import STATE
from ...eager.values import Bound, Function
from ...program.core import PARENT, RESULT
from ..ir import Unsupported
from .structures import containers_in
from .values import Clash, Frame, Maybe, holds_symbol, same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

# The types of values that hold no others.
PLAIN = frozenset(("str", "NoneType", "range", "DType", "Builtin", "Operation", "Unset", "ellipsis", "complex"))


class Heap:
    """The contents of all containers that can be reached from some roots."""

    def __init__(self, roots: Iterable[Any]) -> None:
        self.containers: list[Any] = []
        self.numbers: dict[int, int] = {}
        # How many cells refer to a container.
        self.references: dict[int, int] = {}
        pending = list(roots)
        while pending:
            x = pending.pop()
            cls = x.__class__
            if cls in (Frame, list, dict):
                self.references[id(x)] = self.references.get(id(x), 0) + 1
                if id(x) not in self.numbers:
                    self.numbers[id(x)] = len(self.containers)
                    self.containers.append(x)
                    pending.extend(x.values() if cls is dict else x)
            elif cls is tuple:
                pending.extend(x)
            elif cls is Function:
                pending += (x.frame, *x.defaults)
            elif cls is Bound or cls is Maybe:
                pending.append(x.value)
        for x in self.containers:
            if x.__class__ is Frame and x.code is None:
                # That a list is the value of a statement of the program is no second name.
                for value in (x[PARENT], x[RESULT]):
                    if id(value) in self.references:
                        self.references[id(value)] -= 1
        self.saved = self.contents()

    def has_cell(self, number: int, key: Any) -> bool:
        if number >= len(self.containers):
            return False
        x = self.containers[number]
        return key in x if x.__class__ is dict else key.__class__ is int and key < len(x)

    def shared(self, x: Any) -> bool:
        """Whether a list or dict in a value has another name."""
        return any(self.references.get(id(part), 0) > 1 for part in containers_in(x))

    def outlives(self, x: Any) -> None:
        """Raise Clash for a value, no number, that may not be used outside the block that is traced."""
        lasts = x.__class__.__name__ in PLAIN
        if x.__class__ is Function:
            lasts = id(x.frame) in self.numbers and not holds_symbol(x.defaults)
        if not lasts:
            raise Clash("a function that depends on data")

    def contents(self) -> list[Any]:
        """What the containers hold now."""
        return [dict(x) if x.__class__ is dict else list(x) for x in self.containers]

    def restore(self, contents: list[Any] | None = None) -> None:
        for x, found in zip(self.containers, self.saved if contents is None else contents):
            if x.__class__ is dict:
                x.clear()
                x.update(found)
            else:
                x[:] = found


def differing(first: list[Any], second: list[Any]) -> Iterator[tuple[int, Any]]:
    """The cells, by number of container and key, in which two contents of a heap differ."""
    for number, (a, b) in enumerate(zip(first, second)):
        if a.__class__ is dict:
            if a.keys() != b.keys():
                raise Unsupported("a dict with keys that depend on data", STATE.site)
            yield from ((number, key) for key in a if not same(a[key], b[key]))
        elif len(a) != len(b):
            raise Unsupported("a list with a length that depends on data", STATE.site)
        else:
            yield from ((number, key) for key, (x, y) in enumerate(zip(a, b)) if x is not y and not same(x, y))
