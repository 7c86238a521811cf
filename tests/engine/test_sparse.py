"""Sparse Hessians: the pattern covers every entry that is not zero, and the entries are the dense Hessian's."""

from typing import Any

import numpy as np
import pytest
from adiff import AdiffError, program
from adiff.engine import derivatives

VECTOR = np.linspace(-1.0, 1.3, 24)
CHAIN = "sum(100*(x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2)"
# Program, point, entries on and above the diagonal, products: what theory says, where it says it.
CASES: dict[str, tuple[str, dict[str, Any], int | None, int | None]] = {
    "chain": (CHAIN, {"x": VECTOR}, 47, 3),
    "chain in a loop": ("s = 0.0\nfor i in range(len(x) - 1):\n    s += 100*(x[i+1] - x[i]**2)**2 + (1 - x[i])**2\ns", {"x": VECTOR}, 47, 3),
    "arrow": ("x[0]*sum(x[1:]**2) + sum(sin(x))", {"x": VECTOR}, 47, 2),
    "separable": ("sum(exp(x)) + prod(x[:1])", {"x": VECTOR}, 24, 1),
    "linear": ("sum(3*x) + x[2]", {"x": VECTOR}, 0, 0),
    "dense": ("log(sum(exp(x)))", {"x": VECTOR}, 300, 24),
    "several inputs": ("a*b + sin(c)*a + d**2", {"a": 1.0, "b": 2.0, "c": 0.3, "d": 4.0}, 4, 2),
    "scalars and a vector": ("a*x[3]**2 + b*sum(x) + a**3*b", {"a": 1.5, "b": 2.0, "x": VECTOR}, None, None),
    "kinks are flat": ("sum(maximum(x, 0)) + sum(x[::2]*x[1::2]**3)", {"x": VECTOR}, 24, 2),
    "a product of matrices": ("r = A @ x[:4]\nsum(r**2)", {"A": np.arange(12.0).reshape(3, 4), "x": VECTOR}, None, None),
    "both sides of where": ("sum(where(x > 0, x**3, sin(x)*x[::-1]))", {"x": VECTOR}, None, None),
    "rows with rules": ("norm(x[:5]) + det(reshape(x[5:14], (3, 3)) + eye(3)*3) + prod(x[20:23])", {"x": VECTOR}, None, None),
    "joined elements": ("z = stack([x[i]*x[i+1] for i in range(20)])\nsum(z**2) + sum(cumsum(x))", {"x": VECTOR}, None, None),
    "joined elements of more and fewer inputs": ("z = stack([x[0]*x[1], x[2], x[3]*x[4]*x[5]])\nsum(z**2)", {"x": VECTOR}, 10, 3),
    "sums over an axis": ("sum(sum(reshape(x, (4, 6)), axis=1)**2)", {"x": VECTOR}, 84, 6),
    "softmax": ("M = reshape(x, (4, 6))\nsum(softmax(M, axis=1)*M)", {"x": VECTOR}, None, None),
    "element writes": ("w = x\nfor i in range(5):\n    w[i] = w[i+1]*2.0 + w[i]**2\nsum(w*w)", {"x": VECTOR}, None, None),
    "a recurrence": ("s = x[0]\nfor v in x[1:6]:\n    s = sin(s)*v\ns", {"x": VECTOR}, 20, None),
    "parts without elements": ("z = x*y\nfor k in range(3):\n    z[3:k] *= y\n    z[k + 1:] = z[:4 - k]*x[:4 - k]\nsum(z*z)", {"x": VECTOR[:5], "y": 1.5}, None, None),
    "a stencil again and again": (
        "u = x\nfor t in range(9):\n    w = u + 0\n    w[1:-1] = u[1:-1] - u[1:-1]*(u[2:] - u[:-2])*0.1\n    u = w\nsum(u**2)",
        {"x": VECTOR[:9]}, 45, 9,
    ),
    "many ways to few inputs": (
        "u = x[:12]\nfor t in range(2):\n    u = u + 0.1*(concat([u[1:], u[:1]], 0) + concat([u[-1:], u[:-1]], 0))\nsum(u**2)",
        {"x": VECTOR}, 60, None,
    ),
    # The slope of a modulus is constant on real numbers alone.
    "moduli": ("z = complex(x[::2], x[1::2])\nsum(abs(z)) + sum(angle(z))", {"x": VECTOR}, 36, 2),
    "a gradient inside": ("g = grad(lambda v: sum(v**4))(x)\ng[1]*g[2]", {"x": VECTOR[:8]}, 9, None),
    "a convolution": ("sum(convolve(x, [1.0, 2.0, -1.0])**2)", {"x": VECTOR}, None, None),
    "matrices of a batch": ("sum(slogdet(reshape(x, (6, 2, 2)) + 5*eye(2))[1])", {"x": VECTOR}, 60, 4),
    "a sum inside a square": ("s = 0.0\nfor v in x[:9]:\n    s += v*2\ns**2", {"x": VECTOR}, 45, None),
}  # fmt: skip


def whole(blocks: dict[str, dict[str, Any]], at: dict[str, Any]) -> np.ndarray[Any, Any]:
    sizes = {name: int(np.size(value)) for name, value in at.items()}

    def array(block: Any, row: str, column: str) -> Any:
        block = block.to_dense() if hasattr(block, "to_dense") else block
        return np.asarray(block, dtype=float).reshape(sizes[row], sizes[column])

    return np.block([[array(block, row, column) for column, block in line.items()] for row, line in blocks.items()])


@pytest.fixture
def row_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dense Hessians without a look at their pattern."""
    monkeypatch.setattr(derivatives, "SOME", 10**9)


@pytest.mark.parametrize("name", CASES)
def test_the_dense_hessian_is_reproduced(name: str, row_by_row: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every entry as row by row, in a sparse matrix and in a dense one by a sweep for each colour."""
    text, at, entries, products = CASES[name]
    made = program(text)
    dense = made.evaluate("hessian", at, engine="tape")
    sparse = made.evaluate("hessian", at, sparse=True)
    monkeypatch.setattr(derivatives, "SOME", 1)
    coloured = made.evaluate("hessian", at, engine="tape")
    for found in (sparse, coloured):
        assert whole(found.hessian, at) == pytest.approx(whole(dense.hessian, at), rel=1e-12, abs=1e-13)
        assert found.value == dense.value
        for source, g in dense.gradients.items():
            assert np.array_equal(found.gradients[source], g), source
    for source, line in dense.hessian.items():
        for column, block in line.items():
            assert coloured.hessian[source][column].__class__ is block.__class__
            assert np.shape(coloured.hessian[source][column]) == np.shape(block)
    words = sparse.mode.split()
    if entries is not None:
        assert int(words[4]) == entries, sparse.mode
    if products is not None:
        assert int(words[1]) == products, sparse.mode


def test_a_dense_hessian_that_is_too_large_is_refused_with_what_is_there_instead() -> None:
    for engine in ("tape", "kernel"):
        with pytest.raises(AdiffError, match=r"the Hessian by 50,000 numbers would need 18\.6 GiB") as caught:
            program(CHAIN).evaluate("hessian", {"x": np.ones(50_000)}, engine=engine, max_memory=2**33)
        assert caught.value.code == "E0602"
        assert "sparse" in (caught.value.hint or "")
        assert "hvp" in (caught.value.hint or "")


def test_an_input_that_does_not_reach_the_result_has_no_blocks() -> None:
    at = {"x": VECTOR, "y": VECTOR[:3]}
    found = program("sum(x**3) + len(y)").evaluate("hessian", at, engine="tape")
    assert found.hessian["y"] == {"x": None, "y": None}
    assert found.hessian["x"]["y"] is None
    np.testing.assert_allclose(found.hessian["x"]["x"], np.diag(6 * VECTOR), rtol=1e-15)


def test_an_entry_that_is_not_finite_stays_alone(row_by_row: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns of one colour are summed, and nan in one must not reach the others' entries."""
    at = {"x": np.array([1e200, *VECTOR[1:]])}
    made = program("sum(x[1:]**2 * x[:-1]**2)")
    expected = made.evaluate("hessian", at, engine="tape")
    monkeypatch.setattr(derivatives, "SOME", 1)
    found = made.evaluate("hessian", at, engine="tape")
    assert not np.isfinite(expected.value)
    np.testing.assert_array_equal(found.hessian["x"]["x"], expected.hessian["x"]["x"])
    assert [n.code for n in found.notices] == [n.code for n in expected.notices]


def test_the_pattern_of_a_long_chain_is_tridiagonal() -> None:
    n = 20_000
    found = program(CHAIN).evaluate("hessian", {"x": np.linspace(-1.2, 1.0, n)}, sparse=True)
    block = found.hessian["x"]["x"]
    assert block.shape == (n, n)
    assert block.values.size == 3 * n - 2
    assert np.abs(block.indices[:, 0] - block.indices[:, 1]).max() == 1
    x = np.linspace(-1.2, 1.0, n)
    inner = block.values[(block.indices[:, 0] == 5) & (block.indices[:, 1] == 5)][0]
    assert inner == pytest.approx(1200 * x[5] ** 2 - 400 * x[6] + 2 + 200, rel=1e-13)


def test_what_is_not_sparse_is_refused() -> None:
    with pytest.raises(AdiffError, match="may differ from zero") as caught:
        program("log(sum(exp(x)))").evaluate("hessian", {"x": np.ones(20_000)}, sparse=True, max_memory=2**30)
    assert caught.value.code == "E0510"
    with pytest.raises(AdiffError, match="scalar result"):
        program("x**2").evaluate("hessian", {"x": VECTOR}, sparse=True)
    with pytest.raises(AdiffError, match="complex"):
        program("abs(z)**2").evaluate("hessian", {"z": 1 + 2j}, sparse=True)
