"""Sums and slopes of samples, and losses, against NumPy and closed forms."""

import math
from typing import Any

import numpy as np
import pytest
from adiff import AdiffError, program

GAPS = np.array([[1.0, np.nan, 2.0], [np.nan, 4.0, 9.0]])
RNG = np.random.default_rng(5)
SAMPLES = RNG.normal(size=7)
GRID = RNG.normal(size=(4, 5))


def value(text: str, **at: Any) -> Any:
    return program(text).value(at)


def gradient(text: str, **at: Any) -> Any:
    return program(text).value_and_gradient(at, engine="tape")[1]["x"]


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_sums_that_skip_nan(axis: int | None) -> None:
    np.testing.assert_allclose(value(f"np.nansum(x, axis={axis})", x=GAPS), np.nansum(GAPS, axis=axis), rtol=1e-15)
    np.testing.assert_allclose(value(f"nanmean(x, axis={axis})", x=GAPS), np.nanmean(GAPS, axis=axis), rtol=1e-15)


def test_exact_sums() -> None:
    assert value("math.fsum([0.1]*10)") == 1.0
    assert gradient("fsum(x**2)", x=[1.0, 2.0]).tolist() == [2.0, 4.0]


def test_slopes_as_numpy() -> None:
    np.testing.assert_allclose(value("np.gradient(x, 0.25)", x=SAMPLES), np.gradient(SAMPLES, 0.25), rtol=1e-14)
    for found, expected in zip(value("np.gradient(x)", x=GRID), np.gradient(GRID), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-14)
    np.testing.assert_allclose(value("np.gradient(x, axis=1)", x=GRID), np.gradient(GRID, axis=1), rtol=1e-14)
    with pytest.raises(AdiffError, match="two samples"):
        value("np.gradient([1.0])")


def test_polynomials_that_fit() -> None:
    x = np.linspace(100.0, 101.0, 9)
    y = RNG.normal(size=9)
    np.testing.assert_allclose(value("polyfit(x, y, 2)", x=x, y=y), np.polyfit(x, y, 2), rtol=1e-6)
    assert value("polyfit([0, 1, 2], [1, 3, 5], 1)").tolist() == pytest.approx([2.0, 1.0], rel=1e-14)


@pytest.mark.parametrize(
    "blocks",
    ["[[a, b], [c, d]]", "[a, b]", "[[a], [c]]", "[1.0, v]", "a"],
)
def test_blocks(blocks: str) -> None:
    parts = {"a": GRID[:2, :2], "b": GRID[:2, 2:], "c": GRID[2:, :2], "d": GRID[2:, 2:], "v": SAMPLES}
    used = {name: part for name, part in parts.items() if name in blocks}
    np.testing.assert_array_equal(value(f"np.block({blocks})", **used), np.block(eval(blocks, {}, parts)))


def test_lengths() -> None:
    assert value("math.hypot(2, 3, 6)") == 7.0
    assert value("math.dist([1, 2], [4, 6])") == 5.0
    assert value("prod(range(1, 6))") == 120
    assert value("np.mean(range(4))") == 1.5
    assert value("tf.add_n([x, x, x])", x=2.0) == 6.0
    with pytest.raises(AdiffError, match="one shape"):
        value("add_n([ones(2), ones(3)])")


# --- losses ---------------------------------------------------------------------------------------------------------


def test_sigmoid_cross_entropy() -> None:
    labels, logits = np.array([1.0, 0.0, 0.3]), np.array([2.0, -1.0, 0.5])
    p = 1 / (1 + np.exp(-logits))
    text = "tf.nn.sigmoid_cross_entropy_with_logits(labels=z, logits=x)"
    expected = -labels * np.log(p) - (1 - labels) * np.log(1 - p)
    np.testing.assert_allclose(value(text, z=labels, x=logits), expected, rtol=1e-14)
    np.testing.assert_allclose(gradient(f"sum({text})", z=labels, x=logits), p - labels, rtol=1e-14)
    # Where the textbook form has lost everything, or overflows.
    assert value(text, z=1.0, x=50.0) == pytest.approx(math.exp(-50.0), rel=1e-14)
    assert value(text, z=0.0, x=1000.0) == 1000.0


def test_softmax_cross_entropy() -> None:
    labels, logits = np.array([[0.2, 0.8], [1.0, 0.0]]), np.array([[1.0, 3.0], [-2.0, 0.5]])
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    text = "tf.nn.softmax_cross_entropy_with_logits(labels=z, logits=x)"
    np.testing.assert_allclose(value(text, z=labels, x=logits), -(labels * np.log(p)).sum(axis=1), rtol=1e-14)
    np.testing.assert_allclose(gradient(f"sum({text})", z=labels, x=logits), p - labels, rtol=1e-13)
    sparse = "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 0], logits=x)"
    np.testing.assert_allclose(value(sparse, x=logits), -np.log(p)[[0, 1], [1, 0]], rtol=1e-14)
    np.testing.assert_allclose(gradient(f"sum({sparse})", x=logits), p - np.eye(2)[[1, 0]], rtol=1e-13)
    with pytest.raises(AdiffError, match="do not fit"):
        value("sparse_softmax_cross_entropy_with_logits([0], ones((2, 3)))")
