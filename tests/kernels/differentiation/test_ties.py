"""Rows whose rule shares a cotangent among elements that are equal: a tangent is shared as well, whatever is chosen."""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
import pytest
from agreement import agree

pytestmark = pytest.mark.usefixtures("interpret")

W = np.array([1.0, 2.0, 4.0, 8.0])
DIRECTION = np.array([0.5, -1.0, 0.25, 2.0])
POINTS = {
    "all": np.zeros(4), "pairs": np.array([1.0, 2.0, 1.0, 2.0]), "signs of zero": np.array([0.0, -0.0, 0.0, 1.0]),
    "none": np.arange(4.0),
}  # fmt: skip
NUMBERS = [
    "sum(sort(v)**2 * w)",
    "median(v) * v[0]",
    "quantile(v, 0.4)**2 * v[0]",
    "sum(top_k(v, 2)[0] * v[:2])",
    "sort(v, direction='DESCENDING')[1] * v[2]",
    "sum(cummax(v)**2 * w)",
    "max(v)**2 * v[1]",
    "sum(amax(reshape(v, [2, 2]), 0)**2 * v[:2])",
    "sum(unsorted_segment_max(v, [0, 1, 0, 1], 2) * v[:2])",
    "s = v[1]\nfor i in range(2):\n    s = s * sum(sort(v)**2) + s\ns",
]
TENSORS = ["sort(v)", "sort(v) * w", "cummax(v)", "amax(reshape(v, [2, 2]), 1)"]


def both(text: str, v: Any, command: str, **options: Any) -> None:
    at = {"v": v, "w": W} if "w" in text else {"v": v}
    agree(text, at, ["v"], command, 1e-12, **options)


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("text", NUMBERS)
def test_second_derivatives(text: str, point: str) -> None:
    both(text, POINTS[point], "hessian")
    both(text, POINTS[point], "hvp", vector={"v": DIRECTION})


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("text", [*NUMBERS, *TENSORS])
def test_first_derivatives(text: str, point: str) -> None:
    both(text, POINTS[point], "grad")
    both(text, POINTS[point], "jvp", tangent={"v": DIRECTION})
    if text in TENSORS:
        for mode in ("forward", "reverse"):
            both(text, POINTS[point], "jacobian", mode=mode)


def test_the_hessian_of_shared_places() -> None:
    """At four equal elements sort passes their mean on: the Hessian of sort(v) @ v has twice 1/4 everywhere."""
    for engine in ("tape", "kernel"):
        found = adiff.program("sort(v) @ v").hessian({"v": np.ones(4)}, engine=engine)["v"]["v"]
        np.testing.assert_allclose(found, np.full((4, 4), 0.5), rtol=1e-15)


INSIDE = [
    "sum(jvp(lambda q: sort(q), (v,), (w,))[1] * w)",
    "sum(hessian(lambda q: sum(sort(q)**2 * w))(v) @ w)",
    "sum(jacobian(lambda q: sort(q) * q)(v) @ w)",
    "sum(grad(lambda q: sum(sort(q)**2 * w))(v) * w)",
    "sum(grad(lambda q: max(q)**2)(v) * w)",
    "with GradientTape() as t:\n    t.watch(v)\n    z = median(v) * v[0]\nsum(t.gradient(z, v) * w)",
]


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("text", INSIDE)
def test_derivatives_inside_programs(text: str, point: str) -> None:
    at = {"v": POINTS[point], "w": W}
    agree(text, at, None, "value", 1e-12)
    agree(text, at, ["v"], "grad", 1e-12)
    agree(text, at, ["v"], "jvp", 1e-12, tangent={"v": DIRECTION})


def test_nan_are_no_ties() -> None:
    """Elements that are nan are equal to none, and the cotangents of others that are equal do not differ."""
    agree("sum(sort(v) * v)", {"v": np.array([np.nan, 1.0, np.nan, -1.0])})
    agree("sum(sort(reshape(v, [2, 2]), axis=0)[0]**2 * v[:2])", {"v": np.array([np.nan, 0.0, np.nan, 0.0])})


def test_apart_from_ties_kernels_answer() -> None:
    for text in NUMBERS:
        at = {"v": POINTS["none"], "w": W} if "w" in text else {"v": POINTS["none"]}
        assert adiff.program(text).evaluate("hessian", at, ["v"], engine="kernel").engine == "kernel", text
