"""Loops that take the widest vectors: which, and that they compute what they did."""

from __future__ import annotations

import math
import re
import textwrap

import numpy as np
import pytest
from adiff.engine.kernels.compilation import llvm_module, native
from adiff.engine.kernels.emitted import Emitted
from adiff.engine.kernels.machine import code
from adiff.engine.kernels.source.helpers import helpers
from interpreted import identity
from llvmlite import binding

LONG = 1003
# The body of a loop over i, from 3 to n - 3: of arrays x, y of n floats and t of integers, of numbers a (a float), m (an
# integer) and s, p, q, n1.
TAKEN = {
    "a map": "y[i] = a * x[i] + x[i + 1]",
    "neighbours on both sides": "j = i + -1\ny[j] = x[i - 3] - x[j + 2] * y[j]",
    "sums into places": "y[i] += x[i] / a",
    "strong products": "y[i] = _strong(x[i], a)",
    "elements handed on": "v = x[i] * a\ny[i] = p + q * v\np, q = v, p",
    "one after the other": "v = x[i] * a\ny[i] = p + v\np = v",
    "a count": "y[i] = x[i] + 0.0\nn1 += (x[i] - x[i]) != 0.0",
    "a row": "y[i] = x[m * 2 - m + i] * a",
    "the same for all": "y[i] = x[m] * x[i]",
}
LEFT = {
    "a sum": "y[i] = x[i] * a\ns += x[i]",
    "a sum as one would write it": "y[i] = x[i] * a\ns = s + x[i]",
    "a sum by way of another": "v = s + x[i]\ny[i] = v\ns = v",
    "a sum two iterations ago": "v = q + x[i]\ny[i] = v\np, q = v, p",
    "a product": "y[i] = x[i] * a\ns *= x[i]",
    "every other": "y[i] = x[i // 2] * a",
    "two at a time": "y[i] = x[i + i] * a",
    "backwards": f"y[i] = x[{LONG} - i] * a",
    "where integers say": "y[i] = x[t[i]] * a",
    "integers": "y[i] = t[i] * a",
    "moves alone": "y[i] = x[i]",
    "nothing stored": "n1 += x[i] + a > 0.0",
    "branches": "if x[i] > 0.0:\n    y[i] = x[i] * a",
    "a value of the iteration before as a place": "y[i] = x[j] * a\nj = i",
    "a library's function": "y[i] = math.sin(x[i]) * a",
}  # fmt: skip


def source(body: str, over: str = f"3, {LONG - 3}") -> str:
    return (
        "def kernel(run, x, y, t, a, m):\n    s = 0.5\n    p = 1.5\n    q = 2.5\n    n1 = 0\n    j = 3\n    v = 0.0\n"
        f"    for i in range({over}):\n{textwrap.indent(body, ' ' * 8)}\n    return s, p, q, n1, v\n"
    )


def emitted_of(text: str) -> Emitted:
    return Emitted(text, "FFIfi", ["f", "f", "f", "i", "f"], 0)


def notes(text: str) -> list[str]:
    """What LLVM is told of the loops of a kernel for a machine with wide vectors."""
    written, _ = llvm_module.module_text(emitted_of(text), wide_vectors=True)
    assert ('"min-legal-vector-width"="512"' in written) == ("!llvm.loop !10" in written)
    return re.findall(r"!llvm\.loop (!\d+)", written)


@pytest.mark.parametrize("name", TAKEN)
def test_loops_that_take_wide_vectors(name: str) -> None:
    assert notes(source(TAKEN[name])) == ["!10"]


@pytest.mark.parametrize("name", LEFT)
def test_loops_that_do_not(name: str) -> None:
    assert notes(source(LEFT[name])) == ["!6"]


@pytest.mark.parametrize("over", ["40", "3, 100", "m", "3, m", f"{LONG - 5}, 3, -1"])
def test_short_loops_and_loops_of_lengths_that_nobody_knows_do_not(over: str) -> None:
    assert notes(source("y[i] = a * x[i] + x[i + 1]", over)) == ["!6"]


def test_a_machine_without_them() -> None:
    written, _ = llvm_module.module_text(emitted_of(source(TAKEN["a map"])))
    assert re.findall(r"!llvm\.loop (!\d+)", written) == ["!6"]
    assert "min-legal" not in written


def test_they_are_wide() -> None:
    if not native.wide_vectors():
        pytest.skip("a machine without vectors of 512 bits")
    written, _ = llvm_module.module_text(emitted_of(source(TAKEN["elements handed on"])), wide_vectors=True)
    module = binding.parse_assembly(written)
    native.optimise(module, native.target_machine(), True)
    assert re.search(r"store <8 x double>", str(module))
    assert "zmm" in native.target_machine().emit_assembly(module)


@pytest.mark.parametrize("name", [*TAKEN, *LEFT])
def test_the_numbers_are_those_of_python(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = source({**TAKEN, **LEFT}[name])
    emitted = emitted_of(text)
    generator = np.random.default_rng(5)
    x, y = generator.normal(size=(2, 2 * LONG))
    x[::7] = 0.0
    t = generator.integers(0, LONG, LONG)
    expected = y.copy()
    namespace = {**helpers(identity), "math": math}
    exec(text, namespace)
    wanted = namespace["kernel"](None, x, expected, t, 0.3, 2)
    for wide in (False, True):
        monkeypatch.setattr(native, "wide_vectors", lambda wide=wide: wide)
        found = y.copy()
        results = code.Entry(emitted, native.compiled(emitted))(x, found, t, 0.3, 2)
        assert results == wanted
        np.testing.assert_array_equal(found, expected)
