"""Kernels of derivatives of high orders, and the tape's, against mpmath: what later orders need of what earlier ones left."""

from __future__ import annotations

import adiff
import mpmath
import pytest
from mpmath import mpc, mpf

ORDER = 8


def looped(x: mpf) -> mpf:
    return sum(mpmath.re(mpmath.exp(mpc(0, 1) * x * k * mpf("0.01")) * mpf("0.1")) for k in range(50))


def branched(x: mpf) -> mpf:
    z, s = mpc(x, 1), mpf(0)
    for k in range(4):
        if k % 2:
            z = z * z / (3 + z)
        else:
            s += mpmath.im(mpmath.exp(z / 4)) * mpmath.sin(x)
    return s * mpmath.re(z)


def traced(x: mpf) -> mpf:
    """The trace of the cube of [[2 + x, x], [x, 3]]."""
    return (2 + x) ** 3 + 27 + 3 * x * x * (5 + x)


def added(x: mpf) -> mpf:
    """Logarithms of the sums of 1, 2 and 3 exponentials."""
    terms = [mpmath.exp(x), mpmath.exp(2 * x), mpmath.exp(mpmath.sin(x))]
    return sum(k * mpmath.log(sum(terms[:k])) for k in (1, 2, 3))


CASES = [
    # What no lower order needs of a complex row's two parts.
    ("real(1/(x + 1j))", lambda x: mpmath.re(1 / mpc(x, 1)), ORDER),
    ("imag(exp(1j*x))", mpmath.sin, ORDER),
    ("real((x + 1j)/(x + 2j))", lambda x: mpmath.re(mpc(x, 1) / mpc(x, 2)), ORDER),
    ("real(exp(1j*x)/(x + 2j))", lambda x: mpmath.re(mpmath.exp(mpc(0, x)) / mpc(x, 2)), ORDER),
    # Numbers that equal others of the row's own statements.
    ("y = 2*x\nimag(exp(1j*y))*cos(y) + sin(y)", lambda x: mpmath.sin(2 * x) * (mpmath.cos(2 * x) + 1), ORDER),
    ("s = 0.0\nfor k in range(50): s += real(exp(1j * x * k * 0.01) * 0.1)\ns", looped, ORDER),
    (
        "z = x + 1j\ns = 0.0\nfor k in range(4):\n    if k % 2:\n        z = z*z/(3 + z)\n"
        "    else:\n        s += imag(exp(z/4))*sin(x)\ns*real(z)",
        branched,
        ORDER,
    ),
    # Rows whose rules read their own results in loops or branches.
    ("sum(eigvalsh([[2 + x, 1.0*x], [x, 3.0]])**3)", traced, 4),
    ("sum(cumlogsumexp([x, 2*x, sin(x)])*[1, 2, 3])", added, 4),
    ("norm([x, 2.0, x*x])*abs(x)", lambda x: mpmath.sqrt(x * x + 4 + x**4) * abs(x), 4),
]


@pytest.mark.parametrize(("text", "function", "order"), CASES, ids=[case[0] for case in CASES])
@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_against_mpmath(text: str, function: object, order: int, engine: str) -> None:
    program = adiff.program(text)
    outcome = program.evaluate("derivative", {"x": 0.4}, order=order, engine=engine)
    assert outcome.engine == engine
    assert not outcome.notices
    with mpmath.workdps(60):
        series = mpmath.taylor(function, mpf(0.4), order)
        wanted = [float(c * mpmath.factorial(k)) for k, c in enumerate(series)]
    assert [outcome.value, *outcome.derivatives] == pytest.approx(wanted, rel=1e-11, abs=1e-11)
