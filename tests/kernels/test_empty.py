"""Inputs without elements: no statement reads them, and the tape follows them like others."""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
import pytest
from agreement import agree

pytestmark = pytest.mark.usefixtures("interpret")

SHAPES = [(0,), (0, 3), (2, 0)]
NUMBERS = [
    "abs(x) * sum(abs(v))",
    "sum(v) * x",
    "len(v) * x",
    "x * x + sum(v)",
    "sum(v) * x if x > 2 else x",
    "s = x\nfor i in range(3):\n    s = s + sum(v) * y\ns",
    "s = x\nfor i in range(0):\n    s = s + sum(v) * y\ns",
    "sum(stop_gradient(v)) * x",
    "w = v * x\nx * y",
    "sum(v * x)",
    "w = sin(v)\nsum(w * x)",
]
TENSORS = ["v * x", "v", "[v, x]", "{'a': v * x, 'b': x}", "stack([x, y])[:0] * x", "concat([reshape(v, [0]), [x]])"]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("text", [*NUMBERS, *TENSORS])
def test_every_command(text: str, shape: tuple[int, ...]) -> None:
    inputs = adiff.program(text).inputs
    at = {name: value for name, value in {"v": np.zeros(shape), "x": 0.7, "y": -0.3}.items() if name in inputs}
    directions: dict[str, Any] = {name: np.full(shape, 0.5) if name == "v" else 0.5 for name in at}
    commands: list[tuple[str, dict[str, Any]]] = [("grad", {}), ("vjp", {}), ("jvp", {"tangent": directions})]
    if text in NUMBERS:
        commands += [("hessian", {}), ("hvp", {"vector": directions})]
    elif text[0] not in "[{":
        commands += [("jacobian", {"mode": mode}) for mode in ("auto", "forward", "reverse")]
    for command, options in commands:
        agree(text, at, None, command, **options)


def test_a_source_without_elements_is_connected_or_not() -> None:
    for engine in ("tape", "kernel"):
        for text, connected in (("sum(v) * x", True), ("len(v) * x", False)):
            found = adiff.program(text).evaluate("grad", {"v": np.zeros((0, 3)), "x": 0.7}, engine=engine).gradients
            assert (found["v"] is not None) is connected
            assert not connected or found["v"].shape == (0, 3)


def test_a_kernel_gives_the_hessian_beside_it() -> None:
    outcome = adiff.program("x**3 + sum(v)").evaluate("hessian", {"v": np.zeros(0), "x": 2.0}, engine="kernel")
    assert outcome.engine == "kernel"
    assert outcome.hessian["x"]["x"] == 12.0
    assert outcome.hessian["x"]["v"].shape == (0,)
    assert outcome.hessian["v"]["v"].shape == (0, 0)
