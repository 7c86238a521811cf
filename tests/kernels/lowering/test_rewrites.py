"""Formulas that the rewrites replace have kernels, which agree with the tape at singular points too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from adiff import program

from ..agreement import agree

FORMULAS = (
    "log(sigmoid(x))|log(cosh(x))|1/(1 + exp(-x))|log(sum(exp(x)))|exp(x)/sum(exp(x))|sqrt(sum(x**2))|sqrt(sum(x*x))|"
    "log(1 + exp(x))|log(1 + x)|exp(x) - 1|1 - cos(x)|sqrt(x**2 + 1)|sqrt(x**2 + x*x + 1)|sqrt(x)**2|norm(x)**2|"
    "sqrt(x + 3) - sqrt(x + 2)|lgamma(x + 1) - lgamma(x)|sin(x)/x|sinh(x)/x|expm1(x)/x|(exp(x) - 1)/x|log1p(x)/x|"
    "log(1 + x)/x|(1 - cos(x))/x**2"
).split("|")
POINTS: dict[str, Any] = {
    "number": 0.7,
    "zero": 0.0,
    "vector": [0.6, 1.7, 0.2],
    "zeros": [0.0, 0.0],
    "matrix": [[0.5, 1.5], [2.5, 0.1]],
    "float32": np.array([0.3, 1.7], dtype=np.float32),
    "complex": [0.3 + 0.2j, 1.0 - 0.5j],
}


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("formula", FORMULAS)
def test_both_tiers(formula: str, point: str) -> None:
    result = "sum(abs(z)**2)" if point == "complex" else "sum(z**2)"
    command = "grad" if point in ("complex", "float32") else "hessian"
    tolerance = 3e-6 if point == "float32" else 3e-13
    reason = agree(
        f"z = {formula} + x\n{result}", {"x": np.asarray(POINTS[point])}, command=command, tolerance=tolerance
    )
    # At 0 some have no derivative, and the tape says where its nan begins.
    assert reason in ("", "an error") or ("nan or infinite" in reason and "zero" in point), reason


def test_a_norm_in_a_loop() -> None:
    """A path of a planet: no root of a sum of squares leaves the kernel."""
    orbit = """
x, v = array([1.0, 0.0]), array([0.0, v0])
for i in range(200):
    v = v - 0.01*x/sqrt(sum(x**2))**3
    x = x + 0.01*v
x[0]"""
    assert agree(orbit, {"v0": 0.9}, tolerance=1e-11) == ""


def test_the_scale_of_a_norm_is_not_differentiated() -> None:
    """The largest element only decides the unit of the squares: one loop looks for it, and none goes back through it."""
    emitted = program("sqrt(sum(x**2))").evaluate("tape", {"x": np.ones(5)}, emit=True).emitted
    assert emitted[emitted.index("def kernel") :].count("_maximum(") == 1, emitted
