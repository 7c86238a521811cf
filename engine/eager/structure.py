"""Structures of sources and targets: lists, tuples, dicts and value kinds with leaves, nested at will."""

from __future__ import annotations

from ..core.errors import failure
from ..core.limits import nest
from ..core.operands import as_operand
from ..core.state import STATE
from ..core.tensor import OPERATORS, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


def located(x: Any, at: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """The leaves, in order (a dict's in the order of its keys), each with where it is: "[1]", "['w'][0]"; "" for a bare leaf."""
    if x.__class__ in (list, tuple, dict):
        depth = nest(depth)
        for key, item in x.items() if x.__class__ is dict else enumerate(x):
            yield from located(item, f"{at}[{key!r}]", depth)
    elif hasattr(x, "leaves"):
        for leaf in x.leaves():
            yield at, leaf
    else:
        yield at, x


def flatten(structure: Any) -> list[Any]:
    """The leaves, in order."""
    return [leaf for _, leaf in located(structure)]


def rebuild(structure: Any, leaves: list[Any]) -> Any:
    """`structure` with its leaves replaced, in order."""
    remaining = iter(leaves)

    def build(x: Any) -> Any:
        if x.__class__ is list:
            return [build(item) for item in x]
        if x.__class__ is tuple:
            return tuple(build(item) for item in x)
        if x.__class__ is dict:
            return {key: build(item) for key, item in x.items()}
        if hasattr(x, "leaves"):
            inner = [next(remaining) for _ in x.leaves()]
            return None if not inner or all(leaf is None for leaf in inner) else x.with_leaves(inner)
        return next(remaining)

    return build(structure)


def one_operand(result: Any) -> tuple[Any, str | None]:
    """A result as one operand: a list of tensors of one shape is stacked, any other structure is summed, and what it is is
    beside the sum: a dict, a list, a tuple. Integers of a structure (a rank, an index) are constants of the sum."""
    structured = result.__class__ in (list, tuple, dict)
    leaves = flatten(result) if structured or hasattr(result, "leaves") else [result]
    leaves = list(map(as_operand, leaves if structured or len(leaves) == 1 else [result]))
    kinds = [(x.dtype.kind, x.dtype.weak) if hasattr(x, "dtype") else ("", True) for x in leaves]
    if str in [x.__class__ for x in leaves] or "s" in [kind for kind, _ in kinds]:
        raise failure("E0304", f"the result {'holds' if structured else 'is'} a string, and strings have no derivative")
    if not structured:
        return leaves[0], None
    if ("i", False) in kinds and not all(kind == "i" for kind, _ in kinds):
        strong = [x.dtype.name for x, (kind, weak) in zip(leaves, kinds) if kind in "fc" and kind and not weak]
        name = strong[0] if strong else STATE.weak_float.name
        leaves = [OPERATORS.cast(x, dtype=name) if kind == ("i", False) else x for x, kind in zip(leaves, kinds)]
    flat = result.__class__ is not dict and not any(part.__class__ in (list, tuple, dict) for part in result)
    if flat and len(set(map(shape_of, leaves))) == 1:
        return as_operand(leaves), None
    total: Any = 0.0
    for leaf in leaves:
        total = total + (OPERATORS.sum_to(leaf, shape=()) if shape_of(leaf) else leaf)
    return total, result.__class__.__name__
