"""Ties between elements of tensors that a loop fills: what a tape tells of them, as soon as an iteration has stored there."""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
import pytest
from agreement import agree

pytestmark = pytest.mark.usefixtures("interpret")
V = np.array([1.0, 1.0, 0.0, 2.0, 2.0, 1.0])
WARPED = """n = len(a)
D = full((n+1, n+1), inf)
D[0, 0] = 0.0
for i in range(1, n+1):
    for j in range(1, n+1):
        D[i, j] = (a[i-1]-b[j-1])**2 + min(D[i-1, j], D[i, j-1], D[i-1, j-1])
D[n, n]"""
FILLED = (
    "D = zeros(5)\ns = 0.0\nfor i in {range}:\n    {before}s = s + maximum(D[3], D[4])*x\n    {after}\ns + sum(D)*x"
)

# Program, inputs, whether a kernel answers, and how many ties are told of.
CASES: dict[str, tuple[str, dict[str, Any], bool, int]] = {
    "time warping": (WARPED, {"a": V, "b": V[::-1].copy()}, True, 1),
    "a running maximum": (
        "best = zeros(3)\nfor k in range(12):\n    best[k % 3] = maximum(best[k % 3], x*(k % 2))\nsum(best)", {"x": 0.5}, True, 1,
    ),
    "in the first iteration, and in others": (FILLED.format(range="range(3)", before="", after="D[i] = x"), {"x": 0.5}, True, 1),
    "in the first iteration alone": (
        FILLED.format(range="range(3)", before="", after="D[i] = x\n    D[3] = 4.0"), {"x": 0.5}, False, 0,
    ),
    "but for the first iteration": (FILLED.format(range="range(3)", before="if i > 0: ", after="D[i] = x"), {"x": 0.5}, True, 1),
    "counting down": (FILLED.format(range="range(2, -1, -1)", before="if i < 2: ", after="D[i] = x"), {"x": 0.5}, True, 1),
    "stored in some iterations": (
        FILLED.format(range="range(3)", before="", after="if i == 1: D[i] = x"), {"x": 0.5}, False, 1,
    ),
    "another tensor each time": (
        "s = 0.0\nfor i in range(3):\n    D = zeros(5)\n    s = s + maximum(D[3], D[4])*x\n    D[i] = x\n    s = s + D[i]\ns",
        {"x": 0.5}, True, 0,
    ),
    "one that is replaced at the end": (
        FILLED.format(range="range(3)", before="", after="D[i] = x\n    s = s + sum(D)\n    D = zeros(5)"), {"x": 0.5}, False, 0,
    ),
    "a list's elements": (FILLED.format(range="range(3)", before="", after="D[i] = x").replace("zeros(5)", "[0.0, 0.0, 0.0, 0.0, 0.0]"), {"x": 0.5}, False, 0),
    "numbers handed on": (
        "y = z = s = 0.0\nfor i in range(3):\n    s = s + maximum(y, z)*x\n    y = x\n    z = x\ns", {"x": 0.5}, True, 1,
    ),
    "while": (
        "D = zeros(5)\ns = 0.0\ni = 0\nwhile i < k:\n    if i > 0: s = s + maximum(D[3], D[4])*x\n    D[i] = x\n    i = i + 1\ns + sum(D)",
        {"x": 0.5, "k": 3}, True, 1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("command", ["grad", "hessian"])
@pytest.mark.parametrize("name", CASES)
def test_ties_of_what_a_loop_fills(name: str, command: str) -> None:
    text, at, compiled, ties = CASES[name]
    sources = [x for x in at if x != "k"]
    agree(text, at, sources, command, tolerance=1e-13)
    outcome = adiff.program(text).evaluate(command, at, sources, engine="kernel")
    assert (outcome.kernel is not None) == compiled, outcome.reason
    assert [n.code for n in outcome.notices].count("N0501") == ties


def test_ties_between_checkpoints() -> None:
    text = FILLED.format(range="range(60)", before="if i > 0: ", after="D[i % 3] = x*sin(s)")
    agree(text, {"x": 0.5}, ["x"], "grad", tolerance=1e-12, checkpoint=20_000)
    outcome = adiff.program(text).evaluate("grad", {"x": 0.5}, ["x"], engine="kernel", checkpoint=20_000)
    assert outcome.kernel is not None, outcome.reason
    assert "N0501" in [n.code for n in outcome.notices]


# Of ties that do not matter, and of ones that the row's rule shares; inside a Jacobian that is differentiated in its turn.
INSIDE = [
    "logsumexp(%s)",
    "softmax(%s)[0]",
    "norm(%s, 3)",
    "max(%s)",
    "sort(%s)[1]",
    "unsorted_segment_max(%s, [0, 0, 1], 2)[0]",
]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("row", INSIDE)
def test_ties_inside_a_jacobian(row: str) -> None:
    at = {"v": np.array([0.5, 0.5, 0.1]), "w": np.array([1.0, 2.0])}
    beside = f"sum(jacobian(lambda q: q * {row % 'v'} + q**2)(w))"
    assert agree(beside, at) == ""
    agree(f"sum(jacobian(lambda q: q * {row % 'q'} + q**2)(v))", {"v": at["v"]})
    if row == "logsumexp(%s)":
        found = adiff.program(beside).evaluate("grad", at, engine="kernel").gradients["v"]
        np.testing.assert_allclose(found, 2 * np.exp(at["v"]) / np.exp(at["v"]).sum(), rtol=1e-14)
