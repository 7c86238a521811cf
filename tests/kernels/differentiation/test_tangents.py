"""Hessians, Jacobians and the directional products by kernels: against the tape, and against closed forms."""

from __future__ import annotations

import math
import os
import random
from functools import cache
from pathlib import Path
from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine.kernels.construction import derivatives
from adiff.engine.ops.registry import ROWS
from agreement import agree, close, spans
from element_rows import EXTREMES, FEWER, VALUES_ALONE, rows
from generated import program

CASES = (Path(__file__).parents[1] / "programs.txt").read_text().split("\n---\n")
V = np.array([0.3, -1.1, 0.9, 2.0])
POINTS: list[dict[str, Any]] = [
    {"x": 0.7, "y": -1.3, "n": 5, "v": V},
    {"x": -1.6, "y": 0.4, "n": 0, "v": np.array([1.5, 0.2, -0.4, 0.0])},
]
DIRECTION = {"x": 0.3, "y": -0.8, "v": np.array([0.5, -1.0, 0.25, 2.0])}
# Relative to the largest element of a matrix: second derivatives add what cancels in other orders.
TOLERANCE = 1e-12
# A tape finds a Hessian by two sweeps back, which round otherwise where random programs cancel.
LOOSE = 1e-9
LONG = bool(os.environ.get("ADIFF_LONG_TESTS"))
GENERATED = 200 if LONG else 8


def both(text: str, at: dict[str, Any], command: str, tolerance: float = TOLERANCE, **options: Any) -> str:
    inputs = adiff.program(text).inputs
    wrt = [name for name in inputs if name != "n"]
    option = {"jvp": "tangent", "hvp": "vector"}.get(command)
    if option is not None:
        options[option] = {name: DIRECTION[name] for name in wrt}
    return agree(text, {name: at[name] for name in inputs}, wrt, command, tolerance, **options) if wrt else "no input"


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case.strip().split("\n")[0].lstrip("# ") for case in CASES])
@pytest.mark.usefixtures("interpret")
def test_program(number: int) -> None:
    """The Hessian or a product, or all of them."""
    _, text = CASES[number].strip().split("\n", 1)
    commands = [("hessian", POINTS[0]), ("hvp", POINTS[1]), ("jvp", POINTS[0]), ("vjp", POINTS[1])]
    for command, point in commands if LONG else [commands[0 if number % 4 else 1 + number // 4 % 3]]:
        both(text, point, command)


@pytest.mark.usefixtures("interpret")
def test_most_programs_are_taken() -> None:
    reasons = [both(case.strip().split("\n", 1)[1], POINTS[0], "hvp") for case in CASES[::8]]
    assert reasons.count("") >= 0.75 * len(reasons), reasons


@pytest.mark.usefixtures("interpret")
def test_generated() -> None:
    reasons = []
    for seed in range(GENERATED):
        draw = random.Random(seed)
        at = {"x": draw.uniform(-2, 2), "y": draw.uniform(-2, 2), "n": draw.randint(0, 5), "v": V}
        reasons += [both(program(seed), at, command) for command in ("hvp", "jvp")]
        both(program(seed), at, "hessian", LOOSE)
    assert reasons.count("") >= 0.75 * len(reasons), reasons


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("policy", ["tensorflow", "jax", "torch"])
def test_kinks_by_every_policy(policy: str) -> None:
    for case in CASES:
        title, text = case.strip().split("\n", 1)
        if "kinks" in title or "jumps" in title:
            both(text, POINTS[1], "hessian", kinks=policy)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", ["sum(v * v) * x", "max(v) * x", "(v @ v) * x", "abs(x) * sum(v)"])
def test_infinite_tangents_are_those_of_the_reverse_sweep(text: str) -> None:
    """A tangent that is infinite may be the sum of infinities of both signs."""
    for v in (np.array([0.3, -1.1]), np.array([1e200, -1.0]), np.array([math.inf, -math.inf])):
        agree(text, {"x": math.inf, "v": v}, ["x", "v"], "jvp", tangent={"x": 0.5, "v": np.array([0.5, 0.5])})


@cache
def row_program(name: str, count: int) -> Any:
    return adiff.program(f"{'rint' if name == 'round' else name}({', '.join('abc'[:count])})")


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("count", [1, 2])
def test_rows_at_extremes(count: int) -> None:
    """Second derivatives of every row by both tiers, at ordinary arguments and at the ends of the floats."""
    values = EXTREMES if count == 1 else FEWER
    wrong, taken = [], 0
    names = [name for name in rows(count) if ROWS[name].dtype != "bool" and name not in VALUES_ALONE]
    for number, name in enumerate(names):
        points = [(a,) for a in values] if count == 1 else [(a, b) for a in values for b in values][number % 5 :: 5]
        for point in points:
            at = dict(zip("abc", point))
            tape, kernel = (row_program(name, count).evaluate("hessian", at, engine=e) for e in ("tape", "kernel"))
            if kernel.engine == "tape":
                continue
            taken += 1
            if name == "gaussian" and abs(point[0]) == 1e308:
                # The sweep back over a sweep back overflows here; the tangent of the sweep is right.
                assert kernel.hessian["a"]["a"] == 0.0
                continue
            same = all(close(tape.hessian[r][c], kernel.hessian[r][c], TOLERANCE) for r in at for c in at) and spans(
                tape.notices
            ) == spans(kernel.notices)
            if not same:
                wrong.append((name, at, tape.hessian, kernel.hessian, tape.notices, kernel.notices))
    assert not wrong, "\n".join(map(str, wrong))
    assert taken > 5 * len(names)


JACOBIANS = [
    "stack([x * y, sin(v[0]) * y, x**3]) * v[1]",
    "v * v[2] + x",
    "r = v * 1.0\nfor i in range(3):\n    r[i + 1] = r[i] * r[i + 1] + y\nr",
    "a = abs(v - 0.9)\nconcat([a, -a])",
    "s = 0.0\nfor i in range(n):\n    s = s + v[i % 4] * x\nstack([s, s * y])",
    "maximum(v, 0.9) * x",
]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
@pytest.mark.parametrize("text", JACOBIANS)
def test_jacobian(text: str, mode: str) -> None:
    assert both(text, POINTS[0], "jacobian", mode=mode) == ""


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("lanes", [1, 2, 3, 4])
def test_directions_together(lanes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many directions a pass follows, the Hessian is the same; the last pass may have fewer."""
    monkeypatch.setattr(derivatives, "LANES", lanes)
    text = "w = v * x\nfor i in range(2):\n    w[i + 1] = w[i] * w[i + 1] + y\nsum(w * w) / (1 + x * x)"
    assert both(text, POINTS[0], "hessian") == ""
    assert both("stack([x * y, sin(v[0]) * y, x**3]) * v[1]", POINTS[0], "jacobian", mode="forward") == ""


def test_compiled_hessian_of_a_closed_form() -> None:
    """The Hessian of chained Rosenbrock is tridiagonal, with entries known in closed form."""
    text = "s = 0.0\nfor i in range(len(x) - 1):\n    s += 100*(x[i+1] - x[i]**2)**2 + (1 - x[i])**2\ns"
    x = np.linspace(-1.2, 1.0, 9)
    outcome = adiff.program(text).evaluate("hessian", {"x": x}, engine="kernel")
    assert outcome.engine == "kernel", outcome.reason
    expected = np.zeros((9, 9))
    for i in range(8):
        expected[i, i] += 1200 * x[i] ** 2 - 400 * x[i + 1] + 2
        expected[i + 1, i + 1] += 200
        expected[i, i + 1] = expected[i + 1, i] = -400 * x[i]
    assert np.allclose(outcome.hessian["x"]["x"], expected, rtol=1e-13, atol=1e-11)
    assert "for" in outcome.emitted


def test_compiled_products_of_a_closed_form() -> None:
    """f = x**n by a loop: f' = n x**(n-1), f'' = n (n-1) x**(n-2)."""
    text = "y = 1.0\nfor i in range(n):\n    y = y * x\ny"
    made = adiff.program(text)
    at = {"x": 1.25, "n": 7}
    tangent = made.evaluate("jvp", at, ["x"], tangent={"x": 2.0}, engine="kernel")
    product = made.evaluate("hvp", at, ["x"], vector={"x": 2.0}, engine="kernel")
    assert (tangent.engine, product.engine) == ("kernel", "kernel")
    assert close(tangent.tangent, 2 * 7 * 1.25**6, 1e-14)
    assert close(product.product["x"], 2 * 42 * 1.25**5, 1e-14)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("engine", ["tape", "kernel"])
@pytest.mark.parametrize("text", ["-v * x", "s = v\nfor i in range(3):\n    s = -s * x\ns"])
def test_zeros_of_tangents_have_no_sign(text: str, engine: str) -> None:
    at = {"x": 0.0, "v": np.array([1.0, -1.0])}
    for zero in (0.0, -0.0):
        found = adiff.program(text).evaluate("jvp", at, tangent={"x": zero, "v": zero * at["v"]}, engine=engine).tangent
        assert (found == 0).all()
        assert not np.signbit(found).any()
