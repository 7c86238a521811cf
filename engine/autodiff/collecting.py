"""Cotangents that are added up in place, element by element, instead of tensor by tensor.

A tape reads and writes single elements of a tensor in loops; a tensor of zeros, or a copy, for each of them would make
the sweep quadratic.
"""

from __future__ import annotations

from ..core.dispatch import apply
from ..core.dtypes import WEAK_FLOAT
from ..core.operands import plain
from ..core.state import STATE
from ..core.tensor import OPERATORS, Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Buffer:
    """A cotangent that is accumulated in place; one of float32 in float64, and rounded once, as kernels do."""

    __slots__ = ("array", "dtype")

    def __init__(self, x: Tensor, initial: Any) -> None:
        import numpy as np

        STATE.enter("errstate", all="ignore")  # infinities of both signs may meet
        self.dtype = x.dtype
        self.array = np.zeros(x.shape, dtype="float64" if x.dtype.name == "float32" else x.dtype.name)
        if initial is not None:
            self.array += plain(initial)

    def __add__(self, other: Any) -> Buffer:
        self.array += plain(other)
        return self

    def taken(self, index: Any) -> float:
        """The cotangent of an element, which is none of the tensor's before: it was written there."""
        found = float(self.array[index] if self.dtype.name != "float32" else self.array[index].astype("float32"))
        self.array[index] = 0.0
        return found

    def tensor(self) -> Tensor:
        return Tensor(self.array if self.dtype.name != "float32" else self.array.astype("float32"), self.dtype)


class Elements:
    """A cotangent that is given element by element, on tensors that an outer recorder may follow.

    It is `total` without the elements that are `hidden`, and the sums of `values` at their places in row-major order.
    """

    __slots__ = ("hidden", "shape", "total", "values")

    def __init__(self, x: Tensor, initial: Any) -> None:
        self.shape = x.shape
        self.total = initial
        self.hidden: set[int] = set()
        self.values: dict[int, list[Any]] = {}

    def add(self, place: int, value: Any) -> None:
        self.values.setdefault(place, []).append(value)

    def __add__(self, other: Any) -> Any:
        total = self.seen()
        self.total = other if total is None else total + other
        self.hidden = set()
        return self

    def taken(self, index: Any) -> Any:
        """As of a Buffer."""
        place = flat_place(self.shape, index)
        assert place is not None
        parts = self.values.pop(place, [])
        if self.total is not None and place not in self.hidden:
            parts.append(OPERATORS.index(self.total, index=index))
        self.hidden.add(place)
        found = parts[0] if parts else 0.0
        for value in parts[1:]:
            found = found + value
        return found

    def seen(self) -> Any:
        """The total without what is hidden."""
        if self.total is None or not self.hidden:
            return self.total
        import numpy as np

        from ..core.dtypes import BOOL

        mask = np.zeros(self.shape, bool)
        mask.reshape(-1)[list(self.hidden)] = True
        return OPERATORS.where(Tensor(mask, BOOL), 0.0, self.total)

    def tensor(self) -> Any:
        total = self.seen()
        if not self.values:
            return OPERATORS.zeros(self.shape) if total is None else total
        places = [place for place, values in self.values.items() for _ in values]
        values = tuple(value for values in self.values.values() for value in values)
        found = apply(OPERATORS.put_elements, values, {"shape": self.shape, "places": places})
        return found if total is None else total + found


COLLECTING = (Buffer, Elements)


def bare_beside(x: Tensor, c: Any, recorded: bool) -> Any:
    """A float32 as a term of the cotangent of `x`: as bare as `x`, where that is a bare number.

    What a bare number gets of float32 and of float64 keeps all its digits, whatever came first; who takes the derivative rounds
    it, if at all (drivers.in_width).
    """
    if not x.dtype.weak or x.dtype.name != "float64":
        return c
    return OPERATORS.cast(c, dtype=WEAK_FLOAT) if recorded or c.shape else float(c.value)


def collecting(x: Tensor, old: Any, recorded: bool) -> Any:
    """A cotangent `old` of `x`, ready for another to be added: in float64 where they are of float32 and not recorded."""
    if recorded or old.__class__ in COLLECTING or x.dtype.name != "float32":
        return old
    return Buffer(x, old)


def flat_place(shape: tuple[int, ...], index: Any = None, **other: Any) -> int | None:
    """The place of a single element in row-major order; None for any other index."""
    items = index if index.__class__ is tuple else (index,)
    if other or len(items) != len(shape):
        return None
    place = 0
    for i, size in zip(items, shape):
        if i.__class__ is not int:
            return None
        place = place * size + i % size
    return place
