"""Values that are integers on some paths of a program and floats on others."""

from __future__ import annotations

from typing import Any

import adiff
import pytest
from agreement import agree

ADDED = "k = 0\nfor i in range(n):\n    k = k + x\nk"
CASES: list[tuple[str, dict[str, Any]]] = [
    (ADDED, {"x": 2.5, "n": 0}),
    (ADDED, {"x": 2.0, "n": 3}),
    (ADDED.replace("k = 0", "k = 0.0"), {"x": 2.0, "n": 0}),
    ("k = 1\ny = x\nwhile y > 3:\n    k = k * y\n    y = y - 1\nk", {"x": 2.0}),
    ("k = 0\nfor i in range(n):\n    k += i\nk", {"n": 0}),
    ("k = 7\nif x > 3:\n    k = 0.5\nk", {"x": 2.0}),
    ("k = 7\nif x > 3:\n    k = 0.5\nk", {"x": 4.0}),
    ("k = 7\nif x > 3:\n    k = 1.0\nfor i in range(n):\n    k = k + x\nk", {"x": 2.0, "n": 0}),
    ("k = 7\nif x > 3:\n    k = 1.0\nfor i in range(n):\n    k = k + x\nk", {"x": 4.0, "n": 0}),
    ("k = 7\nfor i in range(m):\n    k = k + 1\nfor i in range(n):\n    k = k + x\nk", {"x": 2.0, "n": 0, "m": 3}),
    ("k = 7\nfor i in range(m):\n    k = k + x\nfor i in range(n):\n    k = k * x\nk", {"x": 2.0, "n": 0, "m": 1}),
    ("k = 7\nfor i in range(m):\n    k = k + x\nfor i in range(n):\n    k = k * x\nk", {"x": 2.0, "n": 0, "m": 0}),
]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("text", "at"), CASES)
def test_the_value_is_of_the_type_that_the_tape_gives(text: str, at: dict[str, Any]) -> None:
    found = {}
    for engine in ("tape", "kernel"):
        outcome = adiff.program(text).evaluate("value", at, engine=engine)
        assert outcome.engine == engine
        found[engine] = (repr(outcome.value), outcome.types["value"])
    assert found["kernel"] == found["tape"]


def test_a_repeated_value_is_of_that_type_too() -> None:
    program = adiff.program(ADDED)
    value = program.repeated("value", {"x": 2.0, "n": 3}, engine="kernel")
    assert [repr(value({"x": 2.0, "n": n}).value) for n in (0, 1, 0, 2)] == ["0", "2.0", "0", "4.0"]


WITH_DERIVATIVES: list[tuple[str, dict[str, Any], type]] = [
    ("1 if x > 0 else x*1.5", {"x": 2.0}, int),
    ("1 if x > 0 else x*1.5", {"x": -2.0}, float),
    ("s = 0\nif x > 3:\n    s = s + x\ns", {"x": 2.0}, int),
    ("s = 0\nif x > 3:\n    s = s + x\ns", {"x": 4.0}, float),
    ("k = 7\nfor i in range(n):\n    k = k + x\nk", {"x": 2.0, "n": 0}, int),
    ("s = 0\nfor i in range(3):\n    if x > i:\n        s = s + x\ns", {"x": -1.0}, int),
]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("text", "at", "kind"), WITH_DERIVATIVES)
def test_beside_derivatives_the_value_is_what_it_is_without(text: str, at: dict[str, Any], kind: type) -> None:
    alone = adiff.program(text).evaluate("value", at, engine="tape").value
    assert type(alone) is kind
    for command, options in (
        ("grad", {}), ("jacobian", {}), ("hessian", {}), ("jvp", {"tangent": {"x": 1.0}}), ("vjp", {}),
        ("hvp", {"vector": {"x": 1.0}}),
    ):  # fmt: skip
        agree(text, at, ["x"], command, **options)
        found = adiff.program(text).evaluate(command, at, ["x"], engine="kernel", **options).value
        assert repr(found) == repr(alone), command


SUMMED = "k = 0\nfor i in range(n):\n    k = k + x\n"
EITHER = "k = 7\nif x > 3:\n    k = 1.0\n"
NESTED = "k = 0\nfor i in range(n):\n    for j in range(m):\n        k = k + x\nk"
GUARDED = "k = 0\nfor i in range(n):\n    if x > 3:\n        k = k + x\nk"
DERIVED: list[tuple[str, dict[str, Any]]] = [
    *((EITHER + last, {"x": x}) for x in (2.0, 4.0) for last in (
        "k // 2", "min(k, 3)", "abs(k)", "k**2", "k**2.0", "k**-1", "k % 4", "floor(k)", "k if x < 1 else k + 1",
        "float(k)", "-k", "k*1.0", "k*1", "k/2", "maximum(k, 1) + where(x > 1, k, 2)",
    )),
    *((SUMMED + last, {"x": 2.5, "n": n}) for n in (0, 2, 3) for last in (
        "k // 2", "k*2 + 1", "k*2.0 + 1", "a = k*2\nb = k*2.0\na", "a = k*2\nb = k*2.0\nb", "[k // 2, x]",
    )),
    *((NESTED, {"x": 2.5, "n": n, "m": m}) for n, m in ((0, 2), (2, 0), (2, 2), (1, 1))),
    *((NESTED.replace("range(m)", "range(i)"), {"x": 2.5, "n": n}) for n in (0, 1, 3)),
    *((GUARDED, {"x": x, "n": 3}) for x in (2.5, 3.5)),
]  # fmt: skip


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("text", "at"), DERIVED)
def test_what_is_computed_from_such_a_value_is_of_the_type_that_the_tape_gives(text: str, at: dict[str, Any]) -> None:
    tape, kernel = (adiff.program(text).evaluate("value", at, engine=engine) for engine in ("tape", "kernel"))
    assert (repr(kernel.value), kernel.types.get("value")) == (repr(tape.value), tape.types.get("value"))


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(
    ("text", "at"),
    [
        (NESTED, {"x": 2.25, "n": 1, "m": 1}),
        (NESTED.replace("range(n)", "range(4)").replace("range(m)", "range(5)"), {"x": 2.0}),
        (SUMMED + "k*2 + 1", {"x": 2.25, "n": 3}),
    ],
)
def test_kernels_answer_where_there_is_no_doubt(text: str, at: dict[str, Any]) -> None:
    assert adiff.program(text).evaluate("value", at, engine="kernel").engine == "kernel"


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(
    ("text", "at"),
    [
        (ADDED.replace("\nk", "\n[k, x]"), {"x": 2.0, "n": 0}),
        ("k = [1, 2] if x < 3 else [0.5, 2]\nk", {"x": 2.0}),
        ("k = ones_like([1, 2]) if x < 3 else zeros(2)\nk", {"x": 2.0}),
    ],
)
def test_parts_of_a_result_are_of_the_type_that_the_tape_gives(text: str, at: dict[str, Any]) -> None:
    tape, kernel = (adiff.program(text).evaluate("value", at, engine=engine) for engine in ("tape", "kernel"))
    assert repr(kernel.value) == repr(tape.value)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", ["(x, {'a': y})", "[x, [y]]", "({'a': y}, x)", "[[x, y]]", "[x, (y, x * y)]"])
def test_numbers_in_parts_of_parts_are_summed(text: str) -> None:
    at = {"x": 2.0, "y": 3.0}
    assert agree(text, at) == ""
    expected = {"x": 4.0, "y": 3.0} if "x * y" in text else {"x": 1.0, "y": 1.0}
    assert adiff.program(text).evaluate("grad", at, engine="tape").gradients == expected


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(
    "text", ["max(x, 1)", "min(7, x, 1)", "max([x, 2])", "max(x, True)", "{0: x, 1: 2}[int(y)]", "[max(1, x), x]"]
)
@pytest.mark.parametrize("x", [0.5, -0.0, 1.0, 2.0, 2.5])
def test_one_of_several_is_what_it_is(text: str, x: float) -> None:
    """The largest of numbers, and an item of a dict, is an integer where it is one."""
    at = {"x": x, "y": 1.0} if "y" in text else {"x": x}
    tape, kernel = (adiff.program(text).evaluate("value", at, engine=engine) for engine in ("tape", "kernel"))
    assert (repr(kernel.value), kernel.types["value"]) == (repr(tape.value), tape.types["value"])


@pytest.mark.usefixtures("interpret")
def test_largest_numbers_that_are_not_whole_have_kernels() -> None:
    for text in ("max(x, 1)", "max([x, 2])", "[max(1, x), x]"):
        assert adiff.program(text).evaluate("value", {"x": 2.5}, engine="kernel").engine == "kernel"


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(
    "text", ["sorted([k, m, 3])[0] * x", "sorted([k, m, x])[1] * x", "sorted([3, m, k], reverse=True)[0] * x"]
)
def test_integers_are_put_in_order(text: str) -> None:
    assert agree(text, {"k": 5, "m": -2, "x": 0.5}, ["x"]) == ""


@pytest.mark.usefixtures("interpret")
def test_powers_of_minus_one() -> None:
    for m in (2**53, 2**53 - 1):
        for engine in ("tape", "kernel"):
            assert adiff.program("k ** m").value({"k": -1, "m": m}, engine=engine) == (-1) ** (m % 2)
