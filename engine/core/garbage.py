"""Python's search for garbage in cycles, and what it would only delay."""

from __future__ import annotations

import gc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    Made = TypeVar("Made")


def without_collection(make: Callable[[], Made]) -> Made:
    """What `make` makes, of many objects that stay: Python would go over all of them again and again, and find nothing.

    Only for what takes memory in proportion to a text, a program's: cycles are left for later.
    """
    collecting = gc.isenabled()
    try:  # an interrupt may come between any two of these lines
        gc.disable()
        return make()
    finally:
        if collecting:
            gc.enable()
