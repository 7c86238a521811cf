"""Expressions at which automatic differentiation goes wrong elsewhere. `kind` says whether there is one right answer."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from adiff import AdiffError, Outcome, program

CASES = json.loads((Path(__file__).parents[1] / "data" / "hard_cases.json").read_text(encoding="utf-8"))["cases"]
ONE_ANSWER = ("regular", "branch", "one_sided", "limit", "regular_at_kink", "infinite", "removable")
# Twenty-one coefficients of alternating sign, summed to 1e-40: no arithmetic of 16 digits can.
ILL_CONDITIONED = "hard-273"


def numbers(text: Any) -> Any:
    return [numbers(item) for item in text] if isinstance(text, list) else None if text is None else float(text)


def flat(value: Any) -> list[Any]:
    if hasattr(value, "tolist"):
        value = value.tolist()
    return [leaf for item in value for leaf in flat(item)] if isinstance(value, list) else [value]


def derivatives(case: dict[str, Any], **options: Any) -> tuple[Outcome, dict[str, list[float]]]:
    compiled = program(case["program"])
    at = {name: numbers(value) for name, value in case["at"].items()}
    if case["order"] == 2:
        outcome = compiled.evaluate("hessian", at, **options)
        assert outcome.hessian is not None
        return outcome, {name: flat(outcome.hessian[name][name]) for name in case["gradient"]}
    outcome = compiled.evaluate("grad", at, **options)
    assert outcome.gradients is not None
    return outcome, {name: flat(outcome.gradients[name]) for name in case["gradient"]}


def right(found: float, expected: float) -> bool:
    if found == expected or (math.isnan(found) and math.isnan(expected)):
        return True
    # What underflows to 0 in float64 may be 0 or a subnormal number.
    return abs(found - expected) <= 1e-9 * abs(expected) or max(abs(found), abs(expected)) < 1e-300


DECIDED = [case for case in CASES if case["kind"] in ONE_ANSWER and case["id"] != ILL_CONDITIONED]


@pytest.mark.parametrize("case", DECIDED, ids=[f"{case['id']} {case['program'][:30]}" for case in DECIDED])
def test_the_one_right_answer(case: dict[str, Any]) -> None:
    _, found = derivatives(case)
    for name, expected in case["gradient"].items():
        for a, b in zip(found[name], flat(numbers(expected)), strict=True):
            assert right(a, b), (name, a, b)


COMPARED = [case for case in CASES if "exact" in (case["jax"], case["torch"])]


@pytest.mark.parametrize("case", COMPARED, ids=[case["id"] for case in COMPARED])
def test_never_worse_than_both_peers(case: dict[str, Any]) -> None:
    """Where JAX or PyTorch is exact, so is adiff; the parts of an answer that are open stay open."""
    _, found = derivatives(case)
    for name, expected in case["gradient"].items():
        for a, b in zip(found[name], flat(numbers(expected)) if expected is not None else []):
            assert b is None or right(a, b), (name, a, b)


VALUED = [case for case in DECIDED if case["value"] is not None and case["order"] == 1]


@pytest.mark.parametrize("case", VALUED, ids=[f"{case['id']} {case['program'][:30]}" for case in VALUED])
def test_the_value(case: dict[str, Any]) -> None:
    outcome, _ = derivatives(case)
    for a, b in zip(flat(outcome.value), flat(numbers(case["value"]))):
        assert right(a, b), (a, b)


# What semantics.md lays down where there is no one answer: id -> gradient, and the words of its notice.
CONVENTIONS = {
    "hard-065": ({"a": 0.0, "b": 0.0}, "logaddexp"),
    "hard-103": ({"x": 0.5}, "maximum has two slopes"),
    "hard-105": ({"x": 0.0}, "clip"),
    "hard-107": ({"x": [0.0, 0.5, 0.5, 0.0]}, "max is not differentiable"),
    "hard-111": ({"x": 0.0, "y": -math.inf}, "0**0"),
    "hard-113": ({"x": 0.0, "y": 0.0}, ""),
    "hard-117": ({"x": math.nan}, "nan"),
    "hard-123": ({"y": 0.0, "x": 0.0}, "atan2 is not differentiable at (0, 0)"),
    "hard-173": ({"x": -math.inf, "y": 0.0}, "xlogy"),
    "hard-199": ({"x": [0.0, 0.0, 0.0]}, "std is not differentiable"),
    "hard-257": ({"x": 0.0}, "sign"),
}


@pytest.mark.parametrize("name", CONVENTIONS)
def test_the_documented_choice(name: str) -> None:
    case = next(case for case in CASES if case["id"] == name)
    expected, words = CONVENTIONS[name]
    outcome, found = derivatives(case)
    for source, value in expected.items():
        for a, b in zip(found[source], flat(value), strict=True):
            assert right(a, b), (source, a, b)
    if words:
        messages = [notice.message for notice in outcome.notices]
        assert any(words in message for message in messages), messages
        assert any(notice.span is not None for notice in outcome.notices)


# The table of semantics.md: program, point, and the gradient under each policy (None where a peer has no answer there).
POLICIES = [
    ("abs(x)", {"x": 0.0}, {"adiff": [0.0], "tensorflow": [0.0], "jax": [1.0], "torch": [0.0]}),
    ("relu(x)", {"x": 0.0}, {"adiff": [0.0], "tensorflow": [0.0], "jax": [0.0], "torch": [0.0]}),
    ("maximum(x, y)", {"x": 1.0, "y": 1.0}, {"adiff": [0.5, 0.5], "tensorflow": [1.0, 0.0], "jax": [0.5, 0.5], "torch": [0.5, 0.5]}),
    ("minimum(x, y)", {"x": 1.0, "y": 1.0}, {"adiff": [0.5, 0.5], "tensorflow": [1.0, 0.0], "jax": [0.5, 0.5], "torch": [0.5, 0.5]}),
    ("reduce_max(x)", {"x": [2.0, 1.0, 2.0]}, {policy: [0.5, 0.0, 0.5] for policy in ("adiff", "tensorflow", "jax", "torch")}),
    ("clip(x, 0, 1)", {"x": 0.0}, {"adiff": [0.0], "tensorflow": [1.0], "jax": [0.5], "torch": [0.0]}),
    ("sqrt(x)", {"x": 0.0}, {policy: [math.inf] for policy in ("adiff", "tensorflow", "jax", "torch")}),
    ("1/x", {"x": 0.0}, {policy: [-math.inf] for policy in ("adiff", "tensorflow", "jax", "torch")}),
    ("log(x)", {"x": 0.0}, {policy: [math.inf] for policy in ("adiff", "tensorflow", "jax", "torch")}),
    ("log(x)", {"x": -1.0}, {"adiff": [math.nan], "tensorflow": [-1.0], "jax": [-1.0], "torch": [-1.0]}),
    ("x**0", {"x": 0.0}, {"adiff": [0.0], "tensorflow": [math.nan], "jax": [0.0], "torch": [0.0]}),
    ("x**y", {"x": 0.0, "y": 2.0}, {policy: [0.0, 0.0] for policy in ("adiff", "tensorflow", "jax", "torch")}),
    ("x**y", {"x": 0.0, "y": 0.0}, {"adiff": [0.0, -math.inf], "tensorflow": [math.nan, 0.0], "jax": [math.nan, 0.0], "torch": [0.0, 0.0]}),
    ("x**y", {"x": -2.0, "y": 3.0}, {"adiff": [12.0, math.nan], "tensorflow": [12.0, 0.0], "jax": [12.0, math.nan], "torch": [12.0, math.nan]}),
    ("norm(x)", {"x": [0.0, 0.0]}, {"adiff": [0.0, 0.0], "tensorflow": [math.nan] * 2, "jax": [math.nan] * 2, "torch": [0.0, 0.0]}),
    ("hypot(x, y)", {"x": 0.0, "y": 0.0}, {"adiff": [0.0, 0.0], "tensorflow": [math.nan] * 2, "jax": [0.5, 0.5], "torch": [math.nan] * 2}),
    ("atan2(y, x)", {"y": 0.0, "x": 0.0}, {"adiff": [0.0, 0.0], "tensorflow": [math.nan] * 2, "jax": [math.nan] * 2, "torch": [0.0, 0.0]}),
    ("sqrt(sum(x**2))", {"x": [0.0, 0.0]}, {policy: [math.nan] * 2 for policy in ("adiff", "tensorflow", "jax", "torch")}),
    ("sqrt(x**2 + y**2)", {"x": 0.0, "y": 0.0}, {policy: [math.nan] * 2 for policy in ("adiff", "tensorflow", "jax", "torch")}),
    ("where(x>0, sqrt(x), 0)", {"x": 0.0}, {"adiff": [0.0]}),
    ("where(x>0, sqrt(x), 0)", {"x": -1.0}, {"adiff": [0.0]}),
    ("where(x>0, log(x), 0)", {"x": 0.0}, {"adiff": [0.0]}),
    ("sum(where(x>0, log(x), 0))", {"x": [0.0, 2.0, -1.0]}, {"adiff": [0.0, 0.5, 0.0]}),
    ("xlogy(x, y)", {"x": 0.0, "y": 0.0}, {"adiff": [-math.inf, 0.0], "tensorflow": [0.0, 0.0], "jax": [-math.inf, math.nan], "torch": [0.0, math.nan]}),
    ("prod(x)", {"x": [0.0, 2.0, 3.0]}, {policy: [6.0, 0.0, 0.0] for policy in ("adiff", "tensorflow", "jax", "torch")}),
    ("std(x)", {"x": [2.0, 2.0]}, {"adiff": [0.0, 0.0], "tensorflow": [math.nan] * 2, "jax": [math.nan] * 2, "torch": [0.0, 0.0]}),
    ("logsumexp(x)", {"x": [-math.inf, -math.inf]}, {"adiff": [0.0, 0.0], "tensorflow": [math.nan] * 2, "jax": [math.nan] * 2, "torch": [math.nan] * 2}),
    ("sinc(x)", {"x": 0.0}, {"adiff": [0.0], "jax": [0.0], "torch": [0.0]}),
    ("mod(x, y)", {"x": 4.0, "y": 2.0}, {policy: [1.0, -2.0] for policy in ("adiff", "tensorflow", "jax", "torch")}),
]  # fmt: skip
ASKED = [(text, at, policy, gradient) for text, at, answers in POLICIES for policy, gradient in answers.items()]


@pytest.mark.parametrize(
    ("text", "at", "policy", "gradient"), ASKED, ids=[f"{a[0]} {list(a[1].values())} {a[2]}" for a in ASKED]
)
def test_singular_points(text: str, at: dict[str, Any], policy: str, gradient: list[float]) -> None:
    _, found = program(text).value_and_gradient(at, kinks=policy)
    flattened = [leaf for name in at for leaf in flat(found[name])]
    assert all(right(a, b) for a, b in zip(flattened, gradient, strict=True)), flattened


@pytest.mark.parametrize("text", ["abs(x)", "maximum(x, 0)", "sqrt(x)", "sign(x)", "norm(stack([x, x]))"])
def test_kinks_can_be_errors(text: str) -> None:
    from adiff import AdiffError

    with pytest.raises(AdiffError) as caught:
        program(text).value_and_gradient({"x": 0.0}, kinks="error")
    assert caught.value.code == "E0501"
    assert caught.value.span is not None


def test_a_notice_is_given_once_for_each_place() -> None:
    outcome = program("total = 0.0\nfor i in range(100):\n    total += abs(x)\ntotal + abs(x)").evaluate(
        "grad", {"x": 0.0}
    )
    places = [(n.span.line, n.span.column) for n in outcome.notices if n.code == "N0501" and n.span is not None]
    assert places == [(4, 9), (3, 14)] or places == [(3, 14), (4, 9)]


ORIGINS = [
    ("y = log(x)\nz = y * 2\nexp(z) / z", {"x": -1.0}, "value", "N0601", "nan", "log(x)"),
    ("y = exp(x)\ny - y", {"x": 1000.0}, "value", "N0601", "infinity", "exp(x)"),
    ("sqrt(sum(x**2))", {"x": [0.0, 0.0]}, "grad", "N0602", "norm", "sqrt(sum(x**2))"),
    ("a = x - 1\nb = 1 / a\nb * 0", {"x": 1.0}, "value", "N0601", "infinity", "1 / a"),
]


BEYOND_FLOAT32 = {
    "product": ("x*1e39", "x*1e39"),
    "in a list": ("sum([x*1e39, 2.0])*3", "x*1e39"),
    "a list of numbers": ("[1e39, 2.0]*x", None),
    "alone": ("1e39", None),
    "beside one": ("[x, 1e39]", None),
    "a list beside integers": ("y = [1.0, 2.0]\ny[0] = 1e39\nsum(y)*x", None),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("engine", ["tape", "kernel"])
@pytest.mark.parametrize("name", BEYOND_FLOAT32)
def test_numbers_beyond_float32_are_infinite(name: str, engine: str) -> None:
    """Without a warning of NumPy's, and with a notice at the operation that a number makes infinite."""
    text, place = BEYOND_FLOAT32[name]
    at = {"x": 0.7} if "x" in text else {}
    for command in ("value", "grad") if name in ("product", "in a list") else ("value",):
        outcome = program(text).evaluate(command, at, engine=engine, dtype="float32")
        assert np.isinf(np.asarray(outcome.value)).any()
        found = [text[n.span.start : n.span.end] for n in outcome.notices if n.code == "N0601" and n.span is not None]
        assert place is None or found == [place]


@pytest.mark.parametrize(("text", "at", "command", "code", "words", "place"), ORIGINS, ids=[o[0][:20] for o in ORIGINS])
def test_where_the_first_nan_arises(
    text: str, at: dict[str, Any], command: str, code: str, words: str, place: str
) -> None:
    outcome = program(text).evaluate(command, at)
    found = [
        (n.message, n.span.source.text[n.span.start : n.span.end]) for n in outcome.notices if n.code == code and n.span
    ]
    assert any(words in message and shown == place for message, shown in found), [
        (n.code, n.message) for n in outcome.notices
    ]


@pytest.mark.parametrize("engine", ["tape", "kernel"])
@pytest.mark.parametrize(
    ("index", "wrt", "named"), [([0, 2], None, True), ([0.5, 2], None, False), ([0.0, 2], ["x"], False)]
)
def test_an_index_that_is_a_float_only_because_it_is_differentiated(
    engine: str, index: list[float], wrt: list[str] | None, named: bool
) -> None:
    with pytest.raises(AdiffError) as raised:
        program("sum(x[i])").evaluate("grad", {"x": [1.0, 2.0, 3.0], "i": index}, wrt, engine=engine)
    assert raised.value.code == "E0405"
    assert ("wrt" in (raised.value.hint or "")) is named
