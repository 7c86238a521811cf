"""Lines of a batch answered by several processes, which are forked off this one: who gets which, the order of what they answer,
and what such a process does.

A process has one line at a time. What is done before its turn is kept until then.
"""

from __future__ import annotations

import os
import signal
from _thread import start_new_thread
from collections import deque
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Pipe, wait

from ...parser.errors import AdiffError
from .. import errors
from ..interrupts import ABANDON, OUT_OF_TIME, deadline
from ..memory import guard
from .incoming import Incoming

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection
    from threading import Timer
    from typing import NoReturn

    from .line import Answering, Reply

AHEAD = 256  # lines that may be handed out before the first of them is written, for each process
ENDING = signal.SIGINT, signal.SIGTERM, signal.SIGHUP


class Process:
    """One process, and the line that it has been given and has not answered."""

    def __init__(self, number: int, connection: Connection) -> None:
        self.number = number
        self.connection = connection
        self.line: tuple[int, bytes] | None = None
        self.proven = False  # whether it has answered one

    def give(self, line: tuple[int, bytes]) -> None:
        """Hand it a line. Raises OSError where it is gone."""
        self.line = line
        self.connection.send(line)

    def end(self) -> int:
        """Wait for its end: the exit status, or the number of a signal less than zero."""
        self.connection.close()
        return os.waitstatus_to_exitcode(os.waitpid(self.number, 0)[1])


class Jobs:
    """A context of at most so many processes, which are gone after it."""

    def __init__(self, most: int, answering: Answering, incoming: Incoming) -> None:
        self.answering = answering
        self.incoming = incoming
        self.most = most
        self.processes: list[Process] = []
        self.order: deque[int] = deque()  # the numbers of lines that are handed out, and not yet written
        self.newest = 0  # the last of them
        self.found: dict[int, Reply | None] = {}
        # Its end tells the processes of the end of this one, whatever that came of.
        self.lifeline = os.pipe()

    def __enter__(self) -> Jobs:
        ABANDON.append(self.kill)
        return self

    def __exit__(self, kind: object, *exception: object) -> None:
        if kind is not None:
            self.kill()
        for process in self.processes:
            process.end()
        for end in self.lifeline:
            os.close(end)
        self.incoming.close()
        ABANDON.remove(self.kill)

    def kill(self) -> None:
        """End all processes at once. A thread may ask for it while others come and go."""
        for process in list(self.processes):
            with suppress(ProcessLookupError):
                os.kill(process.number, signal.SIGKILL)

    def replies(self) -> Iterator[Reply]:
        """What the lines come to, in their order."""
        while True:
            self.hand_out()
            if not self.order and self.incoming.ended and not self.incoming.ready:
                return
            self.listen()
            while self.order and self.order[0] in self.found:
                reply = self.found.pop(self.order.popleft())
                if reply is not None:
                    yield reply

    def hand_out(self) -> None:
        """Give lines to processes that have time for them."""
        ready = self.incoming.ready
        # What a process had that is gone has its room already.
        while ready and (ready[0][0] <= self.newest or len(self.order) < AHEAD * self.most):
            process = self.free()
            if process is None:
                return
            line = ready.popleft()
            if line[0] > self.newest:
                self.newest = line[0]
                self.order.append(line[0])
            try:
                process.give(line)
            except OSError:
                # It was gone before it saw the line, which another may answer; where new ones are gone at once, it is an error.
                if process.proven:
                    ready.appendleft(line)
                    process.line = None
                self.bury(process)

    def free(self) -> Process | None:
        """A process that has time for a line."""
        for process in self.processes:
            if process.line is None:
                return process
        if len(self.processes) < self.most:
            try:
                return self.begin()
            except OSError:
                if not self.processes:
                    raise
                self.most = len(self.processes)  # the system gives no more
        return None

    def begin(self) -> Process:
        """One process more."""
        ours, theirs = Pipe()
        heard = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)  # what comes meanwhile is heard after it
        try:
            number = os.fork()
            if not number:
                try:
                    # Another's end of a pipe that is open here too would never seem closed.
                    for process in self.processes:
                        process.connection.close()
                    ours.close()
                    os.close(self.lifeline[1])
                    serve(self.answering, self.most, theirs, self.lifeline[0])
                finally:
                    os._exit(errors.FAULT)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, heard)
        theirs.close()
        self.processes.append(Process(number, ours))
        return self.processes[-1]

    def listen(self) -> None:
        """Wait for processes, and for lines where none are left, and take what comes."""
        incoming = self.incoming
        wanted = [] if incoming.ended or incoming.ready else [incoming.descriptor]
        heard = wait([*(process.connection for process in self.processes), *wanted])
        for process in [process for process in self.processes if process.connection in heard]:
            self.hear(process)
        if incoming.descriptor in heard:
            incoming.read()

    def hear(self, process: Process) -> None:
        """Take what a line came to, or that its process is gone."""
        try:
            reply = process.connection.recv()
        except (EOFError, OSError):
            self.bury(process)
            return
        if process.line is not None:
            self.found[process.line[0]] = reply
            process.line, process.proven = None, True

    def bury(self, process: Process) -> None:
        """A process is gone: the line it was at has an error."""
        self.processes.remove(process)
        status = process.end()
        if process.line is not None:
            self.found[process.line[0]] = self.answering.lost(*process.line, partial(why, status))


def why(status: int, limit: float | None) -> AdiffError:
    """The error of a line whose process has ended with such a status; `limit` is the time it had."""
    if status == OUT_OF_TIME and limit is not None:
        from ...engine.core.watchdog import out_of_time

        return out_of_time(limit)
    name = f"signal {-status}"
    if status < 0:
        name = signal.Signals(-status).name if -status in set(signal.Signals) else name
    if -status == signal.SIGKILL:
        hint = "the system does so where memory runs out: --max-memory sets a limit, and fewer --jobs need less"
        return AdiffError("E0611", f"the process that answered this line was ended by {name}", hint=hint)
    how = f"was ended by {name}" if status < 0 else f"ended with status {status}"
    said = f"a fault of adiff's own: the process that answered this line {how}"
    return AdiffError("E0911", said, hint="please report it")


# --- a process ---------------------------------------------------------------------------------------------------------


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
    signal.set_wakeup_fd(-1)
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


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
