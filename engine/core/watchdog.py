"""The end of an evaluation's time or memory, raised in the thread that evaluates, whichever it is.

No signal takes part: the main thread alone receives signals, and a process has one alarm, which is the caller's.

Memory ends before the system refuses it. Python cannot work with none: an exception on its way through a `with` or an
`except` needs an integer for the place it comes from, and CPython, which has no memory for that one, begins with the
exception again, for ever, and handles no other.
"""

from __future__ import annotations

import ctypes
import os
import sys
from _thread import TIMEOUT_MAX, RLock, allocate_lock, get_ident, start_new_thread
from math import inf
from time import monotonic

from ...parser.errors import AdiffError
from .errors import failure
from .machine import data_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

# Seconds from one exception to the next: a handler of errors on the way must not swallow the only one.
REPEAT_AFTER = 1.0
# Seconds from one look to the next at a thread that is in code which no exception may end.
RETRY_AFTER = 1e-3
# Bytes a second: far more than small values are made of, so that half the room is never gone between two looks.
FASTEST = 2e9
SHORTEST, LONGEST = 1e-3, 0.25  # seconds between two looks at the memory
# Extension modules cannot be loaded twice: NumPy's import that an exception ends halfway leaves a process that has no NumPy
# any more. And the binding of LLVM frees what it owns in steps.
IMPORTING = "<frozen importlib._bootstrap>"
BINDING = os.path.join("llvmlite", "binding", "")

# Python's function that raises an exception in another thread. It takes a class, of which that thread makes the exception
# between two of its steps; a null pointer in its place cancels what has not been made yet.
RAISE_ASYNC = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_ulong, ctypes.py_object)(
    ("PyThreadState_SetAsyncExc", ctypes.pythonapi)
)
CANCEL_ASYNC = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p)(
    ("PyThreadState_SetAsyncExc", ctypes.pythonapi)
)

RUNNING: list[Watchdog] = []  # those in force, the innermost last
STARTING = allocate_lock()  # held while a thread starts another, and while an exception is raised in one


def start_thread(work: Callable[[], None]) -> None:
    """Do `work` in a new thread. Until that runs, CPython knows it by the number of the one that starts it, and would raise there
    an exception for this one: no watchdog raises one meanwhile."""
    if not RUNNING:
        start_new_thread(work, ())
        return
    begun = allocate_lock()
    begun.acquire()

    def run() -> None:
        begun.release()
        work()

    with STARTING:
        start_new_thread(run, ())
        begun.acquire()


def out_of_time(seconds: float) -> AdiffError:
    return failure("E0603", f"the time limit of {seconds:g} s is over", "raise the limit: --timeout SECONDS")


def uninterruptible_calls(frame: FrameType | None) -> int:
    """How many of a thread's calls, of which `frame` is the innermost, no exception may end."""
    count = 0
    while frame is not None:
        name = frame.f_code.co_filename
        count += name == IMPORTING or BINDING in name
        frame = frame.f_back
    return count


class OutOfTime(AdiffError):
    """`out_of_time` at the operation being evaluated. Each watchdog raises its own, a class that knows its `seconds`."""

    seconds = 0.0

    def __init__(self) -> None:
        said = out_of_time(self.seconds)
        super().__init__(said.code, said.message, said.span, said.advice)

    def __reduce__(self) -> tuple[type[AdiffError], tuple[object, ...]]:
        return AdiffError, super().__reduce__()[1]


class Exhausted(MemoryError):
    """Raised between two steps of the program: no operation is to blame."""


class Watchdog:
    """Raises OutOfTime in the thread that makes it, `seconds` after it was made, and Exhausted
    when the data segment is larger than `most_memory`; again until it is cancelled. None is no limit.

    It waits for the end of an import, or of LLVM's work, that has begun since its start.
    """

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self.end = inf if seconds is None else monotonic() + seconds
        self.most_memory: int | None = None
        self.cancelled = False
        self.initially_uninterruptible = 0
        self.thread = get_ident()
        # Its own thread may be interrupted while it holds the lock, and takes it again.
        self.lock = RLock()
        self.asleep = allocate_lock()
        self.asleep.acquire()

    def start(self) -> None:
        # Calls that were there at the start do not count: an evaluation while a module is imported has a limit too.
        self.initially_uninterruptible = uninterruptible_calls(sys._getframe())
        RUNNING.append(self)
        start_thread(self.watch)

    def watch(self) -> None:
        """Look at the clock and the memory in a thread beside, and interrupt."""
        error = type("OutOfTime", (OutOfTime,), {"seconds": self.seconds})
        pause = 0.0
        while not self.asleep.acquire(timeout=pause):
            with self.lock:
                if self.cancelled:
                    return
                left, most = self.end - monotonic(), self.most_memory
                room = inf if most is None else most - data_size()
                if left > 0 and room > 0:
                    pause = min(left, max(room / FASTEST, SHORTEST), LONGEST if room < inf else TIMEOUT_MAX)
                else:
                    pause = REPEAT_AFTER if self.interrupt(error if left <= 0 else Exhausted) else RETRY_AFTER

    def interrupt(self, error: type[Exception]) -> bool:
        """Raise the error, unless the thread must not be interrupted now, or the memory has become adiff's own since it was
        looked at; whether that was done."""
        with STARTING:
            if self.busy() or (error is Exhausted and self.most_memory is None):
                return False
            RAISE_ASYNC(self.thread, error)
            if self.busy():
                # It entered such a call between these lines: what is not raised yet is cancelled, and raised later.
                CANCEL_ASYNC(self.thread, None)
                return False
            return True

    def busy(self) -> bool:
        return uninterruptible_calls(sys._current_frames().get(self.thread)) > self.initially_uninterruptible

    def cancel(self) -> None:
        """From its return on nothing is raised any more."""
        while self in RUNNING:
            try:
                with self.lock:
                    self.cancelled = True
                if self.asleep.locked():
                    self.asleep.release()
                CANCEL_ASYNC(self.thread, None)
                RUNNING.remove(self)
            except (OutOfTime, MemoryError):  # this one or another, while it was being cancelled
                continue


def has_time_limit() -> bool:
    """Whether a limit of time is one of this thread."""
    return any(one.seconds is not None and one.thread == get_ident() for one in RUNNING)
