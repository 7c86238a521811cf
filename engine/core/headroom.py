"""The end of a program's memory, told while there is still room to answer in.

The system refuses memory where it is all gone, and Python cannot work with none: an exception on its way through a `with`
or an `except` needs an integer for the place it comes from, and CPython, which has no memory for that one, begins with the
exception again, for ever and without hearing anybody. So a program of many small values is ended before, by the room that
the limit of the system leaves above the one that was asked for.
"""

from __future__ import annotations

import os

from .alarm import AGAIN, BEFORE_ANOTHER_LOOK, Alarm

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STATUS = "/proc/self/status"
# Bytes a second: far more than small values are made of, so that half the room is never gone between two looks.
FASTEST = 2e9
SHORTEST, LONGEST = 1e-3, 0.25  # seconds between two looks


class Exhausted(MemoryError):
    """Raised between two steps of the program: no operation is to blame."""

    _total_size = 0


class Headroom(Alarm):
    """Raises Exhausted in the thread that makes it when the data segment is larger than `most`; None allows any size."""

    timed = False

    def __init__(self) -> None:
        super().__init__(0.0)
        self.most: int | None = None

    def watch(self) -> None:
        pause = 0.0
        while not self.asleep.acquire(timeout=pause):
            with self.telling:
                if self.cancelled:
                    return
                most = self.most
                room = FASTEST if most is None else most - data_size()
                if room > 0:
                    pause = min(max(room / FASTEST, SHORTEST), LONGEST)
                else:
                    pause = AGAIN if self.tell(Exhausted) else BEFORE_ANOTHER_LOOK

    def tell(self, error: Any) -> bool:
        """As ever, unless the memory has become adiff's own since it was looked at."""
        return self.most is not None and super().tell(error)


def data_size() -> int:
    """The bytes of the data segment, of which the system limits the number."""
    descriptor = os.open(STATUS, os.O_RDONLY)
    try:
        text = os.read(descriptor, 8192)
    finally:
        os.close(descriptor)
    return int(text[text.index(b"VmData:") + 7 :].split(None, 1)[0]) * 1024
