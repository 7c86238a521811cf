"""A bound on nesting, for the sake of whatever walks the tree by recursion."""

from __future__ import annotations

from .mistake import Mistake
from .syntax import Binary, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Each level costs a recursive walk a few Python frames of about half a kilobyte, so this depth costs it some 20 MB.
MAXIMUM_DEPTH = 10_000


def check_depth(root: Node) -> None:
    """Raise Mistake where nodes are nested deeper than MAXIMUM_DEPTH.

    Going from a Binary to its left operand does not count: a long sum is a deep tree, but a loop walks down its spine.
    """
    pending: list[tuple[Any, int]] = [(root, 0)]
    while pending:
        item, depth = pending.pop()
        if type(item) is list:
            pending.extend([(element, depth) for element in item])
        elif isinstance(item, Node):
            if depth > MAXIMUM_DEPTH:
                raise Mistake(
                    "E0139",
                    f"this is nested more than {MAXIMUM_DEPTH} levels deep",
                    item.start,
                    item.end,
                    "give a part of it a name in a statement of its own",
                )
            if type(item) is Binary:
                pending.append((item.right, depth + 1))
                pending.append((item.left, depth))
            else:
                pending.extend([(getattr(item, field), depth + 1) for field in type(item).__slots__])
