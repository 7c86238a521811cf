"""Singular points at numbers that a kernel knows, and a tape follows: whatever is told of them, both tiers tell it."""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
import pytest
from agreement import agree, spans

pytestmark = pytest.mark.usefixtures("interpret")

AT: dict[str, Any] = {"x": 1.5, "v": np.array([0.3, 1.0, -0.5]), "m": np.array([[1.0, 0.5], [0.7, 2.0]])}
# Zeros that rows make of what they are given.
FOLLOWED = [
    "sqrt(sum(v[v > 9]))", "abs(sum(m[::2, :0]))", "sqrt(sum(v[3:]))", "sqrt(array([x, 0.0])[1])", "abs(stack([0.0, x])[0])", "abs(tril(m)[0, 1])",
    "abs(concat([zeros(1), v[:2]])[0])", "abs(imag(complex(x, 0.0)))", "abs(dynamic_stitch([[0], [1]], [[x], [0.0]])[1])",
    "sum(abs(tril(m)))", "1 / (1 + sum(relu(stack([x, 0.0]))))", "w = v * 1.0\nw[1] = 0.0\nabs(w[1])",
    "grad(lambda p: abs(array([p, 0.0])[1] + p*x))(0.0)", "abs(grad(lambda p: p[0] * x)([x, x])[1] + 0.0 * x)",
]  # fmt: skip
# Those that nothing is followed to.
APART = [
    "abs([x, 0.0][1])",
    "abs((x, 0.0)[1])",
    "sum(abs(zeros(3)))",
    "sqrt(eye(2)[0, 1])",
    "sum(sqrt([k * 1.0 for k in range(3)]))",
]


@pytest.mark.parametrize("text", [*FOLLOWED, *APART])
def test_notices(text: str) -> None:
    head, _, result = text.rpartition("\n")
    program = adiff.program(f"{head}\n{result} + x + sum(v) + sum(m)")
    for command in ("grad", "hessian"):
        agree(program, AT, list(AT), command)
    told = spans(program.evaluate("grad", AT, engine="tape").notices)
    assert bool(told) is (text in FOLLOWED)
    if text in APART:
        assert program.evaluate("grad", AT, engine="kernel").engine == "kernel"


def test_a_cotangent_of_zero_meets_no_singular_point() -> None:
    """That of `vjp` is known after the sweep that it scales."""
    text = "sum(vjp(lambda u: sum(abs(u)), stack([x] * 20))[1](y)[0]) + x + y"
    for y in (0.0, 2.0):
        at = {"x": 0.0, "y": y}
        agree(text, at)
        assert bool(spans(adiff.program(text).evaluate("grad", at, engine="kernel").notices)) is (y != 0.0)
