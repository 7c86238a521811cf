"""Derivatives of float32 values are float32, zeros and those by bare numbers too, on the tape as in a kernel."""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
import pytest

X, Y, Z = np.float32(2), np.float32(1), np.ones(2, np.float32)
CASES: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    ("x**2 + sum(z)", {"x": X, "z": Z}, "hessian", {}),
    ("sum(z) * x", {"x": 2.0, "z": Z}, "hessian", {}),
    ("sum(z) + x", {"x": 2.0, "z": Z}, "grad", {}),
    ("x + floor(y)", {"x": X, "y": Y}, "jvp", {"tangent": {"y": Y}}),
    ("x + stop_gradient(y)", {"x": X, "y": Y}, "jvp", {"tangent": {"y": Y}}),
    ("x + x * cast(1.0, float32)", {"x": 2.0}, "derivative", {"order": 3}),
]


def dtypes(x: Any) -> set[str]:
    if isinstance(x, dict):
        return {name for part in x.values() for name in dtypes(part)}
    if isinstance(x, list):
        return {name for part in x for name in dtypes(part)}
    return set() if x is None else {str(getattr(x, "dtype", type(x)))}


@pytest.mark.parametrize(("text", "at", "command", "options"), CASES)
def test_float32(text: str, at: dict[str, Any], command: str, options: dict[str, Any]) -> None:
    found = adiff.program(text).evaluate(command, at, engine="tape", **options)
    for part in ("gradients", "hessian", "tangent", "derivatives"):
        assert dtypes(getattr(found, part)) <= {"float32"}, part


def test_kernels_give_the_same() -> None:
    text, at, command, options = CASES[3]
    found = adiff.program(text).evaluate(command, at, engine="kernel", **options)
    assert (found.engine, str(found.tangent.dtype), found.tangent) == ("kernel", "float32", 0.0)
