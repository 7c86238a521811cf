"""Threads for loops over rows: compiled code holds no lock, so each core takes blocks of rows in turn."""

from __future__ import annotations

from ..kernels.runtime import LEAVING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

# Rows that a thread takes at a time: enough to hide what a call costs, few enough for all to end together.
BLOCKS_PER_WORKER = 8
SMALLEST_BLOCK, LARGEST_BLOCK = 2_048, 65_536


def run_over_rows(entry: Callable[..., Any], count: int, given: Sequence[Any], results: Sequence[Any]) -> Any:
    """Run a loop over `count` rows on every core; the rows to be evaluated by someone else, as a mask.

    `given` and `results` hold the loop's columns and constants, arrays flat.
    """
    import numpy as np

    doubt = np.zeros(count, bool)
    block = min(max(count // (BLOCKS_PER_WORKER * cores()), SMALLEST_BLOCK), LARGEST_BLOCK)

    def part(first: int) -> None:
        last = min(first + block, count)
        at = np.zeros(1, np.int64)
        while first < last:
            try:
                entry(first, last, at, *given, *results, doubt)
                return
            except LEAVING:
                # The row failed, or left what a kernel can answer for; the rows after it have not had their turn.
                doubt[at[0]] = True
                first = int(at[0]) + 1

    starts = range(0, count, block)
    workers = min(cores(), len(starts))
    if workers < 2:
        for first in starts:
            part(first)
        return doubt
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(workers) as pool:
        try:
            for _ in pool.map(part, starts):
                pass
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return doubt


def cores() -> int:
    """How many cores this process may use."""
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


__all__ = ["run_over_rows"]
