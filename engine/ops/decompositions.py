"""Factorisations of matrices: triangular systems, Cholesky, QR, singular values, eigenvalues.

All of them take batches: the matrices are the last two axes. The rules follow M. Giles, "Collected matrix derivative
results for forward and reverse mode algorithmic differentiation" (2008); Cholesky: I. Murray, "Differentiation of the
Cholesky decomposition" (2016); QR: S. Walter and L. Lehmann, "Algorithmic differentiation of linear algebra functions
with application in optimum experimental design" (2010); the complex cases: Z.-Q. Wan and S.-X. Zhang, "Automatic
differentiation for complex valued SVD" (2019), and C. Boeddeker et al. (2017) for non-symmetric eigenvalues.

Where singular values or eigenvalues coincide, the vectors that belong to them have no derivative. The terms in
question are left out. That is right for a function that does not depend on those vectors; one that does is reported,
even if it depends on them only together (v f(w) v^H has a derivative, but its cotangents do not say which).
"""

from __future__ import annotations

from ..core.errors import failure, plural
from ..core.operands import plain
from ..core.state import RECORDERS, STATE
from ..core.tensor import OPERATORS
from .diagonals import diagonal, diagonal_matrix, tril, triu
from .operation import Operation, missing, rule
from .products import column_of, matmul, row_of
from .sorting import weak
from .support import adjoint, beside, conjugate, found_by_rule, is_complex, mask_tensor, meet, results, shape_of, some
from .support import adjoint as conjugate_transpose

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def square(name: str, shape: tuple[int, ...]) -> int:
    """The side of square matrices in the last two axes.

    Raises AdiffError E0302 for anything else.
    """
    rows, columns = matrix(name, shape)
    if rows != columns:
        raise failure("E0302", f"{name} needs a square matrix, and this one is {rows} by {columns}")
    return rows


def matrix(name: str, shape: tuple[int, ...]) -> tuple[int, int]:
    """The numbers of rows and columns of matrices in the last two axes."""
    if len(shape) < 2:
        raise failure("E0302", f"{name} needs a matrix, and this is a tensor of {plural(len(shape), 'dimension')}")
    return shape[-2], shape[-1]


def hermitian(x: Any) -> Any:
    """The Hermitian part of a matrix, in rows of the table."""
    return (x + adjoint(x)) * 0.5


def columns_by(x: Any, d: Any) -> Any:
    """x with column i multiplied by d[i]."""
    return x * beside(row_of(d), x)


# --- triangular systems ---------------------------------------------------------------------------------------------


def _triangular_solve(np: Any, a: Any, b: Any, lower: bool, adjoint: bool) -> Any:
    side = square("triangular_solve", a.shape)
    if b.ndim < 2 or b.shape[-2] != side:
        raise failure(
            "E0302", f"triangular_solve: a {side} by {side} matrix does not fit a right side of shape {list(b.shape)}"
        )
    pivots = np.diagonal(a, axis1=-2, axis2=-1)
    if not pivots.all():
        place = int(np.argmin(np.abs(pivots).reshape(-1, side)[-1]))
        where = f" (element [{place},{place}] is 0)" if a.ndim == 2 else ""
        raise failure("E0404", f"triangular_solve: the matrix is singular{where}")
    if adjoint:
        a, lower = np.conj(np.swapaxes(a, -1, -2)), not lower
    # Of an upper triangle the elimination of LAPACK's solver is none.
    a, b = (a[..., ::-1, ::-1], b[..., ::-1, :]) if lower else (a, b)
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    found = np.linalg.solve(np.triu(a), np.broadcast_to(b, (*batch, *b.shape[-2:])))
    return found[..., ::-1, :] if lower else found


def _triangular_solve_vjp(g: Any, y: Any, a: Any, b: Any, lower: bool, adjoint: bool) -> tuple[Any, Any]:
    to_b = triangular_solve_row(a, g, lower=lower, adjoint=not adjoint)

    def to_a() -> Any:
        product = matmul(y, conjugate_transpose(to_b)) if adjoint else matmul(to_b, conjugate_transpose(y))
        return -(tril(product) if lower else triu(product))

    return to_a, to_b


triangular_solve_row = rule(
    "triangular_system", "a, b | lower, adjoint", _triangular_solve_vjp, array=_triangular_solve, dtype="float",
    internal=True, depends="matrices",
    doc="The solution of a triangular system; b is a matrix. What triangular_solve is made of.",
    example=("triangular_system([[2.0]], [[4.0]], True, False)", [[2.0]]),
)  # fmt: skip


# --- Cholesky -------------------------------------------------------------------------------------------------------


def _cholesky(np: Any, x: Any) -> Any:
    square("cholesky", x.shape)
    return np.linalg.cholesky((x + np.conj(np.swapaxes(x, -1, -2))) * 0.5)


def _cholesky_vjp(g: Any, y: Any, x: Any) -> Any:
    import numpy as np

    side = shape_of(x)[-1]
    half = np.tril(np.ones((side, side)), -1) + 0.5 * np.eye(side)
    inner = matmul(adjoint(y), g) * beside(weak(half), y)
    left = triangular_solve_row(y, inner, lower=True, adjoint=True)  # L^-H inner
    both = adjoint(triangular_solve_row(y, adjoint(left), lower=True, adjoint=True))  # L^-H inner L^-1
    return hermitian(both)


cholesky_row = rule(
    "cholesky", "x", _cholesky_vjp, array=_cholesky, dtype="float", depends="matrices",
    doc="The lower triangular L with L L^H = x, of the Hermitian part of x; so the gradient is Hermitian.",
    example=("cholesky([[4.0, 2.0], [2.0, 2.0]])", [[2.0, 0.0], [1.0, 1.0]]),
)  # fmt: skip


# --- QR -------------------------------------------------------------------------------------------------------------


def _qr_vjp(g: Any, y: Any, x: Any) -> Any:
    q, r = y
    gq, gr = g
    m = matmul(r, adjoint(gr)) - matmul(adjoint(gq), q)
    below = tril(m, k=-1)
    middle = OPERATORS.real(diagonal(m)) if is_complex(m) else diagonal(m)
    symmetric = below + adjoint(below) + beside(diagonal_matrix(middle), m)
    pulled = gq + matmul(q, symmetric)
    return adjoint(triangular_solve_row(r, adjoint(pulled), lower=False, adjoint=False))  # pulled R^-H


qr_row = rule(
    "qr_tall", "x", _qr_vjp, array=lambda np, x: tuple(np.linalg.qr(x)),
    dtype="float", internal=True, depends="matrices", doc="The reduced QR factorisation of a matrix that is not wide.",
    example=("qr_tall([[2.0], [0.0]])", ([[1.0], [0.0]], [[2.0]])),
)  # fmt: skip
qr_complete = missing(
    "qr_complete", "x", "the columns of q beyond the rank are arbitrary: use mode='reduced'",
    array=lambda np, x: tuple(np.linalg.qr(x, mode="complete")), dtype="float",
    internal=True, doc="The QR factorisation with a square q, of a tall matrix.",
    example=("qr_complete([[2.0], [0.0]])", ([[1.0, 0.0], [0.0, 1.0]], [[2.0], [0.0]])),
)  # fmt: skip


# --- coinciding values ----------------------------------------------------------------------------------------------


def inverse_differences(np: Any, w: Any) -> tuple[Any, Any]:
    """Which pairs of the values `w` coincide to rounding (off the diagonal), and the mask of all pairs that do not."""
    values = np.asarray(plain(w))
    side = values.shape[-1]
    scale = np.max(np.abs(values), axis=-1, initial=0.0)[..., None, None]
    gap = np.abs(values[..., None, :] - values[..., :, None])
    close = gap <= 8.0 * side * np.finfo(values.dtype).eps * scale
    return close & ~np.eye(side, dtype=bool), ~close


def safe_inverse(d: Any, usable: Any) -> Any:
    """1/d where a mask holds, and 0 elsewhere."""
    mask = mask_tensor(usable)
    where = OPERATORS.where
    return where(mask, 1.0 / where(mask, d, 1.0), 0.0)


def strong_product(k: Any, inverse: Any) -> Any:
    """What vectors turn by: nothing where no cotangent asks for it, however near the values are."""
    return OPERATORS.strong_multiply(k, beside(inverse, k))


def differences(w: Any) -> Any:
    """d[i,j] = w[j] - w[i]."""
    return row_of(w) - column_of(w)


def _asks_for(np: Any, k: Any, close: Any) -> bool:
    """Whether the cotangent part `k` has more than rounding at the pairs that coincide."""
    values = np.abs(plain(k))
    asked = STATE.transposing or values > 1e-10 * np.max(values, initial=0.0)
    return bool((close & asked).any())


def _tells_apart(np: Any, g: Any, close: Any) -> bool:
    """Whether a cotangent of values weighs some that coincide differently: their sum is smooth, each alone is not."""
    weights = np.asarray(plain(g))
    if not close.any() or STATE.transposing or weights.ndim == 0:
        return False
    gap = np.abs(weights[..., None, :] - weights[..., :, None])
    return bool((close & (gap > 1e-10 * np.max(np.abs(weights), initial=0.0))).any())


def _asks_for_phases(np: Any, diagonal: Any, k: Any) -> bool:
    """Whether a cotangent depends on the phases of complex vectors, which are arbitrary, beside the size of its part `k`."""
    if STATE.transposing:
        return False
    turning = np.abs(np.imag(np.diagonal(diagonal, axis1=-2, axis2=-1)))
    return some(turning > 1e-10 * np.max(np.abs(plain(k)), initial=0.0))


def _report(np: Any, row: Operation, close: Any, k: Any, g: Any, positive: Any = True) -> None:
    """Report pairs of values that coincide where the cotangents of vectors or values, or derivatives to come, meet them."""
    if close.any() and RECORDERS and not STATE.transposing:
        meet(row, True, 1)
    meet(row, _asks_for(np, k, close))
    meet(row, _tells_apart(np, g, close & positive), 3)


COINCIDE = "are not differentiable where values coincide"


# --- eigenvalues ----------------------------------------------------------------------------------------------------


def _eigh(np: Any, x: Any) -> Any:
    square("eigh", x.shape)
    if not np.isfinite(x).all():
        # LAPACK's eigh drops a nan from the spectrum and says nothing.
        raise np.linalg.LinAlgError("Array must not contain infs or NaNs")
    return tuple(np.linalg.eigh((x + np.conj(np.swapaxes(x, -1, -2))) * 0.5))


def _eigh_vjp(g: Any, y: Any, x: Any) -> Any:
    import numpy as np

    w, v = y
    gw, gv = g
    k = matmul(adjoint(v), gv)
    turning = k - adjoint(k)
    close, apart = inverse_differences(np, w)
    _report(np, eigh_row, close, k, gw)
    if is_complex(v):
        meet(eigh_row, _asks_for_phases(np, plain(k), k), 2)
    turned = strong_product(turning, safe_inverse(differences(w), apart))
    inner = turned * 0.5 + beside(diagonal_matrix(gw), v)
    return matmul(v, matmul(inner, adjoint(v)))


eigh_row = rule(
    "eigh", "x", _eigh_vjp, array=_eigh, dtype=results("rc"), aliases="self_adjoint_eig",
    singular=[
        found_by_rule("eigenvectors " + COINCIDE, "the undefined terms are left out"),
        found_by_rule("eigh meets repeated eigenvalues: second derivatives across them are left out"),
        found_by_rule("complex eigenvectors are defined up to a phase, and this function depends on it"),
        found_by_rule("eigenvalues that coincide are not differentiable one by one", "the derivatives along the vectors found"),
    ],
    depends="matrices",
    doc="Eigenvalues, rising, and eigenvectors of the Hermitian part of x; so the gradient is Hermitian.",
    example=("eigh([[2.0, 0.0], [0.0, 1.0]])", ([1.0, 2.0], [[0.0, 1.0], [1.0, 0.0]])),
)  # fmt: skip


def _eig(np: Any, x: Any) -> Any:
    square("eig", x.shape)
    return tuple(np.linalg.eig(x if np.any(x.imag) else x.real))


def _eig_vjp(g: Any, y: Any, x: Any) -> Any:
    import numpy as np

    w, v = y
    gw, gv = g
    k = matmul(adjoint(v), gv)
    length = OPERATORS.real(diagonal(k))
    turning = k - columns_by(matmul(adjoint(v), v), length)
    close, apart = inverse_differences(np, w)
    meet(eig_row, _asks_for(np, k, close))
    meet(eig_row, _asks_for_phases(np, plain(k), k), 1)
    inner = strong_product(turning, conjugate(safe_inverse(differences(w), apart))) + diagonal_matrix(gw)
    return OPERATORS.solve(adjoint(v), matmul(inner, adjoint(v)))


eig_row = rule(
    "eig", "x", _eig_vjp, array=_eig, dtype=results("cc", in_complex=True),
    singular=[
        found_by_rule("eigenvectors " + COINCIDE, "the undefined terms are left out"),
        found_by_rule("complex eigenvectors are defined up to a phase, and this function depends on it"),
    ],
    depends="matrices", doc="Eigenvalues and eigenvectors of length 1 of any square matrix, always complex.",
    example=("eig([[2.0, 0.0], [0.0, 1.0]])", ([2 + 0j, 1 + 0j], [[1 + 0j, 0j], [0j, 1 + 0j]])),
)  # fmt: skip


# --- singular values ------------------------------------------------------------------------------------------------


def _svd_vjp(g: Any, y: Any, x: Any) -> Any:
    import numpy as np

    u, s, vh = y
    gu, gs, gvh = g
    rows, columns = shape_of(x)[-2:]
    values = np.asarray(plain(s))
    largest = np.max(values, axis=-1, initial=0.0)[..., None]
    rounding = 8.0 * max(rows, columns) * np.finfo(values.dtype).eps * largest
    positive = values > rounding
    inverse = safe_inverse(s, positive)
    of_u, of_v = matmul(adjoint(u), gu), matmul(vh, adjoint(gvh))
    turn_u, turn_v = of_u - adjoint(of_u), of_v - adjoint(of_v)
    close, apart = inverse_differences(np, s)
    # (turn_u s_j + s_i turn_v) / (s_j^2 - s_i^2), parted so that only one term is singular at s_i = s_j: functions such
    # as u vh do not have it.
    total = row_of(s) + column_of(s)
    apart_zero = np.asarray(plain(total)) > rounding[..., None]
    _report(np, svd_row, close, of_u + of_v, gs, positive[..., None, :])
    weights = np.abs(np.asarray(plain(gs)))
    cusp = ~positive & (weights > 1e-10 * np.max(weights, initial=0.0))
    meet(svd_row, not STATE.transposing and some(cusp), 4)
    across = strong_product(turn_u + turn_v, safe_inverse(differences(s), apart))
    along = strong_product(turn_u - turn_v, safe_inverse(total, apart_zero))
    inner = (across + along) * 0.5 + beside(diagonal_matrix(gs), u)
    if is_complex(u):
        # The imaginary diagonal of `along` turns u and v together; their phases apart must not matter.
        meet(svd_row, _asks_for_phases(np, plain(of_u) + plain(of_v), of_u), 2)
    total_x = matmul(u, matmul(inner, vh))
    if rows > columns:
        total_x = total_x + matmul(columns_by(gu - matmul(u, of_u), inverse), vh)
    if columns > rows:
        total_x = total_x + matmul(columns_by(u, inverse), gvh - matmul(adjoint(of_v), vh))
    return total_x


def _svd_array(np: Any, x: Any, complete: bool) -> tuple[Any, Any, Any]:
    u, s, vh = np.linalg.svd(x, full_matrices=complete)
    lost = np.isnan(s).any(axis=-1)
    if lost.any():
        # Of a matrix with an infinity LAPACK gives vectors to values that are nan.
        u, vh = np.where(lost[..., None, None], np.nan, u), np.where(lost[..., None, None], np.nan, vh)
    return u, s, vh


svd_row = rule(
    "svd_thin", "x", _svd_vjp,
    array=lambda np, x: _svd_array(np, x, complete=False),
    dtype=results("crc"),
    singular=[
        found_by_rule("singular vectors " + COINCIDE, "the undefined terms are left out"),
        found_by_rule("svd meets repeated singular values: second derivatives across them are left out"),
        found_by_rule("complex singular vectors are defined up to a phase, and this function depends on it"),
        found_by_rule("singular values that coincide are not differentiable one by one", "the derivatives along the vectors found"),
        found_by_rule("a singular value is not differentiable at 0", "the derivative along the vectors found"),
    ],
    internal=True, depends="matrices", doc="The singular value decomposition with as many vectors as values.",
    example=("svd_thin([[2.0]])", ([[1.0]], [2.0], [[1.0]])),
)  # fmt: skip
svd_complete = missing(
    "svd_complete", "x", "the singular vectors of the null space are arbitrary: use full_matrices=False",
    array=lambda np, x: _svd_array(np, x, complete=True), dtype=results("crc"),
    internal=True, doc="The singular value decomposition with square u and vh, of a matrix that is not square.",
    example=("svd_complete([[2.0], [0.0]])", ([[1.0, 0.0], [0.0, 1.0]], [2.0], [[1.0]])),
)  # fmt: skip
