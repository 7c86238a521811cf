"""f(x)/x and its derivatives against the integrals that they are, in many digits."""

from typing import Any

import mpmath as mp
import numpy as np
import pytest
from adiff.engine.ops.special_quotients import SCALARS, on_arrays

POINTS = [
    0.0, 1e-300, 1e-8, 1e-3, 0.1, 0.3, 0.49, 0.51, 0.9, 0.999, 1.01, 1.9, 2.1, 2.9, 3.9, 4.1, 6.1, 8.1, 20.0, 100.0,
]  # fmt: skip
# For each: the function under the integral over t from 0 to 1 that its n-th derivative is.
INTEGRANDS: dict[str, Any] = {
    "sin": lambda x, n: lambda t: t**n * (mp.cos(x * t), -mp.sin(x * t), -mp.cos(x * t), mp.sin(x * t))[n % 4],
    "sinh": lambda x, n: lambda t: t**n * (mp.cosh(x * t) if n % 2 == 0 else mp.sinh(x * t)),
    "expm1": lambda x, n: lambda t: t**n * mp.exp(x * t),
    "log1p": lambda x, n: lambda t: (-1) ** n * mp.factorial(n) * t**n / (1 + x * t) ** (n + 1),
}


def integral(kind: str, x: float, order: int) -> Any:
    integrand = INTEGRANDS[kind](mp.mpf(x), order)
    # `quad` ends where its error is small beside 1, which these integrals may not be.
    scale = mp.mpf(x) if kind == "sinh" and order % 2 and 0 < abs(x) < 1 else 1
    return scale * mp.quad(lambda t: integrand(t) / scale, mp.linspace(0, 1, max(2, int(abs(x)) // 8) + 1))


@pytest.mark.parametrize("order", range(4))
@pytest.mark.parametrize("kind", SCALARS)
def test_derivatives(kind: str, order: int) -> None:
    points = [sign * x for x in POINTS for sign in (1, -1) if kind != "log1p" or sign * x > -1]
    together = on_arrays(np, np.array(points), kind, order)
    for x, found in zip(points, together.tolist()):
        with mp.workdps(30):
            exact = integral(kind, x, order)
            size = max(abs(exact), 0.3 / max(1.0, abs(x)) if kind == "sin" else 0)  # its zeros are absolute
            for value in (SCALARS[kind](x, order), found):
                assert abs(value - exact) <= 3e-15 * size, (x, value, exact)
