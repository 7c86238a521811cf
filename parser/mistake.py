"""A mistake found where the source is not at hand; parse.py makes it an AdiffError."""

from __future__ import annotations


class Mistake(Exception):
    """What is wrong, between which offsets, and what to write instead."""

    def __init__(
        self, code: str, message: str, start: int, end: int, hint: str | None = None, notes: tuple[str, ...] = ()
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.start = start
        self.end = end
        self.hint = hint
        self.notes = notes
