"""The end of an evaluation's time or memory, told to the thread that evaluates, whichever it is.

No signal takes part: signals are heard by the main thread alone, and a process has one alarm, which is the caller's.

Memory ends before the system refuses it. Python cannot work with none: an exception on its way through a `with` or an
`except` needs an integer for the place it comes from, and CPython, which has no memory for that one, begins with the
exception again, for ever and without hearing anybody.
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

# Seconds from one telling to the next: a handler of errors on the way must not swallow the only one.
AGAIN = 1.0
# Seconds from one look at a thread that is in code which no exception may end to the next.
BEFORE_ANOTHER_LOOK = 1e-3
# Bytes a second: far more than small values are made of, so that half the room is never gone between two looks.
FASTEST = 2e9
SHORTEST, LONGEST = 1e-3, 0.25  # seconds between two looks at the memory
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

RUNNING: list[Watchdog] = []  # those in force, the innermost last


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
    """`out_of_time` at the operation being evaluated. Each watchdog raises its own, a class that knows its `seconds`."""

    seconds = 0.0

    def __init__(self) -> None:
        said = out_of_time(self.seconds)
        super().__init__(said.code, said.message, said.span, said.advice)

    def __reduce__(self) -> tuple[type[AdiffError], tuple[object, ...]]:
        return AdiffError, super().__reduce__()[1]


class Exhausted(MemoryError):
    """Raised between two steps of the program: no operation is to blame."""

    _total_size = 0


class Watchdog:
    """Raises OutOfTime in the thread that makes it, `seconds` after its start, less those that were `spent` before, and
    Exhausted when the data segment is larger than `most_memory`; again until it is cancelled. None is no limit.

    It waits for the end of an import, or of LLVM's work, that has begun since its start.
    """

    def __init__(self, seconds: float | None, spent: float = 0.0) -> None:
        self.seconds = seconds
        self.end = inf if seconds is None else monotonic() + max(seconds - spent, 0.0)
        self.most_memory: int | None = None
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
        RUNNING.append(self)
        start_new_thread(self.watch, ())

    def watch(self) -> None:
        """Look at the clock and the memory in a thread beside, and tell."""
        error = type("OutOfTime", (OutOfTime,), {"seconds": self.seconds})
        pause = 0.0
        while not self.asleep.acquire(timeout=pause):
            with self.telling:
                if self.cancelled:
                    return
                left, room = self.end - monotonic(), self.room()
                if left > 0 and room > 0:
                    pause = min(left, max(room / FASTEST, SHORTEST), LONGEST if room < inf else TIMEOUT_MAX)
                else:
                    pause = AGAIN if self.tell(error if left <= 0 else Exhausted) else BEFORE_ANOTHER_LOOK

    def room(self) -> float:
        """The bytes that the program may still take."""
        most = self.most_memory
        return inf if most is None else most - data_size()

    def tell(self, error: type[Exception]) -> bool:
        """Raise the error, unless the thread is not to be struck now, or the memory has become adiff's own since it was
        looked at; whether that was done."""
        if self.busy() or (error is Exhausted and self.most_memory is None):
            return False
        RAISE_IN(self.thread, error)
        if self.busy():  # it began to between these lines: what it has not heard yet it is told later
            TAKE_BACK(self.thread, None)
            return False
        return True

    def busy(self) -> bool:
        return delicate(sys._current_frames().get(self.thread)) > self.spared

    def cancel(self) -> None:
        """From its return on nothing is raised any more."""
        while self in RUNNING:
            try:
                with self.telling:
                    self.cancelled = True
                if self.asleep.locked():
                    self.asleep.release()
                TAKE_BACK(self.thread, None)
                RUNNING.remove(self)
            except (OutOfTime, MemoryError):  # this one or another, while it was being cancelled
                continue


def begin(work: Callable[[], object]) -> None:
    """Do `work` in a new thread, which no watchdog of this one strikes: until it runs it goes by the number of this one."""
    running = allocate_lock()
    running.acquire()

    def run() -> None:
        running.release()
        work()

    def start() -> None:
        start_new_thread(run, ())
        running.acquire()

    unheard([one for one in RUNNING if one.thread == get_ident()], start)


def unheard(watchdogs: list[Watchdog], work: Callable[[], object]) -> None:
    """Do `work` while these watchdogs do not strike."""
    if watchdogs:
        with watchdogs[0].telling:
            unheard(watchdogs[1:], work)
    else:
        work()


def has_time_limit() -> bool:
    """Whether the innermost limit of time strikes in this thread."""
    timed = [one for one in RUNNING if one.seconds is not None]
    return bool(timed) and timed[-1].thread == get_ident()
