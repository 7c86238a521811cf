"""The last word on `--timeout`: one long operation that hears no alarm is ended with its process, and so is an answer that is
not written by then.

The engine's own alarm is heard between two operations. What inverts a large matrix does not hear it, but lets other threads
run meanwhile.
"""

from __future__ import annotations

import os
from _thread import allocate_lock, start_new_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

GRACE = 1.0  # seconds: those of starting up, and those that the alarm has to be heard, with the place in the program
OUT_OF_TIME = 1  # the exit status then


class Deadline:
    """A context that ends the process with status OUT_OF_TIME, and `message` on standard error, `GRACE` after `seconds`;
    `abandon` are done before."""

    def __init__(self, seconds: float, message: str = "", abandon: Iterable[Callable[[], None]] = ()) -> None:
        self.seconds = seconds
        self.message = message
        self.abandon = abandon
        self.under_way = allocate_lock()

    def __enter__(self) -> None:
        self.under_way.acquire()
        start_new_thread(self.wait, ())

    def wait(self) -> None:
        """The thread, whose work is done when the context ends in time."""
        if not self.under_way.acquire(timeout=self.seconds + GRACE):
            for abandon in self.abandon:
                abandon()
            os.write(2, self.message.encode(errors="replace"))
            os._exit(OUT_OF_TIME)

    def __exit__(self, *exception: object) -> None:
        self.under_way.release()
