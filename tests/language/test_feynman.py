"""The 120 Feynman formulas with gradient and Hessian against SymPy and mpmath at 60 digits, to 1e-12 relative."""

import json
from pathlib import Path
from typing import Any

import pytest
from adiff import program

CASES = json.loads((Path(__file__).parents[1] / "data" / "feynman.json").read_text(encoding="utf-8"))["cases"]


def close(found: float, expected: float, size: float) -> bool:
    """Relative to the entry, or to the largest entry of its kind where it is what is left of larger ones."""
    return abs(found - expected) <= 1e-12 * max(abs(expected), 1e-3 * size)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_value_gradient_and_hessian(case: dict[str, Any]) -> None:
    names = case["inputs"]
    compiled = program(case["formula"])
    assert set(compiled.inputs) <= set(names)  # one formula does not use one of its variables
    for point, value, gradient, hessian in case["points"]:
        outcome = compiled.evaluate("hessian", dict(zip(names, point)))
        assert outcome.gradients is not None
        assert outcome.hessian is not None
        assert close(outcome.value, value, abs(value))
        size = max(map(abs, gradient))
        used = [(name, expected) for name, expected in zip(names, gradient) if name in compiled.inputs]
        for name, expected in used:
            assert close(outcome.gradients[name], expected, size), name
        size = max(abs(entry) for row in hessian for entry in row)
        for row, expected_row in zip(names, hessian):
            for column, expected in zip(names, expected_row):
                if row in outcome.hessian and column in outcome.hessian:
                    assert close(outcome.hessian[row][column], expected, size), (row, column)
        _, alone = compiled.value_and_gradient(dict(zip(names, point)))
        assert all(close(alone[name], expected, max(map(abs, gradient))) for name, expected in used)
