"""Columns of strings: the rows that have the same strings are a table of their own, in which these are constants.

So `if kind == "a":` divides no rows, and the rows of each table go through columns or a compiled loop like any others.
"""

from __future__ import annotations

from copy import copy

from .request import WEAK_OF, Request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Fewer rows than this are sooner evaluated one by one than together.
FEWEST = 3
# The classes of numbers in a column that holds strings too, and of what dtype a column of them is.
NUMBERS = {float: "float64", int: "int64", bool: "bool"}


def groups(request: Request) -> tuple[list[tuple[Any, Request]], Any, Any]:
    """The rows that have the same strings, ascending, each set with its request; the rows that have none together; and those
    in which a source holds None, which is no number to differentiate by.

    None together have the rows whose sets are too small, and those in which a source is a string.
    """
    import numpy as np

    names = [name for name, column in request.columns.items() if column.dtype.kind in "UO"]
    if not names:
        return [], np.arange(request.count), np.zeros(0, np.int64)
    which = np.zeros(request.count, np.int64)
    for name in names:
        codes, several = numbered(request.columns[name])
        # Pairs of numbers, renumbered lest their products outgrow an integer.
        which = np.unique(which * several + codes, return_inverse=True)[1]
    order = np.argsort(which, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(which))[:-1]) if request.count else []
    found, small, missing = [], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for rows in parts:
        if any(name in names and request.columns[name][rows[0]] is None for name in request.names):
            missing.append(rows)
            continue
        part = narrowed(request, rows, names) if rows.size >= FEWEST else None
        if part is None:
            small.append(rows)
        else:
            found.append((rows, part))
    return found, np.sort(np.concatenate(small)), np.sort(np.concatenate(missing))


def numbered(column: Any) -> tuple[Any, int]:
    """A number for the string of each row, or for the class of what is none, and how many there are."""
    import numpy as np

    known: dict[Any, int] = {}
    keys = (x if isinstance(x, str) else x.__class__ for x in column.tolist())
    codes = np.fromiter((known.setdefault(key, len(known)) for key in keys), np.int64, len(column))
    return codes, len(known)


def narrowed(request: Request, rows: Any, names: list[str]) -> Request | None:
    """The request of some rows, whose strings are the same; None where a column holds what is no number, string or None."""
    found = copy(request)
    found.count = int(rows.size)
    found.columns = {name: column[rows] for name, column in request.columns.items() if name not in names}
    found.constants = dict(request.constants)
    for name in names:
        column = request.columns[name][rows]
        first = column[0]
        if isinstance(first, str) and name in request.names:
            return None
        if isinstance(first, str):
            found.constants[name] = str(first)
        elif first is None:
            found.constants[name] = None
        elif first.__class__ in NUMBERS:
            try:
                found.columns[name] = column.astype(NUMBERS[first.__class__])
            except OverflowError:  # integers that no column holds
                return None
        else:
            return None
    found.numeric = all(column.dtype.name in WEAK_OF for column in found.columns.values())
    return found if found.numeric else None


__all__ = ["groups"]
