"""Reductions, scans and order: values against NumPy and SciPy, derivatives exact at the corners, to second order."""

import math
from typing import Any

import adiff
import mpmath as mp
import numpy as np
import pytest
from adiff.engine.core.dtypes import FLOAT32, INT64
from adiff.engine.core.state import STATE
from adiff.engine.core.tensor import Tensor
from adiff.parser.errors import AdiffError
from derivatives import call, grad, hessian, jvp, notices, numeric, tensor, value, weighted

RNG = np.random.default_rng(11)
X = RNG.normal(size=(2, 3, 4))
AXES: list[Any] = [None, 0, -1, 1, (0, 2), (-1, 0), [1, 2], ()]
REDUCTIONS: dict[str, Any] = {
    "sum": np.sum,
    "mean": np.mean,
    "prod": np.prod,
    "max": np.max,
    "min": np.min,
    "var": np.var,
    "std": np.std,
    "ptp": np.ptp,
    "any": np.any,
    "all": np.all,
    "median": np.median,
    "count_nonzero": np.count_nonzero,
    "euclidean_norm": lambda x, axis, keepdims: np.sqrt(np.sum(x * x, axis=axis, keepdims=keepdims)),
    "logsumexp": lambda x, axis, keepdims: np.log(np.sum(np.exp(x), axis=axis, keepdims=keepdims)),
}


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_values(name: str, axis: Any, keepdims: bool) -> None:
    if axis == () and name in ("median", "ptp"):
        pytest.skip("NumPy has no such case")
    numpy_axis = tuple(axis) if isinstance(axis, list) else axis
    expected = REDUCTIONS[name](X, axis=numpy_axis, keepdims=keepdims)
    found = value(name, X, axis=axis, keepdims=keepdims)
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14)


# --- dtypes ---------------------------------------------------------------------------------------------------------


def test_integers_keep_their_dtype() -> None:
    whole = tensor([1, 2], INT64)
    assert call("sum", whole).dtype is INT64
    assert value("mean", whole) == value("mean", [1, 2]) == 1.5  # as NumPy
    assert notices() == []
    assert value("reduce_mean", whole) == value("reduce_mean", [1, 2]) == 1  # as TensorFlow: towards zero
    assert notices() == ["reduce_mean of integers is an integer, rounded towards zero: mean(x) gives the broken mean"]
    assert value("reduce_mean", tensor([-1, -2], INT64)) == -1
    assert value("reduce_mean", [1.0, 2.0]) == 1.5
    assert value("mean", [1.0, 2.0]) == 1.5
    assert value("sum", [True, True, False]) == 2
    assert value("mean", [True, False]) == 0.5
    assert value("prod", [2, 3]) == 6
    assert isinstance(value("max", [3, 9]), int)
    assert value("average", whole) == 1.5
    assert value("std", whole) == 0.5


# --- products -------------------------------------------------------------------------------------------------------


def product_hessian(x: list[float]) -> Any:
    n = len(x)
    h = np.zeros((n, n))
    for i in range(n):
        for k in range(n):
            if i != k:
                h[i, k] = math.prod(v for m, v in enumerate(x) if m not in (i, k))
    return h


@pytest.mark.parametrize(
    "x",
    [[2.0, 3.0, 4.0], [0.0, 2.0, 3.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0, 2.0], [5.0], [-1.5, 0.0, 2.0, 0.0, 7.0]],
    ids=str,
)
def test_product_is_exact_at_zeros(x: list[float]) -> None:
    expected = [math.prod(v for m, v in enumerate(x) if m != k) for k in range(len(x))]
    np.testing.assert_array_equal(grad(lambda t: call("prod", t), x), expected)
    np.testing.assert_array_equal(hessian(lambda t: call("prod", t), x), product_hessian(x))
    for k in range(len(x)):
        unit = np.eye(len(x))[k]
        assert jvp(lambda t: call("prod", t), [x], [unit]) == expected[k]


@pytest.mark.parametrize(
    "x", [[1e300, 1e300, 1e-300, 1e-300], [1e-200, 1e-200, 1e200, 1e200, 3.0], [1e-300, 1e300, 2.0]], ids=str
)
def test_product_of_extreme_factors(x: list[float]) -> None:
    def exact(values: list[float]) -> float:
        return float(mp.fprod(mp.mpf(v) for v in values))

    assert value("prod", x) == pytest.approx(exact(x), rel=1e-14)
    expected = [exact(x[:k] + x[k + 1 :]) for k in range(len(x))]
    np.testing.assert_allclose(grad(lambda t: call("prod", t), x), expected, rtol=1e-14)


# --- extrema --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "sign"), [("max", 1.0), ("min", -1.0)])
def test_ties_share_the_cotangent(name: str, sign: float) -> None:
    x = sign * np.array([2.0, 1.0, 2.0])
    np.testing.assert_array_equal(grad(lambda t: call(name, t), x), [0.5, 0, 0.5])
    assert len(notices()) == 1
    assert notices()[0].startswith(f"{name} is not differentiable where several elements are the")
    np.testing.assert_array_equal(hessian(lambda t: call(name, t), x), np.zeros((3, 3)))


def test_a_tie_that_does_not_matter_is_no_notice() -> None:
    grad(lambda t: call("max", t) * 0.0, np.array([2.0, 2.0]))
    assert notices() == []


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin", "median"])
def test_no_extremum_of_nothing(name: str) -> None:
    with pytest.raises(AdiffError, match="of an empty tensor has no value"):
        call(name, tensor(np.zeros((0,))))


def test_running_extrema() -> None:
    x = np.array([1.0, 3.0, 2.0, 3.0, 4.0, 0.0])
    np.testing.assert_array_equal(value("cummax", x), np.maximum.accumulate(x))
    weights = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
    # The second 3 shares with the first from its place on.
    np.testing.assert_array_equal(
        grad(weighted(lambda t: call("cummax", t), weights), x), [1, 2 + 4 + 4, 0, 4, 16 + 32, 0]
    )
    np.testing.assert_array_equal(value("cummin", X, axis=1), np.minimum.accumulate(X, axis=1))
    d = RNG.normal(size=X.shape)
    f = weighted(lambda t: call("cummin", t, axis=1), RNG.normal(size=X.shape))
    assert np.sum(grad(f, X) * d) == pytest.approx(numeric(f, X, d, 1e-5), rel=1e-6)
    np.testing.assert_array_equal(value("cummax", x, reverse=True), np.maximum.accumulate(x[::-1])[::-1])


# --- moments --------------------------------------------------------------------------------------------------------


def test_std_of_constants() -> None:
    np.testing.assert_array_equal(grad(lambda t: call("std", t), [2.0, 2.0, 2.0]), [0, 0, 0])
    assert notices() == ["std is not differentiable at constants: 0 chosen from a ball"]
    STATE.reset()
    np.testing.assert_array_equal(grad(lambda t: call("std", t) ** 2, [2.0, 2.0, 2.0]), [0, 0, 0])
    assert notices() == []


@pytest.mark.parametrize("scale", [1e-200, 1e-160, 1.0, 1e160, 1e200])
def test_std_keeps_its_scale(scale: float) -> None:
    x = np.array([1.0, 2.0, 4.0]) * scale
    assert value("std", x) == pytest.approx(np.std([1.0, 2.0, 4.0]) * scale, rel=1e-14)
    np.testing.assert_allclose(
        grad(lambda t: call("std", t), x), grad(lambda t: call("std", t), np.array([1.0, 2.0, 4.0])), rtol=1e-13
    )


def test_ddof_and_its_synonym() -> None:
    x = [1.0, 2.0, 4.0]
    assert value("var", x, ddof=1) == value("var", x, correction=1) == pytest.approx(np.var(x, ddof=1))
    assert value("reduce_variance", input_tensor=x, keepdims=False) == pytest.approx(np.var(x))


# --- norms ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [5e-324 * 2**10, 1e-200, 1.0, 1e200, 1e307])
def test_norm_keeps_its_scale(scale: float) -> None:
    x = np.array([3.0, 4.0]) * scale
    assert value("norm", x) == pytest.approx(5.0 * scale, rel=1e-13)
    np.testing.assert_allclose(grad(lambda t: call("norm", t), x), [0.6, 0.8], rtol=1e-13)
    # The second derivative is P / |x| with P the projection across x.
    if 1e-300 < scale < 1e300:
        expected = np.array([[0.64, -0.48], [-0.48, 0.36]]) / (5.0 * scale)
        np.testing.assert_allclose(hessian(lambda t: call("norm", t), x), expected, rtol=1e-12)


def test_norm_at_zero() -> None:
    np.testing.assert_array_equal(grad(lambda t: call("norm", t), [0.0, 0.0]), [0, 0])
    assert notices() == ["norm is not differentiable at 0: 0 chosen from the unit ball"]
    STATE.reset()
    np.testing.assert_array_equal(grad(lambda t: call("norm", t) ** 2, [0.0, 0.0]), [0, 0])
    assert notices() == []


@pytest.mark.parametrize("order", [1, 2, 3, 2.5, 4, -2, math.inf, -math.inf, 0])
def test_norms_of_vectors(order: float) -> None:
    x = np.array([0.7, -1.3, 2.1, 0.4])
    assert value("norm", x, order) == pytest.approx(np.linalg.norm(x, order), rel=1e-14)
    rows = RNG.normal(size=(3, 4))
    np.testing.assert_allclose(value("norm", rows, order, axis=1), np.linalg.norm(rows, order, axis=1), rtol=1e-13)
    if order:
        d = RNG.normal(size=4)
        assert np.sum(grad(lambda t: call("norm", t, order), x) * d) == pytest.approx(
            numeric(lambda t: call("norm", t, order), x, d), rel=1e-8
        )
    for scale in (1e-200, 1e200):
        if order:
            assert value("norm", x * scale, order) == pytest.approx(np.linalg.norm(x, order) * scale, rel=1e-13)
            np.testing.assert_allclose(
                grad(lambda t: call("norm", t, order), x * scale), grad(lambda t: call("norm", t, order), x), rtol=1e-12
            )


@pytest.mark.parametrize("order", [1, 3, math.inf])
def test_least_norm_subgradient_of_norms_at_zero(order: float) -> None:
    np.testing.assert_array_equal(grad(lambda t: call("norm", t, order), [0.0, 0.0]), [0, 0])
    assert notices()


# --- log-sum-exp ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "x",
    [
        [1000.0, 1000.0],
        [-1000.0, -1000.0],
        [1000.0, 0.0],
        [710.0, -710.0],
        [0.0, 1e-20],
        [1e4, 9999.0, -1e4],
        [-40.0, 0.0],
        [-3.0, 0.2, 1.1],
    ],
    ids=str,
)
def test_logsumexp_against_many_digits(x: list[float]) -> None:
    with mp.workdps(60):
        total = mp.fsum(mp.exp(mp.mpf(v)) for v in x)
        weights = [mp.exp(mp.mpf(v)) / total for v in x]
        assert value("logsumexp", x) == pytest.approx(float(mp.log(total)), rel=4e-16)
        np.testing.assert_allclose(grad(lambda t: call("logsumexp", t), x), [float(w) for w in weights], rtol=1e-15)
        expected = [
            [float((weights[i] if i == k else 0) - weights[i] * weights[k]) for k in range(len(x))]
            for i in range(len(x))
        ]
    np.testing.assert_allclose(hessian(lambda t: call("logsumexp", t), x), expected, rtol=1e-13, atol=1e-16)


@pytest.mark.parametrize(
    ("x", "y", "g", "noticed"),
    [
        ([-math.inf, 0.0], 0.0, [0.0, 1.0], False),
        ([-math.inf, -math.inf], -math.inf, [0.0, 0.0], True),
        ([math.inf, 1.0], math.inf, [1.0, 0.0], False),
        ([math.inf, math.inf, 0.0], math.inf, [0.5, 0.5, 0.0], False),
    ],
    ids=str,
)
def test_logsumexp_of_infinities(x: list[float], y: float, g: list[float], noticed: bool) -> None:
    assert value("logsumexp", x) == y
    np.testing.assert_array_equal(grad(lambda t: call("logsumexp", t), x), g)
    assert bool(notices()) is noticed
    np.testing.assert_array_equal(jvp(lambda t: call("logsumexp", t), [x], [np.ones(len(x))]), sum(g))


def test_running_logsumexp() -> None:
    x = np.array([-800.0, 3.0, 700.0, 2.0, 701.0])
    expected = np.logaddexp.accumulate(x)
    np.testing.assert_allclose(value("cumulative_logsumexp", x), expected, rtol=1e-15)
    f = weighted(lambda t: call("cumlogsumexp", t), [1.0, 2.0, 3.0, 4.0, 5.0])
    weights = np.tril(np.exp(np.minimum(x[None, :] - expected[:, None], 0.0)))
    np.testing.assert_allclose(grad(f, x), weights.T @ [1.0, 2.0, 3.0, 4.0, 5.0], rtol=1e-12)
    np.testing.assert_allclose(value("cumlogsumexp", x, exclusive=True)[1:], expected[:-1], rtol=1e-15)
    y = np.array([-math.inf, -math.inf, 1.0])
    np.testing.assert_array_equal(grad(lambda t: call("cumlogsumexp", t), y), [0, 0, 1])


# --- scans ----------------------------------------------------------------------------------------------------------


def test_running_sums() -> None:
    np.testing.assert_allclose(value("cumsum", X), np.cumsum(X))
    np.testing.assert_allclose(value("cumsum", X, axis=-2), np.cumsum(X, axis=1))
    x = [1.0, 2.0, 4.0]
    assert list(value("cumsum", x, exclusive=True)) == [0, 1, 3]
    assert list(value("cumsum", x, reverse=True)) == [7, 6, 4]
    assert list(value("cumsum", x, exclusive=True, reverse=True)) == [6, 4, 0]
    assert list(grad(weighted(lambda t: call("cumsum", t, exclusive=True), [1.0, 10.0, 100.0]), x)) == [110, 100, 0]
    np.testing.assert_allclose(value("tf.cumsum", X[0]), np.cumsum(X[0], axis=0))


# --- order ----------------------------------------------------------------------------------------------------------


def test_sorting() -> None:
    for axis in (0, 1, -1):
        np.testing.assert_array_equal(value("sort", X, axis=axis), np.sort(X, axis=axis))
        np.testing.assert_array_equal(value("argsort", X, axis=axis), np.argsort(X, axis=axis))
    np.testing.assert_array_equal(value("sort", X, axis=None), np.sort(X, axis=None))
    assert list(value("sort", [3, 1, 2], direction="DESCENDING")) == [3, 2, 1]
    assert list(value("argsort", [1, 3, 1, 3], direction="DESCENDING")) == [1, 3, 0, 2]
    np.testing.assert_array_equal(grad(lambda t: call("index", call("sort", t), index=1), [3.0, 1.0, 2.0]), [0, 0, 1])
    weights = RNG.normal(size=X.shape)
    g = grad(weighted(lambda t: call("sort", t, axis=1, direction="DESCENDING"), weights), X)
    d = RNG.normal(size=X.shape)
    f = weighted(lambda t: call("sort", t, axis=1, direction="DESCENDING"), weights)
    assert np.sum(g * d) == pytest.approx(numeric(f, X, d, 1e-6), rel=1e-5)
    with pytest.raises(AdiffError, match="'ASCENDING' or 'DESCENDING'"):
        call("sort", X, direction="UP")


def test_ties_in_sorting() -> None:
    x = np.array([2.0, 1.0, 2.0, 2.0])
    first = grad(lambda t: call("index", call("sort", t), index=1), x)
    np.testing.assert_allclose(first, [1 / 3, 0, 1 / 3, 1 / 3])
    assert notices() == ["sort is not differentiable where elements are equal: their cotangents are shared equally"]
    STATE.reset()
    np.testing.assert_array_equal(grad(lambda t: call("sum", call("sort", t)), x), [1, 1, 1, 1])
    assert notices() == []  # a symmetric function has no kink there
    STATE.kinks = "jax"
    np.testing.assert_array_equal(grad(lambda t: call("index", call("sort", t), index=1), x), [1, 0, 0, 0])


def test_medians_and_quantiles() -> None:
    x = np.array([5.0, 1.0, 3.0, 8.0])
    assert value("median", x) == 4.0
    np.testing.assert_array_equal(grad(lambda t: call("median", t), x), [0.5, 0, 0.5, 0])
    np.testing.assert_array_equal(grad(lambda t: call("median", t), [1.0, 2.0, 2.0]), [0, 0.5, 0.5])
    for q in (0.0, 0.3, 0.5, 1.0):
        np.testing.assert_allclose(value("quantile", X, q, axis=1), np.quantile(X, q, axis=1), rtol=1e-13)
    np.testing.assert_allclose(
        value("percentile", X, [10, 90], axis=(0, 2)), np.percentile(X, [10, 90], axis=(0, 2)), rtol=1e-14
    )
    assert math.isnan(value("median", [1.0, math.nan, 2.0]))
    assert value("median", tensor([4, 1, 2, 9], INT64)) == 3.0
    with pytest.raises(AdiffError, match="not between 0 and 1"):
        call("quantile", x, 1.5)


def test_top_k() -> None:
    values, indices = call("top_k", X, k=2)
    np.testing.assert_array_equal(values.value, -np.sort(-X, axis=-1)[..., :2])
    np.testing.assert_array_equal(indices.value, np.argsort(-X, axis=-1)[..., :2])
    np.testing.assert_array_equal(grad(lambda t: call("top_k", t, k=2)[0], [3.0, 9.0, 5.0]), [0, 1, 1])
    with pytest.raises(AdiffError, match="k = 5 is not between 0 and 4"):
        call("top_k", X, k=5)


def test_searching_and_counting() -> None:
    a = np.array([1.0, 2.0, 2.0, 5.0])
    for side in ("left", "right"):
        np.testing.assert_array_equal(
            value("searchsorted", a, np.array([0.0, 2.0, 9.0]), side=side),
            np.searchsorted(a, [0.0, 2.0, 9.0], side=side),
        )
    assert list(value("unique", [3.0, 1.0, 3.0])) == [1, 3]
    np.testing.assert_array_equal(grad(lambda t: call("unique", t), [3.0, 1.0, 3.0]), [1, 1, 0])
    y, places = value("tf.unique", [3, 1, 3])
    assert (list(y), list(places)) == ([3, 1], [0, 1, 0])
    assert value("argmax", X) == np.argmax(X)
    np.testing.assert_array_equal(value("tf.argmax", X[0]), np.argmax(X[0], axis=0))
    assert call("argmax", [1.0, 2.0]).__class__ is Tensor


# --- words ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "static", "code", "words"),
    [
        ("sum", {"axis": 3}, "E0405", "axis 3 is out of range for a tensor of 3 dimensions"),
        ("max", {"axis": (0, -3)}, "E0405", "an axis is named twice"),
        ("mean", {"axis": 1.5}, "E0304", "an axis is an integer"),
        ("cumsum", {"axis": -4}, "E0405", "axis -4"),
        ("norm", {"ord": 2}, "E0302", "needs axis"),
        ("norm", {"axis": (0, 1, 2)}, "E0302", "3 axes"),
        ("sum", {"dimension": 7}, "E0405", "axis 7"),
        ("sum", {"colour": 7}, "E0305", "no parameter 'colour'"),
    ],
)
def test_errors_in_words(name: str, static: dict[str, Any], code: str, words: str) -> None:
    with pytest.raises(AdiffError) as caught:
        call(name, X, **static)
    assert caught.value.code == code
    assert words in caught.value.message


def test_weights_of_an_average() -> None:
    x, w = RNG.normal(size=(2, 3)), np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(value("average", x, axis=1, weights=w), np.average(x, axis=1, weights=w))
    np.testing.assert_allclose(value("average", x, weights=x * x), np.average(x, weights=x * x))
    with pytest.raises(AdiffError, match=r"weights of shape \[3\] for a tensor of shape \[2, 3\]"):
        call("average", x, weights=w)


def test_norms_below_one_where_an_element_is_zero() -> None:
    f = lambda x: call("norm", x, 0.5)  # noqa: E731
    assert grad(f, np.array([0.0, 1.0, 4.0])) == pytest.approx(np.array([0.0, 3.0, 1.5]), rel=1e-15)
    assert any("norm with p below 1" in notice for notice in notices())


@pytest.mark.parametrize("text", ["mean(x[:0])", "var(x[:0])", "std(x[:0])", "var(x, ddof=2)", "std(x, ddof=3)"])
def test_too_few_elements_are_noticed_once(text: str, recwarn: pytest.WarningsRecorder) -> None:
    """By a notice with its place in the program, and by no warning of NumPy's."""
    outcome = adiff.program(text).evaluate("grad", {"x": [1.0, 2.0]}, engine="tape")
    assert not math.isfinite(outcome.value)
    assert [notice.code for notice in outcome.notices] == ["N0601"]
    assert not recwarn.list


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "max", "var", "std", "norm", "logsumexp", "cumsum", "median"])
def test_single_precision_stays(name: str) -> None:
    y = call(name, tensor(X, FLOAT32))
    assert y.dtype is FLOAT32
    assert grad(lambda x: call(name, x), X, dtype=FLOAT32).dtype == np.float32


def test_nan_is_the_extremum() -> None:
    assert math.isnan(value("max", [1.0, math.nan]))
    np.testing.assert_array_equal(grad(lambda t: call("max", t), [1.0, math.nan]), [0, 1])


def test_logsumexp_with_one_empty_row_among_others() -> None:
    x = np.array([[-math.inf, -math.inf], [0.0, 0.0]])
    g = grad(lambda t: call("logsumexp", t, axis=1), x)
    np.testing.assert_array_equal(g, [[0, 0], [0.5, 0.5]])


def test_norms_below_one_at_zero() -> None:
    """|x|**p has a cusp at 0, where every slope is a subgradient and 0 the least."""
    f = lambda x: call("norm", x, 0.5)  # noqa: E731
    assert grad(f, np.array([0.0, 0.0])).tolist() == [0.0, 0.0]
    assert any("norm is not differentiable at 0" in notice for notice in notices())
