"""Rows of a table taken out and joined again: what the two sides of a branch over columns are made of.

Places are distinct, so both directions are copies, where `take_rows` has to add up what meets in one place.
"""

from __future__ import annotations

from ..core.operation import linear
from .support import SQUARE, VECTOR, cases

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..core.operation import Operation


def _place(np: Any, x: Any, places: Any, size: int) -> Any:
    x = np.asarray(x)
    out = np.zeros((size, *x.shape[1:]), x.dtype)
    out[places] = x
    return out


def _join(np: Any, *parts: Any, places: Any, size: int) -> Any:
    parts = tuple(np.asarray(part) for part in parts)
    out = np.zeros((size, *parts[0].shape[1:]), parts[0].dtype)
    for part, where in zip(parts, places):
        out[where] = part
    return out


pick_rows: Operation = linear(
    "pick_rows", "x | places",
    lambda g, y, x, places: place_rows(g, places=places, size=x.shape[0]),
    array=lambda np, x, places: np.take(x, places, 0), dtype="first", accepts="bifcs",
    domain=cases(((VECTOR,), {"places": [2, 0]}), ((SQUARE,), {"places": [1]})),
    internal=True, doc="The rows of x at distinct places.", example=("pick_rows([10, 20, 30], [2, 0])", [30, 10]),
)  # fmt: skip

place_rows: Operation = linear(
    "place_rows", "x | places, size",
    lambda g, y, x, places, size: pick_rows(g, places=places),
    array=_place, dtype="first", domain=cases(((SQUARE,), {"places": [2, 0, 3], "size": 5})),
    internal=True, doc="The transpose of pick_rows: rows at distinct places among zeros.",
    example=("place_rows([1, 2], [2, 0], 3)", [2, 0, 1]),
)  # fmt: skip

join_rows: Operation = linear(
    "join_rows", "[values] | places, size",
    lambda g, y, *values, places, size: tuple(pick_rows(g, places=where) for where in places),
    array=_join, accepts="bifcs",
    domain=cases((((SQUARE, SQUARE[:1]),), {"places": [[3, 1, 0], [2]], "size": 4})),
    internal=True, doc="Parts joined row by row: part i gives the rows at places[i], and no two parts the same.",
    example=("join_rows([[1, 2], [3]], [[2, 0], [1]], 3)", [2, 3, 1]),
)  # fmt: skip
