"""Where arrays lie: sums of indices times numbers, buffers, and strided references into them."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from .scalars import is_atom

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Shape = tuple[int, ...]
    Index = tuple["Affine", ...]


class Affine(NamedTuple):
    """A sum of integer variables times known integers, in the order of their names, plus an integer."""

    constant: int = 0
    terms: tuple[tuple[str, int], ...] = ()

    def __add__(self, other: Affine) -> Affine:  # type: ignore[override]
        terms = dict(self.terms)
        for name, factor in other.terms:
            terms[name] = terms.get(name, 0) + factor
        return Affine(self.constant + other.constant, tuple(sorted([(name, n) for name, n in terms.items() if n])))

    def __mul__(self, factor: int) -> Affine:  # type: ignore[override]
        return Affine(self.constant * factor, tuple([(name, n * factor) for name, n in self.terms if factor]))

    def __str__(self) -> str:
        text = ""
        for name, factor in sorted(self.terms, key=lambda term: (term[1] < 0, -abs(term[1]))):
            part = name if abs(factor) == 1 else f"{name} * {abs(factor)}"
            text += (" - " if factor < 0 else " + ") + part
        if self.constant or not text:
            text += (" - " if self.constant < 0 else " + ") + str(abs(self.constant))
        return text[3:] if text.startswith(" + ") else "-" + text[3:]

    def as_operand(self) -> str:
        """As text that may stand in any expression."""
        text = str(self)
        return text if is_atom(text) else f"({text})"


ZERO = Affine()


def variable(name: str) -> Affine:
    return Affine(0, ((name, 1),))


class Buffer:
    """Memory with a name in the emitted code."""

    __slots__ = ("kind", "name", "size", "writable")

    def __init__(self, name: str, kind: str, size: int, writable: bool = True) -> None:
        self.name = name
        self.kind = kind
        self.size = size
        self.writable = writable


class Ref:
    """An array in memory: the element at `index` lies at offset + sum of index times stride."""

    __slots__ = ("buffer", "offset", "shape", "strides")

    def __init__(self, buffer: Buffer, shape: Shape, offset: Affine = ZERO, strides: Shape | None = None) -> None:
        self.buffer = buffer
        self.shape = shape
        self.offset = offset
        self.strides = row_major(shape) if strides is None else strides

    @property
    def whole(self) -> bool:
        """Whether it is all of its buffer, in order."""
        return self.strides == row_major(self.shape) and self.offset == ZERO and prod(self.shape) == self.buffer.size

    def at(self, index: Index) -> Affine:
        """The place in the buffer of the element at an index."""
        found = self.offset
        for i, n, stride in zip(index, self.shape, self.strides):
            if n != 1:
                found = found + i * stride
        return found

    def element(self, index: Index) -> str:
        return f"{self.buffer.name}[{self.at(index)}]"


def row_major(shape: Shape) -> Shape:
    return tuple([prod(shape[k + 1 :]) for k in range(len(shape))])


# --- views: an element of the view as an element of what it is a view of ------------------------------------------------

VIEWS = frozenset(("reshape", "transpose", "broadcast_to", "index", "flip"))


def source_index(
    name: str, attributes: dict[str, Any], given: Shape, index: Index, scalar: Callable[[Any], Affine]
) -> Index:
    """Where the element at `index` of a view lies in the array of shape `given`."""
    if name == "transpose":
        return tuple([index[attributes["axes"].index(k)] for k in range(len(given))])
    if name == "broadcast_to":
        return fitted(given, index)
    if name == "flip":
        turned = attributes["axis"]
        return tuple([Affine(n - 1) + i * -1 if k in turned else i for k, (i, n) in enumerate(zip(index, given))])
    found = []
    left = iter(index)
    for entry in attributes["index"]:
        if entry is None:
            next(left)
        elif entry.__class__ is slice:
            found.append(Affine(entry.start) + next(left) * entry.step)
        else:
            found.append(scalar(entry))
    return (*found, *left)


def fitted(shape: Shape, index: Index) -> Index:
    """An index of a broadcast result as one of an operand of this shape."""
    return tuple([ZERO if n == 1 else i for i, n in zip(index[len(index) - len(shape) :], shape)])


def view(ref: Ref, name: str, attributes: dict[str, Any], shape: Shape, scalar: Callable[[Any], Affine]) -> Ref:
    """A view of an array in memory as an array of the given shape."""
    if name == "reshape":
        return Ref(ref.buffer, shape, ref.offset)
    # Its strides are what its elements' places grow by along each axis.
    probes = [Affine(0, ((f"#{k}", 1),)) for k in range(len(shape))]
    place = ref.at(source_index(name, attributes, ref.shape, tuple(probes), scalar))
    factors = dict(place.terms)
    strides = tuple([factors.pop(f"#{k}", 0) for k in range(len(shape))])
    return Ref(ref.buffer, shape, Affine(place.constant, tuple(factors.items())), strides)
