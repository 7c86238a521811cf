"""Taylor mode against mpmath's, and against nested forward mode where both apply."""

import math
import sys
from unittest import mock

import adiff
import mpmath
import pytest
from adiff.engine.commands import derivative
from adiff.engine.ops.registry import NAMES

ORDER = 12
CASES = [
    ("exp(sin(x))*x**3", lambda x: mpmath.exp(mpmath.sin(x)) * x**3, 1.0),
    ("tanh(x)/(1 + x**2)", lambda x: mpmath.tanh(x) / (1 + x * x), 0.7),
    ("sqrt(1 + x**2)*arctan(x)", lambda x: mpmath.sqrt(1 + x * x) * mpmath.atan(x), 0.3),
    ("lgamma(x)", mpmath.loggamma, 2.5),
    ("erf(x)*log(x)", lambda x: mpmath.erf(x) * mpmath.log(x), 1.5),
    ("x**x", lambda x: x**x, 1.5),
    ("1/x", lambda x: 1 / x, 0.5),
    ("x**-2.5", lambda x: x ** mpmath.mpf(-2.5), 0.5),
    ("2**x", lambda x: 2**x, 1.25),
    ("x**5 - 3*x", lambda x: x**5 - 3 * x, 0.0),
    ("sin(x)*cosh(x) - cos(x)*sinh(x)", lambda x: mpmath.sin(x) * mpmath.cosh(x) - mpmath.cos(x) * mpmath.sinh(x), 0.8),
    ("arcsin(x)/(2 - x)", lambda x: mpmath.asin(x) / (2 - x), 0.25),
    ("tan(x)*log(x)", lambda x: mpmath.tan(x) * mpmath.log(x), 0.7),
    ("hypot(x, 1 - x)", lambda x: mpmath.sqrt(x * x + (1 - x) ** 2), 0.3),
]


@pytest.mark.parametrize(("text", "function", "point"), CASES, ids=[case[0] for case in CASES])
def test_every_order(text: str, function: object, point: float) -> None:
    with mpmath.workdps(60):
        series = mpmath.taylor(function, mpmath.mpf(point), ORDER)
        wanted = [float(c * mpmath.factorial(k)) for k, c in enumerate(series)]
    for order in (2, ORDER):
        outcome = adiff.program(text).evaluate("derivative", {"x": point}, order=order)
        assert [outcome.value, *outcome.derivatives] == pytest.approx(wanted[: order + 1], rel=1e-12, abs=1e-12)


# Where products of the base with its power leave the range of floats, or their quotients do.
@pytest.mark.parametrize("x", [1e-200, 1e-160, 1e200])
@pytest.mark.parametrize("exponent", [2.5, -0.5, 1.5, 100.5])
def test_powers_at_the_ends_of_the_range(x: float, exponent: float) -> None:
    derivatives = adiff.program(f"x**{exponent}").evaluate("derivative", {"x": x}, order=3, engine="tape").derivatives
    with mpmath.workdps(30):
        for k, found in enumerate(derivatives, 1):
            wanted = mpmath.ff(exponent, k) * mpmath.mpf(x) ** (mpmath.mpf(exponent) - k)
            if abs(wanted) < sys.float_info.max:
                assert found == pytest.approx(float(wanted), rel=1e-13, abs=1e-320)


def test_the_least_floats_keep_their_digits() -> None:
    found = adiff.program("log10(x)").evaluate("derivative", {"x": 1e160}, order=2, engine="tape").derivatives
    assert found[1] == -4.343e-321  # -1/(x**2 log(10))


PROGRAMS = [
    "y = x\nfor i in range(4):\n    y = sin(y)*2 if y > 0 else cos(y)\ny",
    "def f(a, n):\n    return 1.0 if n == 0 else a*f(a, n - 1) + exp(-a)\nf(x, 3)",
    "s = 0.0\nwhile s < 3:\n    s = s + x*x + log(1 + x)\ns",
    "max(x, 0.5)*min(x*x, 3) + abs(x)",
]


@pytest.mark.parametrize("text", PROGRAMS)
def test_it_agrees_with_nested_forward_mode(text: str) -> None:
    program = adiff.program(text)
    found = program.evaluate("derivative", {"x": 0.8}, order=5).derivatives
    with mock.patch.object(derivative, "covers", return_value=False):
        nested = program.evaluate("derivative", {"x": 0.8}, order=5).derivatives
    assert found == pytest.approx(nested, rel=1e-11, abs=1e-11)


# A point where the branch that is not taken has infinite derivatives, and one where it is not defined.
NOT_TAKEN = [
    ("where(x > 0, sqrt(x), 0)", 0.0, [0.0, 0.0, 0.0]),
    ("where(x > 0, sqrt(x), x**3)", 0.0, [0.0, 0.0, 6.0]),
    ("where(x > 0, exp(2*sqrt(x)) + 1, x**2)", 0.0, [0.0, 2.0, 0.0]),
    ("where(x > 0, log(x), x**3)", -1.0, [3.0, -6.0, 6.0]),
]


@pytest.mark.parametrize(("text", "point", "wanted"), NOT_TAKEN)
@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_branches_that_are_not_taken(text: str, point: float, wanted: list[float], engine: str) -> None:
    outcome = adiff.program(text).evaluate("derivative", {"x": point}, order=3, engine=engine)
    assert outcome.derivatives == wanted


@pytest.mark.parametrize("text", ["where(x >= 0, sqrt(x), 0)", "where(x > 0, 1, 2*sqrt(x))"])
def test_a_singular_point_that_matters_is_told(text: str) -> None:
    outcome = adiff.program(text).evaluate("derivative", {"x": 0.0}, order=3)
    assert outcome.derivatives[0] == float("inf")
    assert any("sqrt has an infinite derivative" in notice.message for notice in outcome.notices)


SQUARE = [2.0, 2.0]  # the first two derivatives of x**2 at 1
CUBE = [3.0, 6.0]  # and of x**3

# What asks for the value of a number, and decides by it.
DECISIONS = [
    ("1.0 if x == 0.0 else x**2", 0.0, [0.0, 0.0]),
    ("x**3 if x else x**2", 0.0, [0.0, 2.0]),
    ("x**3 if not x else x**2", 0.0, [0.0, 0.0]),
    ("x**3 if bool(x) else x**2", 0.0, [0.0, 2.0]),
    ("(x and x**2) or x**3", 0.0, [0.0, 0.0]),
    ("sum([i*x*x for i in [1.0, 2.0] if not x])", 0.0, [0.0, 6.0]),
    ("where(x, x**3, x**2)", 0.0, [0.0, 2.0]),
    ("x**2 if x != 1.0 else x**3", 1.0, CUBE),
    ("x**3 if 1.0 == x else x**2", 1.0, CUBE),
    ("x**3 if 0 < x == 1.0 else x**2", 1.0, CUBE),
    ("x**3 if x == 1 else x**2", 1, CUBE),
    ("x**3 if x == True else x**2", 1.0, CUBE),
    ("x**3 if x == 1 + 0j else x**2", 1.0, CUBE),
    ("x**3 if x == x**2 else x**2", 1.0, CUBE),
    ("x**2 if x == None or x is None else x**3", 1.0, CUBE),
    ("x**3 if x in [1.0, 2.0] else x**2", 1.0, CUBE),
    ("x**2 if x not in (1.0, 2.0) else x**3", 1.0, CUBE),
    ("x**3 if x in range(3) else x**2", 1.0, CUBE),
    ("d = {1.0: 5.0}\nx**3 if x in d else x**2", 1.0, CUBE),
    ("d = {x: 1.0, 1.0: 2.0}\nx**3 + len(d)", 1.0, CUBE),
    ("a, b = x, x**2\nx**3 if (a, b) == (b, a) else x**2", 1.0, CUBE),
    ("x**3 if [x, 1] < [1.0, 2] else x**2", 1.0, CUBE),
    ("where(x == 1.0, x**3, x**2)", 1.0, CUBE),
    ("(x == 1.0)*x**2", 1.0, SQUARE),
    ("x**3 if '%s' % x == '1.0' else x**2", 1.0, CUBE),
    ("x**3 if isinstance(x, float) else x**2", 1.0, CUBE),
    ("int(x)*round(x)*x**2", 1.0, SQUARE),
    ("min([x, x**2], key=lambda t: t != 2.0)", 2.0, [1.0, 0.0]),
    ("sorted([x**2, x, 9.0])[1]", 2.0, [4.0, 2.0]),
    ("assert x == 1.0\nx**3", 1.0, CUBE),
    ("y = x\nk = 0\nwhile y != 0.0:\n    y = y - 1\n    k = k + 1\n    assert k < 9\nk*x**2", 1.0, SQUARE),
    ("s = 0.0\nfor i in range(x):\n    s = s + x**2\ns", 1, SQUARE),
    ("def f(n):\n    return 1.0 if n == 0 else x*f(n - 1)\nf(x + 2)", 1.0, CUBE),
]


@pytest.mark.parametrize(("text", "point", "wanted"), DECISIONS, ids=[case[0] for case in DECISIONS])
def test_decisions_are_those_of_numbers(text: str, point: float, wanted: list[float]) -> None:
    for order in (1, 2):
        found = adiff.program(text).evaluate("derivative", {"x": point}, order=order, engine="tape").derivatives
        assert found == wanted[:order]


def test_what_is_printed_are_numbers_and_once() -> None:
    printed: list[str] = []
    adiff.program("print(x, [x], f'{x:.1f}')\nx**3").evaluate(
        "derivative", {"x": 2.0}, order=2, engine="tape", write=printed.append
    )
    assert "".join(printed) == "2.0 [2.0] 2.0\n"


JUMPS = [
    ("floor(x)*x", 2.0, "floor jumps at integers"),
    ("ceil(x)*x", 2.0, "ceil jumps at integers"),
    ("x//2*x", 2.0, "floor_divide jumps at multiples"),
    ("2.0//x", 1.0, "floor_divide jumps at multiples"),
    ("x**0", 0.0, "0\\*\\*0 jumps"),
    ("max(x, x**2)", 1.0, "maximum"),
]


@pytest.mark.parametrize(("text", "point", "told"), JUMPS, ids=[case[0] for case in JUMPS])
def test_what_is_told_of_jumps(text: str, point: float, told: str) -> None:
    program = adiff.program(text)
    for order in (1, 2, 3):
        notices = program.evaluate("derivative", {"x": point}, order=order, engine="tape").notices
        assert [notice.code for notice in notices] == ["N0501"]
        with pytest.raises(adiff.AdiffError, match=told) as caught:
            program.evaluate("derivative", {"x": point}, order=order, engine="tape", kinks="error")
        assert caught.value.code == "E0501"


def elementwise_calls() -> list[str]:
    """Of each element-wise row of real numbers its calls by one number."""
    calls = []
    for row in {op.name: op for op in NAMES.values()}.values():
        if row.derivative in ("partials", "zero") and not row.internal and row.nin in (1, 2):
            calls += [f"{row.name}(x)*x"] if row.nin == 1 else [f"{row.name}(x, 2.0)*x", f"{row.name}(0.0, x)*x"]
    return calls


@pytest.mark.parametrize("kinks", ["error", "jax"])
def test_every_row_agrees_with_nested_forward_mode(kinks: str) -> None:
    """Derivatives, notices and errors, at points that are singular for many of them."""

    def answer(program: adiff.Program, point: float) -> tuple[list[float], object]:
        try:
            outcome = program.evaluate("derivative", {"x": point}, order=2, engine="tape", kinks=kinks)
        except adiff.AdiffError as error:
            return [], (error.code, error.message)
        return outcome.derivatives, sorted((notice.code, notice.message) for notice in outcome.notices)

    calls = elementwise_calls()
    assert len(calls) > 100
    for call in calls:
        program = adiff.program(call)
        for point in (0.0, 1.0, 0.3):
            found, told = answer(program, point)
            with mock.patch.object(derivative, "covers", return_value=False):
                nested, truly_told = answer(program, point)
            assert told == truly_told, (call, point)
            assert found == pytest.approx(nested, rel=1e-9, abs=1e-9, nan_ok=True), (call, point)


@pytest.mark.parametrize("order", [171, 999_999, -1, 2.0])
def test_orders_whose_factorial_is_no_float_are_refused(order: object) -> None:
    with pytest.raises(adiff.AdiffError, match="order cannot be") as caught:
        adiff.program("sin(x)").evaluate("derivative", {"x": 0.5}, order=order)
    assert (caught.value.code, caught.value.hint) == ("E0812", "it is a whole number from 0 to 170: order=2")


def test_the_highest_order() -> None:
    for at, rate in ((0.5, 1.0), (0.0, 40.0), (1.0, 0.05)):
        found = adiff.program(f"exp({rate}*x)").evaluate("derivative", {"x": at}, order=170, engine="tape").derivatives
        assert found == pytest.approx([rate**k * math.exp(rate * at) for k in range(1, 171)], rel=1e-11)


def test_digits_that_cancel() -> None:
    """The digits that docs/commands.md says are left, within a few bits."""
    found, plain = (
        adiff.program(text).evaluate("derivative", {"x": 0.3}, order=60, engine="tape").derivatives
        for text in ("exp(-x)*exp(3*x)", "exp(2*x)")
    )
    wanted = [2.0**k * math.exp(0.6) for k in range(1, 61)]
    for order, error in ((10, 1e-13), (20, 1e-10), (30, 1e-7), (40, 2e-4), (50, 2e-1)):
        assert found[order - 1] == pytest.approx(wanted[order - 1], rel=error)
    assert plain == pytest.approx(wanted, rel=1e-14)


def test_high_orders_of_what_has_no_series_are_refused() -> None:
    for text, point in (("abs(x)", 0.0), ("sum(x * ones(3))", 1.0)):
        with pytest.raises(adiff.AdiffError, match="more than 1048576 runs") as caught:
            adiff.program(text).evaluate("derivative", {"x": point}, order=40, engine="tape")
        assert caught.value.code == "E0606"
