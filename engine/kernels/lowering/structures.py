"""Flattening of results that are lists, tuples and dicts: their numbers in one array, and how they are put together again.

The structure is plain data: ("list", parts), ("tuple", parts), ("dict", keys, parts), ("number", place), ("integer",
place), ("truth", place), ("either", place) for a number before which stands whether it is an integer, ("array", place,
shape), ("integers", place, shape), ("narrow", place, shape) for those of int32, ("truths", place, shape), ("complex",
place, shape) for the real and then the imaginary parts, ("rows", place, count, shape) for a list that is an array,
("counts", place, count) for one of integers, ("grid", place, shape, whether they are integers) for a list of lists,
("selected", place, room, shape, dtype) for the rows of a tensor whose number is the first, ("known", value), ("single",
value) for one that is a float32.
"""

from __future__ import annotations

from math import prod

from ..inputs import EVERY
from ..ir import BOOL, INT, Unsupported

# What a number of the program may be.
SCALARS = frozenset("number integer truth either known single".split())
# Tensors that are one with others of their shape; a complex number is one without axes.
STACKED = ("array", "complex", "truths", "integers", "narrow")
# Tensors of integers: of int64, of int32.
INTEGERS = ("integers", "narrow")
# A float32 counts no further.
MOST_COUNTED = 2**24

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..symbols.build import Builder

    Structure = tuple[Any, ...]


class Packed:
    """The leaves of a structure with the place of each in the array that holds them all."""

    def __init__(self, builder: Builder, value: Any, summed: bool = False) -> None:
        """Of a `value` whose leaves are `summed` where it is differentiated, or which is a value only."""
        self.builder = builder
        self.leaves: list[Any] = []
        self.size = 0
        self.complex = False
        # Whether there are tensors of integers; the places of those, and of numbers that count others.
        self.whole = False
        self.counts: set[int] = set()
        # Whether there are tensors of truth values; and the places of imaginary parts.
        self.truths = False
        self.imaginary: set[int] = set()
        # The places of floats that may be integers of the program.
        self.doubtful: list[int] = []
        self.structure = self.walk(value)
        if summed and self.imaginary:
            self.meet()

    def meet(self) -> None:
        """Note that real and complex leaves meet in a sum."""
        from ..symbols.pairs import Pair, meeting

        places = [k for k, (_, start) in enumerate(self.leaves) if start is not None and start not in self.counts]
        parts = {k - 1 for k in places if self.leaves[k][1] in self.imaginary}
        places = [k for k in places if k - 1 not in parts]
        operands = [Pair(self.builder, *(self.leaves[i][0] for i in (k, k + 1))) if k in parts else self.leaves[k][0]
                    for k in places]  # fmt: skip
        for k, x in zip(places, meeting(self.builder, tuple(operands), 0)):
            for i, leaf in enumerate((x.re, x.im) if k in parts else (x,), k):
                self.leaves[i] = leaf, self.leaves[i][1]

    def walk(self, x: Any) -> Structure:
        from ..ir import BOOL, FLOAT
        from ..symbols.pairs import Pair
        from ..symbols.strength import is_narrow, is_strong
        from ..symbols.symbol import Lazy, Sym
        from ..symbols.values import Grid, List, Selected, first_rows
        from ..symbols.whole import whole

        if x.__class__ is Pair:
            x = x.settled()
            self.complex = True
            start = self.place(x.re, prod(x.shape))
            self.place(x.im, prod(x.shape), self.imaginary)
            return "complex", start, x.shape
        if x.__class__ is Grid:
            return self.grid(x)
        if x.__class__ is List and x.items is not None:
            return "list", [self.walk(item) for item in x.items]
        if x.__class__ is tuple:
            return "tuple", [self.walk(item) for item in x]
        if x.__class__ is dict:
            if any(key.__class__ not in (str, int, float, bool) for key in x):
                raise Unsupported("a dict as the result whose keys are no texts and no numbers")
            return "dict", list(x), [self.walk(item) for item in x.values()]
        if x.__class__ is List and x.length.__class__ is int and x.array.kind == INT and not x.array.shape[1:]:
            return "counts", self.place(self.as_floats(first_rows(x.array, x.length)), x.length), x.length
        if x.__class__ is List and x.length.__class__ is int and x.array.kind == FLOAT:
            array = x.array if x.length == x.array.shape[0] else first_rows(x.array, x.length)
            start = self.place(array, prod(array.shape))
            if x.array.stored in self.builder.some_whole:
                self.doubtful.extend(range(start, self.size))
            return "rows", start, x.length, array.shape[1:]
        if x.__class__ is Selected:
            return self.part(x)
        if x.__class__ is Lazy and x.kind == FLOAT:
            return "array", self.place(x, prod(x.shape)), x.shape
        if x.__class__ is Lazy and x.kind == BOOL and not self.builder.mode:
            self.truths = True
            return "truths", self.place(self.as_floats(x), prod(x.shape)), x.shape
        if x.__class__ is Lazy and x.kind == INT:
            self.refuse_integers()
            kind = "narrow" if is_narrow(self.builder, x) else "integers"
            return kind, self.place(self.as_floats(x), prod(x.shape), self.counts), x.shape
        if x.__class__ is Sym and x.kind == FLOAT:
            return self.number(x, whole(self.builder, x))
        if x.__class__ is Sym and is_strong(self.builder, x):
            self.refuse_integers()
            return "narrow" if is_narrow(self.builder, x) else "integers", self.place(self.exact(x), 1, self.counts), ()
        if x.__class__ is Sym:
            if self.builder.mode:
                raise Unsupported("a result that holds integers beside float32")
            return "integer" if x.kind == INT else "truth", self.place(self.exact(x), 1)
        if x.__class__ in (float, int, bool, complex) or x is None:
            self.complex |= x.__class__ is complex
            self.leaves.append((x, None))
            return ("single" if x.__class__ is float and self.builder.mode == EVERY else "known"), x
        raise Unsupported("a list, tuple or dict as the result that holds what is no number and no tensor")

    def grid(self, x: Any) -> Structure:
        """A list of lists of numbers, or one of its lists."""
        from .grids import tensor_of

        if self.builder.mode:
            raise Unsupported("a list of lists as the result, in float32")
        numbers = tensor_of(x)
        if numbers.kind == BOOL:
            raise Unsupported("a list of lists of truth values as the result")
        whole = numbers.kind == INT
        start = self.place(self.as_floats(numbers) if whole else numbers, prod(x.shape))
        if x.cells.array.stored in self.builder.some_whole:
            self.doubtful.extend(range(start, self.size))
        return "grid", start, x.shape, whole

    def number(self, x: Any, is_whole: Any) -> Structure:
        """A float, of which `is_whole` says whether it is an integer of the program; None where nobody knows."""
        if is_whole is None or (is_whole is not False and self.builder.mode):
            self.doubtful.append(self.size)
        elif is_whole is not False:
            self.counts.add(self.size)
            place = self.place(self.builder.to_float(is_whole), 1)
            self.place(x, 1)
            return "either", place
        return "number", self.place(x, 1)

    def exact(self, x: Any) -> Any:
        """An integer or a truth value as the float that holds it, which no derivative follows."""
        return self.builder.aside(lambda: self.builder.as_float(x))

    def as_floats(self, x: Any) -> Any:
        """An array of integers as the floats that hold them."""
        from ..ir import FLOAT
        from ..symbols.symbol import Lazy

        return Lazy(self.builder, FLOAT, x.shape, lambda index: self.exact(x.element(index)))

    def part(self, x: Any) -> Structure:
        """A part of a tensor whose length data decides."""
        from ..ir import DTYPES, FLOAT, SINGLE
        from ..symbols.strength import is_narrow
        from .selected import compacted

        rows, count = compacted(self.builder, x)
        if rows.kind != FLOAT:
            self.refuse_integers()
        self.counts.add(self.size)
        start = self.place(self.exact(count), 1)
        self.place(rows if rows.kind == FLOAT else self.as_floats(rows), prod(rows.shape))
        single = rows.kind == FLOAT and self.builder.mode
        if single and rows.shape[0] > MOST_COUNTED:
            raise Unsupported("a part of a tensor of this many rows in float32")
        dtype = "int32" if is_narrow(self.builder, rows) else DTYPES[SINGLE if single else rows.kind]
        return "selected", start, rows.shape[0], rows.shape[1:], dtype

    def refuse_integers(self) -> None:
        """Note that there are integers beside floats, in memory that holds them exactly."""
        if self.builder.mode:
            raise Unsupported("a result that holds integers beside float32")
        self.whole = True

    def place(self, x: Any, size: int, kind: set[int] | None = None) -> int:
        """The place of a leaf, which is noted as one of its kind; of a leaf without elements it is that of the next leaf."""
        start = self.size
        if kind is not None and size:
            kind.add(start)
        self.leaves.append((x, start))
        self.size += size
        return start

    def stored(self) -> Any:
        """The array of the leaves."""
        from .. import ir
        from ..symbols.arrays import lazy
        from ..symbols.symbol import raw

        builder = self.builder
        array = ir.Array(ir.FLOAT, (self.size,))
        builder.append(ir.Alloc(array, False))
        for leaf, start in self.leaves:
            if start is None:
                continue
            x = lazy(builder, leaf)

            def store(index: tuple[Any, ...], x: Any = x, start: int = start) -> None:
                place = builder.integer("add", builder.flat(index, x.shape), start)
                builder.append(ir.Store(array, raw(place), raw(x.element(index))))

            builder.each(x.shape, store)
        return array

    def tensors(self) -> list[Any]:
        """The leaves that are no counts."""
        return [leaf for leaf, start in self.leaves if start not in self.counts]

    def summed(self) -> Any:
        """The sum of all leaves; its real part is what is differentiated."""
        from ..symbols.arrays import lazy

        builder = self.builder
        total: Any = 0.0
        for leaf, start in self.leaves:
            if start in self.counts or start in self.imaginary:
                continue
            leaf = leaf.real if leaf.__class__ is complex else leaf
            x = lazy(builder, leaf)
            total = builder.scalar_or_static("add", total, builder.total(x.shape, x.element) if x.shape else leaf)
        return total


def as_one(builder: Builder, value: Any) -> tuple[Any, str | None]:
    """A structure as what is differentiated: a list of tensors of one shape as one tensor, any other as the sum of its
    leaves, and what that one is (`kind_apart`)."""
    from ..ir import FLOAT
    from ..symbols.arrays import array_of_list
    from ..symbols.symbol import Lazy, Sym

    packed = Packed(builder, value)
    if packed.complex or packed.truths or packed.whole:
        raise Unsupported("a list of complex numbers, truths or integers, of which more than the gradient is asked for")
    structure = packed.structure
    if structure[0] == "rows":
        return packed.leaves[0][0], None
    if stacked_shape(structure) is None:
        return packed.summed(), kind_apart(structure)
    items = [leaf for leaf, _ in packed.leaves]
    held = any(part[0] in ("integer", "truth", "either") for part in structure[1])  # as the floats that hold them
    if held or any((x.__class__ not in (Sym, Lazy) or x.kind != FLOAT) and x.__class__ is not float for x in items):
        raise Unsupported("a list of integers and floats")
    return array_of_list(builder, items), None


def unpacked(value: Any, structure: Structure) -> Any:
    """The structure with its numbers from the array of its leaves."""
    from ...core.dtypes import FLOAT32, INT32, INT64, STRONG
    from ...core.operands import wrap
    from ...core.tensor import Tensor

    single = value.dtype.name == "float32"

    def part(start: int, shape: tuple[int, ...]) -> Any:
        return wrap(value[start : start + prod(shape)].reshape(shape).copy(), STRONG[value.dtype.name])

    kind = structure[0]
    if kind == "list":
        return [unpacked(value, item) for item in structure[1]]
    if kind == "tuple":
        return tuple(unpacked(value, item) for item in structure[1])
    if kind == "dict":
        return {key: unpacked(value, item) for key, item in zip(structure[1], structure[2])}
    if kind == "single":
        import numpy as np

        return Tensor(np.asarray(structure[1], np.float32), FLOAT32)
    if kind == "number":
        return part(structure[1], ()) if single else value[structure[1]].item()
    if kind == "integer":
        return int(value[structure[1]])
    if kind == "truth":
        return bool(value[structure[1]])
    if kind == "either":
        is_whole, number = value[structure[1] : structure[1] + 2].tolist()
        return int(number) if is_whole else number
    if kind == "counts":
        start, count = structure[1:]
        return [int(x) for x in value[start : start + count]]
    if kind == "grid":
        start, shape, whole = structure[1:]
        return value[start : start + prod(shape)].reshape(shape).astype("int64" if whole else "float64").tolist()
    if kind == "complex":
        from ...core.dtypes import COMPLEX128

        start, shape = structure[1], tuple(structure[2])
        re, im = (part(start + k * prod(shape), shape).value for k in (0, 1))
        if not shape:
            # Of arrays without axes, complex() would add im*1j to re: a zero would lose its sign.
            return complex(float(re), float(im))
        import numpy as np

        found = np.empty(shape, dtype=np.complex128)
        found.real, found.imag = re, im
        return Tensor(found, COMPLEX128)
    if kind in INTEGERS:
        start, shape = structure[1], tuple(structure[2])
        dtype = INT32 if kind == "narrow" else INT64
        return wrap(value[start : start + prod(shape)].reshape(shape).astype(dtype.name), dtype)
    if kind == "truths":
        from ...core.dtypes import BOOL as BOOL_DTYPE

        start, shape = structure[1], tuple(structure[2])
        return wrap(value[start : start + prod(shape)].reshape(shape).astype("bool"), BOOL_DTYPE)
    if kind == "array":
        return part(structure[1], tuple(structure[2]))
    if kind == "rows":
        start, count, shape = structure[1], structure[2], tuple(structure[3])
        if not shape:
            return [part(start + k, ()) for k in range(count)] if single else value[start : start + count].tolist()
        return [part(start + k * prod(shape), shape) for k in range(count)]
    if kind == "selected":
        return selected(value, *structure[1:])
    return structure[1]


def selected(value: Any, start: int, room: int, shape: Sequence[int], dtype: str) -> Any:
    """The rows of a tensor whose number stands before them."""
    from ...core.dtypes import BOOL, FLOAT32, FLOAT64, INT32, INT64
    from ...core.tensor import Tensor

    count, size = int(value[start]), prod(shape)
    rows = value[start + 1 : start + 1 + count * size].reshape(count, *shape)
    kinds = {"float64": FLOAT64, "float32": FLOAT32, "int64": INT64, "int32": INT32, "bool": BOOL}
    return Tensor(rows.astype(dtype), kinds[dtype])


def stacked_shape(structure: Structure) -> tuple[int, ...] | None:
    """The shape that a tensor has, or a list or tuple as one tensor; None where its leaves are summed on their own."""
    if structure[0] == "rows":
        return (structure[2], *structure[3])
    if structure[0] == "grid":
        return tuple(structure[2]) if len(structure[2]) == 1 else None
    if structure[0] == "counts":
        return (structure[2],)
    if structure[0] in STACKED:
        return tuple(structure[2])
    if structure[0] not in ("list", "tuple") or not structure[1]:
        return None
    shapes = {tuple(item[2]) if item[0] in STACKED else () for item in structure[1]}
    flat = all(item[0] in SCALARS or item[0] in STACKED for item in structure[1])
    return (len(structure[1]), *shapes.pop()) if flat and len(shapes) == 1 else None


def kind_apart(structure: Structure) -> str | None:
    """Which of "dict", "list" and "tuple" a result is whose leaves are summed on their own; None where it is one tensor."""
    if structure[0] not in ("dict", "list", "tuple", "grid") or stacked_shape(structure) is not None:
        return None
    return "list" if structure[0] == "grid" else str(structure[0])
