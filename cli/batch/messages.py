"""What processes that answer lines and the one that hands them out say to one another through pipes."""

from __future__ import annotations

import marshal
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PIECE = 2**16  # bytes read at a time, which is what a pipe holds
SIZE = 8  # bytes of the length that goes before a message


def packed(message: tuple[Any, ...]) -> bytes:
    """A message as bytes; both ends are the same Python."""
    content = marshal.dumps(message)
    return len(content).to_bytes(SIZE, "little") + content


def send(descriptor: int, content: bytes) -> None:
    """Write all of it."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


class Messages:
    """What comes out of a pipe, message by message."""

    __slots__ = ("content", "descriptor")

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.content = bytearray()

    def read(self) -> bool:
        """Take what has come, or wait for it; False where nothing comes any more."""
        some = os.read(self.descriptor, PIECE)
        self.content += some
        return bool(some)

    def next(self) -> tuple[Any, ...] | None:
        """The next message that is there as a whole."""
        end = SIZE + int.from_bytes(self.content[:SIZE], "little")
        if len(self.content) < SIZE or len(self.content) < end:
            return None
        message: tuple[Any, ...] = marshal.loads(memoryview(self.content)[SIZE:end].tobytes())
        del self.content[:end]
        return message
