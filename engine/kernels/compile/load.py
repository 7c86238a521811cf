"""Object code to a function that can be called, by llvmlite's library alone: Numba is not imported."""

from __future__ import annotations

import ctypes
import os
from _thread import allocate_lock

from ...ops.scipy_functions import address
from ..ir import Unsupported
from .record import ENTRY, RESIZE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class Code:
    """Object code, and what it calls of SciPy."""

    __slots__ = ("externals", "object")

    def __init__(self, code: bytes, externals: Sequence[str] = ()) -> None:
        self.object = code
        self.externals = externals


LOCK = allocate_lock()
LINKER: list[Any] = []  # llvmlite's library, and the linker that was made by it
NUMBER = iter(range(1 << 62))
# Kinds of elements of a library.
OBJECT, PROCESS = 2, 3


class Element(ctypes.Structure):
    """What a library is linked from: object code, or the symbols of this process."""

    _fields_ = (("kind", ctypes.c_uint8), ("content", ctypes.c_char_p), ("size", ctypes.c_size_t))


class Symbol(ctypes.Structure):
    """A name and its address."""

    _fields_ = (("name", ctypes.c_char_p), ("address", ctypes.c_uint64))


class Library:
    """Object code in memory. `llvmlite.binding` does the same, but takes 20 ms to import, as long as everything else."""

    tracker: Any = None

    def __init__(self, code: bytes, imports: dict[str, int], entry: str) -> None:
        if not LINKER:
            LINKER.extend(linker())
        self.lib, jit = LINKER
        elements = (Element * 2)(Element(PROCESS, b"", 0), Element(OBJECT, code, len(code)))
        symbols = (Symbol * len(imports))(*[Symbol(name.encode(), place) for name, place in imports.items()])
        entries = (Symbol * 1)(Symbol(entry.encode(), 0))
        self.tracker = ctypes.c_void_p(
            self.lib.LLVMPY_LLJIT_Link(
                jit, b"kernel%d" % next(NUMBER), elements, ctypes.c_size_t(2), symbols, ctypes.c_size_t(len(imports)),
                entries, ctypes.c_size_t(1), ctypes.byref(ctypes.c_char_p()),
            )
        )  # fmt: skip
        if not self.tracker:
            raise Unsupported("machine code that this system does not load")
        self.address: int = entries[0].address

    def __del__(self) -> None:
        if self.tracker:
            self.lib.LLVMPY_LLJIT_Dylib_Tracker_Dispose(self.tracker, ctypes.byref(ctypes.c_char_p()))


def linker() -> tuple[Any, Any]:
    """llvmlite's library, and LLVM's linker of code in memory."""
    import llvmlite
    from llvmlite.utils import get_library_name

    lib = ctypes.CDLL(os.path.join(llvmlite.__path__[0], "binding", get_library_name()))
    lib.LLVMPY_CreateLLJITCompiler.restype = lib.LLVMPY_LLJIT_Link.restype = ctypes.c_void_p
    lib.LLVMPY_InitializeNativeTarget()
    lib.LLVMPY_InitializeNativeAsmPrinter()
    return lib, ctypes.c_void_p(lib.LLVMPY_CreateLLJITCompiler(None, True, False, ctypes.byref(ctypes.c_char_p())))


def load(code: Code) -> Library:
    """The function that object code has, at an address, and what it needs in memory.

    Raises Unsupported for object code that is broken, or calls what is not here.
    """
    try:
        imports = {name: address(name) for name in code.externals}
    except LookupError as fault:
        raise Unsupported(f"a function that SciPy lacks: {fault.args[0]}") from None
    imports[RESIZE] = ctypes.cast(ctypes.pythonapi.PyMem_RawRealloc, ctypes.c_void_p).value or 0
    with LOCK:
        return Library(code.object, imports, ENTRY)
