"""SparseTensor, sets and IndexedSlices: what TensorFlow's tests and pages print, derivatives by hand, and errors."""

from typing import Any

import pytest

from .conftest import Runner

A = "SparseTensor([[0,0],[1,0],[1,3],[1,4],[3,2],[3,3]], [0,10,13,14,32,33], [5,6])"
CUBE = "SparseTensor([[0,0,0],[0,1,0],[0,1,3],[1,1,4],[1,3,2],[1,3,3]], [0,10,13,14,32,33], [2,5,6])"
ONES = "SparseTensor([[0,0],[0,2],[1,1]], [1.0,1.0,1.0], [2,3])"
GAPS = "SparseTensor([[0,0],[1,0],[1,1]], [-7,4,3], [3,2])"
SETS = "SparseTensor([[0,0,0],[0,0,2],[0,1,0],[0,1,1],[1,0,0],[1,1,0],[1,1,1],[1,1,2],[2,1,1]], [1,9,3,3,1,9,7,8,5], [4,2,3])"
OTHERS = "SparseTensor([[0,0,0],[0,0,3],[1,0,0],[1,1,0],[1,1,1],[2,0,1],[2,1,1],[3,0,0],[3,1,0]], [1,3,3,7,8,2,5,4,4], [4,2,4])"
NONE_ONE = "SparseTensor([[1,0],[1,1],[2,0],[2,1],[2,2]], [1,2,1,2,2], [4,3])"
E3 = "SparseTensor([[0,0],[1,1],[2,2]], [1,2,3], [3,3])"


def laid_out(value: Any) -> Any:
    """SparseTensors as (indices, values, shape)."""
    if hasattr(value, "to_plain"):
        found = value.to_plain()
        return found["indices"].tolist(), found["values"].tolist(), found["shape"]
    return type(value)(map(laid_out, value)) if isinstance(value, list | tuple) else value


SOURCE = "s = SparseTensor([[0, 0], [0, 2], [1, 1]], [1.0, 2.0, 3.0], [2, 3])\nwith GradientTape() as t:\n    t.watch(s)\n    y = "
# The derivative of a function of the values 1, 2, 3 at [0, 0], [0, 2], [1, 1] of a 2x3 SparseTensor.
GRADIENTS = [
    ("sparse.reduce_sum(tf.square(s))", [2, 4, 6]),
    ("sparse.reduce_sum(s * [[5.0], [7.0]])", [5, 5, 7]),
    ("sparse.reduce_max(s, axis=1)", [0, 1, 1]),
    ("sparse.sparse_dense_matmul(s, [[1.0], [2.0], [4.0]])", [1, 4, 2]),
    ("sparse.to_dense(s) ** 3", [3, 12, 27]),
    ("sparse.map_values(lambda v: v ** 3, s)", [3, 12, 27]),
    ("sparse.reduce_sum(sparse.concat(1, [s, -s]) * constant([[1.0, 1.0, 1.0, 0.0, 0.0, 0.5]]))", [1, 0.5, 1]),
    ("sparse.add(s, tf.ones((2, 3), float64)) ** 2", [4, 6, 8]),
    ("sparse.maximum(s, -2 * s)", [1, 1, 1]),
    ("sparse.fill_empty_rows(sparse.slice(s, [0, 1], [2, 2]), 5.0)[0]", [0, 1, 1]),
    ("sparse.segment_sum(s.values, [0, 0, 2], [0, 1, 1])", [2, 0, 1]),
]


@pytest.mark.parametrize(("target", "expected"), GRADIENTS, ids=[target for target, _ in GRADIENTS])
def test_gradient_of_a_sparse_source(run: Runner, target: str, expected: list[float]) -> None:
    assert laid_out(run(f"{SOURCE}{target}\nt.gradient(y, s)")) == ([[0, 0], [0, 2], [1, 1]], expected, [2, 3])
    assert run(f"{SOURCE}{target}\nt.gradient(y, s.values)") == expected


def test_a_sparse_target(run: Runner) -> None:
    for cotangent in ("[1.0, 10.0, 100.0]", "s.with_values([1.0, 10.0, 100.0])"):
        text = f"{SOURCE}tf.square(s)\nt.gradient(y, s.values, output_gradients={cotangent})"
        assert run(text) == [2, 40, 600]


def test_softmax_and_second_order(run: Runner) -> None:
    """softmax of two entries is a sigmoid of their difference; of one entry it is 1."""
    text = "s = SparseTensor([[0, 0], [0, 2], [1, 1]], x, [2, 3])\nsparse.softmax(s).values[0]"
    e = 0.2689414213699951  # 1 / (1 + exp(1))
    at = {"x": [1.0, 2.0, 3.0]}
    slope, curve = e * (1 - e), e * (1 - e) * (1 - 2 * e)
    assert run(text, at, "grad") == pytest.approx(e, rel=1e-14)
    assert run.outcome.gradients["x"] == pytest.approx([slope, -slope, 0.0], rel=1e-14)
    run(text, at, "hessian")
    rows = [[curve, -curve, 0], [-curve, curve, 0], [0, 0, 0]]
    assert [pytest.approx(row, rel=1e-13) for row in rows] == run.outcome.hessian["x"]["x"].tolist()


def test_a_path_ends_in_a_set(run: Runner) -> None:
    run("cast(sum(sets.union(cast(x, int64), [[1]]).values), float64)", {"x": [[2.0, 3.0]]}, "grad")
    assert run.outcome.gradients == {"x": None}
    ((message, place),) = run.notices("N0502")
    assert "ends at the cast to int64" in message
    assert place == "cast(x, int64)"


def test_texts(run: Runner) -> None:
    run("print(SparseTensor([[0, 0], [1, 2]], [1, 2], [3, 4]), [IndexedSlices([[1, 2], [3, 4]], [1, 0], [2, 2])])")
    assert run.printed == (
        "SparseTensor(indices=[[0, 0], [1, 2]], values=[1 2], shape=(3, 4)) "
        "[IndexedSlices(indices=[1, 0], values=[[1 2] [3 4]], dense_shape=(2, 2))]\n"
    )
