"""Indices: NumPy's, with symbols in them, as the indices that kernels have.

The index of a row in the IR is a tuple with one entry for each axis, and None for a new one: an int in range, a variable that
is in range, or a slice of known places with a step above 0. All else is made of other rows: an array of indices takes rows, a
step below 0 flips.
"""

from __future__ import annotations

from ...core.operands import as_operand, counted
from ...core.state import STATE
from ...core.tensor import OPERATORS, Tensor
from ..ir import BOOL, INT, Unsupported, Var
from ..symbols import Sym
from .bounds import offset

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..builder import Builder

    Shape = tuple[int, ...]

FULL = slice(None)
OUTSIDE = "an index that is out of range"
NO_INTEGER = "an index that is no integer"


def is_normal(shape: Shape, index: Any) -> bool:
    """Whether an index is one of the IR for an array of a shape."""
    if index.__class__ is not tuple or sum(entry is not None for entry in index) != len(shape):
        return False
    sizes = iter(shape)
    for entry in index:
        if entry is None:
            continue
        n = next(sizes)
        if entry.__class__ is int:
            if not 0 <= entry < n:
                return False
        elif entry.__class__ is slice:
            if entry.step.__class__ is not int or entry.step < 1 or entry != places(entry, n):
                return False
        elif entry.__class__ is not Var or entry.shape:
            return False
    return True


def places(entry: slice, n: int) -> slice:
    """A slice of an axis of n elements with the bounds written out; one that goes backwards the other way round."""
    found = range(n)[entry]
    if not found:
        return slice(0, 0, 1)
    low, high = sorted((found[0], found[-1]))
    return slice(low, high + 1, abs(found.step) if len(found) > 1 else 1)


def whole(shape: Shape) -> tuple[slice, ...]:
    """The index of all of an array."""
    return tuple([slice(0, n, 1) for n in shape])


def within(builder: Builder, i: Sym, size: int) -> Sym:
    """An integer symbol, or each of an array of them, as places of an axis: negative ones counted from the end. Checked."""
    i = i.as_index()
    if i.kind != INT:
        raise Unsupported(NO_INTEGER, STATE.site)
    low, high = builder.bounds.get(i.var, (-(2**63), 2**63))
    key = ("within", i.var, size)
    if (low < -size or high >= size) and not any(key in scope.known for scope in builder.scopes):
        builder.scopes[-1].known[key] = True
        above = low >= -size or OPERATORS.greater_equal(i, -size)
        below = high < size or OPERATORS.less(i, size)
        builder.check(OPERATORS.logical_and(above, below))
    if low >= 0:
        return i
    found: Sym = OPERATORS.where(OPERATORS.less(i, 0), OPERATORS.add(i, size), i)
    builder.bounds[found.var] = (0, max(size - 1, 0))
    return found


def entries(builder: Builder, items: tuple[Any, ...]) -> list[Any]:
    """The entries of an index: ints, variables, symbols of integers, arrays of integers, slices of known bounds, None, Ellipsis."""
    import numpy as np

    found: list[Any] = []
    for item in items:
        if item.__class__ is slice:
            bounds: Any = window_of(builder, item.start, item.stop) if item.step in (None, 1) else None
            if bounds is None:
                bounds = slice(*[known_integer(builder, x) for x in (item.start, item.stop, item.step)])
                if bounds.step == 0:
                    raise Unsupported("a slice whose step is 0", STATE.site)
            found.append(bounds)
            continue
        if item is None or item is Ellipsis or item.__class__ in (int, Var):
            found.append(item)
            continue
        if item.__class__ is not Sym:
            item = item if item.__class__ is np.ndarray else as_operand(counted(as_operand(item)))
            item = np.asarray(item.value if item.__class__ is Tensor else item)
            if item.dtype.kind == "b" and item.ndim:
                found.extend(np.nonzero(item))
                continue
            if item.dtype.kind not in "iu" and item.size:
                raise Unsupported(NO_INTEGER, STATE.site)
            found.append(item if item.ndim else int(item))
            continue
        item = item.as_index()
        if item.kind != INT:
            raise Unsupported(
                "a mask that depends on data as an index" if item.kind == BOOL else NO_INTEGER, STATE.site
            )
        found.append(item)
    return found


def window_of(builder: Builder, start: Any, stop: Any) -> Any:
    """The places of a slice that begins where data say and has a known length, or None."""
    if not start.__class__ is stop.__class__ is Sym or not start.kind == stop.kind == INT:
        return None
    (base, first), (other, last) = offset(builder, start.var), offset(builder, stop.var)
    length = last - first
    if base is not other or length < 1:
        return None
    builder.check(OPERATORS.greater_equal(start, 0))  # taking the rows looks at the end
    steps = builder.sym(builder.emit(OPERATORS.ramp, (0, 1), {"num": length}, [INT], [(length,)])[0])
    return OPERATORS.add(steps, start)


def known_integer(builder: Builder, x: Any) -> int | None:
    if x is None or x.__class__ is int:
        return x
    x = builder.known(x) if x.__class__ is Sym else counted(as_operand(x))
    x = x.value if x.__class__ is Tensor else x
    if x.__class__ is not int:
        raise Unsupported("the bound of a slice that is no integer", STATE.site)
    return x


def is_array(item: Any) -> bool:
    return item.__class__ is not Var and getattr(item, "shape", ()) != ()


def rows_of(indices: Any, size: int) -> Any:
    """The indices of a row that takes rows: integers that depend on data, or a known array of places."""
    if indices.__class__ not in (Sym, Var):
        return known_places(indices, size)
    if indices.kind != INT:
        raise Unsupported(NO_INTEGER, STATE.site)
    return indices


def known_places(indices: Any, size: int) -> Any:
    """Known indices as places of an axis; the array itself if it has them."""
    import numpy as np

    found = np.asarray(indices).astype("int64", copy=False)
    if ((found < -size) | (found >= size)).any():
        raise Unsupported(OUTSIDE, STATE.site)
    return np.where(found < 0, found + size, found) if (found < 0).any() else found
