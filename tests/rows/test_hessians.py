"""Hessians of rows by vectors and matrices, on whole columns: a pass for each number, whichever rows there are."""

from __future__ import annotations

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


def test_rows_whose_second_derivatives_are_undefined_together() -> None:
    columns = {name: np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]]) for name in "vw"}
    found = same_as_rows("dot(v, w)**0.5*x", columns | {"x": np.array([0.7, 1.0])}, order=2)
    assert found.hessian["v"]["w"][0][0][1] == 0.0
    assert list(found.one_by_one.values()) == [1]


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
