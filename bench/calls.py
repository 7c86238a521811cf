"""What a call costs beside the work: small gradients again and again from Python, against the same by hand in Numba.

A call of a function that Numba compiled checks and unpacks its arguments, and boxes what it returns. A call of ours does that,
looks at flags of singular points and for what is not finite, and fills an Outcome. The sides run in turn; the shortest of
several times counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import adiff
from harness import Row, available, best_of

CALLS = 1000
REPEATS = 15


def workloads() -> Iterator[tuple[str, str, dict[str, Any], list[str], Any]]:
    """Name, program, inputs and sources; and the value and the gradients by hand."""
    import numpy as np
    from numba import njit

    @njit(error_model="numpy")
    def numbers(x: float, y: float) -> Any:
        return x**2 * y, 2 * x * y, x**2

    yield "two numbers", "x**2 * y", {"x": 3.0, "y": 2.0}, ["x", "y"], numbers

    @njit(error_model="numpy")
    def cubes(x: Any) -> Any:
        gradient = np.empty(x.size)
        total = 0.0
        for i in range(x.size):
            total += x[i] * x[i] * x[i]
            gradient[i] = 3 * x[i] * x[i]
        return total, gradient

    yield "four elements", "sum(x * x * x)", {"x": np.arange(1.0, 5.0)}, ["x"], cubes
    yield "a thousand elements", "sum(x * x * x)", {"x": np.linspace(0.0, 1.0, 1000)}, ["x"], cubes

    @njit(error_model="numpy")
    def product(a: Any, x: Any, y: Any) -> Any:
        m, n = a.shape
        da, dx, dy = np.empty((m, n)), np.zeros(n), np.zeros(m)
        total = 0.0
        for i in range(m):
            row = 0.0
            for j in range(n):
                row += a[i, j] * x[j]
                da[i, j] = y[i] * x[j]
                dx[j] += a[i, j] * y[i]
            total += y[i] * row
            dy[i] = row
        return total, da, dx, dy

    draw = np.random.default_rng(5)
    point = {"a": draw.normal(size=(3, 4)), "x": draw.normal(size=4), "y": draw.normal(size=3)}
    yield "three arrays", "sum(y * (a @ x))", point, ["a", "x", "y"], product


def per_call(call: Callable[[], object]) -> float:
    def calls() -> None:
        for _ in range(CALLS):
            call()

    return best_of(calls, 1) / CALLS


def rows() -> Iterator[Row]:
    if not available("numba"):
        return
    import numpy as np

    for name, text, point, wrt, by_hand in workloads():
        program = adiff.program(text)
        repeated = program.repeated("grad", point, wrt, engine="kernel")
        arguments = list(point.values())
        expected = by_hand(*arguments)
        found = repeated(point)
        assert found.engine == "kernel"
        for ours, theirs in zip([found.value, *found.gradients.values()], expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12)
        for _ in range(3):
            program.evaluate("grad", point, wrt, engine="kernel")
        sides: dict[str, Callable[[], object]] = {
            "repeated": partial(repeated, point),
            "evaluate": partial(program.evaluate, "grad", point, wrt, engine="kernel"),
            "by hand": partial(by_hand, *arguments),
        }
        best = dict.fromkeys(sides, float("inf"))
        for _ in range(REPEATS):
            for side, call in sides.items():
                best[side] = min(best[side], per_call(call))
        for side in ("repeated", "evaluate"):
            yield Row(f"{side}: {name}", "numba by hand", best[side] * 1e6, best["by hand"] * 1e6, "us")
