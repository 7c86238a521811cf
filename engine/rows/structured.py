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


# What comes as Python's numbers, and lists of them, where it is of no float32; the rest as NumPy's.
BARE = frozenset(("number", "integer", "truth", "counts", "grid"))


def restructured(values: Any, structure: Structure) -> Any:
    """The results of rows from `values`, whose rows hold the leaves of `structure`."""
    import numpy as np

    found = stacked_rows(values, structure)
    if found is None:
        found = np.empty(len(values), object)
        for row, result in enumerate(single_rows(values, structure)):
            found[row] = result
    return found


def single_rows(values: Any, structure: Structure) -> list[Any]:
    """The result of each row as the program has it: what `unpacked` gives of the row, for all of them at once."""
    count = len(values)
    match structure:
        case ("list" | "tuple" | "dict", *keys, items):
            parts = [single_rows(values, item) for item in items]
            rows = list(zip(*parts)) if parts else [()] * count
            if structure[0] == "dict":
                return [dict(zip(*keys, row)) for row in rows]
            return rows if structure[0] == "tuple" else list(map(list, rows))
        case ("known", x):
            return [x] * count
        case ("either", start):
            flags, numbers = values[:, start].tolist(), values[:, start + 1].tolist()
            return [int(number) if flag else number for flag, number in zip(flags, numbers)]
        case ("selected", *_):
            return [to_plain(unpacked(leaves, structure)) for leaves in values]
    found = stacked_rows(values, structure)
    bare = structure[0] in ("array", "complex", "integers", "truths", "rows") and not structure[-1]
    if (bare or structure[0] in BARE) and found.dtype != "float32":
        return list(found.tolist())
    return list(map(list, found)) if structure[0] == "rows" else list(found)


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
        case ("narrow", start, shape):
            return part(start, tuple(shape)).astype(np.int32)
        case ("counts", start, length):
            return part(start, (length,)).astype(np.int64)
        case ("grid", start, shape, whole):
            return part(start, tuple(shape)).astype(np.int64 if whole else np.float64)
        case ("truths", start, shape):
            return part(start, tuple(shape)).astype(bool)
        case ("complex", start, shape):
            found = np.empty((count, *shape), np.complex128)
            found.real, found.imag = part(start, tuple(shape)), part(start + prod(shape), tuple(shape))
            return found
        case ("selected", *_):
            raise Unsupported("a part of a tensor whose length differs from row to row")
    return None


__all__ = ["is_array", "restructured"]
