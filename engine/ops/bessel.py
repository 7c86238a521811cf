"""Bessel functions, of any real order and of orders 0 and 1, and the scaled ones."""

from __future__ import annotations

from ..core.errors import failure
from .arithmetic import INF, divide
from .operation import Operation
from .special import pole, special_row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _of_order(name: str, title: str, dlmf: str, example: Any, signs: tuple[float, float], aliases: str) -> Operation:
    """A Bessel function of any real order, with d/dx = half the sum of its neighbours, with signs (DLMF 10.6.1 and 10.29.1)."""

    def refuse(y: Any, n: Any, x: Any) -> Any:
        raise failure("E0502", f"the derivative of {name} by its order is not available", "keep the order constant")

    def slope(y: Any, n: Any, x: Any) -> Any:
        return signs[0] * (row(n - 1.0, x) + signs[1] * row(n + 1.0, x))

    row = special_row(
        name, "n, x", [refuse, slope], f"The {title} of order n; DLMF {dlmf}.", example,
        aliases=aliases, domain=[None, (0.5, 8 if signs[1] < 0 else 5)],
    )  # fmt: skip
    return row


jv = _of_order("jv", "Bessel function of the first kind", "10.2.2", ("jv(0, 0.0)", 1.0), (0.5, -1.0), "jn bessel_jn")
yv = _of_order(
    "yv", "Bessel function of the second kind", "10.2.3", ("yv(0, 1.0)", 0.08825696421567698), (0.5, -1.0), "yn",
)  # fmt: skip
iv = _of_order("iv", "modified Bessel function of the first kind", "10.25.2", ("iv(0, 0.0)", 1.0), (0.5, 1.0), "")
kv = _of_order("kv", "modified Bessel function of the second kind", "10.25.3", ("kv(0, inf)", 0.0), (-0.5, 1.0), "kn")


def _bessel(name: str, slope: Any, title: str, example: Any, positive: bool = False) -> Operation:
    """A Bessel function of order 0 or 1, under the names of SciPy and TensorFlow."""
    return special_row(
        name, "x", [slope], f"The {title} of order {name[1]}.", example, aliases=f"bessel_{name}",
        domain=[(0.5, 5) if positive else (-5, 5)],
        singular=pole(f"{name} has a pole at 0", lambda x: x == 0, -INF) if positive else [],
    )  # fmt: skip


j0 = _bessel("j0", lambda y, x: -j1(x), "Bessel function of the first kind", ("j0(0)", 1.0))
j1 = _bessel("j1", lambda y, x: 0.5 * (j0(x) - jv(2, x)), "Bessel function of the first kind", ("j1(0)", 0.0))
y0 = _bessel("y0", lambda y, x: -y1(x), "Bessel function of the second kind", ("y0(1)", 0.08825696421567698), True)
y1 = _bessel(
    "y1", lambda y, x: 0.5 * (y0(x) - yv(2, x)), "Bessel function of the second kind", ("y1(1)", -0.7812128213002887), True,
)  # fmt: skip
i0 = _bessel("i0", lambda y, x: i1(x), "modified Bessel function of the first kind", ("i0(0)", 1.0))
i1 = _bessel("i1", lambda y, x: 0.5 * (i0(x) + iv(2, x)), "modified Bessel function of the first kind", ("i1(0)", 0.0))
k0 = _bessel("k0", lambda y, x: -k1(x), "modified Bessel function of the second kind", ("k0(inf)", 0.0), True)
k1 = _bessel(
    "k1", lambda y, x: -0.5 * (k0(x) + kv(2, x)), "modified Bessel function of the second kind", ("k1(inf)", 0.0), True,
)  # fmt: skip
scaled_bessel_derivative = special_row(
    "scaled_bessel_derivative", "x | n=0, order=1", [lambda y, x, n, order: scaled_bessel_derivative(x, n=n, order=order + 1)],
    "The derivative of exp(-abs(x))*iv(n, x) for n = 0 or 1, of a given order, from the right at 0.",
    ("scaled_bessel_derivative(1e300, 1, 1)", 0.0), own="scaled_bessel_derivative", domain=[(0.5, 5)], internal=True,
    # Formulas have it of order 1 alone: those of higher orders follow from this one.
    formula="i1e(x) - sign(x)*i0e(x) if n == 0 else i0e(x) - i1e(x)/x - sign(x)*i1e(x)",
)  # fmt: skip
i0e = special_row(
    "i0e", "x", [lambda y, x: scaled_bessel_derivative(x, n=0, order=1)], "exp(-abs(x))*i0(x), without overflow.",
    ("i0e(0)", 1.0), aliases="bessel_i0e", domain=[(0.5, 5)], analytic=False,
    singular=pole("i0e is not differentiable at 0", lambda x: x == 0, 0.0, subgradients="[-1, 1]"),
)  # fmt: skip
i1e = special_row(
    "i1e", "x", [lambda y, x: scaled_bessel_derivative(x, n=1, order=1)], "exp(-abs(x))*i1(x), without overflow.",
    ("i1e(0)", 0.0), aliases="bessel_i1e", domain=[(0.5, 5)],
)  # fmt: skip
k0e = special_row(
    "k0e", "x", [lambda y, x: y - k1e(x)], "exp(x)*k0(x), without underflow.", ("k0e(inf)", 0.0), aliases="bessel_k0e",
    domain=[(0.5, 5)],
)  # fmt: skip
k1e = special_row(
    "k1e", "x", [lambda y, x: y - k0e(x) - divide(y, x)], "exp(x)*k1(x), without underflow.", ("k1e(inf)", 0.0),
    aliases="bessel_k1e", domain=[(0.5, 5)],
)  # fmt: skip
