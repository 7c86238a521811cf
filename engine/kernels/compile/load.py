"""Object code to a function that can be called, by `llvmlite.binding` alone: Numba is not imported.

What machine code shares with its host while it runs is the run record, words of 8 bytes:

STOP         not 0: the kernel is to leave soon
LEFT         bytes of memory that the slots may still take
FLAGS + n    1 once a derivative was taken at the singular point of flag n
then, for each slot, SLOT_WORDS words: its address and, CAPACITY words on, its size in bytes

A kernel runs with one record at a time; several threads may run it, each with its own record.
"""

from __future__ import annotations

import ctypes
from _thread import allocate_lock

from ....parser.fields import Record
from ...ops.scipy_functions import address
from ..ir import Unsupported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


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


class Code(Record):
    """Object code, and what it calls of SciPy."""

    object: bytes
    externals: Sequence[str]


LOCK = allocate_lock()
LINKER: list[Any] = []  # LLVM's linker of code in memory, once it is made
NUMBER = iter(range(1 << 62))


def load(code: Code) -> Any:
    """The library of object code in memory, which `[ENTRY]` gives the address of; it lasts as long as it is referred to.

    Raises Unsupported for object code that is broken, or calls what is not here.
    """
    from llvmlite import binding

    try:
        imports = {name: address(name) for name in code.externals}
    except LookupError as fault:
        raise Unsupported(f"a function that SciPy lacks: {fault.args[0]}") from None
    imports[RESIZE] = ctypes.cast(ctypes.pythonapi.PyMem_RawRealloc, ctypes.c_void_p).value or 0
    library = binding.JITLibraryBuilder().add_current_process().add_object_img(code.object).export_symbol(ENTRY)
    for name, place in imports.items():
        library.import_symbol(name, place)
    with LOCK:
        if not LINKER:
            binding.initialize_native_target()
            binding.initialize_native_asmprinter()
            LINKER.append(binding.create_lljit_compiler(suppress_errors=True))
        try:
            return library.link(LINKER[0], f"kernel{next(NUMBER)}")
        except RuntimeError:
            raise Unsupported("machine code that this system does not load") from None
