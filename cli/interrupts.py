"""The first and the last word on Ctrl-C: it may come while the command is loaded, one long operation of NumPy's does not
hear it, which a thread beside it does, and what imports a library in vain may hide it. A signal to terminate, or that the
terminal is gone, is answered like it. The last word on `--timeout` too, whose own alarm such an operation does not hear either.

Python answers a signal between two of its instructions. What sorts 10**9 numbers is one instruction, but lets other threads
run meanwhile.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import Timer
    from typing import Any, NoReturn

GRACE = 1.0  # seconds that the command has to end by itself
OUT_OF_TIME = 1  # the exit status of a process that is ended by `deadline`
INTERRUPTED = 130  # by Ctrl-C, whose number is 2
OF_SIGNAL = 128  # and its number: the status of what a signal ended
# What removes an output that is not complete.
ABANDON: list[Callable[[], None]] = []
# The numbers of the signals that were heard. NumPy, interrupted while it is imported, says that it cannot be.
HEARD: list[int] = []


def main() -> None:
    """Entry of the `adiff` command."""
    try:
        from .main import main as command
    except KeyboardInterrupt:
        os._exit(INTERRUPTED)
    command()


def hear(number: int, frame: Any) -> NoReturn:
    """Python's answer to a signal that ends the command, which is remembered."""
    HEARD.append(number)
    raise KeyboardInterrupt


def status() -> int:
    """The exit status of a command that a signal ended."""
    return OF_SIGNAL + HEARD[0] if HEARD else INTERRUPTED


def watch() -> None:
    """Let a Ctrl-C, SIGTERM or SIGHUP end this process when GRACE is over, whatever it is doing."""
    from _thread import start_new_thread

    try:
        # A file that hears of signals at once; what `signal` adds to this module takes milliseconds.
        from _signal import (  # type: ignore[import-not-found]
            SIG_DFL,
            SIGHUP,
            SIGINT,
            SIGTERM,
            default_int_handler,
            getsignal,
            set_wakeup_fd,
            signal,
        )

        ending = SIGINT, SIGTERM, SIGHUP
        for number in ending:  # what runs in the background, or by `nohup`, may be told to ignore one
            if getsignal(number) in (SIG_DFL, default_int_handler):
                signal(number, hear)
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        set_wakeup_fd(writing, warn_on_full_buffer=False)
        start_new_thread(wait, (reading, ending))
    except (ImportError, OSError, RuntimeError, ValueError):
        pass  # not on Windows, nor where no thread can be had: the operation goes on to its end


def wait(reading: int, ending: tuple[int, ...]) -> None:
    """The thread: it sleeps until one of these is among the signals."""
    from time import sleep

    while not (heard := [number for number in os.read(reading, 64) if number in ending]):
        pass
    sleep(GRACE)
    end(OF_SIGNAL + heard[0])


def end(status: int, message: str = "") -> NoReturn:
    """End this process at once, with no output that is not complete."""
    for abandon in ABANDON:
        abandon()
    os.write(2, message.encode(errors="replace"))
    os._exit(status)


def deadline(seconds: float, message: str = "") -> Timer:
    """What ends this process, and an answer that is not written by then, GRACE after so many seconds, unless it is cancelled."""
    from threading import Timer

    timer = Timer(seconds + GRACE, end, (OUT_OF_TIME, message))
    timer.daemon = True
    timer.start()
    return timer
