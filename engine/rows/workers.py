"""Threads for loops over rows: compiled code holds no lock, so each core takes blocks of rows in turn."""

from __future__ import annotations

import time

from ..core.cores import cores
from ..core.limits import LIMITS
from ..kernels.ir import Left

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

# Rows that a thread takes at a time: enough to hide what a call costs, and no more than it does in a moment, so that all
# end together, and soon if they are told to.
LARGEST_BLOCK = 32_768
FIRST_BLOCK = 4_096
QUICK, SLOW = 0.001, 0.05  # seconds
# The statements, like an addition, of a first block: they take some hundredths of a second.
FIRST_STATEMENTS = 2e7


def first_block(statements: float) -> int:
    """The rows that a thread takes first, where a row takes about so many statements."""
    return max(1, min(FIRST_BLOCK, int(FIRST_STATEMENTS / max(statements, 1.0))))


class Workers:
    """A loop over rows, taken in blocks; it marks in `doubt`, one for each row, those to be evaluated by someone else.

    `left` holds, for each row that the loop left before the row's end, why, where and with which number it did: what
    `Left` holds. `given` and `results` hold the loop's columns and constants, arrays flat, and `noted` where it notes rows
    that fail, if it does; `statements` says about how many a row takes.
    """

    def __init__(
        self,
        entry: Callable[..., Any],
        given: Sequence[Any],
        results: Sequence[Any],
        doubt: Any,
        noted: Sequence[Any],
        statements: float,
    ) -> None:
        self.entry = entry
        self.count = len(doubt)
        self.first_block = first_block(statements)
        self.arrays = (*given, *results, doubt, *noted)
        self.doubt = doubt
        self.left: dict[int, tuple[int, int, int]] = {}
        self.following = 0
        self.stopped = False
        # Where in the program one of them was when it was told to stop.
        self.stopped_at: int | None = None
        self.records: dict[int, Any] = {}

    def run(self) -> None:
        """Run it on every core. What a signal raises in the meantime stops all."""
        from ..kernels.machine.threads import interruptible

        # Signals are answered by the main thread alone, between two of its steps: one that another thread has got does
        # not end a wait for the workers.
        interruptible(self.share, self.stop)

    def share(self) -> None:
        """Run it in as many threads as there are cores, and wait for all."""
        from _thread import allocate_lock
        from concurrent.futures import ThreadPoolExecutor

        self.lock = allocate_lock()
        workers = min(cores(), -(-self.count // self.first_block))
        with ThreadPoolExecutor(workers) as pool:
            try:
                for work in [pool.submit(self.work, number) for number in range(workers)]:
                    work.result()
            except BaseException:
                self.stop()
                raise

    def stop(self) -> None:
        """Let every worker leave, from inside the loops of a row too."""
        from ..kernels.machine.record import STOP

        self.stopped = True
        for record in list(self.records.values()):
            record[STOP] = 1

    def work(self, number: int) -> None:
        """Take blocks until there is none."""
        import numpy as np

        at = np.zeros(1, np.int64)
        size = self.first_block
        while not self.stopped:
            with self.lock:
                first = self.following
                last = self.following = min(first + size, self.count)
            if first == last:
                return
            start = time.perf_counter()
            self.block(number, first, last, at)
            taken = time.perf_counter() - start
            if taken < QUICK:
                size = min(2 * size, LARGEST_BLOCK)
            elif taken > SLOW:
                size = max(size // 2, 1)

    def block(self, number: int, first: int, last: int, at: Any) -> None:
        from ..kernels.machine.record import STOPPED

        while first < last and not self.stopped:
            try:
                self.entry(
                    first,
                    last,
                    at,
                    *self.arrays,
                    memory=LIMITS.max_memory,
                    started=lambda record: self.started(number, record),
                )
                return
            except Left as left:
                if left.why == STOPPED:
                    self.stopped_at = left.where
                # The row failed, or left what a kernel can answer for; the rows after it have not had their turn.
                row = int(at[0])
                self.doubt[row] = True
                self.left[row] = left.why, left.where, left.number
                first = row + 1

    def started(self, number: int, record: Any) -> None:
        from ..kernels.machine.record import STOP

        self.records[number] = record
        if self.stopped:
            record[STOP] = 1


__all__ = ["Workers"]
