"""Loops in bounded memory: the schedule, the same derivatives as without, and the memory that they take."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine.autodiff.checkpoint_sizes import states_for
from adiff.engine.autodiff.revolve import revolve
from agreement import close

CASES = [case.strip() for case in (Path(__file__).parents[1] / "programs.txt").read_text().split("\n---\n")]
ALL = bool(os.environ.get("ADIFF_LONG_TESTS"))
LOOPS = [case for case in CASES if "for " in case or "while " in case]
POINT: dict[str, Any] = {"x": 0.7, "y": -1.3, "n": 5, "v": np.array([0.3, -1.1, 0.9, 2.0])}


@functools.cache
def fewest(steps: int, slots: int) -> int:
    """The fewest iterations to be run again to reverse `steps` of them with `slots` states, by trying every split."""
    if steps == 1:
        return 0
    if slots == 1:
        return steps * (steps - 1) // 2
    return min(k + fewest(steps - k, slots - 1) + fewest(k, slots) for k in range(1, steps))


@functools.cache
def scheduled(steps: int, slots: int) -> int:
    if steps == 1:
        return 0
    if slots == 1:
        assert revolve(steps - 1, 0) == steps - 1
        return steps * (steps - 1) // 2
    k = revolve(steps - 1, slots - 1)
    return k + scheduled(steps - k, slots - 1) + scheduled(k, slots)


def test_schedule_is_optimal() -> None:
    for slots in range(1, 9):
        for steps in range(1, 100):
            assert scheduled(steps, slots) == fewest(steps, slots), (steps, slots)


def test_schedule_by_the_formula() -> None:
    """Griewank and Walther: r * steps - binomial(s + r, s + 1), where binomial(s + r, s) first reaches steps."""
    from math import comb

    for slots, steps in ((3, 10), (3, 56), (5, 200), (10, 250)):
        repeats = next(r for r in range(100) if comb(slots + r, slots) >= steps)
        assert scheduled(steps, slots) == repeats * steps - comb(slots + repeats, slots + 1)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("part", range(4))
def test_same_derivatives(part: int) -> None:
    """By budgets of every size: each loop has one of them, or all."""
    for number, case in enumerate(LOOPS[part :: 4 if ALL else 8]):
        program = adiff.program(case.split("\n", 1)[1])
        at = {name: POINT[name] for name in program.inputs}
        wrt = [name for name in at if name != "n"]
        try:
            plain = program.evaluate("grad", at, wrt, engine="kernel")
        except adiff.AdiffError:
            continue
        if plain.engine != "kernel":
            continue
        for budget in (1, 150, 700) if ALL else ((1, 150, 700)[number % 3],):
            bounded = program.evaluate("grad", at, wrt, engine="kernel", checkpoint=budget)
            assert bounded.engine == "kernel", (case, bounded.reason)
            assert close(plain.value, bounded.value, 0.0), case
            assert plain.gradients is not None
            assert bounded.gradients is not None
            for name in wrt:
                assert close(plain.gradients[name], bounded.gradients[name], 1e-13), (case, name, budget)


LONG = """
y = x
z = a
for i in range(n):
    y = sin(y) + 0.1 * z
    z = z * 0.999 + 0.001 * y
y
"""
MEMORY = """
import re, sys
import adiff
def peak():  # of this process alone: what a parent had before the start does not count
    return int(re.search("VmHWM:[^0-9]*([0-9]+)", open("/proc/self/status").read())[1])
checkpoint = int(sys.argv[1]) or None
program = adiff.program(sys.argv[2])
at = {"x": 0.7, "a": 0.3, "n": 20}
program.evaluate("grad", at, ["x", "a"], engine=sys.argv[3], checkpoint=checkpoint)
before = peak()
outcome = program.evaluate("grad", {**at, "n": int(sys.argv[4])}, ["x", "a"], engine=sys.argv[3], checkpoint=checkpoint)
assert outcome.engine == sys.argv[3], outcome.reason
print(peak() - before, *outcome.gradients.values())
"""


def taken(budget: int, engine: str, n: int) -> tuple[int, list[float]]:
    """How many KiB a long loop adds to a process, and its gradient."""
    if sys.platform != "linux":
        pytest.skip("the peak of a process is read as Linux tells it")
    found = subprocess.run(
        [sys.executable, "-c", MEMORY, str(budget), LONG, engine, str(n)], capture_output=True, text=True, check=True
    ).stdout.split()
    return int(found[0]), list(map(float, found[1:]))


def test_memory() -> None:
    """Eight bytes for each of eight million heads, or what the budget says."""
    unbounded, expected = taken(0, "kernel", 8_000_000)
    bounded, found = taken(4_000_000, "kernel", 8_000_000)
    # What compiling took once, the loop may take again unseen.
    assert unbounded > 36_000
    assert bounded < 6_000
    assert found == expected


def test_budget_is_checked() -> None:
    for wrong in (0, -1, "500M"):
        with pytest.raises(adiff.AdiffError, match="checkpoint cannot be"):
            adiff.program("x").evaluate("grad", {"x": 1.0}, checkpoint=wrong)


def test_a_budget_does_not_change_what_a_program_is_worth() -> None:
    loop = "y = x\nfor i in range(n):\n    y = y * 0.5 + a if y > 1.0 else y + x * 0.1\ny"
    point = {"x": 0.7, "a": 0.3, "n": 2_000_000}
    found = adiff.program(loop).evaluate("grad", point, ["x", "a"], checkpoint=1_000_000)
    assert found.engine == "kernel", found.reason


LONG_LOOP = "y = x\nfor i in range(n):\n    y = sin(y) + i * 1e-9\ny"


# Loops of so many iterations that two states are kept where there is room for one.
LOOPS_OF_MANY = [
    "y = x\nk = 0\nwhile k < n:\n    k = k + 1\n    y = sin(y) + k * 1e-9\ny",
    "a = zeros(3) + x\nfor i in range(n):\n    a = sin(a) + 1e-9*i\nsum(a)",
    "y = x\nfor i in range(250):\n    y = sin(y) + i * 1e-9\ny",
]


@pytest.mark.parametrize("text", LOOPS_OF_MANY)
def test_any_size_is_answered(text: str) -> None:
    program = adiff.program(text)
    at = {"x": 1.0, "n": 250} if "n" in program.inputs else {"x": 1.0}
    for engine in ("tape", "kernel"):
        expected = program.evaluate("grad", at, ["x"], engine=engine)
        found = program.evaluate("grad", at, ["x"], engine=engine, checkpoint=1)
        assert found.engine == engine
        assert found.value == expected.value
        assert found.gradients == expected.gradients


def test_states_for_any_number_of_blocks() -> None:
    for room in (1, 2, 3, 8, 20):
        for blocks in (1, 101, 102, 5_151, 5_152, 10**6, 10**11):
            states = states_for(blocks, room)
            assert states == room or fewest_repeats(blocks, states - 1) > 100
            assert states >= room
            assert fewest_repeats(blocks, states) <= 100


def fewest_repeats(steps: int, slots: int) -> int:
    """By the recurrence of what can be reversed, not by its closed form: with no repeat or one state, one step more."""
    reach = [1] * (slots + 1)
    repeats = 0
    while reach[slots] < steps:
        repeats += 1
        if repeats > 200:
            break
        for s in range(1, slots + 1):
            reach[s] += reach[s - 1]
    return repeats
