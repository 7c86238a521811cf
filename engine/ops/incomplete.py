"""Incomplete gamma and beta functions and zeta, with their derivatives by parameters."""

from __future__ import annotations

import math

from ..core.errors import failure
from .arithmetic import divide
from .exponential import log, log1p, square
from .operation import Singular
from .special import digamma, polygamma, polygamma_difference, special_row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# --- incomplete gamma -----------------------------------------------------------------------------------------------

gamma_density = special_row(
    "gamma_density", "a, x", [lambda y, a, x: y * _log_slope(a, x), lambda y, a, x: y * (divide(a - 1.0, x) - 1.0)],
    "x**(a - 1)*exp(-x)/gamma(a), the density of the gamma distribution.", ("gamma_density(1.0, 0.0)", 1.0),
    own="gamma_density", domain=[(0.3, 6), (0.2, 8)], internal=True, formula="x**(a - 1)*exp(-x)/gamma(a)",
)  # fmt: skip


def _up(order: int) -> int:
    """The next order of a derivative by parameters."""
    if order == 2:
        raise failure("E0502", "derivatives by a parameter are available up to order 2", "keep the parameter constant")
    return order + 1


def _log_slope(a: Any, x: Any) -> Any:
    """The derivative by a of the logarithm of gamma_density."""
    return log(x) - digamma(a)


def _gamma_change(a: Any, x: Any, order: int) -> Any:
    """The derivative of gamma_density by a, of an order 1 or 2, divided by it."""
    first = _log_slope(a, x)
    return first if order == 1 else square(first) - polygamma(1, a)


gammainc_derivative = special_row(
    "gammainc_derivative", "a, x | order=1",
    [
        lambda y, a, x, order: gammainc_derivative(a, x, order=_up(order)),
        lambda y, a, x, order: gamma_density(a, x) * _gamma_change(a, x, order),
    ],
    "The derivative of gammainc by a, of a given order.", ("gammainc_derivative(2.5, 0.0)", 0.0), own="gammainc_derivative",
    domain=[(0.3, 6), (0.2, 8)], internal=True,
)  # fmt: skip
gammainc = special_row(
    "gammainc", "a, x", [lambda y, a, x: gammainc_derivative(a, x, order=1), lambda y, a, x: gamma_density(a, x)],
    "The regularised lower incomplete gamma function P(a, x); DLMF 8.2.4.", ("gammainc(1, 0)", 0.0), aliases="igamma",
    domain=[(0.3, 6), (0.2, 8)],
)  # fmt: skip
gammaincc = special_row(
    "gammaincc", "a, x", [lambda y, a, x: -gammainc_derivative(a, x, order=1), lambda y, a, x: -gamma_density(a, x)],
    "The regularised upper incomplete gamma function Q(a, x) = 1 - P(a, x).", ("gammaincc(1, 0)", 1.0), aliases="igammac",
    domain=[(0.3, 6), (0.2, 8)],
)  # fmt: skip


# --- incomplete beta ------------------------------------------------------------------------------------------------


def _by_a(a: Any, b: Any, x: Any) -> Any:
    """The derivative by a of the logarithm of beta_density."""
    return log(x) + polygamma_difference(a, b)


def _by_b(a: Any, b: Any, x: Any) -> Any:
    return log1p(-x) + polygamma_difference(b, a)


beta_density = special_row(
    "beta_density", "a, b, x",
    [
        lambda y, a, b, x: y * _by_a(a, b, x),
        lambda y, a, b, x: y * _by_b(a, b, x),
        lambda y, a, b, x: y * (divide(a - 1.0, x) - divide(b - 1.0, 1.0 - x)),
    ],
    "x**(a - 1)*(1 - x)**(b - 1)/beta(a, b), the density of the beta distribution.", ("beta_density(1.0, 1.0, 0.5)", 1.0),
    own="beta_density", domain=[(0.3, 4), (0.3, 4), (0.1, 0.9)], internal=True, formula="x**(a - 1)*(1 - x)**(b - 1)/beta(a, b)",
)  # fmt: skip


def _beta_change(a: Any, b: Any, x: Any, order_a: int, order_b: int) -> Any:
    """The derivative of beta_density by a and b, of orders of the sum 1 or 2, divided by it."""
    slopes = [_by_a(a, b, x)] * order_a + [_by_b(a, b, x)] * order_b
    if len(slopes) == 1:
        return slopes[0]
    if order_a == order_b:
        return slopes[0] * slopes[1] + polygamma(1, a + b)
    return slopes[0] * slopes[1] + (
        polygamma_difference(a, b, order=1) if order_a else polygamma_difference(b, a, order=1)
    )


def _beta_again(order_a: int, order_b: int, a: Any, b: Any, x: Any) -> Any:
    _up(order_a + order_b - 1)
    return betainc_derivative(a, b, x, order_a=order_a, order_b=order_b)


betainc_derivative = special_row(
    "betainc_derivative", "a, b, x | order_a=1, order_b=0",
    [
        lambda y, a, b, x, order_a, order_b: _beta_again(order_a + 1, order_b, a, b, x),
        lambda y, a, b, x, order_a, order_b: _beta_again(order_a, order_b + 1, a, b, x),
        lambda y, a, b, x, order_a, order_b: beta_density(a, b, x) * _beta_change(a, b, x, order_a, order_b),
    ],
    "The derivative of betainc by a and b, of given orders.", ("betainc_derivative(2.0, 3.0, 1.0)", 0.0),
    own="betainc_derivative", domain=[(0.3, 4), (0.3, 4), (0.1, 0.9)], internal=True,
)  # fmt: skip
betainc = special_row(
    "betainc", "a, b, x",
    [
        lambda y, a, b, x: _beta_again(1, 0, a, b, x),
        lambda y, a, b, x: _beta_again(0, 1, a, b, x),
        lambda y, a, b, x: beta_density(a, b, x),
    ],
    "The regularised incomplete beta function I_x(a, b); DLMF 8.17.2.", ("betainc(1, 1, 0.25)", 0.25),
    domain=[(0.3, 4), (0.3, 4), (0.1, 0.9)],
)  # fmt: skip


# --- zeta -----------------------------------------------------------------------------------------------------------

zeta_derivative = special_row(
    "zeta_derivative", "s, q | order=1",
    [
        lambda y, s, q, order: zeta_derivative(s, q, order=_up(order)),
        lambda y, s, q, order: -(s * _zeta_of_order(s + 1.0, q, order) + order * _zeta_of_order(s + 1.0, q, order - 1)),
    ],
    "The derivative of the Hurwitz zeta function by its exponent, of a given order.",
    ("zeta_derivative(2.0, 1.0)", -0.9375482543158438), own="zeta_derivative", domain=[(1.5, 6), (0.5, 4)], internal=True,
)  # fmt: skip


def _zeta_of_order(s: Any, q: Any, order: int) -> Any:
    return zeta(s, q) if order == 0 else zeta_derivative(s, q, order=order)


zeta = special_row(
    "zeta", "s, q=1.0", [lambda y, s, q: zeta_derivative(s, q, order=1), lambda y, s, q: -(s * zeta(s + 1.0, q))],
    "The Hurwitz zeta function, the sum of (q + k)**-s; Riemann's for q = 1.", ("zeta(2)", math.pi**2 / 6),
    kernel="zeta({0}, {1})", domain=[(1.5, 6), (0.5, 4)], singular=[Singular(lambda s, q: s == 1, "zeta has a pole at 1")],
)  # fmt: skip
