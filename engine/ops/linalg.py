"""Linear algebra: determinants, inverses, systems, least squares, functions and norms of matrices.

All of it takes batches: the matrices are the last two axes. Rules after M. Giles, "Collected matrix derivative results
for forward and reverse mode algorithmic differentiation" (2008), unless another source is named.
"""

from __future__ import annotations

import math

from ..core.errors import failure
from ..core.operands import plain
from ..core.tensor import OPERATORS
from .decompositions import matrix, square
from .operation import Operation, rule
from .products import matmul
from .reductions import reduce_sum
from .sorting import weak
from .structure import index, index_scatter, reshape, stack
from .support import adjoint, beside, conjugate, is_complex, results, shape_of, swapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def outermost(x: Any) -> Any:
    """One number for each matrix, shaped to multiply it."""
    return reshape(x, shape=(*shape_of(x), 1, 1))


# --- determinants ---------------------------------------------------------------------------------------------------


def _det(np: Any, x: Any) -> Any:
    side = square("det", x.shape)
    if side in (2, 3):  # polynomials: exact for small integers, where elimination rounds
        if side == 2:
            found = x[..., 0, 0] * x[..., 1, 1] - x[..., 0, 1] * x[..., 1, 0]
        else:
            minors = [x[..., 1, i] * x[..., 2, k] - x[..., 1, k] * x[..., 2, i] for i, k in ((1, 2), (2, 0), (0, 1))]
            found = x[..., 0, 0] * minors[0] + x[..., 0, 1] * minors[1] + x[..., 0, 2] * minors[2]
        if np.isfinite(found).all() and found.all():
            return found
    return np.linalg.det(x)


def _det_vjp(g: Any, y: Any, x: Any) -> Any:
    if shape_of(x)[-1] > 3 and _well_conditioned(plain(x)):
        return outermost(g * conjugate(y)) * adjoint(inv(x))
    return outermost(g) * _cofactors(x)


def _cofactors(x: Any) -> Any:
    """The conjugate cofactors of matrices, as what they are of conjugate matrices."""
    return (small_cofactor if shape_of(x)[-1] <= 3 else cofactor)(conjugate(x))


def small_cofactor(x: Any) -> Any:
    """The cofactors of matrices of side 1 to 3 as polynomials, so that derivatives of every order are exact."""
    side = shape_of(x)[-1]
    if side < 2:
        return OPERATORS.ones_like(x)
    if side == 2:
        a, b, c, d = (index(x, index=(Ellipsis, i, k)) for i in (0, 1) for k in (0, 1))
        return stack([stack([d, -c], axis=-1), stack([-b, a], axis=-1)], axis=-2)
    import numpy as np

    def moved(rows: int, columns: int) -> Any:
        return index(x, index=(Ellipsis, (np.arange(3)[:, None] + rows) % 3, (np.arange(3) + columns) % 3))

    return moved(1, 1) * moved(2, 2) - moved(1, 2) * moved(2, 1)


def _well_conditioned(x: Any) -> bool:
    import numpy as np

    return bool((np.linalg.cond(x, np.inf) < 1e5).all())


def _cofactor(np: Any, x: Any) -> Any:
    square("cofactor", x.shape)
    u, s, vh = np.linalg.svd(x)
    phase = np.linalg.det(u) * np.linalg.det(vh)
    products = np.stack([np.prod(np.delete(s, i, -1), axis=-1) for i in range(s.shape[-1])], -1)
    return phase[..., None, None] * np.matmul(np.conj(u) * products[..., None, :], np.conj(vh))


def _cofactor_vjp(g: Any, y: Any, x: Any) -> Any:
    """A cofactor is, up to its sign, the determinant of the matrix without a row and a column. For those of a large matrix,
    which are too many, by det(x) inv(x), which a singular one does not have."""
    import numpy as np

    sides = np.arange(shape_of(x)[-1])
    if len(sides) > 24:
        inverse = adjoint(inv(x))
        along = outermost(reduce_sum(inverse * g, axis=(-2, -1)))
        change = along * inverse - matmul(
            inverse, matmul(OPERATORS.transpose(g, axes=swapped(len(shape_of(g)))), inverse)
        )
        return outermost(conjugate(det(x))) * change
    others = np.array([np.delete(sides, i) for i in sides])
    places = (Ellipsis, others[:, None, :, None], others[None, :, None, :])
    signs = weak((-1.0) ** np.add.outer(sides, sides))
    minors = outermost(g * beside(signs, g)) * _cofactors(index(x, index=places))
    return index_scatter(minors, shape=shape_of(x), index=places)


cofactor: Operation = rule(
    "cofactor", "x", _cofactor_vjp, array=_cofactor, dtype="float", internal=True, depends="matrices",
    doc="The matrix of cofactors: the gradient of the determinant, for singular matrices too.",
    example=("cofactor([[1.0, 2.0], [2.0, 4.0]])", [[4.0, -2.0], [-2.0, 1.0]]),
)  # fmt: skip
det: Operation = rule(
    "det", "x", _det_vjp, array=_det, dtype="float", aliases="matrix_determinant",
    depends="matrices",
    doc="The determinant; its derivatives are exact at singular matrices too, those beyond the first up to 24 by 24.",
    example=("det([[1.0, 2.0], [3.0, 4.0]])", -2.0),
)  # fmt: skip


def _slogdet(np: Any, x: Any) -> Any:
    square("slogdet", x.shape)
    return tuple(np.linalg.slogdet(x))


def _slogdet_vjp(g: Any, y: Any, x: Any) -> Any:
    sign, _ = y
    to_sign, to_log = g
    scale = beside(to_log, x)
    if is_complex(x):  # the sign turns by the imaginary part of tr(inv(x) dx)
        turn = OPERATORS.real(OPERATORS.complex(0.0, 1.0) * (sign * conjugate(to_sign)))
        scale = OPERATORS.complex(to_log, turn)
    return outermost(scale) * adjoint(inv(x))


slogdet = rule(
    "slogdet", "x", _slogdet_vjp, array=_slogdet, dtype=results("cr"), depends="matrices",
    doc="The sign of the determinant and the logarithm of its absolute value.",
    example=("slogdet([[2.0, 0.0], [0.0, -1.0]])", (-1.0, math.log(2))),
)  # fmt: skip


# --- inverses and systems -------------------------------------------------------------------------------------------


def _inv(np: Any, x: Any) -> Any:
    square("inv", x.shape)
    return np.linalg.inv(x)


def _inv_vjp(g: Any, y: Any, x: Any) -> Any:
    # -y^H g y^H; two solutions are more accurate than two products with the inverse where x is nearly singular.
    return -solve(adjoint(x), adjoint(solve(x, adjoint(g))))


inv: Operation = rule(
    "inv", "x", _inv_vjp, kernel=lambda k, x: k.inv(x), array=_inv, dtype="float", aliases="matrix_inverse inverse",
    depends="matrices", doc="The inverse matrix.",
    example=("inv([[2.0, 0.0], [0.0, 4.0]])", [[0.5, 0.0], [0.0, 0.25]]),
)  # fmt: skip


def _solve(np: Any, a: Any, b: Any) -> Any:
    side = square("solve", a.shape)
    length = b.shape[-2] if b.ndim > 1 else b.shape[0] if b.ndim else 0
    if length != side:
        raise failure("E0302", f"solve: a {side} by {side} matrix does not fit a right side of shape {list(b.shape)}")
    if b.ndim == 1:
        return _solve(np, a, b[:, None])[..., 0]
    return np.linalg.solve(a, b)


def _solve_vjp(g: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    if len(shape_of(b)) > 1:
        to_b = solve(adjoint(a), g)
        return lambda: -matmul(to_b, adjoint(y)), to_b
    column = solve(adjoint(a), reshape(g, shape=(*shape_of(g), 1)))
    row = reshape(conjugate(y), shape=(*shape_of(y)[:-1], 1, shape_of(y)[-1]))
    return lambda: -column * row, index(column, index=(Ellipsis, 0))


solve: Operation = rule(
    "solve", "a, b", _solve_vjp, code="solve", kernel=lambda k, a, b: k.solve(a, b), array=_solve, dtype="float",
    aliases="matrix_solve", depends="matrices",
    doc="The solution x of a x = b; b is a vector or a matrix of columns.",
    example=("solve([[2.0, 0.0], [0.0, 4.0]], [2.0, 2.0])", [1.0, 0.5]),
)  # fmt: skip


# --- least squares --------------------------------------------------------------------------------------------------


def _least_squares(np: Any, a: Any, b: Any) -> Any:
    rows, columns = matrix("lstsq", a.shape)
    if b.shape[-2] != rows:
        raise failure(
            "E0302", f"lstsq: a {rows} by {columns} matrix does not fit a right side of shape {list(b.shape)}"
        )
    solutions = np.vectorize(
        lambda left, right: np.linalg.lstsq(left, right, rcond=None)[0], [a.dtype], signature="(m,n),(m,k)->(n,k)"
    )
    return solutions(a, b)


def _least_squares_vjp(g: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """G. Golub and V. Pereyra (1973), for a rank that does not change: y = pinv(a) b."""
    import numpy as np

    to_b = least_squares(adjoint(a), g)

    def to_a() -> Any:
        rows, columns = shape_of(a)[-2:]
        rank = np.min(np.linalg.matrix_rank(plain(a)), initial=min(rows, columns))
        total = -matmul(to_b, adjoint(y))
        if rank < rows:  # the residual
            total = total + matmul(b - matmul(a, y), adjoint(least_squares(a, to_b)))
        if rank < columns:  # the null space
            beyond = g - least_squares(a, matmul(a, g))
            total = total + matmul(least_squares(adjoint(a), y), adjoint(beyond))
        return total

    return to_a, to_b


least_squares: Operation = rule(
    "least_squares", "a, b", _least_squares_vjp, array=_least_squares, dtype="float", internal=True, depends="matrices",
    doc="The x of least norm that minimises |a x - b|, for a matrix b: what lstsq and pinv are made of.",
    example=("least_squares([[1.0], [1.0]], [[1.0], [3.0]])", [[2.0]]),
)  # fmt: skip
