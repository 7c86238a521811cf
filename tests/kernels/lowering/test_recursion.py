"""Functions that call one another: on polynomials Python's own recursion gives them in closed form, with every derivative."""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine.kernels.budget import budget
from adiff.engine.kernels.ir import TooLate
from adiff.engine.kernels.lowering import recursion
from adiff.engine.kernels.lowering.specialise import specialise
from agreement import agree
from numpy.polynomial import Polynomial

PAIR = (
    "def ev(n, y):\n    return y if n == 0 else od(n - 1, y * 0.9)\n"
    "def od(n, y):\n    return y * y if n == 0 else ev(n - 1, y * 0.8)\n"
)
BOTH_THEMSELVES = (
    "def a(n, y):\n    return y if n <= 0 else b(n - 1, y * 0.9) + 0.3 * a(n - 2, y)\n"
    "def b(n, y):\n    return y * y if n <= 0 else a(n - 1, y * 0.8) + 0.1 * b(n - 3, y)\n"
)
PROGRAMS = {
    "both are called": PAIR + "ev(n, x) + od(n + 1, x)",
    "both call themselves, and one is called": BOTH_THEMSELVES + "b(n, x)",
    "called in a loop": BOTH_THEMSELVES + "s = 0\nfor i in range(n):\n    s = 0.5 * s + a(i, x) + b(n - i, x)\ns * x",
    "calls in loops": (
        "def a(n, y):\n    s = y\n    if n <= 0:\n        return s\n    for i in range(2):\n"
        "        s = s + b(n - 1 - i, s * 0.5)\n    return s\n"
        "def b(n, y):\n    if n <= 0:\n        return 0.3 * y\n    s = y\n    for i in range(2):\n"
        "        s = s + 0.1 * a(n - 1 - i, s) + 0.2 * b(n - 2, s)\n    return s\na(n, x) * b(n, x)"
    ),
    "three functions": (
        "def a(n, y):\n    return y if n <= 0 else b(n - 1, y * 0.9)\n"
        "def b(n, y):\n    return y * y if n <= 0 else c(n - 1, y * 0.8) + 0.1 * a(n - 2, y)\n"
        "def c(n, y):\n    return y - 1 if n <= 0 else a(n - 1, y * 0.7) + 0.2 * b(n - 3, y) + 0.1 * c(n - 2, y)\n"
        "a(n, x) + b(n, x) * c(n + 1, x)"
    ),
    "arguments of several kinds": (
        BOTH_THEMSELVES
        + "v = stack([x, 2 * x])\nsum(a(n, v)) + sum(b(n, v)) + a(n, x) * b(n, 2) + b(n + 1, 0.5) + a(n, 1)"
    ),
    "tuples": (
        "def a(n, p):\n    u, w = p\n    return p if n <= 0 else b(n - 1, w, u * 0.9)\n"
        "def b(n, u, w):\n    if n <= 0:\n        return (u, w * u)\n    r = a(n - 1, (u * 0.5, w))\n    q = b(n - 2, w, u)\n"
        "    return (r[0] + q[1], r[1])\nr = a(n, (x, 1.0))\nq = b(n, x, 2.0)\nr[0] * q[1] + r[1] * q[0]"
    ),
    "functions among the arguments": (
        "def a(f, n, y):\n    return f(y) if n <= 0 else b(f, n - 1, y * 0.9)\n"
        "def b(f, n, y):\n    return f(y) * 2 if n <= 0 else a(f, n - 1, y * 0.8) + 0.1 * b(f, n - 2, y)\n"
        "a(lambda u: u * u, n, x) + b(lambda u: u * x, n, x)"
    ),
    "results of several kinds": (
        "def size(k, y):\n    return 0 if k <= 0 else 1 + size(k - 1, y) + int(k // 2 * 2 == k)\n"
        "def val(k, y):\n    return y if k <= size(k - 3, y) // 4 else val(k - 1, y * 0.9) + 0.01 * size(k, y)\n"
        "size(n, x) * x + val(n, x) * x"
    ),
    "Hofstadter's sequences": (
        "def F(k):\n    return 1 if k == 0 else k - M(F(k - 1))\ndef M(k):\n    return 0 if k == 0 else k - F(M(k - 1))\n"
        "(F(n) * 10 + M(n)) * x * x"
    ),
    "one beside them": (
        "def fact(k):\n    return 1.0 if k <= 0 else k * fact(k - 1)\n"
        "def a(n, y):\n    return y * fact(n % 3 + 2) if n <= 0 else b(n - 1, y * 0.9)\n"
        "def b(n, y):\n    return y + fact(2) if n <= 0 else a(n - 1, y * 0.8) / fact(n % 4) + 0.1 * b(n - 2, y)\n"
        "(a(n, x) + b(n, x) + fact(n)) * x"
    ),
}
LIMITS = {
    # One in three calls goes through a function without frames.
    "calls between": (
        "def f(n):\n    if n <= 0:\n        return x\n    if n % 3 == 0:\n        return h(n - 1)\n    return f(n - 1) * 0.9\n"
        "def h(n):\n    return f(n) * 0.5\nf(n)",
        3749,
    ),
    "frames of both": (
        "def f(n):\n    return x if n <= 0 else g(n - 1) * 0.99\n"
        "def g(n):\n    if n <= 0:\n        return x * x\n    return g(n - 1) * 0.9 if n % 3 == 0 else f(n - 1)\nf(n) + g(n)",
        4999,
    ),
}


def in_closed_form(text: str, n: int) -> Polynomial:
    """The value as a polynomial in x, by Python."""
    body, last = text.rsplit("\n", 1)
    names: dict[str, Any] = {"x": Polynomial([0.0, 1.0]), "n": n, "sum": np.sum}
    names["stack"] = lambda items: np.array(items, dtype=object)
    exec(body, names)
    return Polynomial([0.0]) + eval(last, names)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("name", PROGRAMS)
def test_functions_that_call_one_another(name: str) -> None:
    text = PROGRAMS[name]
    program = adiff.program(text)
    for n in (0, 1, 4, 5):
        truth = in_closed_form(text, n)
        for engine in ("tape", "kernel"):
            found = program.evaluate("hessian", {"x": 0.9, "n": n}, ["x"], engine=engine)
            assert found.engine == engine, found.reason
            assert found.value == pytest.approx(truth(0.9), rel=1e-13)
            assert found.hessian["x"]["x"] == pytest.approx(truth.deriv(2)(0.9), rel=1e-12, abs=1e-15)
            found = program.evaluate("grad", {"x": 0.9, "n": n}, ["x"], engine=engine)
            assert found.engine == engine, found.reason
            assert found.gradients["x"] == pytest.approx(truth.deriv()(0.9), rel=1e-13)


def test_functions_that_call_one_another_compiled() -> None:
    text = "def ev(n, y):\n    return y if n == 0 else od(n - 1, y * 0.9)\ndef od(n, y):\n    return y if n == 0 else ev(n - 1, y * 0.8)\n"
    program = adiff.program(text + "ev(n, x) + od(n, x)")
    for engine in ("tape", "kernel"):
        found = program.evaluate("grad", {"x": 0.9, "n": 3000}, ["x"], engine=engine)
        assert found.engine == engine, found.reason
        assert found.gradients["x"] == pytest.approx(2 * 0.72**1500, rel=1e-12)
        assert found.value == pytest.approx(1.8 * 0.72**1500, rel=1e-12)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("name", LIMITS)
def test_they_go_as_deep_as_on_the_tape(name: str) -> None:
    text, deepest = LIMITS[name]
    assert agree(text, {"x": 0.9, "n": deepest}, None, "value") == ""
    assert agree(text, {"x": 0.9, "n": deepest + 1}, None, "value") == "an error"


@pytest.mark.usefixtures("interpret")
def test_a_recursion_is_begun_again_a_number_of_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recursion, "MANY_ROUNDS", 3)
    text = PROGRAMS["three functions"]
    found = adiff.program(text).evaluate("value", {"x": 0.9, "n": 4}, engine="kernel")
    assert (found.engine, "recursions inside recursions" in found.reason) == ("tape", True)
    assert found.value == pytest.approx(in_closed_form(text, 4)(0.9), rel=1e-13)


def test_a_recursion_is_given_up_where_the_budget_is_spent() -> None:
    with budget(-1.0), pytest.raises(TooLate):
        specialise(adiff.program(PROGRAMS["both are called"]).core, {"x": "f", "n": "i"})


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize(
    "text",
    [
        "def f(p, k):\n    if k <= 0:\n        return p\n    return f(x*p, k - 1)\nf(1, n)",
        "def f(p, k):\n    if k <= 0:\n        return p\n    return f(2, k - 1)\nf(x, n)",
        "def f(p, q, k):\n    if k <= 0:\n        return p\n    return f(q, 2, k - 1)\nf(x, 0.5, n)",
        "def f(k):\n    if k <= 0:\n        return (x, 0.5)\n    u, w = f(k - 1)\n    return (2*w, 2)\na, b = f(n)\na*b",
        "def f(k):\n    if k <= 0:\n        return (x, 0.5)\n    u, w = f(k - 1)\n    return (w, 2)\na, b = f(n)\na",
    ],
)
def test_integers_beside_floats_on_the_stacks(text: str, n: int) -> None:
    """What one call passes or returns as an integer, and another as a float, is what the tape says."""
    agree(text, {"x": 1.5, "n": n}, ["x"])
    found, expected = (
        adiff.program(text).evaluate("grad", {"x": 1.5, "n": n}, ["x"], engine=e) for e in ("kernel", "tape")
    )
    assert type(found.value) is type(expected.value)
