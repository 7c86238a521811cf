"""Long loops on the tape in bounded memory: nothing but the memory is different."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import adiff
import numpy as np
import pytest
from adiff import AdiffError
from adiff.engine.eager import long_loops

CASES = (Path(__file__).parents[1] / "kernels/programs.txt").read_text().split("\n---\n")
LOOPS = [case.strip() for case in CASES if "for " in case or "while " in case]
POINT: dict[str, Any] = {"x": 0.7, "y": -1.3, "n": 5, "v": np.array([0.3, -1.1, 0.9, 2.0])}


@pytest.fixture
def replays(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many blocks each long loop was swept in."""
    found: list[int] = []
    replay = long_loops.LongLoop.replay

    def counted(self: long_loops.LongLoop, adjoints: Any) -> None:
        found.append(-(-self.count // self.block))
        replay(self, adjoints)

    monkeypatch.setattr(long_loops.LongLoop, "replay", counted)
    return found


def answer(program: Any, at: Any, wrt: Any = None, **options: Any) -> Any:
    """Everything that an evaluation says, to the last bit, but that a loop takes more than the budget."""
    try:
        outcome = program.evaluate("grad", at, wrt, engine="tape", **options)
    except AdiffError as error:
        return error.code, error.message, error.span and error.span.start
    notices = [(n.code, n.message, n.span and n.span.start) for n in outcome.notices if n.code != "N0606"]
    return repr(outcome.value), {name: repr(g) for name, g in outcome.gradients.items()}, notices


@pytest.mark.parametrize("budget", [1, 2_000, 10**9])
def test_same_answers(budget: int, replays: list[int]) -> None:
    for case in LOOPS:
        program = adiff.program(case)
        at = {name: POINT[name] for name in program.inputs}
        wrt = [name for name in at if name != "n"]
        assert answer(program, at, wrt) == answer(program, at, wrt, checkpoint=budget), case
    assert len(replays) > 50
    assert (max(replays) > 1) == (budget < 10**9)


# Programs whose values change in place, or that are followed by more than one recorder: they run as they did.
AS_THEY_WERE = {
    "a list whose items are assigned": "w = [x, 2.0]\nfor i in range(20):\n    w[i % 2] = w[0] * w[1] * 0.5\nw[0] + w[1]",
    "a list that grows": "w = []\nfor i in range(20):\n    w.append(x * i)\nsum(w)",
    "a list made inside and kept": "p = x\nfor i in range(9):\n    if i % 3 == 0:\n        w = [p, p]\n    w[0] = w[0] * 0.5\n    p = w[0] + w[1]\np",
    "a Variable": "v = Variable(1.0)\ns = x\nfor i in range(5):\n    v.assign(v * 2)\n    s = s * v\ns",
    "a tape in the loop": "s = x\nfor i in range(4):\n    with GradientTape() as t:\n        t.watch(s)\n        y = s * s\n    s = t.gradient(y, s) * 0.3\ns",
    "a counter in a closure": "def make():\n    k = [0]\n    def next(a):\n        k[0] = k[0] + 1\n        return a * k[0]\n    return next\nf = make()\ns = x\nfor i in range(4):\n    s = f(s) * 0.5\ns",
}  # fmt: skip


@pytest.mark.parametrize("title", AS_THEY_WERE)
def test_values_that_change(title: str) -> None:
    program = adiff.program(AS_THEY_WERE[title])
    expected = answer(program, {"x": 1.25})
    for budget in (1, 1_000):
        assert answer(program, {"x": 1.25}, checkpoint=budget) == expected


def test_prints_once() -> None:
    printed: list[str] = []
    program = adiff.program("s = x\nfor i in range(50):\n    print(i)\n    s = sin(s)\ns")
    program.evaluate("grad", {"x": 0.3}, engine="tape", checkpoint=100, write=printed.append)
    assert "".join(printed).split() == [str(i) for i in range(50)]


def test_steps_are_counted_once(replays: list[int]) -> None:
    program = adiff.program("s = x\nfor i in range(50):\n    s = sin(s)\ns")
    program.evaluate("grad", {"x": 0.3}, engine="tape", checkpoint=100, max_steps=60)
    assert replays == [50]
    with pytest.raises(AdiffError, match="more than 40 steps"):
        program.evaluate("grad", {"x": 0.3}, engine="tape", checkpoint=100, max_steps=40)


@pytest.mark.parametrize("command", ["jacobian", "hessian", "vjp", "hvp"])
def test_other_commands(command: str) -> None:
    program = adiff.program(
        "s = v * x\nfor i in range(30):\n    s = sin(s) + 0.1 * v\n" + ("s" if command == "jacobian" else "sum(s)")
    )
    at = {"x": 0.7, "v": np.array([0.2, 0.5])}
    extra: dict[str, Any] = {"vector": {"x": 1.0}} if command == "hvp" else {}
    results = [program.evaluate(command, at, engine="tape", checkpoint=budget, **extra) for budget in (None, 500)]
    for part in ("value", "jacobian", "hessian", "cotangents", "product"):
        first, second = (getattr(r, part) for r in results)
        assert repr(first) == repr(second)


def test_what_is_kept() -> None:
    """No more records at once than the budget allows."""
    most = [0]
    run = long_loops.LongLoop.run

    def watched(self: long_loops.LongLoop, tape: Any, first: int, last: int) -> None:
        run(self, tape, first, last)
        most[0] = max(most[0], len(tape.log) // 4)

    program = adiff.program("s = x\nfor i in range(2000):\n    s = sin(s) * 0.5 + x\ns")
    long_loops.LongLoop.run, kept = watched, long_loops.LongLoop.run  # type: ignore[method-assign]
    try:
        program.evaluate("grad", {"x": 0.3}, engine="tape", checkpoint=20_000)
    finally:
        long_loops.LongLoop.run = kept  # type: ignore[method-assign]
    assert 0 < most[0] * long_loops.RECORD_BYTES <= 20_000


INNER = "    for i in range(1000):\n        s = sin(s)\n"
UNBOUNDED = {
    "a function": f"def f(x):\n    s = x\n{INNER}    return s\nf(x)",
    "a branch": f"s = x\nif x > 0:\n{INNER}s",
    "another loop": f"s = x\nfor j in range(3):\n{INNER}s",
    "in place": "t = [x, 1.0]\nfor i in range(1000):\n    t[0] = sin(t[0])\nt[0]",
    "a loop on data": "def f(x):\n    s, k = x, 0\n    while k < 1000:\n        s, k = sin(s), k + 1\n    return s\nf(x)",
}


@pytest.mark.parametrize("text", UNBOUNDED.values(), ids=list(UNBOUNDED))
def test_a_loop_that_the_budget_does_not_bound_is_told(text: str) -> None:
    for budget, told in ((10_000, 1), (10**7, 0)):
        outcome = adiff.program(text).evaluate("grad", {"x": 0.5}, engine="tape", checkpoint=budget)
        assert [n.code for n in outcome.notices] == ["N0606"] * told
    assert [n.code for n in adiff.program(text).evaluate("grad", {"x": 0.5}, engine="tape").notices] == []


def test_a_loop_that_is_bounded_is_not_told_but_for_a_second_derivative() -> None:
    program = adiff.program("s = x\nfor i in range(1000):\n    s = sin(s)\ns")
    codes = [
        [n.code for n in program.evaluate(command, {"x": 0.5}, engine="tape", checkpoint=10_000).notices]
        for command in ("grad", "hessian")
    ]
    assert codes == [[], ["N0606"]]
