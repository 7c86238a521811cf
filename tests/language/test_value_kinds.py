"""TensorArrays, queues and Datasets. The facts named after tests are those of TensorFlow's own, as 2.21 answers them."""

from typing import Any

import pytest

from .conftest import Runner

ARRAY = "ta = tf.TensorArray(float64, size=3, clear_after_read=False)\n"
FIFO = "q = tf.queue.FIFOQueue(10, "
LOOP = """
out = tf.TensorArray(float64, size=3)
with tf.GradientTape() as tape:
    tape.watch([v0, state0, var])
    state = state0
    for t in range(3):
        out = out.write(t, v0[t] + var + state)
        state = state + v0[t]
    stacked = out.stack()
(stacked, tape.gradient(stacked, [v0, state0, var], output_gradients=-v0))
"""
V0 = [[float(5 * i + j) for j in range(5)] for i in range(3)]


def test_gradients_through_a_loop_of_writes(run: Runner) -> None:
    """testWhileLoopWritePackGradients."""
    at = {"v0": V0, "state0": [1.0] * 5, "var": [100.0 + j for j in range(5)]}
    stacked, gradients = run(LOOP, at)
    assert stacked == [[101, 103, 105, 107, 109], [106, 109, 112, 115, 118], [116, 120, 124, 128, 132]]
    assert gradients == [
        [[-15, -18, -21, -24, -27], [-15, -17, -19, -21, -23], [-10, -11, -12, -13, -14]],
        [-15, -18, -21, -24, -27],
        [-15, -18, -21, -24, -27],
    ]


GRADIENTS = [
    ("write", "x, y", "ta.write(0, x).write(1, y, )\n    out = [ta.read(0), ta.read(0), ta.read(1)]", {"x": [[4.0, 5.0]], "y": [[3.0, 3.0]]},
     "[array([[2.0, 3.0]]), array([[1.0, -1.0]]), array([[-2.0, -2.0]])]", [[[3, 2]], [[-2, -2]]]),
    ("unstack", "x", "ta.unstack(x)\n    out = [ta.read(0), ta.read(0), ta.read(1)]", {"x": [[1.0, -1.0], [10.0, -10.0]]},
     "[array([2.0, 3.0]), array([-1.5, 1.5]), array([4.0, 5.0])]", [[[0.5, 4.5], [4, 5]]]),
    ("read in part", "x", "ta.unstack(x)\n    out = [ta.read(0)]", {"x": [2.0, 3.0]}, "[1.0]", [[1, 0]]),
    ("scatter", "x", "ta.scatter([1, 2], x)\n    out = [ta.read(1)]", {"x": [[1.0, -1.0], [10.0, -10.0]]}, "[array([2.0, 3.0])]", [[[2, 3], [0, 0]]]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("sources", "body", "at", "seeds", "expected"), [pytest.param(*row[1:], id=row[0]) for row in GRADIENTS]
)
def test_gradients_of_elements(run: Runner, sources: str, body: str, at: Any, seeds: str, expected: Any) -> None:
    text = f"{ARRAY}with tf.GradientTape() as tape:\n    tape.watch([{sources}])\n    {body}\ntape.gradient(out, [{sources}], output_gradients={seeds})"
    assert run(text, at) == expected


def test_second_derivatives_through_elements(run: Runner) -> None:
    text = (
        "def f(x):\n    return sum(tf.TensorArray(float64, 2).write(0, x**3).write(1, x).stack()**2)\ngrad(grad(f))(x)"
    )
    assert run(text, {"x": 2.0}) == 30 * 2.0**4 + 2  # of x^6 + x^2


def test_hints_name_nothing_inside_the_library(run: Runner) -> None:
    assert run.refused("tf.TensorArray(tf.float32, 3)[0]").advice is None
    assert "self" not in str(run.refused("tf.TensorArray(tf.float32, 3, foo=1)").advice)


def test_a_path_through_a_queue_is_named(run: Runner) -> None:
    run("q = tf.queue.FIFOQueue(3, float64)\nq.enqueue(x)\nq.dequeue() * 2", {"x": 2.0}, "grad")
    assert run.outcome.gradients == {"x": None}
    ((message, place),) = run.notices("N0502")
    assert "ends at the FIFOQueue" in message
    assert place == "q.enqueue(x)"


def test_kernels_leave_iterators_to_the_tape(run: Runner) -> None:
    text = "it = iter([1.0, 2.0, 3.0])\ns = 0.0 * x\nfor i in range(100):\n    s = s + next(it, 1.0)\ns"
    assert run(text, {"x": 1.0}, engine="kernel") == 103.0


def test_limits_reach_a_dataset_without_end(run: Runner) -> None:
    text = "for x in tf.data.Dataset.range(3).repeat().filter(lambda x: x > 5):\n    print(x)"
    assert run.refused(text, max_steps=1000).code == "E0601"
    assert (
        run.refused("for x in tf.data.Dataset.range(3).repeat().skip(10**12):\n    print(x)", timeout=0.2).code
        == "E0603"
    )


def test_an_error_inside_the_library_points_at_the_program(run: Runner) -> None:
    error = run.refused("ds = tf.data.Dataset.range(3).flat_map(lambda x: x)\nlist(ds)")
    assert error.span is not None
    assert error.span.source.text[error.span.start : error.span.end] == "list(ds)"
