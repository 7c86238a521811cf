"""Sparse Hessians of random programs with loops: kernels find the entries, the values and the notices of the tape."""

from __future__ import annotations

import random
from typing import Any

import adiff
import numpy as np
import pytest

STATEMENTS = [
    "s += x[i]*x[i+1]**2",
    "s += sin(x[i]*y)",
    "s += exp(x[i+2] - x[i])*M[i % 3, 1]",
    "if x[i] > 0: s += x[i]**3*M[0, i % 4]\n    else: s += cos(x[i+1])",
    "t = x[i] + y*M[i % 3, i % 4]\n    s += t*t",
    "s += abs(x[i])*x[0]",
    "s += maximum(x[i], x[i+1])**2",
    "s = s + s*0.01*x[i]",
    "s += 3*x[i]",
]
ENDS = ["s", "s + y**2", "s + sum(M)**2*0.1", "s + sum(M*M)*y"]


def whole(hessian: dict[str, dict[str, Any]], at: dict[str, Any]) -> Any:
    """All blocks as one matrix."""
    return np.block([
        [
            np.zeros((np.size(at[row]), np.size(at[column])))
            if block is None
            else np.reshape(block.to_dense(), (np.size(at[row]), np.size(at[column])))
            for column, block in line.items()
        ]
        for row, line in hessian.items()
    ])  # fmt: skip


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed: int) -> None:
    choice, draw = random.Random(seed), np.random.default_rng(seed)
    lines = ["s = 0.0", "for i in range(len(x) - 2):"]
    lines += [f"    {s}" for s in choice.sample(STATEMENTS, choice.randint(1, 4))]
    made = adiff.program("\n".join([*lines, choice.choice(ENDS)]))
    at: dict[str, Any] = {"x": draw.normal(size=choice.choice([5, 9])), "y": 0.7, "M": draw.normal(size=(3, 4))}
    at = {name: at[name] for name in made.inputs}
    tape = made.evaluate("hessian", at, sparse=True, engine="tape")
    kernel = made.evaluate("hessian", at, sparse=True, engine="kernel")
    assert kernel.engine == "kernel", kernel.reason
    assert kernel.mode == tape.mode
    np.testing.assert_allclose(whole(kernel.hessian, at), whole(tape.hessian, at), rtol=1e-11, atol=1e-12)
    assert kernel.value == pytest.approx(tape.value, rel=1e-13)
    assert [n.code for n in kernel.notices] == [n.code for n in tape.notices]
    for name, g in tape.gradients.items():
        assert (kernel.gradients[name] is None) == (g is None)
        if g is not None:
            np.testing.assert_allclose(kernel.gradients[name], g, rtol=1e-11, atol=1e-12)
