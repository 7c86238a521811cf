"""Object code to a function that can be called, by llvmlite's binding alone: Numba is not imported."""

from __future__ import annotations

import ctypes
from _thread import allocate_lock

from ..ir import Unsupported
from .record import ENTRY, RESIZE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

SPECIAL = "scipy.special.cython_special"
# SciPy's functions that kernels call, and C's, with the number of their arguments, all of them doubles.
EXTERNALS: dict[str, int] = {
    **{f"scipy_{name}": 1 for name in "j0 j1 y0 y1 i0 i1 k0 k1 i0e i1e k0e k1e".split()},
    **{f"scipy_{name}": 2 for name in "jv yv iv kv gammainc gammaincc".split()},
    "scipy_betainc": 3,
}
# Cython exports a function of several types under a name for each of them.
VARIANTS = ("", "__pyx_fuse_0", "__pyx_fuse_1")


class Code:
    """Object code, and what it calls of SciPy."""

    __slots__ = ("externals", "object")

    def __init__(self, code: bytes, externals: Sequence[str] = ()) -> None:
        self.object = code
        self.externals = externals


LOCK = allocate_lock()
JIT: list[Any] = []
NUMBER = iter(range(1 << 62))
POINTER_OF = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def machine(**options: Any) -> Any:
    """LLVM's description of this machine."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding.Target.from_default_triple().create_target_machine(jit=True, **options)


def load(code: Code) -> tuple[int, Any]:
    """The address of the function, and what must be kept while it may be called.

    Raises Unsupported for object code that is broken, or calls what is not here.
    """
    from llvmlite import binding

    with LOCK:
        if not JIT:
            JIT.append(binding.create_lljit_compiler(machine(), suppress_errors=True))
        library = binding.JITLibraryBuilder().add_current_process().add_object_img(code.object)
        library.import_symbol(RESIZE, ctypes.cast(ctypes.pythonapi.PyMem_RawRealloc, ctypes.c_void_p).value or 0)
        for name in code.externals:
            library.import_symbol(name, address(name))
        library.export_symbol(ENTRY)
        try:
            kept = library.link(JIT[0], f"kernel{next(NUMBER)}")
        except RuntimeError as fault:
            raise Unsupported("machine code that this system does not load") from fault
    return kept[ENTRY], kept


def address(name: str) -> int:
    """The address of a function of SciPy. Raises Unsupported where the installed SciPy does not export it as expected."""
    from importlib import import_module

    capsules = import_module(SPECIAL).__pyx_capi__
    wanted = b"double (%bint __pyx_skip_dispatch)" % (b"double, " * EXTERNALS[name])
    for variant in VARIANTS:
        try:
            found: int = POINTER_OF(capsules.get(variant + name.removeprefix("scipy_")), wanted)
        except ValueError:
            continue  # none, or one of other types
        return found
    raise Unsupported(f"a function that SciPy lacks: {name.removeprefix('scipy_')}")
