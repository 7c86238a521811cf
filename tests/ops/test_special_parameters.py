"""Derivatives by parameters as kernels compute them, against mpmath's differences in many digits."""

import functools
import itertools
import math

import adiff
import mpmath
import numpy as np
import pytest
from adiff.engine.ops import pointwise
from adiff.engine.ops.pointwise import compiled, map_floats
from adiff.engine.ops.special_densities import beta, betaln
from adiff.engine.ops.special_parameters import (
    betainc_derivative,
    erfcx_derivative,
    gammainc_derivative,
)
from adiff.engine.ops.special_values import polygamma, polygamma_difference, zeta, zeta_derivative

mpmath.mp.dps = 40
compiled_gamma, compiled_beta = compiled("gammainc_derivative"), compiled("betainc_derivative")


def close(function: object, point: tuple[float, ...], orders: tuple[int, ...], tolerance: float, *found: float) -> bool:
    expected = mpmath.diff(function, tuple(map(mpmath.mpf, point)), orders)
    return all(abs(x - expected) <= tolerance * abs(expected) for x in found)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_zeta(order: int) -> None:
    for s, q in itertools.product((1.01, 2.5, 20.0), (0.01, 1.0, 100.0)):
        found = zeta_derivative(s, q, order)
        assert close(lambda t, q=q: mpmath.zeta(t, mpmath.mpf(q)), (s,), (order,), 1e-15, found)


def test_arrays_with_infinities_and_long_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a power is beyond the floats, and where Python takes long, machine code answers."""
    monkeypatch.setattr(pointwise, "COMPILED", {})
    found = map_floats("zeta_derivative", np.array([300.0, 2.0]), np.array([1e-3, 1.0]), order=1)
    assert found[0] == math.inf
    assert found[1] == pytest.approx(zeta_derivative(2.0, 1.0, 1), rel=1e-15)
    monkeypatch.setattr(pointwise, "PATIENCE", -1.0)
    x = np.array([[0.3, 5.0], [7.0, 9.0]])
    np.testing.assert_allclose(
        map_floats("digamma", x), [[pointwise.helper("digamma")(t) for t in row] for row in x], rtol=1e-15
    )


@pytest.mark.parametrize("order", [1, 2, 3])
def test_scaled_error_function(order: int) -> None:
    for x in (-1.0, 0.3, 0.5, 0.51, 0.6, 0.7, 1.0, 2.0, 20.0):
        expected = mpmath.diff(lambda t: mpmath.exp(t * t) * mpmath.erfc(t), mpmath.mpf(x), order)
        assert abs(erfcx_derivative(x, order) - expected) <= 1e-15 * abs(expected)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_differences_of_polygamma(order: int) -> None:
    for x, h in itertools.product((0.1, 3.0, 50.0), (1e-12, 0.05, -0.01, 7.0)):
        expected = mpmath.polygamma(order, mpmath.mpf(x) + mpmath.mpf(h)) - mpmath.polygamma(order, mpmath.mpf(x))
        assert abs(polygamma_difference(x, h, order) - expected) <= 1e-14 * abs(expected)


def test_polygamma_below_zero() -> None:
    for order, x in itertools.product(range(21), (-0.3, -0.999, -1.5, -7.77, -20.25)):
        expected = mpmath.polygamma(order, mpmath.mpf(x))
        assert abs(polygamma(order, x) - expected) <= 1e-14 * abs(expected)


BELOW_ZERO = [
    (2.5, -1.5), (-2.3, -1.5), (-0.7, 0.2), (-80.5, -75.3), (-150.2, 155.4), (3.0, -20.7), (-1e-8, 2.0),
    (-100.3, 100.9),
]  # fmt: skip


@pytest.mark.parametrize("point", BELOW_ZERO)
def test_beta_of_negative_numbers(point: tuple[float, float]) -> None:
    a, b = map(mpmath.mpf, point)
    expected = mpmath.beta(a, b)
    assert abs(beta(*point) - expected) <= 1e-13 * abs(expected)
    assert abs(betaln(*point) - mpmath.log(abs(expected))) <= 1e-13
    slope = mpmath.digamma(a + b) - mpmath.digamma(a)
    assert abs(polygamma_difference(*point, 0) - slope) <= 2e-13 * abs(slope)
    curve = mpmath.polygamma(1, a + b) - mpmath.polygamma(1, a)
    assert abs(polygamma_difference(*point, 1) - curve) <= 2e-13 * abs(curve)


@pytest.mark.parametrize("s", [2.0, 3.0, 8.0])
def test_zeta_of_negative_numbers(s: float) -> None:
    """It is there for integers s alone; of what is left the sum begins beyond 0."""
    for q in (-0.3, -1.25, -0.9999, -20.25, -300.75):
        terms = [mpmath.mpf(q) + k for k in range(302)]
        expected = sum(t**-s for t in terms) + mpmath.zeta(s, mpmath.mpf(q) + 302)
        assert abs(zeta(s, q) - expected) <= 1e-14 * sum(abs(t) ** -s for t in terms)
        assert math.isnan(zeta(s + 0.5, q))
        assert math.isnan(zeta_derivative(s, q, 1))


def lower_gamma(a: object, x: object) -> object:
    return mpmath.gammainc(a, 0, x, regularized=True)


@pytest.mark.parametrize("order", [1, 2])
def test_incomplete_gamma(order: int) -> None:
    for a, x in ((0.3, 0.01), (0.3, 4.0), (2.5, 2.0), (7.0, 30.0), (40.0, 30.0)):
        assert close(lower_gamma, (a, x), (order, 0), 2e-13, gammainc_derivative(a, x, order))


@pytest.mark.parametrize("order", [2, 3])
def test_incomplete_gamma_of_a_small_parameter(order: int) -> None:
    with mpmath.workdps(160):
        for a, x in itertools.product((1e-10, 1e-6, 1e-3, 0.05), (0.5, 15.0, 45.0, 100.0)):
            found = gammainc_derivative(a, x, order), compiled_gamma(a, x, order)
            assert close(lower_gamma, (a, x), (order, 0), 1e-11, *found)


def lower_gamma_by_large_a(a: float, x: float) -> list[object]:
    """The integrals of the density's three derivatives by a over t = x exp(-u), in more digits than cancel."""
    with mpmath.workdps(60 + 2 * int(math.log10(a))):
        p, q = mpmath.mpf(a), mpmath.mpf(x)
        first, second, third = (mpmath.polygamma(k, p) for k in range(3))

        @functools.cache  # the nodes are the same for all of them
        def weight(u: object) -> object:
            return mpmath.exp(-p * u - q * mpmath.expm1(-u))

        start = mpmath.log(q) - first
        bell = (
            lambda c: c,
            lambda c: c * c - second,
            lambda c: c * (c * c - 3 * second) - third,
        )
        ends = [k / mpmath.sqrt(p) for k in (0, 1, 2, 4, 8, 16, 26)]
        scale = mpmath.exp(p * mpmath.log(q) - q - mpmath.loggamma(p))
        return [scale * mpmath.quad(lambda u, part=part: part(start - u) * weight(u), ends) for part in bell]


# Beside the zeros in the middle the density itself has some digits less.
@pytest.mark.parametrize(("a", "tolerance"), [(61.0, 1e-11), (1e3, 1e-13), (3e4, 1e-13), (1e6, 1e-14), (1e17, 1e-14)])
@pytest.mark.parametrize("deviations", [-6.0, 0.0, 0.5, 3.0])
def test_incomplete_gamma_of_a_large_parameter(deviations: float, a: float, tolerance: float) -> None:
    x = a + deviations * math.sqrt(a)
    for order, expected in enumerate(lower_gamma_by_large_a(a, x), 1):
        for found in (gammainc_derivative(a, x, order), compiled_gamma(a, x, order)):
            assert abs(found - expected) <= tolerance * abs(expected)


@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_incomplete_gamma_of_a_parameter_near_the_greatest_float(engine: str) -> None:
    """dP/da is -1/sqrt(2 pi a) at a = x, and 0 where x is elsewhere."""
    program = adiff.program("gammainc(a, x)")
    at_a = program.evaluate("grad", {"a": 1e300, "x": 1e300}, engine=engine).gradients["a"]
    assert math.isclose(float(at_a), -1 / math.sqrt(2e300 * math.pi), rel_tol=1e-14)
    assert program.evaluate("grad", {"a": 1e300, "x": 1.1e300}, engine=engine).gradients["a"] == 0.0


def incomplete_beta(a: object, b: object, x: object) -> object:
    return mpmath.betainc(a, b, 0, x, regularized=True)


@pytest.mark.parametrize("orders", [(1, 0), (0, 1), (1, 1), (2, 0), (0, 2)])
def test_incomplete_beta(orders: tuple[int, int]) -> None:
    for a, b, x in ((0.4, 3.0, 0.3), (3.0, 0.4, 0.9), (12.0, 9.0, 0.5), (0.01, 2.0, 0.1)):
        assert close(incomplete_beta, (a, b, x), (*orders, 0), 1e-12, betainc_derivative(a, b, x, *orders))


def test_incomplete_beta_where_1_minus_x_is_1() -> None:
    """What is beside 1 there decides how far the integral from x goes."""
    for point in ((0.01, 0.5, 1e-20), (1e-3, 2.5, 1e-100), (0.02, 7.0, 1e-15), (1e-3, 0.5, 1e-300)):
        for orders in ((1, 0), (2, 0), (1, 1)):
            found = betainc_derivative(*point, *orders), compiled_beta(*point, *orders)
            assert close(incomplete_beta, point, (*orders, 0), 1e-11, *found)


@pytest.mark.parametrize("order", [2, 3])
def test_incomplete_beta_of_a_small_parameter(order: int) -> None:
    with mpmath.workdps(80):
        for a, b, x in itertools.product((1e-9, 1e-5, 0.05), (0.05, 2.0, 15.0), (0.01, 0.9)):
            for orders in ((order, 0), (0, order)):
                point = (a, b, x) if orders[0] else (b, a, x)
                found = (
                    betainc_derivative(*point, *orders),
                    compiled_beta(*point, *orders),
                )
                assert close(incomplete_beta, point, (*orders, 0), 2e-12, *found)


SIGNS = [
    ("erfinv(x)", -0.0, -0.0), ("dawsn(x)", -0.0, -0.0), ("fresnel_sin(x)", -0.0, -0.0), ("fresnel_cos(x)", -0.0, -0.0),
    ("erfcinv(x)", 1.0, 0.0), ("ndtri(x)", 0.5, 0.0), ("erfinv(x)", 0.0, 0.0), ("dawsn(x)", 0.0, 0.0),
]  # fmt: skip


@pytest.mark.parametrize(("text", "x", "wanted"), SIGNS)
@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_signs_of_zeros(text: str, x: float, wanted: float, engine: str) -> None:
    """Odd functions keep the sign of a zero, on numbers and on tensors."""
    for at in (x, np.array([x, 0.25])):
        found = np.ravel(adiff.program(text).evaluate("value", {"x": at}, engine=engine).value)[0]
        assert abs(found - wanted) < 1e-16
        assert found != 0.0 or np.signbit(found) == np.signbit(wanted)


NEAR_POLES = [-0.9999, -1.0001, -2.00001, -1.9999999, -3.000001, -1e-7, 1e-9, -5.5, -10.001, -20.2, 0.3, -3.5, -170.3]


@pytest.mark.parametrize("name", ["gamma", "digamma"])
@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_tensors_near_poles(name: str, engine: str) -> None:
    """A tensor's elements have the digits that a number has: the distance to the pole is exact."""
    found = adiff.program(f"{name}(v)").evaluate("value", {"v": np.array(NEAR_POLES)}, engine=engine).value
    with mpmath.workdps(40):
        wanted = np.array([float(getattr(mpmath, name)(mpmath.mpf(x))) for x in NEAR_POLES])
    assert np.allclose(found, wanted, rtol=4e-15, atol=0.0)


LARGE = [(1e5, 30.0), (1e5, 0.5), (1e5, 2.5), (3.4e6, 37.2), (50.0, 19.0), (50.0, 21.0), (7.5, 3.0), (0.7, 0.2)]


@pytest.mark.parametrize(("n", "k"), LARGE)
@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_binomial_coefficients(n: float, k: float, engine: str) -> None:
    """Of large n too, where SciPy has lost six digits at 1e5."""
    with mpmath.workdps(40):
        wanted = float(mpmath.binomial(mpmath.mpf(n), mpmath.mpf(k)))
    program = adiff.program("comb(n, k)")
    assert abs(program.evaluate("value", {"n": n, "k": k}, engine=engine).value / wanted - 1) < 1e-13
    found = program.evaluate("value", {"n": np.array([n, 5.0]), "k": np.array([k, 2.0])}, engine=engine).value
    assert np.allclose(found, [wanted, 10.0], rtol=1e-13, atol=0.0)


POLES = {
    "digamma(x)": [(0.0, -math.inf), (-0.0, math.inf), (-1.0, math.nan), (-1e17, math.nan)],
    "beta(x, 2.5)": [(0.0, math.inf), (-0.0, math.inf)],
    "beta(x, 0.0)": [(0.0, math.inf), (2.0, math.inf)],
    "betaln(2.0, x)": [(0.0, math.inf)],
    "zeta(x)": [(1.0, math.inf), (0.5, math.nan), (-math.inf, math.nan)],
    "zeta(2.5, x)": [(0.0, math.inf), (-3.0, math.inf)],
}


@pytest.mark.parametrize(("text", "x", "wanted"), [(text, *case) for text, cases in POLES.items() for case in cases])
@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_at_poles(text: str, x: float, wanted: float, engine: str) -> None:
    for at in (x, np.array([x, 3.25])):
        outcome = adiff.program(text).evaluate("value", {"x": at}, engine=engine)
        assert outcome.engine == engine
        assert np.array_equal(np.ravel(outcome.value)[0], wanted, equal_nan=True)
