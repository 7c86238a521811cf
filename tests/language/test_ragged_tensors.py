"""RaggedTensor: what TensorFlow's tests and its guide print, derivatives by hand, and errors."""

from typing import Any

import pytest
from adiff.engine.kinds.ragged_functions import constant

from .conftest import Runner, plain

FOUR = "tf.ragged.constant([[3, 1, 4], [1, 5], [9], [2, 6]])"
SIX = "tf.ragged.constant([[0, 1, 2, 3], [4], [], [5, 6], [7], [8, 9]])"
CUBE = "tf.ragged.constant([[[1, 2], [], [3, 4, 5]], [[6, 7], [], [8]], [], [[9]]])"
LETTERS = "['a', 'b', 'c', 'd', 'e', 'f', 'g']"
ROWS = [["a", "b"], [], ["c", "d", "e"], ["f"], ["g"]]
DIGITS = "tf.ragged.constant([[3, 1, 4, 1], [], [5, 9, 2], [6], []])"
WORDS = "tf.ragged.constant([['So', 'long'], ['thanks', 'for', 'all', 'the', 'fish']])"
DEEP = "tf.ragged.constant([[[1, 2, 3], [4]], [[5], [], [6]], [[7]], [[8, 9], [10]]])"

# TensorFlow's own tests of ragged tensors, and its guide.
VALUES: list[tuple[str, Any]] = [
    ("tf.cumsum(ragged.constant([[1, 2], [3], []]), axis=1).to_list()", [[1, 3], [3], []]),
    ("tf.cumsum(ragged.constant([[1, 2], [3]]), axis=-1, reverse=True).to_list()", [[3, 2], [3]]),
    ("a = ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)\ntf.matmul(a, a, transpose_b=True).to_list()", [[[5]], [[25, 39], [39, 61]]]),
    ("tf.ragged.cross([ragged.constant([['a'], ['b', 'c']]), [[1], [2]]]).to_list()", [["a_X_1"], ["b_X_2", "c_X_2"]]),
    (f"tf.reduce_sum({FOUR}, axis=0)", [15, 12, 4]),
    (f"tf.reduce_prod({FOUR}, axis=0)", [54, 30, 4]),
    (f"tf.reduce_min({FOUR}, axis=0)", [1, 1, 4]),
    (f"tf.reduce_mean({FOUR}, axis=0)", [3.75, 4, 4]),
    ("tf.math.reduce_std(tf.ragged.constant([[3, 1, 4], [3, 1], [2], [2, 1]]), axis=0)", [0.5, 0, 0]),
    ("tf.reduce_all(tf.ragged.constant([[True, True], [True, True, False, True], [False, True]]), axis=1)", [True, False, False]),
    (f"tf.reduce_sum({FOUR}, axis=-1, keepdims=True)", [[8], [6], [9], [8]]),
    (f"tf.reduce_sum({SIX}, axis=1)", [6, 4, 0, 11, 7, 17]),
    (f"tf.reduce_min({SIX}, axis=1)", [0, 4, 2147483647, 5, 7, 8]),
    (f"[tf.reduce_sum({CUBE}, axis=[1, 2]), tf.reduce_sum({CUBE}, axis=[-2, -1])]", [[15, 21, 0, 9]] * 2),
    ("tf.ragged.constant([[9, 8, 7], [], [6, 5], [4]]).to_tensor()", [[9, 8, 7], [0, 0, 0], [6, 5, 0], [4, 0, 0]]),
    ("tf.ragged.constant([[[1, 2], [], [3, 4]], [], [[5]], [[6, 7], [8]]]).to_tensor()",
     [[[1, 2], [0, 0], [3, 4]], [[0, 0], [0, 0], [0, 0]], [[5, 0], [0, 0], [0, 0]], [[6, 7], [8, 0], [0, 0]]]),
    ("s = tf.ragged.constant([[1, 2, 3], [4], [], [5, 6]]).to_sparse()\n[s.indices, s.values, s.dense_shape]",
     [[[0, 0], [0, 1], [0, 2], [1, 0], [3, 0], [3, 1]], [1, 2, 3, 4, 5, 6], [4, 3]]),
    ("tf.ragged.stack_dynamic_partitions(['a', 'b', 'c', 'd', 'e'], [3, 0, 2, 2, 3], 5)", [["b"], [], ["c", "d"], ["a", "e"], []]),
    (f"tf.math.unsorted_segment_sum({SIX}, [0, 0, 1, 1, 2, 2], 3)", [[4, 1, 2, 3], [5, 6], [15, 9]]),
    (f"tf.math.unsorted_segment_max({SIX}, [5, 4, 3, 2, 1, 0], 6)", [[8, 9], [7], [5, 6], [], [4], [0, 1, 2, 3]]),
    (f"RaggedTensor.from_row_splits({LETTERS}, [0, 2, 2, 5, 6, 7])", ROWS),
    (f"RaggedTensor.from_row_limits({LETTERS}, [2, 2, 5, 6, 7])", ROWS),
    (f"RaggedTensor.from_row_starts({LETTERS}, [0, 2, 2, 5, 6])", ROWS),
    (f"RaggedTensor.from_row_lengths({LETTERS}, [2, 0, 3, 1, 1])", ROWS),
    (f"tf.RaggedTensor.from_value_rowids(values={LETTERS}, value_rowids=[0, 0, 2, 2, 2, 3, 4])", ROWS),
    # The guide.
    (f"[tf.add({DIGITS}, 3), {DIGITS} + 3]", [[[6, 4, 7, 4], [], [8, 12, 5], [9], []]] * 2),
    (f"tf.concat([{DIGITS}, [[5, 3]]], axis=0)", [[3, 1, 4, 1], [], [5, 9, 2], [6], [], [5, 3]]),
    (f"tf.tile({DIGITS}, [1, 2])", [[3, 1, 4, 1] * 2, [], [5, 9, 2] * 2, [6, 6], []]),
    (f"tf.strings.substr({WORDS}, 0, 2)", [["So", "lo"], ["th", "fo", "al", "th", "fi"]]),
    (f"tf.strings.join([{WORDS}, '!'])", [["So!", "long!"], ["thanks!", "for!", "all!", "the!", "fish!"]]),
    (f"tf.strings.reduce_join({WORDS}, axis=-1, separator=' ')", ["So long", "thanks for all the fish"]),
    (f"[tf.map_fn(tf.math.square, {DIGITS}), tf.map_fn(tf.reduce_sum, {DIGITS})]", [[[9, 1, 16, 1], [], [25, 81, 4], [36], []], [9, 0, 16, 6, 0]]),
    ("tf.map_fn(lambda n: tf.range(n), tf.constant([2, 0]), fn_output_signature=tf.RaggedTensorSpec(shape=[None]))", [[0, 1], []]),
    (f"tf.ragged.map_flat_values(lambda x, y: x * 2 + y, {DIGITS}, {DIGITS})", [[9, 3, 12, 3], [], [15, 27, 6], [18], []]),
    (f"r = {DIGITS}\n[r[0], r[:, :2], r[:, -2:], r[-2, 0], r[1:3]]", [[3, 1, 4, 1], [[3, 1], [], [5, 9], [6], []], [[4, 1], [], [9, 2], [6], []], 6, [[], [5, 9, 2]]]),
    (f"r = {DEEP}\n[r[1], r[3, 0], r[:, 1:3], r[:, -1:], r[..., :1]]",
     [[[5], [], [6]], [8, 9], [[[4]], [[], [6]], [], [[10]]], [[[4]], [[6]], [[7]], [[10]]],
      [[[1], [4]], [[5], [], [6]], [[7]], [[8], [10]]]]),
    ("r = RaggedTensor.from_uniform_row_length(ragged.constant([[1], [2, 3], [], [4]]), 2)\n[r.shape, r[:, 1], r[1:, newaxis]]",
     [(2, 2, None), [[2, 3], [4]], [[[[], [4]]]]]),
    ("tf.ragged.constant([[10, 87, 12], [19, 53], [12, 32]]) + [[1000], [2000], [3000]]", [[1010, 1087, 1012], [2019, 2053], [3012, 3032]]),
    ("tf.ragged.constant([[[1, 2], [3, 4], [5, 6]], [[7, 8]]], ragged_rank=1) + tf.constant([[10]])", [[[11, 12], [13, 14], [15, 16]], [[17, 18]]]),
    ("tf.ragged.constant([[[[1], [2]], [], [[3]]], [[[5]]]], ragged_rank=2) + tf.constant([10, 20])", [[[[11, 21], [12, 22]], [], [[13, 23]]], [[[15, 25]]]]),
    ("x = tf.ragged.constant([[1, 5, 3], [2, 9], [6]])\ny = tf.ragged.constant([[1, 0, 3], [4, 4], [6]])\n"
     "[x == y, ~(x < y), -x, tf.where(x > 3, x, 0), tf.where(x == y)]",
     [[[True, False, True], [False, False], [True]], [[True, True, True], [False, True], [True]], [[-1, -5, -3], [-2, -9], [-6]],
      [[0, 5, 0], [0, 9], [6]], [[0, 0], [0, 2], [2, 0]]]),
    ("tf.RaggedTensor.from_tensor([[1, 3, -1, -1], [2, -1, -1, -1], [4, 5, 8, 9]], padding=-1)", [[1, 3], [2], [4, 5, 8, 9]]),
    ("tf.RaggedTensor.from_tensor([[1, 3, 5], [2, 4, 6]], lengths=[2, 0])", [[1, 3], []]),
    ("tf.RaggedTensor.from_sparse(tf.SparseTensor([[0, 0], [2, 0], [2, 1]], ['a', 'b', 'c'], [3, 3]))", [["a"], [], ["b", "c"]]),
    ("ragged.constant([['Hi'], ['to', 'the']]).to_tensor('', shape=[None, 3])", [["Hi", "", ""], ["to", "the", ""]]),
    # Structure.
    (f"r = {DEEP}\n[r.shape, r.ragged_rank, r.nested_row_splits, r.row_lengths(), r.row_lengths(axis=2), r.bounding_shape(), r.values[1]]",
     [(4, None, None), 2, ([0, 2, 5, 6, 8], [0, 3, 4, 5, 5, 6, 7, 9, 10]), [2, 3, 1, 2], [[3, 1], [1, 0, 1], [1], [2, 1]], [4, 3, 3], [4]]),
    (f"r = {DEEP}\n[r.merge_dims(0, 1), r.merge_dims(1, 2), r.merge_dims(0, 2)]",
     [[[1, 2, 3], [4], [5], [], [6], [7], [8, 9], [10]], [[1, 2, 3, 4], [5, 6], [7], [8, 9, 10]], list(range(1, 11))]),
    (f"r = {SIX}\n[r.nrows(), r.value_rowids(), r.row_starts(), r.row_limits(), len(r), r.with_values(r.values * 2)[0]]",
     [6, [0, 0, 0, 0, 1, 3, 3, 4, 5, 5], [0, 4, 5, 5, 7, 8], [4, 5, 5, 7, 8, 10], 6, [0, 2, 4, 6]]),
    ("[tf.ragged.constant([[1.0], [2, 3]]).dtype, tf.ragged.constant([[1]]).dtype, ragged.constant([[1.0]]).dtype]", ["float32", "int32", "float64"]),
    (f"r = {FOUR}\n[tf.gather(r, [2, 0]), tf.gather([5, 6, 7], tf.ragged.constant([[0], [2, 1]])), tf.gather(r, [[0], [1], [0], [1]], "
     "batch_dims=1), tf.gather_nd(r, [[0, 2], [3, 1]])]", [[[9], [3, 1, 4]], [[5], [7, 6]], [[3], [5], [9], [6]], [4, 6]]),
    (f"r = {FOUR}\n[tf.reverse(r, [1]), tf.expand_dims(r, 1)[0], tf.squeeze(tf.expand_dims(r, 0), 0)[1], tf.size(r), tf.rank(r), "
     "tf.argmax(r, axis=1), tf.ones_like(r)[3], tf.cast(r, float32)[2] / 2]",
     [[[4, 1, 3], [5, 1], [9], [6, 2]], [[3, 1, 4]], [1, 5], 8, 2, [2, 1, 0, 1], [1, 1], [4.5]]),
    (f"r = {FOUR}\n[tf.concat([r, r[:, :1]], axis=1), tf.stack([r[2:], r[:1]])]", [[[3, 1, 4, 3], [1, 5, 1], [9, 9], [2, 6, 2]], [[[9], [2, 6]], [[3, 1, 4]]]]),
    ("[tf.ragged.stack([constant([1, 2]), constant([3])]), tf.ragged.range([3, 0, 2]), tf.ragged.range([0, 5], [2, 9], 2)]",
     [[[1, 2], [3]], [[0, 1, 2], [], [0, 1]], [[0], [5, 7]]]),
    ("tf.ragged.boolean_mask([[1, 2, 3], [4, 5, 6], [7, 8, 9]], [[True, False, True], [False] * 3, [True, False, False]])", [[1, 3], [], [7]]),
    (f"r = {FOUR}\ntf.boolean_mask(r, r > 3)", [[4], [5], [9], [6]]),
    ("[tf.ragged.row_splits_to_segment_ids([0, 3, 3, 5]), tf.ragged.segment_ids_to_row_splits([0, 0, 0, 2, 2])]", [[0, 0, 0, 2, 2], [0, 3, 3, 5]]),
    (f"[row + 1 for row in {FOUR}]", [[4, 2, 5], [2, 6], [10], [3, 7]]),
    (f"r = {FOUR}\n[isinstance(r, tf.RaggedTensor), [b for b in tf.data.Dataset.from_tensor_slices(r)]]", [True, [[3, 1, 4], [1, 5], [9], [2, 6]]]),
    ("tf.nn.embedding_lookup(tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.ragged.constant([[0, 1], [1]]))", [[[1, 2], [3, 4]], [[3, 4]]]),
    ("[sqrt(sum(ragged.constant([[3.0], [0, 4]]) ** 2)), mean(ragged.constant([[1.0, 2], [3]]), axis=-1)]", [5.0, [1.5, 3.0]]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), VALUES, ids=[text[:70] for text, _ in VALUES])
def test_value(run: Runner, text: str, expected: Any) -> None:
    assert run(text) == expected


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
    r = constant([[1, 2], [3]])
    assert run("sum(r * r * x)", {"r": r, "x": 2.0}, command="grad") == 28.0
    assert plain(run.outcome.gradients) == {"r": [[4.0, 8.0], [12.0]], "x": 14.0}
    assert run("r * r", {"r": r}, command="grad") == [[1.0, 4.0], [9.0]]
    error = run.refused("sum(r * r)", {"r": r}, command="hessian")
    assert "'r' is bound to a RaggedTensor, by which `grad` alone differentiates" in error.message


ERRORS = [
    (f"RaggedTensor.from_value_rowids({LETTERS}, [0, 0, 2, 2, 2, 3, 4], nrows=2)", "E0302",
     "Expected nrows >= value_rowids[-1] + 1; got nrows=2, value_rowids[-1]=4"),
    ("tf.ragged.stack_dynamic_partitions(['a', 'b', 'c'], [2, -1, 0], 10)", "E0405", "must be non-negative: partitions[1] = -1"),
    ("RaggedTensor.from_row_splits([1, 2, 3], [1, 3])", "E0302", "row_splits[0] = 1 must be 0"),
    ("RaggedTensor.from_row_splits([1, 2, 3], [0, 3, 2])", "E0302", "row_splits[2] = 2 comes after 3"),
    ("RaggedTensor.from_row_splits([1, 2, 3], [0, 2])", "E0302", "the rows end at 2, and there are 3 values"),
    ("RaggedTensor.from_row_lengths([1, 2, 3], [1, 1])", "E0302", "add up to 2, and there are 3 values"),
    ("RaggedTensor.from_row_splits([1, 2], [0.0, 2.0])", "E0301", "row_splits must be integers"),
    ("ragged.constant([[1, 2], 3])", "E0302", "element [1] is 1 deep"),
    ("ragged.constant([[1, 2], [3]], ragged_rank=2)", "E0401", "ragged_rank 2 is not below the depth 2"),
    ("ragged.constant([[1, 2], [3]])[:, 0]", "E0401", "Cannot index into an inner ragged dimension"),
    ("ragged.constant([[1, 2], [3]])[2]", "E0405", "index 2 is out of range"),
    ("ragged.constant([[1, 2], [3]]) + ragged.constant([[1], [2, 3]])", "E0302", "row 0 has 2 and 1 elements"),
    ("tf.ragged.constant([[1, 2], [3]]) + tf.constant([[1.0], [2.0]])", "E0301", "add cannot combine int32 and float32"),
    ("concat([ragged.constant([[1, 2], [3]]), [[1]]], axis=1)", "E0302", "part 1 do not fit"),
    ("ragged.constant([[1, 2], [3]]) @ [[1]]", "E0304", "matmul takes RaggedTensors as batches"),
    ("gather_nd(ragged.constant([[1, 2], [3]]), [[1, 1]])", "E0405", "[1, 1] is beyond a row of length 1"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "code", "message"), ERRORS, ids=[text for text, _, _ in ERRORS])
def test_error(run: Runner, text: str, code: str, message: str) -> None:
    error = run.refused(text)
    assert (error.code, message in error.message) == (code, True), error.message
