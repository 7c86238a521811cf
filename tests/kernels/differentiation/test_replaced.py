"""Adjoints of loops that replace what is not differentiated, iterations whose cotangent is zero, and ties of smooth rows:
where the reverse or the forward sweep has something to undo, or to see, that the value does not show."""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
import pytest
from agreement import agree
from scipy import special

REPLACED = {
    "doubled": "v = array([1.0, 2.0])\ns = 0.0\nfor i in range(2):\n    s = s + sum(v * x)\n    v = v * 2\ns",
    "many times": "v = array([1.0, 2.0])\ns = 0.0\nfor i in range(200):\n    s = s + sum(v * x)\n    v = v * 0.5\ns",
    "a Variable": "v = Variable([1.0, 2.0])\ns = 0.0\nfor i in range(3):\n    s = s + sum(v * x)\n    v.assign(v * 2)\ns",
    "a state": "h = array([1.0, 2.0])\ns = 0.0\nfor i in range(4):\n    s = s + sum(h * x)**2\n    h = tanh(h * 0.5 + 1.0)\ns",
    "counted up": "k = array([1.0, 2.0])\ns = 0.0\nfor i in range(4):\n    s = s + sum(exp(-k * x))\n    k = k + 1\ns",
    "a mask": (
        "k = array([True, False])\ns = 0.0\nfor i in range(5):\n    s = s + sum(where(k, x, 2*x*x))\n    k = logical_not(k)\ns"
    ),
    "while": "v = array([1.0, 2.0])\ns = 0.0\ni = 0\nwhile i < 5:\n    s = s + sum(v * x)\n    v = v * 2\n    i += 1\ns",
    "nested": (
        "v = array([1.0, 2.0])\ns = 0.0\nfor j in range(3):\n    for i in range(4):\n        s = s + sum(v * x)\n"
        "        v = v * 1.5\ns"
    ),
    "while_loop": (
        "i, v, s = while_loop(lambda i, v, s: i < 4, lambda i, v, s: (i+1, v*2, s + sum(v*x)), (0, array([1.0, 2.0]), 0.0))\ns"
    ),
    "a gradient inside": (
        "def f(x):\n    v = array([1.0, 2.0])\n    s = 0.0\n    for i in range(3):\n        s = s + sum(v * x)**2\n"
        "        v = v * 2\n    return s\ngrad(f)(x)"
    ),
    "beside one that is differentiated": (
        "k = array([1.0, 1.5]) * x\nj = array([0.5, 0.5])\ns = 0.0\nfor i in range(3):\n    s = s + sum(k)\n    k = k * j\n"
        "    j = j * 0.5\ns"
    ),
    "in a branch": (
        "v = array([1.0, 2.0])\ns = 0.0\nfor i in range(6):\n    s = s + sum(v * x)\n    if i % 2 == 0:\n        v = v * 2\n"
        "    else:\n        v = v + 1.0\ns"
    ),
    "element by element": (
        "v = array([1.0, 2.0])\ns = 0.0\nfor i in range(6):\n    s = s + sum(v * x)\n    for j in range(2):\n"
        "        v[j] = v[j] * 2\ns"
    ),
}  # fmt: skip

# What the gradient does not read again when it is taken back, and the tangents of the Hessian take back; there are so many
# sources that it goes through their directions in several passes.
TAKEN_BACK = {
    "one element": "w = v\nfor i in range(2):\n    w[1] = sin(x)\nsum(w)",
    "that each iteration replaces": "w = v\nfor i in range(3):\n    w[1] = exp(x*i)\n    w[0] = tanh(x*i)\nsum(w)",
    "elements and slices": (
        "w = v*1.0\nfor i in range(4):\n    y = exp(v*x*i)\n    w[1:3] = y[:2]\n    w[2] = sin(x)\nsum(w*w)"
    ),
    "rows": "w = zeros((2, 5))\nfor i in range(3):\n    w[i % 2] = exp(v*x*i)\n    w[0, 1] = tanh(x)\nsum(w*w)",
    "nested": (
        "w = v\nfor i in range(3):\n    for j in range(2):\n        w[j] = exp(v[j]*x*i)\n        w[2] = tanh(x*j)\nsum(w*x)"
    ),
    "in a branch": "w = v\nfor i in range(4):\n    if x > i*0.5:\n        w[1] = exp(x*i)\nsum(w)",
}  # fmt: skip


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", TAKEN_BACK.values(), ids=list(TAKEN_BACK))
def test_a_hessian_takes_back_what_its_gradient_need_not(text: str) -> None:
    assert agree(text, {"x": 1.1, "v": np.array([0.3, -0.6, 0.8, 0.2, -0.4])}, ["x", "v"], "hessian", 1e-13) == ""


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("command", ["grad", "hessian"])
@pytest.mark.parametrize("text", REPLACED.values(), ids=list(REPLACED))
def test_an_array_that_is_not_differentiated_is_as_it_was(text: str, command: str) -> None:
    assert agree(text, {"x": 1.5}, ["x"], command, 1e-13) == ""


def test_the_gradient_of_what_is_linear() -> None:
    outcome = adiff.program(REPLACED["many times"]).evaluate("grad", {"x": 1.5}, engine="kernel")
    assert outcome.engine == "kernel"
    assert outcome.gradients["x"] == pytest.approx(6.0, rel=1e-15)


# The cotangent of an iteration is zero, its tangent is not: (program, point, Hessian by hand).
STEEP: dict[str, tuple[str, dict[str, Any], list[list[float]]]] = {
    "squares": ("s = x\nfor i in range(2):\n    s = s*s*y + s*y\ns", {"x": 1.0, "y": 0.0}, [[0.0, 0.0], [0.0, 4.0]]),
    "until done": ("s = x\nwhile s < 3:\n    s = s*s*y + s + 1\ns*y", {"x": 1.0, "y": 0.0}, [[0.0, 1.0], [1.0, 10.0]]),
    "a fold": (
        "foldl(lambda a, u: a*a*u + a*u, v)", {"v": np.array([1.0, 0.0, 0.0])},
        [[0.0, 0.0, 0.0], [0.0, 0.0, 2.0], [0.0, 2.0, 0.0]],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "at", "wanted"), STEEP.values(), ids=list(STEEP))
def test_a_cotangent_of_zero_may_have_a_tangent(text: str, at: dict[str, Any], wanted: list[list[float]]) -> None:
    outcome = adiff.program(text).evaluate("hessian", at, engine="kernel")
    assert outcome.engine == "kernel"
    blocks = outcome.hessian
    found = np.block([[np.asarray(blocks[a][b]) for b in at] for a in at]).reshape(len(wanted), -1)
    assert found.tolist() == wanted
    rows = adiff.program(text).evaluate(
        "hvp", at, vector={name: np.ones_like(x) for name, x in at.items()}, engine="kernel"
    )
    products = np.concatenate([np.atleast_1d(rows.product[name]) for name in at])
    assert products.tolist() == np.sum(wanted, axis=1).tolist()


TIED = [[0.0, 0.0, 0.0], [2.0, 2.0, 1.0], [1.0, 2.0, 2.0], [3.0, 1.0, 2.0]]


@pytest.mark.parametrize("v", TIED)
def test_smooth_rows_at_ties_in_forward_mode(v: list[float]) -> None:
    weights = np.exp(v) / np.sum(np.exp(v))
    point = {"v": np.array(v)}
    for k in range(3):
        tangent = {"v": np.eye(3)[k]}
        outcome = adiff.program("logsumexp(v)").evaluate("jvp", point, tangent=tangent, engine="kernel")
        assert outcome.engine == "kernel"
        assert outcome.tangent == pytest.approx(weights[k], rel=1e-14)
    outcome = adiff.program("log_softmax(v)").evaluate("jacobian", point, mode="forward", engine="kernel")
    assert outcome.engine == "kernel"
    assert np.allclose(outcome.jacobian["v"], np.eye(3) - weights, rtol=1e-14, atol=1e-15)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(
    "row", ["logsumexp(v)", "sum(log_softmax(v) * [1.0, 2.0, 5.0])", "logsumexp([v, v], axis=1)[0]"]
)
@pytest.mark.parametrize("v", [*TIED, [-np.inf, -np.inf, 0.0]])
def test_both_tiers_at_ties(row: str, v: list[float]) -> None:
    point = {"v": np.array(v)}
    agree(row, point, None, "jvp", 1e-12, tangent={"v": np.array([1.0, -2.0, 0.5])})
    for command in ("grad", "hessian"):
        agree(row, point, ["v"], command, 1e-12)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(
    "v", [[1.0, np.inf, 0.5], [-np.inf, -np.inf], [np.inf, np.inf], [np.inf, -np.inf], [np.nan, 1.0], [-np.inf, 0.3]]
)
@pytest.mark.parametrize("row", ["log_softmax(v)", "softmax(v)", "logsumexp(v)"])
def test_rows_of_logits_beside_what_is_not_finite(row: str, v: list[float]) -> None:
    """An infinite logit has the whole probability: the logarithms of the others are -inf, and its own is not known."""
    point = {"v": np.array(v)}
    function = {"log_softmax(v)": special.log_softmax, "logsumexp(v)": special.logsumexp}
    with np.errstate(all="ignore"):
        wanted = np.exp(special.log_softmax(point["v"])) if row == "softmax(v)" else function[row](point["v"])
    for engine in ("tape", "kernel"):
        found = adiff.program(row).evaluate("value", point, engine=engine)
        assert np.allclose(found.value, wanted, rtol=1e-15, atol=0.0, equal_nan=True)
    for command in ("grad", "hessian"):
        agree(f"sum({row} * {[1.5, -2.0, 5.0][: len(v)]})" if row[-4:] == "x(v)" else row, point, ["v"], command, 1e-12)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("row", ["floor", "ceil", "trunc", "round", "rint", "sign"])
def test_jumps_at_infinities_bring_no_warning(row: str) -> None:
    for command in ("grad", "hessian"):
        agree(f"sum({row}(v / 0.0)) * x", {"v": np.array([0.0, 1.0, -2.0]), "x": 1.5}, None, command)


@pytest.mark.parametrize(("text", "at"), [("-x*0.0", 1.0), ("3.0/x", -np.inf), ("sum(-x*0.0)", np.array([1.0, 2.0]))])
@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_a_gradient_of_zero_has_no_sign(text: str, at: Any, engine: str) -> None:
    outcome = adiff.program(text).evaluate("grad", {"x": at}, engine=engine)
    assert outcome.engine == engine
    assert not np.any(np.signbit(outcome.gradients["x"]))


@pytest.mark.parametrize("x", [np.inf, np.nan, -np.inf, 0.0, 2.0, np.array([np.nan, np.inf, 1.0])])
@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_the_power_0_has_no_slope_anywhere(x: Any, engine: str) -> None:
    outcome = adiff.program("sum(x**0)").evaluate("grad", {"x": x}, engine=engine)
    assert np.array_equal(np.asarray(outcome.gradients["x"]), np.zeros(np.shape(x)))


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(
    "text",
    [
        "sum(sort(v)*v)", "max(v)*sum(v*[1,2,3])", "sum(cummax(v)*v)", "median(v)*v[0]", "norm(v, inf)*v[0]",
        "sum(unsorted_segment_max(v, [0, 0, 0], 1))*v[0]", "max(v)**2*min(v)",
    ],
)  # fmt: skip
@pytest.mark.parametrize("command", ["hessian", "hvp"])
def test_second_derivatives_at_ties_are_those_of_the_tape(text: str, command: str) -> None:
    options = {"vector": {"v": np.array([1.0, -0.5, 2.0])}} if command == "hvp" else {}
    agree(text, {"v": np.array([1.0, 0.0, 0.0])}, None, command, 1e-12, **options)


@pytest.mark.parametrize(
    "text",
    ["sum(v) % 0.0 * abs(x)", "s = 0.0\nfor i in range(3):\n    s = s + abs(x - i) + sqrt(abs(i - 1.0 + x * 0.0))\ns"],
)
def test_notices_come_in_the_order_of_the_program(text: str) -> None:
    program = adiff.program(text)
    at = {name: {"v": np.array([1.0, 2.0]), "x": 0.0}[name] for name in program.inputs}
    tape, kernel = (program.evaluate("grad", at, engine=engine) for engine in ("tape", "kernel"))
    found = [[(n.code, n.message, n.span and n.span.start) for n in outcome.notices] for outcome in (tape, kernel)]
    assert found[0] == found[1]
    places = [start for code, _, start in found[0] if code < "N06"]
    assert places == sorted(places)
