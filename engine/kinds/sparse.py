"""Sparse tensors as results: the places and the values of the entries that may differ from zero."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class SparseTensor:
    """`indices` of shape (entries, rank) in row-major order, `values` of shape (entries,), and the full `shape`."""

    __slots__ = ("indices", "shape", "values")

    def __init__(self, indices: Any, values: Any, shape: tuple[int, ...]) -> None:
        self.indices = indices
        self.values = values
        self.shape = shape

    def __repr__(self) -> str:
        return f"SparseTensor({len(self.values)} entries, shape {list(self.shape)})"

    def to_plain(self) -> dict[str, Any]:
        """As results are written: {indices, values, shape}."""
        return {"indices": self.indices, "values": self.values, "shape": list(self.shape)}

    def to_dense(self) -> Any:
        """The whole array."""
        import numpy as np

        dense = np.zeros(self.shape, dtype=self.values.dtype)
        np.add.at(dense, tuple(self.indices.T), self.values if self.shape else self.values.sum())
        return dense
