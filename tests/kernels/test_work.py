"""How much work a program is taken for: of which the numbers are measured in bench/choosing.py."""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine.kernels import ir, work

LOOP = "y = x\nfor i in range(n):\n    y = y * 0.5 + x if y > 1.0 else y + x * 0.1\ny"
ELEMENTS = "s = 0.0\nfor i in range(n):\n    s = s + v[i % 3] * x\ns"


def choice(text: str, at: dict[str, Any]) -> str:
    return adiff.program(text).evaluate("grad", at, wrt=["x"]).engine


@pytest.mark.parametrize(
    ("text", "at", "engine"),
    [
        (LOOP, {"x": 0.7, "n": 1_000}, "tape"),
        (LOOP, {"x": 0.7, "n": 300_000}, "kernel"),
        (ELEMENTS, {"x": 0.7, "v": np.ones(3), "n": 300}, "tape"),
        # Numbers that are elements of tensors cost the tape more.
        (ELEMENTS, {"x": 0.7, "v": np.ones(3), "n": 20_000}, "kernel"),
    ],
)
def test_the_sooner_tier_is_chosen(text: str, at: dict[str, Any], engine: str) -> None:
    assert choice(text, at) == engine


def test_statements_in_loops_take_longer_to_compile() -> None:
    x = ir.Var(ir.FLOAT)
    straight: list[ir.Stmt] = [ir.Set(ir.Var(ir.FLOAT), "negative", (x,), None, None) for _ in range(10)]
    alone = work.compile_seconds(straight)
    assert alone == pytest.approx(10 * work.STATEMENT_SECONDS)
    assert work.compile_seconds([ir.If(x, straight, [], [])]) == pytest.approx(11 * work.STATEMENT_SECONDS)
    sides = ir.ReverseLoop(ir.Var(ir.INT), ir.Var(ir.INT), None, 0, 1, [], straight)
    expected = work.STATEMENT_SECONDS + 10 * work.LOOP_STATEMENT_SECONDS
    assert work.compile_seconds([sides]) == pytest.approx(expected)
