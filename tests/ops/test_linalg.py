"""Linear algebra: values against NumPy and SciPy, derivatives against differences and many digits, singular cases."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import scipy.linalg
from adiff.engine.core.dtypes import COMPLEX128, FLOAT32, FLOAT64
from adiff.parser.errors import AdiffError
from derivatives import call, directional, grad, hessian, jvp, notices, numeric, plain, tensor, value

RNG = np.random.default_rng(17)
A = RNG.normal(size=(4, 4)) + 2 * np.eye(4)
B = RNG.normal(size=(4, 3))
T = RNG.normal(size=(5, 3))
S = A @ A.T + np.eye(4)
BATCH = RNG.normal(size=(2, 3, 3)) + 2 * np.eye(3)
RIGHT = RNG.normal(size=(5, 2))
TURNED = BATCH.transpose(1, 2, 0).copy()
V = RNG.normal(size=4)


def check(f: Callable[..., Any], point: Any, step: float = 1e-3, tolerance: float = 1e-8) -> None:
    """First derivatives in both modes and second ones against differences of order six."""
    d = np.random.default_rng(1).normal(size=np.shape(point))
    g = grad(f, point)
    expected = numeric(f, point, d, step)
    found = float(np.sum(g * d))
    assert found == pytest.approx(expected, rel=tolerance, abs=tolerance)
    assert jvp(f, [point], [d]) == pytest.approx(found, rel=1e-10, abs=1e-11)
    second = numeric(lambda t: tensor(np.sum(grad(f, t.value) * d)), point, d, step)
    assert directional(f, point, [d, d]) == pytest.approx(second, rel=100 * tolerance, abs=100 * tolerance)


def entries(f: Callable[..., Any], point: Any) -> Callable[..., Any]:
    """A weighted sum of the elements of f's result, or results."""

    def total(x: Any) -> Any:
        found = f(x)
        rng = np.random.default_rng(2)
        parts = found if isinstance(found, (list, tuple)) else [found]
        result: Any = 0.0
        for part in parts:
            result = result + call("sum", part * tensor(rng.normal(size=np.shape(plain(part)))))
        return result

    return total


# --- products -------------------------------------------------------------------------------------------------------

EINSUMS = [
    ("ij,jk->ik", (A, B)), ("ij,jk", (A, B)), ("ii", (A,)), ("ii->i", (A,)), ("ij->", (A,)), ("ij->ji", (B,)),
    ("ij,ij->", (A, S)), ("i,j->ij", (V, V)), ("ij,kj->ik", (A, S)), ("bij,bjk->bik", (BATCH, BATCH)),
    ("...ij,...j->...i", (BATCH, V[:3])), ("...ij,jk", (BATCH, BATCH[0])), ("i...->...", (BATCH,)),
    ("ij,jk,kl->il", (A, S, B)), ("ij,jk,ik->", (A, S, A)), ("iij->j", (BATCH[:, :2],)), ("ij,kl->jl", (A, B)),
    ("ab,cd,ef->", (A, B, T)), ("i,i,i->i", (V, V, V)), ("ij,ik->j", (A, V[:, None])), ("ij,...->...", (A, BATCH)),
    ("a...b,b->...a", (BATCH, V[:3])),
]  # fmt: skip


@pytest.mark.parametrize(
    ("equation", "operands", "code", "words"),
    [
        ("ij,jk->ik", (A, A[:2]), "E0302", "label 'j' has size 2 in operand 1 and 4 before"),
        ("ijk->i", (A,), "E0302", "'ijk' is for 3 dimensions, and that operand has 2"),
        ("ij->k", (A,), "E0305", "label 'k' is in no operand"),
        ("ij->ii", (A,), "E0305", "names the label 'i' twice"),
        ("ij,jk", (A,), "E0305", "for 2 operands, and 1 were given"),
        ("i1", (A,), "E0305", "not a row of letters"),
        (3, (A,), "E0304", "the first argument is the equation"),
    ],
)
def test_einsum_errors(equation: Any, operands: tuple[Any, ...], code: str, words: str) -> None:
    with pytest.raises(AdiffError) as caught:
        call("einsum", equation, *operands)
    assert caught.value.code == code
    assert words in caught.value.message


PRODUCTS: list[tuple[str, tuple[Any, ...], dict[str, Any], Any]] = [
    *(("einsum", (equation, *operands), {}, np.einsum(equation, *operands)) for equation, operands in EINSUMS),
    ("einsum", ("ij,jk->ik", A, V[None, :]), {}, np.einsum("ij,k->ik", A, V)),  # a size of 1 is repeated
    ("matmul", (A, B), {}, A @ B),
    ("matmul", (BATCH, BATCH[0]), {}, BATCH @ BATCH[0]),
    ("matmul", (BATCH[:, None], BATCH), {}, BATCH[:, None] @ BATCH),
    ("matmul", (V, A), {}, V @ A),
    ("matmul", (A, V), {}, A @ V),
    ("matmul", (V[:3], BATCH), {}, V[:3] @ BATCH),
    ("matmul", (BATCH, V[:3]), {}, BATCH @ V[:3]),
    ("tf.matmul", (A, A), {"transpose_a": True}, A.T @ A),
    ("matvec", (BATCH, T[:2]), {}, np.einsum("bij,bj->bi", BATCH, T[:2])),
    ("dot", (V, V), {}, V @ V),
    ("dot", (BATCH, BATCH), {}, np.dot(BATCH, BATCH)),
    ("dot", (2.0, A), {}, 2 * A),
    ("inner", (A, S), {}, np.inner(A, S)),
    ("outer", (V, B), {}, np.outer(V, B)),
    ("vdot", (A, S), {}, np.vdot(A, S)),
    ("vecdot", (B, B), {"axis": 0}, np.sum(B * B, 0)),
    ("kron", (A, B), {}, np.kron(A, B)),
    ("kron", (V, B), {}, np.kron(V, B)),
    ("cross", (T, V[:3]), {}, np.cross(T, V[:3])),
    ("cross", (T.T.copy(), T.T.copy()[:, ::-1].copy()), {"axis": 0}, np.cross(T.T, T.T[:, ::-1], axis=0)),
    ("tensordot", (BATCH, TURNED), {"axes": 2}, np.tensordot(BATCH, TURNED, 2)),
    ("tensordot", (BATCH, B[:3]), {"axes": ((2,), (0,))}, np.tensordot(BATCH, B[:3], ((2,), (0,)))),
    ("tensordot", (A, V), {"axes": 0}, np.tensordot(A, V, 0)),
    ("multi_dot", ([V, A, B],), {}, V @ A @ B),
]


@pytest.mark.parametrize(
    ("name", "inputs", "static", "expected"), PRODUCTS, ids=[f"{row[0]}-{i}" for i, row in enumerate(PRODUCTS)]
)
def test_products(name: str, inputs: tuple[Any, ...], static: dict[str, Any], expected: Any) -> None:
    assert np.shape(value(name, *inputs, **static)) == np.shape(expected)
    np.testing.assert_allclose(value(name, *inputs, **static), expected, rtol=1e-12, atol=1e-12)
    listed = isinstance(inputs[0], list)
    operands = inputs[0] if listed else list(inputs)
    weights = RNG.normal(size=np.shape(expected))
    for k, operand in enumerate(operands):
        if isinstance(operand, str):
            continue

        def f(x: Any, k: int = k) -> Any:
            replaced = [*operands[:k], x, *operands[k + 1 :]]
            return call("sum", call(name, *([replaced] if listed else replaced), **static) * tensor(weights))

        d = RNG.normal(size=np.shape(operand))
        assert np.sum(grad(f, operand) * d) == pytest.approx(numeric(f, operand, d), rel=1e-9, abs=1e-9)


# --- what the samples of the rows leave out, against differences -------------------------------------------------------------------------

SMOOTH: list[tuple[str, Callable[..., Any], Any]] = [
    ("det 1", lambda x: call("det", x), A[:1, :1]),
    ("solve batch of matrices, one vector", lambda x: call("solve", x, V[:3]), BATCH),
    ("triangular upper adjoint", lambda x: call("triangular_solve", x, B, lower=False, adjoint=True), A),
    ("qr wide", lambda x: call("qr", x), T.T.copy()),
    ("lstsq wide", lambda x: call("lstsq", x, RIGHT[:3])[0], T.T.copy()),
    ("tf lstsq ridge", lambda x: call("tf.linalg.lstsq", x, RIGHT, 0.7), T),
    ("pinv wide", lambda x: call("pinv", x), T.T.copy()),
    ("matrix_power", lambda x: call("matrix_power", x, 5), 0.5 * A),
    ("matrix_power negative", lambda x: call("matrix_power", x, -2), A),
    *((f"norm {p}", lambda x, p=p: call("norm", x, p), A) for p in ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf)),
    ("condition 1", lambda x: call("np.linalg.cond", x, 1), A),
]


@pytest.mark.parametrize(("f", "point"), [row[1:] for row in SMOOTH], ids=[row[0] for row in SMOOTH])
def test_derivatives(f: Callable[..., Any], point: Any) -> None:
    check(entries(f, point), point)


VALUES: list[tuple[str, tuple[Any, ...], dict[str, Any], Any]] = [
    ("inv", (BATCH,), {}, np.linalg.inv(BATCH)),
    ("det", (BATCH,), {}, np.linalg.det(BATCH)),
    ("solve", (A, B), {}, np.linalg.solve(A, B)),
    ("solve", (BATCH, V[:3]), {}, np.stack([np.linalg.solve(m, V[:3]) for m in BATCH])),
    ("triangular_solve", (A, B), {}, scipy.linalg.solve_triangular(A, B, lower=True)),
    ("solve_triangular", (A, B), {"trans": 1}, scipy.linalg.solve_triangular(A, B, trans=1)),
    ("cholesky", (S,), {}, np.linalg.cholesky(S)),
    ("qr", (T,), {}, list(np.linalg.qr(T))),
    ("qr", (T,), {"mode": "complete"}, list(np.linalg.qr(T, "complete"))),
    ("qr", (T,), {"mode": "r"}, np.linalg.qr(T, "r")),
    ("svd", (T,), {}, list(np.linalg.svd(T))),
    ("eigh", (S,), {}, list(np.linalg.eigh(S))),
    ("pinv", (T,), {}, np.linalg.pinv(T)),
    ("expm", (A,), {}, scipy.linalg.expm(A)),
    ("matrix_rank", (np.ones((3, 3)),), {}, 1),
    *(("norm", (A, p), {}, np.linalg.norm(A, p)) for p in ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf)),
    ("norm", (BATCH,), {"ord": 2, "axis": (0, 2)}, np.linalg.norm(BATCH, 2, axis=(0, 2))),
    ("norm", (BATCH,), {"ord": 1, "axis": (2, 0), "keepdims": True}, np.linalg.norm(BATCH, 1, (2, 0), True)),
    ("tf.norm", (A, 1), {}, np.sum(np.abs(A))),
    ("np.linalg.cond", (A,), {"p": "fro"}, np.linalg.cond(A, "fro")),
]


@pytest.mark.parametrize(
    ("name", "inputs", "static", "expected"), VALUES, ids=[f"{row[0]}-{i}" for i, row in enumerate(VALUES)]
)
def test_values(name: str, inputs: tuple[Any, ...], static: dict[str, Any], expected: Any) -> None:
    found = value(name, *inputs, **static)
    for part, wanted in zip(found, expected) if isinstance(expected, list) else [(found, expected)]:
        np.testing.assert_allclose(part, wanted, rtol=1e-10, atol=1e-12)


# --- determinants at singular matrices ------------------------------------------------------------------------------


def minors(a: Any) -> Any:
    n = len(a)
    return np.array(
        [[(-1) ** (i + k) * _exact_det(np.delete(np.delete(a, i, 0), k, 1)) for k in range(n)] for i in range(n)]
    )


def second_minors(a: Any) -> Any:
    """The second derivatives of det from the minors without two rows and two columns."""
    n = len(a)
    h = np.zeros((n, n, n, n))
    for i, k, j, m in itertools.product(range(n), repeat=4):
        if i != j and k != m:
            sub = np.delete(np.delete(a, (i, j), 0), (k, m), 1)
            sign = (-1) ** (i + k + j + m) * (1 if (i < j) == (k < m) else -1)
            h[i, k, j, m] = sign * _exact_det(sub)
    return h.reshape(n * n, n * n)


def _exact_det(a: Any) -> float:
    return float(mp.det(mp.matrix(a.tolist()))) if a.size else 1.0


def of_rank(n: int, rank: int) -> Any:
    rng = np.random.default_rng(n * 10 + rank)
    return rng.normal(size=(n, rank)) @ rng.normal(size=(rank, n)) if rank else np.zeros((n, n))


@pytest.mark.parametrize(("n", "rank"), [(n, n - k) for n in (1, 2, 3, 4, 5) for k in range(min(n, 3) + 1)])
def test_det_at_any_rank(n: int, rank: int) -> None:
    a = of_rank(n, rank)
    scale = max(1.0, np.linalg.norm(a, 2) ** (n - 1))
    f = lambda x: call("det", x)  # noqa: E731
    np.testing.assert_allclose(grad(f, a), minors(a), atol=1e-13 * scale)
    np.testing.assert_allclose(hessian(f, a), second_minors(a), atol=1e-12 * scale)
    d = np.random.default_rng(3).normal(size=(n, n))
    assert jvp(f, [a], [d]) == pytest.approx(np.sum(minors(a) * d), abs=1e-12 * scale)


def test_det_of_small_integers_is_exact() -> None:
    assert value("det", [[1.0, 2.0], [3.0, 4.0]]) == -2.0
    np.testing.assert_array_equal(grad(lambda x: call("det", x), [[1.0, 2.0], [2.0, 4.0]]), [[4, -2], [-2, 1]])
    np.testing.assert_array_equal(grad(lambda x: call("det", x), np.ones((3, 3))), np.zeros((3, 3)))


def test_det_that_overflows_on_the_way() -> None:
    a = np.array([[1e200, 1e200], [1e-200, 2e-200]])
    assert value("det", a) == pytest.approx(1.0, rel=1e-14)
    np.testing.assert_allclose(grad(lambda x: call("det", x), a), [[2e-200, -1e-200], [-1e200, 1e200]], rtol=1e-14)


# --- nearly singular ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [3, 6])
def test_derivatives_with_hilbert_matrices(n: int) -> None:
    """inv and solve at condition numbers of 500 and 1.5e7: as many digits as the condition leaves."""
    h = np.array([[1.0 / (i + k + 1) for k in range(n)] for i in range(n)])
    with mp.workdps(60):
        exact = mp.inverse(mp.matrix(h.tolist()))
        ones = mp.ones(n, 1)
        column, row = exact.T * ones, exact * ones
        expected = np.array([[float(-column[i] * row[k]) for k in range(n)] for i in range(n)])
    g = grad(lambda x: call("sum", call("inv", x)), h)
    error = np.max(np.abs(g - expected)) / np.max(np.abs(expected))
    assert error < 10 * np.linalg.cond(h) * 2.2e-16


def test_singular_matrices_are_errors_in_words() -> None:
    singular = np.ones((2, 2))
    for name, inputs in (("inv", (singular,)), ("solve", (singular, np.ones(2)))):
        with pytest.raises(AdiffError) as caught:
            call(name, *inputs)
        assert caught.value.code == "E0404"
        assert "singular" in caught.value.message
    with pytest.raises(AdiffError) as caught:
        call("triangular_solve", np.diag([1.0, 0.0]), np.ones(2))
    assert "element [1,1] is 0" in caught.value.message
    with pytest.raises(AdiffError) as caught:
        call("cholesky", -np.eye(2))
    assert "not positive definite" in caught.value.message


# --- Hermitian gradients --------------------------------------------------------------------------------------------


def test_cholesky_against_many_digits() -> None:
    a = np.array([[2.0, 0.5], [0.5, 1.0]])
    # L11 = sqrt(a11), L21 = a21/L11, L22 = sqrt(a22 - L21**2), in the symmetric part of A.
    l11, l21 = math.sqrt(2), 0.5 / math.sqrt(2)
    l22 = math.sqrt(1 - l21**2)
    g = grad(lambda x: call("index", call("cholesky", x), index=(1, 1)), a)
    across = -l21 / l11 / 2 / l22
    np.testing.assert_allclose(g, [[l21**2 / 4 / l22, across], [across, 1 / 2 / l22]], rtol=1e-14)


# --- coinciding eigenvalues and singular values ---------------------------------------------------------------------


def test_functions_that_do_not_tell_equal_eigenvalues_apart() -> None:
    a = np.array([[2.0, 1.0, 1.0], [1.0, 2.0, 1.0], [1.0, 1.0, 2.0]])  # 1, 1, 4
    np.testing.assert_allclose(grad(lambda x: call("sum", call("eigvalsh", x) ** 2), a), 2 * a, atol=1e-13)
    assert notices() == []
    # The third eigenvector alone: its projector has a derivative, and asks nothing of the other two.
    third = lambda x: call("index", call("eigh", x)[1], index=(slice(None), 2))  # noqa: E731
    f = lambda x: call("sum", call("outer", third(x), third(x)) * tensor(WEIGHTS))  # noqa: E731
    d = np.random.default_rng(1).normal(size=(3, 3))
    assert np.sum(grad(f, a) * d) == pytest.approx(numeric(f, a, d), rel=1e-9)
    assert notices() == []
    g = grad(lambda x: call("sum", call("svd", x, compute_uv=False)), np.eye(3) * 2)
    np.testing.assert_allclose(g, np.eye(3), atol=1e-13)


WEIGHTS = np.array([[0.3, -0.5, 0.2], [1.0, 0.7, -0.1], [0.4, 0.6, 0.9]])


def test_the_orthogonal_factor_where_all_singular_values_coincide() -> None:
    def polar_factor(x: Any) -> Any:
        u, _, vh = call("svd", x)
        return call("matmul", u, vh)

    # At a rotation Q the factor's derivative is the antisymmetric part of Q^T D, turned back.
    angle = 0.3
    q = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    weights, d = WEIGHTS[:2, :2], np.array([[0.3, 0.1], [-0.7, 0.9]])
    moved = q @ (q.T @ d - d.T @ q) / 2
    g = grad(lambda x: call("sum", polar_factor(x) * tensor(weights)), q)
    assert np.sum(g * d) == pytest.approx(np.sum(weights * moved), rel=1e-13)


def test_a_function_of_equal_eigenvalues_and_their_vectors_is_reported() -> None:
    def rebuilt(x: Any) -> Any:
        w, v = call("eigh", x)
        return call("sum", call("matmul", v * w, call("transpose", v)) * tensor(WEIGHTS))

    grad(rebuilt, np.eye(3))
    # Values and vectors are both singular there, and one kind is told at each place.
    assert any("eigenvalues that coincide are not differentiable" in notice for notice in notices())


@pytest.mark.parametrize("name", ["eigh", "svd"])
def test_functions_that_do_are_reported(name: str) -> None:
    part = 1 if name == "eigh" else 0
    g = grad(lambda x: call("sum", call(name, x)[part] * tensor(WEIGHTS)), np.eye(3))
    assert np.isfinite(g).all()
    assert any("are not differentiable where values coincide" in notice for notice in notices())


@pytest.mark.parametrize("name", ["eigvalsh", "svdvals"])
def test_one_of_several_equal_values_is_reported(name: str) -> None:
    """The largest of two equal eigenvalues has a kink; their sum has none."""
    values = (lambda x: call("eigvalsh", x)) if name == "eigvalsh" else lambda x: call("svd", x, compute_uv=False)
    grad(lambda x: call("sum", values(x)), np.eye(2))
    assert notices() == []
    grad(lambda x: call("max", values(x) * tensor([1.0, 2.0])), np.eye(2))
    assert any("that coincide are not differentiable one by one" in notice for notice in notices())


def test_a_singular_value_that_is_zero_is_reported() -> None:
    """The nuclear norm of a matrix of rank one: u vh of the value that is not 0, and a part of norm 1 across it."""
    a = np.array([[1.0, 2.0], [2.0, 4.0]])
    g = grad(lambda x: call("sum", call("svd", x, compute_uv=False)), a)
    assert np.sum(g * a) == pytest.approx(5.0, rel=1e-14)
    assert np.linalg.norm(g, 2) == pytest.approx(1.0, rel=1e-14)
    assert any("a singular value is not differentiable at 0" in notice for notice in notices())
    g = grad(lambda x: call("sum", call("svd", x, compute_uv=False) ** 2), a)
    np.testing.assert_allclose(g, 2 * a, atol=1e-14)
    h = hessian(lambda x: call("sum", call("svd", x, compute_uv=False) ** 2), a)
    np.testing.assert_allclose(np.reshape(h, (4, 4)), 2 * np.eye(4), atol=1e-13)


def test_second_derivatives_across_equal_eigenvalues_are_reported() -> None:
    hessian(lambda x: call("sum", call("eigvalsh", x) ** 2), np.eye(2))
    assert any("second derivatives across them are left out" in notice for notice in notices())


def test_parts_without_a_derivative_say_why() -> None:
    with pytest.raises(AdiffError, match="use full_matrices=False") as caught:
        grad(lambda x: call("sum", call("svd", x)[0]), T)
    assert caught.value.code == "E0502"
    with pytest.raises(AdiffError, match="use mode='reduced'"):
        grad(lambda x: call("sum", call("qr", x, "complete")[0]), T)
    np.testing.assert_allclose(  # the values do not depend on it
        grad(lambda x: call("sum", call("svd", x)[1]), T), grad(lambda x: call("norm", x, "nuc"), T)
    )


# --- complex matrices -----------------------------------------------------------------------------------------------

Z = A + 1j * RNG.normal(size=(4, 4))
H = Z @ Z.conj().T + np.eye(4)
COMPLEX: dict[str, Callable[[Any], Any]] = {
    "matmul": lambda z: call("matmul", z, Z),
    "einsum": lambda z: call("einsum", "ij,kj->ik", z, Z),
    "inv": lambda z: call("inv", z),
    "det": lambda z: call("det", z),
    "solve": lambda z: call("solve", z, V + 0j),
    "slogdet sign": lambda z: call("slogdet", z)[0],
    "slogdet": lambda z: call("slogdet", z)[1],
    "cholesky": lambda z: call("cholesky", z),
    "qr": lambda z: call("qr", z)[1],
    "singular values": lambda z: call("svd", z)[1],
    "eigenvalues": lambda z: call("eigvals", z),
    "projector": lambda z: projector(z),
    "polar": lambda z: polar(z),
    "expm": lambda z: call("expm", z),
    "norm": lambda z: call("norm", z),
    "nuclear norm": lambda z: call("norm", z, "nuc"),
    "pinv": lambda z: call("pinv", call("index", z, index=(slice(None), slice(0, 3)))),
    "prod": lambda z: call("prod", z, axis=0),
    "cumprod": lambda z: call("cumprod", z, axis=1),
    "var": lambda z: call("var", z, axis=0),
    "convolve": lambda z: call("convolve", call("index", z, index=0), call("index", z, index=1)),
}


def projector(z: Any) -> Any:
    """The sum of the projectors onto the eigenvectors of z z^H with weights: free of their phases."""
    w, v = call("eigh", call("matmul", z, call("adjoint", z)))
    scaled = v * call("complex", call("log", w), 0.0)
    return call("matmul", scaled, call("adjoint", v))


def polar(z: Any) -> Any:
    """The unitary factor of z: u vh is free of the phases of either."""
    u, _, vh = call("svd", z)
    return call("matmul", u, vh)


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_derivatives(name: str) -> None:
    point = H if name == "cholesky" else Z
    shape = np.shape(plain(COMPLEX[name](tensor(point))))
    rng = np.random.default_rng(9)
    weights = rng.normal(size=shape) + 1j * rng.normal(size=shape)

    def f(z: Any) -> Any:
        found = COMPLEX[name](z)
        complex_found = found.__class__ is complex or found.dtype.kind == "c"
        total = call("sum", found * tensor(weights if complex_found else weights.real))
        return call("real", total) if complex_found else total

    d = rng.normal(size=(4, 4)) + 1j * rng.normal(size=(4, 4))
    g = grad(f, point)
    reverse = float(np.real(np.sum(np.conj(g) * d)))
    assert reverse == pytest.approx(numeric(f, point, d), rel=1e-8)
    assert jvp(f, [point], [d]) == pytest.approx(reverse, rel=1e-10)
    assert notices() == []


# --- dtypes and words -----------------------------------------------------------------------------------------------


def test_strong_dtypes_do_not_mix() -> None:
    with pytest.raises(AdiffError, match="matmul cannot combine float32 and float64"):
        call("matmul", tensor(A, FLOAT32), tensor(A, FLOAT64))
    assert call("slogdet", tensor(Z))[1].dtype is FLOAT64
    assert call("eig", tensor(A))[0].dtype.strong is COMPLEX128


@pytest.mark.parametrize(
    ("name", "inputs", "code", "words"),
    [
        ("matmul", (A, T), "E0302", "matmul: shapes [4, 4] and [5, 3] do not fit: 4 is not 5"),
        ("matmul", (2.0, A), "E0302", "matmul takes tensors, not scalars"),
        ("inv", (T,), "E0302", "inv needs a square matrix, and this one is 5 by 3"),
        ("det", (V,), "E0302", "det needs a matrix, and this is a tensor of 1 dimension"),
        ("solve", (A, T), "E0302", "a 4 by 4 matrix does not fit a right side of shape [5, 3]"),
        ("lstsq", (T, V), "E0302", "a 5 by 3 matrix does not fit"),
        ("norm", (A, "max"), "E0305", "unknown order 'max' for a matrix"),
        ("norm", (V, "fro"), "E0305", "unknown order 'fro' for a vector"),
        ("norm", (V, True), "E0305", "unknown order True for a vector"),
        ("cross", (A, A), "E0302", "vectors have 3 elements, or 2, and these have 4 and 4"),
        ("tensordot", (A, T, 1), "E0302", "axes [1] of shape [4, 4] do not fit axes [0] of shape [5, 3]"),
        ("matrix_power", (A, 0.5), "E0304", "the exponent must be an integer"),
        ("qr", (A, "full"), "E0305", "unknown mode 'full'"),
        ("logm", (-np.eye(2),), "E0401", "not real"),
    ],
)
def test_errors_in_words(name: str, inputs: tuple[Any, ...], code: str, words: str) -> None:
    with pytest.raises(AdiffError) as caught:
        call(name, *inputs)
    assert caught.value.code == code
    assert words in caught.value.message


def test_phases_are_reported() -> None:
    grad(lambda z: call("real", call("sum", call("eigh", z)[1] * tensor(Z))), H)
    assert any("defined up to a phase" in notice for notice in notices())


@pytest.mark.parametrize("name", ["inv", "det", "cholesky", "expm", "pinv", "norm", "logm", "sqrtm"])
def test_single_precision_stays(name: str) -> None:
    assert call(name, tensor(S, FLOAT32)).dtype is FLOAT32
    assert grad(lambda x: call("sum", call(name, x)), S, dtype=FLOAT32).dtype == np.float32
