"""The last word on Ctrl-C: one long operation of NumPy's does not hear it, and a thread beside it does.

Python answers a signal between two of its instructions. What sorts 10**9 numbers is one instruction, but lets other threads
run meanwhile.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

GRACE = 1.0  # seconds that the command has to end by itself
INTERRUPTED = 130
# What removes an output that is not complete.
ABANDON: list[Callable[[], None]] = []


def watch() -> None:
    """Let a Ctrl-C end this process with status 130 when GRACE is over, whatever it is doing."""
    from _thread import start_new_thread

    try:
        # A file that hears of signals at once; what `signal` adds to this module takes milliseconds.
        from _signal import SIGINT, set_wakeup_fd  # type: ignore[import-not-found]

        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        set_wakeup_fd(writing, warn_on_full_buffer=False)
        start_new_thread(wait, (reading, SIGINT))
    except (ImportError, OSError, RuntimeError, ValueError):
        pass  # not on Windows, nor where no thread can be had: the operation goes on to its end


def wait(reading: int, interrupt: int) -> None:
    """The thread: it sleeps until there is a Ctrl-C among the signals."""
    from time import sleep

    while interrupt not in os.read(reading, 64):
        pass
    sleep(GRACE)
    for abandon in ABANDON:
        abandon()
    os._exit(INTERRUPTED)
