"""The record that a kernel shares with its host while it runs, and the memory of arrays that either hands over.

It consists of words of 8 bytes:

STOP       not 0: leave soon
LEFT       bytes of memory that it may still take
WHY        why it left: 0, NO_MEMORY, STOPPED or FAILED
WHERE      which slot, loop or check left it
NEEDED     bytes of memory that the slot was to have, or the number that the check was about
THREADS    how many threads may work on a loop that they share (llvm_parallel.py)
then, for each memory slot, SLOT_WORDS words: the address and, CAPACITY words on, the size in bytes

The host gives the slots of results memory of its own before the call; the kernel makes the others (machine.RESIZE), and
the host frees them, or keeps them for the next run of the same kernel (frames.py, spare.py).
"""

from __future__ import annotations

import ctypes

from ...core.limits import MACHINE
from ..ir import DTYPES, INT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STOP, LEFT, WHY, WHERE, NEEDED, THREADS, FIRST_SLOT = 0, 1, 2, 3, 4, 5, 8
NO_MEMORY, STOPPED, FAILED = 1, 2, 3
SLOT_WORDS, CAPACITY = 2, 1
# What a kernel may take where nobody has set a limit: as much as the machine has.
PLENTY = MACHINE

FLAGS = 1024
# A byte in the memory of what has a buffer that may be written to: the quickest way to an array's address.
FIRST_BYTE = ctypes.c_char.from_buffer
# In NumPy's C interface (PyArrayObject) the address of an array's elements follows what every object begins with.
ELEMENTS = object.__basicsize__
WORD_AT = ctypes.c_int64.from_address
# What makes arrays, and the dtypes of the kinds, once NumPy has been needed: an import costs a little each time.
NUMPY: list[Any] = []


def array_of(kind: str, size: int) -> Any:
    """A flat array for a result. The flags of singular points are not worth NumPy's import."""
    if kind == INT and size <= FLAGS:
        return (ctypes.c_int64 * size)()
    if not NUMPY:
        import numpy as np

        NUMPY.append((np.empty, {kind: np.dtype(name) for kind, name in DTYPES.items()}))
    empty, dtypes = NUMPY[0]
    return empty(size, dtypes[kind])


def address_of(array: Any) -> int:
    """Where an array's elements are."""
    if isinstance(array, ctypes.Array):
        return ctypes.addressof(array)
    try:
        return ctypes.addressof(FIRST_BYTE(array))
    except (TypeError, ValueError):  # read-only, or empty
        return array.__array_interface__["data"][0]  # type: ignore[no-any-return]


def elements_of(array: Any) -> int:
    """The same for an array of NumPy's, in a third of the time, whether it may be written to or not."""
    return WORD_AT(id(array) + ELEMENTS).value
