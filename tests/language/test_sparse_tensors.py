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

# A program, and its value; of a SparseTensor (indices, values, shape).
VALUES: list[tuple[str, Any]] = [
    (f"sparse.fill_empty_rows({A}, -1)", (
        ([[0, 0], [1, 0], [1, 3], [1, 4], [2, 0], [3, 2], [3, 3], [4, 0]], [0, 10, 13, 14, -1, 32, 33, -1], [5, 6]),
        [False, False, True, False, True])),
    ("sparse.fill_empty_rows(SparseTensor([[2,3],[2,2],[0,1],[0,3]], [1,3,2,4], [3,5]), -1)", (
        ([[0, 1], [0, 3], [1, 0], [2, 3], [2, 2]], [2, 4, -1, 1, 3], [3, 5]), [False, True, False])),
    (f"sparse.retain({A}, [True, False, False, True, True, False])", ([[0, 0], [1, 4], [3, 2]], [0, 14, 32], [5, 6])),
    (f"sparse.reset_shape({CUBE}).shape", (2, 4, 5)),
    (f"sparse.reset_shape({CUBE}, [3, 7, 9]).shape", (3, 7, 9)),
    (f"[sparse.reduce_sum({ONES}, axis) for axis in [None, 0, 1, -1, [0, 1]]]", [3, [1, 1, 1], [2, 1], [2, 1], 3]),
    (f"sparse.reduce_sum({ONES}, 1, keepdims=True)", [[2], [1]]),
    (f"sparse.reduce_sum({ONES}, 0, output_is_sparse=True)", ([[0], [1], [2]], [1, 1, 1], [3])),
    (f"[sparse.reduce_max({GAPS}, axis) for axis in [None, 0, 1]]", [4, [4, 3], [-7, 4, 0]]),  # TensorFlow's page
    ("e = sparse.eye(2)\ne.with_values(e.values + gather_nd(ones((2, 2)), e.indices))", ([[0, 0], [1, 1]], [2, 2], [2, 2])),
    ("sparse.maximum(SparseTensor([[0]], [0], [7]), SparseTensor([[1]], [0], [7]))", ([[0], [1]], [0, 0], [7])),
    ("sparse.minimum(SparseTensor([[0]], [5], [7]), SparseTensor([[0], [1]], [3, 2], [7]))", ([[0], [1]], [3, 0], [7])),
    ("sparse.from_dense([[1, 0, 0, 8], [0, 0, 0, 0], [0, 0, 3, 0]])", ([[0, 0], [0, 3], [2, 2]], [1, 8, 3], [3, 4])),
    ("sparse.from_dense([['', 'a']])", ([[0, 1]], ["a"], [1, 2])),
    ("sparse.to_dense(SparseTensor([[0, 1]], ['a'], [1, 2]))", [["", "a"]]),
    ("sparse.to_dense(SparseTensor([[1], [3]], [2.5, 4.5], [5]), default_value=-1)", [-1, 2.5, -1, 4.5, -1]),
    ("sparse.to_dense(SparseTensor([[3], [1]], [4, 2], [4]), validate_indices=False)", [0, 2, 0, 4]),
    # The guide on sparse tensors.
    ("sparse.add(SparseTensor([[0, 2], [3, 4]], [31, 2], [4, 10]), SparseTensor([[0, 2], [3, 0]], [56, 38], [4, 10]))",
     ([[0, 2], [3, 0], [3, 4]], [87, 38, 2], [4, 10])),
    (f"sparse.add({E3}, -{E3}, threshold=1)", ([], [], [3, 3])),
    (f"sparse.add({E3}, ones((3, 3)))", [[2, 1, 1], [1, 3, 1], [1, 1, 4]]),
    ("sparse.sparse_dense_matmul(SparseTensor(([0, 1], [1, 0], [1, 1]), [13, 15, 17], (2, 2)), [[4], [6]])", [[78], [162]]),
    (f"sparse.sparse_dense_matmul({ONES}, [[1.0, 2.0], [3.0, 4.0]], adjoint_a=True)", [[1, 2], [3, 4], [1, 2]]),
    (f"sparse.sparse_dense_matmul([[1.0, 2.0]], {ONES})", [[1, 2, 1]]),
    (f"sparse.sparse_dense_matmul([[1.0, 2.0, 3.0]], {ONES}, adjoint_b=True)", [[4, 2]]),
    (f"sparse.to_dense(sparse.concat(axis=1, sp_inputs=[{E3}, {E3}]))[1]", [0, 2, 0, 0, 2, 0]),
    (f"sparse.concat(0, [{E3}, sparse.eye(1, 5, int64)], expand_nonconcat_dims=True)", ([[0, 0], [1, 1], [2, 2], [3, 0]], [1, 2, 3, 1], [4, 5])),
    (f"sparse.slice({E3}, [1, 0], [5, 2])", ([[0, 1]], [2], [2, 2])),
    (f"sparse.split({E3}, 2, 1)", [([[0, 0], [1, 1]], [1, 2], [3, 2]), ([[2, 0]], [3], [3, 1])]),
    (f"sparse.map_values(tf.add, {E3}, 5).values", [6, 7, 8]),
    (f"sparse.map_values(lambda a, b: a * b, {E3}, b={E3}).values", [1, 4, 9]),
    (f"sparse.transpose({ONES} * [[1, 2, 3]])", ([[0, 0], [1, 1], [2, 0]], [1, 2, 3], [3, 2])),
    (f"sparse.reshape({ONES}, [-1])", ([[0], [2], [4]], [1, 1, 1], [6])),
    (f"sparse.expand_dims({ONES}, -2)", ([[0, 0, 0], [0, 0, 2], [1, 0, 1]], [1, 1, 1], [2, 1, 3])),
    ("sparse.reorder(SparseTensor([[1, 0], [0, 1]], ['b', 'a'], [2, 2]))", ([[0, 1], [1, 0]], ["a", "b"], [2, 2])),
    ("sparse.to_indicator(SparseTensor([[0, 0], [0, 1], [1, 0]], [2, 0, 1], [2, 5]), 3)", [[True, False, True], [False, True, False]]),
    ("sparse.segment_sum([[1, 2, 3, 4], [-1, -2, -3, -4], [5, 6, 7, 8]], [0, 1], [0, 0])", [[0, 0, 0, 0]]),
    ("sparse.segment_mean([[1.0], [3.0]], [0, 1, 1], [0, 0, 2], num_segments=4)", [[2], [0], [3], [0]]),
    # Operators and attributes.
    (f"[({E3} * 2).values, (2 * {E3}).values, ({E3} / [[2], [4], [6]]).values, abs(-{E3}).values]", [[2, 4, 6], [2, 4, 6], [0.5, 0.5, 0.5], [1, 2, 3]]),
    (f"s = tf.cast({E3}, tf.float32)\n[s.dtype, s.shape, s.dense_shape, s.rank, s.indices[2], tf.shape(s), tf.size(s), tf.rank(s)]",
     ["float32", (3, 3), [3, 3], 2, [2, 2], [3, 3], 9, 2]),
    (f"[isinstance({E3}, tf.sparse.SparseTensor), isinstance(2, tf.SparseTensor)]", [True, False]),
    (f"[i * v for i, v in zip({E3}.indices, {E3}.values)]", [[0, 0], [2, 2], [6, 6]]),
    (f"[{E3}[-1], [b for b in tf.data.Dataset.from_tensor_slices({E3}).batch(2)][0]]", [([[2]], [3], [3]), ([[0, 0], [1, 1]], [1, 2], [2, 3])]),
    (f"[part * 2 for part in tf.data.Dataset.from_tensor_slices({E3}).batch(2)]", [([[0, 0], [1, 1]], [2, 4], [2, 3]), ([[0, 2]], [6], [1, 3])]),
    ("[f([[0]], [1.5], [2]).dtype for f in [tf.SparseTensor, SparseTensor]]", ["float32", "float64"]),
    ("[tf.sparse.from_dense(x).dtype for x in [[1, 0], np.array([1, 0])]]", ["int32", "int64"]),
    # Sets.
    ("sets.size([[1, 1, 1, 1, 1, 1]])", [1]),
    ("sets.size(SparseTensor([[0, 0], [0, 1], [0, 2]], [1, 9, 2], [2, 3]))", [3, 0]),
    ("tf.sets.intersection([[9, 1, 5], [2, 4, 3]], sparse.from_dense([[1, 9], [1, 0]]))", ([[0, 0], [0, 1]], [1, 9], [2, 2])),
    ("sets.intersection([[1, 1, 3]], [[1]])", ([[0, 0]], [1], [1, 1])),
    (f"sets.difference([[1, 1, 1], [1, 5, 9], [4, 5, 3], [5, 5, 1]], {NONE_ONE}, aminusb=False)", ([[1, 0], [2, 0], [2, 1]], [2, 1, 2], [4, 2])),
    ("sets.difference([[1, 5, 9], [4, 5, 3]], [[1, 2, 6], [1, 2, 2]], False)", ([[0, 0], [0, 1], [1, 0], [1, 1]], [2, 6, 1, 2], [2, 2])),
    ("sets.union([[9, 1, 5], [2, 4, 3]], SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 9, 1], [2, 2]))",
     ([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2], [1, 3]], [1, 5, 9, 1, 2, 3, 4], [2, 4])),
    (f"d = sets.difference({SETS}, {OTHERS})\n[d, sets.size(d)]",
     [([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0]], [9, 3, 1, 9], [4, 2, 1]), [[1, 1], [1, 1], [0, 0], [0, 0]]]),
    ("sets.union([['b', 'a']], [['b', 'c']])", ([[0, 0], [0, 1], [0, 2]], ["a", "b", "c"], [1, 3])),
    # IndexedSlices.
    ("i = tf.IndexedSlices([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [2, 0, 2], (3, 2))\n[i * 2, tf.convert_to_tensor(i)]",
     [[[6, 8], [0, 0], [12, 16]], [[3, 4], [0, 0], [6, 8]]]),
    ("m = tf.sparse.mask(tf.IndexedSlices([[1.0], [2.0], [3.0]], [4, 5, 6]), [5])\n[m.values, m.indices, m.dense_shape]", [[[1], [3]], [4, 6], None]),
    ("v = tf.Variable([1.0, 2.0, 3.0])\ni = tf.IndexedSlices([10.0, 20.0, 30.0], [0, 2, 2])\nv.scatter_add(i)\n[v.numpy(), "
     "v.scatter_sub(i).numpy(), v.scatter_update(tf.IndexedSlices([7.0], [1])).numpy()]",
     [[11, 2, 53], [1, 2, 3], [1, 7, 3]]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), VALUES, ids=[text[:70] for text, _ in VALUES])
def test_value(run: Runner, text: str, expected: Any) -> None:
    assert laid_out(run(text)) == expected


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


ERRORS = [
    ("SparseTensor([[0, 1], [0, 3]], [1, 2], [2, 3])", "indices[1] = [0, 3] is not inside the shape [2,3]"),
    ("SparseTensor([[0]], [1], [2, 3])", "indices of shape [1,1] do not fit dense_shape [2,3]"),
    ("SparseTensor([[0]], [1, 2], [2])", "1 indices need values of shape [1], not [2]"),
    ("sparse.to_dense(SparseTensor([[1], [0]], [1, 2], [2]))", "indices[1] = [0] is out of order"),
    ("sparse.to_dense(SparseTensor([[1], [1]], [1, 2], [2]))", "indices[1] = [1] is repeated"),
    (f"sparse.reset_shape({CUBE}, [3, 7, 5])", "should have dimension sizes"),
    (f"sparse.reduce_sum({ONES}, -3)", "Invalid reduction dimension -3, for input with 2 dimensions"),
    (f"sparse.add({ONES}, {E3})", "shapes [2,3] and [3,3] must be equal"),
    (f"{ONES} * [1.0, 2.0]", "shape [2] does not broadcast to that of the SparseTensor, [2,3]"),
    (f"tf.cast({E3}, float32) * constant(2.0)", "multiply cannot combine float32 and float64"),
    (f"sparse.sparse_dense_matmul({E3}, ones((2, 2)))", "shapes [3,3] and [2,2] do not fit"),
    (f"{E3} + 1", "add does not take a SparseTensor"),
    (f"{E3}[3]", "index 3 is out of range for a SparseTensor of length 3"),
    (f"len({E3})", "a SparseTensor has no length"),
    (f"[v for v in {E3}]", "a SparseTensor cannot be iterated over"),
    (f"sparse.map_values(add, {E3}, {GAPS})", "shapes [3,3] and [3,2] must be equal"),
    (f"sparse.retain({E3}, [True])", "needs 3 bools"),
    (f"sparse.concat(0, [{E3}, {GAPS}])", "must be equal but for axis 0"),
    (f"sparse.reshape({E3}, [2, -1])", "shape [3,3] has no shape [2,-1]"),
    (f"sparse.to_indicator({E3}, 3)", "values[2] = 3 is not in [0, 3)"),
    ("sparse.reorder([1, 2])", "sparse.reorder needs a SparseTensor, and got a list"),
    ("sets.union([[1]], [[1.5]])", "sets are of integers or strings, and these are of float64"),
    ("sets.union([[1]], [['a']])", "sets of int64 and of string do not mix"),
    ("sets.union([[1]], [[1], [2]])", "rows of shape [1] and [2] must be as many"),
    ("IndexedSlices([1.0], [3], [3])", "indices[0] = 3 is not in [0, 3)"),
    ("IndexedSlices([1.0], [3]) + 1", "no dense_shape"),
]


@pytest.mark.parametrize(("text", "message"), ERRORS, ids=[text[:70] for text, _ in ERRORS])
def test_error(run: Runner, text: str, message: str) -> None:
    assert message in run.refused(text).message
