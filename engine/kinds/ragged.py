"""RaggedTensor: a tensor whose rows differ in length. What it does to numbers it does by rows of the table on its flat values.

`values` are the rows one after the other, a tensor or again a RaggedTensor; row i is `values[splits[i]:splits[i + 1]]`.
"""

from __future__ import annotations

import numpy as np

from ..core.dtypes import INT64
from ..core.errors import failure
from ..core.following import path_ends
from ..core.operands import as_operand, describe
from ..core.state import STATE
from ..core.tensor import OPERATORS, Tensor, shape_of
from ..ops.gathering import checked
from ..ops.support import integers
from .kind import Compound, call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, ClassVar

    from ..ops.operation import Operation


ROWS = "kinds/rows.RaggedTensor"
# The families whose rows work element by element, and the other rows that do.
ELEMENTWISE = frozenset("arithmetic exponential trigonometric rounding special activations complex".split())
MAPPED = frozenset("cast zeros_like ones_like full_like stop_gradient identity isin where".split())


class RaggedTensor(Compound):
    """`values`, and `splits`, an array of rows + 1 places in them; `uniform` is the length that all rows are known to have."""

    __slots__ = ("splits", "uniform", "values")
    description = "a RaggedTensor"
    hint = "r.to_tensor() makes it dense, r.flat_values are its numbers"
    methods = "kinds/methods.RaggedTensor"
    listed = True
    ragged = True  # what it is mapped to may be ragged too
    attributes: ClassVar[dict[str, Callable[[Any], Any]]] = {
        "values": lambda r: r.values,
        "flat_values": lambda r: r.flat,
        "row_splits": lambda r: Tensor(r.splits, INT64),
        "nested_row_splits": lambda r: tuple([Tensor(s, INT64) for s in r.levels]),
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

    # --- items and rows of the table ----------------------------------------------------------------------------------

    def length(self) -> int:
        return len(self.splits) - 1

    def iterate(self) -> Iterator[Any]:
        for start, stop in zip(self.splits, self.splits[1:]):
            yield rows_at(self.values, np.arange(start, stop))

    def get_item(self, index: Any) -> Any:
        return call(STATE.library(ROWS, "item"), self, index)

    def operate(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
        name = op.name.removeprefix("tf.")
        by_element = op.family in ELEMENTWISE or name in MAPPED or (op.family == "stable" and name != "norm")
        return call(STATE.library(ROWS, "row"), op, name, by_element, list(inputs), attributes or {})

    def operation(self, name: str, inputs: tuple[Any, ...]) -> Any:
        return call(STATE.library(ROWS, "operation"), name, list(inputs))

    # --- methods ----------------------------------------------------------------------------------------------------

    def method_to_list(self) -> Any:
        path_ends((self.flat,), "to_list()")
        return self.nested(lambda start, stop: np.asarray(self.flat.value)[start:stop].tolist())

    method_numpy = method_to_list


# --- rows -------------------------------------------------------------------------------------------------------------


def splits_of(lengths: Any) -> Any:
    return np.concatenate([[0], np.cumsum(lengths)]).astype("int64")


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


# --- what the functions of RaggedTensors in the language call ---------------------------------------------------------


def operand(values: Any) -> Any:
    return values if values.__class__ is RaggedTensor else as_operand(values)


def rows(name: str, x: Any, places: Any) -> Any:
    """The rows of a tensor or a RaggedTensor at some places."""
    return rows_at(x, checked(name, integers(name, "indices", places), nrows(x), negative=False))


def of_splits(values: Any, splits: Any, uniform: Any = None) -> RaggedTensor:
    """Rows of splits that are known to fit."""
    return RaggedTensor(operand(values), integers("RaggedTensor", "row_splits", splits), uniform)


def ragged_tensor(*values: Any) -> Any:
    raise failure(
        "E0305",
        "RaggedTensor is made by functions of its own",
        "write RaggedTensor.from_row_splits(values, row_splits)",
    )


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "RaggedTensor": ragged_tensor,
    "internal.ragged.nrows": nrows,
    "internal.ragged.of": of_splits,
    "internal.ragged.operand": operand,
    "internal.ragged.rows": rows,
}
