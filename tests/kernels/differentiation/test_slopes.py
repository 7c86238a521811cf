"""Loops that find the slope of an iteration first, and rules that form plain products, where cotangents or slopes are not
finite: then every product is formed as a tape forms it."""

from __future__ import annotations

from typing import Any

import adiff
import mpmath
import numpy as np
import pytest
from adiff.engine.kernels import runtime
from adiff.engine.kernels.built import LONG
from adiff.engine.kernels.inputs import CAREFUL
from agreement import agree

# At 0 the cotangent of t is infinite from the last iteration on, and some partial of every iteration before it is 0.
STEEP = "t = x\nfor i in range(4):\n    t = sqrt(t) if i == 3 else t * (1 - t * t) * (2 + t * t)\nt"
CASES: dict[str, tuple[str, dict[str, Any], Any]] = {
    "zero times infinity within an iteration": (STEEP, {"x": 0.0}, np.nan),
    "of a number beside": (STEEP.replace("2 +", "a +"), {"x": 0.0, "a": 1.0}, np.nan),
    "an iteration that reads nothing of the one before": (
        "t = x\nfor i in range(2):\n    if i == 0:\n        t = sqrt(a * a)\n    else:\n        t = log(t) * t * (1 - t) * (2 + t)\nt",
        {"x": 1.0, "a": 0.0}, None,
    ),
    "of a long tensor": (
        "t = x\nfor i in range(1001):\n    t = sqrt(t) if i == 1000 else t * (1 - t * t) * (v[i] + t * t)\nt",
        {"x": 0.0, "v": np.ones(LONG + 1)}, np.nan,
    ),
    "beside what is printed": ("print(x)\n" + STEEP, {"x": 0.0}, np.nan),
    "beside a singular point": ("a = abs(x)\n" + STEEP + " + a", {"x": 0.0}, np.nan),
    "a number beyond all floats that does not matter": (
        "t = x\nu = x\nfor i in range(14):\n    t, u = t * t, 0.5 * u + x\nwhere(t > 1e300, u, t + u)", {"x": 3.0}, 2 - 2.0**-14,
    ),
    "an element beyond all floats that does not matter": (
        "w = zeros(14)\nw[0] = x\nfor i in range(1, 14):\n    w[i] = w[i - 1] * w[i - 1] * x\nw[2]", {"x": 3.0}, 7 * 3.0**6,
    ),
    "zero times infinity where nothing is chosen": (
        "t = x\nfor i in range(2):\n    t = sqrt(t) * t / (1 + t) + t\nt", {"x": 0.0}, 1.0,
    ),
    "a slope beyond all floats, of a derivative that is not": (
        "t = x\nfor i in range(2):\n    t = 1e-300 * t if i == 1 else sin(1e200 * sin(1e200 * t))\nt", {"x": 0.0}, 1e100,
    ),
}  # fmt: skip


@pytest.fixture
def specified(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each kernel that was asked for is a careful one."""
    found: list[bool] = []
    specified = runtime.Kernels.specified

    def noting(*arguments: Any) -> dict[str, Any]:
        spec = specified(*arguments)
        found.append(CAREFUL in spec)
        return spec

    monkeypatch.setattr(runtime.Kernels, "specified", noting)
    return found


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("case", CASES)
def test_products_are_formed_as_a_tape_forms_them(case: str, specified: list[bool]) -> None:
    text, at, slope = CASES[case]
    assert agree(text, at, None, "grad", 1e-13) == ""
    assert True in specified
    found = adiff.program(text).evaluate("grad", at, ["x"], engine="kernel").gradients["x"]
    assert found is None if slope is None else np.isclose(found, slope, rtol=1e-13, equal_nan=True)


@pytest.mark.usefixtures("interpret")
def test_a_kernel_with_slopes_answers_where_they_are_finite(specified: list[bool]) -> None:
    program = adiff.program(STEEP)
    for x, careful in ((0.5, False), (0.0, True), (0.5, False)):
        specified.clear()
        program.evaluate("grad", {"x": x}, engine="kernel")
        assert (True in specified) is careful


CHOOSING = "t = x\nfor i in range(3):\n    t = where(t > 0, sqrt(t), 0.1 * t * t * (1 - t) - 1)\nt"


@pytest.mark.usefixtures("interpret")
def test_what_an_iteration_does_not_choose_is_no_reason_for_another_kernel(specified: list[bool]) -> None:
    """The square root of a negative number has the cotangent zero, whatever its derivative is."""
    assert agree(CHOOSING, {"x": -0.5}, None, "grad", 1e-13) == ""
    assert specified
    assert True not in specified


@pytest.mark.usefixtures("interpret")
def test_products_of_a_cotangent(specified: list[bool]) -> None:
    assert agree(STEEP, {"x": 0.0}, None, "vjp", 1e-13) == ""
    assert True in specified


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(
    "text", ["var(m, axis=1)", "std(m, axis=1)", "norm(m, axis=1)", "logsumexp(m, axis=1)", "m @ w"]
)
def test_rows_that_do_not_matter(text: str, specified: list[bool]) -> None:
    """An infinity in a row whose cotangent is zero leaves the gradient of the others what it is."""
    program = adiff.program(f"a = {text}\na[1] * a[1]")
    at = {"m": np.array([[1.0, np.inf], [2.0, 3.0]]), "w": np.array([1.0, -2.0])}
    at = {name: at[name] for name in program.inputs}
    assert agree(program, at, ["m"]) == ""
    alone = program.evaluate("grad", {**at, "m": np.array([[1.0, 1.0], [2.0, 3.0]])}, ["m"], engine="tape").gradients[
        "m"
    ]
    found = program.evaluate("grad", at, ["m"], engine="kernel").gradients["m"]
    np.testing.assert_allclose(found, alone, rtol=1e-14)
    assert (True in specified) is (text in ("var(m, axis=1)", "std(m, axis=1)", "norm(m, axis=1)"))


@pytest.mark.usefixtures("interpret")
def test_an_infinite_cotangent_of_a_gradient_stays_with_its_element() -> None:
    program = adiff.program("a = grad(lambda q: sum(q**3 * [1.0, 2.0, 3.0]))(v)\nsum(a * w)")
    at = {"v": np.array([1.0, 2.0, 3.0]), "w": np.array([2.0, np.inf, 0.5])}
    assert "beside what is not finite" in agree(program, at)
    for w, answers in ((at["w"], "tape"), (np.array([2.0, 1.0, 0.5]), "kernel")):
        found = program.evaluate("grad", {"v": at["v"], "w": w}, engine="kernel")
        assert found.engine == answers
        np.testing.assert_allclose(found.gradients["v"], 6 * at["v"] * np.array([1.0, 2.0, 3.0]) * w, rtol=1e-14)


def test_a_kept_kernel_knows_of_its_slopes() -> None:
    for _ in range(2):
        found = adiff.program(STEEP).evaluate("grad", {"x": 0.0}, engine="kernel")
        assert np.isnan(found.gradients["x"])
        assert found.engine == "kernel"


# Iterations that change x little, in several ways.
STEP = "1e-6 * (a * x - b * x * x)"
SMALL_STEPS: dict[str, str] = {
    "a sum": f"x = x + {STEP}",
    "a difference": f"x = x - (-1) * ({STEP})",
    "a sum of sums": "x = x + 1e-6 * a * x - 1e-6 * b * x * x",
    "in branches": f"if i % 3 == 0:\n        x = x + {STEP}\n    else:\n        x = {STEP} + x",
}


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("case", SMALL_STEPS)
def test_what_is_handed_on_keeps_the_digits_of_small_steps(case: str) -> None:
    """1 + f'(x) loses the same digits of f'(x) in every iteration."""
    n, a, b = 4_000, 0.7, 1.5
    with mpmath.workdps(40):
        x, slope = mpmath.mpf(0.2), mpmath.mpf(1)
        h, a_, b_ = mpmath.mpf(1e-6), mpmath.mpf(a), mpmath.mpf(b)
        for _ in range(n):
            slope *= 1 + h * (a_ - 2 * b_ * x)
            x += h * (a_ * x - b_ * x * x)
        expected = float(slope)
    program = adiff.program(f"x = x0\nfor i in range(n):\n    {SMALL_STEPS[case]}\nx")
    at = {"x0": 0.2, "a": a, "b": b, "n": n}
    for engine in ("tape", "kernel"):
        found = program.evaluate("grad", at, ["x0"], engine=engine).gradients["x0"]
        assert abs(found / expected - 1.0) < 2e-14, engine


@pytest.mark.usefixtures("interpret")
def test_a_path_without_such_a_sum_is_multiplied() -> None:
    """Where one branch shrinks x to next to nothing, the slope less 1 would keep none of its digits."""
    text = "t = x\nfor i in range(3):\n    if i == 1:\n        t = 1e-30 * sin(t) * cos(t) * (2 + t)\n    else:\n        t = t + t * t * t\nt"
    assert agree(text, {"x": 0.5}, None, "grad", 1e-13) == ""
