"""The rewrites of program/rewrite.py: the same function, more digits, and nothing else changes."""

import math
import re
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from adiff import program

# text, the function in mpmath, points at which the text itself cancels, overflows or is 0/0
STABLE: list[tuple[str, Any, list[float]]] = [
    ("log(sigmoid(x))", lambda x: -mp.log(1 + mp.exp(-x)), [-1000.0, -40.0, 40.0, 0.3]),
    ("log(cosh(x))", lambda x: mp.log(mp.cosh(x)), [1000.0, -1000.0, 1e-9, 0.7]),
    ("1 / (1 + exp(-x))", lambda x: 1 / (1 + mp.exp(-x)), [-1000.0, -40.0, 40.0, 0.3]),
    ("1 / (exp(x) + 1)", lambda x: 1 / (1 + mp.exp(x)), [1000.0, 40.0, -0.3]),
    ("log(1 + exp(x))", lambda x: mp.log(1 + mp.exp(x)), [1000.0, -1000.0, -40.0, 0.3]),
    ("log(exp(x) + 1)", lambda x: mp.log(1 + mp.exp(x)), [1000.0, -50.0]),
    ("log(1 + x)", lambda x: mp.log(1 + x), [1e-18, -1e-18, 1e-300, 0.5, -0.5]),
    ("log(x + 1.0)", lambda x: mp.log(1 + x), [1e-18, 2.0]),
    ("log(1 - x)", lambda x: mp.log(1 - x), [1e-18, 0.5, -3.0]),
    ("exp(x) - 1", lambda x: mp.expm1(x), [1e-18, 1e-300, 2.0]),
    ("1 - cos(x)", lambda x: 2 * mp.sin(x / 2) ** 2, [1e-9, 1e-100, 2.0]),
    ("sqrt(x**2 + 1)", lambda x: mp.sqrt(x**2 + 1), [1e200, -1e200, 1e-200, 0.5]),
    ("sqrt(x*x + (2*x)**2)", lambda x: mp.sqrt(5) * abs(x), [1e200, 1e-200, -0.5]),
    ("sqrt(x)**2", lambda x: x, [0.0, 1e-300, 2.0]),
    ("sqrt(x + 1) - sqrt(x)", lambda x: mp.sqrt(x + 1) - mp.sqrt(x), [1e15, 1e10, 1.0]),
    ("sqrt(x - 1) - sqrt(x + 2)", lambda x: mp.sqrt(x - 1) - mp.sqrt(x + 2), [1e15, 3.0]),
    ("lgamma(x + 1) - lgamma(x)", lambda x: mp.log(x), [1e8, 1e15, 0.5]),
    ("exp(lgamma(x + 1) - lgamma(x))", lambda x: x, [1e8, 0.5]),
    ("x - tanh(x)", lambda x: x - mp.tanh(x), [1e-100, 1e-8, 0.3, 0.99, 1.01, 30.0, -2.0]),
    ("sin(x) / x", lambda x: mp.sinc(x), [0.0, 1e-8, 1e-3, 0.9, 1.1, 30.0, -2.0]),
    ("sinh(x) / x", lambda x: mp.mpf(1) if x == 0 else mp.sinh(x) / x, [1e-8, 0.9, 1.1, -3.0]),
    ("expm1(x) / x", lambda x: mp.expm1(x) / x, [1e-9, 1e-3, 0.9, 1.1, -3.0]),
    ("(exp(x) - 1) / x", lambda x: mp.expm1(x) / x, [1e-9, 1e-3, 3.0]),
    ("log1p(x) / x", lambda x: mp.log1p(x) / x, [1e-9, 1e-3, 0.24, 0.26, 3.0, -0.5]),
    ("log(1 + x) / x", lambda x: mp.log1p(x) / x, [1e-9, 0.5]),
    ("(1 - cos(x)) / x**2", lambda x: 2 * (mp.sin(x / 2) / x) ** 2, [1e-9, 1e-3, 2.0]),
    ("exp(x)/(1 + exp(x))", lambda x: 1 / (1 + mp.exp(-x)), [800.0, -800.0, 0.3]),
    ("exp(2*x)/(exp(x) + exp(2*x))", lambda x: 1 / (1 + mp.exp(-x)), [800.0, 0.3]),
    ("log(erfc(x))", lambda x: mp.log(mp.erfc(x)), [30.0, 0.3, -2.0]),
    ("log(1 - erf(x))", lambda x: mp.log(mp.erfc(x)), [30.0, 0.3]),
    ("log(ndtr(x))", lambda x: mp.log(mp.erfc(-x / mp.sqrt(2)) / 2), [-40.0, 0.3]),
    ("log(exp(x))", lambda x: x, [1000.0, 1e-20]),
    ("exp(log(x))", lambda x: x, [1e-300, 2.0]),
    ("1/(1/x)", lambda x: x, [5e-324, 2.0, -3.0]),
    ("cbrt(x)**3", lambda x: x, [1e-300, 2.0, -3.0]),
    ("acos(x)**2", lambda x: mp.acos(x) ** 2, [1 - 2.0**-10, 0.5, -0.9]),
    ("acosh(x)*acosh(x)", lambda x: mp.acosh(x) ** 2, [1 + 2.0**-10, 1.5, 1e5]),
]
CASES = [(text, f, x) for text, f, points in STABLE for x in points]


@pytest.mark.parametrize(
    ("text", "f", "x"), [case for case in CASES if case[2] != 0], ids=[f"{c[0]} {c[2]}" for c in CASES if c[2] != 0]
)
def test_value_and_derivative(text: str, f: Any, x: float) -> None:
    value, gradients = program(text).value_and_gradient({"x": x})
    with mp.workdps(700):
        assert value == pytest.approx(float(f(mp.mpf(repr(x)))), rel=1e-12, abs=1e-300)
        step = mp.mpf(10) ** -20 * abs(mp.mpf(repr(x)))
        after, before = f(mp.mpf(repr(x)) + step), f(mp.mpf(repr(x)) - step)
        slope = (after - before) / (2 * step)
        bend = (after - 2 * f(mp.mpf(repr(x))) + before) / step**2
    assert gradients["x"] == pytest.approx(float(slope), rel=1e-9, abs=1e-300)
    if abs(bend) < 1e300 and abs(x) > 1e-100:
        hessian = program(text).evaluate("hessian", {"x": x}).hessian
        assert hessian is not None
        assert hessian["x"]["x"] == pytest.approx(float(bend), rel=1e-9, abs=1e-15)


VECTORS: list[tuple[str, list[float], float, list[float]]] = [
    ("log(sum(exp(x)))", [1000.0, 1000.0], 1000 + math.log(2), [0.5, 0.5]),
    ("tf.math.log(tf.reduce_sum(tf.exp(x)))", [-1000.0, -1000.0], -1000 + math.log(2), [0.5, 0.5]),
    ("(exp(x) / sum(exp(x)))[0]", [1000.0, 1000.0], 0.5, [0.25, -0.25]),
    ("(np.exp(x) / np.sum(np.exp(x)))[1]", [-800.0, 0.0], 1.0, [0.0, 0.0]),
    ("exp(x[0]) / sum(exp(x))", [1000.0, 1000.0], 0.5, [0.25, -0.25]),
    ("exp(x[0] - 1) / sum(exp(x))", [1000.0, 0.0], math.exp(-1), [0.0, 0.0]),
    ("log(exp(x[1]) / sum(exp(x)))", [1000.0, 0.0], -1000.0, [-1.0, 1.0]),
    ("log(softmax(x)[1])", [1000.0, 0.0], -1000.0, [-1.0, 1.0]),
    ("sum(log(tf.nn.softmax(x, axis=0))[1:])", [1000.0, 0.0], -1000.0, [-1.0, 1.0]),
    ("log(det(diag(x)))", [1e-200, 1e-200], -400 * math.log(10), [1e200, 1e200]),
    ("log(abs(det(diag(x))))", [-1e200, 1e200], 400 * math.log(10), [-1e-200, 1e-200]),
    ("sqrt(sum(x**2))", [3e200, 4e200], 5e200, [0.6, 0.8]),
    ("np.sqrt(np.sum(x * x))", [3e-200, -4e-200], 5e-200, [0.6, -0.8]),
]


@pytest.mark.parametrize(("text", "x", "value", "gradient"), VECTORS, ids=[f"{v[0]} {v[1][0]}" for v in VECTORS])
def test_sums(text: str, x: list[float], value: float, gradient: list[float]) -> None:
    found, gradients = program(text).value_and_gradient({"x": x})
    assert found == pytest.approx(value, rel=1e-14)
    assert gradients["x"] == pytest.approx(gradient, rel=1e-12, abs=1e-300)


def test_sums_of_matrices_are_over_all_axes() -> None:
    x = np.array([[0.5, -1.0], [2.0, 0.25]])
    total = np.exp(x).sum()
    value, gradients = program("log(sum(exp(x)))").value_and_gradient({"x": x})
    assert value == pytest.approx(np.log(total), rel=1e-14)
    assert gradients["x"] == pytest.approx(np.exp(x) / total, rel=1e-13)
    assert program("exp(x) / sum(exp(x))").value({"x": x}) == pytest.approx(np.exp(x) / total, rel=1e-13)
    assert program("sqrt(sum(x**2))").value({"x": x}) == pytest.approx(np.sqrt((x**2).sum()), rel=1e-14)
    assert program("log(sum(exp(x), axis=0))").value({"x": x}) == pytest.approx(
        np.log(np.exp(x).sum(axis=0)), rel=1e-13
    )


@pytest.mark.parametrize(
    ("text", "value", "slope", "bend"),
    [("sin(x) / x", 1, 0, -1 / 3), ("sinh(x) / x", 1, 0, 1 / 3), ("expm1(x) / x", 1, 1 / 2, 1 / 3), ("log(1 + x) / x", 1, -1 / 2, 2 / 3),
     ("(1 - cos(x)) / x**2", 1 / 2, 0, -1 / 12), ("sqrt(x)**2", 0, 1, 0), ("norm(x)**2", 0, 0, 2),
     ("acos(1 - x)**2", 0, 2, 1 / 3 * 2), ("acosh(1 + x)**2", 0, 2, -1 / 3 * 2), ("1/(1/x)", 0, 1, 0), ("cbrt(x)**3", 0, 1, 0)],
)  # fmt: skip
def test_limits_at_zero(text: str, value: float, slope: float, bend: float) -> None:
    outcome = program(text).evaluate("hessian", {"x": 0.0})
    assert outcome.gradients is not None
    assert outcome.hessian is not None
    assert [outcome.value, outcome.gradients["x"], outcome.hessian["x"]["x"]] == pytest.approx(
        [value, slope, bend], rel=1e-14
    )


@pytest.mark.parametrize("order", range(1, 7))
def test_derivatives_of_a_quotient(order: int) -> None:
    """The n-th derivative of sin(x)/x at 0 is 0 or (-1)**(n/2) / (n + 1), on both sides of the switch to the series."""
    found = program("sin(x)/x").evaluate("derivative", {"x": 0.0}, order=order).derivatives
    assert found is not None
    assert found[-1] == pytest.approx(0 if order % 2 else (-1) ** (order // 2) / (order + 1), rel=1e-13, abs=1e-15)
    for x in (0.99, 1.01, 3.0, 8.0):
        with mp.workdps(40):
            expected = float(mp.diff(mp.sinc, mp.mpf(x), order))
        found = program("sin(x)/x").evaluate("derivative", {"x": x}, order=order).derivatives
        assert found is not None
        assert found[-1] == pytest.approx(expected, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("text", [text for text, _, _ in STABLE if "gamma" not in text])
def test_arrays(text: str) -> None:
    xs = np.array([1.25, 2.5, 3.0]) if "- 1)" in text or "acosh" in text else np.array([0.25, 0.5, 0.75])
    compiled = program(text)
    values, gradients = compiled.value_and_gradient({"x": xs})
    for x, value, gradient in zip(xs, values, gradients["x"]):
        assert (value, gradient) == pytest.approx(
            (compiled.value({"x": float(x)}), compiled.value_and_gradient({"x": float(x)})[1]["x"]), rel=1e-13
        )


@pytest.mark.parametrize("text", [text for text, _, _ in STABLE if not re.search("gamma|erf|ndtr|cbrt", text)])
def test_complex_numbers_keep_the_formula(text: str) -> None:
    z = 0.75 + 0.5j
    names = {
        name: getattr(np, name)
        for name in ("exp", "log", "cosh", "sqrt", "cos", "sin", "sinh", "tanh", "expm1", "log1p", "square")
    }
    names |= {"acos": np.arccos, "acosh": np.arccosh}
    names["sigmoid"] = lambda v: 1 / (1 + np.exp(-v))
    expected = eval(text, names, {"x": np.complex128(z)})
    assert program(text).value({"x": z}) == pytest.approx(complex(expected), rel=1e-13)


@pytest.mark.parametrize(
    ("text", "x", "value"),
    [("cmath.sqrt(x)**2", -2.0, -2), ("cmath.sqrt(x + 1) - cmath.sqrt(x)", -5.0, 2j - math.sqrt(5) * 1j),
     ("1 - cmath.cos(x)", 0.5, 1 - math.cos(0.5)), ("cmath.exp(x) - 1", 0.5, math.expm1(0.5)),
     ("cmath.sin(x) / x", 0.5, math.sin(0.5) / 0.5), ("x - cmath.tanh(x)", 0.5, 0.5 - math.tanh(0.5))],
)  # fmt: skip
def test_complex_functions_keep_the_formula(text: str, x: float, value: complex) -> None:
    found = program(text).value({"x": x})
    assert isinstance(found, complex)
    assert found == pytest.approx(value, rel=1e-14)


def test_the_domain_stays() -> None:
    assert math.isnan(program("sqrt(x)**2").value({"x": -1.0}))
    assert math.isnan(program("log(1 + x)").value({"x": -2.0}))
    assert program("log(1 + x)").value({"x": -1.0}) == -math.inf
    assert math.isnan(program("sqrt(x + 1) - sqrt(x)").value({"x": -0.5}))


def test_effects_happen_as_often_as_they_are_written() -> None:
    written: list[str] = []
    text = "def f(v):\n    print('called')\n    return v\nsin(f(x)) / f(x)"
    program(text).evaluate("value", {"x": 1.0}, write=written.append)
    assert written == ["called\n", "called\n"]


def test_a_tape_shows_the_program_as_it_is_written() -> None:
    rows = program("log(1 + exp(x))").evaluate("tape", {"x": 1.0}).tape
    assert rows is not None
    assert [row.operation for row in rows] == ["input", "exp", "add", "log"]


def test_a_long_chain_of_quotients_takes_linear_time() -> None:
    assert program("x" + " / 2 * 2" * 20_000).value({"x": 3.0}) == 3.0
