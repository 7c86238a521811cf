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
from adiff.engine.ops.special_parameters import betainc_derivative, gammainc_derivative
from adiff.engine.ops.special_values import polygamma, polygamma_difference, zeta, zeta_derivative

mpmath.mp.dps = 40
compiled_gamma, compiled_beta = compiled("gammainc_derivative"), compiled("betainc_derivative")


def close(function: object, point: tuple[float, ...], orders: tuple[int, ...], tolerance: float, *found: float) -> bool:
    expected = mpmath.diff(function, tuple(map(mpmath.mpf, point)), orders)
    return all(abs(x - expected) <= tolerance * abs(expected) for x in found)


@pytest.mark.parametrize("order", [1, 2])
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
        map_floats("polygamma", np.ones_like(x), x), [[polygamma(1.0, t) for t in row] for row in x], rtol=1e-15
    )


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_differences_of_polygamma(order: int) -> None:
    for x, h in itertools.product((1e-5, 0.1, 3.0, 50.0, 1e10), (1e-12, 0.05, -1e-6, -0.099999, 7.0, 1e12)):
        if x + h > 0.0:
            expected = mpmath.polygamma(order, mpmath.mpf(x) + mpmath.mpf(h)) - mpmath.polygamma(order, mpmath.mpf(x))
            assert abs(polygamma_difference(x, h, order) - expected) <= 2e-14 * abs(expected), (x, h)


@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_polygamma_below_zero(engine: str) -> None:
    x = np.array([-0.3, -0.999, -1.5, -7.77, -20.25])
    for order in range(21):
        found = adiff.program(f"polygamma({order}, x)").evaluate("value", {"x": x}, engine=engine).value
        for t, value in zip(x, found):
            terms = [abs(mpmath.mpf(t) + k) ** -(order + 1) for k in range(60)]  # of two signs
            expected = mpmath.polygamma(order, mpmath.mpf(t))
            assert abs(value - expected) <= 1e-13 * (mpmath.factorial(order) * sum(terms) if order else abs(expected))


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


@pytest.mark.parametrize("order", [1, 2])
def test_incomplete_gamma_of_a_small_parameter(order: int) -> None:
    with mpmath.workdps(160):
        for a, x in itertools.product((1e-3, 0.05), (0.5, 15.0)):
            found = gammainc_derivative(a, x, order), compiled_gamma(a, x, order)
            assert close(lower_gamma, (a, x), (order, 0), 1e-11, *found)


def lower_gamma_by_large_a(a: float, x: float) -> list[object]:
    """The integrals of the density's two derivatives by a over t = x exp(-u), in more digits than cancel."""
    with mpmath.workdps(60 + 2 * int(math.log10(a))):
        p, q = mpmath.mpf(a), mpmath.mpf(x)
        first, second = mpmath.polygamma(0, p), mpmath.polygamma(1, p)

        @functools.cache  # the nodes are the same for both
        def weight(u: object) -> object:
            return mpmath.exp(-p * u - q * mpmath.expm1(-u))

        start = mpmath.log(q) - first
        ends = [k / mpmath.sqrt(p) for k in (0, 1, 2, 4, 8, 16, 26)]
        scale = mpmath.exp(p * mpmath.log(q) - q - mpmath.loggamma(p))
        return [
            scale * mpmath.quad(lambda u, part=part: part(start - u) * weight(u), ends)
            for part in (lambda c: c, lambda c: c * c - second)
        ]


# The digits that are lost grow with the root of a.
@pytest.mark.parametrize(("a", "tolerance"), [(61.0, 1e-12), (1e3, 1e-11), (3e4, 1e-10)])
@pytest.mark.parametrize("deviations", [-6.0, 0.5, 3.0])
def test_incomplete_gamma_of_a_large_parameter(deviations: float, a: float, tolerance: float) -> None:
    x = a + deviations * math.sqrt(a)
    for order, expected in enumerate(lower_gamma_by_large_a(a, x), 1):
        for found in (gammainc_derivative(a, x, order), compiled_gamma(a, x, order)):
            assert abs(found - expected) <= tolerance * abs(expected)


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


def test_incomplete_beta_of_a_small_parameter() -> None:
    with mpmath.workdps(80):
        for a, b, x in itertools.product((1e-3, 0.05), (0.05, 2.0, 15.0), (0.01, 0.9)):
            for orders in ((2, 0), (0, 2)):
                point = (a, b, x) if orders[0] else (b, a, x)
                found = betainc_derivative(*point, *orders), compiled_beta(*point, *orders)
                assert close(incomplete_beta, point, (*orders, 0), 1e-11, *found)


NEAR_POLES = [-0.9999, -1.0001, -2.00001, -1.9999999, -3.000001, -1e-7, 1e-9, -5.5, -10.001, -20.2, 0.3, -3.5, -170.3]


@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_tensors_near_poles(engine: str) -> None:
    """A tensor's elements have the digits that a number has: the distance to the pole is exact."""
    found = adiff.program("gamma(v)").evaluate("value", {"v": np.array(NEAR_POLES)}, engine=engine).value
    with mpmath.workdps(40):
        wanted = np.array([float(mpmath.gamma(mpmath.mpf(x))) for x in NEAR_POLES])
    assert np.allclose(found, wanted, rtol=4e-15, atol=0.0)


LARGE = [(1e5, 15.0), (3.4e6, 7.0), (50.0, 19.0), (50.0, 21.0), (7.5, 3.0), (0.7, 0.2)]


@pytest.mark.parametrize(("n", "k"), LARGE)
@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_binomial_coefficients(n: float, k: float, engine: str) -> None:
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
