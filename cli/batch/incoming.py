"""The lines of a batch as they come, read without waiting for a whole one."""

from __future__ import annotations

import os
from collections import deque

from .. import errors
from ..files import open_file
from .line import LONGEST_LINE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..environment import Environment

PIECE = 2**16  # bytes read at a time, which bound how many lines wait here


class Incoming:
    """The numbered lines after one of a file or of standard input that have come and are not answered yet. A line that
    is too long is the last."""

    def __init__(self, path: str, environment: Environment, after: int = 0) -> None:
        self.path = path
        self.after = after
        self.file = environment.stdin if path == "-" else open_file(path, regular=False)
        self.descriptor = -1 if self.file is None else self.file.fileno()
        self.ended = self.file is None
        self.ready: deque[tuple[int, bytes]] = deque()
        self.number = 0
        self.rest = bytearray()  # of a line whose end has not come

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """The lines, as they come."""
        while self.ready or not self.ended:
            while self.ready:
                yield self.ready.popleft()
            if not self.ended:
                self.read()
        self.close()

    def read(self) -> None:
        """Take what has come, or wait for it."""
        try:
            some = os.read(self.descriptor, PIECE)
        except OSError as error:
            raise errors.unreadable(self.path, errors.reason(error)) from None
        self.rest += some
        lines: list[bytes] = []
        if b"\n" in some:
            *lines, rest = bytes(self.rest).split(b"\n")
            self.rest = bytearray(rest)
        if not some or len(self.rest) >= LONGEST_LINE:  # it may have no end
            lines += [bytes(self.rest)] if self.rest else []
            self.ended = True
        for line in lines:
            self.number += 1
            if self.number > self.after:
                self.ready.append((self.number, line))

    def close(self) -> None:
        """Leave a file; standard input is not ours to close."""
        if self.path != "-" and self.file is not None:
            self.file.close()
