"""The vocabulary of the array rows' kernels: what `kernel=lambda k, x, axis: k.flip(x, axis)` calls `k`.

It is to compiled arrays what NumPy is to values: functions by NumPy's names that give compiled arrays, and beneath them
the loops and stores that such functions are made of.
"""

from __future__ import annotations

from .rearranging import Rearranging
from .reducing import Reducing
from .scanning import Scanning
from .solving import Solving


class Vocabulary(Rearranging, Reducing, Scanning, Solving):
    """All of it."""
