"""Parts: partition, stitch and segments, with TensorFlow's documented contract and the true derivatives."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from adiff.engine.autodiff.tape import Tape, gradient
from adiff.engine.core.dtypes import FLOAT32
from adiff.engine.core.state import RECORDERS, STATE
from adiff.parser.errors import AdiffError
from derivatives import call, directional, grad, hessian, jvp, notices, numeric, plain, tensor, value

CASES = json.loads((Path(__file__).parents[1] / "data" / "partition.json").read_text())


def check_equal(found: Any, expected: Any) -> None:
    np.testing.assert_array_equal(np.asarray(found, dtype=object), np.asarray(expected, dtype=object))


@pytest.mark.parametrize("case", CASES["dynamic_partition"], ids=str)
def test_dynamic_partition(case: dict[str, Any]) -> None:
    parts = call("dynamic_partition", case["data"], case["partitions"], case["n"])
    assert len(parts) == case["n"]
    for part, expected in zip(parts, case["parts"]):
        check_equal(plain(part).tolist(), expected)
    for part, shape in zip(parts, case.get("shapes", [])):
        assert list(part.shape) == shape
    if "gradient" in case:
        tape = Tape()
        x = tensor(np.array(case["data"]))
        tape.watch(x)
        RECORDERS.append(tape)
        outputs = call("dynamic_partition", x, case["partitions"], case["n"])
        RECORDERS.remove(tape)
        (g,) = gradient(tape, outputs, [tensor(np.array(c)) for c in case["cotangents"]], [[x]], True)
        check_equal(plain(g), case["gradient"])


@pytest.mark.parametrize("case", CASES["dynamic_partition_errors"], ids=lambda case: case["message"])
def test_dynamic_partition_errors(case: dict[str, Any]) -> None:
    with pytest.raises(AdiffError) as caught:
        call("dynamic_partition", case["data"], case["partitions"], case["n"])
    assert case["message"] in caught.value.message
    assert caught.value.code == ("E0301" if "integers" in case["message"] else "E0407")


def test_dynamic_partition_takes_tensorflows_keywords() -> None:
    parts = value("dynamic_partition", data=[1, 2], partitions=[1, 0], num_partitions=2)
    assert [list(part) for part in parts] == [[2], [1]]


def test_parts_that_are_not_used_contribute_zeros() -> None:
    g = grad(lambda x: call("dynamic_partition", x, [0, 1, 0], 2)[1] ** 2, np.array([3.0, 4.0, 5.0]))
    check_equal(g, [0, 8, 0])


def test_partition_to_second_order() -> None:
    def f(x: Any) -> Any:
        low, high = call("dynamic_partition", x, [1, 0, 1], 2)
        return call("sum", low) * call("prod", high)

    x = np.array([2.0, 3.0, 5.0])
    check_equal(grad(f, x), [15, 10, 6])
    check_equal(hessian(f, x), [[0, 5, 3], [5, 0, 2], [3, 2, 0]])
    assert jvp(f, [x], [np.array([1.0, 1.0, 1.0])]) == 31
    assert directional(f, x, [np.ones(3)] * 3) == 6


@pytest.mark.parametrize("case", CASES["dynamic_stitch"], ids=str)
@pytest.mark.parametrize("name", ["dynamic_stitch", "parallel_dynamic_stitch"])
def test_dynamic_stitch(name: str, case: dict[str, Any]) -> None:
    fill = {"fill": case["fill"]} if "fill" in case else {}
    check_equal(plain(call(name, case["indices"], case["data"], **fill)).tolist(), case["result"])
    if "notice" in case:
        (notice,) = STATE.notices
        assert notice.code == "N0505"
        assert case["notice"] in notice.message
    else:
        assert notices() == []
    if "gradient" in case:
        data = [np.array(part, dtype=float) for part in case["data"]]
        found = grad(lambda *xs: call(name, case["indices"], list(xs)), *data, seed=case["cotangent"])
        for g, expected in zip(found if len(data) > 1 else [found], case["gradient"]):
            check_equal(g, expected)


@pytest.mark.parametrize("case", CASES["dynamic_stitch_errors"], ids=lambda case: case["message"])
def test_dynamic_stitch_errors(case: dict[str, Any]) -> None:
    with pytest.raises(AdiffError) as caught:
        call("dynamic_stitch", case["indices"], case["data"])
    assert case["message"] in caught.value.message


def test_only_the_winner_at_second_order_and_in_forward_mode() -> None:
    def f(x: Any) -> Any:
        return call("sum", call("dynamic_stitch", [[0, 1, 1], [1]], [x, call("index", x, index=slice(2, 3))]) ** 3)

    x = np.array([2.0, 3.0, 5.0])  # x[0]**3 + x[2]**3: the list's last writer of place 1 is x[2]
    check_equal(grad(f, x), [12, 0, 75])
    check_equal(hessian(f, x), np.diag([12.0, 0.0, 30.0]))
    assert jvp(f, [x], [np.array([1.0, 10.0, 100.0])]) == 12 + 7500


def test_a_fill_carries_its_gradient() -> None:
    def f(x: Any, fill: Any) -> Any:
        return call("sum", call("dynamic_stitch", [[0, 3]], [x], fill) ** 2)

    to_x, to_fill = grad(f, np.array([2.0, 3.0]), 5.0)
    check_equal(to_x, [4, 6])
    assert to_fill == 20.0


def test_stitch_keeps_single_precision() -> None:
    y = call("dynamic_stitch", [[0, 2]], [tensor([1.0, 2.0], FLOAT32)])
    assert y.dtype is FLOAT32
    y = call("dynamic_stitch", [[0, 2]], [tensor([1.0, 2.0], FLOAT32)], 0.5)
    assert y.dtype is FLOAT32


def test_packing_variables_into_one_vector_and_back() -> None:
    """The "function factory" around L-BFGS: shapes, an index tensor for each variable, a partition vector."""
    shapes = [(2, 3), (3,), ()]
    places, labels, count = [], [], 0
    for i, shape in enumerate(shapes):
        n = math.prod(shape)
        places.append(np.arange(count, count + n).reshape(shape))
        labels += [i] * n
        count += n
    rng = np.random.default_rng(0)
    variables = [rng.normal(size=shape) for shape in shapes]
    packed = value("dynamic_stitch", places, [np.asarray(v) if v is not variables[2] else float(v) for v in variables])
    check_equal(packed, np.concatenate([np.ravel(v) for v in variables]))

    def model(vector: Any) -> Any:
        a, b, c = (call("reshape", p, s) for p, s in zip(call("dynamic_partition", vector, labels, 3), shapes))
        return call("sum", call("matmul", a, b) ** 2) * c

    d = rng.normal(size=count)
    assert np.sum(grad(model, packed) * d) == pytest.approx(numeric(model, packed, d), rel=1e-9)


def test_stitching_what_was_partitioned_is_the_identity() -> None:
    rng = np.random.default_rng(1)
    x, labels = rng.normal(size=(4, 5, 2)), rng.integers(0, 3, size=(4, 5))
    where = call("dynamic_partition", np.arange(20).reshape(4, 5), labels, 3)

    def there_and_back(t: Any) -> Any:
        return call("reshape", call("dynamic_stitch", where, call("dynamic_partition", t, labels, 3)), (4, 5, 2))

    check_equal(plain(there_and_back(tensor(x))), x)
    check_equal(grad(lambda t: call("sum", there_and_back(t) ** 2), x), 2 * x)


# --- segments -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES["segments"], ids=str)
def test_segments(case: dict[str, Any]) -> None:
    more = (case["n"],) if "n" in case else ()
    np.testing.assert_array_equal(value(case["row"], case["data"], case["ids"], *more), case["result"])


@pytest.mark.parametrize("kind", ["sum", "mean", "sqrt_n", "prod", "max", "min"])
def test_derivatives_of_segments(kind: str) -> None:
    rng = np.random.default_rng(3)
    x, ids = rng.normal(size=(6, 2)), [2, 0, 2, 1, -1, 2]
    weights = rng.normal(size=(3, 2))
    f = lambda t: call("sum", call(f"unsorted_segment_{kind}", t, ids, 3) ** 2 * tensor(weights))  # noqa: E731
    d = rng.normal(size=x.shape)
    g = grad(f, x)
    assert np.sum(g * d) == pytest.approx(numeric(f, x, d, 1e-4), rel=1e-8)
    assert jvp(f, [x], [d]) == pytest.approx(np.sum(g * d), rel=1e-12)
    second = numeric(lambda t: tensor(np.sum(grad(f, t.value) * d)), x, d, 1e-4)
    assert directional(f, x, [d, d]) == pytest.approx(second, rel=1e-7, abs=1e-9)


def test_segment_products_are_exact_at_zeros() -> None:
    x, ids = np.array([0.0, 3.0, 0.0, 5.0, 0.0]), [0, 0, 1, 1, 1]
    f = lambda t: call("sum", call("segment_prod", t, ids))  # noqa: E731
    check_equal(grad(f, x), [3, 0, 0, 0, 0])
    expected = np.zeros((5, 5))
    expected[0, 1] = expected[1, 0] = 1
    expected[2, 4] = expected[4, 2] = 5
    check_equal(hessian(f, x), expected)


def test_segment_ties_share() -> None:
    g = grad(lambda t: call("sum", call("segment_max", t, [0, 0, 0, 1])), np.array([2.0, 1.0, 2.0, 7.0]))
    check_equal(g, [0.5, 0, 0.5, 1])
    assert len(notices()) == 1


@pytest.mark.parametrize(
    ("name", "inputs", "message"),
    [
        ("segment_sum", ([1.0, 2.0], [1, 0]), "segment_ids[1] = 0 is less than segment_ids[0] = 1"),
        ("segment_sum", ([1.0, 2.0], [-1, 0]), "segment_ids[0] = -1 is negative"),
        ("segment_sum", ([1.0, 2.0], [0, 0, 1]), "segment_ids of shape [3] must be the first size"),
        ("unsorted_segment_sum", ([1.0, 2.0], [0, 5], 3), "segment_ids[1] = 5 is not in [0, 3)"),
        ("segment_max", ([1.0, 2.0], [0.0, 1.0]), "segment_ids must be integers, and they are float64"),
        ("boolean_mask", ([1.0, 2.0], [1, 0]), "the mask must be bool, and it is int64"),
        ("boolean_mask", ([1.0, 2.0], [True, False, True]), "a mask of shape [3] does not fit shape [2]"),
        ("confusion_matrix", ([0, 4], [0, 1], 2), "labels[1] = 4 is not in [0, 2)"),
        ("bincount", ([-1],), "-1 is negative"),
    ],
)
def test_errors_name_the_element(name: str, inputs: Any, message: str) -> None:
    with pytest.raises(AdiffError) as caught:
        call(name, *inputs)
    assert message in caught.value.message


def test_masks_and_counts() -> None:
    x = np.arange(12.0).reshape(3, 4)
    mask = np.array([True, False, True])
    np.testing.assert_array_equal(value("boolean_mask", x, mask), x[mask])
    np.testing.assert_array_equal(value("boolean_mask", x, x > 4), x[x > 4])
    np.testing.assert_array_equal(value("boolean_mask", x, np.array([True, False, False, True]), axis=1), x[:, [0, 3]])
    check_equal(grad(lambda t: call("sum", call("boolean_mask", t, x > 4) ** 2), x), np.where(x > 4, 2 * x, 0))
    np.testing.assert_array_equal(value("bincount", [0, 2, 2], minlength=5), [1, 0, 2, 0, 0])
    to_weights = grad(lambda w: call("sum", call("bincount", [0, 2, 2], w) ** 2), np.array([1.0, 2.0, 3.0]))
    check_equal(to_weights, [2, 10, 10])
    np.testing.assert_array_equal(value("confusion_matrix", [0, 1, 2], [0, 2, 2]), [[1, 0, 0], [0, 0, 1], [0, 0, 1]])
