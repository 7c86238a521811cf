"""Rows that a program applies twice to the same numbers: each application has a derivative of its own, as each record of a
tape has. Where the cotangents of two cancel, finite partials give 0, and infinite ones the difference of two infinities."""

from __future__ import annotations

import math
from typing import Any

import adiff
import numpy as np
import pytest
from agreement import agree

pytestmark = pytest.mark.usefixtures("interpret")

ROOT = "def h(p):\n    return sqrt(p)\n"
V = np.array([0.0, 1.0])
# The program, the point, and the derivative by the input that is named last.
CASES: dict[str, tuple[str, dict[str, Any], Any]] = {
    "called twice": (ROOT + "y*h(x) - h(x)", {"y": 1.0, "x": 0.0}, math.nan),
    "called twice where it is smooth": (ROOT + "y*h(x) - h(x)", {"y": 3.0, "x": 4.0}, 0.5),
    "called three times": ("def h(p):\n    return 1/p\nh(x) + h(x) - h(x)", {"x": -0.0}, math.nan),
    "written twice": ("y*sqrt(x) - sqrt(x)", {"y": 1.0, "x": 0.0}, math.nan),
    "applied once, read twice": ("r = sqrt(x)\ny*r - r", {"y": 1.0, "x": 0.0}, 0.0),
    "in a loop over a list": ("s = 0.0\nfor k in [1.0, -1.0]:\n    s += k*sqrt(x)\ns", {"x": 0.0}, math.nan),
    "in a comprehension": ("sum([k*sqrt(x) for k in [1.0, -1.0, 1.0]])", {"x": 0.0}, math.nan),
    "in a loop": ("s = 0.0\nfor i in range(n):\n    s += (-1.0)**i * sqrt(x)\ns", {"n": 4, "x": 0.0}, math.nan),
    "in a recursion": (
        "def f(p, d):\n    if d < 1:\n        return sqrt(p)\n    return y*f(p, d - 1) - f(p, d - 1)\nf(x, 2)", {"y": 1.0, "x": 0.0}, math.nan,
    ),
    "divided in a recursion": (
        "def f(p, d):\n    if d == 0:\n        return p / 0.0\n    return f(p, d - 1) - f(p, d - 1)\nf(x, 2)", {"x": 1.0}, math.nan,
    ),
    "of arrays": (ROOT + "sum(y*h(v) - h(v))", {"y": 1.0, "v": V}, [math.nan, 0.0]),
    "of arrays, kept apart": (ROOT + "a = h(v)\nb = h(v)\nsum(y*a) - sum(b)", {"y": 1.0, "v": V}, [math.nan, 0.0]),
    "of an array, read twice": ("a = sqrt(v)\nsum(y*a) - sum(a)", {"y": 1.0, "v": V}, [0.0, 0.0]),
    "of an array, read in two loops": (
        "a = sqrt(v)\ns = 0.0\nfor i in range(2):\n    s += y*a[i]\nfor i in range(2):\n    s -= a[i]\ns", {"y": 1.0, "v": V}, [0.0, 0.0],
    ),
    "a derivative in the program": (
        "g = grad(lambda p: p*sqrt(p))\ny*g(x) - g(x)", {"y": 1.0, "x": 0.0}, math.nan,
    ),
    "products with infinity": ("y*(x*w) - x*w", {"y": 1.0, "w": math.inf, "x": 2.0}, math.nan),
    "sums beside infinity": ("y*(x + w) - (x + w)", {"y": 1.0, "w": math.inf, "x": 2.0}, 0.0),
    "at infinity": ("y*cos(x) - cos(x)", {"y": 1.0, "x": math.inf}, math.nan),
    "a soft maximum at infinity": ("y*logsumexp(v) - logsumexp(v*x)", {"y": 1.0, "v": np.array([math.inf, 2.0]), "x": 1.0}, -math.inf),
    "beyond the floats": ("y*exp(x) - exp(x)", {"y": 1.0, "x": 1e3}, math.nan),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_tiers(name: str) -> None:
    text, at, expected = CASES[name]
    program = adiff.program(text)
    sources = [x for x in at if x != "n"]
    # Beside what is not finite a tape finds the derivatives of derivatives.
    assert agree(program, at, sources) in ("", "no kernel for the derivative of a gradient, beside what is not finite")
    agree(program, at, sources, "hessian")  # a tape finds where a nan of it begins
    found = program.value_and_gradient(at, [list(at)[-1]], engine="kernel")[1]
    np.testing.assert_array_equal(found[list(at)[-1]], expected)
