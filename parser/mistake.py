"""A mistake found where the source is not at hand; parse.py makes it an AdiffError."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .syntax import Node

LONGEST = 160


class Mistake(Exception):
    """What is wrong, between which offsets, and what to write instead."""

    def __init__(self, code: str, message: str, start: int, end: int, hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        # A name or number that is quoted may be as long as the text.
        self.message = shortened(message, LONGEST)
        self.start = start
        self.end = end
        self.hint = shortened(hint, LONGEST) if hint is not None else None


def mistaken(at: Node, code: str, message: str, hint: str) -> Mistake:
    """A mistake at a node."""
    return Mistake(code, message, at.start, at.end, hint)


def shortened(text: str, width: int = 24) -> str:
    """A text that a message can quote."""
    text = " ".join(text.split())
    return text if len(text) <= width else text[: width - 1] + "…"
