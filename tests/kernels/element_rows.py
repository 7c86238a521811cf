"""Element-wise rows that are compiled together, and the arguments that they are held to the tape at."""

from __future__ import annotations

import math

from adiff.engine.kernels.source.primitives import TEXT
from adiff.engine.ops.registry import ROWS

EXTREMES = (0.0, -0.0, 0.3, -0.5, 1.0, -1.0, 2.5, -3.0, 5e-324, 1e-300, -1e-17, 1e16, 710.0, -750.0, 1e308, -1e308)
EXTREMES += (math.inf, -math.inf, math.nan)
FEWER = (0.0, -0.0, 0.5, -0.5, 1.0, -2.0, 3.0, 1e-300, 1e308, math.inf, -math.inf, math.nan)
# Their code leaves the kernel at poles, which would take all the others along.
ALONE = ("digamma", "lgamma", "gamma", "floor_divide", "polygamma", "polygamma_difference", "comb", "beta", "betaln")
ALONE += ("erfcinv", "ndtri", "dawsn", "dawsn_derivative", "expi", "factorial", "zeta", "zeta_derivative")
# Their derivatives do: by an order there is none, and others need polygamma functions at poles.
VALUES_ALONE = ("jv", "yv", "iv", "kv", "gammainc", "gammaincc", "gamma_density", "gammainc_derivative")
VALUES_ALONE += ("betainc", "beta_density", "betainc_derivative")


def rows(count: int) -> list[str]:
    """The rows of so many inputs that are compiled together."""
    found = [
        name for name in TEXT if name in ROWS and len([p for p in ROWS[name].parameters if p.kind == "input"]) == count
    ]
    left_out = (*ALONE, "where_select", "strong_multiply", "scaled_bessel_derivative")  # the last is i0e's gradient
    return [
        name
        for name in found
        if name not in left_out and "f" in ROWS[name].accepts and ROWS[name].derivative != "missing"
    ]
