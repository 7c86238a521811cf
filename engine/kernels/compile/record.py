"""The run record: the words of 8 bytes that a kernel shares with its host while it runs.

STOP         not 0: the kernel is to leave soon
LEFT         bytes of memory that the slots may still take
FLAGS + n    1 once a derivative was taken at the singular point of flag n
then, for each slot, SLOT_WORDS words: its address and, CAPACITY words on, its size in bytes

A kernel runs with one record at a time; several threads may run it, each with its own record.
"""

from __future__ import annotations

STOP, LEFT, FLAGS = 0, 1, 2
SLOT_WORDS, CAPACITY = 2, 1
# What a kernel returns.
DONE, FAILED, NO_MEMORY, STOPPED = 0, 1, 2, 3
# The function of the host that object code calls, and what it exports.
RESIZE = "adiff_resize"
ENTRY = "adiff_entry"


def first_slot(flags: int) -> int:
    """The first word of slot 0."""
    return FLAGS + flags
