"""Complex numbers in kernels: every row that takes them, at ordinary and singular points, and programs of all kinds."""

from __future__ import annotations

import itertools
import os
from typing import Any

import adiff
import mpmath
import numpy as np
import pytest
from adiff.engine.kernels.operations.complex_formulas import REAL, RULED, SMOOTH, TRUTH
from agreement import agree
from generated_complex import Writer

LONG = bool(os.environ.get("ADIFF_LONG_TESTS"))
POINTS = [0.6 + 0.7j, -1.2 + 0.4j, 0.3 - 2.0j, -0.8 - 0.9j, 2.5 + 0.1j, 1e-3 - 2e-3j]
SINGULAR = [0j, 1 + 0j, -1 + 0j, 1j, -2 + 0j, complex(-2.0, -0.0), 3 + 0j, -0.5j]
ON_AXES = [0.5 + 0j, 0.7j, 0j]
OTHER = 0.4 - 1.1j
INTERNAL = {"one_minus_square", "bernoulli_variance", "strong_multiply", "unit"}
# Rows that the program writes as formulas.
WRITTEN = {
    "root_of_squares": ["sqrt(z**2 + w**2)"],
    "root_of_three_squares": ["sqrt(z**2 + w**2 + (z*w)**2)"],
    "square_of_root": ["sqrt(z)**2"],
}
COMPLEX = sorted((set(SMOOTH) | set(RULED)) - INTERNAL - TRUTH - {"complex", "stop_gradient"})
BINARY = "add subtract multiply divide power xlogy xlog1py xdivy divide_no_nan multiply_no_nan".split()
OF_TWO = [*BINARY, "root_of_squares", "root_of_three_squares"]


def calls(name: str) -> list[str]:
    if name in WRITTEN:
        return WRITTEN[name]
    return [f"{name}(z, w)", f"{name}(w, z)"] if name in BINARY else [f"{name}(z)"]


def as_real(name: str, call: str) -> str:
    """A real number that depends on both parts of a result."""
    return f"({call}) * 1.3" if name in REAL else f"real(({call}) * (0.7 - 0.4j))"


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("name", COMPLEX)
def test_rows(name: str) -> None:
    """Values, gradients and notices; at singular points too."""
    for call in calls(name):
        at = {"w": OTHER} if name in OF_TWO else {}
        value, real = adiff.program(call), adiff.program(as_real(name, call))
        for z in POINTS + SINGULAR:
            assert agree(value, {"z": z, **at}, None, "value") == ""
            assert agree(real, {"z": z, **at}) == "", z


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("name", COMPLEX)
def test_real_derivatives(name: str) -> None:
    """Of first and second order, by a real number that complex ones are made from."""
    for call in calls(name):
        text = f"z = complex(x + 0.2, y * x) * (1 + 0.3j)\nw = 0.5 + y * 1j\n{as_real(name, call)}"
        for command, tolerance in (("grad", 1e-13), ("hessian", 1e-11), ("hvp", 1e-11)):
            if command == "hvp" and not (LONG or call == calls(name)[0]):
                continue
            options = {"vector": {"x": 0.3, "y": -1.0}} if command == "hvp" else {}
            assert agree(text, {"x": 0.8, "y": 0.6}, None, command, tolerance, **options) == ""


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("name", sorted(TRUTH))
def test_questions(name: str) -> None:
    for z, w in itertools.product([0j, 1 + 1j, complex("nan"), complex(1, float("inf"))], repeat=2):
        two = "equal" in name or "close" in name
        call = f"{name}(z, w)" if two else f"{name}(z)"
        at = {"z": z, "w": w} if two else {"z": z}
        assert agree(f"2.0 if {call} else 3.0", at, None, "value") == ""


ROW = np.array([1 + 2j, 0.5 - 1j, -0.3 + 0.2j])
SQUARE = np.arange(9.0).reshape(3, 3) * (0.1 + 0.2j) + np.eye(3)
PROGRAMS: list[tuple[str, dict[str, Any]]] = [
    ("w = z**2 + 1\nreal(w)**2 + imag(w)**2", {"z": 1 + 2j}),
    ("w = 0j\nfor i in range(7):\n    w = w * w + z\nabs(w)", {"z": 0.1 + 0.3j}),
    ("w = z\nn = 0\nwhile abs(w) < 50:\n    w = w * w + z\n    n += 1\nabs(w) * x + n", {"z": 0.9 + 0.2j, "x": 2.0}),
    ("if real(z) > 0:\n    w = z * 2\nelse:\n    w = z / (1 + z)\nabs(w)", {"z": -1 + 2j}),
    ("def f(z):\n    if abs(z) > 1.2:\n        return 1j * z\n    return z + 1\nreal(f(f(z)))", {"z": 1 - 0.3j}),
    ("sum(abs(z * conj(z) + exp(z)))", {"z": ROW}),
    ("real(sum(w * flip(z)) + z[0] * z[-1])", {"z": ROW, "w": ROW[::-1] * 2}),
    ("abs(sum(m @ z)) + sum(real(m[1:, 0]))", {"z": ROW, "m": SQUARE}),
    ("w = zeros(3) * 1j\nfor i in range(4):\n    w = w * z + z\nreal(sum(w) * (1 + 2j))", {"z": ROW}),
    ("sum(abs(stack([z, z * 2])[:, 1:])) + abs(mean(z)) + real(cumsum(z)[2])", {"z": ROW}),
    ("abs(sum([z * i for i in range(4)]))", {"z": 0.3 + 1j}),
    ("sum(where(real(z) > 0.4, imag(z * z), angle(z)))", {"z": ROW}),
    ("abs(cmath.exp(1j * x) + cmath.sqrt(-x)) + cmath.phase(complex(x, 2))", {"x": 0.7}),
    ("abs(grad(lambda x: abs(exp(1j * x) + x))(x))", {"x": 0.4}),
    ("z.real * z.imag + abs(z.conj())", {"z": 0.3 + 1j}),
    ("sum(x * abs(1j * x + 2))", {"x": np.array([0.3, 0.7])}),
    ("real(sum(inv(m) @ z)) + imag(sum(solve(m, z))) + abs(solve(m, m * m)[0, 1])", {"m": SQUARE, "z": ROW}),
    ("norm(z) + sum(norm(m, axis=0)) * norm(m[:, 1:], axis=(0, 1))", {"m": SQUARE, "z": ROW}),
    ("abs(trace(expm(m))) + real(sum(expm(1j * m)[0]))", {"m": SQUARE}),
    ("norm(z - z) + abs(+z[0])", {"z": ROW}),
    ("abs(z**-1)", {"z": 0j}),
    ("a = z * 1\na[1] = 2j\na[n] *= z[0]\na[:2] = a[1:3] * z[0]\nreal(sum(a * a))", {"z": ROW, "n": 2}),
    ("a = zeros(3)\nfor i in range(3):\n    a[i] = exp(1j * x * i)\n    a[1:] = a[:2] * a[i]\nabs(sum(a))", {"x": 0.7}),
    (
        "a = m * 1\nfor i in range(3):\n    a[i, 1:] += a[i - 1, :2]\n    a[:, i] *= x\nabs(sum(a * m))",
        {"m": SQUARE, "x": 0.7},
    ),
    ("a = z * 1\na[real(z) > 0.4] = 1j\na[[0, 2]] = a[1:] / 2\nabs(prod(a))", {"z": ROW}),
    ("a = [z, z * 2]\na[0][1] = z[0] * z[0]\nreal(sum(a[0] * a[1]))", {"z": ROW}),
    (
        "s = 0j\nfor e in z:\n    s = s * e + e\nfor r, e in zip(m, z):\n    s += sum(r) * e\nabs(s) * len(z)",
        {"z": ROW, "m": SQUARE},
    ),
    ("for e in z:\n    e\nx", {"z": ROW, "x": 0.7}),
    ("s = 0\nfor i in range(2):\n    z[i]\n    s += x\ns", {"z": ROW, "x": 0.7}),
    ("a = array([[cos(x), -1j * sin(x)], [-1j * sin(x), cos(x)]]) @ z[:2]\nabs(a[0])", {"z": ROW, "x": 0.7}),
    (
        "a = zeros(3, dtype=complex128)\nfor i in range(3):\n    a[i] = exp(1j * x * i)\nreal(sum(a * complex128(w)))",
        {"x": 0.7, "w": [1.0, 0.5, 2.0]},
    ),
    ("real(sum(map_fn(lambda e: e * e, z)) + sum([k * e for k, e in enumerate(z)]))", {"z": ROW}),
    ("sum(abs(z**-2)) + sum(abs(z**0.5)) + sum(abs(z**0))", {"z": np.array([0j, 1 + 1j])}),
]


@pytest.mark.usefixtures("interpret")
def test_parts_that_are_bare_integers() -> None:
    program = adiff.program("abs(complex(x, y))**3")
    assert agree(program, {"x": 3, "y": 4}, None, "hessian") == ""
    found = program.evaluate("grad", {"x": 3, "y": 4}, engine="tape").gradients
    assert found == pytest.approx({"x": 45.0, "y": 60.0})  # 3 |z| (x, y)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("text", "at"), PROGRAMS)
def test_programs(text: str, at: dict[str, Any]) -> None:
    for command in ("value", "grad"):
        assert agree(text, at, None, command) == ""


@pytest.mark.usefixtures("interpret")
def test_a_transform_that_is_written_element_by_element() -> None:
    """Its values are NumPy's, and the gradient of its energy is 2nz, by Parseval's theorem."""
    text = "n = len(z)\na = zeros(n)\nfor i in range(n):\n    for k, e in enumerate(z):\n        a[i] += e * exp(-2j * pi * i * k / n)\n"
    for program, command in ((text + "a", "value"), (text + "sum(square(abs(a)))", "grad")):
        assert agree(program, {"z": ROW}, None, command) == ""
    found = adiff.program(text + "a").evaluate("value", {"z": ROW}, engine="kernel").value
    np.testing.assert_allclose(found, np.fft.fft(ROW), rtol=1e-13)
    outcome = adiff.program(text + "sum(square(abs(a)))").evaluate("grad", {"z": ROW}, engine="kernel")
    np.testing.assert_allclose(outcome.gradients["z"], 6 * ROW, rtol=1e-13)


# The gradient of a complex result is that of its real part, of integers and truths there is none; whatever else the result holds.
OF_PARTS = [
    "z",
    "z[0] * y",
    "[z, 2 * z]",
    "(z[0], 2j, True)",
    "{'a': z, 'b': x > 0, 'c': y}",
    "[x > 0, 1.5 * x]",
    "(z, real(z) > 0)",
    "(argmax(x), max(x), y)",
    "{'k': argsort(x), 'y': y, 'z': z}",
    "[z[0], y]",
    "[argsort(x), x]",
    "(argmax(x), argmax(-x))",
]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", OF_PARTS)
def test_gradients_of_complex_results_and_of_truths(text: str) -> None:
    at = {"z": ROW, "x": np.array([0.3, -0.7]), "y": 0.4}
    at = {name: value for name, value in at.items() if name in adiff.program(text).inputs}
    for command in ("value", "grad"):
        assert agree(text, at, None, command) == ""


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", ["(y > 0,)", "(1 if y > 0 else 2, 3)"])
def test_truths_and_integers_stay_what_they_are_beside_a_cotangent(text: str) -> None:
    assert agree(text, {"y": 0.4}, None, "vjp", cotangent=1.0) == "no kernel for a list of integers and floats"


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(
    "text", ["(sum(x), z)", "{'k': argsort(x), 'x': x, 'z': z}", "[float64(y), z[0]]", "(z, [x, x])"]
)
def test_dtypes_that_do_not_mix_in_the_sum_of_a_result(text: str) -> None:
    at = {"z": ROW, "x": np.array([0.3, -0.7]), "y": 0.4}
    at = {name: value for name, value in at.items() if name in adiff.program(text).inputs}
    for command, reason in (("value", ""), ("grad", "an error")):
        assert agree(text, at, None, command) == reason


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", ["z * z", "[z, 2 * z, 1.0]", "(z, real(z))", "stack([z, 1j * z])", "2 * [z][0]"])
def test_complex_results(text: str) -> None:
    assert agree(text, {"z": 0.3 - 0.2j}, None, "value") == ""
    outcome = adiff.program(text).evaluate("value", {"z": ROW}, engine="kernel")
    assert outcome.engine == "kernel", outcome.reason
    assert agree(text, {"z": ROW}, None, "value") == ""


# Two dtypes of their own do not mix: an error that the tape words, or none where one of the two is a bare number.
MIXED: list[tuple[str, dict[str, Any], str]] = [
    ("real(sum(z * w))", {"z": ROW, "w": np.arange(3.0)}, "an error"),
    ("real(sum(z * w))", {"z": ROW, "w": [0.0, 1.0, 2.0]}, ""),
    ("a = z * 1\na[0] = w[0]\nreal(sum(a))", {"z": ROW, "w": np.arange(3.0)}, "an error"),
    ("a = w * 1\na[0] = z[0]\nreal(sum(a))", {"z": ROW, "w": np.arange(3.0)}, "an error"),
    ("a = w * 1\na[:2] = z\nreal(sum(a))", {"z": 1 + 1j, "w": np.arange(3.0)}, ""),
    ("a = z * 1\na[:2] = w\nreal(sum(a))", {"z": ROW, "w": 2.0}, ""),
    ("abs(sum(z * w))", {"z": 1 + 1j, "w": np.arange(3.0)}, ""),
    ("sum(abs(exp(1j * w) + w))", {"w": np.arange(3.0)}, "an error"),
    ("sum(abs(exp(1j * w) + w * (1 + 0j)))", {"w": np.arange(3.0)}, ""),
    ("sum(abs(z * cast(2.0, float64)))", {"z": ROW}, "an error"),
    ("sum(abs(cast(w, complex128) * w))", {"w": np.arange(3.0)}, "an error"),
    # What the program makes of a dtype of its own, beside what it leaves as it is.
    ("sum(cast(w, complex128) * z) + sum(1j * w) + norm(w) * 2j", {"z": ROW, "w": np.arange(3.0)}, ""),
    ("cast(x, complex128) * sum(z) + sum(1j * x * w)", {"z": ROW, "x": 0.7, "w": np.arange(3.0)}, ""),
    ("a = cast(x, complex128)\nsum(a * y * w)", {"x": 0.7, "y": 2.0, "w": np.arange(3.0)}, "an error"),
    ("sum(cast(x, float64) * z)", {"x": 0.7, "z": ROW}, "an error"),
    ("sum(float64(x) * 1j * z)", {"x": 0.7, "z": ROW}, ""),
    ("sum(float64(x) * z)", {"x": 0.7, "z": ROW}, "an error"),
    ("sum(real(cast(x, complex128)) * z)", {"x": 0.7, "z": ROW}, "an error"),
    ("sum(imag(cast(w, complex128)) * z)", {"w": np.arange(3.0), "z": ROW}, "an error"),
    ("k / 2 * 1j + sum(cast(w, complex128))", {"w": np.arange(3.0), "k": np.arange(3)}, ""),
    ("sum(k / 2 * z)", {"z": ROW, "k": np.arange(3)}, "an error"),
    ("sum(zeros_like(z) * x + ones_like(w, dtype=complex128) * z)", {"z": ROW, "x": 0.7, "w": np.arange(3.0)}, ""),
    ("sum(zeros_like(z) * w)", {"z": ROW, "w": np.arange(3.0)}, "an error"),
    ("array([0.5, 1.0, 2.0]) * c + sum(zeros(3, dtype=complex128))", {"c": 1j}, ""),
    ("array([0.5, 1.0, 2.0]) * z", {"z": ROW}, "an error"),
    ("array([1j, x, 2]) * z + complex128(k) * z + cast(2, complex128)", {"z": ROW, "x": 0.7, "k": np.arange(3)}, ""),
    ("array([1j, x, 2]) * w", {"x": 0.7, "w": np.arange(3.0)}, "an error"),
    # What is complex is no part of a complex number, and parts of float32 make a complex64.
    ("complex(complex(x, 1.0))", {"x": 0.7}, "an error"),
    ("complex(2j, x)", {"x": 0.7}, "an error"),
    ("complex(x, 1.0)", {"x": np.array(0.7, np.float32)}, "no kernel for complex numbers in float32"),
    ("abs(x * 1j)", {"x": np.array(0.7, np.float32)}, "no kernel for complex numbers in float32"),
]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("text", "at", "reason"), MIXED)
def test_dtypes_that_do_not_mix(text: str, at: dict[str, Any], reason: str) -> None:
    assert agree(text, at, None, "value") == reason


def test_machine_code() -> None:
    """One kernel with many rows, and a loop that carries complex numbers and arrays."""
    text = """
w = z
m = n
total = 0.0
for i in range(6):
    w = sqrt(w * w / (1 + z) + sin(z) * 0.1) ** 1.5 + log(w) * 0.2j
    m = m * w + tanh(m)
    total += abs(w) + angle(z) * x
total + sum(real(m * conj(m)))
"""
    for z in (0.7 + 0.4j, 1.2 - 0.5j):
        assert agree(text, {"z": z, "x": 0.3, "n": ROW * 0.1}) == ""
        assert agree(text, {"z": z, "x": 0.3, "n": ROW * 0.1}, ["x"], "value") == ""


MANY = 600 if LONG else 15


@pytest.mark.usefixtures("interpret")
def test_random_programs() -> None:
    compiled = 0
    for seed in range(MANY):
        writer = Writer(seed)
        compiled += agree(writer.program(), writer.point(), None, "grad", 1e-11) == ""
    assert compiled > 0.9 * MANY


INF = float("inf")
AXES = [complex(re, im) for re in (-INF, -2.0, -0.0, 0.0, 2.0, INF) for im in (-INF, -2.0, -0.0, 0.0, 2.0, INF)]
# Beside the points where the inverse functions branch, and where squares over- or underflow.
EDGES = [
    -1 + 1e-6j, 1 + 1e-6j, -1 - 1e-9j, -1 + 1e-170j, 1e-9 + 1j, 1e-9 - 1j, -1e-170 - 1j, 1e160 + 1e160j, -1e200 + 1j,
    1 - 1e200j, 1e308 + 1e308j, -1e308 - 1e308j, 3e-320 + 1e-320j, -3e-320 + 1e-322j, 310 + 0.5j, 0.5 - 310j,
]  # fmt: skip
OF_NUMPY = {
    "atanh": np.arctanh, "atan": np.arctan, "asin": np.arcsin, "acos": np.arccos, "asinh": np.arcsinh,
    "acosh": np.arccosh, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos, "tan": np.tan, "sinh": np.sinh,
    "cosh": np.cosh, "tanh": np.tanh, "expm1": np.expm1,
}  # fmt: skip

PERIODIC = ("sin", "cos", "tan", "sinh", "cosh", "tanh", "expm1")


def same_part(found: float, expected: float, beside: float) -> bool:
    """Equal to nearly the last digit, with the sign of a zero; which C leaves open beside a nan."""
    if np.isnan(expected) or np.isnan(found):
        return bool(np.isnan(expected) and np.isnan(found))
    if expected == 0 and not np.isnan(beside):
        return found == 0 and bool(np.signbit(found) == np.signbit(expected))
    return bool(np.isclose(found, expected, rtol=1e-14, atol=1e-321))


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("name", OF_NUMPY)
def test_edges_are_those_of_numpy(name: str) -> None:
    program = adiff.program(f"{name}(z)")
    for z in AXES + EDGES:
        angle = z.real if name in ("sin", "cos", "tan") else z.imag
        along = z.imag if name in ("sin", "cos", "tan") else z.real
        if name in PERIODIC and not np.isfinite(angle) and along:
            continue  # An angle without a limit: off the axis, C leaves open what is a nan.
        with np.errstate(all="ignore"):
            expected = complex(OF_NUMPY[name](np.complex128(z)))
        for engine in ("tape", "kernel"):
            found = program.evaluate("value", {"z": z}, engine=engine).value
            assert found.__class__ is complex
            assert same_part(found.real, expected.real, expected.imag), (engine, z, found, expected)
            assert same_part(found.imag, expected.imag, expected.real), (engine, z, found, expected)


NOT_FINITE = [complex(re, im) for re in (INF, -INF, 0.0, -2.0, np.nan) for im in (INF, -INF, 0.0, -2.0, np.nan)]
# As NumPy computes them element by element.
OF_ENDS = {
    "exp(z)": lambda z, w: np.exp(z),
    "z * w": np.multiply,
    "z / w": np.divide,
    "z**2": lambda z, w: z**2,
    "z**3": lambda z, w: np.power(z, 3),
    "square(z)": lambda z, w: np.square(z),
    "reciprocal(z)": lambda z, w: 1.0 / z,
    "z**-1": lambda z, w: z**-1,
}


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("engine", ["tape", "kernel"])
@pytest.mark.parametrize("text", OF_ENDS)
def test_numbers_with_a_part_that_is_not_finite_are_those_of_numpy(text: str, engine: str) -> None:
    z, w = np.repeat(NOT_FINITE, 25), np.tile(NOT_FINITE, 25)
    at = {"z": z, "w": w} if "w" in text else {"z": z}
    with np.errstate(all="ignore"):
        expected = OF_ENDS[text](z, w)
    found = adiff.program(text).evaluate("value", at, engine=engine).value
    np.testing.assert_array_equal(found.real, expected.real)
    np.testing.assert_array_equal(found.imag, expected.imag)


SIGNED = [complex(re, im) for re in (0.0, -0.0, 1.0, INF, -INF, np.nan) for im in (0.0, -0.0, -1.0, INF, np.nan)]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(
    "text", [*"sin cos tan sinh cosh tanh sqrt exp arctan arccos arcsinh".split(), "z * w", "z / w"]
)
def test_zeros_have_one_sign(text: str) -> None:
    """Beside nan too, where C99 leaves it open."""
    z, w = np.repeat(SIGNED, len(SIGNED)), np.tile(SIGNED, len(SIGNED))
    text, at = (text, {"z": z, "w": w}) if "w" in text else (f"{text}(z)", {"z": np.array(SIGNED)})
    tape, kernel = (adiff.program(text).evaluate("value", at, engine=engine).value for engine in ("tape", "kernel"))
    for part, other in ((tape.real, kernel.real), (tape.imag, kernel.imag)):
        zero = part == 0
        np.testing.assert_array_equal(zero, other == 0)
        np.testing.assert_array_equal(np.signbit(part[zero]), np.signbit(other[zero]))


# Powers, functions and products whose numbers have parts that are infinite, nan, or too large or small for squares.
SPECIAL = [
    complex(re, im)
    for re in (INF, -INF, np.nan, 0.0, -0.0, 1.0, 710.3, 1e200)
    for im in (INF, np.nan, -0.0, 5e-324, -2.0)
]
BEYOND = "z**0.5 z**-1.5 z**3 z**5 z**-1 z**-3 z**(1+2j) z**w (-2)**z 2*z z/2 0.3*z z*w z/w square(z) xlogy(z,w) sqrt(z)**2".split()
BEYOND += "exp(z) log(z) log1p(z) sqrt(z) sin(z) cosh(z) arcsin(z) arccos(z) arccosh(z) arctan(z) sech(z) sinc(z) sign(z)".split()


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", BEYOND)
def test_parts_beyond_the_floats(text: str) -> None:
    """Values and gradients of both tiers, part by part, of numbers and of arrays."""
    z, w = np.repeat(SPECIAL, 3), np.resize([*NOT_FINITE, 0.5 + 0j, complex(1e200, -1e200)], 3 * len(SPECIAL))
    at = {"z": z, "w": w} if "w" in text else {"z": z}
    assert agree(text, at, None, "value", 1e-12) == ""
    for real in ("real", "imag") if text == "sign(z)" else ("real", "imag", "abs"):
        assert agree(f"sum({real}({text}))", at, None, "grad", 1e-12) == ""
    program = adiff.program(f"imag({text})")
    for k in range(5, len(z), 17):
        assert agree(program, {name: complex(x[k]) for name, x in at.items()}, None, "grad", 1e-12) == ""


# What C99 (Annex G), or a limit from every side, says of them.
LIMITS: list[tuple[str, complex, complex]] = [
    ("z**0.5", complex(INF, 0.0), complex(INF, 0.0)),
    ("z**0.5", complex(-INF, 1.0), complex(INF, INF)),
    ("z**0.5", complex(INF, np.nan), complex(INF, np.nan)),
    ("z**-1.5", complex(INF, -3.0), 0j),
    ("z**-1.5", complex(np.nan, INF), 0j),
    ("z**0.5", 5e-324 + 5e-324j, 2.442109726130712e-162 + 1.0115549693665858e-162j),
    ("z**0", complex(np.nan, INF), 1 + 0j),
    ("z**2.5", 0j, 0j),
    ("2 * z", complex(INF, 1.0), complex(INF, 2.0)),
    ("z / 2", complex(1.0, -INF), complex(0.5, -INF)),
    ("mean([z, 1j])", complex(INF, 1.0), complex(INF, 1.0)),
    ("sqrt(z)", complex(np.nan, INF), complex(INF, INF)),
    ("exp(z)", 710.0 + 0.5j * np.pi, complex(np.exp(709.0) * (np.e * np.cos(0.5 * np.pi)), INF)),
    ("arctanh(z)", complex(np.nan, INF), complex(0.0, 0.5 * np.pi)),
    ("arccos(z)", complex(0.0, np.nan), complex(0.5 * np.pi, np.nan)),
]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("text", "z", "expected"), LIMITS)
def test_limits(text: str, z: complex, expected: complex) -> None:
    program = adiff.program(text)
    for engine in ("tape", "kernel"):
        outcome = program.evaluate("value", {"z": z}, engine=engine)
        assert outcome.engine == engine
        np.testing.assert_allclose(outcome.value.real, expected.real, rtol=1e-13)
        np.testing.assert_allclose(outcome.value.imag, expected.imag, rtol=1e-13)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", ["z**2.5", "1 / z", "exp(z)", "log(z)", "sqrt(z)", "tanh(z)"])
def test_second_derivatives_beyond_the_floats(text: str) -> None:
    for real in ("real", "abs"):
        program = adiff.program(f"z = complex(x, y)\n{real}({text})")
        for z in NOT_FINITE:
            agree(program, {"x": z.real, "y": z.imag}, None, "hessian", 1e-9, 1.0)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_the_slope_of_abs_at_0_is_a_constant(engine: str) -> None:
    """As that of the sign of a real number: nothing that is infinite makes it nan."""
    for text, z in (("abs(sqrt(z))", 0j), ("abs(z**-1)", complex(0.0, INF))):
        outcome = adiff.program(text).evaluate("hessian", {"z": z}, engine=engine)
        assert outcome.engine == engine
        assert outcome.hessian["z"]["z"] == 0


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_mixed_second_derivatives_of_a_power_of_a_small_number(engine: str) -> None:
    at = {"x": 3e-301, "y": -4e-301, "u": 1.03, "v": 0.2}
    with mpmath.workdps(40):
        z, w = mpmath.mpc(at["x"], at["y"]), mpmath.mpc(at["u"], at["v"])
        slope = mpmath.exp((w - 1) * mpmath.log(z)) * (1 + w * mpmath.log(z)) * (0.7 - 0.4j)
        turned = [[slope, 1j * slope], [1j * slope, -slope]]
        expected = [[float(part.real) for part in row] for row in turned]
    text = "real(complex(x, y)**complex(u, v) * (0.7 - 0.4j))"
    outcome = adiff.program(text).evaluate("hessian", at, engine=engine)
    assert outcome.engine == engine
    np.testing.assert_allclose([[outcome.hessian[a][b] for b in "uv"] for a in "xy"], expected, rtol=1e-12)


ENDLESS = np.array([complex(INF, 1.0), 2 - 1j, 0.5j])
LARGE = np.array([[1e200, 1e200, 3.0], [1e200, -1e200, 2.0], [1.0, 2.0, 1e-200]])
# Products of matrices of which terms or elements are beyond the floats.
OVERFLOWING: list[tuple[str, dict[str, Any]]] = [
    ("z @ w", {"z": ENDLESS, "w": ROW}),
    ("m @ z", {"m": SQUARE, "z": ENDLESS}),
    ("z @ m", {"m": SQUARE, "z": ENDLESS}),
    ("m @ n", {"m": SQUARE, "n": SQUARE + np.diag([INF, 0.0, 0.0])}),
    ("einsum('i,ij->j', z, m)", {"m": SQUARE, "z": ENDLESS}),
    ("tensordot(m, z, 1)", {"m": SQUARE, "z": ENDLESS}),
    ("convolve(z, w)", {"z": ENDLESS, "w": ROW}),
    ("mean(z)", {"z": ENDLESS}),
    ("norm(z)", {"z": ENDLESS}),
    ("prod(z)", {"z": ENDLESS}),
    ("sum(z * w)", {"z": ENDLESS, "w": ROW}),
    ("m @ m", {"m": LARGE}),
    ("m @ m[1]", {"m": LARGE}),
    ("m[0] @ m[1]", {"m": LARGE}),
    ("einsum('ij,kj->ki', m, m)", {"m": LARGE}),
    ("convolve(m[0], m[1])", {"m": LARGE}),
    ("m @ m", {"m": LARGE * (1 + 1j)}),
    ("m[0] * m[1]", {"m": LARGE * (1 + 1j)}),
]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("text", "at"), OVERFLOWING)
def test_products_of_matrices_beyond_the_floats(text: str, at: dict[str, Any]) -> None:
    assert agree(text, at, None, "value") == ""
    for real in ("real",) if "norm" in text else ("real", "imag"):
        assert agree(f"sum({real}({text}))", at) == ""


@pytest.mark.usefixtures("interpret")
def test_an_infinite_part_stays_in_its_part() -> None:
    z, w = np.array([complex(INF, 1.0), 2 - 1j]), np.array([3 + 0j, 1j])
    for engine in ("tape", "kernel"):
        found = adiff.program("real(z @ w)").evaluate("grad", {"z": z, "w": w}, engine=engine).gradients
        np.testing.assert_array_equal(found["z"], np.conj(w))
        np.testing.assert_array_equal([found["w"].real, found["w"].imag], [z.real, -z.imag])


def test_the_last_of_two_terms_beyond_the_floats_does_not_remain() -> None:
    """inf - inf is nan, whatever a product that is fused with a sum makes of it."""
    for engine in ("tape", "kernel"):
        found = adiff.program("m @ n").evaluate("value", {"m": LARGE[:2, :2], "n": LARGE[:2, :2]}, engine=engine).value
        np.testing.assert_array_equal(found, [[INF, np.nan], [np.nan, INF]])


@pytest.mark.usefixtures("interpret")
def test_a_negative_base_of_a_complex_exponent() -> None:
    z = 0.3 - 0.2j
    slope = np.log(-2 + 0j) * (-2 + 0j) ** z
    for engine in ("tape", "kernel"):
        found = adiff.program("real((-2)**z)").evaluate("grad", {"z": z}, engine=engine).gradients["z"]
        assert found == pytest.approx(np.conj(slope), rel=1e-13)


def test_products_with_a_complex_vector_by_two_sweeps_back() -> None:
    """Where the sweep back decides: the Hessian of real(z*w) times v is conj of the other's v."""
    at, v = {"z": complex(-3.0, 2.0), "w": complex(INF, 1.0)}, 0.3 - 0.2j
    found = adiff.program("real(z * w)").evaluate("hvp", at, vector={"z": v, "w": 2 * v}, engine="tape").product
    assert found == {"z": np.conj(2 * v), "w": np.conj(v)}


@pytest.mark.usefixtures("interpret")
def test_parts_jump_by_themselves() -> None:
    for part, count in (("real", 0), ("imag", 1)):
        text = f"{part}(round(z))"
        assert agree(text, {"z": 1 + 0.5j}) == ""
        notices = adiff.program(text).evaluate("grad", {"z": 1 + 0.5j}, engine="tape").notices
        assert sum(n.code == "N0501" for n in notices) == count


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("name", "z"), [("atanh", -1 + 1e-6j), ("atanh", -1 + 1e-9j), ("atan", 1e-9 + 1j)])
def test_no_digits_are_lost_beside_the_branch_points(name: str, z: complex) -> None:
    import mpmath

    found = adiff.program(f"{name}(z)").evaluate("value", {"z": z}, engine="kernel").value
    truth = complex(getattr(mpmath, name)(mpmath.mpc(z)))
    assert abs(found.real - truth.real) <= 1e-15 * abs(truth.real)
    assert abs(found.imag - truth.imag) <= 1e-15 * abs(truth.imag)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("n", [2.0, -3.0, 1.0, 7.0, 99.0, -99.0, 100.0, 0.5])
def test_whole_exponents_that_are_inputs(n: float) -> None:
    """Products up to 99: where z is real, so is the power."""
    for z in (-1 + 0j, 0.3 - 1.2j, 1j, -0.5 + 0j):
        found = adiff.program("z**n").evaluate("value", {"z": z, "n": n}, engine="kernel").value
        assert found == pytest.approx(z**n, rel=1e-13)
        assert abs(n) >= 100 or n != int(n) or z.imag or found.imag == 0
        assert agree("real(z**n * (0.3 + 1j))", {"z": z, "n": n}) == ""
    assert agree("z**z", {"z": -1 + 0j}, None, "value") == ""


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", ["abs(complex(x, y))", "w = complex(x, y)\nabs(w * (1 + 2j))"])
def test_curvature_of_the_modulus(text: str) -> None:
    """0 at the kink, as that of a real number is; beside it, what hypot has."""
    factor = 1.0 if "w" not in text else np.sqrt(5.0)
    truth = np.array([[0.64, -0.48], [-0.48, 0.36]]) / 0.5 * factor
    for at, expected in (({"x": 0.0, "y": 0.0}, 0.0 * truth), ({"x": 0.3, "y": 0.4}, truth)):
        for engine in ("tape", "kernel"):
            outcome = adiff.program(text).evaluate("hessian", at, engine=engine)
            assert outcome.engine == engine
            found = [[outcome.hessian[a][b] for b in "xy"] for a in "xy"]
            np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-15)


@pytest.mark.usefixtures("interpret")
def test_tanh_at_the_ends_of_the_real_axis() -> None:
    """1 or -1 with a zero of NumPy's sign, whatever the imaginary part."""
    text = "t = tanh(z)\n[real(t), imag(t), copysign(1.0, imag(t))]"
    program = adiff.program(text)
    for x, y in itertools.product((np.inf, -np.inf), (np.inf, -np.inf, 0.0, -0.0, 0.5, -1.5, 2.0, -3.0)):
        expected = np.tanh(complex(x, y))
        found = program.evaluate("value", {"z": complex(x, y)}, engine="kernel")
        assert found.engine == "kernel"
        assert list(map(float, found.value)) == [expected.real, 0.0, np.copysign(1.0, expected.imag)]


def test_a_zero_gradient_by_a_complex_number_is_complex() -> None:
    for engine in ("tape", "kernel"):
        for command in ("grad", "vjp"):
            found = adiff.program("abs(abs(z))").evaluate(command, {"z": 0j}, engine=engine)
            z = (found.gradients or found.cotangents)["z"]
            assert z == 0j
            assert isinstance(z, complex), (engine, command)


HERMITIAN = SQUARE @ np.conj(SQUARE.T) + np.eye(3)
# Truths of complex matrices: gradients of real functions L as dL/dRe + i dL/dIm, by the closed forms of their derivatives.
MATRICES: list[tuple[str, Any]] = [
    ("real(det(m))", lambda m: np.conj(np.linalg.det(m) * np.linalg.inv(m).T)),
    ("slogdet(m)[1]", lambda m: np.conj(np.linalg.inv(m).T)),
    ("real(trace(inv(m)))", lambda m: -np.conj(np.linalg.inv(m).T @ np.linalg.inv(m).T)),
    ("sum(svdvals(m)**2)", lambda m: 2 * m),
    ("real(sum(eigvals(m)**2))", lambda m: 2 * np.conj(m.T)),
    ("sum(eigvalsh(m)**2)", lambda m: m + np.conj(m.T)),
    ("norm(cholesky(m))**2", lambda m: np.eye(len(m))),
    ("norm(qr(m)[1])**2", lambda m: 2 * m),
    (
        "real(prod(m[0]))",
        lambda m: np.conj([[m[0, 1] * m[0, 2], m[0, 0] * m[0, 2], m[0, 0] * m[0, 1]], [0] * 3, [0] * 3]),
    ),
]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("text", "gradient"), MATRICES, ids=[text for text, _ in MATRICES])
def test_matrices(text: str, gradient: Any) -> None:
    """Gradients by closed forms; the columns of Hessians by differences of gradients."""
    program = adiff.program(text)
    found = program.evaluate("hessian", {"m": HERMITIAN}, engine="kernel")
    assert found.engine == "kernel", found.reason
    assert np.allclose(found.gradients["m"], gradient(HERMITIAN), rtol=1e-11, atol=1e-11)
    step = 1e-6
    moved = HERMITIAN.copy()
    moved[0, 2] += step
    if "eigvalsh" in text or "cholesky" in text:
        return  # of the Hermitian part alone
    slope = (gradient(moved) - gradient(HERMITIAN)) / step
    assert np.allclose(found.hessian["m"]["m"][:, :, 0, 2], slope, rtol=1e-4, atol=1e-4 * np.abs(slope).max())


@pytest.mark.usefixtures("interpret")
def test_columns_of_hessians() -> None:
    """A column is the product with a unit vector, on both tiers, real inputs among complex ones."""
    text = "sum(real(z**3 * 1j * flip(conj(z)))) * x[0] * abs(w) + norm(z) * imag(w * z[1]) * x[1]"
    at = {"z": ROW, "x": np.array([0.4, -1.1]), "w": 0.3 + 0.2j}
    program = adiff.program(text)
    assert agree(text, at, None, "hessian", 1e-11) == ""
    blocks = program.evaluate("hessian", at, engine="tape").hessian
    for name, x in at.items():
        for place in range(np.size(x)):
            vector = {other: np.zeros_like(value) if np.ndim(value) else 0.0 for other, value in at.items()}
            if np.ndim(x):
                vector[name][place] = 1.0
            else:
                vector[name] = 1.0
            products = program.evaluate("hvp", at, vector=vector, engine="tape").product
            for row, block in blocks.items():
                column = np.asarray(block[name]).reshape(*np.shape(at[row]), -1)[..., place]
                assert np.allclose(products[row], column, rtol=1e-12, atol=1e-12)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("name", COMPLEX)
def test_directional_commands(name: str) -> None:
    """By complex inputs, at an ordinary point and on the axes, where the formulas of the values part."""
    call, real = calls(name)[0], as_real(name, calls(name)[0])
    tangents = {"z": 0.3 - 0.2j} | ({"w": 1.0 + 0.1j} if name in OF_TWO else {})
    for z in POINTS[:1] + ON_AXES:
        at = {"z": z} | ({"w": OTHER} if name in OF_TWO else {})
        found = [
            agree(call, at, None, "jvp", 1e-12, tangent=tangents),
            agree(real, at, None, "hvp", 1e-10, vector=tangents),
        ]
        assert found == ["", ""] or z in ON_AXES, found
