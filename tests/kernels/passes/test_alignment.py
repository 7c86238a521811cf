"""Loops over arrays that are shifted by a place: what is one loop, what is not, and that it is all the same."""

from __future__ import annotations

import os
import re
from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine.kernels.passes import alignment
from adiff.engine.kernels.source import usage
from agreement import agree
from generated_shifts import random_program

pytestmark = pytest.mark.usefixtures("interpret")
LONG = bool(os.environ.get("ADIFF_LONG_TESTS"))
N = 20
V = np.linspace(-0.9, 1.3, N)
W = np.cos(np.arange(N))

STEP = "def slope(y):\n    return v * concat([[1.0], y[:-1]], axis=0)\n"
# Two stages of a method for y_i' = v_i y_{i-1}.
STEPS = (
    STEP + "y = zeros_like(v)\nfor i in range(n):\n    k = slope(y)\n    y = y + 0.1 * k + 0.2 * slope(y + 0.3 * k)\n"
)

PROGRAMS = [
    "a = concat([[2.0], v[:-1]], axis=0)\nsum(sin(a) * v * w)",
    "a = concat([v[1:], [0.5]], axis=0)\nb = a * v\nc = b + w\nsum(c * c * b)",
    "a = concat([[0.1, 0.2], v[2:]], axis=0)\nb = exp(a) * w\nsum(b * b) + b[0]",
    "a = concat([[0.1], v[1:-1], [0.2]], axis=0)\nb = a * w\nsum(b * b * a)",
    "a = concat([v[:1], v[:-1]], axis=0)\nb = concat([[1.0], (a * w)[:-1]], axis=0)\nsum(a * b * v)",
    "a = concat([[1.0], v[:-1]], axis=0)\nb = concat([v[1:], [1.0]], axis=0)\nsum(a * b * w)",
    "a = concat([v[:8], w[8:]], axis=0)\nsum(a * v * a)",
    "y = v\nfor i in range(n):\n    y = y + 0.1 * (concat([y[1:], [0.0]], axis=0) - y) * w\nsum(y * y)",
    "y = v * 1.0\nz = v * w\nfor i in range(n):\n    y, z = concat([z[-1:], y[:-1]], axis=0) * w, y + 0.1 * z\nsum(y * z)",
    "y = v * 1.0\nfor i in range(n):\n    y = concat([[y[3]], y[:-1]], axis=0) * w\n    y[2] = y[1] * v[0]\nsum(y * y)",
    "y = v * 1.0\nfor i in range(n):\n    old = y\n    y[0] = old[1] * w[2]\n    y = y * v + 0.5 * old\nsum(y * y)",
    "y = v * 1.0\nz = y[:-1]\ny[0] = 3.0 * v[1]\nsum(z * y[1:]) + sum(y)",
    STEPS + "sum(y * w)",
    STEPS + "y[-1]",
    STEPS + "sum(y * y) + sum(v * w)",
]


@pytest.mark.parametrize("text", PROGRAMS)
@pytest.mark.parametrize("size", [N, 5])
def test_both_tiers_agree(text: str, size: int) -> None:
    if size < N:
        text = text.replace("[:8]", "[:2]").replace("[8:]", "[2:]")
    at: dict[str, Any] = {"v": V[:size], "w": W[:size]}
    if "range(n)" in text:
        at["n"] = 3
    at = {name: x for name, x in at.items() if re.search(rf"\b{name}\b", text)}
    names = [name for name in at if name != "n"]
    assert agree(text, at, names, "grad", tolerance=1e-14) == ""
    agree(text, at, names[:1], "hessian", tolerance=1e-11)


@pytest.mark.parametrize(
    "text",
    [
        "g = grad(lambda u: sum(sin(concat([[0.5], u[:-1]], axis=0)) * u * w))(v)\nsum(g * g)",
        "y = v * 1.0\nwith GradientTape() as t:\n    t.watch(y)\n    z = concat([[1.0], y[:-1]], axis=0) * y\n    s = sum(z * z * w)\n"
        "sum(t.gradient(s, y) ** 2)",
    ],
)
def test_derivatives_inside_programs(text: str) -> None:
    assert agree(text, {"v": V, "w": W}, None, "value", tolerance=1e-14) == ""
    agree(text, {"v": V, "w": W}, ["v", "w"], "grad", tolerance=1e-13)


@pytest.mark.parametrize("first", range(0, 60 if LONG else 24, 12))
def test_random_programs(first: int) -> None:
    for seed in range(first, first + 12):
        assert agree(random_program(seed), {"v": V, "w": W}, ["v", "w"], "grad", tolerance=1e-13) == "", seed


def emitted(text: str, **at: Any) -> str:
    outcome = adiff.program(text).evaluate("grad", at, ["v"], engine="kernel")
    assert outcome.engine == "kernel", outcome.reason
    return str(outcome.emitted)


def test_what_is_shifted_is_not_stored() -> None:
    """One loop, in which the first element stands apart; the gradient alone is in memory."""
    found = emitted("sum(exp(concat([[2.0], v[:-1]], axis=0)) * v)", v=V)
    assert found.count("floats(") <= 3
    forward = emitted(STEPS + "y[-1]", v=V, n=3).partition("-1, -1")[0]
    own = forward[forward.index("in range(n):") :].rpartition("\n    ab2")[0]
    # The state is kept, and each stage is one loop.
    assert own.count("for ") == 3, own
    assert f"in range({N - 1})" in own


def test_each_cotangent_of_a_shift_is_one_sum_on_vectors() -> None:
    """No loop of the reverse sweep adds to two places of one array, and none clears what it fills."""
    _, _, back = emitted(STEPS + "y[-1]", v=V, n=3).partition("-1, -1")
    assert "clear(" not in back
    loops = re.findall(r"\n        for .*((?:\n {12}.*)+)", back)
    assert loops
    for loop in loops:
        places = re.findall(r"(ab\d+)\[\w+\] \+= ", loop)
        assert len(places) == len(set(places)), loop


def test_a_short_loop_stays_whole() -> None:
    short = emitted("a = concat([[2.0], v[:-1]], axis=0)\nb = a * v\nsum(b * b)", v=V[:5])
    assert "range(5)" in short


@pytest.mark.parametrize("size", [usage.LEAST_UNMOVED, usage.LEAST_UNMOVED - 1])
def test_a_long_state_is_read_where_it_was_kept(size: int) -> None:
    text = "y = v\nfor i in range(n):\n    y = y + 0.001 * sin(y)\nsum(y)"
    at = {"v": np.linspace(0.0, 1.0, size), "n": 3}
    assert agree(text, at, ["v"], "grad", tolerance=1e-14) == ""
    back = emitted(text, **at).partition("-1, -1")[2]
    assert back.count("for ") == (1 if size == usage.LEAST_UNMOVED else 2)


def test_a_state_that_is_read_after_the_loop_is_brought_back() -> None:
    text = "y = v * v\nz = y\nfor i in range(n):\n    z = z * sin(z)\ny2 = z\nfor i in range(n):\n    y2 = y2 * y2 * 0.5 + z\nsum(y2 * z * y)"
    at = {"v": np.linspace(0.1, 1.0, usage.LEAST_UNMOVED), "n": 3}
    assert agree(text, at, ["v"], "grad", tolerance=1e-13) == ""


def test_few_elements_may_stand_apart() -> None:
    assert alignment.MOST_APART < 5
    text = "a = concat([v[5:10], v[5:]], axis=0)\nb = a * v\nsum(b * b)"
    assert agree(text, {"v": V}, ["v"], "grad") == ""
