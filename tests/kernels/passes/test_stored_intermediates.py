"""What is dear is computed once: exponentials that the reverse sweep needs again are loaded."""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
import pytest

X = np.linspace(-1.0, 1.5, 6)
W = np.array([[0.5, -1.0, 2.0], [0.25, 1.0, -0.5]])

# A program, how often its kernel's source calls exp or tanh, and its gradient by x.
PROGRAMS: dict[str, tuple[str, dict[str, Any], int, Any]] = {
    "a tensor": ("e = exp(x - 0.5)\nlog(sum(e))", {"x": X}, 1, np.exp(X) / np.exp(X).sum()),
    "a loop that only sums": (
        "t = 0.0\nfor v in x:\n    t += exp(v)\nt", {"x": X}, 1, np.exp(X),
    ),
    "a nest, with what follows it": (
        "t = 0.0\nfor i in range(2):\n    for v in x:\n        t += exp(v * w[i, 1])\nt**2", {"x": X, "w": W}, 1,
        2 * sum(np.exp(X * c).sum() for c in W[:, 1]) * sum(c * np.exp(X * c) for c in W[:, 1]),
    ),
    "a branch": (
        "t = 0.0\nfor v in x:\n    if v > 0:\n        t += exp(v)\nt**2", {"x": X}, 1,
        np.where(X > 0, 2 * np.exp(X[X > 0]).sum() * np.exp(X), 0.0),
    ),
    "a loop as long as an input says": (
        "t = 0.0\nfor i in range(n):\n    for v in x:\n        t += exp(v)\nt**2", {"x": X, "n": 2}, 2,
        2 * 4 * np.exp(X).sum() * np.exp(X),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_exponentials_of_the_reverse_sweep_are_loaded(name: str) -> None:
    text, point, calls, gradient = PROGRAMS[name]
    outcome = adiff.program(text).evaluate("grad", point, ["x"], engine="kernel")
    assert outcome.engine == "kernel", outcome.reason
    assert outcome.emitted is not None
    assert outcome.emitted.count("math.exp(") == calls, outcome.emitted
    assert outcome.gradients is not None
    np.testing.assert_allclose(outcome.gradients["x"], gradient, rtol=1e-13)


def test_a_sweep_that_streams_keeps_nothing() -> None:
    outcome = adiff.program(PROGRAMS["a loop that only sums"][0]).evaluate("grad", {"x": X}, engine="kernel")
    assert outcome.emitted is not None
    assert outcome.emitted.count("floats(") == 1, "the cotangents of x and nothing else"


def test_not_more_is_kept_than_fits() -> None:
    from adiff.engine.kernels.passes import stored_intermediates

    text = "t = 0.0\nfor i in range(5000):\n    for v in x:\n        t += exp(v)\nt**2"
    x = np.zeros(stored_intermediates.MOST // 5000 + 1)
    outcome = adiff.program(text).evaluate("grad", {"x": x}, engine="kernel")
    assert outcome.emitted is not None
    assert outcome.emitted.count("math.exp(") == 2
    assert outcome.gradients is not None
    np.testing.assert_allclose(outcome.gradients["x"], np.full(len(x), 2 * 5000.0 * len(x) * 5000.0), rtol=1e-9)
