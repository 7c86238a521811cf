"""Tensors that are known before the program runs, in kernels: short ones as numbers, long ones as their bytes."""

from __future__ import annotations

import pytest
from adiff import Program
from adiff.engine.kernels import ir
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
