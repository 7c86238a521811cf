"""Hessians of rows by vectors and matrices, on whole columns: a pass for each number, whichever rows there are."""

from __future__ import annotations

import math
from typing import Any

import adiff
import numpy as np
import pytest
from one_by_one import same_as_rows

DRAW = np.random.default_rng(5)
COLUMNS: dict[str, Any] = {
    "v": DRAW.uniform(-1.0, 1.0, (7, 3)),
    "A": DRAW.uniform(-1.0, 1.0, (7, 2, 2)),
    "x": DRAW.uniform(-1.0, 1.0, 7),
}
PROGRAMS = {
    "a vector": "sum(v**3) * v[0] + v[1] * v[2]",
    "a vector and a number": "sum(v**2) * x**2 + sin(v[0] * x)",
    "a number and a vector": "x * v[1] + exp(v[2]) * v[0]",
    "a matrix": "A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0]**2",
    "a matrix and a vector": "A[0, 1] * v[2]**2 + A[1, 0] * A[0, 0] * sum(v)",
    "branches": "v[0]**2 * x if x > 0 else exp(v[1]) * v[2]",
    "a loop": "s = x\nfor i in range(3):\n    if v[i] > 0:\n        s = s * v[i]\n    else:\n        s = s + v[i]**2\ns",
    "elements that are left out": "v[1]**2",
    "a source that is left out": "x**3 + 0 * v.shape[0]",
    "a norm": "norm(v) * x",
    "zeros below roots": "x**2 * v[0] + (sqrt(v[1] - v[1]) * 0.0 if x > 0.5 else v[2])",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_by_vectors(name: str) -> None:
    text = PROGRAMS[name]
    columns = {c: COLUMNS[c] for c in adiff.program(text).inputs}
    found = same_as_rows(text, columns, 2)
    assert not found.one_by_one, found.one_by_one


def test_of_quadratic_forms() -> None:
    draw = np.random.default_rng(1)
    matrices, v = draw.normal(size=(40, 3, 3)), draw.normal(size=(40, 3))
    text = "s = 0.0\nfor i in range(3):\n    for j in range(3):\n        s += M[i, j] * v[i] * v[j]\ns"
    found = adiff.program(text).rows({"M": matrices, "v": v}, ["v", "M"], order=2, engine="tape")
    assert found.hessian is not None
    np.testing.assert_allclose(found.hessian["v"]["v"], matrices + matrices.transpose(0, 2, 1), rtol=1e-14)
    eye = np.eye(3)
    # d2/dM[i, j] dv[k] = (i == k) v[j] + (j == k) v[i]
    mixed = np.einsum("ik,nj->nijk", eye, v) + np.einsum("jk,ni->nijk", eye, v)
    np.testing.assert_allclose(found.hessian["M"]["v"], mixed, rtol=1e-14)
    np.testing.assert_allclose(found.hessian["v"]["M"], mixed.transpose(0, 3, 1, 2), rtol=1e-14)
    assert not found.hessian["M"]["M"].any()


def test_by_a_vector_that_is_the_same_in_all_rows() -> None:
    found = same_as_rows(
        "sum(w**2) * x", {"x": COLUMNS["x"]}, 2, wrt=["x", "w"], at={"w": np.array([1.0, -2.0])}
    )  # fmt: skip
    assert not found.one_by_one


def test_tables_longer_than_a_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    from adiff.engine.rows import by_columns

    monkeypatch.setattr(by_columns, "CHUNK", 6)
    monkeypatch.setattr(by_columns, "FEW", 1)
    same_as_rows(PROGRAMS["a vector and a number"], {name: COLUMNS[name] for name in "vx"}, 2)


X = [0.0, 1.0, -1.0, 2.0, 0.5, -2.0, math.inf, math.nan, 0.0, 0.0, 1.0]
Y = [0.0, 1.0, 1.0, -2.0, 0.0, -2.0, 1.0, 1.0, -1.0, math.nan, -math.inf]
V = [[0.0, 0.0, 0.0], [1.0, 2.0, 1.0], [0.0, 2.0, 0.0], [math.nan, 1.0, 0.0], [math.inf, 1.0, 2.0], [-1.0, 0.0, 3.0]]
SINGULAR = {
    "a product of zeros": "dot(v, v + 0.0)**0.5*x",
    "an order of the sources that is not the program's": "arctan2(minimum(y*x, 1.0), x*x)",
    "an undefined slope on one side": "s = x\nif y > 0:\n    s = x - y\nelse:\n    s = 3*y\nlog(sqrt(s))",
    "what one side does not read": "z = y\nif z == 1:\n    z = clip(x, -1.0, 1.0)*x\nsinc(z if z <= x else arcsin(x)*y)",
    "kinks of kinks": "abs(abs(x) - abs(y)) + relu(x*y)**2 + maximum(x, y)*minimum(x, y)",
    "powers": "(x**2)**y + abs(x)**1.5 + (x*y)**0 + x**3",
    "roots": "sqrt(x)*sqrt(y) + sqrt(abs(x*y)) + (x/y if y != 0 else cbrt(x))",
    "a zero exponent": "clip(y, -1.0, 1.0)**(y if x > 0 else 0.0) * log(x)",
    "constants on one side": "hypot(xlogy(y if x > 1 else 2.0, x**1.5), (y*x)**0)",
    "several singular points in one place": "s = y\nfor i in range(3):\n    s = arccosh(log2(s))\ns + x",
    "a product that one side does not read": "z = prod(v)\nz*x if x > 0 else x**2",
    "a sum of exponentials that one side does not read": "z = logsumexp(v*x)\nz if x > 0 else x**2",
    "a norm and a deviation that one side does not read": "z = norm(v)*max(v) + std(v)\nz*x if x > 0 else x*y",
    "a running product that one side does not read": "z = sum(cumprod(v))\nz*x if x > 0 else x**2",
    "what softmax makes of nan": "z = sum(softmax(v)*[1.0, 2.0, 3.0])\nz*x if x > 0 else x**2",
    "a contraction that one side does not read": "z = einsum('i,i->', v, v)\nz*x if x > 0 else x**2",
    "a slope inside": "g = grad(lambda u: xlogy(u, u)**y)(x)\nmax(y, g)*hypot(y, g)",
}


@pytest.mark.parametrize("text", SINGULAR.values(), ids=SINGULAR.keys())
def test_at_singular_points_rows_have_what_each_has_alone(text: str) -> None:
    columns = {"x": np.array(X), "y": np.array(Y), "v": np.resize(V, (len(X), 3))}
    known = [name for name in "xyv" if name in adiff.program(text).inputs]
    found = same_as_rows(text, {name: columns[name] for name in known}, 2, wrt=known)
    assert all(reason.startswith("nan beside") for reason in found.one_by_one), found.one_by_one
    same_as_rows(text, {name: columns[name] for name in known}, 2, wrt=known[::-1])


def test_an_undefined_slope_is_none_of_the_elements_beside() -> None:
    """A zero cotangent meets nan in the derivative of the chain rule's product by its second factor."""
    found = adiff.program("sum(log(sqrt(v)))").evaluate("hessian", {"v": [-6.0, 2.0]}, engine="tape").hessian["v"]["v"]
    assert np.isnan(found[0][0])
    assert (found[0][1], found[1][0]) == (0.0, 0.0)
    assert found[1][1] == pytest.approx(-0.125)


UNDEFINED = {
    "outside a domain": "sum(hessian(lambda u: sum(sqrt(u)))(v)[1])",
    "an infinity that meets a zero": "sum(jvp(lambda u: sqrt(u), (v,), (v*y,))[1])",
}


@pytest.mark.parametrize("text", UNDEFINED.values(), ids=UNDEFINED.keys())
def test_undefined_values_have_the_derivatives_that_a_row_has_alone(text: str) -> None:
    columns = {"v": np.array([[0.3, -0.2, 0.5], [0.0, 1.0, 2.0], [1.0, 2.0, 3.0]]), "y": np.array([1.0, 1.0, 2.0])}
    same_as_rows(text, {name: columns[name] for name in adiff.program(text).inputs}, order=2)


def test_missing_numbers_keep_no_row_from_the_others() -> None:
    missing = np.array([[np.nan, 1.0], [1.0, 2.0], [3.0, 1.0]])
    assert not same_as_rows("sum(v**3)*v[0]", {"v": missing}, order=2).one_by_one
