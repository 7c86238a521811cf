"""What programs call of matplotlib: nothing is drawn, and the program goes on."""

from __future__ import annotations

from ..core.state import STATE
from ..kinds.kind import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class Drawing(Kind):
    """A module, a figure or a function of matplotlib. Its parts are Drawings, and so is what it returns."""

    __slots__ = ()
    description = "a drawing of matplotlib"
    listed = True

    def call(self, args: Any, keywords: Any) -> Drawing:
        if all(notice.code != "N0806" for notice in STATE.notices):
            STATE.notify("N0806", "nothing here draws: what is called of matplotlib is passed over")
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

    def to_plain(self) -> None:
        return None
