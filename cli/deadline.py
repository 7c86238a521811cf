"""The last word on `--timeout`: one long operation that holds the interpreter is ended from outside of it, and so is an
answer that is not written by then.

The engine's own alarm is heard between two operations. What sorts a list of 10**9 numbers, or inverts a large matrix, does
not hear it; a thread of the C library that needs no interpreter does.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..engine.core.watchdog import Watchdog
    from .output import Output

GRACE = 1.0  # seconds: those of starting up, and those that the alarm has to be heard, with the place in the program


# Seconds that a short answer has to be written, whose evaluation was done in time.
LEAST = 0.1


def ignore() -> None:
    """Hear none of these signals in a process that was forked while they were unheard: another hears them, and ends this
    one."""
    from _signal import (  # type: ignore[import-not-found]
        SIG_IGN,
        SIG_UNBLOCK,
        SIGHUP,
        SIGINT,
        SIGTERM,
        pthread_sigmask,
        set_wakeup_fd,
        signal,
    )

    set_wakeup_fd(-1)
    for number in (SIGINT, SIGTERM, SIGHUP):
        signal(number, SIG_IGN)
    pthread_sigmask(SIG_UNBLOCK, (SIGINT, SIGTERM, SIGHUP))


class Writing:
    """A context that raises `out_of_time` when what the stages of an evaluation have left of `seconds`, if there is such a
    limit, is over."""

    __slots__ = ("seconds", "timings", "watchdog")

    def __init__(self, seconds: float | None, timings: dict[str, float]) -> None:
        self.seconds = seconds
        self.timings = timings
        self.watchdog: Watchdog | None = None

    def __enter__(self) -> None:
        if self.seconds is not None:
            from ..engine.core.watchdog import Watchdog

            self.watchdog = Watchdog(self.seconds, min(sum(self.timings.values()), self.seconds - LEAST))
            self.watchdog.start()

    def __exit__(self, *exception: object) -> None:
        if self.watchdog is not None:
            self.watchdog.cancel()


class Deadline:
    """A context that ends the process with status 1, and `message` on standard error, `GRACE` after `seconds`."""

    __slots__ = ("child", "message", "output", "pipe", "seconds")

    def __init__(self, seconds: float, message: str, output: Output) -> None:
        self.seconds = seconds
        self.message = message
        self.output = output
        self.child = self.pipe = 0

    def __enter__(self) -> None:
        if not hasattr(os, "fork"):  # not on Windows: the engine's alarm alone
            return
        import faulthandler

        reading, self.pipe = os.pipe()
        self.child = os.fork()
        if not self.child:
            self.wait(reading)
        os.close(reading)
        faulthandler.dump_traceback_later(self.seconds + GRACE, exit=True, file=self.pipe)

    def wait(self, reading: int) -> None:
        """The child: it hears of the end by a byte, and of an evaluation that was done in time by none."""
        from signal import SIG_IGN, SIGHUP, SIGINT, SIGTERM, signal

        for number in (SIGINT, SIGTERM, SIGHUP):  # which a whole group of processes may get
            signal(number, SIG_IGN)
        os.close(self.pipe)
        for standard in (0, 1):
            os.close(standard)
        if os.read(reading, 1):
            self.output.discard()
            os.write(2, self.message.encode(errors="replace"))
        os._exit(0)

    def __exit__(self, *exception: object) -> None:
        if self.child:
            import faulthandler

            faulthandler.cancel_dump_traceback_later()
            os.close(self.pipe)
            os.waitpid(self.child, 0)
