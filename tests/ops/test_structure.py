"""Indexing and functional updates: values, errors in words, and which of several writers takes the gradient."""

from typing import Any

import numpy as np
import pytest
from adiff.engine.core.dtypes import FLOAT32, FLOAT64
from adiff.parser.errors import AdiffError
from derivatives import call, grad, hessian, jvp, tensor, value

X = np.array([[0.3, -1.2, 0.8, 2.0], [1.1, 0.4, -0.6, 0.9], [0.2, 1.7, -1.5, 0.5]])
INDICES: list[Any] = [
    1, -1, (slice(None), 2), (slice(2, None, -1), slice(1, None, 2)), (Ellipsis, None, 0), np.array([2, 0, 2]),
    (np.array([0, 2, 0]), np.array([1, 1, 1])), (slice(None), np.array([[3, 3], [0, 1]])), X > 0.5,
    (np.array([True, False, True]), slice(1, 3)),
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_reading(index: Any) -> None:
    np.testing.assert_array_equal(value("index", X, index=index), X[index])
    weights = np.random.default_rng(1).normal(size=X[index].shape)
    expected = np.zeros_like(X)
    np.add.at(expected, index, weights)
    found = grad(lambda x: call("sum", call("index", x, index=index) * tensor(weights)), X)
    np.testing.assert_allclose(found, expected, rtol=1e-15)


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_writing(index: Any) -> None:
    rng = np.random.default_rng(2)
    v = rng.normal(size=X[index].shape)
    expected = X.copy()
    expected[index] = v
    y = value("index_update", X, v, index=index)
    places = np.arange(X.size).reshape(X.shape)[index]
    if np.unique(places).size == places.size:
        np.testing.assert_array_equal(y, expected)
    weights = rng.normal(size=X.shape)

    to_x, to_value = grad(lambda x, v: call("sum", call("index_update", x, v, index=index) * tensor(weights)), X, v)
    # What is overwritten has no influence; of several writers of one place the last has.
    np.testing.assert_array_equal(to_x, np.where(np.isin(np.arange(X.size).reshape(X.shape), places), 0, weights))
    last = {place: k for k, place in enumerate(np.ravel(places))}
    wins = np.reshape([last[place] == k for k, place in enumerate(np.ravel(places))], np.shape(places))
    np.testing.assert_array_equal(to_value, np.where(wins, weights[index], 0))


def test_updates_of_a_transposed_array_are_kept() -> None:
    x = np.arange(6.0).reshape(2, 3).T
    expected = x.copy()
    expected[[0, 1], [1, 0]] = 9.0
    np.testing.assert_array_equal(value("index_update", x, 9.0, index=([0, 1], [1, 0])), expected)
    repeated = np.broadcast_to(np.zeros(3), (2, 3))
    np.testing.assert_array_equal(value("index_update", repeated, 1.0, index=([0, 1], [2, 0])), [[0, 0, 1], [1, 0, 0]])


def test_last_writer_wins_and_takes_the_gradient() -> None:
    index = np.array([1, 3, 1, 1])
    written = np.array([5.0, 6.0, 7.0, 8.0])
    np.testing.assert_array_equal(value("index_update", np.zeros(4), written, index=index), [0, 8, 0, 6])
    cubes = grad(lambda v: call("sum", call("index_update", np.zeros(4), v, index=index) ** 3), written)
    np.testing.assert_array_equal(cubes, [0, 3 * 36, 0, 3 * 64])
    second = hessian(lambda v: call("sum", call("index_update", np.zeros(4), v, index=index) ** 3), written)
    np.testing.assert_array_equal(second, np.diag([0, 36, 0, 48]))
    tangent = jvp(lambda v: call("index_update", np.zeros(4), v, index=index), [written], [np.array([1.0, 2, 3, 4])])
    np.testing.assert_array_equal(tangent, [0, 4, 0, 2])


def test_duplicates_add_up() -> None:
    index = np.array([1, 3, 1])
    np.testing.assert_array_equal(value("index_add", np.ones(4), [5.0, 6.0, 7.0], index=index), [1, 13, 1, 7])
    np.testing.assert_array_equal(value("scatter_nd", [[1], [3], [1]], [5, 6, 7], [4]), [0, 12, 0, 6])
    np.testing.assert_array_equal(value("tensor_scatter_nd_add", [0.0, 0.0], [[1], [1]], [2.0, 3.0]), [0, 5])
    to_x, to_value = grad(
        lambda x, v: call("sum", call("index_add", x, v, index=index) ** 2), np.ones(4), np.array([5.0, 6.0, 7.0])
    )
    np.testing.assert_array_equal(to_x, [2, 26, 2, 14])
    np.testing.assert_array_equal(to_value, [26, 14, 26])


def test_values_broadcast_as_in_numpy() -> None:
    for v in (0.5, np.array([[[1.0]]]), np.ones((1, 1, 4)), np.ones((3, 1))):
        expected = X.copy()
        expected[:, :] = v
        np.testing.assert_array_equal(value("index_update", X, v, index=(slice(None), slice(None))), expected)
        g = grad(lambda v: call("sum", call("index_update", X, v, index=slice(None))), v)
        np.testing.assert_array_equal(g, np.full(np.shape(v), 12 / np.size(v)))


@pytest.mark.parametrize(
    ("index", "code", "words"),
    [
        (5, "E0405", "index 5 is out of range for axis 0 of size 3"),
        ((slice(None), -7), "E0405", "index -7 is out of range for axis 1 of size 4"),
        ((0, 0, 0), "E0405", "too many indices: 3 for a tensor of 2 dimensions"),
        (np.array([0, 4]), "E0405", "index 4 is out of range for axis 0 of size 3"),
        ((Ellipsis, np.array([9])), "E0405", "index 9 is out of range for axis 1 of size 4"),
        (np.array([True, False]), "E0405", "a boolean index of size 2 does not fit axis 0 of size 3"),
    ],
    ids=str,
)
def test_index_errors(index: Any, code: str, words: str) -> None:
    for name, inputs in (("index", (X,)), ("index_update", (X, 0.0))):
        with pytest.raises(AdiffError) as caught:
            call(name, *inputs, index=index)
        assert caught.value.code == code
        assert words in caught.value.message


@pytest.mark.parametrize(
    ("name", "inputs", "static", "code", "words"),
    [
        (
            "index_update",
            (X, np.ones(3)),
            {"index": 0},
            "E0302",
            "shape [3] does not fit the indexed part",
        ),
        ("reshape", (X, (5, -1)), {}, "E0302", "12 elements of shape [3, 4] do not fill shape [5, -1]"),
        ("reshape", (X, (-1, -1)), {}, "E0302", "[-1, -1] is no shape"),
        ("reshape", (X, (2.5,)), {}, "E0304", "2.5"),
        ("stack", ([X, X[0]],), {}, "E0302", "element 0 has [3, 4] and element 1 has [4]"),
        ("stack", ([],), {}, "E0304", "at least one"),
        ("stack", ([X, X],), {"axis": 3}, "E0405", "axis 3 is out of range"),
        ("broadcast_to", (X, (2, 4)), {}, "E0302", "shape [3, 4] does not broadcast to [2, 4]"),
        ("broadcast_to", (X, (10**9, 10**9, 3, 4)), {}, "E0602", "memory"),
        ("cast", (X, "float8"), {}, "E0306", "unknown dtype 'float8'"),
        ("cast", ([float("nan")], "int64"), {}, "E0401", "nan"),
    ],
)
def test_errors_in_words(name: str, inputs: Any, static: Any, code: str, words: str) -> None:
    with pytest.raises(AdiffError) as caught:
        call(name, *inputs, **static)
    assert caught.value.code == code
    assert words in caught.value.message


def test_dtypes_are_kept() -> None:
    x = tensor(X, FLOAT32)
    assert call("index_update", x, 2.5, index=0).dtype is FLOAT32
    assert call("stack", [x, x]).dtype is FLOAT32
    with pytest.raises(AdiffError, match="float32 and float64"):
        call("index_update", x, tensor(X[0], FLOAT64), index=0)
