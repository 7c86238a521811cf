"""What a run tells of sources that may not reach the result: whether they do, and the tape's words where they do not."""

from __future__ import annotations

from ..ir import Unsupported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..built import Built


class Paths:
    """What a run of a kernel of connection.py says: of each source whether the result depends on it, and why not."""

    __slots__ = ("built", "found", "sources")

    def __init__(self, built: Built, sources: Sequence[str], found: Any) -> None:
        self.built = built
        self.sources = list(sources)
        self.found = [int(x) for x in found]

    def of(self, name: str) -> list[int]:
        start = 2 + 4 * self.sources.index(name)
        return self.found[start : start + 4]

    def connected(self, name: str) -> bool:
        return self.of(name)[0] == 1

    @property
    def reasons(self) -> dict[str, tuple[str, Any]]:
        """Why the result does not depend on sources, as the tape says it, and the places. Raises Unsupported."""
        if not any(map(self.connected, self.sources)) and not any(self.found[:2]):
            return dict.fromkeys(self.sources, ("the target does not depend on anything that was watched", None))
        return {name: self.reason(name) for name in self.sources if not self.connected(name)}

    def reason(self, name: str) -> tuple[str, Any]:
        _, used, end, compared = self.of(name)
        place = end or compared
        if not place:
            return "the target does not depend on the source" if used else "the source is never used", None
        if place < 0 or not self.built.places[place - 1][0]:
            raise Unsupported("an input that reaches the result on some paths of the program only")
        reason, site = self.built.places[place - 1]
        return f"the path from the source ends at {reason}, which carries no derivative", site
