"""Memory that kernels leave to their next call.

Memory that the system has just given is filled with zeros a page at a time, when it is first touched. For a kernel that
goes through its arrays a few times that is most of the time, so what a kernel took, and the results that nobody holds
any more, wait for its next call: LIMIT bytes at most, those of the kernels that ran last.
"""

from __future__ import annotations

import ctypes
import sys
import weakref

from ..ir import DTYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

LIMIT = 64 << 20
# Smaller arrays come from memory that NumPy and the allocator keep themselves.
LARGE = 1 << 16


def own_references() -> int:
    """What getrefcount gives of what a local name alone holds; Python's versions borrow more or less."""
    held = {0: object()}
    x = held.pop(0)
    return sys.getrefcount(x)


OWN = own_references()


class Spare:
    """What one call left: the words of its record describe the slots, of which those at `taken` hold memory of `size`
    bytes, and `results` are its large arrays, by number, of `result_size` bytes. Of its bytes, `counted` are known to
    have room."""

    __slots__ = ("counted", "record", "result_size", "results", "size", "taken")

    def __init__(self, record: Any, taken: Sequence[int], size: int, results: dict[int, Any], result_size: int) -> None:
        self.counted = -1
        self.record = record
        self.taken = taken
        self.size = size
        self.results = results
        self.result_size = result_size

    def array(self, number: int, kind: str, size: int) -> Any:
        """The array of a result if it is as it was made, and nobody else holds it, to be written again; else None."""
        array = self.results.pop(number, None)
        if array is None or sys.getrefcount(array) != OWN:
            return None
        # Who held it may have changed its shape, its strides or its dtype in place.
        flags = array.flags
        as_made = array.shape == (size,) and array.dtype == DTYPES[kind] and flags.c_contiguous and flags.writeable
        return array if as_made else None

    def free(self) -> None:
        free(self.record, self.taken)
        self.results.clear()


# By kernel, in the order of their calls. Threads share it: every step is one that no other thread parts.
SPARE: dict[object, Spare] = {}


def taken_up(owner: object) -> Spare | None:
    """What the last call of a kernel left. It is the caller's from here on."""
    return SPARE.pop(owner, None)


def leave(owner: object, spare: Spare) -> None:
    """Keep what a call leaves, as far as there is room."""
    if spare.size + spare.result_size > LIMIT:
        spare.results.clear()
        spare.result_size, spare.counted = 0, -1
    if spare.size > LIMIT:
        spare.free()
        return
    forget(owner)
    SPARE[owner] = spare
    if spare.size + spare.result_size <= spare.counted:
        return
    spare.counted = spare.size + spare.result_size
    waiting = list(SPARE.items())
    total = sum(other.size + other.result_size for _, other in waiting)
    for oldest, other in waiting:
        if total <= LIMIT:
            break
        total -= other.size + other.result_size
        forget(oldest)


def arrays(entry: object, wanted: Sequence[tuple[str, int]]) -> list[Any]:
    """Flat arrays of kinds and lengths that a caller has a kernel write into, as the columns of a table: those that the last
    such call left and nobody holds, and else new ones."""
    import numpy as np

    had = taken_up(owner_of(entry))
    found = []
    for number, (kind, size) in enumerate(wanted):
        made = None if had is None else had.array(number, kind, size)
        found.append(np.empty(size, DTYPES[kind]) if made is None else made)
    return found


def leave_arrays(entry: object, arrays: Sequence[Any]) -> None:
    """Keep arrays, the large ones, for the next call that asks for such."""
    large = {number: array for number, array in enumerate(arrays) if array.nbytes >= LARGE}
    if large:
        leave(owner_of(entry), Spare((), (), 0, large, sum(array.nbytes for array in large.values())))


OWNERS: weakref.WeakKeyDictionary[object, object] = weakref.WeakKeyDictionary()


def owner_of(entry: object) -> object:
    """Whose the arrays of a kernel's callers are."""
    owner = OWNERS.get(entry)
    if owner is None:
        owner = OWNERS[entry] = object()
        weakref.finalize(entry, forget, owner).atexit = False
    return owner


def forget(owner: object) -> None:
    """Give back what waits for a kernel."""
    spare = SPARE.pop(owner, None)
    if spare is not None:
        spare.free()


def free(record: Any, taken: Sequence[int]) -> None:
    """Give back the memory of slots."""
    for place in taken:
        if record[place]:
            ctypes.pythonapi.PyMem_RawFree(ctypes.c_void_p(record[place]))
