"""Options that are inputs, and operands of which some are known: kernels for the values that they have."""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine.kernels import learning
from agreement import agree

AT: dict[str, Any] = {
    "f": np.array([0.5, 1.5, -2.0]),
    "k": np.array([1, 0, 1]),
    "p": np.array([0.0, 1.0, 3.0]),
    "x": 1.5,
    "s": 0.6,
    "n": 3,
}
PROGRAMS = [
    "sum(leaky_relu(f, alpha=s))", "leaky_relu(-x, alpha=s)", "sum(elu(f, alpha=s / 2))", "quantile(f, s / 2) * x",
    "percentile(f, 50 * s)", "norm(f, ord=5 * s)", "sum(nan_to_num(f, nan=s))", "where(isclose(x, 1.6, atol=s), x, x * x)",
    "sum(unsorted_segment_sum(f, k, n) ** 2)", "sum(unsorted_segment_mean(f, k, max(k) + 1) ** 2)",
    "sum(unsorted_segment_max(f, k, n - 1) ** 2)", "sum(where(cast(f - 0.5, bool), f, 2.0))", "x if cast(x, bool) else 2.0",
    "interp(x, [0.0, 1.0, 2.0], f)", "interp(x, p, [1.0, 2.0, 4.0])", "sum(interp(f, [0.0, 1.0, 2.0], f))",
    "interp(x, [0, 1, 2], [x, x * x, 1.0])", "sum(interp(linspace(0.0, 2.0, 5), p, f))",
]  # fmt: skip


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", PROGRAMS)
def test_options(text: str) -> None:
    at = {name: AT[name] for name in adiff.program(text).inputs}
    wrt = [name for name in at if name in "fxp"]
    assert agree(text, at, None, "value") == ""
    assert agree(text, at, wrt) == ""
    assert agree(text, at, wrt, "hessian", 1e-12) == ""


@pytest.mark.usefixtures("interpret")
def test_an_option_that_is_differentiated_is_the_tapes() -> None:
    assert "is differentiated and must be known" in agree("leaky_relu(-x, alpha=s)", {"x": 1.5, "s": 0.6})


@pytest.mark.usefixtures("interpret")
def test_options_that_are_others_every_time() -> None:
    """Not without end is a kernel made for each."""
    program = adiff.program("sum(leaky_relu(f, alpha=s))")
    for k in range(learning.MOST_PARTS + 2):
        outcome = program.evaluate("value", {"f": AT["f"], "s": 0.1 * k}, engine="kernel")
        assert outcome.value == pytest.approx(2.0 - 0.2 * k)
    assert outcome.engine == "tape"
