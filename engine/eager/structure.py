"""Structures of sources and targets: lists, tuples, dicts and value kinds with leaves, nested at will."""

from __future__ import annotations

from ..core.limits import nest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def flatten(structure: Any) -> list[Any]:
    """The leaves, in order (a dict's in the order of its keys)."""
    leaves: list[Any] = []

    def walk(x: Any, depth: int) -> None:
        if x.__class__ is list or x.__class__ is tuple:
            depth = nest(depth)
            for item in x:
                walk(item, depth)
        elif x.__class__ is dict:
            depth = nest(depth)
            for item in x.values():
                walk(item, depth)
        elif hasattr(x, "leaves"):
            leaves.extend(x.leaves())
        else:
            leaves.append(x)

    walk(structure, 0)
    return leaves


def paths(structure: Any) -> list[str]:
    """Where each leaf is, as it would be read: "[1]", "['w'][0]"; "" for a bare leaf."""
    found: list[str] = []

    def walk(x: Any, at: str) -> None:
        if x.__class__ is list or x.__class__ is tuple:
            for i, item in enumerate(x):
                walk(item, f"{at}[{i}]")
        elif x.__class__ is dict:
            for key, item in x.items():
                walk(item, f"{at}[{key!r}]")
        elif hasattr(x, "leaves"):
            found.extend([at] * len(x.leaves()))
        else:
            found.append(at)

    walk(structure, "")
    return found


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
