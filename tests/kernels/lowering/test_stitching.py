"""Rows put to places that data decides, and rows whose integers decide how long the result is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from adiff import Program
from agreement import agree

V = np.array([0.7, -1.3, 2.1, 0.4])
W = np.arange(4.0) + 1.0
M = np.array([[1.9, 0.4, -0.3], [0.2, 1.4, 0.6], [-0.5, 0.1, 2.2]])
IDS, ORDERED = np.array([0, 2, 1, 0]), np.array([0, 0, 1, 3])
PARTED = """
part = tf.cast(x > 0.5, tf.int32)
a, b = tf.dynamic_partition(x, part, 2)
i, j = tf.dynamic_partition(tf.range(4), part, 2)
sum(tf.dynamic_stitch([i, j], [a ** 3, log(b)]) * w)"""
COMPILED: list[tuple[str, dict[str, Any]]] = [
    (PARTED, {"x": V, "w": W}),
    ("sum(parallel_dynamic_stitch([i, j], [x, y ** 2]) * w)", {"x": V[:2], "y": V[2:], "i": np.array([3, 0]), "j": np.array([1, 2]), "w": W}),
    ("sum(dynamic_stitch([argmax(x), [0, 1]], [x[2] ** 2, x[:2]]) * w[:3])", {"x": V, "w": W}),
    ("sum(dynamic_stitch([i, [0]], [M * M, [M[0] * 3]]) ** 2)", {"M": M[:2], "i": np.array([1, 2])}),
    ("sum(roll(x, argmax(x)) * w)", {"x": V, "w": W}),
    ("sum(roll(M, k, 0) * M * M) + sum(roll(M, argmax(M[0]) - 5)[0]) + sum(roll(M, k, axis=-1)[1])", {"M": M, "k": 7}),
    ("s = 0.0\nfor k in range(100):\n    s += roll(x, k)[0] * k\ns", {"x": V}),
    ("sum(x[x > 0] * y[x > 0])", {"x": V, "y": V * V}),
    ("sum(segment_sum(x, i) ** 2) + sum(segment_mean(x, i)) + sum(segment_max(x, i) ** 2) + sum(segment_prod(x, i))", {"x": V, "i": ORDERED}),
    ("sum(unsorted_segment_max(x, i, 3) ** 2) * sum(unsorted_segment_prod(x, i, 4)) - sum(unsorted_segment_min(x, i, 3))", {"x": V, "i": IDS}),
    ("s = cast(x > 0.5, int64)\nsum(unsorted_segment_max(x, s, 2) ** 2) * sum(unsorted_segment_prod(x, s, 3))", {"x": V}),
    ("i = arange(4) // 2\nsum(unsorted_segment_sum(x, i, 3) ** 2) + sum(segment_sum(x, i)) + sum(tensor_scatter_nd_add(x, arange(4).reshape(4, 1), x ** 2))", {"x": V}),
    ("sum(jax.ops.segment_sum(x, i) ** 2) + sum(jax.ops.segment_sum(x ** 2, i, 5))", {"x": V, "i": IDS}),
    ("sum(bincount(i, x) ** 2) + sum(bincount(i, x, minlength=9)) + sum(bincount(i)) * x[0]", {"x": V, "i": IDS}),
    ("sum(repeat(x, i) ** 2)", {"x": V, "i": IDS}),
]  # fmt: skip


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("command", ["grad", "hessian", "jvp"])
@pytest.mark.parametrize(("text", "at"), COMPILED)
def test_agreement(text: str, at: dict[str, Any], command: str) -> None:
    wrt = [name for name, value in at.items() if np.asarray(value).dtype.kind == "f"]
    given = {"tangent": {name: np.full(np.shape(at[name]), 0.3) for name in wrt}} if command == "jvp" else {}
    assert agree(text, at, wrt, command, 1e-11, **given) == ""


def test_in_machine_code() -> None:
    assert agree(PARTED, {"x": V, "w": W}) == ""


def test_winner_alone_is_differentiated() -> None:
    """Against the closed form: the second writer of place 1 is the last one, and place 0 has one writer."""
    text = "i, j = argmin(a), argmax(a)\nsum(dynamic_stitch([[i, j], [j], [2]], [x, y, [1.0]]) * w)"
    at = {"a": np.array([0.0, 1.0]), "x": np.array([3.0, 4.0]), "y": np.array([5.0]), "w": np.array([10.0, 20.0, 0.0])}
    answers = [Program(text).evaluate("grad", at, ["x", "y"], engine=engine) for engine in ("tape", "kernel")]
    for answer in answers:
        assert answer.value == 130.0
        assert answer.gradients["x"].tolist() == [10.0, 0.0]
        assert answer.gradients["y"].tolist() == [20.0]


# Errors, and what only the tape does: rows that nobody wrote have a notice, masks that differ may be as long.
LEFT: list[tuple[str, dict[str, Any], str]] = [
    ("sum(dynamic_stitch([i, j], [x, x]))", {"x": V[:2], "i": np.array([0, 5]), "j": np.array([1, 2])}, "a program of which a notice is known before it runs"),
    ("sum(dynamic_stitch([i, j], [x, x]))", {"x": V[:2], "i": np.array([0, -1]), "j": np.array([1, 2])}, "an error"),
    ("sum(dynamic_stitch([i], [x]))", {"x": V, "i": np.array([0, 1])}, "an error"),
    ("sum(x[x > 0] * x[x < 0.5])", {"x": V}, "an error"),
    ("sum(unsorted_segment_max(x, cast(x > 0.5, int64), 2))", {"x": np.array([2.0, 2.0, 0.1, 0.1])}, "a singular point of which it is not known whether the result depends on it"),
    ("sum(segment_sum(x, i))", {"x": V, "i": IDS}, "an error"),
    ("sum(unsorted_segment_max(x, cast(4 * x, int64), 2))", {"x": V}, "an error"),
]  # fmt: skip


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("text", "at", "reason"), LEFT)
def test_left_to_the_tape(text: str, at: dict[str, Any], reason: str) -> None:
    found = agree(text, at, ["x"]).removeprefix("no kernel for ")
    assert found == reason


@pytest.mark.usefixtures("interpret")
def test_integers_that_change() -> None:
    """A kernel for each tensor that is a part of it, and none for ever new ones."""
    program = Program("sum(segment_sum(x, i) * [1.0, 2.0, 3.0])")
    engines = []
    for k in range(1, 40):
        ids = np.array([0] * k + [1] * (45 - k) + [2] * 3)
        found = program.evaluate("grad", {"x": np.ones(48), "i": ids}, ["x"], engine="kernel")
        assert found.value == k + 2 * (45 - k) + 9
        assert np.array_equal(found.gradients["x"], ids + 1.0)
        engines.append(found.engine)
    assert engines[:16] == ["kernel"] * 16
    assert engines[20:] == ["tape"] * 19
