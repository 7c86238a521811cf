"""Lines of a batch answered by several processes, which are forked off this one: who gets which, and the order of what
they answer.

A process has one line to answer and, where lines are quick, a second one that waits in its pipe. What is done before its turn
is kept until then, and so much of it that no more lines are handed out.
"""

from __future__ import annotations

import os
from collections import deque
from contextlib import suppress
from select import POLLIN, poll
from time import monotonic

from ...parser.errors import AdiffError
from .. import errors
from ..interrupts import ABANDON, unheard
from .incoming import Incoming
from .line import Reply
from .messages import Messages, packed, send
from .worker import OUT_OF_TIME, serve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .line import Answering

# Lines that may be handed out before the first of them is written, for each process, and bytes of text that wait.
AHEAD, HELD = 256, 64 * 2**20
# Seconds: a second line waits in a process where one takes less. It is short (bytes), so that it fits into the pipe whatever
# the process is doing.
QUICK, SHORT = 5e-3, 2_048
NEWEST = 0.1  # the share of the newest line in what is known of how long they take
SIGKILL = 9


class Process:
    """One process, and the lines that it has been given and has not answered."""

    __slots__ = ("limit", "lines", "messages", "number", "proven", "since", "writing")

    def __init__(self, number: int, writing: int, reading: int) -> None:
        self.number = number
        self.writing = writing
        self.messages = Messages(reading)
        self.lines: deque[tuple[int, bytes]] = deque()
        self.limit: float | None = None  # seconds that the line it is at may take
        self.since = monotonic()  # when it was given that line
        self.proven = False  # whether it has answered one

    def give(self, number: int, raw: bytes) -> None:
        """Hand it a line. Raises BrokenPipeError where it is gone."""
        if not self.lines:
            self.since = monotonic()
        self.lines.append((number, raw))
        send(self.writing, packed((number, raw)))

    def close(self) -> None:
        os.close(self.writing)
        os.close(self.messages.descriptor)

    def end(self) -> int:
        """Wait for its end: the exit status, or the number of a signal less than zero."""
        self.close()
        return os.waitstatus_to_exitcode(os.waitpid(self.number, 0)[1])


class Jobs:
    """A context of at most so many processes, which are gone after it."""

    __slots__ = (
        "answering", "found", "held", "incoming", "lifeline", "most", "newest", "order", "pace", "poll", "processes", "refused",
    )  # fmt: skip

    def __init__(self, most: int, answering: Answering, incoming: Incoming) -> None:
        self.answering = answering
        self.incoming = incoming
        self.most = most
        self.processes: dict[int, Process] = {}  # by the descriptor that they are heard at
        self.poll = poll()
        self.order: deque[int] = deque()  # the numbers of lines that are handed out, and not yet written
        self.newest = 0  # the last of them
        self.refused = 0  # how often the line that is to be handed out came to a process that was gone before it saw it
        self.found: dict[int, Reply | None] = {}
        self.held = 0  # bytes, nearly, of what was found
        self.pace = QUICK  # seconds that a line takes
        # Its end tells the processes of the end of this one, whatever that came of.
        self.lifeline = os.pipe()

    def __enter__(self) -> Jobs:
        ABANDON.append(self.kill)
        return self

    def __exit__(self, kind: object, *exception: object) -> None:
        if kind is not None:
            self.kill()
        for process in self.processes.values():
            process.end()
        for end in self.lifeline:
            os.close(end)
        self.incoming.close()
        ABANDON.remove(self.kill)

    def kill(self) -> None:
        """End all processes at once. A thread may ask for it while others come and go."""
        for process in list(self.processes.values()):
            with suppress(ProcessLookupError):
                os.kill(process.number, SIGKILL)

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
                    self.held -= len(reply.text)
                    yield reply

    def hand_out(self) -> None:
        """Give lines to processes that have time for them."""
        ready = self.incoming.ready
        while ready and (ready[0][0] <= self.newest or self.has_room()):
            process = self.free(len(ready[0][1]))
            if process is None:
                return
            number, raw = ready.popleft()
            if number > self.newest:
                self.newest = number
                self.order.append(number)
            try:
                process.give(number, raw)
            except BrokenPipeError:
                # It was gone before it saw the line, which another may answer: as many as there are may be gone, but where
                # new ones are gone at once too, it is an error.
                self.refused += 1
                if process.proven or self.refused <= self.most:
                    ready.appendleft(process.lines.pop())
                self.bury(process)
            else:
                self.refused = 0

    def has_room(self) -> bool:
        """Whether there is room for the reply of one line more; what a process had that is gone has its room already."""
        return len(self.order) < AHEAD * self.most and (self.held < HELD or not self.order)

    def free(self, size: int) -> Process | None:
        """A process for a line of so many bytes."""
        for process in self.processes.values():
            if not process.lines:
                return process
        if len(self.processes) < self.most:
            try:
                return self.begin()
            except OSError:
                if not self.processes:
                    raise
                self.most = len(self.processes)  # the system gives no more
        if self.pace < QUICK and size <= SHORT:
            for process in self.processes.values():
                if len(process.lines) == 1:
                    return process
        return None

    def begin(self) -> Process:
        """One process more."""
        (reading, writing), (hearing, telling) = os.pipe(), os.pipe()
        with unheard():
            number = os.fork()
            if not number:
                try:
                    # Another's end of a pipe that is open here too would never seem closed.
                    for process in self.processes.values():
                        process.close()
                    for end in (writing, hearing, self.lifeline[1]):
                        os.close(end)
                    serve(self.answering, self.most, reading, telling, self.lifeline[0])
                finally:
                    os._exit(errors.FAULT)
        os.close(reading)
        os.close(telling)
        self.poll.register(hearing, POLLIN)
        process = self.processes[hearing] = Process(number, writing, hearing)
        return process

    def listen(self) -> None:
        """Wait for processes, and for lines where none are left, and take what comes."""
        incoming = self.incoming
        wanted = not incoming.ended and not incoming.ready
        if wanted:
            self.poll.register(incoming.descriptor, POLLIN)
        heard = self.poll.poll()
        if wanted:
            self.poll.unregister(incoming.descriptor)
        for descriptor, _ in heard:
            if descriptor == incoming.descriptor:
                incoming.read()
            elif not self.hear(self.processes[descriptor]):
                self.bury(self.processes[descriptor])

    def hear(self, process: Process) -> bool:
        """Take what a process says; whether it will say more."""
        more = process.messages.read()
        while (message := process.messages.next()) is not None:
            self.take(process, message)
        return more

    def take(self, process: Process, message: tuple[Any, ...]) -> None:
        """A line's limit, or what the line came to."""
        if len(message) == 1:
            (process.limit,) = message
            return
        now = monotonic()
        self.pace += NEWEST * (now - process.since - self.pace)
        process.since = now
        process.limit = None
        process.proven = True
        number, _ = process.lines.popleft()
        self.keep(number, Reply(*message) if message else None)

    def keep(self, number: int, reply: Reply | None) -> None:
        """Have the reply to a line for when its turn comes."""
        self.found[number] = reply
        if reply is not None:
            self.held += len(reply.text)

    def bury(self, process: Process) -> None:
        """A process is gone: the line it was at has an error, and one that waited in it goes to another."""
        while self.hear(process):
            pass
        descriptor = process.messages.descriptor
        self.poll.unregister(descriptor)
        del self.processes[descriptor]
        status = process.end()
        if process.lines:
            number, raw = process.lines.popleft()
            overdue = process.limit is not None and monotonic() - process.since > process.limit
            error = why(status, process.limit if overdue else None)
            self.keep(number, self.answering.lost(number, raw, error))
        self.incoming.ready.extendleft(reversed(process.lines))


def why(status: int, limit: float | None) -> AdiffError:
    """The error of a line whose process has ended with such a status; `limit` is the time it had, where that was over."""
    if status == OUT_OF_TIME and limit is not None:
        from ...engine.core.watchdog import out_of_time

        return out_of_time(limit)
    if status >= 0:
        return errors.ended(f"ended with status {status}")
    from signal import Signals

    name = Signals(-status).name if -status in set(Signals) else f"signal {-status}"
    return errors.killed(name) if -status == SIGKILL else errors.ended(f"was ended by {name}")
