"""The memory that large arrays leave, kept for the next ones.

The system fills every page of new memory with zeros when it is first touched, which takes longer than most operations on
an array do. glibc keeps what is freed, but no more than twice the largest array that was ever freed, and takes each array
that is larger than that one from the system by itself: what goes over arrays of some 100,000 numbers would have most of
its memory new, each time. An array of the largest size that counts there, freed without having been touched, is enough
for memory to be kept, at most twice its size. Other C libraries take no notice.
"""

from __future__ import annotations

from .limits import LIMITS

# Bytes: just below the largest that counts, as an array has a header and takes whole pages.
LARGEST = (1 << 25) - (1 << 14)
# A limit of memory of which what is kept is not a small part.
SMALL = 1 << 29
KEPT: list[bool] = []


def keep_memory() -> None:
    """Let memory be kept from now on, for good. Where there is little of it all goes as it did."""
    if not KEPT and (LIMITS.max_memory is None or LIMITS.max_memory >= SMALL):
        import numpy as np

        KEPT.append(True)
        try:
            np.empty(LARGEST, dtype=np.uint8)
        except MemoryError:  # limited from outside
            pass


def release_memory(limit: int) -> None:
    """Give what is kept and free back to the system, as far as it lies at the end, where a limit to come is so small that it
    would be much: what is used now does not count there."""
    if KEPT and limit < SMALL:
        import ctypes

        try:
            ctypes.CDLL(None).malloc_trim(0)
        except (AttributeError, OSError):  # another C library, which keeps nothing for an array's sake
            pass
