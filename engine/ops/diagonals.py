"""Diagonals and triangles of matrices."""

from __future__ import annotations

from ..core.errors import failure, plural
from .operation import linear
from .structure import index, index_scatter
from .support import shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .operation import Operation


def diagonal(x: Any) -> Any:
    """The diagonals of square matrices in the last two axes."""
    import numpy as np

    places = np.arange(shape_of(x)[-1])
    return index(x, index=(Ellipsis, places, places))


def diagonal_matrix(v: Any) -> Any:
    """The matrices with the vectors along the last axis as their diagonals."""
    import numpy as np

    shape = shape_of(v)
    places = np.arange(shape[-1])
    return index_scatter(v, shape=(*shape, shape[-1]), index=(Ellipsis, places, places))


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
