"""Which inputs every run leads to the result from, so that a gradient of zeros needs no second look."""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
import pytest
from agreement import agree

pytestmark = pytest.mark.usefixtures("interpret")
V = np.linspace(0.5, 1.5, 20)
M = np.linspace(0.5, 1.5, 12).reshape(3, 4)
SURE, IF_RUNNING, DOUBTFUL = "sure", "sure if the loop runs", "doubtful"

CASES: dict[str, tuple[str, dict[str, Any], str]] = {
    "a tensor that each iteration replaces": ("y = zeros_like(v)\nfor i in range(n):\n    y = y + v\ny[-1]", {"v": V, "n": 2}, IF_RUNNING),
    "one that a loop which runs replaces": ("y = zeros_like(v)\nfor i in range(3):\n    y = 0.5 * y + v\ny[-1]", {"v": V}, SURE),
    "one of two axes": ("y = zeros_like(v)\nfor i in range(3):\n    y = 0.5 * y + v\ny[1, 2]", {"v": M}, SURE),
    "element by element": (
        "y = zeros_like(v)\nfor i in range(3):\n    for j in range(20):\n        y[j] = v[j] * (i + 1)\ny[4]", {"v": V}, SURE,
    ),
    "a list that is filled": (
        "y = [0.0 for i in range(20)]\nfor k in range(2):\n    for j in range(20):\n        y[j] = v[j] * (k + 1)\ny[4]", {"v": V}, SURE,
    ),
    "a tensor of which one element is changed": (
        "y = zeros_like(v)\nfor i in range(3):\n    y[2] = v[2]\ny[4]", {"v": V}, SURE,
    ),
    "a list but for one item": (
        "y = [0.0 for i in range(20)]\nfor k in range(2):\n    for j in range(19):\n        y[j] = v[j] * (k + 1)\ny[4]",
        {"v": V}, DOUBTFUL,
    ),
    "every second item of a list": (
        "y = [0.0 for i in range(20)]\nfor k in range(2):\n    for j in range(10):\n        y[2 * j] = v[j] * (k + 1)\ny[4]",
        {"v": V}, DOUBTFUL,
    ),
    "in some iterations": (
        "y = zeros_like(v)\ns = 0.0\nfor i in range(3):\n    if s > -1.0:\n        y = y + v\n    s = s + y[0]\ns + y[1]", {"v": V}, DOUBTFUL,
    ),
    "and then taken back": (
        "y = zeros_like(v)\nfor i in range(n):\n    y = y + v\n    y = zeros_like(v)\n    y[0] = y[0] + w\ny[0]",
        {"v": V, "w": 2.0, "n": 2}, DOUBTFUL,
    ),
    "before it is replaced": (
        "y = zeros_like(v)\ns = 0.0\nfor i in range(n):\n    s = s + y[0]\n    y = y + v\ns", {"v": V, "n": 2}, DOUBTFUL,
    ),
    "one that is replaced, taken whole": (
        "y = v\nfor i in range(3):\n    y = y * 2.0\n    if sum(y) > 1.0:\n        y = w\nnorm(y)", {"v": V, "w": 2.0 * V}, DOUBTFUL,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_is_sure(name: str) -> None:
    text, at, expected = CASES[name]
    names = [x for x in at if x != "n"]
    agree(text, at, names, "grad", tolerance=1e-14)
    outcome = adiff.program(text).evaluate("grad", at, names, engine="kernel")
    assert outcome.kernel is not None, outcome.reason
    built = outcome.kernel.built
    found = SURE if "v" in built.sure else IF_RUNNING if "v" in built.sure_if_running else DOUBTFUL
    assert found == expected


@pytest.mark.parametrize("at", [1.0, np.array([1.0, 2.0])])
def test_an_input_that_a_row_has_no_derivative_by(at: Any) -> None:
    """The order of a polygamma function, which is a number as any other: no path leads from it, on either tier."""
    text, point = "y * sum(polygamma(m, z)) + sum(z)", {"m": at, "y": 2.0, "z": 0.5}
    for engine in ("tape", "kernel"):
        assert adiff.program(text).evaluate("grad", point, engine=engine).gradients["m"] is None
    agree(text, point)
    assert agree(text, point, ["y", "z"]) == ""
