"""Loops that follow each other at a distance, as one: all that they leave in memory and compute is the same, bit by bit."""

from __future__ import annotations

import random
import re
from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine.kernels import ir
from adiff.engine.kernels.built import Built
from adiff.engine.kernels.passes import behind as passes
from agreement import agree
from generated_shifts import random_program
from interpreted import checked, interpreted

N = 48
WIDTH = N + 6
OPS = ("add", "subtract", "multiply", "strong_multiply")


def element_loop(choose: random.Random, arrays: list[ir.Array], inputs: list[ir.Array]) -> ir.Loop:
    """A loop that loads at several distances from its index, and stores in one or two arrays at one."""
    index = ir.Var(ir.INT, "i")
    body: list[ir.Stmt] = []
    places: dict[int, Any] = {}

    def place(distance: int) -> Any:
        if distance not in places:
            places[distance] = ir.Var(ir.INT) if distance else index
            if distance:
                body.append(ir.Set(places[distance], "add", (index, distance), None, None))
        return places[distance]

    stored = dict.fromkeys(choose.sample(arrays, choose.randint(1, 2)))
    distance = {x: choose.randrange(6) for x in stored}
    values: list[Any] = [0.75]
    for _ in range(choose.randint(1, 4)):
        array = choose.choice([*arrays, *inputs])
        var = ir.Var(ir.FLOAT)
        body.append(ir.Load(var, array, place(distance.get(array, choose.randrange(6)))))
        values.append(var)
    for _ in range(choose.randint(1, 3)):
        var = ir.Var(ir.FLOAT)
        body.append(
            ir.Set(var, choose.choice(OPS), (choose.choice(values[1:]), choose.choice(values[-2:])), None, None)
        )
        if choose.random() < 0.3:
            body.append(ir.Set(total := ir.Var(ir.FLOAT), "copy", (var,), None, None))
            body.append(ir.Accumulate(total, choose.choice(values)))
            var = total
        values.append(var)
    for array in stored:
        kind = ir.AddTo if choose.random() < 0.5 else ir.Store
        body.append(kind(array, place(distance[array]), values[-1] if choose.random() < 0.9 else 0.5))
    return ir.Loop(index, 0, N, 1, None, None, [], body, None, {}, ir.Var(ir.INT, "t"), None)


def random_kernel(seed: int) -> ir.Kernel:
    """Loops over elements of a few arrays, of which some are results, with single elements read and changed between."""
    choose = random.Random(seed)
    inputs = [ir.Array(ir.FLOAT, (WIDTH,), "x", "input") for _ in range(2)]
    arrays = [ir.Array(ir.FLOAT, (WIDTH,)) for _ in range(5)]
    body: list[ir.Stmt] = [ir.Alloc(x, True) for x in arrays]
    results: list[Any] = choose.sample(arrays, choose.randint(1, 2))
    for _ in range(choose.randint(2, 6)):
        body.append(element_loop(choose, arrays, inputs))
        kind = choose.randrange(6)
        if kind < 2:
            var = ir.Var(ir.FLOAT)
            body.append(ir.Load(var, choose.choice(arrays), choose.choice([0, 1, 3, WIDTH - 1])))
            results.append(var)
        elif kind == 2:
            body.append(ir.Store(choose.choice(arrays), choose.choice([0, 2, WIDTH - 2]), choose.choice([0.25, -1.5])))
    return ir.Kernel([*inputs], body, results)


def run(kernel: ir.Kernel) -> tuple[Any, ...]:
    at = np.random.default_rng(7)
    built = Built(kernel, ())
    found = interpreted(built).entry(at.normal(size=WIDTH), at.normal(size=WIDTH))
    return tuple(np.array(x) for x in found)


def loops(block: list[ir.Stmt]) -> int:
    return sum(s.__class__ is ir.Loop and len(range(s.start, s.stop)) > passes.FARTHEST for s in block)


@pytest.mark.parametrize("first", range(0, 800, 100))
def test_random_loops(first: int) -> None:
    fewer = 0
    for seed in range(first, first + 100):
        kernel = random_kernel(seed)
        together = checked(passes.behind)(kernel)
        fewer += loops(together.body) < loops(kernel.body)
        for one, other in zip(run(kernel), run(together), strict=True):
            np.testing.assert_array_equal(one, other, err_msg=str(seed))
    assert fewer > 30


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("first", range(0, 24, 12))
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
    for part in (forward[forward.index("poll") :], back):
        long = [loop for loop in re.findall(r"\n {8}for \w+ in range\((.*)\):\n(?! +h\d)", part) if loop.endswith("59")]
        assert len([loop for loop in long if loop in ("59", *(f"{k}, 59" for k in range(9)))]) == 1, part
    # What waits is stored nowhere: the state and the gradient alone are.
    assert len(re.findall(r"\n {12}\w+\[", forward[forward.index("poll") :])) == 2, forward


def test_what_is_computed_in_float32_goes_through_memory() -> None:
    at = {"v": np.linspace(0.2, 1.3, 60).astype(np.float32), "n": 3}
    assert agree(STAGES, at, ["v"], "grad", tolerance=1e-5) == ""
