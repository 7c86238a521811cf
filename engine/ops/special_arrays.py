"""Special functions on arrays: SciPy's, and ours of one float where SciPy has none or loses digits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from .pointwise import map_floats
from .special_densities import EXPI_ZERO
from .special_values import SQRT_HALF, SQRT_TWO_PI, log_gamma_around_2

if TYPE_CHECKING:
    from collections.abc import Callable

Array = Any


def mended(rough: str, name: str, where: Callable[..., Array], *inputs: Any, **static: Any) -> Array:
    """SciPy's function, with ours for the elements where SciPy loses digits: `where(found, *inputs)`."""
    with np.errstate(all="ignore"):
        arrays = np.broadcast_arrays(*[np.asarray(x, dtype=np.float64) for x in inputs])
        found = np.array(getattr(special, rough)(*arrays))
        mask = where(found, *arrays)
        if mask.any():
            found[mask] = map_floats(name, *[x[mask] for x in arrays], **static)
    return found


def log_gamma(x: Any) -> Array:
    found = mended("gammaln", "log_gamma", lambda y, x: (np.abs(y) < 0.5) & (x > -18.0) & (x < -2.0), x)
    low, near = np.less(x, 1.5), np.greater(x, 0.5) & np.less(x, 2.5)
    z = np.where(near, np.where(low, np.subtract(x, 1.0), np.subtract(x, 2.0)), 0.0)
    found = np.where(near, log_gamma_around_2(z) - np.where(low, np.log1p(z), 0.0), found)
    found = np.where(x == -np.inf, np.inf, found)
    # gamma(x) is 1/x for the numbers below the smallest normal one, where SciPy overflows.
    return np.where((np.abs(x) < 1e-300) & (x != 0), -np.log(np.abs(x)), found)


def digamma(x: Any) -> Array:
    return mended("psi", "digamma", lambda y, x: (x < 0.0) & (x != np.floor(x)), x)


def polygamma(n: Any, x: Any) -> Array:
    found = mended("polygamma", "polygamma", lambda y, n, x: (x <= 0.0) & (n >= 0.0), n, x)
    return np.where(np.asarray(n) < 0.0, np.nan, found)


def beta(a: Any, b: Any) -> Array:
    return mended("beta", "beta", lambda y, a, b: (np.minimum(a, b) > 0.0) & ((a + b >= 160.0) | (y > 1e290)), a, b)


def betaln(a: Any, b: Any) -> Array:
    def where(y: Array, a: Array, b: Array) -> Array:
        return (np.minimum(a, b) > 0.0) & ((np.maximum(a, b) >= 10.0) | (np.abs(y) < 0.3) | (y > 500.0))

    return mended("betaln", "betaln", where, a, b)


def binomial(n: Any, k: Any) -> Array:
    return mended("binom", "binomial", lambda y, n, k: n > 100.0, n, k)


def kl_divergence(x: Any, y: Any) -> Array:
    return mended("kl_div", "kl_divergence", lambda z, x, y: np.abs(x - y) < 0.1 * (x + y), x, y)


def expi(x: Any) -> Array:
    return mended("expi", "expi", lambda y, x: np.abs(x - EXPI_ZERO) < 0.2, x)


def erfinv(x: Any) -> Array:
    """The inverse of erf, with the sign of its argument at 0."""
    return np.where(x == 0.0, x, special.erfinv(x))


def erfcinv(x: Any) -> Array:
    """The inverse of erfc; its 0 at 1 has no sign."""
    return special.erfcinv(x) + 0.0


def gaussian(x: Any, scale: float = 1.0) -> Array:
    """See special_values.gaussian."""
    x = np.clip(x, -64.0, 64.0)
    high = np.trunc(x * 16.0) / 16.0
    return np.exp(-scale * high * high) * np.exp(-scale * (x - high) * (x + high))


def normal_density(x: Any) -> Array:
    return gaussian(x, 0.5) / SQRT_TWO_PI


def erfc(x: Any) -> Array:
    """In the upper tail SciPy's loses two digits; the scaled function and an exact Gaussian do not."""
    tail = x > 1.0
    return np.where(tail, special.erfcx(np.where(tail, x, 1.0)) * gaussian(x), special.erfc(x))


def ndtr(x: Any) -> Array:
    """The normal distribution function, likewise."""
    tail = x < -1.0
    scaled = special.erfcx(np.where(tail, x, -1.0) * -SQRT_HALF)
    return 0.5 * np.where(tail, scaled * gaussian(x, 0.5), special.erfc(x * -SQRT_HALF))
