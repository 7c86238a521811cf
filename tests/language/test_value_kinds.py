"""TensorArrays, queues and Datasets. The facts named after tests are those of TensorFlow's own, as 2.21 answers them."""

import re
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
VALUES: list[tuple[str, str, Any]] = [
    ("isinstance of a Dataset", "[isinstance(d, tf.data.Dataset) for d in (tf.data.Dataset.range(3), 3)]", [True, False]),
    ("write, stack", ARRAY + "for i in range(3):\n    ta = ta.write(i, [[2.0*i + 4, 2.0*i + 5]])\nta.stack()", [[[4, 5]], [[6, 7]], [[8, 9]]]),
    ("written without assignment", ARRAY + "ta.write(0, 1.0)\nta.write(1, 2.0)\nta.write(2, 3.0)\nta.stack()", [1, 2, 3]),
    ("written twice", ARRAY + "ta.write(0, 1.0).write(0, 5.0).read(0)", 5),
    ("unstack, read", ARRAY + "ta.unstack([[1.0, 1.1], [2.0, 2.1], [3.0, 3.1]])\n[ta.read(i) for i in range(3)]", [[1, 1.1], [2, 2.1], [3, 3.1]]),
    ("split", ARRAY + "ta = ta.split([[1.0, 101.0], [2.0, 201.0], [3.0, 301.0]], [2, 0, 1])\n[ta.read(i) for i in range(3)]", [[[1, 101], [2, 201]], [], [[3, 301]]]),
    ("split, concat", ARRAY + "ta.split([1.0, 2.0, 3.0, 4.0], [1, 2, 1]).concat()", [1, 2, 3, 4]),
    ("scatter, gather", ARRAY + "ta.scatter([2, 0], [[1.0], [2.0]]).gather([0, 2])", [[2], [1]]),
    ("dynamic size", "ta = tf.TensorArray(int32, size=0, dynamic_size=True)\nfor i in range(5):\n    ta = ta.write(i, i*i + 1)\n"
     "(ta.stack(), ta.size(), ta.dtype)", ([1, 2, 5, 10, 17], 5, "int32")),
    ("strings", "tf.TensorArray(string, 2).unstack(['a', 'b']).stack()", ["a", "b"]),
    ("unwritten", "tf.TensorArray(float32, 2, element_shape=[2]).stack()", [[0, 0], [0, 0]]),
    ("in while_loop", "tf.while_loop(lambda i, ta: i < 3, lambda i, ta: (i + 1, ta.write(i, 2.0*i)), (0, tf.TensorArray(float64, 3)))[1].stack()", [0, 2, 4]),
    ("as a result", "tf.TensorArray(float64, 2).unstack([1.0, 2.0])", [1, 2]),
    ("testMultiEnqueueAndDequeue", FIFO + "(int32, float64))\nfor i, x in [(5, 10.0), (10, 20.0), (15, 30.0)]:\n"
     "    q.enqueue((i, x))\n[q.dequeue() for _ in range(3)]", [[5, 10], [10, 20], [15, 30]]),
    ("testDequeueMany", FIFO + "float64, shapes=())\nq.enqueue_many(([10.0*i for i in range(1, 11)],))\n"
     "(q.dequeue_many(4), q.dequeue_many(4), q.size())", ([10, 20, 30, 40], [50, 60, 70, 80], 2)),
    ("testEmptyDequeueMany", FIFO + "float64, shapes=())\nq.dequeue_many(0)", []),
    ("names", FIFO + "(float64, int32), names=['f', 'i'])\nq.enqueue({'i': 1, 'f': 2.0})\nq.dequeue()", {"f": 2, "i": 1}),
    ("closed", FIFO + "float64, shapes=())\nq.enqueue_many([1.0, 2.0])\nq.close()\n(q.is_closed(), q.dequeue_up_to(5))", (True, [1, 2])),
    ("priorities", "q = tf.queue.PriorityQueue(10, (), ())\nfor key in [7, -2, 5, 5, 0, -9]:\n    q.enqueue(key)\n"
     "[q.dequeue() for _ in range(6)]", [-9, -2, 0, 5, 5, 7]),
    ("many priorities", "q = tf.queue.PriorityQueue(2000, (), ())\nfor k in range(1000):\n    q.enqueue(7*k % 1000 - 500)\n"
     "[int(q.dequeue()) for k in range(1000)] == list(range(-500, 500))", True),
    ("equal priorities", "q = tf.queue.PriorityQueue(10, string, [[]])\nq.enqueue_many(([1, 0, 1], ['a', 'b', 'c']))\nq.dequeue_many(3)", [[0, 1, 1], ["b", "a", "c"]]),
    ("shuffled", "q = tf.queue.RandomShuffleQueue(10, 0, int32, seed=3)\nq.enqueue_many([1, 2, 3, 4])\nsorted([q.dequeue() for _ in range(4)])", [1, 2, 3, 4]),
    ("testMultiDequeueManyWithPartiallyKnownShapesAndVariableSizeInput",
     "q = tf.queue.PaddingFIFOQueue(100, (string, int32), shapes=((None,), (1, None)))\nletters = ['abc', 'd', 'e', 'f']\n"
     "for s, n in [(['a'], 1), (['ab'], 2), (['abc'], 3)]:\n    q.enqueue((s, [[n]]))\n"
     "for k in [2, 3, 4]:\n    q.enqueue((letters[:k], [list(range(1, k + 1))]))\n(q.dequeue_many(5), q.dequeue())",
     ([[["a", "", ""], ["ab", "", ""], ["abc", "", ""], ["abc", "d", ""], ["abc", "d", "e"]],
       [[[1, 0, 0]], [[2, 0, 0]], [[3, 0, 0]], [[1, 2, 0]], [[1, 2, 3]]]], [["abc", "d", "e", "f"], [[1, 2, 3, 4]]])),
    ("batches", "[b for b in tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0]).batch(2)]", [[1, 2], [3]]),
    ("whole batches", "ds = tf.data.Dataset.range(7).batch(3, drop_remainder=True)\n(list(ds), len(ds))", ([[0, 1, 2], [3, 4, 5]], 2)),
    ("a tuple", "ds = tf.data.Dataset.from_tensor_slices(([[1, 2], [3, 4]], ['a', 'b']))\nlist(ds.map(lambda x, s: (x*2, s)).batch(2))",
     [([[2, 4], [6, 8]], ["a", "b"])]),
    ("a dict", "list(tf.data.Dataset.from_tensor_slices({'a': [1, 2]}))", [{"a": 1}, {"a": 2}]),
    ("filter, skip, take", "list(tf.data.Dataset.range(100).filter(lambda x: x % 2 == 0).skip(1).take(2))", [2, 4]),
    ("endless", "list(tf.data.Dataset.range(3).repeat().take(7))", [0, 1, 2, 0, 1, 2, 0]),
    ("shuffle", "ds = tf.data.Dataset.range(20).shuffle(5, seed=1)\na = [int(x) for x in ds]\nb = [int(x) for x in ds]\n"
     "(sorted(a) == list(range(20)), a == b, a[0] < 5)", (True, False, True)),
    ("the same shuffle", "ds = tf.data.Dataset.range(20).shuffle(20, seed=1, reshuffle_each_iteration=False)\n[int(x) for x in ds] == [int(x) for x in ds]", True),
    ("a kept shuffle", "ds = tf.data.Dataset.range(20).shuffle(20, seed=1).cache()\n[int(x) for x in ds] == [int(x) for x in ds]", True),
    ("zip, enumerate", "a = tf.data.Dataset.range(3)\nb = tf.data.Dataset.range(10, 20)\nlist(tf.data.Dataset.zip((a, b)).enumerate(5))",
     [(5, (0, 10)), (6, (1, 11)), (7, (2, 12))]),
    ("reduce", "tf.data.Dataset.range(5).prefetch(tf.data.AUTOTUNE).cache().reduce(0, lambda s, x: s + x)", 10),
    ("concatenate, unbatch", "ds = tf.data.Dataset.range(2)\nlist(ds.concatenate(ds).batch(3).unbatch())", [0, 1, 0, 1]),
    ("cardinality", "ds = tf.data.Dataset.range(2)\n(ds.cardinality(), ds.repeat().cardinality(), ds.filter(lambda x: True).cardinality())", (2, -1, -2)),
    ("next", "it = iter(tf.data.Dataset.range(2))\n(next(it), next(it), next(it, None))", (0, 1, None)),
    ("switch_case", "(tf.switch_case(1, {1: lambda: 3}, default=lambda: 4), tf.switch_case(9, {1: lambda: 3}, default=lambda: 4))", (3, 4)),
    ("case", "(tf.case([(1 > 2, lambda: 3), (2 > 1, lambda: 4)]), tf.case([(False, lambda: 3)], default=lambda: 5))", (4, 5)),
    ("strided_slice", "tf.strided_slice([[1, 2, 3], [4, 5, 6]], [1, -1], [2, -4], [1, -1])", [[6, 5, 4]]),
    ("shrunk", "tf.strided_slice([[1, 2, 3], [4, 5, 6]], [1, 0], [2, 0], end_mask=2, shrink_axis_mask=1)", [4, 5, 6]),
    ("rfft", "tf.signal.rfft([1.0, 2.0, 3.0], fft_length=[4])", [6, -2 - 2j, 2]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), [pytest.param(text, value, id=name) for name, text, value in VALUES])
def test_value(run: Runner, text: str, value: Any) -> None:
    assert run(text) == value


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


REFUSED = [
    (ARRAY + "ta.write(-1, 3.0)", "index -1"),
    (ARRAY + "ta.write(3, 3.0)", "index 3 but array is not resizeable and size is: 3"),
    (ARRAY + "ta.read(3)", "Tried to read from index 3 but array size is: 3"),
    (ARRAY + "ta.read(0)", "index 0 is read before it is written"),
    (ARRAY + "ta.split([1.0, 2.0, 3.0], [1])", "sum of lengths is 1 and value's shape is: \\[3\\]"),
    (ARRAY + "ta.split([1.0, 2.0, 3.0], [1, 2])", "size is not equal to the size of lengths \\(3 vs. 2\\)"),
    (ARRAY + "ta.unstack([1.0, 2.0, 3.0, 4.0])", "cannot unstack 4 tensors into an array of static size 3"),
    (ARRAY + "ta.write(0, [1.0]).write(1, [1.0, 2.0])", "incompatible shape for value \\(\\[2\\]\\), expected \\(\\[1\\]\\)"),
    (ARRAY + "ta.write(0, float32(1))", "TensorArray dtype is float64, and the value is float32"),
    (ARRAY + "ta.write(0, 1.0).write(1, 1.0).write(2, 1.0).concat()", "scalar shape at index 0"),
    ("ta = tf.TensorArray(float64, 1).write(0, 1.0)\nta.read(0)\nta.read(0)", "index 0 twice because it was cleared"),
    ("tf.TensorArray(float64, -1)", "the size cannot be negative"),
    (FIFO + "float64)\nq.dequeue_many(0)", "specified shapes"),
    (FIFO + "float64)\nq.enqueue({'a': 12.0})", "must have names"),
    (FIFO + "(float64, int32), names=['f', 'i'])\nq.enqueue({'i': 12})", "match names of Queue"),
    (FIFO + "float64, shapes=[[2]])\nq.enqueue([1.0, 2.0, 3.0])", "expected \\[2\\], got \\[3\\]"),
    (FIFO + "float64)\nq.dequeue()", "insufficient elements \\(requested 1, current size 0\\), and the wait for more would never end"),
    (FIFO + "float64)\nq.close()\nq.dequeue()", "closed and has insufficient elements"),
    (FIFO + "float64)\nq.close()\nq.enqueue(1.0)", "is closed"),
    ("q = tf.queue.FIFOQueue(1, float64)\nq.enqueue(1.0)\nq.enqueue(2.0)", "is full: it has 1 of 1 elements"),
    ("q = tf.queue.PriorityQueue(9, (), ())\nq.enqueue_many(['a', 'b'])", "component 0 is a string tensor of shape \\[2\\]"),
    ("tf.queue.PaddingFIFOQueue(10, float64)", "When providing partial shapes, a list of shapes must be provided"),
    ("q = tf.queue.RandomShuffleQueue(9, 2, int32, seed=1)\nq.enqueue_many([1, 2])\nq.dequeue()", "insufficient elements"),
    ("len(tf.data.Dataset.range(3).repeat())", "the length of this Dataset is infinite"),
    ("tf.data.Dataset.from_tensor_slices(([1, 2], [1]))", "no common first size"),
    ("tf.data.Dataset.from_tensor_slices((1, [2]))", "shapes \\[\\] and \\[1\\] have no common first size"),
    ("tf.data.Dataset.from_tensor_slices(({}))", "there is no tensor to slice"),
    ("tf.data.Dataset.range(3).batch(0)", "batch_size must be 1 or more"),
    ("ds = tf.data.Dataset.range(3)\nfor i in range(2000):\n    ds = ds.map(lambda x: x)", "more than 500 steps"),
    ("q = tf.queue.RandomShuffleQueue(9, 0, [float64], seed=1)\nq._draw(-1)", "a RandomShuffleQueue has no attribute '_draw'"),
    (ARRAY + "ta._elements = 5", "has no attribute '_elements'"),
    (ARRAY + "del ta._elements", "has no attribute '_elements'"),
    ("tf.data.Dataset._then(tf.data.Dataset.range(3), list, 1)", "has no attribute '_then'"),
    ("getattr(tf.data.Dataset.range(3), '_make')()", "has no attribute '_make'"),
    ("tf.TensorArray(tf.float32, 3, foo=1)", "^TensorArray has no parameter 'foo'"),
    (ARRAY + "ta.dtype = 3", "the property 'dtype' of TensorArray cannot be assigned"),
    ("tf.data.Dataset(lambda: 5, 3)", "tf.data.Dataset makes no Dataset"),
    ("class D(tf.data.Dataset):\n    def __init__(self):\n        pass\nlist(D().map(lambda x: x))", "derives from tf.data.Dataset has no elements"),
    ("next(iter([]))", "no more items"),
    ("tf.case([(False, lambda: 3)])", "no predicate holds"),
    ("tf.strided_slice([1], [0], [1], [0])", "strides\\[0\\] must be non-zero"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_refused(run: Runner, text: str, message: str) -> None:
    assert re.search(message, run.refused(text).message, re.IGNORECASE)


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
