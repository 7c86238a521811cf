"""`adiff check` of a program that a kernel answers: the values that it compares with are a kernel's too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from adiff import Program
from adiff.engine import nearby
from adiff.engine.kernels.runtime import Kernels
from adiff.engine.nearby import Nearby
from adiff.engine.pieces import same_piece

LOOP = "y = x\nfor i in range(n):\n    y = sin(y) * a + 0.1 * exp(-y * y)\n"
# Program, inputs, the method.
CASES: list[tuple[str, dict[str, Any], str]] = [
    (LOOP + "y", {"x": 0.7, "a": 0.3, "n": 20}, "complex step"),
    (LOOP + "[y, n, y > 1]", {"x": 0.7, "a": 0.3, "n": 20}, "Richardson"),
    ("y = x\nfor i in range(n):\n    y = y * 0.5 if y > 1 else y + a\ny", {"x": 0.7, "a": 0.31, "n": 9}, "Richardson"),
    ("sum(x * x + a)", {"x": [1.0, 2.0, 3.0], "a": [0.5, 1.0, 2.0]}, "complex step"),
    ("x * abs(a)", {"x": 1 + 2j, "a": 2.0}, "Richardson"),
]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("text", "at", "method"), CASES)
def test_verdict(text: str, at: dict[str, Any], method: str) -> None:
    tape, kernel = (Program(text).evaluate("check", at, ["x", "a"], engine=engine) for engine in ("tape", "kernel"))
    assert kernel.engine == "kernel"
    assert tape.check.ok
    assert kernel.check.ok
    assert kernel.check.max_error < 1e-8
    assert kernel.check.method == tape.check.method
    assert kernel.check.method.startswith(method)


@pytest.mark.usefixtures("interpret")
def test_values_come_from_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program(LOOP + "y")
    asked = []
    evaluate = Kernels.evaluate

    def noted(self: Kernels, values: Any, sources: Any, *rest: Any) -> Any:
        found = evaluate(self, values, sources, *rest)
        asked.append(None if sources is not None else values["x"])
        return found

    monkeypatch.setattr(Kernels, "evaluate", noted)
    outcome = program.evaluate("check", {"x": 0.7, "a": 0.3, "n": 2}, ["x"], engine="kernel")
    assert outcome.check.ok
    assert outcome.reason == "asked for"
    assert asked == [None, 0.7 + 1e-30j, 0.7, *asked[3:]]
    assert len(asked) == 6


@pytest.mark.usefixtures("interpret")
def test_a_wrong_rule_is_found() -> None:
    text = "@custom_gradient\ndef f(t):\n    def back(g):\n        return g * 5 * t\n    return t * t, back\n"
    outcome = Program(f"{text}y = 0.0\nfor i in range(3):\n    y += f(x)\ny").evaluate(
        "check", {"x": 3.0}, engine="kernel"
    )
    assert outcome.engine == "kernel"
    assert not outcome.check.ok


@pytest.mark.usefixtures("interpret")
def test_what_the_tape_gives_is_said() -> None:
    outcome = Program("l = []\nfor i in range(100):\n    l.append(x * i)\nl[3][0, 1] * x[1, 1]").evaluate(
        "check", {"x": np.array([[1.0, 2.0], [3.0, 5.0]])}, engine="kernel"
    )
    assert outcome.engine == "kernel"
    assert outcome.check.method == "complex step"
    why = "a list of lists that grows in a loop"
    assert outcome.reason.endswith(f"; the tape gave values to check it with: no kernel for {why}")


# A program, and how far from x = 0.7 one end of the piece is that this is on.
PIECES: list[tuple[str, float]] = [
    ("abs(x - 0.5) + relu(x)", -0.2),
    ("maximum(x, 1.0) * x", 0.3),
    ("min(x, x * x, 2.0)", 0.3),
    ("clip(x, 0.2, 0.9) + hard_tanh(x)", 0.2),
    ("leaky_relu(0.6 - x)", -0.1),
    ("mod(x, 0.3) * x", -0.1),
    ("floor(x * 4) * x + int(x)", 0.05),
    ("x if x > 0.5 else 2 * x", -0.2),
    ("y = x\nwhile y < 3:\n    y = y * 2\ny", 0.05),
    ("sum(sort(array([x, 1 - x, 2 * x])) * array([1.0, 2.0, 3.0]))", -0.2),
    ("max(array([x, 1.0 - x]))", -0.2),
    ("cast(argmax(array([x, 0.5])), float64) * x", -0.2),
    # Half of what the divisor, or the argument, is there.
    ("1 / (x - 0.3)", -0.2),
    ("log(x) + sqrt(x)", -0.35),
    ("x**1.5 + x**3", -0.35),
    ("log1p(-x)", 0.15),
    ("norm(array([x, x]))", -0.35),
]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("text", "edge"), PIECES)
@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_a_kernel_tells_pieces_apart(text: str, edge: float, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program(text)
    there = []
    telling = Nearby.story

    def story(self: Nearby, name: str, value: Any, measuring: bool = False) -> Any:
        if not there:
            there.extend([telling(self, name, 0.7 + part * edge) for part in (0.0, 0.95, -0.1, 1.05)])
            assert (self.choosing is not None) == (engine == "kernel")
        return telling(self, name, value, measuring)

    monkeypatch.setattr(Nearby, "story", story)
    assert program.evaluate("check", {"x": 0.7}, engine=engine).check.ok
    here, *others = there
    assert [same_piece(here, other) for other in others] == [True, True, False]


@pytest.mark.usefixtures("interpret")
def test_choices_come_from_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """By one of two inputs the program is analytic, and no run of the tape tells so."""
    monkeypatch.setattr(nearby, "story", None)
    outcome = Program("y = x\nfor i in range(9):\n    y = y * 0.5 if y > 1 else y + 0.31\ny * sin(a)").evaluate(
        "check", {"x": 0.7, "a": 0.3}, engine="kernel"
    )
    assert outcome.check.ok
    assert [outcome.check.sources[name]["method"][:7] for name in "xa"] == ["Richard", "complex"]
