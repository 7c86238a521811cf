"""Inputs that are no floats: integers that decide shapes, arrays of integers and of booleans, several ranks, nothing."""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
import pytest
from agreement import agree, outcome

FLOATS = np.array([0.3, -1.1, 0.9, 2.0])
CASES: list[tuple[str, dict[str, Any]]] = [
    ("sum(ones(n + 1) * x)", {"n": 3, "x": 1.5}),
    ("v = linspace(0, x, n)\nsum(v**2)", {"n": 5, "x": 1.5}),
    ("sum(v[:n] * x)", {"n": 3, "x": 1.5, "v": FLOATS}),
    ("sum(v[n // 2:n] * x) * n", {"n": 3, "x": 1.5, "v": FLOATS}),
    ("w = zeros((n, 2)) + x\nsum(w * w)", {"n": 3, "x": 1.5}),
    ("c = [0.0] * n + [x]\nfor i in range(len(c)):\n    c[i] = c[i - 1] * 0.5 + x * i\nsum(c)", {"n": 4, "x": 1.5}),
    ("h = 0.0\nfor i in range(n):\n    h = h * 0.5 + v * x\nsum(h)", {"n": 3, "x": 1.5, "v": FLOATS}),
    ("sum([x * i for i in range(n)]) * n", {"n": 90, "x": 0.1}),
    ("c = []\nfor i in range(n):\n    c.append(x * i)\nsum(c)", {"n": 90, "x": 0.1}),
    ("s = 0.0\nfor i in k:\n    s = s + v[i] * x\ns", {"k": np.array([0, 2, 2, -1]), "x": 1.5, "v": FLOATS}),
    ("sum(v[k] * x)", {"k": np.array([[0, 2], [3, 1]]), "x": 1.5, "v": FLOATS}),
    ("sum(where(m, v * x, v))", {"m": np.array([True, False, True, True]), "x": 1.5, "v": FLOATS}),
    ("s = 0.0\nfor i in range(4):\n    if m[i]:\n        s = s + v[i] * x\ns", {
        "m": np.array([True, False, True, True]), "x": 1.5, "v": FLOATS,
    }),
    ("sum(k * x)", {"k": np.array([1, 2]), "x": 1.5}),
    ("s = x if b else x * x\ns", {"b": True, "x": 1.5}),
    ("sum(a * x) + a[1, 0, 1, 0]", {"a": np.arange(24.0).reshape(2, 3, 2, 2), "x": 0.5}),
    ("sum(a * x) + x", {"a": np.zeros((0,)), "x": 0.5}),
    ("s = x\nfor e in a:\n    s = s * e\ns + sum(a)", {"a": np.zeros((0,)), "x": 0.5}),
    ("sum(zeros(0) * x) + x", {"x": 0.5}),
]  # fmt: skip
FLOATING = ("x", "v", "a", "n")


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("text", "at"), CASES, ids=[text.replace("\n", "; ") for text, _ in CASES])
def test_agreement(text: str, at: dict[str, Any]) -> None:
    """With every input that may be differentiated, and with the reals alone; integers of a dtype of their own refuse."""
    for sources in (FLOATING, ("x",)):
        for command in ("grad", "value"):
            reason = agree(text, at, [name for name in at if name in sources], command)
            assert (
                reason == ""
                or any(why in reason for why in ("on some paths of the program only", "whether it is an integer"))
                or text == "sum(k * x)"
            )


@pytest.mark.usefixtures("interpret")
def test_what_is_counted_is_compiled_for_its_value_alone() -> None:
    program = adiff.program("sum(ones(n) * x)")
    for n in (3, 3, 5):
        outcome = program.evaluate("grad", {"x": 2.0, "n": n}, ["x"], engine="kernel")
        assert (outcome.engine, outcome.value) == ("kernel", 2.0 * n)
    assert len(program.kernels.compiled) == 2


@pytest.mark.usefixtures("interpret")
def test_what_must_be_whole_and_is_not_is_the_tapes_to_refuse() -> None:
    assert agree("sum(ones(n) * x)", {"x": 2.0, "n": 2.5}) == "an error"
    assert agree("sum(v[:n] * x)", {"x": 2.0, "n": 2.0, "v": FLOATS}) != ""


COUNTS = {
    "to": ("s = x\nfor i in range(n):\n    s = s * x\ns", 2.0**5),
    "from": ("s = x\nfor i in range(n, 6):\n    s = s * x\ns", 2.0**3),
    "as many": ("x * len(range(n)) + 24", 2.0**5),
    "of a loop that is a function": ("fori_loop(0, n, lambda k, s: s * x, x)", 2.0**5),
}


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("name", COUNTS)
def test_a_float_does_not_count(name: str) -> None:
    """Though an integer does that is differentiated, which a kernel takes as a float: in either order."""
    text, value = COUNTS[name]
    program = adiff.program(text)
    for command, more in (("value", {}), ("grad", {}), ("hessian", {}), ("jvp", {"tangent": {"x": 1.0}})):
        for sources in (["x"], ["x", "n"]):
            wrt = None if command in ("value", "jvp") else sources
            for _ in range(2):
                found = outcome(program, {"x": 2.0, "n": 4}, "kernel", command, wrt, **more)
                assert (found.engine, found.value) == ("kernel", value), found
                for engine in ("kernel", "tape", "auto"):
                    error = outcome(program, {"x": 2.0, "n": 4.0}, engine, command, wrt, **more)
                    assert isinstance(error, adiff.AdiffError), (command, sources, engine, error)
                    assert agree(text, {"x": 2.0, "n": 4.0}, wrt, command, **more) == "an error"


@pytest.mark.parametrize("sources", [["x"], ["x", "n"]])
def test_a_column_of_floats_does_not_count(sources: list[str]) -> None:
    program = adiff.program(COUNTS["to"][0])
    for count, kind in ((4, int), (4, float), (4, int)):
        found = {}
        for engine in ("tape", "kernel"):
            found[engine] = program.rows({"x": [2.0, 3.0], "n": [kind(count), kind(2)]}, sources, engine=engine)
        errors = [[(k, e.code, e.message, e.span.start) for k, e in found[engine].errors.items()] for engine in found]
        assert errors[0] == errors[1]
        assert len(errors[0]) == (2 if kind is float else 0)
        np.testing.assert_array_equal(found["kernel"].value, [np.nan] * 2 if kind is float else [32.0, 27.0])
    assert found["kernel"].engine == "kernel"


SMALLEST = -(2**63)
BEYOND: list[tuple[str, Any]] = [
    ("n[0] // n[1]", [SMALLEST, -1]), ("n[0] % n[1]", [SMALLEST, -1]), ("n // -1", [SMALLEST, 7]), ("n + n", [2**62, 1]),
    ("n[0] * 1.0", [2**53 + 1, 1]), ("print(n[0], n)\nn[1]", [2**53 + 1, 5]), ("n - 1", [-(2**53) - 1, 0]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "n"), BEYOND)
def test_integers_beyond_what_a_float_holds_are_the_tapes(text: str, n: list[int]) -> None:
    lines: list[list[str]] = [[], []]
    tape, kernel = (
        adiff.program(text).evaluate("value", {"n": n}, engine=engine, write=lines[k].append)
        for k, engine in enumerate(("tape", "kernel"))
    )
    assert kernel.engine == "tape"
    assert "2**53" in kernel.reason
    np.testing.assert_array_equal(kernel.value, tape.value)
    assert lines[0] == lines[1]
    assert [notice.code for notice in kernel.notices] == [notice.code for notice in tape.notices]


@pytest.mark.usefixtures("interpret")
def test_repeated_calls_with_integers_beyond_what_a_float_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    run = adiff.program("where(n > 3, x, 2 * x)[0]").repeated(
        "value", {"x": 2.0, "n": np.array([3, -3])}, engine="kernel"
    )
    monkeypatch.setattr(run, "in_full", lambda at: at)
    for size, value in ((2**53, 2.0), (-(2**53), 4.0)):
        assert run({"x": 2.0, "n": np.array([size, 1])}).value == value
    for size in (2**53 + 1, SMALLEST):
        point = {"x": 2.0, "n": np.array([1, size])}
        assert run(point) is point


@pytest.mark.usefixtures("interpret")
def test_a_number_is_a_plain_number() -> None:
    """Gradients beside those of arrays too, in every command."""
    program = adiff.program("b = a\nb[0] = 5.0 * x\nsum(a * b)")
    at = {"x": 1.0, "a": np.array([1.0, 2.0])}
    for command in ("grad", "hessian"):
        outcome = program.evaluate(command, at, ["x", "a"], engine="kernel")
        assert outcome.engine == "kernel"
        assert type(outcome.gradients["x"]) is float
        assert type(outcome.value) is float


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("word", ["and", "or"])
def test_conditions_of_many_parts(word: str) -> None:
    """One after the other, and not one inside the other."""
    parts = [f"x > {i}" for i in range(-200, 0)]
    text = f"y = x * 2 if {f' {word} '.join(parts)} else x\ny * y"
    for x in (1.5, -100.5, -300.0):
        assert agree(text, {"x": x}) == ""
    assert agree(f" {word} ".join(parts), {"x": -100.5}, None, "value") == ""


@pytest.mark.usefixtures("interpret")
def test_a_condition_whose_parts_may_fail_is_computed_as_far_as_it_takes() -> None:
    text = "y = x\nif x > 0 and log(x) > 1 and v[i] > 0 or x > 4 and x > 5:\n    y = x * v[0]\ny * x"
    for x in (-1.0, 0.5, 3.0, 7.0):
        for i in (1, 9):
            agree(text, {"x": x, "v": FLOATS, "i": i}, ["x"])


def test_blocks_too_deep_for_the_compiler() -> None:
    sides = "".join(f"elif x > -{i}:\n    y = {i} * x\n" for i in range(1, 150))
    reason = agree(f"if x > 0:\n    y = x\n{sides}else:\n    y = x * x\ny", {"x": -30.5})
    assert reason == "no kernel for blocks nested this deeply"
