"""Loops that follow each other at a distance, as one: all that they leave in memory and compute is the same, bit by bit."""

from __future__ import annotations

import os
import re
from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine.kernels import ir
from adiff.engine.kernels.built import Built
from adiff.engine.kernels.passes import shifted_fusion as passes
from agreement import agree
from generated_loops import WIDTH, loops, random_kernel
from generated_shifts import random_program
from interpreted import checked, interpreted

LONG = bool(os.environ.get("ADIFF_LONG_TESTS"))


def run(kernel: ir.Kernel) -> tuple[Any, ...]:
    at = np.random.default_rng(7)
    built = Built(kernel, ())
    found = interpreted(built).entry(at.normal(size=WIDTH), at.normal(size=WIDTH))
    return tuple(np.array(x) for x in found)


@pytest.mark.parametrize("first", range(0, 800 if LONG else 300, 100))
def test_random_loops(first: int) -> None:
    fewer = 0
    for seed in range(first, first + 100):
        kernel = random_kernel(seed)
        together = checked(passes.fuse_shifted)(kernel)
        fewer += loops(together.body) < loops(kernel.body)
        for one, other in zip(run(kernel), run(together), strict=True):
            np.testing.assert_array_equal(one, other, err_msg=str(seed))
    assert fewer > 30


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("first", range(0, 24 if LONG else 12, 12))
def test_random_programs(first: int) -> None:
    v, w = np.linspace(-0.9, 1.3, 40), np.cos(np.arange(40))
    for seed in range(first, first + 12):
        assert agree(random_program(seed), {"v": v, "w": w}, ["v", "w"], "grad", tolerance=1e-13) == "", seed


STAGES = (
    "def slope(y):\n    return v * concat([[1.0], y[:-1]], axis=0)\n"
    "y = zeros_like(v)\nfor i in range(n):\n    k = slope(y)\n    y = y + 0.1 * k + 0.2 * slope(y + 0.3 * slope(y + 0.3 * k))\ny[-1]"
)


@pytest.mark.usefixtures("interpret")
def test_the_stages_of_a_step_are_one_loop_there_and_one_back() -> None:
    at: dict[str, Any] = {"v": np.linspace(0.2, 1.3, 60), "n": 3}
    assert agree(STAGES, at, ["v"], "grad", tolerance=1e-14) == ""
    found = str(adiff.program(STAGES).evaluate("grad", at, ["v"], engine="kernel").emitted)
    forward, _, back = found.partition("-1, -1")
    for part in (forward[forward.index("in range(n):") :], back):
        long = [loop for loop in re.findall(r"\n {8}for \w+ in range\((.*)\):\n(?! +h\d)", part) if loop.endswith("59")]
        assert len([loop for loop in long if loop in ("59", *(f"{k}, 59" for k in range(9)))]) == 1, part
    # What waits is stored nowhere: the state and the gradient alone are.
    assert len(re.findall(r"\n {12}\w+\[", forward[forward.index("in range(n):") :])) == 2, forward


def test_what_is_computed_in_float32_goes_through_memory() -> None:
    at = {"v": np.linspace(0.2, 1.3, 60).astype(np.float32), "n": 3}
    assert agree(STAGES, at, ["v"], "grad", tolerance=1e-5) == ""
