"""Work that Ctrl-C and time limits interrupt.

Both raise an exception in the thread that evaluates, between two of Python's steps. So a kernel that may take long runs in
another thread while that one waits, and is told to stop when the wait is interrupted.
"""

from __future__ import annotations

from _thread import allocate_lock
from threading import current_thread, main_thread

from ...core.watchdog import has_time_limit, start_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Seconds between two looks at whether to go on waiting: an alarm does not end a wait, nor a signal on every system.
WAIT = 0.1
# Seconds that work has to leave after `stop`.
GRACE = 0.8


def interruptible(work: Callable[[], Any], stop: Callable[[], object]) -> Any:
    """What `work` returns or raises. Where an exception interrupts the wait, `stop` is called, and the exception raised when
    the work has left, or after GRACE: work that does not stop goes on, and its result is dropped.

    In a thread that is not the main one and has no limit of time nothing interrupts, and the work is done here.
    """
    if current_thread() is not main_thread() and not has_time_limit():
        return work()
    done = allocate_lock()
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.extend((True, work()))
        except BaseException as fault:
            outcome.extend((False, fault))
        done.release()

    done.acquire()
    try:
        start_thread(run)
        while not done.acquire(timeout=WAIT):
            pass
    except BaseException:
        stop()
        done.acquire(timeout=GRACE)
        raise
    succeeded, found = outcome
    if not succeeded:
        raise found
    return found
