"""Every element-wise row with kernel text, at ordinary and extreme arguments: machine code against the tape."""

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine import evaluation
from adiff.engine.ops.registry import ROWS
from agreement import agree, close, spans
from element_rows import EXTREMES, FEWER, VALUES_ALONE, rows

# Computed by the tape on NumPy's way for some arguments, with other last digits.
TOLERANCE = 1e-13


@cache
def program(names: tuple[str, ...], weighted: bool) -> Any:
    count = len([p for p in ROWS[names[0]].parameters if p.kind == "input"])
    inputs = ", ".join("abc"[:count])
    # Python's round of a float is an integer; the row is NumPy's.
    calls = [f"{'rint' if n == 'round' else n}({inputs})" for n in names]
    calls = [f"where({call}, 1.0, 0.0)" if ROWS[n].dtype == "bool" else call for n, call in zip(names, calls)]
    if not weighted:
        return adiff.program(f"stack([{', '.join(calls)}])")
    return adiff.program(" + ".join(f"w[{k}] * {call}" for k, call in enumerate(calls)))


def points(count: int) -> list[dict[str, float]]:
    values = EXTREMES if count == 1 else FEWER if count == 2 else (0.0, 1.0, -2.0, math.inf, math.nan)
    return [dict(zip("abc", chosen)) for chosen in itertools.product(values, repeat=count)]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_values(count: int) -> None:
    names = tuple(rows(count))
    wrong = []
    for point in points(count):
        tape = program(names, False).evaluate("value", point, engine="tape").value
        outcome = program(names, False).evaluate("value", point, engine="kernel")
        assert outcome.engine == "kernel", outcome.reason
        for name, a, b in zip(names, tape, outcome.value):
            if not close(a, b, TOLERANCE):
                wrong.append((name, point, float(a), float(b)))
    assert not wrong


@pytest.mark.parametrize("count", [1, 2, 3])
def test_gradients(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One row at a time by a weight of 1: the others must not leak, whatever their partials are."""
    # Where a nan began is not what is compared: to trace it takes longer than all else.
    monkeypatch.setattr(evaluation.Evaluation, "explain_non_finite", lambda self, command, seconds: None)
    names = tuple(name for name in rows(count) if name not in VALUES_ALONE)
    wrt = list("abc"[:count])
    wrong = []
    chosen = [p for p in points(count) if count > 1 or p["a"] not in (5e-324, -1e-17, 1e16, -750.0, -1e308)]
    for number, point in enumerate(chosen):
        # With several inputs there are many points: each tests some of the rows.
        for k in range(len(names)) if count == 1 else range(number % 4, len(names), 4):
            at = {**point, "w": np.eye(len(names))[k]}
            outcome = program(names, True).evaluate("grad", at, wrt, engine="kernel")
            assert outcome.engine == "kernel", outcome.reason
            tape = program((names[k],), False).evaluate("grad", point, wrt, engine="tape")
            if tape.gradients["a"] is None:
                tape.gradients = dict.fromkeys(tape.gradients, 0.0)  # a test of a number is not connected
            kinks = [{(code, text) for code, text, _ in spans(o.notices) if code == "N0501"} for o in (tape, outcome)]
            same = all(close(np.float64(tape.gradients[n]), outcome.gradients[n], TOLERANCE) for n in wrt)
            if not same or kinks[0] != kinks[1]:
                wrong.append((names[k], point, tape.gradients, outcome.gradients, *kinks))
    assert not wrong, "\n".join(map(str, wrong))


PARAMETERS = [
    *(f"{name}(a, x)" for name in ("gammainc", "gammaincc")),
    *(f"{name}({order}, x)" for name in ("jv", "yv", "iv", "kv") for order in (0, 1.5)),
    "betainc(a, x, 0.3)",
    "betainc(x, a, 0.9)",
]
POINTS = [(0.01, 1e-6), (0.4, 3.0), (2.5, 0.1), (2.5, 2.5), (7.0, 40.0), (30.0, 12.0), (150.0, 170.0), (900.0, 700.0)]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", PARAMETERS)
def test_functions_of_parameters(text: str) -> None:
    """Far into both tails, where quadratures give the derivatives by a parameter."""
    for a, x in POINTS:
        assert agree(text, {"a": a, "x": x} if "a," in text or "a)" in text else {"x": x}) == ""


@pytest.mark.usefixtures("interpret")
def test_no_derivative_by_an_order() -> None:
    """The tape says so, in the user's words."""
    agree("jv(n, x)", {"n": 1.5, "x": 2.0})


# Results that tell the sign of a zero: as Python's max and NumPy's sums and signs have it.
SIGNED_ZEROS: list[tuple[str, Any, str]] = [
    ("1/max(x, 0.0)", -0.0, "-inf"),
    ("1/max(0.0, x)", -0.0, "inf"),
    ("1/max([x, 0.0])", -0.0, "-inf"),
    ("1/min(x, -0.0)", 0.0, "inf"),
    ("1/maximum(x, 0.0)", -0.0, "-inf"),
    ("1/minimum(0.0, x)", -0.0, "inf"),
    ("maximum(x, 0.0)", np.full(5, -0.0), "array([-0., -0., -0., -0., -0.])"),
    ("minimum(0.0, x)", np.full(5, -0.0), "array([0., 0., 0., 0., 0.])"),
    ("clip(x, 0.0, 1.0)", np.full(5, -0.0), "array([-0., -0., -0., -0., -0.])"),
    ("1/clip(x, 0.0, 1.0)", -0.0, "-inf"),
    ("cumsum(x)", np.full(2, -0.0), "array([-0., -0.])"),
    ("sign(x)", np.full(2, -0.0), "array([0., 0.])"),
    ("1/sign(x)", -0.0, "inf"),
    ("elu(x)", np.full(2, -0.0), "array([-0., -0.])"),
    ("1/elu(x)", -0.0, "-inf"),
    ("selu(x)", np.full(2, -0.0), "array([-0., -0.])"),
    ("cos(x + 0j)", 2.0, "(-0.4161468365471424-0j)"),
    ("log(expm1(x + 0j) - 4)", -0.0, "(1.3862943611198906+3.141592653589793j)"),
]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("text", "x", "expected"), SIGNED_ZEROS)
def test_the_sign_of_zero(text: str, x: Any, expected: str) -> None:
    for engine in ("tape", "kernel"):
        outcome = adiff.program(text).evaluate("value", {"x": x}, engine=engine)
        assert (outcome.engine, repr(outcome.value)) == (engine, expected)


NOT_FINITE = (
    "matrix_rank", "eigh", "eigvalsh", "inv", "slogdet", "qr", "eigvals", "solve", "det", "cholesky", "norm", "svd",
)  # fmt: skip


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("name", NOT_FINITE)
def test_matrices_that_are_not_finite(name: str) -> None:
    """What LAPACK gives or says; a spectrum without its nan would be a wrong answer."""
    program = adiff.program(f"{name}([[x, 1.0], [1.0, 2.0]]{', [1.0, 2.0]' if name == 'solve' else ''})")
    for x in (math.nan, math.inf):
        found = []
        for engine in ("tape", "kernel"):
            try:
                found.append(repr(program.evaluate("value", {"x": x}, engine=engine).value))
            except adiff.AdiffError as error:
                found.append((error.code, error.message, error.span.start, error.span.end))
        assert found[0] == found[1]
        if name in ("eigh", "eigvalsh", "eigvals"):
            assert found[0][0] == "E0302"
