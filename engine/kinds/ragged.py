"""RaggedTensor: a tensor whose rows differ in length. What it does to numbers it does by rows of the table on its flat values.

`values` are the rows one after the other, a tensor or again a RaggedTensor; row i is `values[splits[i]:splits[i + 1]]`.
"""

from __future__ import annotations

from importlib import import_module

import numpy as np

from ..core.dtypes import INT64
from ..core.errors import failure
from ..core.following import path_ends
from ..core.operands import as_operand, describe
from ..core.tensor import OPERATORS, Tensor, shape_of
from ..core.wording import index_in
from .access import bound, static_index
from .access import get_item as item_of
from .kind import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, ClassVar

    from ..core.operation import Operation


class RaggedTensor(Kind):
    """`values`, and `splits`, an array of rows + 1 places in them; `uniform` is the length that all rows are known to have."""

    __slots__ = ("splits", "uniform", "values")
    description = "a RaggedTensor"
    methods = "kinds/methods.RaggedTensor"
    listed = True
    ragged = True  # what it is mapped to may be ragged too
    attributes: ClassVar[dict[str, Callable[[Any], Any]]] = {
        "values": lambda r: r.values,
        "flat_values": lambda r: r.flat,
        "row_splits": lambda r: counts(r.splits),
        "nested_row_splits": lambda r: tuple([counts(s) for s in r.levels]),
        "ragged_rank": lambda r: len(r.levels),
        "uniform_row_length": lambda r: r.uniform,
        "shape": lambda r: (len(r.splits) - 1, *r.inner_shape),
        "ndim": lambda r: r.rank,
        "dtype": lambda r: as_operand(r.flat).dtype.strong,
    }

    def __init__(self, values: Any, splits: Any, uniform: int | None = None) -> None:
        self.values = values
        self.splits = splits
        self.uniform = uniform

    # --- structure --------------------------------------------------------------------------------------------------

    @property
    def flat(self) -> Any:
        """The innermost values, a tensor."""
        return self.values.flat if self.values.__class__ is RaggedTensor else self.values

    @property
    def levels(self) -> list[Any]:
        """The row splits, the outermost first."""
        inner = self.values.levels if self.values.__class__ is RaggedTensor else []
        return [self.splits, *inner]

    @property
    def rank(self) -> int:
        return 1 + (self.values.rank if self.values.__class__ is RaggedTensor else len(shape_of(self.values)))

    @property
    def inner_shape(self) -> tuple[Any, ...]:
        inner = self.values.inner_shape if self.values.__class__ is RaggedTensor else shape_of(self.values)[1:]
        return (self.uniform, *inner)

    @property
    def lengths(self) -> Any:
        return np.diff(self.splits)

    def with_flat(self, flat: Any) -> RaggedTensor:
        """The same rows with other innermost values, as many of them."""
        inner = self.values.with_flat(flat) if self.values.__class__ is RaggedTensor else flat
        return RaggedTensor(inner, self.splits, self.uniform)

    def leaves(self) -> list[Any]:
        return [self.flat]

    def with_leaves(self, leaves: list[Any]) -> RaggedTensor:
        return self.with_flat(leaves[0])

    # --- text and results -------------------------------------------------------------------------------------------

    def nested(self, part: Callable[[int, int], Any]) -> list[Any]:
        """Lists of the rows, of which `part(start, stop)` gives each innermost one from the flat values."""

        def rows(x: Any, start: int, stop: int) -> Any:
            if x.__class__ is not RaggedTensor:
                return part(start, stop)
            return [
                rows(x.values, int(a), int(b)) for a, b in zip(x.splits[start:stop], x.splits[start + 1 : stop + 1])
            ]

        return rows(self, 0, len(self.splits) - 1)  # type: ignore[no-any-return]

    def text(self, show: Callable[[Any], str]) -> str:
        array = np.asarray(self.flat.value)

        def shown(x: Any) -> str:
            if getattr(x, "ndim", 0) or x.__class__ is list:
                return "[" + ", ".join([shown(item) for item in x]) + "]"
            return repr(x) if x.__class__ is str else str(x)

        return f"<tf.RaggedTensor {shown(self.nested(lambda start, stop: array[start:stop]))}>"

    def to_plain(self) -> Any:
        return self.nested(lambda start, stop: Tensor(self.flat.value[start:stop], self.flat.dtype))

    # --- items ------------------------------------------------------------------------------------------------------

    def length(self) -> int:
        return len(self.splits) - 1

    def row(self, i: int) -> Any:
        return rows_at(self.values, np.arange(self.splits[i], self.splits[i + 1]))

    def iterate(self) -> Iterator[Any]:
        for i in range(self.length()):
            yield self.row(i)

    def get_item(self, index: Any) -> Any:
        key = index if index.__class__ is tuple else (index,)
        if Ellipsis in [k for k in key if k.__class__ is type(Ellipsis)]:
            at = [k is Ellipsis for k in key].index(True)
            missing = self.rank - sum(k is not None and k is not Ellipsis for k in key)
            key = (*key[:at], *[slice(None)] * missing, *key[at + 1 :])
        if len([k for k in key if k is not None]) > self.rank:
            raise failure("E0405", f"{len(key)} indices are too many for a RaggedTensor of {self.rank} dimensions")
        return self.at(key)

    def at(self, key: tuple[Any, ...]) -> Any:
        if not key:
            return self
        first, rest = key[0], key[1:]
        if first is None:
            return RaggedTensor(self.at(rest), np.array([0, self.length()]), None)
        if first.__class__ is slice:
            found = rows_at(self, np.arange(self.length())[part(first)])
            return found.inside(rest)
        if (first := static_index(first)).__class__ is not int:
            raise failure(
                "E0405", "a RaggedTensor takes integers and slices as its index", "gather(r, indices) takes rows"
            )
        n = self.length()
        if not -n <= first < n:
            raise index_in(self.description, n, first)
        row = self.row(first % n)
        return item_of(row, rest) if rest else row

    def inside(self, key: tuple[Any, ...]) -> Any:
        """`r[:, key]`."""
        if not key:
            return self
        first, rest = key[0], key[1:]
        if first is None:
            return expand_dims(self, 1).inside((slice(None), *rest))
        lengths = self.lengths
        if first.__class__ is slice:
            taken = [np.arange(n)[part(first)] for n in lengths]
        else:
            i = static_index(first)
            if i.__class__ is not int:
                raise failure("E0405", "a RaggedTensor takes integers and slices as its index")
            if self.uniform is None:
                raise failure(
                    "E0401", "Cannot index into an inner ragged dimension: its rows differ in length",
                    f"r[:, {i}:{i + 1 or ''}] takes that element where there is one, to_tensor() makes it dense",
                )  # fmt: skip
            if not -self.uniform <= i < self.uniform:
                raise index_in("rows", self.uniform, i)
            picked = rows_at(self.values, self.splits[:-1] + i % self.uniform)
            return item_of(picked, (slice(None), *rest)) if rest else picked
        places = [start + t for start, t in zip(self.splits, taken)]
        values = rows_at(self.values, np.concatenate(places) if places else np.arange(0))
        if rest:
            values = item_of(values, (slice(None), *rest))
        uniform = None if self.uniform is None else len(range(self.uniform)[part(first)])
        return RaggedTensor(values, splits_of([len(t) for t in taken]), uniform)

    # --- rows of the table ------------------------------------------------------------------------------------------

    def operate(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
        return import_module(".ragged_rows", __package__).operate(op, op.name.removeprefix("tf."), inputs, attributes)

    # --- methods ----------------------------------------------------------------------------------------------------

    def method_to_list(self) -> Any:
        path_ends((self.flat,), "to_list()")
        return self.nested(lambda start, stop: np.asarray(self.flat.value)[start:stop].tolist())

    method_numpy = method_to_list


# --- rows -------------------------------------------------------------------------------------------------------------


def counts(array: Any) -> Tensor:
    """A tensor of int64."""
    return Tensor(np.asarray(array, dtype="int64"), INT64)


def splits_of(lengths: Any) -> Any:
    return np.concatenate([[0], np.cumsum(lengths)]).astype("int64")


def part(key: slice) -> slice:
    start, stop, step = (bound(x) for x in (key.start, key.stop, key.step))
    if step == 0:
        raise failure("E0401", "a slice cannot have step 0")
    return slice(start, stop, step)


def nrows(x: Any) -> int:
    if x.__class__ is RaggedTensor:
        return int(x.length())
    shape = shape_of(x)
    if not shape:
        raise failure("E0302", f"the values of a RaggedTensor have at least one dimension, and this is {describe(x)}")
    return shape[0]


def ranges(starts: Any, lengths: Any) -> Any:
    """The numbers from each start on, as many as its length."""
    return np.repeat(starts - splits_of(lengths)[:-1], lengths) + np.arange(lengths.sum())


def rows_at(x: Any, places: Any) -> Any:
    """The rows of a tensor or a RaggedTensor at the places of an array."""
    if x.__class__ is not RaggedTensor:
        return OPERATORS.take_rows(x, indices=places)
    lengths = x.lengths[places]
    return RaggedTensor(rows_at(x.values, ranges(x.splits[:-1][places], lengths)), splits_of(lengths), x.uniform)


def nest(flat: Any, levels: Sequence[Any]) -> Any:
    """Values in rows, the outermost splits first; without splits the values."""
    for splits in reversed(levels):
        flat = RaggedTensor(flat, splits)
    return flat


def expand_dims(x: Any, axis: int) -> Any:
    """A new axis of size 1; `axis` counts from the front."""
    if x.__class__ is not RaggedTensor:
        return OPERATORS.expand_dims(x, axis=axis)
    if axis == 0:
        return RaggedTensor(x, np.array([0, x.length()]), x.length())
    if axis == 1:
        return RaggedTensor(x, np.arange(x.length() + 1), 1)
    return RaggedTensor(expand_dims(x.values, axis - 1), x.splits, x.uniform)
