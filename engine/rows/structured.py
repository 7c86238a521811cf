"""Rows whose results are lists, tuples or dicts, from the flat rows of numbers that a compiled loop writes.

What comes of it is what the rows evaluated one by one give: an array where the results of all rows are lists of one shape,
and else each row's result as the program has it.
"""

from __future__ import annotations

from math import prod

from ..kernels.ir import Unsupported
from ..kernels.lowering.structures import unpacked
from ..plain import to_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..kernels.lowering.structures import Structure


def restructured(values: Any, structure: Structure) -> Any:
    """The results of rows from `values`, whose rows hold the leaves of `structure`."""
    import numpy as np

    found = stacked_rows(values, structure)
    if found is None:
        found = np.empty(len(values), object)
        for row, leaves in enumerate(values):
            found[row] = to_plain(unpacked(leaves, structure))
    return found


def is_array(structure: Structure, size: int) -> bool:
    """Whether rows of such results, of `size` numbers, are an array. Raises Unsupported where data decides that."""
    import numpy as np

    return stacked_rows(np.zeros((0, size)), structure) is not None


def stacked_rows(values: Any, structure: Structure) -> Any:
    """The results as an array along whose first axis the rows are; None where their parts have no common shape."""
    import numpy as np

    count = len(values)

    def part(start: int, shape: tuple[int, ...] = ()) -> Any:
        return values[:, start : start + prod(shape)].reshape(count, *shape)

    match structure:
        case ("list" | "tuple", items):
            parts = [stacked_rows(values, item) for item in items]
            if any(x is None for x in parts) or len({x.shape for x in parts}) > 1:
                return None
            return np.stack(parts, axis=1) if parts else np.empty((count, 0))
        case ("number", start):
            return part(start)
        case ("either", start):
            return part(start + 1)
        case ("integer", start):
            return part(start).astype(np.int64)
        case ("truth", start):
            return part(start).astype(bool)
        case ("single", x):
            return np.full(count, x, np.float32)
        case ("known", x):
            return None if x is None else np.full(count, x)
        case ("array", start, shape):
            return part(start, tuple(shape))
        case ("rows", start, length, shape):
            return part(start, (length, *shape))
        case ("integers", start, shape):
            return part(start, tuple(shape)).astype(np.int64)
        case ("counts", start, length):
            return part(start, (length,)).astype(np.int64)
        case ("grid", start, shape, whole):
            return part(start, tuple(shape)).astype(np.int64 if whole else np.float64)
        case ("complex", start, shape):
            found = np.empty((count, *shape), np.complex128)
            found.real, found.imag = part(start, tuple(shape)), part(start + prod(shape), tuple(shape))
            return found
        case ("selected", *_):
            raise Unsupported("a part of a tensor whose length differs from row to row")
    return None


__all__ = ["is_array", "restructured"]
