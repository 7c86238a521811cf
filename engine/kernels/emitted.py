"""A kernel in source form, with what a caller must know of it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Emitted:
    """A kernel in source form: `kernel(run, parameters ...)` returns the tuple of its results.

    `parameters` holds the kind of each, in upper case for arrays; `results` the kind of each scalar, and for arrays
    (memory slot, kind, size); `slots` is the number of memory slots.
    """

    __slots__ = ("parameters", "results", "slots", "text")

    def __init__(self, text: str, parameters: str, results: list[Any], slots: int) -> None:
        self.text = text
        self.parameters = parameters
        self.results = results
        self.slots = slots

    def to_plain(self) -> dict[str, Any]:
        """All of it, in types that marshal keeps."""
        return {name: getattr(self, name) for name in self.__slots__}
