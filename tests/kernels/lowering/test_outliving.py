"""Variables that a loop assigns first, read after it: where it has not run, which is an error, the tape says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from agreement import agree

BISECTION = """
lo = a
hi = b
while hi - lo > 1e-6:
    mid = (lo + hi) / 2
    if mid**2 > c:
        hi = mid
    else:
        lo = mid
mid * c
"""
RUN: list[tuple[str, dict[str, Any]]] = [
    (BISECTION, {"a": 0.0, "b": 3.0, "c": 2.0}),
    ("for i in range(n):\n    t = x * i\n    u = [t, x]\nt + u[1] + i", {"x": 1.5, "n": 4}),
    ("for i in range(n):\n    t = v * i\nsum(t)", {"v": np.array([1.0, 2.0]), "n": 4}),
    ("for i in range(1, n):\n    for j in range(i):\n        t = x * j\n    s = t\ns", {"x": 1.5, "n": 4}),
    ("k = 0\nwhile k < n:\n    k += 1\n    y = (x * k, k)\ny[0] * y[1]", {"x": 1.5, "n": 4}),
    ("i = 0\nwhile abs(x - i) > 0.5:\n    i += 1\n    z = complex(x, i)\nabs(z)", {"x": 3.7}),
    ("i = 0\nwhile abs(x - i) > 0.5:\n    i += 1\n    b = i > 2\nx if b else 2.0 * x", {"x": 3.7}),
    (
        "def f(x):\n    i = 0\n    while i < n:\n        i += 1\n        y = x**i\n    return y\ngrad(f)(x)",
        {"x": 1.5, "n": 4},
    ),
]
NOT_RUN: list[tuple[str, dict[str, Any], str]] = [
    (BISECTION, {"a": 3.0, "b": 3.0, "c": 2.0}, "an error"),
    ("for i in range(n):\n    t = x * i\nt", {"x": 1.5, "n": 0}, "an error"),
    ("for i in range(n):\n    t = x * i\nr = x\nif n > 2:\n    r = t\nr", {"x": 1.5, "n": 0}, "a step with values that only the tape"),
    ("for i in range(n):\n    if i > 2:\n        t = x\nt", {"x": 1.5, "n": 4}, "may be read before it is assigned"),
]  # fmt: skip


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("text", "at"), RUN)
def test_run(text: str, at: dict[str, Any]) -> None:
    wrt = [name for name in at if name in "xvc"]
    assert agree(text, at, None, "value") == ""
    assert agree(text, at, wrt) == ""
    assert agree(text, at, wrt, "hessian", 1e-12) == ""


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("text", "at", "reason"), NOT_RUN)
def test_not_run(text: str, at: dict[str, Any], reason: str) -> None:
    assert reason in agree(text, at, None, "value")


@pytest.mark.usefixtures("interpret")
def test_what_is_not_read_does_no_harm() -> None:
    text = "s = 0.0\nfor i in range(n):\n    for j in range(i):\n        t = x * j\n        s += t\ns"
    assert agree(text, {"x": 1.5, "n": 3}) == ""
    assert agree(text, {"x": 1.5, "n": 0}, None, "value") == ""
