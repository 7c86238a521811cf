"""Functions of many numbers: what loops on vectors call, held to exact values, to the C library and to other machines."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from adiff.engine.kernels.compilation import llvm_module, llvm_vectors, native
from adiff.engine.kernels.compilation.llvm_many import MANY, OPERANDS
from adiff.engine.kernels.compilation.llvm_turning import FAR
from adiff.engine.kernels.emitted import Emitted
from adiff.engine.kernels.machine import code
from adiff.engine.ops import special_scalar
from llvmlite import binding

COUNT = 400
# The ranges of the operands, the greatest error in units in the last place, and the function itself.
FUNCTIONS: dict[str, tuple[list[tuple[float, float]], float, Callable[..., Any]]] = {
    "math.exp": ([(-1, 1), (-700, 709)], 0.7, mpmath.exp),
    "math.log": ([(0.5, 2), (0.98, 1.02), (1e-3, 1e3), (1e300, 1e308), (1e-312, 1e-308)], 1.0, mpmath.log),
    "math.log1p": ([(-0.999, 1), (-1e-5, 1e-5), (1, 1e6)], 1.3, mpmath.log1p),
    "math.expm1": ([(-1, 1), (-1e-5, 1e-5), (-40, 40), (40, 709)], 1.1, mpmath.expm1),
    "math.tanh": ([(-1, 1), (-1e-5, 1e-5), (-30, 30)], 3.5, mpmath.tanh),
    "math.erf": ([(0, 1), (-6, 0), (1e-9, 1e-3)], 2.0, mpmath.erf),
    "math.erfc": ([(-6, 0), (0, 1), (0, 6), (6, 26)], 4.0, mpmath.erfc),
    "ndtr": ([(-37, -8), (-8, -1), (-1, 1), (1, 9)], 4.0, mpmath.ncdf),
    "math.atan": ([(-1, 1), (-10, 10), (-1e6, 1e6)], 1.0, mpmath.atan),
    "math.asin": ([(-1, 1), (-1e-5, 1e-5), (0.99, 1)], 1.3, mpmath.asin),
    "math.acos": ([(-1, 1), (-1e-5, 1e-5), (0.99, 1)], 1.0, mpmath.acos),
    "math.sin": ([(-1, 1), (-10, 10), (-1e6, 1e6), (-1e12, 1e12)], 0.9, mpmath.sin),
    "math.cos": ([(-1, 1), (-10, 10), (-1e6, 1e6), (-1e12, 1e12)], 0.9, mpmath.cos),
    "math.tan": ([(-1, 1), (-10, 10), (-1e6, 1e6), (-1e12, 1e12)], 2.0, mpmath.tan),
    "math.pow": ([(0.01, 3), (0.5, 1.5)], 0.7, lambda x, y: mpmath.power(x, y)),
    "math.hypot": ([(-3, 3), (-1e300, 1e300), (-1e-300, 1e-300)], 1.1, mpmath.hypot),
}
EDGES = [
    0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 0.5, -0.5, 2.5, -2.5, math.inf, -math.inf, math.nan, 5e-324, -5e-324, 1e-310,
    1e308, -1e308, 1.7976931348623157e308, 1e-17, 710.0, -746.0, 1e200, -1e200, 2.0**53, -(2.0**60), 40.5, -40.5, 28.5,
]  # fmt: skip
NUMPY = {
    "math.exp": np.exp, "math.log": np.log, "math.log1p": np.log1p, "math.expm1": np.expm1, "math.tanh": np.tanh,
    "math.atan": np.arctan, "math.asin": np.arcsin, "math.acos": np.arccos, "math.pow": np.power, "math.hypot": np.hypot,
    "math.erf": np.vectorize(math.erf), "math.erfc": np.vectorize(math.erfc), "ndtr": np.vectorize(special_scalar.ndtr),
    "math.sin": np.sin, "math.cos": np.cos, "math.tan": np.tan,
}  # fmt: skip


def kernel(call: str, n: int, parameters: str = "x, y") -> str:
    return f"def kernel(run, {parameters}):\n    for i in range({n}):\n        y[i] = {call}\n    return (0,)\n"


def run(text: str, *arrays: np.ndarray) -> None:
    emitted = Emitted(text, "F" * len(arrays), ["i"], 0)
    code.Entry(emitted, native.compiled(emitted))(*arrays)


def many(name: str, *operands: np.ndarray) -> np.ndarray:
    """A function of arrays, in a loop."""
    found = np.empty_like(operands[0])
    listed = ", ".join(f"{letter}[i]" for letter in "xz"[: len(operands)])
    run(kernel(f"{name}({listed})", len(found), ", ".join([*"xz"[: len(operands)], "y"])), *operands, found)
    return found


def optimised(text: str, parameters: str) -> str:
    found, _ = llvm_module.module_text(Emitted(text, parameters, ["i"], 0))
    module = binding.parse_assembly(found)
    native.optimise(module, native.target_machine(), True)
    return str(module)


def test_every_function_is_tested() -> None:
    assert FUNCTIONS.keys() == MANY.keys() == NUMPY.keys()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_errors_are_of_the_last_place(name: str) -> None:
    ranges, most, exact = FUNCTIONS[name]
    draw = np.random.default_rng(7)
    operands = [np.concatenate([draw.uniform(a, b, COUNT) for a, b in ranges]) for _ in OPERANDS.get(name, "x")]
    found = many(name, *operands)
    with mpmath.workprec(160):
        for *given, y in zip(*(x.tolist() for x in operands), found.tolist()):
            wanted = exact(*map(mpmath.mpf, given))
            error = abs(y - wanted) / np.spacing(abs(float(wanted)))
            assert error <= most, (name, given, y, float(error))


def test_powers_near_the_largest_and_the_least_float64() -> None:
    draw = np.random.default_rng(11)
    x = np.exp(draw.uniform(-5, 5, 3 * COUNT))
    y = draw.choice([-1.0, 1.0], 3 * COUNT) * draw.uniform(600, 760, 3 * COUNT) / np.log(x)
    found = many("math.pow", x, y)
    with mpmath.workprec(160):
        for a, b, z in zip(x.tolist(), y.tolist(), found.tolist()):
            exact = mpmath.power(a, b)
            assert z == float(exact) or abs(z - exact) <= 0.7 * np.spacing(float(exact)), (a, b, z)


def test_powers_that_are_integers_are_exact() -> None:
    pairs = [(x, y) for x in range(1, 200) for y in range(12) if x**y <= 2**53] + [(k * k, 0.5) for k in range(1, 2000)]
    x, y = (np.array(z, float) for z in zip(*pairs))
    wanted = [float(a**b) if isinstance(b, int) else float(round(a**0.5)) for a, b in pairs]
    np.testing.assert_array_equal(many("math.pow", x, y), wanted)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_edges_are_the_c_library_s(name: str) -> None:
    """Infinities, nan, signed zeros, and numbers beyond which a function is 0 or infinite."""
    edges = np.array(EDGES)
    if name in ("math.sin", "math.cos", "math.tan"):
        edges = edges[~(np.abs(edges) > FAR)]
    operands = [edges] if name not in OPERANDS else [x.ravel() for x in np.meshgrid(edges, edges)]
    with np.errstate(all="ignore"):
        wanted = NUMPY[name](*operands)
    found = many(name, *operands)
    close = (np.isnan(wanted) & np.isnan(found)) | (found == wanted)
    with np.errstate(invalid="ignore", over="ignore"):
        close |= np.abs(found - wanted) <= 4 * np.spacing(np.abs(wanted))
    wrong = ~close | ((np.signbit(found) != np.signbit(wanted)) & ~np.isnan(wanted))
    assert not wrong.any(), [(*given,) for given in zip(*(x[wrong] for x in operands), found[wrong], wanted[wrong])]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_they_are_computed_on_vectors(name: str) -> None:
    operands = OPERANDS.get(name, ("x",))
    listed = ", ".join("xz"[: len(operands)])
    text = kernel(f"{name}({', '.join(f'{letter}[i]' for letter in listed.split(', '))})", 1000, f"{listed}, y")
    assert re.search(r"<\d+ x double> @llvm\.fm", optimised(text, "F" * (len(operands) + 1)))


@pytest.mark.parametrize("place", [0, 17, 999])
def test_angles_too_far_for_them_are_the_c_library_s(place: int) -> None:
    """The loop is run again, and what it had from before is as it was."""
    x = np.linspace(-10.0, 10.0, 1000)
    x[place] = 1e22
    text = (
        "def kernel(run, x, y, total):\n    s = 3.0\n    for i in range(1000):\n"
        "        y[i] = math.sin(x[i]) + math.cos(x[i])\n        s += math.tan(x[i])\n    total[0] = s\n    return (0,)\n"
    )
    y, total = np.empty_like(x), np.empty(1)
    run(text, x, y, total)
    wanted = [math.sin(a) + math.cos(a) for a in x.tolist()]
    np.testing.assert_allclose(y, wanted, rtol=1e-15, atol=2e-16)
    assert y[place] == wanted[place]
    np.testing.assert_allclose(total[0], 3.0 + sum(map(math.tan, x.tolist())), rtol=1e-12)


@pytest.mark.parametrize(
    "body", ["y[i] += math.sin(x[i])", "y[i] = y[i] + math.sin(x[i])", "y[i] = math.sin(y[i]) * x[i]"]
)
def test_loops_that_change_what_they_read_are_run_once(body: str) -> None:
    text = f"def kernel(run, x, y):\n    for i in range(1000):\n        {body}\n    return (0,)\n"
    x, y = np.linspace(1e20, 2e20, 1000), np.linspace(1.0, 2.0, 1000)
    wanted = y.tolist()
    for i in range(1000):
        own: dict[str, Any] = {"x": x.tolist(), "y": wanted, "i": i, "math": math}
        exec(body, own)
    run(text, x, y)
    np.testing.assert_allclose(y, wanted, rtol=1e-15)


def test_processors_without_a_fused_product_call_the_c_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llvm_vectors, "AT_HAND", [])
    monkeypatch.setattr(binding, "get_default_triple", lambda: "x86_64-unknown-linux-gnu")
    monkeypatch.setattr(binding, "get_host_cpu_features", dict)
    assert "sin_of_many" not in llvm_module.module_text(Emitted(kernel("math.sin(x[i])", 1000), "FF", ["i"], 0))[0]
    assert "exp_of_many" in llvm_module.module_text(Emitted(kernel("math.exp(x[i])", 1000), "FF", ["i"], 0))[0]


@pytest.mark.parametrize(
    ("body", "vectors"),
    [
        (["s += math.sin(x[i])"], True),
        (["t = s + math.sin(x[i])", "s = t"], True),
        (["s -= math.exp(x[i])", "y[i] = x[i]"], True),
        (["s += _double(_single(math.sin(x[i])))"], True),
        (["s = math.sin(s)"], False),
        (["s = 0.5 * s + math.exp(x[i])"], False),
        (["s += math.exp(x[i])", "y[i] = s"], False),
    ],
)
def test_iterations_that_wait_for_each_other_call_the_c_library(body: list[str], vectors: bool) -> None:
    lines = "".join(f"        {line}\n" for line in body)
    text = f"def kernel(run, x, y):\n    s = 0.5\n    for i in range(1000):\n{lines}    return (s,)\n"
    written, _ = llvm_module.module_text(Emitted(text, "FF", ["f"], 0))
    assert ("_of_many" in written) == vectors
