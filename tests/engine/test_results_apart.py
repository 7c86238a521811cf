"""What an evaluation gives is the caller's alone: no array of theirs, and nothing that stays behind in a process."""

import copy
import pickle
from typing import Any

import adiff
import numpy as np
import pytest

V = np.arange(1.0, 4.0)


def arrays(found: Any) -> list[Any]:
    if isinstance(found, dict):
        return [x for part in found.values() for x in arrays(part)]
    if isinstance(found, list | tuple):
        return [x for part in found for x in arrays(part)]
    return [found] if isinstance(found, np.ndarray) else []


@pytest.mark.parametrize("engine", ["tape", "kernel"])
@pytest.mark.parametrize("text", ["v", "v[1:]", "[v, v]", "reshape(v, (3, 1))", "{'a': v}"])
def test_values_are_no_arrays_of_the_callers(text: str, engine: str) -> None:
    value = adiff.program(text).value({"v": V}, engine=engine)
    assert arrays(value)
    assert not any(np.may_share_memory(x, V) for x in arrays(value))


@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_derivatives_are_no_arrays_of_the_callers(engine: str) -> None:
    outcomes = [
        adiff.program("sum(v * w)").evaluate("grad", {"v": V, "w": V}, engine=engine),
        adiff.program("v").evaluate("vjp", {"v": V}, cotangent=V, engine=engine),
        adiff.program("v").evaluate("jvp", {"v": V}, tangent={"v": V}, engine=engine),
        adiff.program("sum(v * v) / 2").evaluate("hvp", {"v": V}, vector={"v": V}, engine=engine),
    ]
    for outcome in outcomes:
        parts = [getattr(outcome, name) for name in ("value", "gradients", "cotangents", "tangent", "product")]
        assert arrays(parts)
        assert not any(np.may_share_memory(x, V) for x in arrays(parts))


@pytest.mark.parametrize("engine", ["tape", "kernel"])
@pytest.mark.parametrize("again", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy, copy.copy])
def test_outcomes_can_be_sent_to_other_processes(engine: str, again: Any) -> None:
    text = "s = 0.0\nfor i in range(n):\n    s = s + abs(x)\ns"
    outcome = adiff.program(text).evaluate("grad", {"x": 0.0, "n": 3}, ["x"], engine=engine)
    found = again(outcome)
    assert (found.value, found.gradients, found.engine, found.reason) == (0.0, {"x": 0.0}, engine, "asked for")
    assert [(n.code, n.message, n.span.start) for n in found.notices] == [
        (n.code, n.message, n.span.start)  # type: ignore[union-attr]
        for n in outcome.notices
    ]
    assert found.kernel is None or found.kernel is outcome.kernel


def test_bindings_can_be_sent_to_other_processes() -> None:
    for text in ("float32(2)", "3", "[1.0, 2.0]", "cast([1, 2], int32)", "2.5"):
        bound = pickle.loads(pickle.dumps(adiff.constant(text)))
        found, wanted = (adiff.program("x * 1").evaluate("value", {"x": x}) for x in (bound, adiff.constant(text)))
        assert np.array_equal(found.value, wanted.value)
        assert found.types == wanted.types
