"""Growth: time and memory against loop length, tensor size and program length. Twice as much may cost twice as much.

Time is the processor's where one core does all: others' work, which a long run always meets, is no growth.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import adiff
from harness import Row, best_of, python
from hostile_texts import HOSTILE

LOOP = """
y = x
for i in range(n):
    y = y * 0.5 + a if y > 1.0 else y + x * 0.1
y
"""
# How much more than in proportion a cost may grow over one step.
SLACK = 1.3


def straight(statements: int) -> str:
    """A program of so many statements, all needed."""
    lines = ["y0 = x"]
    lines += [f"y{k + 1} = sin(y{k}) * 0.9 + x * {k % 7 + 1}.0" for k in range(statements)]
    return "\n".join([*lines, f"y{statements}"])


def products(statements: int) -> str:
    """A program of so many products of matrices, all needed."""
    return "\n".join(["y = x", *(f"y = y @ a * 0.5 + x * {k % 7 + 1}.0" for k in range(statements)), "sum(y)"])


def step(name: str, cost: Callable[[int], float], small: int, large: int) -> Row:
    """The growth of a cost from a small size to a large one, against growth in proportion."""
    return Row(f"{name}, {small:,} to {large:,}", "in proportion", cost(large) / cost(small), large / small, "x", SLACK)


def flat(name: str, cost: Callable[[int], float], small: int, large: int) -> Row:
    """A cost that must not depend on the size."""
    return Row(f"{name}, {small:,} to {large:,}", "no growth", cost(large) / cost(small), 1.0, "x", SLACK)


def gradient(text: str, at: dict[str, Any], engine: str) -> Callable[[], object]:
    program = adiff.program(text)
    run = lambda: program.evaluate("grad", at, ["x"], engine=engine)  # noqa: E731
    assert run().engine == engine
    return run


def first_kernel(text: str, at: dict[str, Any]) -> float:
    """Seconds until a program that was never seen has its first gradient from a kernel: the best of five times."""
    taken = []
    for _ in range(5):
        with tempfile.TemporaryDirectory() as empty:
            os.environ["ADIFF_CACHE_DIR"] = empty
            start = time.process_time()
            found = adiff.program(text).evaluate("grad", at, ["x"], engine="kernel")
            taken.append(time.process_time() - start)
            del os.environ["ADIFF_CACHE_DIR"]
        assert found.engine == "kernel", found.reason
    return min(taken)


def parsing(n: int) -> Callable[[str], float]:
    """The seconds that the parser takes for a hostile text of so many repetitions."""
    return lambda name: best_of(lambda: parsed("".join((HOSTILE[name][0], HOSTILE[name][1] * n))), 5, time.thread_time)


def parsed(text: str) -> None:
    with contextlib.suppress(adiff.AdiffError):
        adiff.program(text)


def worst_to_parse(small: int, large: int) -> str:
    """The hostile text whose time grows most."""
    return max(HOSTILE, key=lambda name: parsing(large)(name) / parsing(small)(name))


def peak(n: int, engine: str) -> float:
    """The peak memory in bytes of a process that differentiates a loop of n iterations."""
    import subprocess

    code = (
        f"import adiff, re; p = adiff.program({LOOP!r}); "
        f"p.evaluate('grad', {{'x': 0.7, 'a': 0.3, 'n': {n}}}, ['x', 'a'], engine={engine!r}); "
        "print(int(re.search('VmHWM:[^0-9]*([0-9]+)', open('/proc/self/status').read())[1]) * 1024)"
    )
    found = subprocess.run(python(code), check=True, capture_output=True, text=True, cwd=Path(__file__).parent)
    return float(found.stdout)


def rows() -> list[Row]:
    import numpy as np

    def loop(engine: str) -> Callable[[int], float]:
        clock = time.thread_time if engine == "tape" else time.perf_counter
        return lambda n: best_of(gradient(LOOP, {"x": 0.7, "a": 0.3, "n": n}, engine), 5, clock)

    def vector(engine: str) -> Callable[[int], float]:
        clock = time.thread_time if engine == "tape" else time.perf_counter
        expression = "sum(exp(-x**2) * sin(x) / (1 + x**2))"
        return lambda n: best_of(gradient(expression, {"x": np.linspace(0.0, 2.0, n)}, engine), 7, clock)

    def text(n: int) -> float:
        run = lambda: adiff.program(straight(n)).evaluate("grad", {"x": 0.7}, engine="tape")  # noqa: E731
        return best_of(run, 5, time.thread_time)

    def vector_kernel(n: int) -> float:
        return first_kernel("sum(exp(-x**2) * sin(x))", {"x": np.linspace(0.0, 2.0, n)})

    def products_kernel(n: int) -> float:
        x = np.array([[0.9, 0.2, -0.1], [0.1, 0.7, 0.3], [-0.2, 0.1, 0.8]])
        return first_kernel(products(n), {"x": x, "a": 0.3 * x})

    worst = worst_to_parse(2_000, 16_000)
    first_kernel("x * 2.0", {"x": 1.0})  # the compiler is loaded
    # Kernels keep some memory for their next run: sizes are beyond that, or a step would be one from kept to new memory.
    found = [
        step("time of a loop, tape", loop("tape"), 10_000, 40_000),
        step("time of a loop, kernel", loop("kernel"), 40_000_000, 160_000_000),
        step("time of a vector, tape", vector("tape"), 1_000_000, 4_000_000),
        step("time of a vector, kernel", vector("kernel"), 8_000_000, 32_000_000),
        step("time of a program from its text, tape", text, 250, 1_000),
        step(f"time of the parser, {worst}", lambda n: parsing(n)(worst), 4_000, 16_000),
        step("time of a program never seen, kernel", lambda n: first_kernel(straight(n), {"x": 0.7}), 60, 240),
        step("the same, lines of 3x3 products", products_kernel, 10, 40),
        flat("first kernel of a loop", lambda n: first_kernel(LOOP, {"x": 0.7, "a": 0.3, "n": n}), 10, 100_000),
        flat("first kernel of a vector", vector_kernel, 100, 100_000),
    ]  # fmt: skip
    if sys.platform == "linux":
        peak(10, "kernel")  # which is kept: compiling takes memory too
        base = {engine: peak(10, engine) for engine in ("tape", "kernel")}
        found.append(step("memory of a loop, tape", lambda n: peak(n, "tape") - base["tape"], 100_000, 400_000))
        found.append(
            step("memory of a loop, kernel", lambda n: peak(n, "kernel") - base["kernel"], 32_000_000, 128_000_000)
        )
    return found
