"""`Program.repeated`: whatever the point, the answer is that of an evaluation as a whole."""

from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine import tier

PROGRAM = """
total = 0.0
for i in range(n):
    for v in x:
        total += abs(v) ** a / (i + 2)
total
"""
X = np.array([0.5, -1.5, 2.0])

POINTS: dict[str, dict[str, Any]] = {
    "the same": {"x": X, "a": 2.5, "n": 3},
    "other numbers": {"x": -X, "a": 1.5, "n": 7},
    "a strided array": {"x": np.repeat(X, 2)[::2], "a": 2.0, "n": 2},
    "another order of bytes": {"x": X.astype(">f8"), "a": 2.0, "n": 2},
    "another shape": {"x": np.append(X, 3.0), "a": 2.5, "n": 3},
    "a list": {"x": [0.5, 1.0, 2.0], "a": 2.5, "n": 3},
    "bare integers": {"x": [1, 2, 3], "a": 2.0, "n": 3},
    "a whole number": {"x": X, "a": 2, "n": 3},
    "a loop that does not run": {"x": X, "a": 2.5, "n": 0},
    "a singular point": {"x": np.array([0.0, 1.0, 2.0]), "a": 2.5, "n": 3},
    "an overflow": {"x": np.array([1e200, 1.0, 2.0]), "a": 2.5, "n": 3},
    "large and finite": {"x": np.array([1e100, 1.0, 2.0]), "a": 2.5, "n": 3},
    "a name too many": {"x": X, "a": 2.5, "n": 3, "spare": 1.0},
}


@pytest.fixture(scope="module")
def run() -> Any:
    program = adiff.program(PROGRAM)
    made = program.repeated("grad", POINTS["the same"], ["x", "a"], engine="kernel")
    assert made.first.engine == "kernel"
    return made


def described(outcome: Any) -> Any:
    return [(n.code, n.message) for n in outcome.notices]


@pytest.mark.parametrize("name", POINTS)
def test_answers_are_those_of_an_evaluation(run: Any, name: str) -> None:
    point = POINTS[name]
    expected = run.program.evaluate("grad", point, ["x", "a"], engine="kernel")
    for _ in range(2):
        found = run(point)
        np.testing.assert_array_equal(found.value, expected.value)
        assert described(found) == described(expected)
        for source in ("x", "a"):
            g, h = found.gradients[source], expected.gradients[source]
            if h is None:
                assert g is None
            else:
                np.testing.assert_array_equal(g, h)
                assert np.shape(g) == np.shape(h)


def test_what_was_asked_for_stays_in_force() -> None:
    """A fixed input is part of the kernel; errors are those of an evaluation."""
    program = adiff.program("y = 0.0\nfor v in x:\n    y += v**2 if square else v\ny")
    run = program.repeated("grad", {"x": X, "square": True}, ["x"], engine="kernel")
    np.testing.assert_array_equal(run({"x": X, "square": True}).gradients["x"], 2 * X)
    np.testing.assert_array_equal(run({"x": X, "square": False}).gradients["x"], np.ones(3))
    with pytest.raises(adiff.AdiffError, match="square"):
        run({"x": X})


def test_products_with_the_hessian() -> None:
    program = adiff.program("y = 0.0\nfor v in x:\n    y += v**3 * b\ny")
    vector = np.array([1.0, 0.0, 2.0])
    run = program.repeated("hvp", {"x": X, "b": 0.5}, ["x"], engine="kernel", vector={"x": vector})
    found = run({"x": 2 * X, "b": 0.25})
    np.testing.assert_allclose(found.product["x"], 6 * 2 * X * 0.25 * vector, rtol=1e-15)
    np.testing.assert_allclose(found.gradients["x"], 3 * (2 * X) ** 2 * 0.25, rtol=1e-15)


def test_the_tape_answers_too() -> None:
    program = adiff.program("x**2 * y")
    run = program.repeated("grad", {"x": 3.0, "y": 2.0})
    assert run({"x": 2.0, "y": 5.0}).gradients == {"x": 20.0, "y": 4.0}


def test_many_calls_repay_the_compiler() -> None:
    at = {"x": 0.5, "n": 7}
    text = "y = x\nfor i in range(n):\n    y = y * x + 0.1\ny"
    ask = adiff.program(text).repeated("grad", at, ["x"])
    expected = ask(at)
    tier.spend(text, "grad", 1.5)
    found = [ask(at) for _ in range(3)]
    assert [ask.first.engine, expected.engine] == ["tape"] * 2
    assert [outcome.engine for outcome in found] == ["kernel"] * 3
    assert all(outcome.gradients == pytest.approx(expected.gradients, rel=1e-14) for outcome in found)


JACOBIAN = "y = A @ x\nconcat([y * y, exp(b * y), -x], axis=0)"
SIDES = {"A": np.arange(12.0).reshape(4, 3) / 7 - 0.5, "x": X, "b": 0.3}


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_jacobians(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = adiff.program(JACOBIAN)
    names = ["x", "b", "A"]
    run = program.repeated("jacobian", SIDES, names, engine="kernel", mode=mode)
    points = [SIDES, {**SIDES, "x": -X}, {**SIDES, "x": np.zeros(3)}, {**SIDES, "x": np.array([np.inf, 1.0, 0.0])}]
    expected = [program.evaluate("jacobian", point, names, engine="kernel", mode=mode) for point in points]
    for point, wanted in zip(points, expected):
        found = run(point)
        assert found.mode == wanted.mode
        assert described(found) == described(wanted)
        np.testing.assert_array_equal(found.value, wanted.value)
        for name in names:
            ours, theirs = found.jacobian[name], wanted.jacobian[name]
            np.testing.assert_array_equal(ours, theirs)
            np.testing.assert_array_equal(np.signbit(ours), np.signbit(theirs))
            assert ours.shape == theirs.shape
    run(points[0])  # the last was singular
    monkeypatch.setattr(program, "evaluate", None)
    assert run(points[1]).engine == "kernel"


def test_a_kernel_answers_within_twenty_calls() -> None:
    run = adiff.program("x**2*sin(y)").repeated("grad", x=2.0, y=1.0)
    outcomes = [run({"x": 2.0 + i, "y": 1.0}) for i in range(20)]
    assert (outcomes[0].engine, outcomes[-1].engine) == ("tape", "kernel")
    assert outcomes[-1].gradients["x"] == pytest.approx(42.0 * np.sin(1.0), rel=1e-15)


@pytest.mark.parametrize(
    "mistaken",
    [
        lambda: adiff.program("sine(x)"),
        lambda: adiff.constant("1 +"),
        lambda: adiff.program("x[3]").gradient(x=[1.0]),
        lambda: adiff.program("x").rows({"x": [1.0]}, order=7),
        lambda: adiff.program("for i in range(n): x = x*i\nx").derive(),
    ],
)
def test_a_mistake_is_a_value_error_for_callers(mistaken: Any) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        mistaken()
    assert isinstance(caught.value, adiff.AdiffError)


def test_the_end_of_a_time_limit_is_no_value_error() -> None:
    with pytest.raises(adiff.AdiffError, match="time limit") as caught:
        adiff.program("while True: pass").value(timeout=0.05)
    assert not isinstance(caught.value, ValueError)
