"""The functions that make RaggedTensors of others, and what those in the language call."""

from __future__ import annotations

import numpy as np

from ..core.errors import failure
from ..core.operands import as_operand
from ..core.tensor import OPERATORS, shape_of
from ..ops.gathering import checked
from ..ops.support import integers
from .ragged import RaggedTensor, expand_dims, nrows, rows_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def operand(values: Any) -> Any:
    return values if values.__class__ is RaggedTensor else as_operand(values)


def ragged(x: Any, depth: int) -> Any:
    """A tensor with `depth` ragged axes; what is ragged already gets the rest of them inside."""
    if x.__class__ is RaggedTensor:
        return x if depth == 1 else RaggedTensor(ragged(x.values, depth - 1), x.splits, x.uniform)
    shape = shape_of(x)
    if not depth:
        return x
    values = OPERATORS.reshape(x, shape=(shape[0] * shape[1], *shape[2:]))
    return RaggedTensor(ragged(values, depth - 1), np.arange(shape[0] + 1) * shape[1], shape[1])


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
    "internal.ragged.expand_dims": expand_dims,
    "internal.ragged.nrows": nrows,
    "internal.ragged.of": of_splits,
    "internal.ragged.operand": operand,
    "internal.ragged.ragged": ragged,
    "internal.ragged.rows": rows,
}  # fmt: skip
