"""Programs that share variables: the lines of a prompt."""

from __future__ import annotations

from ..core.tensor import Tensor
from . import core as c

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

FUNCTIONS = "def ", "lambda", "class "


class Session:
    """The variables and imported names that each line leaves to the next. A name that it holds is an input of a line that reads
    it, a function included."""

    __slots__ = ("assigned", "frames", "imported", "modules", "names", "result")

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}
        self.modules: dict[str, list[str]] | None = None
        self.imported: dict[str, Any] = {}
        self.assigned: dict[str, int] = {}  # by the line that was lowered last: names and their slots
        # The frames of lines that define functions, which read their variables there, with the slots of these.
        self.frames: list[tuple[dict[str, int], list[Any]]] = []
        self.result: Any = None  # of the line that was run last

    def copied(self) -> Session:
        """The session as it is, which later lines leave alone."""
        other = Session()
        other.names, other.frames = {**self.names}, [*self.frames]
        other.imported, other.modules = self.imported, self.modules
        return other

    def keep(self, core: c.CoreProgram, frame: list[Any]) -> None:
        """Take what a line has assigned from its frame, and let the functions of lines before see it."""
        assigned = {name: frame[slot] for name, slot in self.assigned.items() if frame[slot] is not c.UNSET}
        self.names.update(assigned)
        self.result = frame[c.RESULT]
        self.share(assigned)
        if any(word in core.source.text for word in FUNCTIONS):
            optional = {name: slot for name, (slot, _) in core.optional.items()}
            self.frames.append(({**optional, **core.inputs, **self.assigned}, frame))

    def share(self, values: Mapping[str, Any]) -> None:
        """Let the functions of lines before read these values of variables."""
        for slots, frame in self.frames:
            for name in values.keys() & slots.keys():
                frame[slots[name]] = values[name]

    def sources(self, names: Iterable[str]) -> list[str]:
        """Those of the names that hold numbers to differentiate by."""
        return [name for name in names if differentiable(self.names.get(name))]


def differentiable(value: Any) -> bool:
    """Whether a value is a float, a tensor of them, a Variable, or a whole number that was typed as such."""
    if value.__class__ is Tensor:
        return bool(value.dtype.differentiable or (value.dtype.kind == "i" and value.dtype.weak))
    return value.__class__ in (float, int, complex) or hasattr(value, "read_value")
