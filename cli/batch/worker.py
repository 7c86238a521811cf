"""A process that answers lines of a batch: what it is beside the one it was forked off, and what it does."""

from __future__ import annotations

import os
from _thread import start_new_thread

from .. import errors
from ..interrupts import ABANDON, deadline
from ..memory import guard

TYPE_CHECKING = False
if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from threading import Timer
    from typing import NoReturn

    from .line import Answering


def serve(answering: Answering, processes: int, connection: Connection, lifeline: int) -> NoReturn:
    """Answer lines until no more come, as one of so many processes. Who hands them out decides when that ends: signals that
    may go to all of a group are left to it, and when it is gone, `lifeline` is at its end."""
    ignore()
    ABANDON.clear()
    start_new_thread(die_with, (lifeline,))
    guard(processes)
    share_cores(processes)
    let_go_of_streams(answering)
    limits: list[Timer] = []
    answering.limited = lambda seconds: limits.append(deadline(seconds))
    while True:
        try:
            number, raw = connection.recv()
        except EOFError:
            os._exit(0)
        try:
            reply = answering.reply(number, raw)
        except MemoryError as error:  # for the answer itself
            reply = answering.failed(answering.record(number, raw), errors.from_exception(error))
        while limits:
            limits.pop().cancel()
        connection.send(reply)


def ignore() -> None:
    """Hear none of these signals, which were unheard while the process was forked."""
    from signal import SIG_IGN, SIG_UNBLOCK, SIGHUP, SIGINT, SIGTERM, pthread_sigmask, set_wakeup_fd, signal

    set_wakeup_fd(-1)
    for number in (SIGINT, SIGTERM, SIGHUP):
        signal(number, SIG_IGN)
    pthread_sigmask(SIG_UNBLOCK, (SIGINT, SIGTERM, SIGHUP))


def die_with(lifeline: int) -> None:
    """The thread that ends this process with the one whose end of the pipe this was."""
    os.read(lifeline, 1)
    os._exit(0)


def share_cores(processes: int) -> None:
    """Leave to others their part of the cores, unless somebody has said how many a process may use."""
    from ...engine.core.machine import cores

    if not os.environ.get("ADIFF_THREADS"):
        os.environ["ADIFF_THREADS"] = str(max(cores() // processes, 1))


def let_go_of_streams(answering: Answering) -> None:
    """Standard input and output are those of the process that hands out lines: their other ends must not wait for this one."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number, stream in enumerate((answering.environment.stdin, answering.environment.stdout)):
        if stream is not None:
            os.dup2(nowhere, number)
    os.close(nowhere)
