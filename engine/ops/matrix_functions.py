"""Exponentials, logarithms, roots and powers of matrices, the last two axes of a tensor."""

from __future__ import annotations

import math

from ..core.errors import failure
from ..core.tensor import OPERATORS
from .decompositions import square
from .joining import concat
from .operation import Operation, rule
from .structure import index
from .support import adjoint, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _blocks(a: Any, b: Any, c: Any, d: Any) -> Any:
    return concat([concat([a, b], axis=-1), concat([c, d], axis=-1)], axis=-2)


def _quarter(x: Any, row: int, column: int) -> Any:
    half = shape_of(x)[-1] // 2
    parts = (slice(0, half), slice(half, None))
    return index(x, index=(Ellipsis, parts[row], parts[column]))


def _matrix_function(name: str, doc: str, example: Any, change_example: Any) -> tuple[Operation, Operation]:
    """A function of matrices, and its derivative in a direction: f([[a, h], [0, a]]) has it in its upper right corner.

    N. Higham, "Functions of Matrices" (2008), theorem 3.6.
    """

    def array(np: Any, x: Any) -> Any:
        from scipy import linalg

        square(name, x.shape)
        if not x.size:
            return x
        # SciPy warns of rounding in single precision: compute in double.
        wide = x.reshape(-1, *x.shape[-2:]).astype("complex128" if x.dtype.kind == "c" else "float64")
        found = np.array([getattr(linalg, name)(one) for one in wide]).reshape(x.shape)
        if x.dtype.kind == "f" and found.dtype.kind == "c":
            if np.abs(found.imag).max() > 1e-12 * np.abs(found).max():
                raise failure("E0401", f"{name} of this matrix is not real", "write cast(x, complex128)")
            found = found.real
        return found

    def change_array(np: Any, x: Any, change: Any) -> Any:
        side = x.shape[-1]
        # The derivative is linear: keep the two blocks of each matrix of one size.
        size = np.max(np.abs(change), axis=(-2, -1), initial=0.0, keepdims=True)
        unit = np.where((size > 0.0) & (size < math.inf), size, 1.0)
        shape = np.broadcast_shapes(x.shape[:-2], change.shape[:-2])
        whole = np.zeros((*shape, 2 * side, 2 * side), dtype=x.dtype)
        whole[..., :side, :side] = whole[..., side:, side:] = x
        whole[..., :side, side:] = change / unit
        return array(np, whole)[..., :side, side:] * unit

    def change_vjp(g: Any, y: Any, x: Any, change: Any) -> tuple[Any, Any]:
        def to_x() -> Any:
            zero = OPERATORS.zeros_like(x)
            whole = adjoint(_blocks(x, change, zero, x))
            found = changed(whole, _blocks(zero, g, zero, zero))
            return _quarter(found, 0, 0) + _quarter(found, 1, 1)

        return to_x, lambda: changed(adjoint(x), g)

    changed = rule(
        f"{name}_change", "x, change", change_vjp, internal=True, array=change_array, library="scipy", dtype="float",
        depends="matrices", doc=f"The derivative of {name} in a direction.", example=change_example,
    )  # fmt: skip
    row = rule(
        name, "x", lambda g, y, x: changed(adjoint(x), g), array=array, library="scipy", dtype="float",
        depends="matrices", doc=doc, example=example, aliases="matrix_exponential" if name == "expm" else "",
    )  # fmt: skip
    return row, changed


expm, expm_change = _matrix_function(
    "expm", "The exponential of a matrix.", ("expm([[0.0, 1.0], [0.0, 0.0]])", [[1.0, 1.0], [0.0, 1.0]]),
    ("expm_change([[0.0]], [[2.0]])", [[2.0]]),
)  # fmt: skip
logm, logm_change = _matrix_function(
    "logm", "The principal logarithm of a matrix.", ("logm([[1.0, 1.0], [0.0, 1.0]])", [[0.0, 1.0], [0.0, 0.0]]),
    ("logm_change([[1.0]], [[2.0]])", [[2.0]]),
)  # fmt: skip
sqrtm, sqrtm_change = _matrix_function(
    "sqrtm", "The principal square root of a matrix.", ("sqrtm([[4.0, 0.0], [0.0, 9.0]])", [[2.0, 0.0], [0.0, 3.0]]),
    ("sqrtm_change([[4.0]], [[1.0]])", [[0.25]]),
)  # fmt: skip
