"""String tensors, against what TensorFlow 2.21 gives (its documentation's examples and its kernel tests)."""

from typing import Any

import pytest

from .conftest import Runner


@pytest.mark.parametrize("text", ["strings.format('{}', x)", "as_string(x)"])
def test_a_path_through_a_string_is_named(run: Runner, text: str) -> None:
    run(f"strings.to_number(strings.regex_replace({text}, 'a', ''), float64)", {"x": 2.5}, "grad")
    assert run.outcome.gradients == {"x": None}
    ((message, place),) = run.notices("N0502")
    assert "the path from the source ends at strings." in message
    assert place == text


def test_names_of_modules_may_be_names_of_inputs(run: Runner) -> None:
    at: dict[str, Any] = {"data": [1.0, 2.0], "io": 3.0, "queue": [4.0]}
    assert run("data.sum() + io + queue.sum()", at) == 10.0
