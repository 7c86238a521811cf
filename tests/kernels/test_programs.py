"""Programs with control flow, one for each thing that can go wrong, on both tiers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import adiff
import numpy as np
import pytest
from agreement import agree

CASES = (Path(__file__).parent / "programs.txt").read_text().split("\n---\n")
POINTS: list[dict[str, Any]] = [
    {"x": 0.7, "y": -1.3, "n": 5, "v": np.array([0.3, -1.1, 0.9, 2.0])},
    {"x": -1.6, "y": 0.4, "n": 0, "v": np.array([1.5, 0.2, -0.4, 0.0])},
]


# One of each kind is compiled; the others run as the Python that they are.
COMPILED = (
    "# nested with break inside", "# early return from nested loops", "# integer arithmetic with // and %",
    "# while inside a for, with a break of its own", "# slice update", "# index out of range that a condition guards",
    "# row in a loop", "# element updates under branches, with break and continue",
)  # fmt: skip


@pytest.mark.parametrize("case", [case for case in CASES if case.strip().startswith(COMPILED)])
def test_compiled(case: str) -> None:
    title, text = case.strip().split("\n", 1)
    inputs = adiff.program(text).inputs
    for point in POINTS:
        reason = agree(text, {name: point[name] for name in inputs}, [name for name in inputs if name != "n"])
        assert reason == "" or "on some paths of the program only" in reason, title


@pytest.mark.parametrize("case", CASES, ids=[case.strip().split("\n")[0].lstrip("# ") for case in CASES])
@pytest.mark.usefixtures("interpret")
def test_program(case: str) -> None:
    """A case says in its first line what it is about; "tape:" in it means that no kernel takes it, for that reason."""
    title, text = case.strip().split("\n", 1)
    inputs = adiff.program(text).inputs
    for point in POINTS:
        reason = agree(text, {name: point[name] for name in inputs}, [name for name in inputs if name != "n"])
        if "tape:" in title:
            assert title.split("tape:")[1].strip() in reason
        elif "may" not in title:
            assert reason == "" or "on some paths of the program only" in reason, title


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("command", ["grad", "hessian"])
@pytest.mark.parametrize(
    ("term", "x"), [("relu6(x - 6 * i)", 6.0), ("relu6(x + 6 * i)", 0.0), ("log(x - i)", 2.0), ("log(x + i)", -2.0)]
)
def test_of_several_kinks_at_one_place_both_tiers_tell_the_same(term: str, x: float, command: str) -> None:
    text = f"s = 0.0\nfor i in range(4):\n    s = s + {term}\ns"
    agree(text, {"x": x}, command=command)
    told = [n.message for n in adiff.program(text).evaluate(command, {"x": x}).notices if n.code == "N0501"]
    assert len(told) == 1
    # Whatever order the iterations come in.
    turned = adiff.program(text.replace("range(4)", "range(3, -1, -1)")).evaluate(command, {"x": x})
    assert [n.message for n in turned.notices if n.code == "N0501"] == told


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("policy", ["adiff", "tensorflow", "jax", "torch"])
def test_kinks_by_every_policy(policy: str) -> None:
    for case in CASES:
        title, text = case.strip().split("\n", 1)
        if "kinks" in title or "jumps" in title:
            inputs = adiff.program(text).inputs
            for point in POINTS:
                agree(text, {name: point[name] for name in inputs}, kinks=policy)


@pytest.mark.usefixtures("interpret")
def test_a_step_of_0_that_a_loop_comes_to_is_the_tape_s_error() -> None:
    text = "s = x\nfor k in range(-2, 4):\n    for j in range(0, 5, k):\n        s += j * x\ns"
    agree(text, {"x": 0.5})
    with pytest.raises(adiff.AdiffError, match="the step must not be 0"):
        adiff.program(text).evaluate("grad", {"x": 0.5}, engine="kernel")


def test_auto_keeps_small_work_on_the_tape() -> None:
    text = "s = x\nfor i in range(n):\n    s = s * 0.5 + x\ns"
    outcome = adiff.program(text).evaluate("grad", {"x": 1.0, "n": 100}, engine="auto")
    assert outcome.engine == "tape"


@pytest.mark.usefixtures("interpret")
def test_auto_compiles_large_work(monkeypatch: pytest.MonkeyPatch) -> None:
    from adiff.engine.kernels import work

    monkeypatch.setattr(work, "TAPE_SECONDS", 1.0)
    text = "s = x\nfor i in range(n):\n    s = s * 0.5 + x\ns"
    outcome = adiff.program(text).evaluate("grad", {"x": 1.0, "n": 100}, engine="auto")
    assert outcome.engine == "kernel"
    assert outcome.gradients["n"] is None
    assert "range(" in outcome.emitted


def test_a_kernel_is_compiled_once() -> None:
    program = adiff.program("s = x\nfor i in range(n):\n    s = s * 0.5 + x\ns")
    for n in (3, 40, 500):
        assert program.evaluate("grad", {"x": 1.0, "n": n}, ["x"], engine="kernel").engine == "kernel"
    assert len(program.kernels.compiled) == 1


@pytest.mark.usefixtures("interpret")
def test_a_kernel_without_a_budget_needs_no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    from adiff.engine.kernels import budget

    monkeypatch.setattr(budget, "time", None)
    text = "s = x\nfor i in range(n):\n    s = s * 0.5 + x\ns"
    outcome = adiff.program(text).evaluate("hessian", {"x": 1.0, "n": 3}, ["x"], engine="kernel")
    assert outcome.engine == "kernel"
