"""The seconds in which a kernel is to be ready for its compilation: after these the tape would be done before it.

Time is that of the thread: what else the machine does delays the tape as it delays what is counted here.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from math import inf

from .ir import TooLate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class Budget:
    """When the budget of what is being made ends, by the thread's clock."""

    end = inf


@contextmanager
def budget(seconds: float) -> Iterator[None]:
    """Raise TooLate from the checks inside once they come later than in so many seconds; an outer budget holds too."""
    outer = Budget.end
    if seconds != inf:
        Budget.end = min(outer, time.thread_time() + seconds)
    try:
        yield
    finally:
        Budget.end = outer


@contextmanager
def part_of_budget(share: float) -> Iterator[None]:
    """Raise TooLate from the checks inside where they leave less than the rest of what is left for what comes after."""
    outer = Budget.end
    if outer != inf:
        now = time.thread_time()
        Budget.end = now + share * (outer - now)
    try:
        yield
    finally:
        Budget.end = outer


def check_budget() -> None:
    """Raise TooLate where the budget is spent: asked for every so many statements, and between passes.

    Where there is none the clock is not read: a thread's is the system's to tell, which takes its time where many run.
    """
    if Budget.end != inf and time.thread_time() > Budget.end:
        raise TooLate
