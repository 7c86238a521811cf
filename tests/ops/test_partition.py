"""Parts: partition, stitch and segments, with TensorFlow's documented contract and the true derivatives."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from adiff.engine.autodiff.tape import Tape, gradient
from adiff.engine.core.state import RECORDERS, STATE
from adiff.parser.errors import AdiffError
from derivatives import call, grad, hessian, notices, plain, tensor, value

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


def test_a_fill_carries_its_gradient() -> None:
    def f(x: Any, fill: Any) -> Any:
        return call("sum", call("dynamic_stitch", [[0, 3]], [x], fill) ** 2)

    to_x, to_fill = grad(f, np.array([2.0, 3.0]), 5.0)
    check_equal(to_x, [4, 6])
    assert to_fill == 20.0


# --- segments -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES["segments"], ids=str)
def test_segments(case: dict[str, Any]) -> None:
    more = (case["n"],) if "n" in case else ()
    np.testing.assert_array_equal(value(case["row"], case["data"], case["ids"], *more), case["result"])


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
        (
            "segment_sum",
            ([1.0, 2.0], [0, 0, 1]),
            "segment_sum: segment_ids of shape [3] must be the first size of the data's shape [2]",
        ),
        ("unsorted_segment_sum", ([1.0, 2.0], [0, 5], 3), "segment_ids[1] = 5 is not in [0, 3)"),
        ("segment_max", ([1.0, 2.0], [0.0, 1.0]), "segment_ids must be integers, and they are float64"),
        ("boolean_mask", ([1.0, 2.0], [1, 0]), "the mask must be bool, and it is int64"),
        ("boolean_mask", ([1.0, 2.0], [True, False, True]), "a mask of shape [3] does not fit shape [2]"),
        ("confusion_matrix", ([0, 4], [0, 1], 2), "labels[1] = 4 is not in [0, 2)"),
        ("bincount", ([-1],), "bincount: -1 is negative"),
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
