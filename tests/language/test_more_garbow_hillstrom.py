"""The test functions of Moré, Garbow and Hillstrom: value and gradient at the standard starting point, to 1e-11."""

import json
from pathlib import Path
from typing import Any

import pytest
from adiff import program

CASES = json.loads((Path(__file__).parents[1] / "data" / "more_garbow_hillstrom.json").read_text(encoding="utf-8"))[
    "cases"
]


@pytest.mark.parametrize("case", CASES, ids=[f"{case['number']}-{case['name']}" for case in CASES])
def test_value_and_gradient(case: dict[str, Any]) -> None:
    value, gradients = program(case["program"]).value_and_gradient({"x": [float(x) for x in case["x0"]]})
    assert value == pytest.approx(case["value"], rel=1e-11)
    size = max(map(abs, case["gradient"]))
    assert gradients["x"].tolist() == pytest.approx(case["gradient"], rel=1e-11, abs=1e-13 * size)
