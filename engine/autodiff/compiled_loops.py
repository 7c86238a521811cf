"""The loops over sparsity patterns (pattern_loops.py), compiled by Numba where there is much to do."""

from __future__ import annotations

from .pattern_loops import as_it_stands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Loop = Callable[..., tuple[Any, ...]]

# Elements of the arrays that a loop is given from which on it is compiled, which takes about a second for each loop.
MANY = 300_000
COMPILED: dict[Loop, Loop] = {}


def quickly(loop: Loop, *arguments: Any) -> tuple[Any, ...]:
    """Go through a loop: in Python where there is little to do, else compiled."""
    if loop not in COMPILED:
        if sum([x.size for x in arguments if hasattr(x, "size")]) < MANY:
            return as_it_stands(loop, *arguments)
        from numba import njit

        COMPILED[loop] = njit(error_model="numpy")(loop)
    return COMPILED[loop](*arguments)


__all__ = ["quickly"]
