"""Operations that are written in the language (engine/library/operations/): documented, with true examples, and differentiable
on both tiers at the samples of tests/data/operations.txt."""

import ast
from pathlib import Path
from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine.core.operation import Operation
from adiff.engine.program import library

FILES = dict.fromkeys(file for file, _ in library.OPERATIONS.values())
ROWS = [row for file in FILES for row in library.operations(file).values()]
SAMPLES = (Path(__file__).parent.parent / "data" / "operations.txt").read_text().splitlines()
# A number of all results, of which parts may be complex.
TOTAL = """
total = 0.0
for part in (found if isinstance(found, (list, tuple)) else [found]):
    total += np.sum(sin(real(part)) + cos(2*real(part)*imag(part)) + imag(part)**2)
total
"""


def test_every_name_has_its_function() -> None:
    for name, (file, function) in library.OPERATIONS.items():
        assert function in library.operations(file), f"{name} has no docstring with an example"
    assert {name for file in FILES for name in library.public(file)} == {f for _, f in library.OPERATIONS.values()}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_operation_is_shown_and_its_example_true(row: Operation) -> None:
    shown = next(info for info in adiff.operations() if info.name == row.name)
    assert shown.doc.endswith(".")
    assert shown.signature.startswith(row.name + "(")
    assert row.example is not None
    text, expected = row.example
    assert_close(adiff.program(text).evaluate("value").value, expected, 4e-15)


def assert_close(found: Any, expected: Any, tolerance: float) -> None:
    if isinstance(expected, (list, tuple)) and isinstance(found, (list, tuple)):
        assert len(found) == len(expected)
        for a, b in zip(found, expected):
            assert_close(a, b, tolerance)
    else:
        assert np.shape(found) == np.shape(expected)
        assert np.allclose(found, expected, rtol=tolerance, atol=tolerance, equal_nan=True), (found, expected)


@pytest.mark.parametrize("sample", SAMPLES)
def test_gradient_of_operation(sample: str) -> None:
    call, _, bound = sample.partition(" | ")
    at = {name: np.array(ast.literal_eval(value)) for name, _, value in (x.partition("=") for x in bound.split("; "))}
    program = adiff.program(f"found = {call}{TOTAL}")
    tape, kernel = (program.evaluate("grad", at, engine=engine) for engine in ("tape", "kernel"))
    for name, x in at.items():
        direction = np.cos(np.arange(x.size)).reshape(x.shape)
        steps = [1e-3, 5e-4]
        rough, fine = (sum(s * value(program, at, name, s * h * direction) for s in (1, -1)) / (2 * h) for h in steps)
        change = float(np.sum(tape.gradients[name] * direction))
        assert abs(change - (4 * fine - rough) / 3) <= 1e-8 * (1.0 + abs(change))
        assert_close(kernel.gradients[name], tape.gradients[name], 1e-12)


def value(program: Any, at: dict[str, Any], name: str, step: Any) -> float:
    return float(program.evaluate("value", {**at, name: at[name] + step}, engine="tape").value)
