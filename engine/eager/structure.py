"""Structures of sources and targets: lists, tuples, dicts and value kinds with leaves, nested at will."""

from __future__ import annotations

from ..core.limits import nest

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
