"""SciPy's functions of floats that kernels, and our own functions of floats, call by the name `scipy_NAME`."""

from __future__ import annotations

SPECIAL = "scipy.special.cython_special"
# The number of their arguments, all of them doubles.
EXTERNALS: dict[str, int] = {
    **dict.fromkeys((f"scipy_{name}" for name in "j0 j1 y0 y1 i0 i1 k0 k1 i0e i1e k0e k1e psi gammaln".split()), 1),
    **dict.fromkeys(
        (f"scipy_{name}" for name in "erfcx erfinv erfcinv ndtr ndtri log_ndtr dawsn expi exp1".split()), 1
    ),
    **dict.fromkeys((f"scipy_{name}" for name in "jv yv iv kv gammainc gammaincc beta betaln binom".split()), 2),
    "scipy_betainc": 3,
}
# Cython exports a function of several types under a name for each of them.
VARIANTS = ("", "__pyx_fuse_0", "__pyx_fuse_1")


def address(name: str) -> int:
    """The address of a function. Raises LookupError where the installed SciPy does not export it as expected."""
    import ctypes
    from importlib import import_module

    pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    capsules = import_module(SPECIAL).__pyx_capi__
    wanted = b"double (%bint __pyx_skip_dispatch)" % (b"double, " * EXTERNALS[name])
    for variant in VARIANTS:
        try:
            found: int = pointer_of(capsules.get(variant + name.removeprefix("scipy_")), wanted)
        except ValueError:
            continue  # none, or one of other types
        return found
    raise LookupError(name.removeprefix("scipy_"))


def scipy_psi(x: float) -> float:
    """For the functions of floats that the tape runs; kernels call the address."""
    from scipy import special

    return float(special.psi(x))
