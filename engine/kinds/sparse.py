"""SparseTensor: the entries of a tensor that are given, each with its place; all others are zero, or missing."""

from __future__ import annotations

from ..core.dtypes import STRONG
from ..core.errors import failure
from ..core.operands import plain, tensor
from ..core.state import STATE
from ..core.tensor import Tensor
from ..ops.support import integers
from .kind import Compound, call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar

    from ..ops.operation import Operation

ROWS = "kinds/rows.SparseTensor"


class SparseTensor(Compound):
    """`indices` of shape (entries, rank), `values` of shape (entries,), and the full `shape`.

    `values` is a tensor that tapes follow; in results of the sparse Hessian it is an array.
    """

    __slots__ = ("indices", "shape", "values")
    description = "a SparseTensor"
    methods = "kinds/methods.SparseTensor"
    hint = "sparse.to_dense(s) makes a tensor of it, and sparse.map_values(f, s) applies f to its values"
    attributes: ClassVar[dict[str, Any]] = {
        "indices": lambda s: int64(s.indices),
        "values": lambda s: s.values,
        "dense_shape": lambda s: int64(s.shape),
        "shape": lambda s: s.shape,
        "dtype": lambda s: s.values.dtype.strong,
        "ndim": lambda s: len(s.shape),
        "rank": lambda s: len(s.shape),
    }

    def __init__(self, indices: Any, values: Any, shape: tuple[int, ...]) -> None:
        self.indices = indices
        self.values = values
        self.shape = shape

    def leaves(self) -> list[Any]:
        return [self.values]

    def with_leaves(self, leaves: list[Any]) -> SparseTensor:
        return SparseTensor(self.indices, leaves[0], self.shape)

    def text(self, show: Callable[[Any], str]) -> str:
        import numpy as np

        indices, values = np.array2string(self.indices, separator=", "), plain(self.values)
        return f"SparseTensor(indices={indices}, values={values}, shape={self.shape})".replace("\n", "")

    def to_plain(self) -> dict[str, Any]:
        """As results are written: {indices, values, shape}."""
        return {"indices": self.indices, "values": plain(self.values), "shape": list(self.shape)}

    def to_dense(self) -> Any:
        """The whole array of a result; entries at one place add up."""
        import numpy as np

        values = plain(self.values)
        dense = np.zeros(self.shape, dtype=values.dtype)
        np.add.at(dense, tuple(self.indices.T), values if self.shape else values.sum())
        return dense

    def operate(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
        name = op.name.removeprefix("tf.")
        return call(STATE.library(ROWS, "row"), self, op, name, op.symbol, list(inputs), attributes or {})

    def operation(self, name: str, inputs: tuple[Any, ...]) -> Any:
        return call(STATE.library(ROWS, "row"), self, None, name, "", list(inputs), {})

    def get_item(self, index: Any) -> Any:
        return call(STATE.library(ROWS, "item"), self, index)

    def length(self) -> int:
        raise failure("E0304", "a SparseTensor has no length", self.hint)

    def iterate(self) -> Any:
        raise failure("E0304", "a SparseTensor cannot be iterated over", "write zip(s.indices, s.values)")


def int64(values: Any) -> Tensor:
    import numpy as np

    return Tensor(np.asarray(values, dtype="int64"), STRONG["int64"])


def sparse_tensor(indices: Any, values: Any, dense_shape: Any) -> Any:
    return call(STATE.library(ROWS, "made"), indices, values, dense_shape)


def of_entries(indices: Any, values: Any, shape: Any) -> SparseTensor:
    """A SparseTensor of what is known to fit."""
    rows = integers("SparseTensor", "indices", indices)
    return SparseTensor(rows, tensor(values), tuple([int(n) for n in shape]))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "SparseTensor": sparse_tensor,
    "sparse.SparseTensor": sparse_tensor,
    "internal.sparse.of": of_entries,
}
