"""What kernels share with their host, made once and used again.

A frame is a record with the memory that the kernel took in its slots, and the place for its results. Each call takes a
frame for itself, so that several threads may run one kernel; a kernel has as many as ran at once. What takes more memory
than LITTLE, or gives large results, leaves it where others may have its place (spare.py).
"""

from __future__ import annotations

import ctypes

from ..ir import Left
from . import spare
from .record import CAPACITY, LEFT, NEEDED, PLENTY, THREADS, WHERE, WHY, address_of, array_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .code import Entry

# Bytes of one call's memory that stay with the kernel.
LITTLE = 1 << 16


class Frame(spare.Spare):
    """One call's record, and the structure of its results. `addresses` are those of the structure, the exception and the
    record; `kept` are arrays of results, and `words` at `plan` say what there is to look at in the results, for callers
    that do (usual.py).
    """

    __slots__ = ("addresses", "exception", "kept", "plan", "run", "structure", "words")

    def __init__(self, run: Any, structure: Any, taken: Sequence[int]) -> None:
        super().__init__(run, taken, 0, {}, 0)
        self.run = run
        self.structure = structure
        self.exception = ctypes.c_void_p()
        self.addresses = tuple(map(ctypes.addressof, (structure, self.exception, run)))
        self.kept: list[Any] = []
        self.words: Any = None
        self.plan = 0


class Frames:
    """The frames of a kernel that no call has at the moment; `taken` are the places of slots that the kernel fills."""

    def __init__(self, taken: list[int]) -> None:
        self.taken = taken
        self.waiting: list[Frame] = []
        # Whether a call takes no more than a little, so far as is known.
        self.suffice = True

    def put_away(self, frame: Frame, bytes_taken: int) -> None:
        """Keep a frame for the next call, or free its memory."""
        if bytes_taken <= LITTLE:
            self.waiting.append(frame)
        else:
            self.suffice = False
            self.drop(frame)

    def leave(self, frame: Frame, bytes_taken: int, large: dict[int, Any], large_size: int) -> None:
        """Keep a frame of more memory, and large results by number, for the next call, as far as there is room."""
        self.suffice = False
        frame.size, frame.results, frame.result_size = bytes_taken, large, large_size
        spare.leave(self, frame)

    def drop(self, frame: Frame) -> None:
        """Free the memory of a frame."""
        spare.free(frame.run, self.taken)

    def clear(self) -> None:
        """Free the memory of all frames."""
        while self.waiting:
            self.drop(self.waiting.pop())
        spare.forget(self)


def frame_of(entry: Entry) -> Frame:
    """A frame of its own for one call of a kernel: the lengths of the results' memory are written once."""
    run = entry.record()
    run[LEFT] = PLENTY
    run[THREADS] = entry.threads
    for _, _, _, place, width in entry.arrays:
        run[place + CAPACITY] = width
    return Frame(run, entry.structure(), entry.taken)


def call(entry: Entry, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The results of a kernel whose memory is not limited, and which nobody stops. Raises Left."""
    frames = entry.frames
    try:
        frame = frames.waiting.pop()
    except IndexError:
        frame = frame_of(entry)
    run = frame.run
    made: list[Any] = []
    status = -1
    try:
        for _, kind, size, place, _ in entry.arrays:
            array = array_of(kind, size)
            run[place] = address_of(array)
            made.append(array)
        given = [address_of(v) if addressed else v for addressed, v in zip(entry.addressed, values)]
        status = entry.function(*frame.addresses, *given)
        if status:
            arrays = {k: array for (k, *_), array in zip(entry.arrays, made)}
            raise Left(run[WHY], run[WHERE], run[NEEDED], arrays)
        results = frame.structure
        return tuple([getattr(results, part) if part.__class__ is str else made[part] for part in entry.parts])
    finally:
        if status:
            frames.drop(frame)
        else:
            frames.put_away(frame, PLENTY - run[LEFT])
