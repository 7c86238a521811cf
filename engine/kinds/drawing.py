"""What programs call of modules that draw, log or warn: it is passed over, and the program goes on."""

from __future__ import annotations

from ..core.state import STATE
from .kind import Compound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class Drawing(Compound):
    """Such a module, or a figure, a logger or a function of it. Its parts are itself, and so is what it returns."""

    __slots__ = ("module",)
    listed = True

    def __init__(self, module: str) -> None:
        self.module = module

    @property
    def description(self) -> str:  # type: ignore[override]
        return f"what {self.module} makes"

    def call(self, args: Any, keywords: Any) -> Drawing:
        said = f"what is called of {self.module} is passed over"
        if self.module in ("matplotlib", "seaborn"):
            said = f"nothing here draws: {said}"
        if all(notice.message != said for notice in STATE.notices):
            STATE.notify("N0806", said)
        return self

    def get_attribute(self, name: str) -> Drawing:
        return self

    def set_attribute(self, name: str, value: Any) -> None:
        pass

    def get_item(self, index: Any) -> Drawing:
        return self

    def set_item(self, index: Any, value: Any) -> Drawing:
        return self

    def iterate(self) -> Iterator[Drawing]:
        return iter((self, self))  # figure, axes = plt.subplots()

    def operate(self, op: Any, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Drawing:
        return self

    def to_plain(self) -> None:
        return None
