"""What TensorFlow's own tests of GradientTape say, as programs: groups gradient, higher_order and tape_semantics.

dynamic_partition and dynamic_stitch have their cases in tests/ops/test_partition.py.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from .conftest import Runner

CASES = json.loads((Path(__file__).parents[1] / "data" / "tensorflow_tape.json").read_text(encoding="utf-8"))["cases"]

# Python's max hands TensorFlow one of its arguments, and None for the others. Here max is `maximum`: the others have
# slope 0, and arguments that are equal share.
BETTER = {"gradient-11": [0.0, 0.0, 1.0]}


@pytest.mark.parametrize("case", CASES, ids=[f"{case['id']} {case['test']}" for case in CASES])
def test_case(run: Runner, case: dict[str, Any]) -> None:
    if "error" in case:
        assert re.search(case["error"], run.refused(case["program"], case["at"]).message)
        return
    value = run(case["program"], case["at"])
    expected = BETTER.get(case["id"], case["value"])
    assert flat(value) == pytest.approx(flat(expected), rel=1e-14)


def flat(value: Any) -> list[Any]:
    return [leaf for item in value for leaf in flat(item)] if isinstance(value, list | tuple) else [nan_for(value)]


def nan_for(value: Any) -> Any:
    """None as something that approx can compare: only with itself."""
    return 1e308 if value is None else value
