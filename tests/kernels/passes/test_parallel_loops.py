"""Loops that several cores share: which they are, and that nobody can tell from the answer."""

from __future__ import annotations

import math
import os
import re
from typing import Any

import adiff
import numpy as np
import pytest
from adiff import AdiffError
from adiff.engine.core.cores import cores
from adiff.engine.kernels.compilation import llvm_module, native
from adiff.engine.kernels.emitted import Emitted
from adiff.engine.kernels.machine import code
from agreement import KINKS, ORIGINS, spans
from llvmlite import binding

N = 600_000
POINT = {"x": np.linspace(-2.0, 3.0, N), "y": np.cos(np.arange(N)), "a": 0.75}

ALL = KINKS | ORIGINS

pytestmark = pytest.mark.skipif(os.name != "posix", reason="threads of POSIX")


def source(text: str, command: str = "grad", at: dict[str, Any] | None = None) -> str:
    outcome = adiff.program(text).evaluate(command, at or POINT, engine="kernel")
    assert outcome.engine == "kernel"
    return outcome.emitted or ""


SHARED = {
    "a map and its sum": "sum(exp(-x**2 / 2) * sin(x * y))",
    "a parameter's gradient": "sum(exp(a * x) * y + a)",
    "a map": "tanh(x) * exp(y)",
    "kinks": "sum(abs(x * y) * sqrt(abs(x - 3.0)) + exp(y))",
    "rows of a matrix": "sum(sum(reshape(exp(x) * cos(y), (2000, 300)), axis=1)**2)",
    "masks": "sum(where(x > 0.5, exp(x), sin(y)))",
}


@pytest.mark.parametrize("text", SHARED.values(), ids=list(SHARED))
def test_any_number_of_threads_gives_the_same(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    command = "value" if text.startswith("tanh") else "grad"
    at = {name: value for name, value in POINT.items() if re.search(rf"\b{name}\b", text)}
    found = []
    for threads in (1, 2, 7, 1000):
        monkeypatch.setattr(code, "cores", lambda threads=threads: threads)
        outcome = adiff.program(text).evaluate(command, at, engine="kernel")
        assert outcome.engine == "kernel"
        assert "in prange(" in (outcome.emitted or "")
        found.append([outcome.value, *outcome.gradients.values()] if command == "grad" else [outcome.value])
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            assert np.array_equal(np.asarray(a), np.asarray(b), equal_nan=True)
    tape = adiff.program(text).evaluate(command, at, engine="tape")
    wanted = [tape.value, *tape.gradients.values()] if command == "grad" else [tape.value]
    for a, b in zip(wanted, found[0], strict=True):
        assert np.allclose(np.asarray(a), np.asarray(b), rtol=1e-13, atol=1e-13, equal_nan=True)
    kernel = adiff.program(text).evaluate(command, at, engine="kernel")
    assert spans(kernel.notices, ALL) == spans(tape.notices, ALL)


def test_sums_are_added_up_in_lanes() -> None:
    """None waits for the one before it."""
    outcome = adiff.program("sum(exp(-x**2 / 2) * sin(x * y))").evaluate("value", POINT, engine="kernel")
    kernel = Emitted(outcome.emitted[outcome.emitted.index("def ") :], "FF", ["f"], 0)
    written, _ = llvm_module.module_text(kernel)
    module = binding.parse_assembly(written)
    native.optimise(module, native.target_machine(), True)
    assert re.search(r"fadd reassoc <\d+ x double>", str(module))


OWN = {
    "too little to do": ("sum(x * y)", {"x": np.ones(100), "y": np.ones(100)}),
    "one waits for the other": ("cumsum(x * y)[-1]", POINT),
    "the greatest": ("max(x)", {"x": POINT["x"]}),
    "a loop of the program": ("s = 0.0\nfor i in range(3000000):\n    s = s + a / (i + 1.0)\ns", {"a": 0.75}),
    "neighbours": (
        "z = x * 1.0\nfor i in range(1, 600000):\n    z[i] = z[i - 1] * 0.5 + x[i]\nz[-1]",
        {"x": POINT["x"]},
    ),
}


@pytest.mark.parametrize(("text", "at"), OWN.values(), ids=list(OWN))
def test_what_is_not_shared(text: str, at: dict[str, Any]) -> None:
    for line in source(text, "value", at).splitlines():
        assert "prange(" not in line or line.startswith("#")


def test_sums_are_those_of_exact_arithmetic() -> None:
    outcome = adiff.program("sum(exp(x) * y)").evaluate("value", POINT, engine="kernel")
    assert "in prange(" in (outcome.emitted or "")
    exact = math.fsum(np.exp(POINT["x"]) * POINT["y"])
    assert abs(outcome.value - exact) <= 1e-13 * abs(exact)


def test_a_negative_zero_is_kept() -> None:
    outcome = adiff.program("-sum(exp(x) * 0.0)").evaluate("value", POINT, engine="kernel")
    assert "in prange(" in (outcome.emitted or "")
    assert math.copysign(1.0, outcome.value) == -1.0


def test_a_time_limit_ends_a_shared_loop() -> None:
    text = "x = linspace(0.01, 0.99, 4000000)\nsum(betainc(a * x, 3.0 * x, x))"
    with pytest.raises(AdiffError) as caught:
        adiff.program(text).evaluate("value", {"a": 0.75}, engine="kernel", timeout=0.4)
    assert caught.value.code == "E0603"
    assert caught.value.span is not None


def test_threads_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADIFF_THREADS", "3")
    assert cores() == 3
    monkeypatch.setenv("ADIFF_THREADS", "")
    assert cores() >= 1


@pytest.mark.parametrize("wrong", ["0", "-1", "many", "1.5", "٣"])
def test_threads_that_are_no_number(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADIFF_THREADS", wrong)
    with pytest.raises(AdiffError) as caught:
        adiff.program("sum(exp(x) * y - 2.0)").evaluate("value", POINT, engine="kernel")
    assert caught.value.code == "E0812"
    assert "ADIFF_THREADS" in caught.value.message
