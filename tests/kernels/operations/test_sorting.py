"""Order on kernels, against NumPy's stable sorting: runs of every length, equal elements, nan, both directions, any axis."""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
import pytest
from agreement import agree


def elements(kind: str, shape: tuple[int, ...], seed: int) -> Any:
    """Many of them equal; of floats some are nan, infinite, or a zero with a sign."""
    drawn = np.random.default_rng(seed).integers(-3, 4, shape)
    if kind == "float":
        return np.choose(drawn + 3, [np.nan, -np.inf, -0.0, 0.0, 1.5, np.inf, 2.0])
    return drawn if kind == "int" else drawn > 0


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("kind", ["float", "int", "bool"])
@pytest.mark.parametrize("descending", [False, True])
def test_the_order_is_stable(kind: str, descending: bool) -> None:
    for n in (1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 33):
        x = elements(kind, (n,), n)
        program = adiff.program(f"argsort(x, descending={descending})")
        found = program.evaluate("value", {"x": x}, engine="kernel")
        assert found.engine == "kernel", found.reason
        order = n - 1 - np.argsort(x[::-1], kind="stable")[::-1] if descending else np.argsort(x, kind="stable")
        np.testing.assert_array_equal(found.value, order)
        sorted_values = adiff.program(f"sort(x, descending={descending})").value({"x": x}, engine="kernel")
        np.testing.assert_array_equal(sorted_values, x[order])
        if kind == "float":  # equal zeros of both signs: NumPy's falling values are its rising ones read backwards
            flipped = np.flip(np.sort(x, kind="stable")) if descending else np.sort(x, kind="stable")
            np.testing.assert_array_equal(np.signbit(sorted_values), np.signbit(flipped))


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("kinks", ["adiff", "jax"])
def test_zeros_of_both_signs(kinks: str) -> None:
    """What their reciprocals, and so the derivatives, show."""
    at = {"x": np.array([0.0, -2.0, -1.0, 0.0, -0.0]), "w": np.array([1.0, 2.0, 4.0, 8.0, 16.0])}
    text = "v = sort(x, descending=True)\nsum(v * w) + where(1.0 / v[0] < 0, 3.0, 5.0) * x[1]"
    tape, kernel = (adiff.program(text).evaluate("grad", at, engine=e, kinks=kinks) for e in ("tape", "kernel"))
    assert (kernel.engine, kernel.value) == ("kernel", tape.value)
    assert str(kernel.gradients) == str(tape.gradients)
    assert tape.gradients["x"][1] == 16.0 + 3.0


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_along_an_axis(axis: int) -> None:
    x = elements("float", (3, 5, 2), 7)
    found = adiff.program(f"argsort(x, axis={axis})").evaluate("value", {"x": x}, engine="kernel")
    assert found.engine == "kernel"
    np.testing.assert_array_equal(found.value, np.argsort(x, axis=axis, kind="stable"))


KEYS = [
    ("max(x, key=lambda v: -v)", [3.0, 1.0, 2.0], [0.0, 1.0, 0.0]),
    ("min(x, key=lambda v: (v - 2.4)**2)", [3.0, 1.0, 2.0], [0.0, 0.0, 1.0]),
    ("sum(max(x, key=lambda v: v[1]))", [[1.0, 9.0], [3.0, 4.0]], [[1.0, 1.0], [0.0, 0.0]]),
]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("text", "x", "gradient"), KEYS)
def test_the_item_of_a_tensor_with_the_largest_key(text: str, x: Any, gradient: Any) -> None:
    assert agree(text, {"x": x}) == ""
    _, found = adiff.program(text).value_and_gradient({"x": x}, engine="tape")
    np.testing.assert_array_equal(found["x"], gradient)


def test_machine_code() -> None:
    x = np.random.default_rng(3).integers(0, 400, 999) * 0.5
    for text in ("sum(sort(x) * sin(arange(999.0)))", "median(x) * sum(x)", "v, k = top_k(x, 20)\nsum(v * k)"):
        assert agree(text, {"x": x}) == ""
