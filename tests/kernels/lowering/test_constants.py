"""Tensors that are known before the program runs, in kernels: short ones as numbers, long ones as their bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from adiff import Program
from adiff.engine.kernels import ir
from adiff.engine.kernels.compilation import llvm_module, native
from adiff.engine.kernels.emitted import Emitted
from agreement import agree

DRAWN = "z = random.normal(({n},), seed=1)\n"
TEXTS = [
    DRAWN + "sum(z * a) * a",
    DRAWN + "t = 0.0\nfor i in range({n}):\n    if z[i] > a:\n        t += z[i] * a\nt",
    "k = random.shuffle(arange({n}), seed=2)\nx = linspace(0, 1, {n}) * a\nsum(x[k] * linspace(1, 2, {n})**2)",
    DRAWN + "m = z > 0.3\nsum(where(m, a * z, a))",
]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("n", [ir.LONG_CONSTANT - 1, ir.LONG_CONSTANT])
def test_agreement(text: str, n: int) -> None:
    assert agree(text.format(n=n), {"a": 0.7}) == ""


@pytest.mark.parametrize("text", TEXTS)
def test_machine_code(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ir, "LONG_CONSTANT", 10)
    assert agree(text.format(n=37), {"a": 0.7}) == ""


def test_many_numbers() -> None:
    program = Program(DRAWN.format(n=150_000) + "sum(z * a)")
    tape, kernel = (program.evaluate("grad", {"a": 3.0}, engine=engine) for engine in ("tape", "kernel"))
    assert kernel.engine == "kernel"
    assert kernel.value == pytest.approx(tape.value, rel=1e-10)
    assert kernel.gradients["a"] == pytest.approx(tape.gradients["a"], rel=1e-10)


@pytest.mark.parametrize(
    "text",
    [
        "sum(x * random.normal((len(x),), seed=3))",
        "sum(x * sin(arange(len(x))))",
        "sum(x[random.shuffle(arange(len(x)), seed=1)]**2)",
    ],
)
def test_what_is_compiled_is_no_longer_for_longer_tensors(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their elements are beside the code: in this process, and in the next one, which finds them in the cache."""
    made: list[tuple[int, int]] = []

    def measured(emitted: Emitted, *more: Any) -> Any:
        found = llvm_module.module_text(emitted, *more)
        made.append((len(emitted.text), len(found[0])))
        return found

    monkeypatch.setattr(native, "module_text", measured)
    values = {}
    for n in (2_000, 90_000):
        x = np.cos(np.arange(n))
        for _ in range(2):
            outcome = Program(text).evaluate("grad", {"x": x}, engine="kernel")
            assert outcome.engine == "kernel"
            values[n] = outcome
        tape = Program(text).evaluate("grad", {"x": x}, engine="tape")
        assert outcome.value == pytest.approx(tape.value, rel=1e-10)
        np.testing.assert_allclose(outcome.gradients["x"], tape.gradients["x"], rtol=1e-13)
    (short, compiled_short), (long, compiled_long) = made  # each was compiled once
    assert long - short < 20
    assert compiled_long - compiled_short < 100


def test_the_source_of_a_long_constant_can_be_read() -> None:
    text = Program("sum(x * sin(arange(len(x))))").evaluate("tape", {"x": np.ones(5_000)}, ["x"], emit=True).emitted
    assert "held(0, 5000, dtype='float64')" in text
    assert "# held(k, n): known numbers" in text
    assert max(map(len, text.split("\n"))) < 120
