"""A kernel's calls for the rows of a table, on all cores.

The loop over rows is machine code (numba_backend.add_entry). Each thread has its own run record and takes chunks of rows
until none are left; between two chunks it looks whether to stop, and inside a long row the kernel polls.
"""

from __future__ import annotations

from threading import Thread

from ...core.limits import LIMITS, MACHINE
from ...core.machine import cores
from .load import NO_MEMORY, STOP
from .run import DTYPES, KEPT, Entry, Frame, OutOfMemory, Stopped, elements_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Rows that a thread takes at once: enough to hide the cost of a call, few enough to share the work and to stop soon.
MOST, CHUNKS_A_THREAD = 16384, 8
# Fewer rows than these are not worth a thread more.
FEW = 256


class RowsEntry(Entry):
    """A kernel in a loop over rows."""

    def __call__(self, rows: int, *values: Any) -> Any:  # type: ignore[override]
        """The results as columns (arrays of `rows` elements, or rows of elements), the status of each row, and which flags each row
        has set: arrays of uint8. What a row whose status is not 0 has for results means nothing.

        A parameter by row is an array whose first axis is the rows. Ctrl-C and time limits stop the threads, and raise what they
        raise. Raises OutOfMemory.
        """
        import numpy as np

        given, kept = self.addresses(values, (rows,)) if self.arrays else (values, [])
        results = [np.empty((rows, *shape), DTYPES[kind]) for kind, shape in self.interface.results]
        status = np.zeros(rows, np.uint8)
        flags = np.zeros((rows, self.interface.flags), np.uint8)
        kept += [*results, status, flags]
        call = Frame(self.interface, self.offset)
        self.pack(call.buffer, 0, *given, *self.constants, *map(elements_of, [*results, status, flags]))
        self.in_chunks(rows, call, kept)
        return results, status, flags

    def in_chunks(self, rows: int, call: Frame, kept: Any) -> None:
        from .threads import interruptible

        count = min(cores(), max(1, rows // FEW))
        chunk = max(1, min(MOST, rows // (count * CHUNKS_A_THREAD)))
        starts = iter(range(0, rows, chunk))
        stop: list[int] = []
        limit = LIMITS.max_memory
        frames = [self.frames.pop() if self.frames else Frame(self.interface, 0) for _ in range(count)]

        def take(frame: Frame, *held: Any) -> None:
            frame.begin((MACHINE if limit is None else limit) // count)
            for first in starts:
                if stop:
                    break
                found = self.function(call.address, frame.run, first, min(rows, first + chunk))
                if found:
                    stop.append(found)
            frame.end(KEPT // count)

        def work() -> None:
            others = [Thread(target=take, args=(frame, kept), daemon=True) for frame in frames[1:]]
            for thread in others:
                thread.start()
            take(frames[0], kept)
            for thread in others:
                thread.join()

        def stop_all() -> None:
            stop.append(STOP)
            for frame in frames:
                frame.record[STOP] = 1

        interruptible(work, stop_all)
        if stop:
            raise OutOfMemory if NO_MEMORY in stop else Stopped
        self.frames += frames
