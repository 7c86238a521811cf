"""IndexedSlices: slices of a tensor and the rows at which they stand; slices of one row add up."""

from __future__ import annotations

from ..core.dtypes import STRONG
from ..core.errors import failure
from ..core.operands import plain, shape_text, tensor
from ..core.tensor import OPERATORS, Tensor
from ..ops.gathering import checked
from ..ops.support import as_shape, integers
from .kind import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar

    from ..core.operation import Operation


class IndexedSlices(Kind):
    """`values` of shape (n, ...), `indices` of shape (n,), and the shape of the whole, None where it is not known."""

    __slots__ = ("indices", "shape", "values")
    description = "an IndexedSlices"
    attributes: ClassVar[dict[str, Any]] = {
        "indices": lambda s: Tensor(s.indices, STRONG["int64"]),
        "values": lambda s: s.values,
        "dense_shape": lambda s: None if s.shape is None else tensor(list(s.shape)),
        "shape": lambda s: s.shape,
        "dtype": lambda s: s.values.dtype.strong,
    }

    def __init__(self, values: Any, indices: Any, shape: tuple[int, ...] | None) -> None:
        self.values = values
        self.indices = indices
        self.shape = shape

    def leaves(self) -> list[Any]:
        return [self.values]

    def with_leaves(self, leaves: list[Any]) -> IndexedSlices:
        return IndexedSlices(leaves[0], self.indices, self.shape)

    def dense(self) -> Any:
        """The tensor that the slices are of."""
        if self.shape is None:
            raise failure(
                "E0302", "these IndexedSlices have no dense_shape, so that they are no tensor",
                "write IndexedSlices(values, indices, dense_shape)",
            )  # fmt: skip
        return OPERATORS.put_rows(self.values, indices=self.indices, axis=0, size=self.shape[0])

    def operate(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
        def dense(x: Any) -> Any:
            if x.__class__ in (list, tuple):
                return [dense(item) for item in x]
            return x.dense() if x.__class__ is IndexedSlices else x

        return op.call([dense(x) for x in inputs], attributes)

    def text(self, show: Callable[[Any], str]) -> str:
        shape = "" if self.shape is None else f", dense_shape={self.shape}"
        values = str(plain(self.values)).replace("\n", "")
        return f"IndexedSlices(indices={self.indices.tolist()}, values={values}{shape})"

    def to_plain(self) -> dict[str, Any]:
        shape = None if self.shape is None else list(self.shape)
        return {"values": plain(self.values), "indices": self.indices, "shape": shape}


def indexed_slices(values: Any, indices: Any, dense_shape: Any = None) -> IndexedSlices:
    """Raises E0302 for shapes that do not fit, E0405 for a row that the tensor does not have."""
    name, values = "IndexedSlices", tensor(values)
    rows = integers(name, "indices", indices)
    if rows.ndim != 1 or values.shape[:1] != rows.shape:
        raise failure(
            "E0302", f"{name}: indices of shape {shape_text(rows.shape)} do not fit values of shape "
            f"{shape_text(values.shape)}", "each index has a slice of the values",
        )  # fmt: skip
    if dense_shape is None:
        return IndexedSlices(values, rows, None)
    shape = as_shape(integers(name, "dense_shape", dense_shape).tolist())
    if shape[1:] != values.shape[1:] or not shape:
        raise failure(
            "E0302",
            f"{name}: slices of shape {shape_text(values.shape[1:])} do not fit dense_shape {shape_text(shape)}",
        )
    checked(name, rows, shape[0], negative=False)
    return IndexedSlices(values, rows, shape)


FUNCTIONS: dict[str, Callable[..., Any]] = {"IndexedSlices": indexed_slices}
