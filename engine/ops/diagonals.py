"""Diagonals and triangles of matrices."""

from __future__ import annotations

from ..core import limits
from ..core.errors import failure, plural
from ..core.operands import shown
from ..core.operation import composite, linear
from .gathering import diagonal_index
from .shapes import moved_axes
from .structure import index, index_scatter
from .support import (
    axis_of,
    count,
    operand_shape,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..core.operation import Operation


def _diagonal(x: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Any:
    shape = operand_shape(x)
    rank = len(shape)
    if rank < 2:
        raise failure("E0302", f"diagonal needs a matrix, and this tensor has {plural(rank, 'dimension')}")
    first, second = axis_of("diagonal", axis1, rank), axis_of("diagonal", axis2, rank)
    if (first, second) != (rank - 2, rank - 1):
        x = moved_axes(x, (first, second), (-2, -1))
    rows, columns = diagonal_index(shape[first], shape[second], offset)
    return index(x, index=(Ellipsis, rows, columns))


def _diag_matrix(v: Any, k: int = 0) -> Any:
    import numpy as np

    if k.__class__ is not int:
        raise failure("E0304", f"diag: k must be an integer, not {shown(k)}")
    shape = operand_shape(v)
    side = shape[-1] + abs(k)
    limits.allocate(count(shape[:-1]) * side * side)
    places = np.arange(shape[-1])
    return index_scatter(v, shape=(*shape[:-1], side, side), index=(Ellipsis, places + max(-k, 0), places + max(k, 0)))


def _diag(x: Any, k: Any = 0) -> Any:
    rank = len(operand_shape(x))
    if rank == 1:
        return _diag_matrix(x, k)
    if rank == 2:
        return _diagonal(x, k)
    raise failure(
        "E0302", f"diag takes a vector or a matrix, not a tensor of {plural(rank, 'dimension')}",
        "tf.linalg.diag and diag_part take batches",
    )  # fmt: skip


def _diag_batch(x: Any, k: Any = 0) -> Any:
    if not operand_shape(x):
        raise failure("E0302", "diag takes a vector, not a scalar")
    return _diag_matrix(x, k)


diagonal = composite(
    "diagonal", "x | offset=0, axis1=0, axis2=1", _diagonal, method=True,
    doc="The diagonal of a matrix, or those of the matrices along two axes.",
    example=("diagonal([[1, 2], [3, 4]])", [1, 4]),
)  # fmt: skip
diag = composite(
    "diag", "x | k=0", _diag, doc="The matrix with the vector x as its diagonal; of a matrix, its diagonal.",
    example=("diag([1, 2])", [[1, 0], [0, 2]]),
)  # fmt: skip
diag_batch = composite(
    "tf.linalg.diag", "x | k=0", _diag_batch, aliases="tf.linalg.tensor_diag tf.matrix_diag matrix_diag",
    doc="The matrices with the vectors along the last axis as their diagonals.",
    example=("tf.linalg.diag([1, 2])", [[1, 0], [0, 2]]),
)  # fmt: skip
diag_part = composite(
    "diag_part", "x | k=0", lambda x, k=0: _diagonal(x, k, -2, -1), aliases="tensor_diag_part matrix_diag_part",
    doc="The diagonals of the matrices in the last two axes.", example=("diag_part([[1, 2], [3, 4]])", [1, 4]),
)  # fmt: skip


def _triangle(name: str, doc: str, example: list[list[int]], aliases: str = "") -> Operation:
    def array(np: Any, x: Any, k: Any) -> Any:
        if np.ndim(x) < 2:
            raise failure("E0302", f"{name} needs a matrix, and this tensor has {plural(np.ndim(x), 'dimension')}")
        return getattr(np, name)(x, k)

    row: Operation = linear(
        name, "x | k=0", lambda g, y, x, k: row(g, k=k), array=array, moves=True, dtype="first", aliases=aliases,
        kernel=lambda kernel, x, k: kernel.triangle(x, k, name == "tril"), doc=doc,
        example=(f"{name}([[1, 2], [3, 4]])", example),
    )  # fmt: skip
    return row


tril = _triangle("tril", "The lower triangle of a matrix, up to diagonal k; zeros above it.", [[1, 0], [3, 4]])
triu = _triangle("triu", "The upper triangle of a matrix, from diagonal k on; zeros below it.", [[1, 2], [0, 4]])
