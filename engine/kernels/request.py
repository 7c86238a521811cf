"""What is asked of a kernel."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class Request:
    """What a kernel is to give: a command, its sources, for `jvp` and `hvp` which sources have a direction, for `jacobian` the mode,
    whether `vjp` has a cotangent (its shape, or None), and whether the value is that of the last statement."""

    __slots__ = ("command", "cotangent", "directions", "last", "mode", "names")

    def __init__(
        self, command: str, names: Sequence[str] = (), directions: Sequence[str] = (), mode: str = "auto",
        cotangent: tuple[int, ...] | None = None, last: bool = False,
    ) -> None:  # fmt: skip
        self.command = command
        self.names = tuple(names)
        self.directions = tuple(directions)
        self.mode = mode
        self.cotangent = cotangent
        self.last = last

    def key(self) -> tuple[Any, ...]:
        return tuple([getattr(self, name) for name in self.__slots__])
