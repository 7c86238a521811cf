"""Object code to a function that can be called, by `llvmlite.binding` alone: Numba is not imported."""

from __future__ import annotations

import ctypes
from _thread import allocate_lock

from ....parser.fields import Record
from ...ops.scipy_functions import address
from ..ir import Unsupported
from .record import ENTRY, RESIZE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


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
