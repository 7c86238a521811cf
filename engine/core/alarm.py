"""The end of an evaluation's time, told to the thread that evaluates, whichever it is.

No signal takes part: signals are heard by the main thread alone, and a process has one alarm, which is the caller's.
"""

from __future__ import annotations

import ctypes
import os
import sys
from _thread import TIMEOUT_MAX, RLock, allocate_lock, get_ident, start_new_thread

from ...parser.errors import AdiffError
from .errors import failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

# Seconds from one telling to the next: a handler of errors on the way must not swallow the only one.
AGAIN = 1.0
# Seconds from one look at a thread that is in code which no exception may end to the next.
BEFORE_ANOTHER_LOOK = 1e-3
# Extension modules cannot be loaded twice: NumPy's import that an exception ends halfway leaves a process that has no NumPy
# any more. And the binding of LLVM frees what it owns in steps.
IMPORTING = "<frozen importlib._bootstrap>"
BINDING = os.path.join("llvmlite", "binding", "")

# Python's door to another thread's exceptions. It takes a class, of which that thread makes the exception between two of
# its steps; nothing at all takes back what has not been made yet.
RAISE_IN = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_ulong, ctypes.py_object)(
    ("PyThreadState_SetAsyncExc", ctypes.pythonapi)
)
TAKE_BACK = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p)(
    ("PyThreadState_SetAsyncExc", ctypes.pythonapi)
)

RINGING: list[Alarm] = []  # the alarms in force, the innermost last


def out_of_time(seconds: float) -> AdiffError:
    return failure("E0603", f"the time limit of {seconds:g} s is over", "raise the limit: --timeout SECONDS")


def delicate(frame: FrameType | None) -> int:
    """How many of a thread's calls, of which `frame` is the innermost, no exception may end."""
    count = 0
    while frame is not None:
        name = frame.f_code.co_filename
        count += name == IMPORTING or BINDING in name
        frame = frame.f_back
    return count


class OutOfTime(AdiffError):
    """`out_of_time` at the operation being evaluated. Each alarm raises its own, a class that knows its `seconds`."""

    seconds = 0.0

    def __init__(self) -> None:
        said = out_of_time(self.seconds)
        super().__init__(said.code, said.message, said.span, said.advice)

    def __reduce__(self) -> tuple[type[AdiffError], tuple[object, ...]]:
        return AdiffError, super().__reduce__()[1]


class Alarm:
    """Raises OutOfTime in the thread that makes it, `seconds` after its start, less those that were `spent` before, and
    again until it is cancelled.

    It waits for the end of an import, or of LLVM's work, that has begun since its start.
    `stop` is called as well, while there is one: it ends work in which Python takes no steps.
    """

    timed = True

    def __init__(self, seconds: float, spent: float = 0.0) -> None:
        self.seconds = seconds
        self.spent = spent
        self.stop: Callable[[], object] | None = None
        self.cancelled = False
        self.spared = 0
        self.thread = get_ident()
        # Its own thread may be struck while it holds this one, and takes it again.
        self.telling = RLock()
        self.asleep = allocate_lock()
        self.asleep.acquire()

    def start(self) -> None:
        # Who evaluates while a module of theirs is being imported has a limit all the same.
        self.spared = delicate(sys._getframe())
        RINGING.append(self)
        start_new_thread(self.watch, ())

    def watch(self) -> None:
        """Wait for the end in a thread beside, and tell."""
        error = type("OutOfTime", (OutOfTime,), {"seconds": self.seconds})
        pause = min(max(self.seconds - self.spent, 0.0), TIMEOUT_MAX)
        while not self.asleep.acquire(timeout=pause):
            with self.telling:
                if self.cancelled:
                    return
                pause = AGAIN if self.tell(error) else BEFORE_ANOTHER_LOOK

    def tell(self, error: type[Exception]) -> bool:
        """Raise the error and stop the work, unless the thread is not to be struck now; whether that was done."""
        if self.busy():
            return False
        RAISE_IN(self.thread, error)
        if self.busy():  # it began to between these lines: what it has not heard yet it is told later
            TAKE_BACK(self.thread, None)
            return False
        if self.stop is not None:
            self.stop()
        return True

    def busy(self) -> bool:
        return delicate(sys._current_frames().get(self.thread)) > self.spared

    def cancel(self) -> None:
        """From its return on nothing is raised any more."""
        while self in RINGING:
            try:
                with self.telling:
                    self.cancelled = True
                if self.asleep.locked():
                    self.asleep.release()
                TAKE_BACK(self.thread, None)
                RINGING.remove(self)
            except (OutOfTime, MemoryError):  # this one or another, while it was being cancelled
                continue


def begin(work: Callable[[], object]) -> None:
    """Do `work` in a new thread, which no alarm of this one strikes: until it runs it goes by the number of this one."""
    running = allocate_lock()
    running.acquire()

    def run() -> None:
        running.release()
        work()

    def start() -> None:
        start_new_thread(run, ())
        running.acquire()

    unheard([alarm for alarm in RINGING if alarm.thread == get_ident()], start)


def unheard(alarms: list[Alarm], work: Callable[[], object]) -> None:
    """Do `work` while these alarms do not strike."""
    if alarms:
        with alarms[0].telling:
            unheard(alarms[1:], work)
    else:
        work()


def alarm_of_this_thread() -> Alarm | None:
    """The alarm that strikes here when its time is over, if there is one."""
    alarm = next((alarm for alarm in reversed(RINGING) if alarm.timed), None)
    return alarm if alarm is not None and alarm.thread == get_ident() else None


def told(work: Callable[[], Any], stop: Callable[[], object]) -> Any:
    """What `work` returns or raises; an alarm of this thread calls `stop`."""
    alarm = alarm_of_this_thread()
    if alarm is None:
        return work()
    alarm.stop = stop
    try:
        return work()
    finally:
        alarm.stop = None


__all__ = ["Alarm", "OutOfTime", "alarm_of_this_thread", "begin", "out_of_time", "told"]
