"""The vocabulary of the array rows' kernels: what `kernel=lambda k, x, axis: k.flip(x, axis)` calls `k`.

It is to compiled arrays what NumPy is to values: functions by NumPy's names that give compiled arrays, and beneath them
the loops and stores that such functions are made of.
"""

from __future__ import annotations

from .complex_arrays import ComplexArrays


class Vocabulary(ComplexArrays):
    """All of it."""
