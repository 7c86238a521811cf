"""Small programs for each thing that can go wrong, on the tape and in kernels run as plain Python, or declined for a reason."""

import re
from pathlib import Path
from random import Random
from typing import Any

import adiff
import numpy as np
import pytest
from generated import point, program
from machine import without_compiler
from tiers import COMMANDS, agree

CASES = [case.strip().split("\n", 1) for case in (Path(__file__).parent / "programs.txt").read_text().split("\n---\n")]
V = np.array([0.3, -1.1, 0.9, 2.0])
POINTS: list[dict[str, Any]] = [
    {"x": 0.7, "y": -1.3, "n": 5, "v": V},
    {"x": -1.6, "y": 0.4, "n": 0, "v": np.array([1.5, 0.2, -0.4, 0.0])},
]


@pytest.fixture(autouse=True)
def in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    without_compiler(monkeypatch)


@pytest.mark.parametrize("part", range(8))
def test_programs_agree_or_are_declined(part: int) -> None:
    """The gradient, and one of the other commands."""
    declined = [agree(text, at) for _, text in CASES[part::8] for at in POINTS]
    for number, (_, text) in enumerate(CASES[part::8]):
        agree(text, POINTS[number % 2], COMMANDS[(number + part) % len(COMMANDS)])
    assert sum(map(bool, declined)) < len(declined) / 3, [why for why in declined if why]


def test_generated() -> None:
    for seed in range(60):
        pick = Random(seed).choice
        agree(program(pick), point(pick), tolerance=1e-9, codes_only=True, size=0.01)


LOOPS = (
    "y = x\nfor i in range(n):\n    if y > 1:\n        y = y * 0.5 + x\n    else:\n        y += 0.3\ny",
    "sum([x**i for i in range(n + 70)])",
    "fori_loop(0, 10, lambda i, a: a * x + i, 1.0)",
    "def f(x):\n    while x < 50:\n        x = x * x + 1\n    return x\ngrad(f)(x)",
)


def emitted(text: str, at: dict[str, Any], command: str = "grad") -> str:
    program = adiff.program(text)
    return program.evaluate(command, {name: at[name] for name in program.inputs}, engine="kernel").emitted or ""


@pytest.mark.parametrize("text", LOOPS)
def test_loops_stay_loops(text: str) -> None:
    assert agree(text, POINTS[0], "value") == ""
    assert re.search(r"^ *(for|while) ", emitted(text, POINTS[0], "value"), re.M)


TAKEN = (
    "jvp(lambda u: u * u * y, (x,), (1.5,))[1]",
    "hvp(lambda u: u**3 * y, x, 1.5)",
    "hvp(lambda u: u**3 * y, (x,), (1.5,))[0]",
    "linearize(lambda u: u * u * y, x)[1](1.5)",
    "grad(lambda u: (u * u * y, u), has_aux=True)(x)[0]",
    "(v, w), g = value_and_grad(lambda u: (u * u * y, u), has_aux=True)(x)\nv * w + g",
    "math.floor(x * 3) * y + math.ceil(y) * x + math.trunc(x * y) * y",
)


@pytest.mark.parametrize("text", TAKEN)
def test_kernels_take_what_the_library_says(text: str) -> None:
    for command in ("value", "grad"):
        assert agree(text, POINTS[0], command) == ""


def test_tracing_takes_no_longer_for_longer_loops() -> None:
    text = (
        "s = 0.0\nif x > 2:\n    for i in range({n}):\n        for j in range({n}):\n            s = s * 0.5 + x * j\ns"
    )
    short, long = (emitted(text.format(n=n), {"x": 1.0}, "value") for n in (10, 10**6))
    assert len(long.splitlines()) <= len(short.splitlines()) + 2  # where it may be stopped


def test_updates_in_a_loop_copy_nothing() -> None:
    text = "w = zeros(6)\nw[0] = x[0]\nfor i in range(1, 6):\n    w[i] = 0.9 * w[i - 1] + x[i]\nsum(w * w)"
    assert emitted(text, {"x": np.ones(6)}, "value").count("floats(") == 1


@pytest.mark.parametrize("text", ["sum((x * x + 1) * x / (2 + x * x))", "sum(100 * (x[1:] - x[:-1] ** 2) ** 2)"])
def test_value_and_gradient_are_one_loop(text: str) -> None:
    assert emitted(text, {"x": np.ones(9)}).count("for ") == 1
