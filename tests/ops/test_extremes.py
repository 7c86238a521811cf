"""Values and derivatives to the last digits where the usual formulas overflow, underflow or cancel.

The reference works with as many digits as the extremes span. A result may differ by a part in 10**13, a second
derivative by a part in 10**11; whatever is below the smallest normal number may be anything as small.
"""

import itertools
import math
import sys
from functools import partial
from typing import Any

import adiff
import mpmath as mp
import numpy as np
import pytest
from adiff.engine.ops.registry import ROWS
from derivatives import call
from harness import nested_derivative
from reference import FUNCTIONS, derivative

BELOW_ONE = 1 - 2**-53
ABOVE_ONE = 1 + 2**-52
LARGEST = sys.float_info.max

# Elementary rows, with 700 digits: from 1e-300 to 1e300.
WIDE: dict[str, list[Any]] = {
    "power": [(0.0, 2.0), (1e-180, 1.5), (1e180, 1.5), (2.0, 10.0), (3.0, 0.0), (1e-10, 0.0)],
    "exp": [-700.0, 700.0, -1e-300],
    "expm1": [1e-300, -40.0, 1e-8, -1e-9, 700.0],
    "log": [1e-307, 1e307, ABOVE_ONE],
    "log1p": [1e-300, -BELOW_ONE, 1e-20, 1e140, -1e-10],
    "log2": [1e-300, 1e300],
    "log10": [1e-300, 1e300],
    "sqrt": [1e-200, 1e200],
    "rsqrt": [1e-100, 1e150],
    "cbrt": [1e-150, 1e300, -5.0],
    "reciprocal": [1e-100, 1e80, -3.0],
    "sech": [1e-20, 300.0, -300.0, 700.0],
    "tanh": [1e-300, 300.0, -20.0, 0.0],
    "sigmoid": [-1000.0, 1000.0, -37.0, 37.0, 0.0, 1e-20, 1e-10, 700.0, -700.0, -500.0],
    "softplus": [1000.0, -1000.0, -40.0, 40.0, 0.0, 710.0, 1e-20, -700.0],
    "log_sigmoid": [-1000.0, 1000.0, -40.0, 40.0, 0.0, -700.0],
    "logit": [1e-150, BELOW_ONE, 0.5, 0.5 + 2**-40, 0.5 - 2**-40, 1e-10],
    "logaddexp": [(1000.0, 0.0), (-1000.0, -1001.0), (0.0, -40.0), (1e-20, 0.0), (-800.0, 0.0), (700.0, 0.0)],
    "logaddexp2": [(1000.0, 0.0), (-1000.0, -1001.0), (0.0, -40.0)],
    "hypot": [(1e150, 1e150), (1e-150, 1e-150), (1.0, 1e-9), (1e-9, 1.0), (0.0, 1.0), (1e90, 1.0)],
    "direction": [(1.0, 1e-9), (1e-9, 1.0), (1e-20, 1.0)],
    "sinc": [1e-6, 1e-3, 1e-200, 0.5, 0.6, 0.7, -0.3, 1e-10],
    "sin_quotient": [1e-300, 1e-8, 0.3, 0.99, 1.01, -0.49, -0.51, 20.0],
    "sinh_quotient": [1e-300, 1e-8, 0.3, 0.99, 1.01, -0.49, -0.51, 20.0],
    "expm1_quotient": [1e-300, 1e-8, 0.3, 0.99, 1.01, -0.49, -0.51, 20.0],
    "log1p_quotient": [1e-300, 1e-8, 0.3, 0.99, 1.01, -0.49, -0.51, 20.0, -0.999],
    "sin": [1e22, 1e-300, math.pi],
    "cos": [1e22, math.pi / 2],
    "tan": [math.pi / 2, 1e-300, 1e10],
    "sec": [1.57, 1e-8],
    "csc": [1e-5, 3.1],
    "cot": [1e-5, 3.1],
    "arcsin": [BELOW_ONE, 1e-300, 1e-20, 0.0, -1 + 1e-10],
    "arccos": [BELOW_ONE, 1e-20, -0.9999],
    "arctan": [1e90, 1e-300, 1e10, 1.0, 1e50],
    "arctan2": [(2e-140, 1e-140), (3.0, -4.0), (2e140, 1e140), (0.0, 1.0), (1e-200, 1.0), (1.0, 1e-200), (1e-9, 1.0)],
    "sinh": [1e-300, 700.0],
    "cosh": [1e-20, 700.0, 1e-9],
    "log_cosh": [1e-300, 1e-8, 1000.0, 0.99, 1.01, 300.0, -20.0],
    "arcsinh": [1e140, 1e-300, -1e10, 1e100],
    "arccosh": [ABOVE_ONE, 1e140, 1e100],
    "arctanh": [BELOW_ONE, 1e-300, 1e-20, -0.999],
    "softsign": [1e90, 1e-100, -3.0],
    "silu": [-1000.0, 1000.0, -40.0, 40.0, -700.0, 0.0],
    "tanh_shrink": [1e-8, 0.3, 0.99, 1.01, 30.0, -2.0],
    "elu": [-700.0, -40.0, -1e-20],
    "selu": [-700.0, -1e-20],
    "bernoulli_variance": [0.5 + 1e-10, 1e-300, BELOW_ONE],
    "one_minus_square": [1 - 1e-10, 1e-20, -BELOW_ONE],
}
# Special functions, with 130 digits.
SPECIAL: dict[str, list[Any]] = {
    "erf": [10.0, -6.0, 0.0, 1e-30],
    "erfc": [26.0, 10.1, -5.0],
    "erfcx": [1e3, 30.0, -20.0, 0.0, 1e-10, 2.0, 0.3],
    "erfinv": [-0.9999999999, BELOW_ONE, 1e-10, 0.0],
    "erfcinv": [1e-10, 1e-30, 1.9999, 1.0],
    "ndtr": [-30.3, -1.0, -1.1, 8.0, 0.0, -5.77],
    "log_ndtr": [-40.0, 5.0, 0.0, -1.0, -5.0, -20.0, 1e-10],
    "ndtri": [1e-10, 0.5, 0.9999999999, 1e-30],
    "dawsn": [10.0, 0.92, 20.0],
    "lgamma": [0.5, 1.0, 2.0, 1e-10, 100.0, 1e10, -0.5, -3.5, 171.5, -100000.5, -50.3],
    "digamma": [1.4616321449683622, 1.4616, 1.5, 1e10, -0.5, -3.5, 10.0, 9.99, -50.3],
    "gamma": [171.5, 1e-10, -3.5, 0.5, 30.0],
    "beta": [(0.5, 0.5), (80.0, 81.0)],
    "betaln": [(1e10, 1.0), (1e10, 1e10), (11.0, 12.0), (9.0, 11.0), (0.5, 15.0), (1.0, 1.0)],
    "polygamma_difference": [(1e10, 1.0), (1e-5, 1e-10), (5.0, 1e-15), (1.4, 100.0), (20.0, -5.0), (1e5, 1e5)],
    "gamma_density": [(100.0, 50.0), (0.5, 1e-10), (1.0, 1.0), (19.0, 500.0), (21.0, 500.0)],
    "beta_density": [(0.5, 0.5, 1e-10), (1.0, 1.0, 0.3), (100.0, 200.0, 0.3), (0.01, 0.01, 0.5)],
    "zeta": [(1.0001, 1.0), (2.0, 1.0), (50.0, 2.0), (10.0, 100.0), (20.0, 5.0), (1.5, 0.01)],
    "entr": [1e-30, 1.0, 0.367],
    "j0": [1e-10, 100.0],
    "j1": [1e-10, 0.0, 100.0],
    "i0": [1e-10, 50.0, 700.0, 0.0, 3.0],
    "i1": [1e-10, 50.0, 700.0, 0.0],
    "i0e": [1e-10, 50.0, 700.0, 1e5, -3.0],
    "i1e": [1e-10, 50.0, 700.0, 1e5, -3.0],
    "k0": [0.5, 600.0],
    "k1": [0.5, 600.0],
}
# Derivatives by a parameter of an integral, which mpmath finds slowly.
INCOMPLETE: dict[str, list[tuple[float, ...]]] = {
    "gammainc": [
        (2.5, 1.5), (0.5, 0.1), (100.0, 50.0), (100.0, 150.0), (1e-3, 1e-3), (1e-3, 10.0), (1.0, 1.0), (0.01, 0.5),
        (0.1, 30.0), (30.0, 0.1), (5.0, 1e-10), (0.3, 1e-20), (1e3, 1e3),
    ],
    "gammaincc": [(2.5, 1.5), (100.0, 150.0), (1e-3, 10.0)],
    "betainc": [(0.5, 0.5, 1e-10), (1.0, 1.0, 0.3), (0.01, 0.02, 0.5), (5.0, 0.1, 0.9), (0.1, 5.0, 0.01), (2.0, 3.0, 0.4), (30.0, 0.5, 0.2), (50.0, 60.0, 0.9)],
}  # fmt: skip
# Derivatives of which differences take seconds, by those that are known, and the orders that are left: that of zeta by
# its second argument is -s zeta(s + 1, q).
DERIVED: dict[tuple[str, tuple[int, ...]], tuple[Any, tuple[int, ...]]] = {
    ("zeta", (1, 1)): (lambda s, q: -s * mp.zeta(s + 1, q), (1, 0)),
}


def parameters(table: dict[str, list[Any]], orders: tuple[int, ...]) -> list[Any]:
    found = []
    for name, points in table.items():
        for point in points:
            given = point if isinstance(point, tuple) else (point,)
            for order in orders:
                for path in itertools.combinations_with_replacement(range(len(given)), order):
                    found.append(pytest.param(name, given, path, id=f"{name}{given}-{path}"))
    return found


def check(name: str, point: tuple[float, ...], path: tuple[int, ...], digits: int) -> None:
    row = ROWS.get(name) or partial(call, name)
    orders = tuple(path.count(i) for i in range(len(point)))
    with mp.workdps(digits):
        function, left = DERIVED.get((name, orders), (FUNCTIONS[name], orders))
        expected = mp.re(derivative(function, tuple(mp.mpf(x) for x in point), left))
        found = nested_derivative(row, point, path)
        if abs(expected) < mp.mpf(10) ** -300:
            assert abs(found) < 1e-300
        elif abs(expected) > LARGEST:
            assert found == mp.sign(expected) * mp.inf
        elif found == 0.0:
            assert abs(expected) < mp.mpf(10) ** (30 - digits)  # the reference's own rounding
        else:
            assert abs(found - expected) <= (1e-13, 1e-13, 1e-11)[len(path)] * abs(expected), mp.nstr(expected, 20)


@pytest.mark.parametrize(("name", "point", "path"), parameters(WIDE, (0, 1, 2)))
def test_elementary(name: str, point: tuple[float, ...], path: tuple[int, ...]) -> None:
    check(name, point, path, 700)


@pytest.mark.parametrize(("name", "point", "path"), parameters(SPECIAL, (0, 1, 2)))
def test_special(name: str, point: tuple[float, ...], path: tuple[int, ...]) -> None:
    check(name, point, path, 130)


@pytest.mark.parametrize(("name", "point", "path"), parameters(INCOMPLETE, (0, 1)))
def test_incomplete(name: str, point: tuple[float, ...], path: tuple[int, ...]) -> None:
    check(name, point, path, 50)


# Where a reference by differences is out of reach: closed forms.
@pytest.mark.parametrize(
    ("name", "point", "index", "expected"),
    [
        ("hypot", (1e200, 1e200), 0, math.sqrt(0.5)),
        ("hypot", (1e-200, 1e-200), 1, math.sqrt(0.5)),
        ("arctan2", (1e-200, 1e-200), 0, 5e199),
        ("arctan2", (1e-200, 1e-200), 1, -5e199),
        ("arctan2", (1e200, 1e200), 0, 5e-201),
        ("arcsinh", (1e300,), 0, 1e-300),
        ("arccosh", (1e300,), 0, 1e-300),
        ("reciprocal", (1e-200,), 0, -math.inf),
        ("lgamma", (1e300,), 0, 690.7755278982137),
        ("lgamma", (1e-300,), 0, -1e300),
        ("logaddexp", (math.inf, 0.0), 0, 1.0),
        ("logaddexp", (1e300, -1e300), 1, 0.0),
        ("log_ndtr", (-1e10,), 0, 1e10),
        ("ndtr", (-40.0,), 0, 0.0),
        ("erfcx", (1e8,), 0, -1e-16 / math.sqrt(math.pi)),
        ("erfcx", (1e150,), 0, -1e-300 / math.sqrt(math.pi)),
        ("erfcx", (1e308,), 0, 0.0),
        ("betaln", (1e10, 1.0), 0, -1e-10),
        ("polygamma_difference", (5.0, 1e-15), 1, 0.22132295573711533),
        ("dawsn", (1e5,), 0, -5.0000000007500000001875e-11),
        ("i0", (700.0,), 0, 1.5285003902339006e302),
    ],
)
def test_closed_forms(name: str, point: tuple[float, ...], index: int, expected: float) -> None:
    assert math.isclose(nested_derivative(ROWS[name], point, [index]), expected, rel_tol=1e-14)


@pytest.mark.parametrize("engine", ["tape", "kernel"])
@pytest.mark.parametrize(
    ("text", "x", "expected"),
    [
        ("i0e(x)", 1e8, (0.75 + 15 / 32 * 1e-8) / math.sqrt(2 * math.pi) * 1e-20),
        ("i0e(x)", 1e12, 0.75 / math.sqrt(2 * math.pi) * 1e-30),
        ("i1e(x)", 1e12, 0.75 / math.sqrt(2 * math.pi) * 1e-30),
        ("i1e(x)", 0.0, -1.0),  # from the right
        ("comb(x, 3)", 1e14, 1e14 - 1),
        ("betaln(x, 3)", 1e6, 1e-12 + 1 / 1000001**2 + 1 / 1000002**2),
        ("betaln(x, 3)", 1e16, 3e-32),
    ],
)
def test_second_derivatives_far_out(text: str, x: float, expected: float, engine: str) -> None:
    found = adiff.program(text).evaluate("hessian", {"x": x}, engine=engine).hessian["x"]["x"]
    assert found == pytest.approx(expected, rel=1e-11, abs=0.0)


@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_the_power_of_a_half_is_a_power(engine: str) -> None:
    """IEEE 754: pow(-0, 0.5) is 0 and pow(-inf, 0.5) is inf, where the square root has -0 and nan; of tensors too."""
    tensor = np.array([-0.0, -np.inf, 4.0, -1.0])
    for text in ("v ** 0.5", "v ** x"):
        at = {"v": tensor, "x": 0.5} if "x" in text else {"v": tensor}
        found = adiff.program(text).value(at, engine=engine)
        np.testing.assert_array_equal(found, [0.0, np.inf, 2.0, np.nan])
        assert not np.signbit(found[0])


@pytest.mark.parametrize("x", [-1e150, 1e200])
def test_the_second_derivative_of_the_error_function_far_out_is_zero(x: float) -> None:
    assert nested_derivative(ROWS["erf"], (x,), [0, 0]) == 0.0
    assert adiff.program("erf(x)").evaluate("hessian", {"x": x}, engine="tape").hessian == {"x": {"x": 0.0}}
