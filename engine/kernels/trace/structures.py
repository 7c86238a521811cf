"""Structures of numbers and arrays, taken apart and put together; and what pieces of the program assign."""

from __future__ import annotations

from ...core.tensor import Tensor
from ...program import core as c
from ...program.core import PARENT, RESULT
from ...program.loops import nodes
from ..ir import kind_of
from .values import Maybe, is_numeric

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
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
