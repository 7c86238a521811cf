"""RaggedTensor: what TensorFlow's tests and its guide print, derivatives by hand, and errors."""

from typing import Any

import pytest
from adiff.engine.kinds.ragged import of_splits

from .conftest import Runner, plain

DEEP = "tf.ragged.constant([[[1, 2, 3], [4]], [[5], [], [6]], [[7]], [[8, 9], [10]]])"


def test_text(run: Runner) -> None:
    run(f"print({DEEP}, tf.ragged.constant([['a'], []]), tf.ragged.constant([[0.1]]))")
    assert run.printed == (
        "<tf.RaggedTensor [[[1, 2, 3], [4]], [[5], [], [6]], [[7]], [[8, 9], [10]]]> <tf.RaggedTensor [['a'], []]> "
        "<tf.RaggedTensor [[0.1]]>\n"
    )


SOURCE = "r = ragged.constant([[1.0, 2.0], [], [3.0]])\nwith GradientTape() as t:\n    t.watch(r)\n    y = "
# The derivative of a function of the rows [1, 2], [], [3].
GRADIENTS: list[tuple[str, Any]] = [
    ("sum(r ** 3)", [[3, 12], [], [27]]),
    ("r * r", [[2, 4], [], [6]]),
    ("max(r[:, :1], axis=0)", [[0, 0], [], [1]]),
    ("sum(mean(r, axis=0) ** 2)", [[2, 4], [], [2]]),
    ("sum(sum(r, axis=1) ** 2)", [[6, 6], [], [6]]),
    ("r.to_tensor() * [[5.0, 7.0]]", [[5, 7], [], [5]]),
    ("concat([r, 2 * r], axis=1)[:, -1:]", [[0, 2], [], [2]]),
    ("r * [[10.0], [20.0], [30.0]]", [[10, 10], [], [30]]),
    ("tf.gather(r, [0, 0, 2])", [[2, 2], [], [1]]),
    ("sum(logsumexp(r[:1] * 0.0, axis=1)) + sum(tf.where(r > 1, r, 0.0))", [[0, 1], [], [1]]),
    ("sum(var(r, axis=0))", [[-1, 0], [], [1]]),
]


@pytest.mark.parametrize(("target", "expected"), GRADIENTS, ids=[target for target, _ in GRADIENTS])
def test_gradient_of_a_ragged_source(run: Runner, target: str, expected: Any) -> None:
    assert run(f"{SOURCE}{target}\nt.gradient(y, r)") == expected
    assert run(f"{SOURCE}{target}\nt.gradient(y, r.flat_values)") == [x for row in expected for x in row]


def test_second_order_by_what_it_was_built_from(run: Runner) -> None:
    """f = p2**4 + p3**4 + p1**3 + p2**3 + p3**3."""
    program = (
        "def f(p):\n    r = RaggedTensor.from_row_lengths(p, [2, 1])\n"
        "    return sum(max(r * r, axis=1) ** 2) + sum(r.to_tensor() ** 3)\n[grad(f)(p), hessian(f)(p)]"
    )
    assert run(program, {"p": [1.0, 2.0, 3.0]}) == [[3, 44, 135], [[6, 0, 0], [0, 60, 0], [0, 0, 126]]]


def test_commands_take_a_ragged_input(run: Runner) -> None:
    r = of_splits([1, 2, 3], [0, 2, 3])
    assert run("sum(r * r * x)", {"r": r, "x": 2.0}, command="grad") == 28.0
    assert plain(run.outcome.gradients) == {"r": [[4.0, 8.0], [12.0]], "x": 14.0}
    assert run("r * r", {"r": r}, command="grad") == [[1.0, 4.0], [9.0]]
    error = run.refused("sum(r * r)", {"r": r}, command="hessian")
    assert "'r' is bound to a RaggedTensor, by which `grad` alone differentiates" in error.message
