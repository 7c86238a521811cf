"""A process that answers lines of a batch: what it is beside the one it was forked off, and what it does."""

from __future__ import annotations

import faulthandler
import os
from _thread import start_new_thread

from .. import errors
from ..deadline import GRACE, ignore
from ..interrupts import ABANDON
from ..memory import guard
from .messages import Messages, packed, send

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from .line import Answering, Reply

# The exit status of one that `faulthandler` ends.
OUT_OF_TIME = 1


def serve(answering: Answering, processes: int, reading: int, writing: int, lifeline: int) -> NoReturn:
    """Answer lines until no more come, as one of so many processes. Who hands them out decides when that ends: signals that
    may go to all of a group are left to it, and when it is gone, `lifeline` is at its end."""
    ignore()
    ABANDON.clear()
    start_new_thread(die_with, (lifeline,))
    guard(processes)
    share_cores(processes)
    let_go_of_streams(answering)
    limit = Limit(writing)
    answering.limited = limit.begin
    lines = Messages(reading)
    while True:
        line = lines.next()
        if line is not None:
            content = answered(answering, *line)
            limit.end()
            send(writing, content)
        elif not lines.read():
            os._exit(0)


def answered(answering: Answering, number: int, raw: bytes) -> bytes:
    """The message that a line is answered with."""
    try:
        return message(answering.reply(number, raw))
    except MemoryError as error:  # for the answer itself
        return message(answering.failed(answering.record(number, raw), errors.from_exception(error)))


def message(reply: Reply | None) -> bytes:
    return packed(() if reply is None else (reply.ok, reply.text, reply.told))


class Limit:
    """The end of a line that its alarm does not end: of the process, which has said before how long the line may take."""

    __slots__ = ("begun", "nowhere", "writing")

    def __init__(self, writing: int) -> None:
        self.writing = writing
        self.nowhere: Any = None
        self.begun = False

    def begin(self, seconds: float) -> None:
        if self.nowhere is None:
            self.nowhere = open(os.devnull, "wb")  # noqa: SIM115
        send(self.writing, packed((seconds,)))
        faulthandler.dump_traceback_later(seconds + GRACE, exit=True, file=self.nowhere)
        self.begun = True

    def end(self) -> None:
        if self.begun:
            faulthandler.cancel_dump_traceback_later()
            self.begun = False


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
