"""What is inside parts of the core program: its nodes and loops."""

from __future__ import annotations

from .core import For, Node, While

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..core.state import Site


def nodes(code: Any) -> Iterator[Node]:
    """The nodes inside a node of the core program, or a list of some: itself, and those below it, the outer ones first."""
    pending = [code]
    while pending:
        item = pending.pop()
        if item.__class__ in (list, tuple):
            pending.extend(reversed(item))
        elif isinstance(item, Node):
            yield item
            pending.extend(getattr(item, name) for name in reversed(item.__slots__) if name != "site")


def contains_loop(code: Any) -> bool:
    """Whether a `for` or `while` statement is somewhere inside a node of the core program."""
    return any(isinstance(node, For | While) for node in nodes(code))


def outermost_loop(code: Any, site: Site) -> Site | None:
    """The place of the outermost `for` or `while` statement around a place; None where there is none."""
    for loop in nodes(code):
        if isinstance(loop, For | While):
            for node in nodes(loop):
                at = getattr(node, "site", None)
                if at is not None and at.start == site.start and at.end == site.end:
                    return loop.site
    return None
