"""The tape gives way to a kernel once it has taken as long as a kernel takes to be ready."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import adiff
import pytest
from adiff.engine import tier
from adiff.engine.core.limits import LIMITS

# Loops that data end, and functional ones.
PROGRAMS = [
    "y = x\nk = 0\nwhile True:\n    y = y * 0.999\n    k += 1\n    if k == n:\n        break\ny",
    "while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * 0.999), (0, x))[1]",
    "fori_loop(0, n, lambda i, y: y * 0.999, x)",
]


@pytest.fixture(autouse=True)
def no_patience(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The first look at the clock ends the tape's turn, however quick the machine is."""
    monkeypatch.setattr(tier, "READY_KEPT", 0.0)
    monkeypatch.setattr(tier, "READY_COMPILED", 0.0)
    monkeypatch.setenv("ADIFF_CACHE_DIR", str(tmp_path))


@pytest.mark.parametrize("text", PROGRAMS)
def test_a_kernel_takes_over(text: str) -> None:
    outcome = adiff.program(text).evaluate("grad", {"x": 2.0, "n": 5000}, ["x"])
    assert (outcome.engine, outcome.reason) == ("kernel", "the tape had not finished after 0 s")
    assert outcome.gradients == {"x": pytest.approx(0.999**5000, rel=1e-12)}
    assert LIMITS.patience is None
    assert LIMITS.max_steps is None


@pytest.mark.parametrize(
    ("command", "last", "options"),
    [
        ("hessian", "sum(y)", {}),
        ("hvp", "sum(y)", {"vector": {"x": [1.0, 0.5]}}),
        ("jacobian", "stack([y, y * y, y + 1.0, y - 1.0]).reshape(8)", {"mode": "reverse"}),
    ],
)
def test_in_every_command(command: str, last: str, options: dict[str, Any]) -> None:
    text = "y = x * 1.0\nk = 0\nwhile k < n:\n    y = y * 0.999 + 0.001 * sin(y) * y\n    k += 1\n" + last
    found = adiff.program(text).evaluate(command, {"x": [0.5, 0.7], "n": 2000}, ["x"], **options)
    assert found.engine == "kernel", found.reason


def test_what_is_printed_is_printed_once() -> None:
    lines: list[str] = []
    text = "i = 0\nprint('start')\nwhile True:\n    i += 1\n    if i == 3000:\n        break\nprint(i)\nx * i"
    outcome = adiff.program(text).evaluate("grad", {"x": 2.0}, write=lines.append)
    assert "".join(lines) == "start\n3000\n"
    assert outcome.gradients == {"x": 3000.0}


def test_where_there_is_no_kernel_the_tape_ends_what_it_began() -> None:
    text = "s = 0.0\nk = 0\nwhile True:\n    s += x * len(str(k))\n    k += 1\n    if k == 1200:\n        break\ns"
    program = adiff.program(text)
    outcome = program.evaluate("grad", {"x": 2.0})
    assert outcome.engine == "tape"
    assert outcome.reason.startswith("no kernel for")
    assert outcome.gradients == {"x": 10 * 1.0 + 90 * 2 + 900 * 3 + 200 * 4}  # numbers of so many digits
    assert not program.gives_way


def test_notices_are_those_of_one_run() -> None:
    text = "s = 0.0\nk = 0\nwhile True:\n    s += abs(x - k)\n    k += 1\n    if k == 3000:\n        break\ns"
    outcomes = [adiff.program(text).evaluate("grad", {"x": 2.0}, engine=engine) for engine in ("auto", "tape")]
    assert outcomes[0].engine == "kernel"
    told = [[(n.code, n.message, n.span.start) for n in outcome.notices if n.span is not None] for outcome in outcomes]
    assert told[0] == told[1]
    assert len(told[0]) == 1
    assert math.isclose(outcomes[0].value, outcomes[1].value, rel_tol=1e-14)
