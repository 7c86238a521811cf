"""Work that signals and time limits interrupt: Ctrl-C raises an exception in the main thread, a time limit in the thread
that evaluates, and both only between steps of Python, so what takes long outside Python runs in another thread while that
one waits.

Work that asks often whether to go on may stay where it is: another thread waits for signals or for the time to end, and
tells it. That costs no change of threads, which on a busy machine takes longer than many a kernel.
"""

from __future__ import annotations

from _thread import allocate_lock, start_new_thread
from ctypes import pythonapi
from threading import current_thread, main_thread

from ...core.alarm import alarm_of_this_thread, begin, told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Seconds between two looks at whether to go on waiting: an alarm does not end a wait, nor a signal on every system.
WAIT = 0.1
# Seconds that work has to leave after it has been told to.
GRACE = 0.8


def interruptible(work: Callable[[], Any], stop: Callable[[], object] | None = None) -> Any:
    """What `work` returns or raises. Where a signal or an alarm raises an exception in the meantime, `stop` is called, and
    the exception raised when the work has left, or after a moment: work that does not stop goes on until it ends, unheard.

    In a thread that is not the main one, and has no alarm, nothing interrupts, and the work is done here.
    """
    if current_thread() is not main_thread() and alarm_of_this_thread() is None:
        return work()
    done = allocate_lock()
    begun: list[bool] = []
    outcome: list[Any] = []

    def run() -> None:
        begun.append(True)
        try:
            outcome.extend((True, work()))
        except BaseException as fault:
            outcome.extend((False, fault))
        done.release()

    done.acquire()
    try:
        begin(run)
        while not done.acquire(timeout=WAIT):
            pass
    except BaseException:
        if stop is not None:
            stop()
            if begun:
                done.acquire(timeout=GRACE)
        raise
    succeeded, found = outcome
    if not succeeded:
        raise found
    return found


class Listener:
    """A thread that waits for signals, and tells what runs in the main thread to stop."""

    def __init__(self) -> None:
        import os

        self.stop: Callable[[], object] | None = None
        self.ear, self.mouth = os.pipe()
        os.set_blocking(self.mouth, False)
        self.read = os.read
        start_new_thread(self.listen, ())
        os.register_at_fork(after_in_child=LISTENER.clear)

    def listen(self) -> None:
        while self.read(self.ear, 64):
            stop = self.stop
            if stop is not None:
                stop()


LISTENER: list[Listener] = []


def stoppable(work: Callable[[], Any], stop: Callable[[], object]) -> Any:
    """What `work`, which leaves soon after `stop` is called, returns or raises; any signal that Python hears calls `stop`,
    and so does an alarm.

    Where nobody can listen (signals wake something else, or the system has no such pipes), it is `interruptible`.
    """
    import os

    if current_thread() is not main_thread():
        return told(work, stop)
    if os.name != "posix":
        return interruptible(work, stop)
    from signal import set_wakeup_fd

    if not LISTENER:
        LISTENER.append(Listener())
    listener = LISTENER[0]
    woken = set_wakeup_fd(listener.mouth, warn_on_full_buffer=False)
    if woken not in (-1, listener.mouth):
        set_wakeup_fd(woken)
        return interruptible(work, stop)
    try:
        listener.stop = stop
        # One that another thread has got a moment ago, when nobody listened, waits until the main thread looks.
        pythonapi.PyErr_CheckSignals()
        return told(work, stop)
    finally:
        listener.stop = None
        set_wakeup_fd(-1)
