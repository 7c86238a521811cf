"""Work that signals interrupt: Ctrl-C and time limits raise exceptions in the main thread, and only between steps of
Python, so what takes long outside Python runs in another thread while the main one waits."""

from __future__ import annotations

from _thread import allocate_lock, start_new_thread
from threading import current_thread, main_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Seconds between two looks at whether a signal has come, for systems where it does not end a wait.
WAIT = 0.1
# Seconds that work has to leave after it has been told to.
GRACE = 0.8


def interruptible(work: Callable[[], Any], stop: Callable[[], object] | None = None) -> Any:
    """What `work` returns or raises. Where a signal raises an exception in the meantime, `stop` is called, and the
    exception raised when the work has left, or after a moment: work that does not stop goes on until it ends, unheard.

    In a thread that is not the main one nothing interrupts, and the work is done here.
    """
    if current_thread() is not main_thread():
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
        start_new_thread(run, ())
        while not done.acquire(timeout=WAIT):
            pass
    except BaseException:
        if stop is not None:
            stop()
            done.acquire(timeout=GRACE)
        raise
    succeeded, found = outcome
    if not succeeded:
        raise found
    return found
