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


def at_points(text: str, command: str, **options: Any) -> None:
    """At every point the tiers agree, and a kernel gave the answer, unless it is one without a derivative."""
    program = adiff.program(text)
    for name, v in POINTS.items():
        at = {"v": v, "w": W} if "w" in text else {"v": v}
        assert agree(program, at, ["v"], command, 1e-12, **options) == "", (text, name)


@pytest.mark.parametrize("text", NUMBERS)
def test_second_derivatives(text: str) -> None:
    at_points(text, "hessian")
    at_points(text, "hvp", vector={"v": DIRECTION})


@pytest.mark.parametrize("text", [*NUMBERS, *TENSORS])
def test_first_derivatives(text: str) -> None:
    at_points(text, "grad")
    at_points(text, "jvp", tangent={"v": DIRECTION})
    if text in TENSORS:
        for mode in ("forward", "reverse"):
            at_points(text, "jacobian", mode=mode)


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


@pytest.mark.parametrize("text", INSIDE)
def test_derivatives_inside_programs(text: str) -> None:
    program = adiff.program(text)
    for v in POINTS.values():
        at = {"v": v, "w": W}
        agree(program, at, None, "value", 1e-12)
        agree(program, at, ["v"], "grad", 1e-12)
        agree(program, at, ["v"], "jvp", 1e-12, tangent={"v": DIRECTION})


DYNAMIC = """D = zeros([3, 3])
for i in range(3):
    for j in range(3):
        c = (v[i] - w[j])**2
        if i == 0 and j == 0:
            D[i, j] = c
        elif i == 0:
            D[i, j] = c + D[i, j - 1]
        elif j == 0:
            D[i, j] = c + D[i - 1, j]
        else:
            D[i, j] = c + min(stack([D[i - 1, j], D[i, j - 1], D[i - 1, j - 1]]))
D[2, 2]"""
# At -1, 0, 1 and 2, of which tensors of four hold some more than once: paths that cost the same, norms of nothing.
TIED = [
    DYNAMIC,
    "r = cumsum((v[0] - w)**2)\nfor i in range(1, 4):\n    r = (v[i] - w)**2 + minimum(r, r[::-1])\nsum(cummin(r) * w)",
    "norm(v * (v - w)) + std(v - v[0]) * max(v)",
    "sum(sort(where(v > 0, cummax(v), sort(v * w))) * w)",
    "ptp(v) * unsorted_segment_max(sort(v * w), [0, 1, 0, 1], 2)[1]",
    "median(stack([max(v), min(w), median(v * w)]))**2",
]


@pytest.mark.parametrize("text", TIED)
def test_kernels_answer_at_ties(text: str) -> None:
    program = adiff.program(text)
    for seed in range(2):
        draw = np.random.default_rng(seed)
        at = {name: draw.choice([-1.0, 0.0, 1.0, 2.0], 4) for name in "vw"}
        for command, options in (
            ("grad", {}), ("jvp", {"tangent": {"v": DIRECTION}}), ("jacobian", {"mode": "forward"}), ("hessian", {}),
            ("hvp", {"vector": {"v": DIRECTION}}),
        ):  # fmt: skip
            assert agree(program, at, None, command, 1e-11, **options) == ""


AT_THE_ENDS = [
    [np.nan, 1.0, 2.0], [1.0, np.nan, 2.0], [1.0, 1.0, np.nan], [np.inf, np.nan, 1.0], [1.0, np.inf, np.inf],
    [-np.inf, -np.inf, 1.0],
]  # fmt: skip


@pytest.mark.parametrize("text", ["cummax(v)", "cummin(v)", "logcumsumexp(v)", "max(v)", "sum(cummax(v) * v)"])
def test_tangents_beside_what_is_not_finite(text: str) -> None:
    """They are those of the rule: of nan nothing is the largest so far, and from -inf on all weights are 0."""
    program = adiff.program(text)
    direction = np.array([1.0, 2.0, 3.0])
    for point in AT_THE_ENDS:
        at = {"v": np.array(point)}
        agree(program, at, None, "jvp", tangent={"v": direction})
        agree(program, at, None, "jacobian", mode="forward")
        if text.startswith("sum"):
            agree(program, at, None, "hvp", vector={"v": direction})


def test_what_only_a_comparison_takes_is_no_singular_point() -> None:
    found = adiff.program("where(sort(v) > 0, v, v * 2)").evaluate(
        "jvp", {"v": np.zeros(3)}, tangent={"v": np.ones(3)}, engine="tape"
    )
    assert [n.code for n in found.notices] == []


def test_nan_are_no_ties() -> None:
    """Elements that are nan are equal to none, and the cotangents of others that are equal do not differ."""
    agree("sum(sort(v) * v)", {"v": np.array([np.nan, 1.0, np.nan, -1.0])})
    agree("sum(sort(reshape(v, [2, 2]), axis=0)[0]**2 * v[:2])", {"v": np.array([np.nan, 0.0, np.nan, 0.0])})


def test_one_operand_that_is_surely_followed_is_enough() -> None:
    """What was stored before may be connected or not: the other operand of the tie is, and the tape says no more."""
    text = "best = zeros(5)\nfor k in range(n):\n    best[k % 5] = maximum(best[k % 5], x*(k % 7))\nsum(best)"
    assert agree(text, {"x": 1.3, "n": 40}, ["x"]) == ""


@pytest.mark.parametrize("row", ["max", "min"])
def test_the_first_element_does_not_tie_with_itself(row: str) -> None:
    first = 3 if row == "max" else -3
    text = f"def g(p, q):\n    return {row}(stack([{first}, p])) * q * p\nv, r = jvp(g, (x, y), (1.0, y))\nr"
    assert agree(text, {"x": 1.0, "y": 2.0}) == ""
    assert adiff.program(text).evaluate("grad", {"x": 1.0, "y": 2.0}, engine="kernel").notices == []


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("w = abs(x)\nx * 2", []),
        ("def f(t):\n    u = sqrt(t)\n    return t * t\nf(x)", []),
        ("t = [relu(x), x]\nt[1] * 2", []),
        ("w = abs(x)\nw * x", ["N0501"]),
        ("s = x\nfor i in range(3):\n    s = s + abs(x) * 0.0\ns", ["N0501"]),
    ],
)
def test_derivatives_tell_of_singular_points_on_the_way_to_the_result(text: str, codes: list[str], order: int) -> None:
    found = adiff.program(text).evaluate("derivative", {"x": 0.0}, ["x"], order=order, engine="tape")
    assert [n.code for n in found.notices] == codes
    agree(text, {"x": 0.0}, ["x"], "derivative", order=order)
