"""Emitted source to object code; and what a kernel asks of its host: memory, and whether to go on.

What emitted source calls, beside arithmetic:

floats(run, k, n), ints(run, k, n), bools(run, k, n)   memory slot k of the run with room for n elements; it keeps its
                                                       content when it grows
few_floats(n), few_ints(n), few_bools(n)               a short array of a fixed length on the machine's stack
clear(a, n)                                            n zeros
prange(n)                                              range(n) in any order, on several cores at once
poll(run, k)                                           leaves the kernel at the place k if the run is to stop
fail(run, k, i)                                        leaves the kernel at the place k: the number i is not as it should

Two compilers take it: adiff's own (native.py), which needs nothing but LLVM; and Numba (by_numba.py), where the
environment variable ADIFF_COMPILER is `numba`, so that one can be held to the other.
"""

from __future__ import annotations

import os

from ....parser.errors import AdiffError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..emitted import Emitted
    from ..machine.code import Code

COMPILERS = ("native", "numba")


def chosen() -> str:
    """Which compiler is to be used: asked before anything is built, for what is wrong here no tape mends."""
    name = os.environ.get("ADIFF_COMPILER") or COMPILERS[0]
    if name not in COMPILERS:
        raise AdiffError("E0812", f"ADIFF_COMPILER is {name!r}, and can be {' or '.join(COMPILERS)}")
    if name == "numba":
        from importlib.util import find_spec

        if find_spec(name) is None:
            raise AdiffError("E0812", "ADIFF_COMPILER is 'numba', which is not installed")
    return name


def compile_source(emitted: Emitted) -> Code:
    """The machine code of emitted source, for this machine.

    It is made in a thread where signals would interrupt it: half an import cannot be taken up again.
    """
    from ..machine.threads import interruptible

    if chosen() == "numba":
        from .by_numba import compiled
    else:
        from .native import compiled
    code: Code = interruptible(lambda: compiled(emitted))
    return code
