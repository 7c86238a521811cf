"""Loops over directions: what is computed before them, and what is passed over."""

from __future__ import annotations

import re
from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine.kernels.passes import invariant_arrays, invariant_values, zero_rows
from agreement import agree, outcome

DRAW = np.random.default_rng(5)
A = DRAW.standard_normal((10, 6))
V = DRAW.standard_normal(6)
# The matrix of which each element of v moves one row.
TABLE = "t = zeros([6, 9])\nfor i in range(6):\n    for j in range(9):\n        t[i, j] = v[i] * (j + 1)\n"


def of_directions(text: str, at: dict[str, Any], command: str = "jacobian", **options: Any) -> tuple[str, str]:
    """The emitted source before the loop over directions, and from there on."""
    found = adiff.program(text).evaluate(command, at, ["v"], engine="kernel", **options)
    assert found.engine == "kernel", found.reason
    assert found.kernel is not None
    source = found.kernel.source
    # The loop over directions is the last at the outermost level.
    start = [m.start() for m in re.finditer(r"^    for ", source, re.MULTILINE)][-1]
    return source[:start], source[start:]


@pytest.mark.usefixtures("interpret")
def test_what_no_direction_changes_is_computed_once() -> None:
    text = "a = exp(A @ v)\nb = a * sqrt(a)\nconcat([a, b * a], axis=0)"
    before, inside = of_directions(text, {"A": A, "v": V}, mode="forward")
    assert before.count("math.exp") == 1
    assert "math.exp" not in inside
    assert agree(text, {"A": A, "v": V}, ["v"], "jacobian", mode="forward") == ""


@pytest.mark.usefixtures("interpret")
def test_the_value_is_computed_once() -> None:
    text = "s = 0.0\nfor i in range(5):\n    s += exp(v[i]) * v[i + 1] ** 2\ns"
    before, inside = of_directions(text, {"v": V}, "hessian")
    total = re.search(r"^ +return (\w+), ", inside, re.MULTILINE)
    assert total is not None
    assert f" {total[1]} = " in before
    assert f" {total[1]} = " not in inside
    assert not re.search(r"floats\(run, \d+, 1\)", before + inside)  # a number, and no array of one
    # All of the Hessian is stored, which needs no zeros.
    assert not re.search(r"clear\(\w+, 36\)", before)
    assert agree(text, {"v": V}, ["v"], "hessian") == ""


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(
    ("text", "inside_too"),
    [
        ("h = tanh(A @ v)\nsum(h**2)", 0),
        ("s = 0.0\nfor i in range(5):\n    s += cos(v[i]) * exp(v[i + 1] * v[i])\ns", 0),
        ("s = 0.0\nfor i in range(3):\n    for j in range(2):\n        s += sin(v[2*i + j]) * v[i]\ns", 0),
        # Not where a branch decides whether it is computed at all.
        ("s = 0.0\nfor i in range(6):\n    if v[i] > 0: s += exp(v[i]) * v[i]\ns", 1),
    ],
)
def test_dear_partials_are_computed_once(text: str, inside_too: int) -> None:
    at = {"A": A, "v": V}
    at = {name: at[name] for name in at if name in text}
    before, inside = of_directions(text, at, "hessian")
    dear = re.compile(r"math\.(tanh|cos|sin|exp)|_sech")
    assert dear.search(before)
    assert (len(dear.findall(inside)) > 0) is bool(inside_too)
    assert agree(text, at, ["v"], "hessian") == ""


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(
    "text",
    [
        # Read while it changes.
        "y = zeros([7])\nfor i in range(6):\n    y[i + 1] = y[i] * 0.5 + sin(v[i])\ny",
        # Changed again after it was read.
        "y = v * 2.0\nz = concat([y * y, y], axis=0)\ny[0] = v[1]\nconcat([z, y * y * y], axis=0)",
        # Made in a branch.
        "y = v * v\nif v[0] > 100:\n    w = exp(v)\nelse:\n    w = sin(v) * y\nconcat([w, y], axis=0)",
        # Indices that are looked up, and may be wrong.
        "k = [3, 0, 2]\nw = exp(v)\nconcat([w[k[0]] * w, w], axis=0)",
        # A result that is an input's copy.
        "concat([v, v], axis=0)",
    ],
)
def test_arrays_that_change_are_what_they_are_at_the_time(text: str) -> None:
    for command, program in (("jacobian", text), ("hessian", text + "\n")):
        if command == "hessian":
            *lines, last = text.split("\n")
            program = "\n".join([*lines, f"r = {last}", "sum(r * r * r)"])
        agree(program, {"v": V}, ["v"], command, tolerance=1e-11)


def test_an_index_out_of_range_is_an_error_once() -> None:
    text = "w = exp(v)\nfor i in range(n):\n    w[i] = w[i] * 2.0\nconcat([w, w], axis=0)"
    agree(text, {"v": V, "n": 6}, ["v"], "jacobian", mode="forward")
    agree(text, {"v": V, "n": 7}, ["v"], "jacobian", mode="forward")
    assert outcome(adiff.program(text), {"v": V, "n": 7}, "kernel", "jacobian", ["v"]).code


@pytest.mark.usefixtures("interpret")
def test_more_than_there_is_room_for_is_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (invariant_arrays, invariant_values):
        monkeypatch.setattr(module, "MOST", 5)
    text = "a = exp(A @ v)\na * a"
    _, inside = of_directions(text, {"A": A, "v": V}, mode="forward")
    assert "math.exp" in inside
    assert agree(text, {"A": A, "v": V}, ["v"], "jacobian", mode="forward") == ""


# --- rows of zeros ----------------------------------------------------------------------------------------------------


def products(text: str, **at: Any) -> tuple[str, Any]:
    _, inside = of_directions(text, at, mode="forward")
    found = outcome(adiff.program(text), at, "kernel", "jacobian", ["v"], mode="forward")
    tape = outcome(adiff.program(text), at, "tape", "jacobian", ["v"], mode="forward")
    np.testing.assert_array_equal(found.jacobian["v"], tape.jacobian["v"])
    return inside, found


@pytest.mark.usefixtures("interpret")
def test_rows_of_zeros_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    marked = zero_rows.marked
    monkeypatch.setattr(zero_rows, "marked", lambda *a: asked.append(1) or marked(*a))
    text = TABLE + "A @ t"
    agree(text, {"A": A, "v": V}, ["v"], "jacobian", mode="forward")
    assert asked == [1]
    _, inside = of_directions(text, {"A": A, "v": V}, mode="forward")
    assert re.search(r"if a\d+\[i\d+\]:\n +x\d+ = A\[", inside), inside
    # The exact derivative: row k of the table moves with v[k] alone.
    found = adiff.program(text).evaluate("jacobian", {"A": A, "v": V}, ["v"], engine="kernel", mode="forward")
    expected = A[:, None, :] * np.arange(1.0, 10.0)[None, :, None]
    np.testing.assert_allclose(found.jacobian["v"], expected, rtol=1e-15)


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_beside_what_is_not_finite_zero_rows_stay_zero(bad: float) -> None:
    """Where rows of a tangent are zero, they stay zero beside it: row k of the table moves with v[k] alone."""
    a = A.copy()
    a[3, 2] = bad
    text = TABLE + "A @ t"
    program = adiff.program(text)
    answers = [
        outcome(program, {"A": a, "v": V}, engine, "jacobian", ["v"], mode="forward") for engine in ("tape", "auto")
    ]
    expected = a[:, None, :] * np.arange(1.0, 10.0)[None, :, None]
    np.testing.assert_allclose(answers[0].jacobian["v"], expected, rtol=1e-15)
    np.testing.assert_array_equal(answers[0].jacobian["v"], answers[1].jacobian["v"])
    kernel = adiff.program(text).evaluate("jacobian", {"A": a, "v": V}, ["v"], engine="kernel", mode="forward")
    np.testing.assert_array_equal(answers[0].jacobian["v"], kernel.jacobian["v"])


def test_short_rows_are_not_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*arguments: Any) -> Any:
        raise AssertionError("a question that is not worth it")

    monkeypatch.setattr(zero_rows, "marked", never)
    text = TABLE.replace("9", "7") + "A @ t"
    agree(text, {"A": A, "v": V}, ["v"], "jacobian", mode="forward")
