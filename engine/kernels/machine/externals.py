"""Functions of libraries that kernels call as machine code: what they are called, what they take, and where they are.

A kernel that calls one names it among the `externals` of its code, which is then loaded with the addresses that are
found here, and with the library that they come from: kernels that need none import none. The tape calls the same
functions, so that both tiers give the same digits.

Two kinds: an `External` is a function of numbers in a library's machine code; a `Routine` is a row of the table on a
whole array, evaluated as the tape does, by LAPACK where that decides signs or order (a call takes some microseconds
beside the library's own work).
"""

from __future__ import annotations

import ctypes
from _thread import get_ident

from ....parser.errors import AdiffError
from ..ir import Unsupported
from .code import ROUTINE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The result of a routine on a complex matrix that is real.
REAL_OF_COMPLEX = {"eigh": 0, "svd_thin": 1, "svd_complete": 1, "slogdet": 1}
SPECIAL = "scipy.special.cython_special"
# Cython exports a function of several types under a name for each of them.
VARIANTS = ("", "__pyx_fuse_0", "__pyx_fuse_1")


# What a routine raised that is no answer of its row (a Ctrl-C, a time limit, memory), by thread, until `settle`.
RAISED: dict[int, BaseException] = {}


class External:
    """`double name(double, ..., int)`, of `arguments` doubles and the integer that Cython's functions take at the end."""

    __slots__ = ("arguments", "library", "name")

    def __init__(self, library: str, name: str, arguments: int) -> None:
        self.library = library
        self.name = name
        self.arguments = arguments

    @property
    def signature(self) -> bytes:
        """What the library says of the function."""
        return b"double (%bint __pyx_skip_dispatch)" % (b"double, " * self.arguments)


class Routine:
    """`void name(double *matrix, double *results, long rows, long columns)`: a row's array evaluation.

    The first of the results is 1, or 0 where the row fails, as the tape says in words. The others are what the row gives,
    flat, one after the other; of complex ones first the real and then the imaginary parts. `single` says that it computes
    in float32, `paired` that the matrix is complex: the imaginary parts stand to the right of the real ones.
    """

    __slots__ = ("entry", "paired", "row", "single")

    def __init__(self, row: str, single: bool = False, paired: bool = False) -> None:
        self.row = row
        self.single = single
        self.paired = paired
        self.entry: Any = None  # what machine code calls, once it is there

    def results(self, matrix: Any) -> Any:
        """What stands in the results for a matrix."""
        import numpy as np

        from ...ops.registry import ROWS

        row = ROWS[self.row]
        assert row.array is not None
        kinds = ("complex64", "float32") if self.single else ("complex128", "float64")
        if self.paired:
            middle = matrix.shape[1] // 2
            beside, matrix = matrix, np.empty((matrix.shape[0], middle), np.complex128)
            matrix.real, matrix.imag = beside[:, :middle], beside[:, middle:]
        try:
            with np.errstate(all="ignore"):
                found = row.array(np, matrix.astype(kinds[self.row != "eig" and not self.paired]))
        except (AdiffError, ArithmeticError, ValueError, np.linalg.LinAlgError):
            return np.zeros(1)
        parts: list[Any] = [1.0]
        given = found if found.__class__ is tuple else (found,)
        for part, is_complex in zip(given, complex_results(self.row, len(given), self.paired)):
            parts.extend((np.real(part), np.imag(part)) if is_complex else (part,))
        return np.concatenate([np.ravel(part) for part in parts])

    def __call__(self, matrix: Any, results: Any, rows: int, columns: int) -> None:
        """The call as kernels make it, on arrays of NumPy."""
        found = self.results(matrix[: rows * columns].reshape(rows, columns))
        results[: found.size] = found

    def address(self) -> int:
        """Where machine code finds it."""
        if self.entry is None:
            double = ctypes.POINTER(ctypes.c_double)

            def entry(matrix: Any, results: Any, rows: int, columns: int) -> None:
                results[0] = 0.0  # what an earlier call left there is none of this one's
                try:
                    from numpy.ctypeslib import as_array

                    found = self.results(as_array(matrix, (rows, columns)))
                    as_array(results, found.shape)[:] = found
                except BaseException as fault:
                    # Nothing passes through machine code: the kernel leaves, and its caller raises it.
                    RAISED[get_ident()] = fault
                    results[0] = 0.0

            self.entry = ctypes.CFUNCTYPE(None, double, double, ctypes.c_int64, ctypes.c_int64)(entry)
        return ctypes.cast(self.entry, ctypes.c_void_p).value or 0


def complex_results(row: str, count: int, paired: bool) -> list[bool]:
    """Which results of a routine are complex, of a complex matrix or a real one."""
    if row == "eig":
        return [True] * count
    return [paired and k != REAL_OF_COMPLEX.get(row) for k in range(count)]


def settle() -> None:
    """Raise what a routine raised inside the kernel that this thread ran."""
    fault = RAISED.pop(get_ident(), None)
    if fault is not None:
        raise fault


def _special(names: str, arguments: int) -> dict[str, External]:
    return {f"scipy_{name}": External(SPECIAL, name, arguments) for name in names.split()}


EXTERNALS: dict[str, External] = {
    **_special("j0 j1 y0 y1 i0 i1 k0 k1 i0e i1e k0e k1e", 1),
    **_special("jv yv iv kv gammainc gammaincc", 2),
    **_special("betainc", 3),
}

# Those of float32 take and give float64 too, and compute what the tape computes of float32.
IN_FLOAT32 = "_float32"
# Those of complex matrices.
IN_COMPLEX = "_complex"
ROUTINES: dict[str, Routine] = {
    ROUTINE + row + (IN_FLOAT32 if single else ""): Routine(row, single)
    for row in "eigh svd_thin svd_complete qr_tall qr_complete eig logm sqrtm fsum".split()
    for single in (False, True)
} | {
    ROUTINE + row + IN_COMPLEX: Routine(row, paired=True)
    for row in "eigh svd_thin svd_complete eig logm sqrtm cholesky qr_tall qr_complete det slogdet".split()
}


def address(name: str) -> int:
    """The address of a function of the table. Raises Unsupported where the installed library has none of its kind."""
    from importlib import import_module

    if name in ROUTINES:
        return ROUTINES[name].address()
    external = EXTERNALS[name]
    capsules = import_module(external.library).__pyx_capi__
    for variant in VARIANTS:
        capsule = capsules.get(variant + external.name)
        if capsule is not None and capsule_name(capsule) == external.signature:
            return capsule_address(capsule, external.signature)
    raise Unsupported(f"a function that {external.library} lacks: {external.name}")


def capsule_name(capsule: Any) -> bytes | None:
    function = ctypes.pythonapi.PyCapsule_GetName
    function.restype, function.argtypes = ctypes.c_char_p, [ctypes.py_object]
    found: bytes | None = function(capsule)
    return found


def capsule_address(capsule: Any, name: bytes | None) -> int:
    function = ctypes.pythonapi.PyCapsule_GetPointer
    function.restype, function.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return function(capsule, name) or 0


__all__ = ["EXTERNALS", "IN_COMPLEX", "ROUTINES", "External", "Routine", "address", "complex_results", "settle"]
