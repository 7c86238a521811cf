"""Element writes change a tensor in place only where nobody could see it."""

from __future__ import annotations

import time

import adiff
import numpy as np
import pytest

CASES = {
    "one variable": ("y = zeros(3)\ny[0] = 5.0\ny[1] = 1.0\nsum(y)", 6.0),
    "an alias keeps the old value": ("y = zeros(3)\nz = y\ny[0] = 5.0\ny[1] = 1.0\n[sum(y), sum(z)]", [6.0, 0.0]),
    "a list keeps the old value": (
        "y = zeros(3)\nl = [y]\ny[0] = 5.0\ny[1] = 1.0\nl.append(y)\ny[2] = 7.0\n[sum(y), sum(l[0]), sum(l[1])]",
        [13.0, 0.0, 6.0],
    ),
    "a caller keeps its own": (
        "def f(v):\n    v[0] = 9.0\n    v[1] = 2.0\n    return sum(v)\ny = zeros(3)\ny[1] = 1.0\na = f(y)\n[a, sum(y)]",
        [11.0, 1.0],
    ),
    "a closure sees the update": ("y = zeros(2)\ng = lambda: sum(y)\ny[0] = 3.0\ny[1] = 4.0\ng()", 7.0),
}


@pytest.mark.parametrize(("text", "wanted"), CASES.values(), ids=CASES)
def test_values(text: str, wanted: object) -> None:
    assert np.array_equal(adiff.program(text).value(engine="tape"), wanted)


def test_an_array_of_the_caller_is_never_written() -> None:
    mine = np.arange(3.0)
    assert adiff.program("y[0] = 5.0\ny[1] = 7.0\nsum(y)").value({"y": mine}, engine="tape") == 14.0
    assert mine.tolist() == [0.0, 1.0, 2.0]


def test_writes_on_a_tape_keep_what_it_recorded() -> None:
    program = adiff.program("y = x*ones(3)\ns = sum(y*y)\ny[0] = 2.0\ny[1] = x**3\ns + sum(y*y)")
    # 3 x^2, then 4 + x^6 + x^2
    value, gradient = program.value_and_gradient({"x": 2.0}, engine="tape")
    assert value == pytest.approx(12 + 4 + 64 + 4)
    assert gradient["x"] == pytest.approx(6 * 2 + 6 * 32 + 2 * 2)


def test_a_loop_of_writes_is_linear() -> None:
    program = adiff.program("y = zeros(n)\nfor i in range(n):\n    y[i] = x*i\nsum(y)")

    def seconds(n: int) -> float:
        start = time.process_time()
        program.value({"x": 2.0, "n": n}, engine="tape")
        return time.process_time() - start

    seconds(100)
    # Copies of a megabyte for each of 100,000 writes would take many seconds.
    assert seconds(100_000) < 5.0
