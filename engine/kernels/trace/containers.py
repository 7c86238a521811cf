"""What a program's variables and containers hold at one point of its trace: taken apart into numbers and arrays, put together,
remembered, put back and compared.

Frames, lists and dicts are the containers; a cell is an entry of one.
"""

from __future__ import annotations

from ...core.state import STATE
from ...core.tensor import Tensor
from ...kinds.functions import Function, Method
from ...program import core as c
from ...program.core import PARENT, RESULT
from ...program.loops import nodes
from ..ir import Unsupported, kind_of
from .values import Clash, Frame, Maybe, holds_symbol, is_numeric, same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any


def leaves_of(x: Any, found: list[Any], constant: Callable[[Any], None] | None = None) -> Any:
    """The form of a value, its numbers and arrays appended to `found`. `constant` is called with everything else in it."""
    cls = x.__class__
    if is_numeric(x):
        found.append(x)
        return None
    if cls is tuple or cls is list:
        return cls, tuple([leaves_of(part, found, constant) for part in x])
    if cls is dict:
        return cls, tuple(x), tuple([leaves_of(part, found, constant) for part in x.values()])
    if cls is Maybe:
        found.append(x.assigned)
        return cls, leaves_of(x.value, found, constant)
    if cls is Tensor:
        kind_of(x.dtype)  # which raises Unsupported
    if constant is not None:
        constant(x)
    return "", x


def of_leaves(form: Any, leaves: Iterator[Any]) -> Any:
    """The value of a form with numbers and arrays."""
    if form is None:
        return next(leaves)
    kind = form[0]
    if kind is tuple or kind is list:
        return kind([of_leaves(part, leaves) for part in form[1]])
    if kind is dict:
        return dict(zip(form[1], [of_leaves(part, leaves) for part in form[2]]))
    if kind is Maybe:
        assigned = next(leaves)
        return Maybe(of_leaves(form[1], leaves), assigned)
    return form[1]


def containers_in(x: Any) -> Iterator[Any]:
    """The lists and dicts in a value."""
    if x.__class__ in (list, dict):
        yield x
    if x.__class__ in (list, tuple, dict):
        for part in x.values() if x.__class__ is dict else x:
            yield from containers_in(part)


def holds_container(x: Any) -> bool:
    return next(containers_in(x), None) is not None


def own_variables(node: c.Comprehension) -> list[int]:
    """The slots of the variables of a comprehension. A function that is made in it sees their last values: then none."""
    if any(isinstance(part, c.MakeFunction) for part in nodes(node)):
        return []
    return [slot for _, slot in assigned_in([clause.target for clause in node.clauses])]


def assigned_in(code: Any) -> dict[tuple[int, int], None]:
    """The cells, by frames outwards and slot, that a piece of the program assigns to."""
    found: dict[tuple[int, int], None] = {}
    pending: list[tuple[Any, int]] = [(code, 0)]
    while pending:
        x, inside = pending.pop()
        if x.__class__ in (list, tuple):
            pending.extend((part, inside) for part in x)
        elif isinstance(x, c.FunctionCode):
            pending += [(x.defaults, inside), (x.body, inside + 1)]
        elif isinstance(x, c.Node):
            if isinstance(x, c.Store) and x.depth >= inside:
                found[x.depth - inside, x.slot] = None
            elif isinstance(x, c.Evaluate | c.Assign | c.Augment) and x.result:
                found[0, PARENT] = found[0, RESULT] = None
            pending += [(getattr(x, name), inside) for name in x.__slots__ if name != "site"]
    return found


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
            elif cls is Method:
                pending.append(x.first)
            elif cls is Maybe:
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
