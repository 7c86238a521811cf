"""The functions that make RaggedTensors of others, and what those in the language call."""

from __future__ import annotations

from typing import Any

from ..core.errors import failure
from ..core.operands import as_operand
from ..core.tensor import OPERATORS
from ..ops.gathering import checked
from ..ops.support import integers
from .access import iterate
from .ragged import RaggedTensor, nrows, rows_at
from .ragged_rows import concat, ragged, stack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def operand(values: Any) -> Any:
    return values if values.__class__ is RaggedTensor else as_operand(values)


def ragged_stack(values: Any, axis: Any = 0) -> Any:
    parts = list(iterate(values)) if values.__class__ is not RaggedTensor else [values]
    return stack(OPERATORS.stack, *parts, axis=axis)


def ragged_concat(values: Any, axis: Any) -> Any:
    return concat(OPERATORS.concat, *iterate(values), axis=axis)


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
    "ragged.stack": ragged_stack,
    "ragged.concat": ragged_concat,
    "RaggedTensor": ragged_tensor,
    "internal.ragged.nrows": nrows,
    "internal.ragged.of": of_splits,
    "internal.ragged.operand": operand,
    "internal.ragged.ragged": ragged,
    "internal.ragged.rows": rows,
}  # fmt: skip
