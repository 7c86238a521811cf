"""Inputs that are no floats: integers that decide shapes, arrays of integers and of booleans, several ranks, nothing."""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
import pytest
from agreement import agree

FLOATS = np.array([0.3, -1.1, 0.9, 2.0])
CASES: list[tuple[str, dict[str, Any]]] = [
    ("sum(ones(n + 1) * x)", {"n": 3, "x": 1.5}),
    ("v = linspace(0, x, n)\nsum(v**2)", {"n": 5, "x": 1.5}),
    ("sum(v[:n] * x)", {"n": 3, "x": 1.5, "v": FLOATS}),
    ("sum(v[n // 2:n] * x) * n", {"n": 3, "x": 1.5, "v": FLOATS}),
    ("w = zeros((n, 2)) + x\nsum(w * w)", {"n": 3, "x": 1.5}),
    ("c = [0.0] * n + [x]\nfor i in range(len(c)):\n    c[i] = c[i - 1] * 0.5 + x * i\nsum(c)", {"n": 4, "x": 1.5}),
    ("h = 0.0\nfor i in range(n):\n    h = h * 0.5 + v * x\nsum(h)", {"n": 3, "x": 1.5, "v": FLOATS}),
    ("sum([x * i for i in range(n)]) * n", {"n": 90, "x": 0.1}),
    ("c = []\nfor i in range(n):\n    c.append(x * i)\nsum(c)", {"n": 90, "x": 0.1}),
    ("s = 0.0\nfor i in k:\n    s = s + v[i] * x\ns", {"k": np.array([0, 2, 2, -1]), "x": 1.5, "v": FLOATS}),
    ("sum(v[k] * x)", {"k": np.array([[0, 2], [3, 1]]), "x": 1.5, "v": FLOATS}),
    ("sum(where(m, v * x, v))", {"m": np.array([True, False, True, True]), "x": 1.5, "v": FLOATS}),
    ("s = 0.0\nfor i in range(4):\n    if m[i]:\n        s = s + v[i] * x\ns", {
        "m": np.array([True, False, True, True]), "x": 1.5, "v": FLOATS,
    }),
    ("sum(k * x)", {"k": np.array([1, 2]), "x": 1.5}),
    ("s = x if b else x * x\ns", {"b": True, "x": 1.5}),
    ("sum(a * x) + a[1, 0, 1, 0]", {"a": np.arange(24.0).reshape(2, 3, 2, 2), "x": 0.5}),
    ("sum(a * x) + x", {"a": np.zeros((0,)), "x": 0.5}),
    ("s = x\nfor e in a:\n    s = s * e\ns + sum(a)", {"a": np.zeros((0,)), "x": 0.5}),
    ("sum(zeros(0) * x) + x", {"x": 0.5}),
]  # fmt: skip
FLOATING = ("x", "v", "a", "n")


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("text", "at"), CASES, ids=[text.replace("\n", "; ") for text, _ in CASES])
def test_agreement(text: str, at: dict[str, Any]) -> None:
    """With every input that may be differentiated, and with the reals alone; integers of a dtype of their own refuse."""
    for sources in (FLOATING, ("x",)):
        for command in ("grad", "value"):
            reason = agree(text, at, [name for name in at if name in sources], command)
            assert reason == "" or "doubtful" in reason or text == "sum(k * x)", reason


@pytest.mark.usefixtures("interpret")
def test_what_is_counted_is_compiled_for_its_value_alone() -> None:
    program = adiff.program("sum(ones(n) * x)")
    for n in (3, 3, 5):
        outcome = program.evaluate("grad", {"x": 2.0, "n": n}, ["x"], engine="kernel")
        assert (outcome.engine, outcome.value) == ("kernel", 2.0 * n)
    assert len(program.kernels.compiled) == 2


@pytest.mark.usefixtures("interpret")
def test_what_must_be_whole_and_is_not_is_the_tapes_to_refuse() -> None:
    assert agree("sum(ones(n) * x)", {"x": 2.0, "n": 2.5}) == "an error"
    assert agree("sum(v[:n] * x)", {"x": 2.0, "n": 2.0, "v": FLOATS}) != ""
