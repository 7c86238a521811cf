"""The tape gives way to a kernel where a program takes much longer than it was thought to."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import adiff
import pytest
from adiff.engine import tier
from adiff.engine.core.limits import LIMITS
from adiff.engine.kernels import learning, work

# The work of each is nowhere written: 5,000 turns of a loop that data ends, of functional loops, of a recursion.
PROGRAMS = {
    "y = x\nk = 0\nwhile True:\n    y = y * 0.999\n    k += 1\n    if k == n:\n        break\ny": 0.999**5000,
    "while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * 0.999), (0, x))[1]": 0.999**5000,
    "fori_loop(0, int(round(n * cos(x - x))), lambda i, y: y * 0.999, x)": 0.999**5000,
    "def f(k):\n    if k == 0:\n        return x\n    return f(k - 1) * 0.999\ns = 0.0\nwhile s < n * 5.0 * cos(x - x):\n    s += f(10)\ns": None,
}


@pytest.fixture(autouse=True)
def no_patience(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The first look at the clock ends the tape's turn, however quick the machine is."""
    monkeypatch.setattr(work, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setenv("ADIFF_CACHE_DIR", str(tmp_path))


@pytest.mark.parametrize("text", PROGRAMS)
def test_a_kernel_takes_over(text: str) -> None:
    outcome = adiff.program(text).evaluate("grad", {"x": 2.0, "n": 5000}, ["x"])
    assert (outcome.engine, outcome.reason) == ("kernel", "the tape had not done in a moment")
    slope = PROGRAMS[text]
    if slope is None:
        slope = adiff.program(text).evaluate("grad", {"x": 2.0, "n": 5000}, ["x"], engine="tape").gradients["x"]  # type: ignore[index]
    assert outcome.gradients == {"x": pytest.approx(slope, rel=1e-12)}
    assert LIMITS.patience is None
    assert LIMITS.max_steps is None


def test_a_kernel_that_is_kept_comes_after_the_tape_where_nobody_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    """To load one takes longer than the tape takes for little work."""
    text = "y = x\nk = 0\nwhile True:\n    y = y * 0.999\n    k += 1\n    if k == n:\n        break\ny"
    kept = adiff.program(text).evaluate("grad", {"x": 2.0, "n": 50}, ["x"], engine="kernel")
    found = []
    for n, patience in ((50, 100.0), (5000, 0.0)):
        monkeypatch.setattr(work, "SHARE", 1e9)
        monkeypatch.setattr(work, "PATIENCE_SECONDS", patience)
        program = adiff.program(text)
        found.append(program.evaluate("grad", {"x": 2.0, "n": n}, ["x"]))
    assert [outcome.engine for outcome in (kept, *found)] == ["kernel", "tape", "kernel"]
    assert found[0].reason == "the tape is done before a kernel would be loaded"
    # Once it is there it answers at once.
    assert program.evaluate("grad", {"x": 2.0, "n": 50}, ["x"]).reason == "enough work to repay the compiler"


def test_what_the_tape_has_taken_is_known_the_next_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the tape was left late it is left early, until there is less to do."""
    monkeypatch.setattr(tier, "WORTH_COUNTING", math.inf)
    text = next(iter(PROGRAMS))
    adiff.program(text).evaluate("grad", {"x": 2.0, "n": 50}, ["x"], engine="kernel")

    def engine(late: float, early: float, n: int) -> str:
        monkeypatch.setattr(work, "KEPT_SHARE", late)
        monkeypatch.setattr(work, "LEFT_SHARE", early)
        return adiff.program(text).evaluate("grad", {"x": 2.0, "n": n}, ["x"]).engine

    at_once, never = 1e-9, 1e9
    assert engine(never, at_once, 5000) == "tape"  # nothing is known
    assert engine(at_once, never, 5000) == "kernel"
    assert engine(at_once, never, 5000) == "tape"  # what is known is not forgotten
    assert engine(at_once, at_once, 5000) == "kernel"
    assert engine(at_once, never, 5000) == "tape"
    monkeypatch.setattr(learning, "OTHER_DATA", 0.0)
    assert engine(at_once, at_once, 500) == "kernel"
    assert engine(never, at_once, 5000) == "tape"


@pytest.mark.parametrize("text", [next(iter(PROGRAMS)), "y = x\nfor i in range(n):\n    y = y * 0.999\ny"])
def test_what_the_tape_has_spent_repays_a_kernel(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of programs that are evaluated again and again, each time as if for the first."""
    monkeypatch.setattr(work, "PATIENCE_SECONDS", 100.0)
    monkeypatch.setattr(work, "SHARE", 1e9)
    monkeypatch.setattr(tier, "WORTH_COUNTING", 0.0)

    def engine(command: str) -> str:
        return adiff.program(text).evaluate(command, {"x": 2.0, "n": 500}, ["x"] if command == "grad" else None).engine

    assert engine("grad") == "tape"
    assert 0.0 < tier.SPENT[text, "grad"] < 1.0
    tier.SPENT[text, "grad"] = 1e9
    assert [engine("grad"), engine("value")] == ["kernel", "tape"]


@pytest.mark.parametrize(
    ("command", "text", "options"),
    [
        ("hessian", "sum(y)", {}),
        ("hvp", "sum(y)", {"vector": {"x": [1.0, 0.5]}}),
        ("jacobian", "stack([y, y * y, y + 1.0, y - 1.0]).reshape(8)", {"mode": "reverse"}),
    ],
)
def test_what_is_recorded_tells_what_is_left(
    command: str, text: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tape that has run the program in time gives way where the sweeps would take longer than a kernel."""
    monkeypatch.setattr(work, "SHARE", 1e9)
    monkeypatch.setattr(work, "PATIENCE_SECONDS", 100.0)
    text = (
        "y = x * 1.0\nk = 0\nwhile k < n * cos(sum(x - x)):\n    y = y * 0.999 + 0.001 * sin(y) * y\n    k += 1\n"
        + text
    )
    program = adiff.program(text)
    found = [program.evaluate(command, {"x": [0.5, 0.7], "n": n}, ["x"], **options) for n in (3, 2000)]
    assert [outcome.reason for outcome in found] == [
        "the tape is done before a kernel would be compiled",
        "the tape had not done in a moment",
    ]


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


@pytest.mark.parametrize("engine", ["auto", "tape"])
def test_steps_are_limited_as_ever(engine: str) -> None:
    options: dict[str, Any] = {"max_steps": 2000, "engine": engine}
    with pytest.raises(adiff.AdiffError) as caught:
        adiff.program(next(iter(PROGRAMS))).evaluate("value", {"x": 2.0, "n": 5000}, **options)
    assert caught.value.code == "E0601"


def test_notices_are_those_of_one_run() -> None:
    text = "s = 0.0\nk = 0\nwhile True:\n    s += abs(x - k)\n    k += 1\n    if k == 3000:\n        break\ns"
    outcomes = [adiff.program(text).evaluate("grad", {"x": 2.0}, engine=engine) for engine in ("auto", "tape")]
    assert outcomes[0].engine == "kernel"
    told = [[(n.code, n.message, n.span.start) for n in outcome.notices if n.span is not None] for outcome in outcomes]
    assert told[0] == told[1]
    assert len(told[0]) == 1
    assert math.isclose(outcomes[0].value, outcomes[1].value, rel_tol=1e-14)
