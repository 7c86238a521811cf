"""Numbers beyond the floats, and at their ends: both tiers say the same, and what is true."""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
import pytest
from agreement import agree

INF = float("inf")
# Programs, where they are evaluated, and their values and gradients.
GRADIENTS: dict[str, tuple[str, dict[str, Any], Any, dict[str, Any]]] = {
    "the ends of linspace": ("sum(linspace(a, b, 5)**3)", {"a": 1e200, "b": 2e200}, INF, {"a": INF, "b": INF}),
    "those of logspace": ("sum(logspace(a, b, 3))", {"a": 307.0, "b": 310.0}, INF, {"a": INF, "b": INF}),
    "one end alone": ("linspace(a, b, 3)[2]*k", {"a": 1.0, "b": 2.0, "k": INF}, INF, {"a": 0.0, "b": INF}),
    "the other": ("linspace(a, b, 3)[0]*k", {"a": 1.0, "b": 2.0, "k": INF}, INF, {"a": INF, "b": 0.0}),
}


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name: str) -> None:
    text, at, value, gradients = GRADIENTS[name]
    assert agree(text, at, list(gradients)) == ""
    found = adiff.program(text).evaluate("grad", at, list(gradients), engine="kernel")
    np.testing.assert_allclose(found.value, value, rtol=1e-15)
    for source, g in gradients.items():
        np.testing.assert_allclose(found.gradients[source], g, rtol=1e-15)
