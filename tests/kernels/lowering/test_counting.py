"""A bare integer that is differentiated counts as well: as an index, in a size, and in what is made of it and of others."""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
import pytest
from agreement import agree

X = np.array([0.3, 1.2, -0.7, 2.2, 0.9])
A = np.arange(12.0).reshape(3, 4) / 7
COMPILED: dict[str, tuple[str, dict[str, Any]]] = {
    "in a loop": ("s = 0.0\nfor i in range(20):\n    s = s*0.9 + x[n]*x[i % m]\ns", {"x": X, "n": 2, "m": 4}),
    "with a slope of its own": ("x[m - 1]*m", {"x": X, "m": 3}),
    "from the end": ("x[-m]**2 + m", {"x": X, "m": 3}),
    "of a list": ("t = [x[0], x[1], x[2]]\nt[m - 2]*x[3]", {"x": X, "m": 4}),
    "of a list of lists": ("r = [[x[i]*x[j] for j in range(3)] for i in range(3)]\nr[m - 1][m // 2]", {"x": X, "m": 3}),
    "of a row": ("A[m, :] @ A[0]", {"A": A, "m": 1}),
    "beside slices": ("sum(A[m, 1:]*A[m + 1, :3])", {"A": A, "m": 1}),
    "of what is written": ("y = x + 0\ny[m] = y[m - 1]*m\nsum(y*y)", {"x": X, "m": 3}),
    "of what is added to": ("t = zeros(4)\nfor i in range(12):\n    t[i % m] += x[i // m % 5]\nsum(t**2)", {"x": X, "m": 3}),
    "of a list that is added to": ("t = [0.0]*4\nfor i in range(12):\n    t[i % m] += x[i*m % 5]\nsum(t)", {"x": X, "m": 3}),
    "in no iteration": ("w = x * 9.0\nwhile sum(w) < 5:\n    w[0] = x[-m % 4]\nsum(w)", {"x": X, "m": 3}),
    "in a range": ("s = 0.0\nfor i in range(2*m + 1):\n    s += x[min(i, m)]*i\ns", {"x": X, "m": 3}),
    "given to a function": ("def f(k):\n    return x[k]*k\nf(m) + f(m + 1)", {"x": X, "m": 2}),
    "powers and what else counts": (
        "x[n**2 - 3] * x[abs(n - m)] * x[fmod(m, n)] + sum(x[: square(n)]) * x[clip(m, 0, n)] * x[sign(n) + 1]",
        {"x": X, "n": 2, "m": 3},
    ),
    "cast": ("x[cast(m, float64)]", {"x": X, "m": 2}),
    "of an array": ("x[array(m)]", {"x": X, "m": 2}),
    "out of range": ("x[m]", {"x": X, "m": 9}),
    "nothing to divide by": ("x[7 % m]", {"x": X, "m": 0}),
    "a float": ("x[m - 1]*m", {"x": X, "m": 3.0}),
    "times a truth value": ("x[m*True]*m", {"x": X, "m": 3}),
    "times one": ("x[m*1]*m", {"x": X, "m": 3}),
}  # fmt: skip


FAILING = ("out of range", "cast", "of an array", "nothing to divide by", "a float", "times a truth value")


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("name", COMPILED)
@pytest.mark.parametrize("command", ["grad", "hessian"])
def test_an_index(name: str, command: str) -> None:
    text, at = COMPILED[name]
    assert agree(text, at, command=command) == ("an error" if name in FAILING else "")


ARANGES = {
    "of one": ("sum(arange(n))*x", None),
    "stop": ("sum(arange(0, n, 1))*x", None),
    "stop that is a power": ("sum(arange(n**2))*sum(arange(round(n)))*x", None),
    "stop beside what data decides": ("sum(ones(int(3*x)))*sum(arange(n - 1))*x", None),
    "start": ("sum(arange(n, 6, 1))*x", 3 * 0.7),
    "start of floats": ("sum(arange(n, 4.2, 0.5))*x", 3 * 0.7),
}

LEFT = {
    "stop beside what data decides": "no kernel for a number of points that is counted with integers which are differentiated"
}


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("name", ARANGES)
def test_the_bounds_of_arange(name: str) -> None:
    """A stop counts, and carries no derivative; the elements move as the start does."""
    text, slope = ARANGES[name]
    at = {"x": 0.7, "n": 3}
    assert agree(text, at) == LEFT.get(name, "")
    for engine in ("tape", "kernel"):
        outcome = adiff.program(text).evaluate("grad", at, engine=engine)
        assert outcome.gradients is not None
        assert outcome.gradients["n"] == (slope if slope is None else pytest.approx(slope))
        reasons = [n.message for n in outcome.notices if n.code == "N0502"]
        assert len(reasons) == (slope is None)
        assert all("ends at a place where it counts as an integer" in reason for reason in reasons)
