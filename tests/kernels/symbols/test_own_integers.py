"""Integers with a dtype of their own as inputs and results: NumPy's scalars, arrays of int32, what rows make of them."""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
import pytest
from agreement import agree

F = np.array([0.5, 1.5])
AT: dict[str, Any] = {
    "f": F,
    "k": np.array([1, 2], np.int32),
    "q": np.array([1, 2]),
    "n": np.int32(3),
    "m": np.int64(4),
    "z": np.array(4),
    "big": np.int32(2**30),
    "b": np.array([True, False]),
    "c": 3,
    "x": 1.5,
}
ANSWERED = [
    "m + 1", "m * m", "m / 2", "f[m - 3]", "zeros(m)", "arange(m) + q[0]", "s = 0\nfor i in range(m):\n    s = s + m\ns",
    "z + 1", "n + 1", "n // 2", "k * n", "k * 2", "sum(k)", "mean(k)", "k[0]", "k @ k", "[k, n, 2]", "(n, 1.5)", "cumsum(k)",
    "where(k > 1, k, n)", "where(k > 1, k, 0)", "cast(f, int32) * 2", "cast(sum(f), int32)", "k[k > 1]", "arange(n)",
    "x = k\nx[0] = 7\nx", "concat([k, k], 0)", "sum(f * cast(k, float64))", "reshape(f, [1, n - 1])", "tile(f, n)",
    "i = 0\ns = sum(f)\nwhile i < m:\n    s = s * 1.1\n    i = i + 1\ns",
    "def g(n, x):\n    if n == 0:\n        return x\n    return g(n - 1, x * 1.5)\ng(m, sum(f))",
    "sum(q) if x > 2 else q[0]", "if x > 1:\n    r = sum(q)\nelse:\n    r = q[1]\nr", "array([c, 2]) * q", "array(c) + 1", "constant([b[0], c]) + q", "array([1, c]) / 2", "m = array([[1, c], [2, 3]])\nm @ m",
]  # fmt: skip
REFUSED = [
    "n * 2.0", "f * m", "f ** m", "n + m", "k + argmax(f)", "arange(m) * f[0]", "arange(argmax(f) + 2) * f[0]",
    "where(q > 1, q, 0) * f", "array([2, c]) * f", "array(c) * 2.5", "array([b[0], c]) * f", "array([1, c]) @ f",
    "s = 0.0\nfor v in array([c, 2]):\n    s = s + x * v\ns",
]  # fmt: skip


def inputs(text: str) -> dict[str, Any]:
    return {name: x for name, x in AT.items() if name in adiff.program(text).inputs}


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", ANSWERED)
def test_answered(text: str) -> None:
    at = inputs(text)
    assert agree(text, at, None, "value") == ""
    if "f" in at and "int32)" not in text:
        assert agree(text, at, ["f"], "grad") == ""


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str) -> None:
    assert agree(text, inputs(text), None, "value") == "an error"


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", ["n * big * 4", "k * big * 4"])
def test_what_int32_does_not_hold_is_the_tapes(text: str) -> None:
    """It wraps around, with a notice."""
    assert "only the tape takes" in agree(text, inputs(text), None, "value")


MIXED = [
    "stack([b, q])", "stack([b, b * b])", "constant([b[0], 2])", "stack([b, f])", "concat([b, f], axis=0)", "f * [c > 1, c]",
    "f @ [b[0], c]", "stack([b[0], c]) * f", "vander(b)", "vander(b) * f", "array([b[0], 2.5])", "mean([b[0], c, 2.5])",
]  # fmt: skip


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", MIXED)
def test_truth_values_beside_numbers(text: str) -> None:
    assert agree(text, inputs(text), None, "value") == ""


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("x", [2, 2.0, 2.5])
def test_truth_values_beside_a_number_that_may_be_whole(x: Any) -> None:
    text = "sum(array([b[0], x]) * f)"
    expected = "an error" if x.__class__ is int else ""
    assert agree(text, {"b": AT["b"], "f": F, "x": x}, None, "value") == expected
    assert agree(text, {"b": AT["b"], "f": F, "x": x}, ["x", "f"]) == ""
