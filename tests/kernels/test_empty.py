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


# Where n is 0, and the gradients that are zeros and not None, or 1.
SIZES: list[tuple[str, dict[str, float]]] = [
    ("zeros(n) + x", {"x": 0.0}),
    ("arange(n**2) * x", {"x": 0.0}),
    ("w = zeros(n) + x\nfor i in range(2):\n    w = w * y\nw", {"x": 0.0, "y": 0.0}),
    ("w = zeros(n) + x\nw if x > 1 else w * y", {"x": 0.0}),
    ("(zeros(n) + x) * (y > 0)", {"x": 0.0}),
    ("zeros(n) + stop_gradient(x)", {}),
    ("[zeros(n) + x, y]", {"x": 0.0, "y": 1.0}),
    ("[arange(n), x]", {"x": 1.0}),
    ("[(zeros(n) + x) * 1j, y > x]", {"x": 0.0}),
    ("[1j * zeros(n), x]", {"x": 1.0}),
]


@pytest.mark.parametrize(("text", "gradients"), SIZES)
def test_a_size_of_zero(text: str, gradients: dict[str, float]) -> None:
    """A result depends by a tensor without elements on what none of its numbers does, whatever has counted them."""
    at = {name: value for name, value in {"x": 1.5, "y": 2.0, "n": 0}.items() if name in adiff.program(text).inputs}
    assert agree(text, at) == ""
    found = adiff.program(text).evaluate("grad", at, engine="kernel").gradients
    assert {name: g for name, g in found.items() if g is not None} == gradients


PLACES = {"k": np.zeros((0, 2), dtype=int)}
ROWS = [
    ("trace(x)", (0, 2)), ("diag_part(x)", (0, 2)), ("diagonal(x)", (0, 2)), ("diag(x, k=-1)", (0, 2)),
    ("tf.linalg.diag(x)", (0,)), ("set_diag(x, 0.5)", (0, 2)), ("corrcoef(x)", (0, 2)), ("einsum('ii->i', x)", (0, 0)),
    ("random.shuffle(x, seed=3)", (0,)), ("take_along_axis(x, k, axis=1)", (0, 2)), ("gather(x, k)", (0, 2)),
    ("softmax(x, axis=1)", (2, 0)), ("log_softmax(x, axis=1)", (2, 0)), ("logsumexp(x, axis=1)", (0, 2)),
    ("softmax_cross_entropy_with_logits(x, x)", (0,)), ("logm(x)", (0, 0)), ("sqrtm(x)", (0, 0)), ("pinv(x)", (0, 3, 3)),
    ("argmax(x, axis=0)", (2, 0)), ("argmin(x, axis=1)", (0, 2)), ("full_like(x, 0.5)", (0, 2)), ("vander(x)", (0,)),
    ("where(x, x, 0.5)", (0, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "shape"), ROWS)
def test_rows_of_nothing(text: str, shape: tuple[int, ...]) -> None:
    """Each has a value and a gradient of its own shape: nothing is out of range where nothing is asked for."""
    at = {name: value for name, value in {"x": np.zeros(shape), **PLACES}.items() if name in text}
    assert "x" in at
    for command, body in (("value", text), ("grad", f"r = {text}\nsum(cast(r, float64) ** 2) + 1.5")):
        assert agree(body, at, None if command == "value" else ["x"], command) != "an error"


FEW: list[tuple[str, dict[str, Any]]] = [
    ("pad(x, pad_width=1)", {"x": 0.5}), ("sum(convolve(x, y))", {"x": 0.5, "y": 0.6}),
    ("sum(correlate(x, y))", {"x": 0.5, "y": 0.6}), ("where(x, y, 0.5)", {"x": 0.5, "y": 0.6}),
    ("interp(x, y, v)", {"x": 0.5, "y": np.array([0.2]), "v": np.array([0.7])}),
    ("unsorted_segment_sum(x, k, 2)[1]", {"x": 0.5, "k": 1}),
    ("sum(gather(x, k, batch_dims=1))", {"x": np.array([[0.5]]), "k": np.array([[0]])}),
    ("sum(take_along_axis(x, k, axis=1))", {"x": np.array([[0.5, 0.7]]), "k": np.array([[1]])}),
    ("full_like(v, x)[0]", {"v": np.array([0.5]), "x": 0.7}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "at"), FEW)
def test_rows_of_one_element(text: str, at: dict[str, Any]) -> None:
    for command in ("grad", "value"):
        wrt = None if command == "value" else [name for name in at if name != "k"]
        assert agree(text, at, wrt, command) != "an error"


NOT_TAKEN: list[tuple[str, dict[str, Any]]] = [
    ("x & y", {"x": np.array([1.0, 2.0]), "y": np.array([1.0, 3.0])}),
    ("bitwise_xor(x, y)", {"x": np.array([1.0]), "y": np.array([3.0])}),
    ("left_shift(x, y)", {"x": np.array([1.0]), "y": np.array([3.0])}),
    ("invert(x)", {"x": np.array([1.0])}),
    ("take_along_axis(x, k, axis=1)", {"x": np.array([[0.5]]), "k": np.array([[1]])}),
]


@pytest.mark.parametrize(("text", "at"), NOT_TAKEN)
def test_what_a_row_does_not_take(text: str, at: dict[str, Any]) -> None:
    """Numbers of a kind that it is not defined for, places that there are not, dtypes that do not mix: errors, alike."""
    wrt = [name for name in at if name != "k"]
    assert agree(text, at, wrt, "jacobian") == "an error"
    assert agree(text, at, wrt, "jvp", tangent={name: np.ones(np.shape(at[name])) for name in wrt}) == "an error"


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
