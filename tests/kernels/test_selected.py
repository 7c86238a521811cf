"""Parts of tensors whose length data decides, in kernels: masks, slices and partitions, reduced over their rows."""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
import pytest
from agreement import agree

POINT: dict[str, Any] = {
    "x": np.array([1.0, -2.0, 3.0, 0.5]), "A": np.array([[1.0, -2.0], [-3.0, 1.0], [0.5, 4.0]]), "y": 1.5,
    "c": np.array([[1.0, 1.0], [0.0, 3.0]]),
}  # fmt: skip

PROGRAMS = {
    "mask": "sum(x[x > 0])",
    "function of a part": "sum(log(x[x > 0]) * y)",
    "mean": "mean(x[x > 0]**2)",
    "length": "p = x[x > 0]\nsum(p*p) + len(p)*y",
    "methods": "p = x[x > 0]\np.sum() + p.mean() + p.size",
    "largest": "max(x[x < 2]) + min(x[x > -1])*y",
    "product": "prod(x[x > 0])",
    "boolean_mask": "sum(boolean_mask(x, x > 0)**2)",
    "two parts by one mask": "m = x > 0\nsum(x[m] * exp(x[m]) / y)",
    "dot": "m = x > 0\ndot(x[m], x[m])",
    "mask of a matrix": "sum(A[A > 0]**2)",
    "rows of a matrix": "sum(A[A[:, 0] > 0], axis=0)[1]**2",
    "rows times a vector": "sum(A[A[:, 0] > 0] * x[:2])",
    "slice": "s = 0.0\nfor i in range(4):\n    s += sum(x[:i]) * x[i]\ns",
    "slice to the end": "s = 0.0\nfor i in range(70):\n    s += sum(x[i % 4:]) * 0.1\ns",
    "slice from the end": "s = 0.0\nfor i in range(70):\n    s += sum(x[-(i % 5):]) * 0.1\ns",
    "slices of one length": "s = 0.0\nfor i in range(70):\n    s += dot(x[:i % 6], x[:i % 6]) * 0.1\ns",
    "update": "z = x*y\nz[z > 1] = y\nsum(z*z)",
    "update of a part": "z = x*y\nz[z > 1] *= 2*y\nsum(z*z)",
    "update in a loop": "z = x*y\nfor i in range(70):\n    m = z > 0.1*i\n    z[m] = z[m] * 0.9\nsum(z*z)",
    "partition": (
        "near = argmin(sum((A[:, newaxis, :] - c)**2, axis=2), axis=1)\n"
        "n = stack([mean(p, axis=0) for p in dynamic_partition(A, near, 2)])\nsum(n*n)"
    ),
    "in a branch": "s = y\nif y > 1:\n    s = y*sum(x[x > 0])\ns*s",
}
LEFT = {
    "std(x[x > 0])": "std of a part of a tensor",
    "sum(x[x > 0] + x[x < 2])": "selects in several ways",
    "x[x > 0]": "",
    "mean(x[x > 5])": "",
    "sum(sort(x[x > 0])*x[0])": "of a part of a tensor",
}


def evaluated(text: str, command: str = "grad") -> str:
    tolerance = 1e-11 if command == "hessian" else 1e-13
    at = {name: POINT[name] for name in adiff.program(text).inputs}
    return agree(text, at, [name for name in at if name != "c"], command, tolerance)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("command", ["grad", "hessian"])
@pytest.mark.parametrize("text", PROGRAMS.values(), ids=list(PROGRAMS))
def test_part(text: str, command: str) -> None:
    assert evaluated(text, command) == ""


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", LEFT)
def test_left_to_the_tape(text: str) -> None:
    reason = evaluated(text)
    assert reason != ""
    assert LEFT[text] in reason


def test_compiled() -> None:
    text = "s = 0.0\nfor i in range(60):\n    s += sum(log(x[x > 0.1*i])) + sum(x[:i % 4])\ns"
    x = np.array([0.45, 3.0, 5.75, 0.5])
    found = adiff.program(text).evaluate("grad", {"x": x}, engine="kernel")
    assert found.engine == "kernel"
    thresholds = 0.1 * np.arange(60)
    passed = (x[None, :] > thresholds[:, None]).sum(axis=0)
    prefixes = (np.arange(4)[None, :] < np.arange(60)[:, None] % 4).sum(axis=0)
    assert np.allclose(found.gradients["x"], passed / x + prefixes, rtol=1e-13)
    assert np.isclose(found.value, (passed * np.log(x)).sum() + (prefixes * x).sum(), rtol=1e-13)
