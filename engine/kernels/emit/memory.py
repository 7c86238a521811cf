"""Where arrays lie: buffers, and strided references into them."""

from __future__ import annotations

from .text import ZERO, Affine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Shape = tuple[int, ...]


class Buffer:
    """Memory with a name in the emitted code. Only a slot of the kernel may be exchanged for another one (`swappable`)."""

    __slots__ = ("kind", "name", "size", "swappable", "writable")

    def __init__(self, name: str, kind: str, size: int, writable: bool = True, swappable: bool = False) -> None:
        self.name = name
        self.kind = kind
        self.size = size
        self.writable = writable
        self.swappable = swappable


class Ref:
    """An array in memory: the element at `index` lies at offset + sum of index times stride."""

    __slots__ = ("buffer", "offset", "shape", "strides")

    def __init__(self, buffer: Buffer, shape: Shape, offset: Affine = ZERO, strides: Shape | None = None) -> None:
        self.buffer = buffer
        self.shape = shape
        self.offset = offset
        self.strides = row_major(shape) if strides is None else strides

    @property
    def contiguous(self) -> bool:
        return all(s == t or n == 1 for n, s, t in zip(self.shape, self.strides, row_major(self.shape)))

    @property
    def whole(self) -> bool:
        """Whether it is all of its buffer, in order."""
        return self.contiguous and self.offset == ZERO and size_of(self.shape) == self.buffer.size

    def at(self, index: tuple[Affine, ...]) -> Affine:
        found = self.offset
        for i, n, stride in zip(index, self.shape, self.strides):
            if n != 1:
                found = found + i * stride
        return found

    def flat(self, place: Affine) -> Affine:
        """The offset of an element by its place in row-major order."""
        return self.offset + place


def size_of(shape: Shape) -> int:
    total = 1
    for n in shape:
        total *= n
    return total


def row_major(shape: Shape) -> Shape:
    found = []
    step = 1
    for n in reversed(shape):
        found.append(step)
        step *= n
    return tuple(reversed(found))


# --- views: an element of the view as an element of what it is a view of ------------------------------------------------

VIEWS = frozenset(("reshape", "transpose", "broadcast_to", "index", "flip"))


def source_index(
    name: str, attributes: dict[str, Any], given: Shape, shape: Shape, index: tuple[Affine, ...],
    scalar: Callable[[Any], Affine],
) -> tuple[Affine, ...] | None:  # fmt: skip
    """Where the element of a view at `index` lies in the array of shape `given`; None if that takes divisions."""
    if name == "transpose":
        found = [ZERO] * len(given)
        for i, axis in zip(index, attributes["axes"]):
            found[axis] = i
        return tuple(found)
    if name == "broadcast_to":
        kept = index[len(index) - len(given) :]
        return tuple([ZERO if n == 1 else i for i, n in zip(kept, given)])
    if name == "flip":
        axes = attributes["axis"]
        axes = range(len(given)) if axes is None else (axes,) if axes.__class__ is int else axes
        turned = {axis % len(given) for axis in axes}
        return tuple([Affine(n - 1) + i * -1 if k in turned else i for k, (i, n) in enumerate(zip(index, given))])
    if name == "index":
        return selected(attributes["index"], len(given), index, scalar)
    return regrouped(given, shape, index)


def selected(
    entries: tuple[Any, ...], rank: int, index: tuple[Affine, ...], scalar: Callable[[Any], Affine]
) -> tuple[Affine, ...]:
    """The place in an array of the element at `index` of a selection."""
    found = []
    left = iter(index)
    for entry in entries:
        if entry is None:
            next(left)
        elif entry.__class__ is slice:
            found.append(Affine(entry.start) + next(left) * entry.step)
        else:
            found.append(scalar(entry))
    while len(found) < rank:
        found.append(next(left))
    return tuple(found)


def selection_shape(shape: Shape, entries: tuple[Any, ...]) -> Shape:
    found = []
    axis = 0
    for entry in entries:
        if entry is None:
            found.append(1)
            continue
        if entry.__class__ is slice:
            found.append(len(range(entry.start, entry.stop, entry.step)))
        axis += 1
    return (*found, *shape[axis:])


def groups(given: Shape, shape: Shape) -> list[tuple[list[int], list[int]]]:
    """The axes of two shapes of one size in the shortest runs that have one size each; axes of one element are left out."""
    found = []
    left = [k for k, n in enumerate(given) if n != 1]
    right = [k for k, n in enumerate(shape) if n != 1]
    while left and right:
        one, other = [left.pop(0)], [right.pop(0)]
        size, wanted = given[one[0]], shape[other[0]]
        while size != wanted and (left if size < wanted else right):
            if size < wanted:
                one.append(left.pop(0))
                size *= given[one[-1]]
            else:
                other.append(right.pop(0))
                wanted *= shape[other[-1]]
        found.append((one, other))
    return found


def regrouped(given: Shape, shape: Shape, index: tuple[Affine, ...]) -> tuple[Affine, ...] | None:
    """The index into shape `given` of the element at `index` of a reshape to `shape`, if no axes are joined by it."""
    found = [ZERO] * len(given)
    for one, other in groups(given, shape):
        if len(one) > 1:
            return None
        for k in other:
            found[one[0]] = found[one[0]] * shape[k] + index[k]
    return tuple(found)


def view(ref: Ref, name: str, attributes: dict[str, Any], shape: Shape, scalar: Callable[[Any], Affine]) -> Ref | None:
    """A view of an array in memory as another one, if strides can say it."""
    rank = len(shape)
    if name == "reshape" and ref.contiguous:
        return Ref(ref.buffer, shape, ref.offset)
    # The strides of a view are what its elements' places grow by along each axis.
    probes = [Affine(0, ((f"#{k}", 1),)) for k in range(rank)]
    source = source_index(name, attributes, ref.shape, shape, tuple(probes), scalar)
    if source is None:
        return None
    place = ref.at(source)
    factors = dict(place.terms)
    strides = tuple([factors.pop(f"#{k}", 0) for k in range(rank)])
    return Ref(ref.buffer, shape, Affine(place.constant, tuple(factors.items())), strides)
