"""`check`: which independent estimate judges a gradient, and where none can."""

import math
from typing import Any

import numpy as np
import pytest
from adiff import AdiffError, Program

SUM = "s = 0.0\nfor i in range(n):\n    s += sin(x*i)\ns"
LOGISTIC = "y = x\nfor i in range(200):\n    y = 3.9 * y * (1 - y)\ny"
DATA = np.linspace(-1.0, 1.0, 12).reshape(4, 3)
REGRESSION = "t = 0.0\nfor i in range(4):\n    z = dot(X[i], w)\n    t += y[i]*z - log1p(exp(z))\nt"


def checked(text: str, at: dict[str, Any], wrt: list[str], **options: Any) -> Any:
    return Program(text).evaluate("check", at, wrt, **options)


@pytest.mark.parametrize("n", [100, 40_000, 10**6])
def test_a_complex_step_through_many_iterations(n: int) -> None:
    """Differences of steps as wide as their input are no slopes of a sum of such waves."""
    outcome = checked("i = arange(n)\nsum(sin(x*i))", {"x": 0.3, "n": n}, ["x"], engine="tape")
    truth = math.fsum(i * math.cos(0.3 * i) for i in range(n))
    source = outcome.check.sources["x"]
    assert outcome.check.ok is True
    assert source["method"] == "complex step"
    assert source["independent"] == pytest.approx(truth, rel=1e-9)


def test_a_complex_step_through_a_long_loop() -> None:
    outcome = checked(SUM, {"x": 0.3, "n": 40_000}, ["x"], engine="kernel")
    assert (outcome.engine, outcome.check.ok, outcome.check.method) == ("kernel", True, "complex step")


@pytest.mark.parametrize("engine", ["tape", "kernel"])
@pytest.mark.parametrize("w", [np.array([0.1, -0.2, 0.3]), [0.1, -0.2, 0.3]], ids=["array", "list"])
def test_a_complex_step_beside_data(w: Any, engine: str) -> None:
    at = {"X": DATA, "y": np.array([0.0, 1.0, 1.0, 0.0]), "w": w}
    outcome = checked(REGRESSION, at, ["w"], engine=engine)
    assert (outcome.engine, outcome.check.ok, outcome.check.method) == (engine, True, "complex step")
    assert outcome.check.max_error < 1e-12


@pytest.mark.parametrize(
    ("text", "x"),
    [
        (LOGISTIC, 0.3),
        ("floor(1e9 * x) * sin(1e12 * x)", 0.3),
        ("sqrt(x - 1)", 1.0),
        ("x if x < 1 else x*x", float("nan")),
        ("x if x < 1 else x*x", float("inf")),
        ("x*stop_gradient(x)", 2.0),
        ("floor(x)", 2.0),
        ("x.numpy()", 2.0),
    ],
    ids=["chaos", "noise", "an edge", "nan", "infinity", "stopped", "a jump", "none"],
)
def test_no_verdict(text: str, x: float) -> None:
    outcome = checked(text, {"x": x}, ["x"])
    assert outcome.check.ok is None
    assert outcome.check.sources["x"]["ok"] is None
    (said,) = [notice.message for notice in outcome.notices if notice.code == "N0605"]
    assert said.startswith("no verdict by 'x'")
    assert ("stop_gradient leaves out" in said) == ("stop_gradient" in text)


WRONG = "@custom_gradient\ndef f(t):\n    def back(g):\n        return g * {factor} * t\n    return t * t, back\n"


@pytest.mark.parametrize("rest", ["f(x)", "f(x) + abs(x)", "f(x) * 1e3 + 1e5", "sum(f(x) * sin(arange(1000) * x))"])
@pytest.mark.parametrize("factor", [2, 2.0001, 5])
def test_wrong_rules_are_found_and_right_ones_pass(rest: str, factor: float) -> None:
    outcome = checked(WRONG.format(factor=factor) + rest, {"x": 3.0}, ["x"])
    assert outcome.check.ok is (factor == 2)


def test_what_disagrees_decides() -> None:
    text = WRONG.format(factor=5) + "y = z\nfor i in range(200):\n    y = 3.9 * y * (1 - y)\nf(x) + y"
    outcome = checked(text, {"x": 3.0, "z": 0.3}, ["x", "z"])
    assert outcome.check.sources["x"]["ok"] is False
    assert outcome.check.sources["z"]["ok"] is None
    assert outcome.check.ok is False


def test_a_complex_step_that_loses_a_part_is_refuted() -> None:
    """abs of a complex number has no imaginary part: here it loses a part in 10^5 of the slope."""
    outcome = checked("sin(1e5 * x) * abs(x)", {"x": 0.3}, ["x"])
    assert (outcome.check.ok, outcome.check.method) == (True, "Richardson extrapolation")


@pytest.mark.parametrize(("text", "x"), [("abs(x)**0.5", 1e-9), ("abs(x)", 1e-9), ("log(x)", 1e-9)])
def test_what_differences_tell_beside_a_kink(text: str, x: float) -> None:
    assert checked(text, {"x": x}, ["x"]).check.ok is True
    wrong = f"@custom_gradient\ndef f(x):\n    def back(g):\n        return g\n    return 2 * {text}, back\nf(x)"
    assert checked(wrong, {"x": x}, ["x"]).check.ok is False


@pytest.mark.parametrize("value", ["9e-7 * abs(t)", "9e-7 * t", "3 + 9e-7 * abs(t)", "9e-12 * abs(t)"])
@pytest.mark.parametrize("x", [1.0, 0.3])
def test_a_small_slope_is_not_none(value: str, x: float) -> None:
    text = f"@custom_gradient\ndef f(t):\n    def back(g):\n        return g * 0.0\n    return {value}, back\nf(x)"
    assert checked(text, {"x": x}, ["x"]).check.ok is False
    assert checked(value.replace("t", "x"), {"x": x}, ["x"]).check.ok


# Beside kinks and jumps, near enough that steps of many sizes pass over them.
PIECES = [
    ("1e6 + abs(x)", 1e-9),
    ("1e7 + abs(x)", 1e-9),
    ("abs(x) + 3", 1e-12),
    ("floor(1e7 * x) * 1e-3 + x", 0.3),
    ("floor(1e7 * x) * 1e-3 + x", 0.30000003),
    ("floor(1e3 * x) * x", 0.3004),
    ("mod(x, 1e-6) * 5 + x", 0.3),
    ("maximum(x, 0.3) + x", 0.3000000001),
    ("max([x, 0.3, 0.30000001])", 0.30000002),
    ("relu6(x)", 5.99999999),
    ("x + 1e-7 * abs(x)", 0.3),
    ("exp(x) + 1e-6 * imag(x * 1j)", 0.5),
    ("x * abs(x) + 1e4", 1e-6),
    ("where(x > 0.3, x, 2 * x)", 0.30000001),
    ("sum(sort([x, 0.3, 0.30000001]) * arange(3.0))", 0.300000001),
    ("sin(x)", 1e22),
    ("lgamma(x)", 1e-300),
    ("1 / x", 1e-200),
    ("sinc(x)", 1e-6),
    ("k = int(x * 1e6)\nk * 1e-2 + x", 0.37),
    ("y = x\nfor i in range(int(1e3 * x)):\n    y = y + 1e-2\ny * x", 0.37),
    ("s = 0.0\nfor i in range(20):\n    s = s + abs(x - 0.05 * i)\ns", 0.3000001),
    ("x**2 if x > 0.3 else 3 * x", 0.3000001),
]


@pytest.mark.parametrize(("text", "x"), PIECES)
def test_on_one_piece_no_right_gradient_is_called_wrong_and_no_wrong_one_right(text: str, x: float) -> None:
    found = checked(text, {"x": x}, ["x"])
    assert found.check.ok is not False
    *before, last = text.split("\n")
    body = "".join(f"    {line}\n" for line in [*before, f"v = {last}"])
    slope = found.gradients["x"]
    for lie in (slope * 1.00001, slope * 1.01, -slope, slope + 1.0, 0.0, 10001.0):
        if not math.isfinite(slope) or abs(lie - slope) <= 9e-6 * abs(slope):
            continue
        text = f"@custom_gradient\ndef f(x):\n{body}    def back(g):\n        return g * ({lie!r})\n    return v, back\nf(x)"
        assert checked(text, {"x": x}, ["x"]).check.ok is not True, lie


@pytest.mark.parametrize(
    ("text", "x"),
    [
        ("floor(1e3 * x) * x", 0.3004),
        ("maximum(x, 0.3) + x", 0.3000001),
        ("x + 1e-7 * abs(x)", 0.3),
        ("relu6(x)", 5.999999),
        ("abs(sin(1e6 * x))", 0.3),
        ("s = 0.0\nfor i in range(20):\n    s = s + abs(x - 0.05 * i)\ns", 0.3000001),
    ],
)
def test_steps_that_stay_on_a_piece_tell(text: str, x: float) -> None:
    assert checked(text, {"x": x}, ["x"]).check.ok is True


NEARLY_SINGULAR = [[1.0, 1.0], [1.0, 1.0 + 2.0**-40]]


@pytest.mark.parametrize(
    ("text", "at"),
    [
        # The complex step and differences lose all digits: the inverse has 10^12 times those of the sum.
        ("sum(inv(A))", {"A": NEARLY_SINGULAR}),
        # A gradient that does not follow what it is asked not to is no mistake.
        ("real(stop_gradient(z)*z)", {"z": 1 + 2j}),
        ("abs(stop_gradient(z))**2*real(z)", {"z": 1 + 2j}),
    ],
)
def test_no_false_alarm_where_no_estimate_can_judge(text, at):
    assert Program(text).evaluate("check", at).check.ok is None


@pytest.mark.parametrize("matrix", [[[2.0, 1.0], [1.0, 3.0]], [[1.0, 1.0], [1.0, 1.001]]])
def test_matrices_are_checked_where_a_step_beside_them_is_singular(matrix):
    for text in ("sum(inv(A))", "sum(solve(A, [1.0, 2.0]))", "log(det(A))"):
        assert Program(text).evaluate("check", {"A": matrix}).check.ok, text
    lie = "def f(A):\n    B = inv(A)\n    return B, lambda g: -1.01*transpose(B) @ g @ transpose(B)\nsum(custom_gradient(f)(A))"
    assert Program(lie).evaluate("check", {"A": matrix}).check.ok is False


@pytest.mark.parametrize(
    ("text", "z", "ok"),
    [
        ("abs(z)", 1 + 2j, True),
        ("abs(z)", 2j, True),
        ("real(z**2*exp(z))", 1 + 2j, True),
        ("real(z)*angle(z)", 1 - 1j, True),
        ("abs(custom_gradient(lambda z: (z*z, lambda g: g*2.1*conj(z)))(z))", 1 + 1j, False),
        ("abs(custom_gradient(lambda z: (z*z, lambda g: g*2.1*conj(z)))(z))", 2j, False),
    ],
)
def test_complex_numbers(text, z, ok):
    assert Program(text).evaluate("check", {"z": z}).check.ok is ok


@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_integers_that_a_program_counts_with_are_passed_over(engine: str) -> None:
    text = "s = 0.0\nfor i in range(n):\n    s += sin(x * i)**k\ns"
    outcome = Program(text).evaluate("check", {"x": 0.3, "n": 4, "k": 2}, engine=engine)
    assert outcome.check.ok is True
    assert list(outcome.check.sources) == ["x", "k"]
    (said,) = [notice.message for notice in outcome.notices if notice.code == "N0504"]
    assert said.startswith("'n' is not checked")


def test_of_integers_alone_there_is_nothing_to_check() -> None:
    with pytest.raises(AdiffError, match="nothing to check"):
        Program("ones(n)[0]").evaluate("check", {"n": 3})


@pytest.mark.parametrize(
    ("text", "x", "ok", "words"),
    [
        ("abs(x)", 0.0, None, ": beside it the slopes are -1 and 1, and the gradient is 0"),
        ("relu(x)", 0.0, None, ": beside it the slopes are 0 and 1, and the gradient is 0"),
        ("maximum(x, 1)", 1.0, None, ": beside it the slopes are 0 and 1, and the gradient is 0.5"),
        ("where(x > 1, x**2, 2*x - 1)", 1.0, True, None),  # the sides meet smoothly
        ("abs(x) + x", 1.0, True, None),
    ],
)
def test_on_a_kink_there_is_no_verdict(text: str, x: float, ok: bool | None, words: str | None) -> None:
    """Where the slopes on the two sides differ, even a symmetric difference that is the chosen value confirms nothing."""
    for engine in ("tape", "kernel"):
        found = Program(text).evaluate("check", {"x": x}, engine=engine)
        assert found.check.ok is ok
        told = [notice.message for notice in found.notices if notice.code == "N0605"]
        expected = (
            [] if words is None else [f"no verdict by 'x': the point is on a kink or a jump, or too near one{words}"]
        )
        assert told == expected


@pytest.mark.parametrize(
    ("text", "x"),
    [
        ("sum(tf.ones(2)*x)", [0.5, 2.0]),
        ("sum(x.astype(float32)**2)", [0.5, 2.0]),
        ("sum(tf.sparse.to_dense(tf.sparse.from_dense(x)))", [[0.5, -1.2, 0.8], [2.1, 0.3, -0.7]]),
        ("sum(sin(float32(x)) * x.astype(float32))", [1.0, 2.0]),
        ("x**3", 0.0),
        ("sum((x - 1)**3)", [1.0, 2.0]),
        ("erf(x)**2", 0.0),
        ("relu(x)**2", 0.0),
        ("abs(x)**3", 0.0),
    ],
)
def test_float32_and_slopes_of_0_are_confirmed(text: str, x: Any) -> None:
    assert checked(text, {"x": x}, ["x"]).check.ok


@pytest.mark.parametrize(("text", "x"), [("abs(x**2 - 1)**1.5", 1.0), ("x**(1/3)", 0.0), ("sqrt(abs(x))", 0.0)])
def test_slopes_that_small_steps_do_not_tell_are_not_spoken_of(text: str, x: float) -> None:
    found = Program(text).evaluate("check", {"x": x})
    assert found.check.ok is None
    (told,) = [notice.message for notice in found.notices if notice.code == "N0605"]
    assert "beside it" not in told
