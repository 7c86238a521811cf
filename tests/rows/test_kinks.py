"""Tables where singular points are errors: each row fails at those that it would fail at alone, and the others do not."""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
import pytest
from one_by_one import same_as_rows

X = [0.0, 0.5, -1.0, 0.0, 2.0, 0.0]
Y = [1.0, 0.0, 0.0, 0.0, -2.0, 3.0]
PROGRAMS = {
    "a sum": "abs(x) * y + relu(y)",
    "the first on the way back": "a = abs(x)\nb = abs(y)\na + b * 2",
    "branches": "abs(x) if y > 0 else relu(x - 0.5) * y",
    "where it does not matter": "abs(x) * 0.0 + y**2",
    "a loop": "s = 0.0\nfor i in range(3):\n    s += abs(x - 0.5 * i)\ns * y",
    "before an assertion": "def f(u):\n    return abs(u)\ng = grad(f)(x)\nassert y != 0, 'none'\ng * y",
    "after an assertion": "assert x < 1, 'large'\nabs(x) * y",
    "a derivative inside": "grad(lambda u: abs(u) * y)(x) + jvp(lambda u: abs(u), (y,), (1.0,))[1]",
    "a Jacobian inside": "sum(jacobian(lambda u: stack([abs(u), relu(u) * y]))(x))",
    "elements": "v = stack([x, y, x * y])\nsum(abs(v))",
    "all rows": "abs(x - x) * y",
}


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("name", PROGRAMS)
def test_rows_fail_where_each_fails_alone(name: str, order: int) -> None:
    found = same_as_rows(PROGRAMS[name], {"x": X, "y": Y}, order, kinks="error")
    assert not found.one_by_one, found.one_by_one
    if order and name not in ("where it does not matter",):
        assert "E0501" in {error.code for error in found.errors.values()}


@pytest.mark.parametrize("name", ["the first on the way back", "branches"])
def test_in_compiled_loops(name: str) -> None:
    found = same_as_rows(PROGRAMS[name], {"x": X, "y": Y}, kinks="error", engine="kernel")
    assert (found.engine, found.one_by_one) == ("kernel", {})


POINTS: list[Any] = [(x, y) for x in (0.25, 0.6) for y in (0.0, -2.0)]


@pytest.mark.parametrize("command", ["grad", "hessian"])
def test_kernels_of_single_evaluations_leave_singular_points_to_the_tape(command: str) -> None:
    program = adiff.program("s = 0.0\nfor i in range(3):\n    s += abs(x - 0.25 * i) * y + relu(y)\ns")
    for x, y in POINTS:
        found = []
        for engine in ("tape", "kernel"):
            try:
                outcome = program.evaluate(command, {"x": x, "y": y}, engine=engine, kinks="error")
                assert outcome.engine == engine, outcome.reason
                found.append((outcome.value, outcome.gradients))
            except adiff.AdiffError as error:
                found.append((error.code, error.message, error.span and error.span.start))
        np.testing.assert_equal(found[1], found[0])
    assert found[0][0] != "E0501"


INSIDE = {
    "a product with a Hessian on one side": "z = x\nif x < 1.9:\n    z = hvp(lambda u: sqrt(u), x, y)\nz*y",
    "a gradient after a failure": "assert x < 1.9\ngrad(lambda u: sqrt(u))(x)*y",
    "a gradient on each side": "z = grad(lambda u: sqrt(u)*y)(x) if y > 1 else grad(lambda u: abs(u)*u)(x)\nz*y",
}


@pytest.mark.parametrize("kinks", ["adiff", "error"])
@pytest.mark.parametrize("name", INSIDE)
def test_derivatives_inside_are_singular_in_the_rows_that_are(name: str, kinks: str) -> None:
    columns = {"x": np.array([0.0, 0.5, 2.0, 1.0, 0.0, 1.5]), "y": np.array([1.0, 1.0, 1.0, 1.0, 2.0, 2.0])}
    found = same_as_rows(INSIDE[name], columns, kinks=kinks)
    assert len(found.errors) < 5


def test_halves_of_one_size_are_told_apart() -> None:
    """What derivatives inside are made of has as many rows on both sides: the rows go one by one."""
    text = "z = grad(lambda u: sqrt(u))(x) if y > 1 else grad(lambda u: u*sqrt(u))(x)\nz*y"
    columns = {"x": np.array([0.0, 0.5, 2.0, 1.0]), "y": np.array([1.0, 2.0, 1.0, 2.0])}
    same_as_rows(text, columns)
    same_as_rows(text, columns, kinks="error")


def test_norms_tell_which_rows_are_at_their_kinks() -> None:
    columns = {"v": np.array([[0.0, 0.0], [1.0, 2.0], [0.0, 0.0]]), "x": np.array([1.0, 2.0, 0.0])}
    for kinks in ("adiff", "error"):
        same_as_rows("norm(v)*x", columns, kinks=kinks)
