"""Long gradients: zeros without a sign, and elements that are not finite, found by the kernel as the host would."""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine.kernels.built import LONG
from agreement import agree

LONG_ENOUGH = LONG + 8


def point(**changed: dict[int, float]) -> dict[str, Any]:
    at = {name: np.linspace(0.5, 1.5, LONG_ENOUGH) for name in "vw"}
    for name, elements in changed.items():
        for k, x in elements.items():
            at[name][k] = x
    return at


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(
    "text",
    [
        "sum(-v * w * 0.0)",
        "sum(v * where(w > 1.0, -0.0, 1.0))",
        "s = 0.0\nfor i in range(3):\n    s = s + v[i] * w[5] * -0.0\ns + sum(w)",
        "y = v * 1.0\nfor i in range(2):\n    y = y * w + 0.1 * concat([[0.0], y[:-1]], axis=0)\nsum(y)",
        "sum(v) * -0.0 + sum(w * w)",
    ],
)
def test_zeros_have_no_sign(text: str) -> None:
    assert agree(text, point(), ["v", "w"], "grad", tolerance=1e-13) == ""
    found = adiff.program(text).evaluate("grad", point(), ["v", "w"], engine="kernel")
    assert found.kernel is not None
    assert found.kernel.built.closed
    for g in [g for g in found.gradients.values() if g is not None]:
        assert not np.signbit(np.asarray(g)[np.asarray(g) == 0]).any()


def test_one_loop_makes_long_gradients_and_looks_at_them() -> None:
    """Nothing goes through them again: neither loop nor host."""
    run = adiff.program("sum((v**2 - w)**2)").repeated("grad", point(), ["v", "w"], engine="kernel")
    assert run(point()).emitted.count("for ") == 1
    for bad in (np.nan, np.inf):
        at = point(v={LONG_ENOUGH - 1: bad})
        again, once = run(at), adiff.program("sum((v**2 - w)**2)").evaluate("grad", at, ["v", "w"], engine="tape")
        assert [(n.code, n.message) for n in again.notices] == [(n.code, n.message) for n in once.notices]
        assert again.notices
        for name in "vw":
            np.testing.assert_array_equal(again.gradients[name], once.gradients[name])
    assert not run(point()).notices


@pytest.mark.usefixtures("interpret")
def test_short_gradients_are_the_hosts() -> None:
    at = {name: x[: LONG - 1] for name, x in point().items()}
    found = adiff.program("sum(v * w)").evaluate("grad", at, ["v", "w"], engine="kernel")
    assert found.kernel is not None
    assert not found.kernel.built.closed
